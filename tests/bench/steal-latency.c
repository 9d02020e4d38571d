/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures how long a steal between two nodes takes: from the end of one stolen job on the thief's
 * worker to the start of the next, which includes the way back of the result. Compares it with a
 * plain epoll exchange of as many bytes between the same two processes, in turns. `make bench-net`
 * runs it, with two nodes of one worker each. Its jobs are not pure: they only measure. */
#include <satin.h>

#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <fcntl.h>
#include <pthread.h>

#define REQUEST_BYTES 136 /* a result and a request */
#define REPLY_BYTES 168   /* an acknowledgement and one job */
#define WORKS 10          /* `work` jobs of one turn; the thief gets about half of them */
#define EXCHANGES 5
#define BURN_US 2000
#define PATIENCE_US 60000
#define SAMPLES_MAX 100000

typedef struct
{
  guint32 n_steals, n_raws, n_firsts;
  guint32 started; /* `work` jobs that began on the thief in this turn */
  gint64 opened_us;
  double steals[SAMPLES_MAX], raws[SAMPLES_MAX], firsts[SAMPLES_MAX];
} Board;

static double
now (void)
{
  struct timespec t;
  clock_gettime (CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void
burn (double us)
{
  for (double end = now () + us; now () < end;)
    ;
}

static char *
place (gint64 master, const char *what)
{
  return g_strdup_printf ("%s/satin-steal-%" G_GINT64_FORMAT ".%s", g_get_tmp_dir (), master, what);
}

static Board *
board (gint64 master)
{
  static Board *mapped;
  if (mapped != NULL)
    return mapped;
  g_autofree char *path = place (master, "board");
  int fd = open (path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || ftruncate (fd, sizeof (Board)) != 0)
    g_error ("cannot make %s", path);
  mapped = mmap (NULL, sizeof (Board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close (fd);
  return mapped;
}

static struct sockaddr_un
address (gint64 master)
{
  g_autofree char *path = place (master, "socket");
  struct sockaddr_un to = { .sun_family = AF_UNIX };
  g_strlcpy (to.sun_path, path, sizeof to.sun_path);
  return to;
}

/* The victim of the plain exchange: sleeps in epoll_wait and answers each request. */
static void *
answer (void *data)
{
  int listener = GPOINTER_TO_INT (data), epoll = epoll_create1 (EPOLL_CLOEXEC), got = 0;
  int fd = accept (listener, NULL, NULL);
  struct epoll_event event = { .events = EPOLLIN };
  char bytes[REQUEST_BYTES], reply[REPLY_BYTES] = { 0 };
  fcntl (fd, F_SETFL, O_NONBLOCK);
  epoll_ctl (epoll, EPOLL_CTL_ADD, fd, &event);
  while (epoll_wait (epoll, &event, 1, -1) >= 0)
    {
      ssize_t n = read (fd, bytes, sizeof bytes - (size_t)got);
      if (n == 0)
        break;
      got += n > 0 ? (int)n : 0;
      if (got < REQUEST_BYTES)
        continue;
      got = 0;
      if (write (fd, reply, sizeof reply) != sizeof reply)
        break;
    }
  close (fd);
  close (epoll);
  return NULL;
}

static void
start_answering (gint64 master)
{
  struct sockaddr_un to = address (master);
  pthread_t thread;
  int listener = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  unlink (to.sun_path);
  if (bind (listener, (struct sockaddr *)&to, sizeof to) != 0 || listen (listener, 1) != 0
      || pthread_create (&thread, NULL, answer, GINT_TO_POINTER (listener)) != 0)
    g_error ("cannot listen at %s", to.sun_path);
  pthread_detach (thread);
}

/* One plain exchange: sends a request and waits for the reply, asleep or by polling with yields. */
static void
exchange (int fd, int epoll, gboolean asleep)
{
  char bytes[REQUEST_BYTES] = { 0 }, reply[REPLY_BYTES];
  struct epoll_event event;
  if (write (fd, bytes, sizeof bytes) != sizeof bytes)
    g_error ("the raw connection broke");
  for (size_t got = 0; got < sizeof reply;)
    {
      if (epoll_wait (epoll, &event, 1, asleep ? -1 : 0) > 0)
        got += (size_t)MAX (read (fd, reply + got, sizeof reply - got), 0);
      else
        sched_yield ();
    }
}

static void
measure_raw (gint64 master, gboolean asleep)
{
  static int fd = -1, epoll;
  Board *to = board (master);
  if (fd < 0)
    {
      struct sockaddr_un where = address (master);
      struct epoll_event event = { .events = EPOLLIN };
      fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
      if (connect (fd, (struct sockaddr *)&where, sizeof where) != 0)
        g_error ("cannot connect to %s", where.sun_path);
      fcntl (fd, F_SETFL, O_NONBLOCK);
      epoll = epoll_create1 (EPOLL_CLOEXEC);
      epoll_ctl (epoll, EPOLL_CTL_ADD, fd, &event);
    }
  for (int i = 0; i < EXCHANGES && to->n_raws < SAMPLES_MAX; i++)
    {
      burn (BURN_US);
      double begun = now ();
      exchange (fd, epoll, asleep);
      to->raws[to->n_raws++] = now () - begun;
    }
}

/* One job to steal; jobs of the same `turn` are consecutive. raw: 0 no plain exchange, 1 spinning,
 * 2 asleep. */
SATIN_JOB (work, int64_t, (int64_t, master), (int32_t, turn), (int32_t, raw))
{
  static int last_turn = -1;
  static double last_end;
  double begun = now ();
  Board *to = board (master);
  if (getpid () == master)
    return turn;
  if (raw != 0)
    measure_raw (master, raw == 2);
  else if (turn == last_turn && to->n_steals < SAMPLES_MAX)
    to->steals[to->n_steals++] = begun - last_end;
  else if (turn != last_turn && to->n_firsts < SAMPLES_MAX)
    to->firsts[to->n_firsts++] = begun - (double)to->opened_us;
  __atomic_add_fetch (&to->started, 1, __ATOMIC_RELEASE);
  if (raw == 0)
    burn (BURN_US);
  last_turn = turn;
  last_end = now ();
  return turn;
}

/* Keeps the victim's worker busy until the thief has begun `n` `work` jobs. */
SATIN_JOB (hold, int64_t, (int64_t, master), (int32_t, n))
{
  Board *to = board (master);
  double end = now () + PATIENCE_US + n * BURN_US;
  to->opened_us = (gint64)now ();
  while (getpid () == master && (int)__atomic_load_n (&to->started, __ATOMIC_ACQUIRE) < n
         && now () < end)
    ;
  return n;
}

SATIN_JOB (root, int64_t, (int64_t, master), (int32_t, turns), (int32_t, asleep))
{
  int64_t results[WORKS + 2];
  for (int turn = 0; turn < turns; turn++)
    {
      gboolean raw = turn % 2 == 1;
      int n = raw ? 2 : WORKS;
      __atomic_store_n (&board (master)->started, 0, __ATOMIC_RELEASE);
      burn (3 * BURN_US);
      for (int i = 0; i < n; i++)
        satin_spawn (work, &results[i], master, turn, raw ? 1 + asleep : 0);
      satin_spawn (hold, &results[n], master, n / 2);
      satin_sync ();
    }
  return turns;
}

static int
compare (const void *a, const void *b)
{
  const double *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

static double
part (const double *sorted, guint n, double p)
{
  return n == 0 ? 0 : sorted[(guint)(p * (n - 1))];
}

static int
steal_main (SatinRun *run, int argc, char **argv)
{
  gint64 master = getpid ();
  int turns = argc > 1 ? atoi (argv[1]) : 200, asleep = argc > 2 && strcmp (argv[2], "asleep") == 0;
  int64_t result;
  start_answering (master);
  if (!satin_root (run, root, &result, master, turns, asleep))
    return satin_stopped (run);
  Board *got = board (master);
  qsort (got->steals, got->n_steals, sizeof (double), compare);
  qsort (got->raws, got->n_raws, sizeof (double), compare);
  qsort (got->firsts, got->n_firsts, sizeof (double), compare);
  printf ("steal %s: raw p50 %.1f p99 %.1f us (%u), satin p50 %.1f p99 %.1f us (%u), over raw p50 "
          "%+.1f us; first of a turn p50 %.1f p99 %.1f us (%u)\n",
          asleep ? "asleep" : "spinning", part (got->raws, got->n_raws, 0.5),
          part (got->raws, got->n_raws, 0.99), got->n_raws, part (got->steals, got->n_steals, 0.5),
          part (got->steals, got->n_steals, 0.99), got->n_steals,
          part (got->steals, got->n_steals, 0.5) - part (got->raws, got->n_raws, 0.5),
          part (got->firsts, got->n_firsts, 0.5), part (got->firsts, got->n_firsts, 0.99),
          got->n_firsts);
  g_autofree char *path = place (master, "board"), *socket = place (master, "socket");
  unlink (path);
  unlink (socket);
  return 0;
}

SATIN_APP ("steal-latency", "[TURNS [asleep]]", steal_main)
