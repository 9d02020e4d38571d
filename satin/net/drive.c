/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the hand-over between the driver's thread and an idle worker. Each hop from thread to thread
 * on the way of a steal costs a wake-up of tens of microseconds; a worker that drives has none.
 *
 * The context is the baton: g_main_context_acquire decides. `wanted` keeps the driver's thread away
 * while a worker drives; it parks when it wakes up meanwhile. What it polled before is stale then
 * (`turn` has moved on), so it polls anew. A worker that leaves does not wake the thread, which
 * might take its processor just when it has a job: it sets an alarm, which the thread polls too,
 * parked or not; a worker that is back before has cost nobody anything. What is still to be written
 * is left to whoever drives next. Must not know what is driven. */
#include "config.h"

#include "drive.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* So long a worker tries to get the context from whoever has it. */
#define DRIVE_TRY_US 500
/* What comes so soon after a worker has fallen asleep would have come as soon if it had slept at
 * once: the one whose reply it waits for perhaps shares its processor. */
#define DRIVE_SOON_US 60
/* A shorter time is no time; and how often it is tried whether a long one pays. */
#define DRIVE_SPIN_MIN_US 2
#define DRIVE_PROBE 32
/* So soon after a worker has left, the driver's thread takes its place. */
#define DRIVE_RECALL_US 40

typedef struct
{
  GPollFD *fds;
  gint n, n_max;
  gint priority, timeout_ms;
  gint64 until_us; /* when the poll ends by itself; -1: never */
} Polled;

struct Drive
{
  DriveConfig config;

  gint mailed; /* atomic: `serve` is to be called, says another thread */
  gint wanted; /* atomic: a worker drives or is about to */
  gint quit;   /* atomic */
  /* atomic, set before a poll that may sleep, which looks at `mailed` afterwards */
  gint thread_sleeps, worker_sleeps;
  int alarm; /* a timerfd: the driver's thread must look again */

  /* of who drives */
  gint baton; /* atomic, written at each hand-over: orders what the owners do */
  guint64 turn;
  gboolean mail;
  gboolean unflushed; /* something may wait to be written */
  gboolean alarmed;   /* the alarm may be set */
  gint64 spin_us;     /* how long spinning has paid of late */
  guint waits;
  gint64 timer_us;    /* -1: none */
  Polled own, worker; /* by the driver's thread, and by a worker */
};

static __thread const Drive *drive_here; /* what this thread drives now */

Drive *
drive_new (const DriveConfig *config, GError **error)
{
  int alarm = timerfd_create (CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  Drive *drive;

  if (alarm < 0)
    {
      g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno), "cannot make a timer: %s",
                   g_strerror (errno));
      return NULL;
    }
  drive = g_new0 (Drive, 1);
  drive->config = *config;
  drive->alarm = alarm;
  drive->timer_us = -1;
  drive->spin_us = config->spin_us;
  return drive;
}

void
drive_free (Drive *drive)
{
  close (drive->alarm);
  g_free (drive->own.fds);
  g_free (drive->worker.fds);
  g_free (drive);
}

static gboolean
is_wanted (Drive *drive)
{
  return g_atomic_int_get (&drive->wanted);
}

void
drive_wake (Drive *drive)
{
  if (drive_here == drive)
    {
      drive->mail = TRUE;
      return;
    }
  g_atomic_int_set (&drive->mailed, TRUE); /* before we look who sleeps: see finish */
  /* Who drives and is awake looks before it sleeps. A worker that stops driving leaves an alarm for
   * the thread, which looks then. */
  if (g_atomic_int_get (&drive->worker_sleeps)
      || (!is_wanted (drive) && g_atomic_int_get (&drive->thread_sleeps)))
    g_main_context_wakeup (drive->config.context);
}

void
drive_set_timer (Drive *drive, gint64 at_us)
{
  drive->timer_us = at_us;
}

/* ---- turns: the context is ours ---- */

static gboolean
take (Drive *drive)
{
  if (!g_main_context_acquire (drive->config.context))
    return FALSE;
  __atomic_load_n (&drive->baton, __ATOMIC_ACQUIRE); /* pairs with give */
  g_main_context_push_thread_default (drive->config.context);
  drive_here = drive;
  return TRUE;
}

static void
give (Drive *drive)
{
  drive_here = NULL;
  g_main_context_pop_thread_default (drive->config.context);
  __atomic_store_n (&drive->baton, 1, __ATOMIC_RELEASE); /* pairs with take */
  g_main_context_release (drive->config.context);
}

static void
prepare (Drive *drive, Polled *polled)
{
  GMainContext *context = drive->config.context;

  g_main_context_prepare (context, &polled->priority);
  while ((polled->n = g_main_context_query (context, polled->priority, &polled->timeout_ms,
                                            polled->fds, polled->n_max))
         > polled->n_max)
    {
      polled->n_max = polled->n * 2;
      polled->fds = g_renew (GPollFD, polled->fds, polled->n_max);
    }
  polled->until_us
      = polled->timeout_ms < 0 ? -1 : g_get_monotonic_time () + polled->timeout_ms * (gint64)1000;
  if (drive->timer_us >= 0 && (polled->until_us < 0 || drive->timer_us < polled->until_us))
    polled->until_us = drive->timer_us;
  drive->turn++;
}

static void
flush (Drive *drive)
{
  drive->unflushed = FALSE;
  drive->config.flush (drive->config.data);
}

/* After the poll: all that is ready, and what follows from it but for what is to be written. TRUE:
 * something was. */
static gboolean
finish (Drive *drive, Polled *polled)
{
  GMainContext *context = drive->config.context;
  gboolean ready = g_main_context_check (context, polled->priority, polled->fds, polled->n);

  if (ready)
    g_main_context_dispatch (context);
  if (g_atomic_int_compare_and_exchange (&drive->mailed, TRUE, FALSE))
    drive->mail = TRUE;
  if (drive->timer_us >= 0 && g_get_monotonic_time () >= drive->timer_us)
    {
      drive->timer_us = -1;
      drive->config.timer (drive->config.data);
      ready = TRUE;
    }
  while (drive->mail)
    {
      drive->mail = FALSE;
      drive->config.serve (drive->config.data);
    }
  drive->unflushed = TRUE;
  return ready;
}

/* ---- the driver's thread ---- */

/* 0: the alarm is not to go off any more. */
static void
set_alarm (Drive *drive, gint64 us)
{
  struct itimerspec at = { .it_value = { .tv_nsec = us * 1000 } };

  timerfd_settime (drive->alarm, 0, &at, NULL);
}

static void
hear_alarm (Drive *drive)
{
  guint64 times;

  (void)!read (drive->alarm, &times, sizeof times);
}

static void
park (Drive *drive)
{
  struct pollfd alarm = { drive->alarm, POLLIN, 0 };

  while (is_wanted (drive) && !g_atomic_int_get (&drive->quit))
    {
      poll (&alarm, 1, -1);
      hear_alarm (drive);
    }
}

static gint
left_ms (const Polled *polled)
{
  gint64 left_us;

  if (polled->until_us < 0)
    return -1;
  left_us = polled->until_us - g_get_monotonic_time ();
  return (gint)CLAMP ((left_us + 999) / 1000, 0, G_MAXINT);
}

/* What was prepared, and the alarm, which is not the context's. */
static void
sleep_in_poll (Drive *drive)
{
  Polled *own = &drive->own;
  GPollFD *alarm;

  if (own->n == own->n_max)
    own->fds = g_renew (GPollFD, own->fds, ++own->n_max);
  alarm = &own->fds[own->n];
  *alarm = (GPollFD){ drive->alarm, G_IO_IN, 0 };
  g_poll (own->fds, (guint)own->n + 1, g_atomic_int_get (&drive->mailed) ? 0 : left_ms (own));
  if (alarm->revents != 0)
    hear_alarm (drive);
}

void
drive_run (Drive *drive)
{
  gboolean polled = FALSE;
  guint64 turn = 0;

  while (!g_atomic_int_get (&drive->quit))
    {
      if (is_wanted (drive) || !take (drive))
        {
          park (drive);
          polled = FALSE;
          continue;
        }
      if (polled && turn == drive->turn)
        finish (drive, &drive->own);
      if (drive->unflushed)
        flush (drive);
      prepare (drive, &drive->own);
      turn = drive->turn;
      give (drive);
      g_atomic_int_set (&drive->thread_sleeps, TRUE);
      if (!g_atomic_int_get (&drive->quit))
        sleep_in_poll (drive);
      g_atomic_int_set (&drive->thread_sleeps, FALSE);
      polled = TRUE;
    }
}

void
drive_quit (Drive *drive)
{
  g_atomic_int_set (&drive->quit, TRUE);
  set_alarm (drive, 1);
}

/* ---- a worker ---- */

static gboolean
take_from_thread (Drive *drive)
{
  gint64 until_us = 0;

  g_atomic_int_set (&drive->wanted, TRUE);
  while (!g_atomic_int_get (&drive->quit))
    {
      if (take (drive))
        return TRUE;
      if (until_us == 0)
        until_us = g_get_monotonic_time () + DRIVE_TRY_US;
      else if (g_get_monotonic_time () > until_us)
        break;
      sched_yield ();
    }
  g_atomic_int_set (&drive->wanted, FALSE);
  set_alarm (drive, 1);
  return FALSE;
}

/* One turn, asleep up to `until_us` (-1: for ever; 0: not at all). TRUE: something happened. */
static gboolean
turn_once (Drive *drive, gint64 until_us)
{
  Polled *polled = &drive->worker;
  struct timespec wait = { 0, 0 };

  prepare (drive, polled);
  if (until_us < 0 || (polled->until_us >= 0 && polled->until_us < until_us))
    until_us = polled->until_us;
  if (until_us > 0)
    {
      gint64 left_us = MAX (until_us - g_get_monotonic_time (), 0);
      wait.tv_sec = left_us / G_USEC_PER_SEC;
      wait.tv_nsec = left_us % G_USEC_PER_SEC * 1000;
    }
  G_STATIC_ASSERT (sizeof (GPollFD) == sizeof (struct pollfd));
  g_atomic_int_set (&drive->worker_sleeps, until_us != 0);
  if (g_atomic_int_get (&drive->mailed))
    {
      wait = (struct timespec){ 0, 0 };
      until_us = 0;
    }
  ppoll ((struct pollfd *)(void *)polled->fds, (nfds_t)polled->n, until_us < 0 ? NULL : &wait,
         NULL);
  g_atomic_int_set (&drive->worker_sleeps, FALSE);
  return finish (drive, polled);
}

/* How long the wait that begins may spin. */
static gint64
spin_for (Drive *drive)
{
  return drive->waits++ % DRIVE_PROBE == 0 ? drive->config.spin_us : drive->spin_us;
}

/* Something came, `took_us` after the wait began: while the worker spun, or `asleep_us` after it
 * had fallen asleep. */
static void
learn (Drive *drive, gboolean spun, gint64 took_us, gint64 asleep_us)
{
  gint64 most_us = drive->config.spin_us;

  if (spun)
    drive->spin_us = MIN (MAX (drive->spin_us, 2 * took_us), most_us);
  else if (asleep_us < DRIVE_SOON_US)
    drive->spin_us = drive->spin_us / 2 < DRIVE_SPIN_MIN_US ? 0 : drive->spin_us / 2;
}

gboolean
drive_idle (Drive *drive, DriveWish (*wish) (void *data), void *data, gint64 look_us)
{
  DriveWish wanted;
  gint64 now_us = g_get_monotonic_time (), wait_us = now_us, spin_us = 0;
  gint64 end_us = look_us > 0 ? now_us + look_us : -1;
  gboolean late;

  if (!take_from_thread (drive))
    return FALSE;
  if (drive->alarmed)
    set_alarm (drive, 0);
  drive->alarmed = FALSE;
  late = drive->unflushed; /* since it left last */
  drive->mail = TRUE;      /* what it raised last was left for itself */
  while ((wanted = wish (data)) != DRIVE_LEAVE && !g_atomic_int_get (&drive->quit)
         && (end_us < 0 || now_us < end_us))
    {
      if (drive->unflushed && !drive->mail) /* first what it has done itself: it goes along */
        flush (drive);
      gboolean at_once = drive->mail, spins = wanted == DRIVE_SPIN && now_us < spin_us;
      gboolean happened = turn_once (drive, at_once || spins ? 0 : end_us);
      gint64 before_us = now_us;
      now_us = g_get_monotonic_time ();
      if (happened && !at_once)
        learn (drive, spins, now_us - wait_us, now_us - before_us);
      if (happened || at_once)
        spin_us = (wait_us = now_us) + spin_for (drive);
      else if (spins)
        sched_yield ();
    }
  if (drive->unflushed && late)
    flush (drive);
  drive->alarmed = TRUE;
  give (drive);
  g_atomic_int_set (&drive->wanted, FALSE);
  set_alarm (drive, DRIVE_RECALL_US);
  return TRUE;
}
