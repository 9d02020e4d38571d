/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the hand-over between the driver's thread and an idle worker. Each hop from thread to thread
 * on the way of a steal costs a wake-up of tens of microseconds; a worker that drives has none.
 *
 * The context is the baton: g_main_context_acquire decides. `wanted` keeps the driver's thread away
 * while a worker drives; it parks when it wakes up meanwhile. What it polled before is stale then
 * (`turn` has moved on), so it polls anew. A worker that leaves does not wake the thread, which
 * might take its processor just when it has a job; nor does it set a timer that is due soon, since
 * on a virtual machine that costs 10 us, and 20 when it goes off. It opens a gate: whatever lies
 * there or comes from then on wakes the parked thread, and for what does not come an alarm is set,
 * due so late that it costs little. Must not know what is driven. */
#include "config.h"

#include "drive.h"
#include "waits.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* So long a worker tries to get the context from whoever has it. */
#define DRIVE_TRY_US 500
/* So soon the parked thread takes the place of a worker that has left when nothing comes: that is
 * further away than the kernel's next tick. */
#define DRIVE_RECALL_US 5000

typedef struct
{
  GPollFD *fds;
  gint n, n_max;
  gint priority, timeout_ms;
  gint64 until_us; /* when the poll ends by itself; -1: never */
} Polled;

/* The thread must look again. Once set it goes off; one that goes off for nothing does no harm. */
typedef struct
{
  int fd;   /* an eventfd, or a timerfd */
  gint set; /* atomic: it will go off, and the thread look after that */
} Alarm;

enum
{
  ALARM_NOW,
  ALARM_LATE,
  ALARMS
};

struct Drive
{
  DriveConfig config;

  gint mailed; /* atomic: `serve` is to be called, says another thread */
  gint wanted; /* atomic: a worker drives or is about to */
  gint quit;   /* atomic */
  /* atomic, set before a poll that may sleep, which looks at `mailed` afterwards */
  gint thread_sleeps, worker_sleeps;
  gint parked; /* atomic: the thread waits until no worker drives, by `arrivals` */
  Alarm alarms[ALARMS];
  int arrivals; /* an epoll set of what was polled last */
  int gate;     /* … and one of the alarms and, as long as no worker drives, of `arrivals` */

  /* of who drives */
  gint baton; /* atomic, written at each hand-over: orders what the owners do */
  guint64 turn;
  gboolean mail;
  gboolean unflushed; /* something may wait to be written */
  Waits waits;        /* of workers */
  gint64 timer_us;    /* -1: none */
  Polled own, worker; /* by the driver's thread, and by a worker */
  GPollFD *watched;   /* what `arrivals` has */
  gint n_watched;
};

static __thread const Drive *drive_here; /* what this thread drives now */

static gboolean
make_alarm (Drive *drive, guint which, int fd)
{
  struct epoll_event event = { .events = EPOLLIN, .data.u32 = which };

  drive->alarms[which].fd = fd;
  return fd >= 0 && epoll_ctl (drive->gate, EPOLL_CTL_ADD, fd, &event) == 0;
}

static gboolean
make_gate (Drive *drive)
{
  struct epoll_event closed = { .events = 0, .data.u32 = ALARMS };

  drive->arrivals = epoll_create1 (EPOLL_CLOEXEC);
  drive->gate = epoll_create1 (EPOLL_CLOEXEC);
  return drive->arrivals >= 0 && drive->gate >= 0
         && epoll_ctl (drive->gate, EPOLL_CTL_ADD, drive->arrivals, &closed) == 0
         && make_alarm (drive, ALARM_NOW, eventfd (0, EFD_NONBLOCK | EFD_CLOEXEC))
         && make_alarm (drive, ALARM_LATE,
                        timerfd_create (CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
}

Drive *
drive_new (const DriveConfig *config, GError **error)
{
  Drive *drive = g_new0 (Drive, 1);

  drive->config = *config;
  drive->timer_us = -1;
  if (make_gate (drive))
    return drive;
  g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno), "cannot make a timer: %s",
               g_strerror (errno));
  g_free (drive); /* the process ends with this error */
  return NULL;
}

void
drive_free (Drive *drive)
{
  for (guint i = 0; i < ALARMS; i++)
    close (drive->alarms[i].fd);
  close (drive->gate);
  close (drive->arrivals);
  g_free (drive->own.fds);
  g_free (drive->worker.fds);
  g_free (drive->watched);
  g_free (drive);
}

/* ---- alarms ---- */

static void
set_alarm (Drive *drive, guint which)
{
  const struct itimerspec at = { .it_value = { .tv_nsec = DRIVE_RECALL_US * 1000 } };
  Alarm *alarm = &drive->alarms[which];
  guint64 one = 1;

  if (!g_atomic_int_compare_and_exchange (&alarm->set, FALSE, TRUE)) /* see hear_alarm */
    return;
  if (which == ALARM_LATE)
    timerfd_settime (alarm->fd, 0, &at, NULL);
  else
    (void)!write (alarm->fd, &one, sizeof one);
}

static void
hear_alarm (Alarm *alarm)
{
  guint64 times;

  (void)!read (alarm->fd, &times, sizeof times);
  g_atomic_int_set (&alarm->set,
                    FALSE); /* who found it set has done what the thread now looks at */
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
  /* Who drives and is awake looks before it sleeps, or when it has left. */
  if (g_atomic_int_get (&drive->worker_sleeps)
      || (!is_wanted (drive) && g_atomic_int_get (&drive->thread_sleeps)))
    g_main_context_wakeup (drive->config.context);
  else if (!is_wanted (drive) && g_atomic_int_get (&drive->parked))
    set_alarm (drive, ALARM_NOW);
}

void
drive_wake_late (Drive *drive)
{
  if (drive_here == drive || is_wanted (drive) || g_atomic_int_get (&drive->worker_sleeps))
    {
      drive_wake (drive);
      return;
    }
  g_atomic_int_set (&drive->mailed, TRUE);
  set_alarm (drive, ALARM_LATE);
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

/* What is closed is not in the set any more; what is not polled just now may stay. */
static void
watch (Drive *drive, const Polled *polled)
{
  gsize size = (gsize)polled->n * sizeof *polled->fds;
  gboolean same = polled->n == drive->n_watched;

  for (gint i = 0; i < polled->n && same; i++)
    same = polled->fds[i].fd == drive->watched[i].fd
           && polled->fds[i].events == drive->watched[i].events;
  if (same)
    return;
  drive->watched = g_realloc (drive->watched, size);
  memcpy (drive->watched, polled->fds, size);
  drive->n_watched = polled->n;
  for (gint i = 0; i < polled->n; i++)
    {
      int fd = polled->fds[i].fd;
      struct epoll_event event = { .events = polled->fds[i].events };

      if (epoll_ctl (drive->arrivals, EPOLL_CTL_MOD, fd, &event) != 0)
        (void)epoll_ctl (drive->arrivals, EPOLL_CTL_ADD, fd, &event);
    }
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
  watch (drive, polled);
  drive->turn++;
}

static void
flush (Drive *drive)
{
  drive->unflushed = FALSE;
  drive->config.flush (drive->config.data);
}

/* TRUE: there was something in the mailbox. */
static gboolean
serve (Drive *drive)
{
  gboolean any = FALSE;

  if (g_atomic_int_compare_and_exchange (&drive->mailed, TRUE, FALSE))
    drive->mail = TRUE;
  while (drive->mail)
    {
      drive->mail = FALSE;
      drive->config.serve (drive->config.data);
      any = drive->unflushed = TRUE;
    }
  return any;
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
  if (drive->timer_us >= 0 && g_get_monotonic_time () >= drive->timer_us)
    {
      drive->timer_us = -1;
      drive->config.timer (drive->config.data);
      ready = TRUE;
    }
  serve (drive);
  drive->unflushed = TRUE;
  return ready;
}

/* ---- the driver's thread ---- */

/* An open gate lets one thing pass, and is closed. */
static void
set_gate (Drive *drive, gboolean open)
{
  struct epoll_event event
      = { .events = open ? EPOLLIN | (guint32)EPOLLONESHOT : 0, .data.u32 = ALARMS };

  (void)epoll_ctl (drive->gate, EPOLL_CTL_MOD, drive->arrivals, &event);
}

/* Until no worker drives and something comes, or an alarm goes off. TRUE: the late one did. */
static gboolean
park (Drive *drive)
{
  struct epoll_event event;
  gboolean late = FALSE;

  g_atomic_int_set (&drive->parked, TRUE); /* before we look who drives: see drive_wake */
  while (is_wanted (drive) && !g_atomic_int_get (&drive->quit))
    if (epoll_wait (drive->gate, &event, 1, -1) == 1 && event.data.u32 < ALARMS)
      {
        hear_alarm (&drive->alarms[event.data.u32]);
        late = late || event.data.u32 == ALARM_LATE;
      }
  g_atomic_int_set (&drive->parked, FALSE);
  return late;
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

/* What was prepared, and the alarms, which are not the context's. */
static void
sleep_in_poll (Drive *drive)
{
  Polled *own = &drive->own;
  GPollFD *alarms;

  if (own->n + ALARMS > own->n_max)
    own->fds = g_renew (GPollFD, own->fds, own->n_max = own->n + ALARMS);
  alarms = &own->fds[own->n];
  for (guint i = 0; i < ALARMS; i++)
    alarms[i] = (GPollFD){ drive->alarms[i].fd, G_IO_IN, 0 };
  g_poll (own->fds, (guint)own->n + ALARMS, g_atomic_int_get (&drive->mailed) ? 0 : left_ms (own));
  for (guint i = 0; i < ALARMS; i++)
    if (alarms[i].revents != 0)
      hear_alarm (&drive->alarms[i]);
}

void
drive_run (Drive *drive)
{
  gboolean polled = FALSE, late = FALSE;
  guint64 turn = 0;

  while (!g_atomic_int_get (&drive->quit))
    {
      if (is_wanted (drive) || !take (drive))
        {
          late = park (drive) || late;
          polled = FALSE;
          continue;
        }
      if (late) /* a number that was closed and used again is not in the set */
        drive->n_watched = 0;
      late = FALSE;
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

gboolean
drive_is_deaf (const Drive *drive)
{
  return fcntl (drive->alarms[ALARM_NOW].fd, F_GETFD) < 0 && errno == EBADF;
}

void
drive_quit (Drive *drive)
{
  g_atomic_int_set (&drive->quit, TRUE);
  set_alarm (drive, ALARM_NOW);
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
  set_alarm (drive, ALARM_NOW);
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

/* From when `wanted` is taken back and the gate is open the thread takes its place. */
static void
leave (Drive *drive)
{
  if (drive->unflushed)
    flush (drive);
  give (drive);
  g_atomic_int_set (&drive->wanted, FALSE);
  set_gate (drive, TRUE);
  set_alarm (drive, g_atomic_int_get (&drive->mailed) ? ALARM_NOW : ALARM_LATE);
}

gboolean
drive_idle (Drive *drive, DriveWish (*wish) (void *data), void *data, gint64 look_us)
{
  DriveWish wanted;
  gint64 now_us = g_get_monotonic_time (), wait_us = 0, spin_us = 0;
  gint64 end_us = look_us > 0 ? now_us + look_us : -1;

  if (!take_from_thread (drive))
    return FALSE;
  set_gate (drive, FALSE);
  drive->mail = TRUE; /* what it raised last was left for itself */
  while ((wanted = wish (data)) != DRIVE_LEAVE && !g_atomic_int_get (&drive->quit)
         && (end_us < 0 || now_us < end_us))
    {
      if (serve (drive)) /* first what it has done itself, which goes along */
        continue;
      if (drive->unflushed)
        flush (drive);
      if (wait_us == 0)
        {
          wait_us = now_us = g_get_monotonic_time ();
          spin_us = wait_us + waits_begin (&drive->waits, drive->config.spin_us);
        }
      gboolean spins = wanted == DRIVE_SPIN && now_us < spin_us;
      gboolean happened = turn_once (drive, spins ? 0 : end_us);
      now_us = g_get_monotonic_time ();
      if (happened)
        waits_end (&drive->waits, drive->config.spin_us, now_us - wait_us);
      if (happened)
        wait_us = 0;
      else if (spins)
        sched_yield ();
    }
  leave (drive);
  return TRUE;
}
