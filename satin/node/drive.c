/* SPDX-License-Identifier: BSD-3-Clause */
/* See drive.h. Each hop from thread to thread on the way of a steal costs a wake-up of tens of
 * microseconds. A worker that drives needs no hop.
 *
 * The owner of the context drives: g_main_context_acquire decides. While `wanted` is set, a worker
 * drives, and the driver's thread parks. A worker that leaves does not wake the thread, which might
 * take its processor just when it has a job. Nor does it set a timer that is due soon: on a virtual
 * machine that costs 10 us, and 20 when it expires. Instead it opens a gate: any event that is
 * pending or comes later wakes the parked thread. It also sets an alarm, due late enough to be
 * cheap, for what makes no event. Must not know what is driven. */
#include "config.h"

#include "drive.h"
#include "waits.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* How long a worker tries to get the context from the thread that owns it. */
#define DRIVE_TRY_US 500

/* Wakes the polling thread, which must then look at `mailed` and `quit`, too. An alarm that is set
 * always expires; one that expires needlessly does no harm. */
typedef struct
{
  PollerWatch watch; /* an eventfd, or a timerfd */
  gint set;          /* atomic: it will expire, and the polling thread looks after that */
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

  gint mailed; /* atomic: another thread wants `serve` to be called */
  gint wanted; /* atomic: a worker drives or is about to */
  gint quit;   /* atomic */
  /* atomic; set before a poll that may sleep. The poller reads `mailed` afterwards. */
  gint thread_sleeps, worker_sleeps;
  gint parked; /* atomic: the driver's thread waits until no worker drives and an event comes */
  Alarm alarms[ALARMS];
  int gate; /* an epoll set of the poller; open only while no worker drives */

  /* owned by the driving thread */
  gint baton; /* atomic; written at each hand-over, to order the accesses of the owners */
  gboolean mail;
  gboolean unflushed; /* there may be something to write */
  Waits waits;        /* of all workers */
  gint64 timer_us;    /* -1: none */
};

static __thread const Drive *drive_here; /* what this thread drives now; NULL: nothing */

/* ---- alarms ---- */

static void
set_alarm (Drive *drive, guint which)
{
  gint64 late_us = drive->config.late_us;
  const struct itimerspec at = { .it_value = { .tv_sec = late_us / G_USEC_PER_SEC,
                                               .tv_nsec = late_us % G_USEC_PER_SEC * 1000 } };
  Alarm *alarm = &drive->alarms[which];
  guint64 one = 1;

  if (!g_atomic_int_compare_and_exchange (&alarm->set, FALSE, TRUE)) /* see hear_alarm */
    return;
  if (which == ALARM_LATE)
    timerfd_settime (alarm->watch.fd, 0, &at, NULL);
  else
    (void)!write (alarm->watch.fd, &one, sizeof one);
}

static gboolean
hear_alarm (GIOCondition condition G_GNUC_UNUSED, void *data)
{
  Alarm *alarm = data;
  guint64 times;

  (void)!read (alarm->watch.fd, &times, sizeof times);
  /* A thread that found it set did its work before; the poller looks at that now. */
  g_atomic_int_set (&alarm->set, FALSE);
  return FALSE;
}

static gboolean
make_alarm (Drive *drive, guint which, int fd)
{
  Alarm *alarm = &drive->alarms[which];

  alarm->watch = (PollerWatch){ .fd = fd, .ready = hear_alarm, .data = alarm };
  if (fd >= 0)
    poller_watch (drive->config.poller, &alarm->watch, G_IO_IN);
  return fd >= 0;
}

static gboolean
make_gate (Drive *drive)
{
  struct epoll_event closed = { .events = 0 };

  drive->gate = epoll_create1 (EPOLL_CLOEXEC);
  return drive->gate >= 0
         && epoll_ctl (drive->gate, EPOLL_CTL_ADD, poller_fd (drive->config.poller), &closed) == 0
         && make_alarm (drive, ALARM_NOW, eventfd (0, EFD_NONBLOCK | EFD_CLOEXEC))
         && make_alarm (drive, ALARM_LATE,
                        timerfd_create (CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
}

Drive *
drive_new (const DriveConfig *config, GError **error)
{
  Drive *drive = g_new0 (Drive, 1);

  drive->config = *config;
  if (drive->config.late_us == 0)
    drive->config.late_us = DRIVE_LATE_US;
  drive->timer_us = -1;
  if (make_gate (drive))
    return drive;
  g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno), "cannot make a timer: %s",
               g_strerror (errno));
  g_free (drive); /* leaks descriptors, but the process ends with this error */
  return NULL;
}

void
drive_free (Drive *drive)
{
  for (guint i = 0; i < ALARMS; i++)
    {
      poller_watch (drive->config.poller, &drive->alarms[i].watch, 0);
      close (drive->alarms[i].watch.fd);
    }
  close (drive->gate);
  g_free (drive);
}

/* ---- calls by other threads ---- */

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
  /* Before the flags of sleepers are read: see turn_once. */
  g_atomic_int_set (&drive->mailed, TRUE);
  /* A driving thread that is awake looks at `mailed` before it sleeps; a worker does when it
   * leaves. */
  if (g_atomic_int_get (&drive->worker_sleeps)
      || (!is_wanted (drive)
          && (g_atomic_int_get (&drive->thread_sleeps) || g_atomic_int_get (&drive->parked))))
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

/* ---- turns of the driving thread ---- */

static gboolean
take (Drive *drive)
{
  if (!g_main_context_acquire (poller_context (drive->config.poller)))
    return FALSE;
  __atomic_load_n (&drive->baton, __ATOMIC_ACQUIRE); /* pairs with give */
  drive_here = drive;
  return TRUE;
}

static void
give (Drive *drive)
{
  drive_here = NULL;
  __atomic_store_n (&drive->baton, 1, __ATOMIC_RELEASE); /* pairs with take */
  g_main_context_release (poller_context (drive->config.poller));
}

/* Prepares a poll. Returns until when it may sleep; -1: no limit. */
static gint64
prepare (Drive *drive, PollerReady *ready)
{
  gint64 until_us = poller_prepare (drive->config.poller, ready);

  return drive->timer_us >= 0 && (until_us < 0 || drive->timer_us < until_us) ? drive->timer_us
                                                                              : until_us;
}

static void
flush (Drive *drive)
{
  drive->unflushed = FALSE;
  drive->config.flush (drive->config.data);
}

/* Serves the mailbox until it is empty. TRUE: there was something. */
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

/* After a poll: dispatches what is ready, then the timer and the mailbox; writes nothing. TRUE:
 * something happened. */
static gboolean
finish (Drive *drive, PollerReady *ready)
{
  gboolean any = poller_dispatch (drive->config.poller, ready);

  if (drive->timer_us >= 0 && g_get_monotonic_time () >= drive->timer_us)
    {
      drive->timer_us = -1;
      drive->config.timer (drive->config.data);
      any = TRUE;
    }
  serve (drive);
  drive->unflushed = TRUE;
  return any;
}

/* ---- the driver's thread ---- */

/* An open gate lets one event pass, and is closed then (EPOLLONESHOT). */
static void
set_gate (Drive *drive, gboolean open)
{
  struct epoll_event event = { .events = open ? EPOLLIN | (guint32)EPOLLONESHOT : 0 };

  (void)epoll_ctl (drive->gate, EPOLL_CTL_MOD, poller_fd (drive->config.poller), &event);
}

/* Waits until no worker drives and an event comes. */
static void
park (Drive *drive)
{
  struct epoll_event event;

  g_atomic_int_set (&drive->parked, TRUE); /* before `wanted` is read: see drive_wake */
  while (is_wanted (drive) && !g_atomic_int_get (&drive->quit))
    (void)epoll_wait (drive->gate, &event, 1, -1);
  g_atomic_int_set (&drive->parked, FALSE);
}

void
drive_run (Drive *drive)
{
  PollerReady ready = { .n = 0 };
  gint64 until_us;

  while (!g_atomic_int_get (&drive->quit))
    {
      if (is_wanted (drive) || !take (drive))
        {
          park (drive);
          ready.n = 0;
          continue;
        }
      finish (drive, &ready);
      flush (drive);
      until_us = prepare (drive, &ready);
      give (drive);
      g_atomic_int_set (&drive->thread_sleeps, TRUE);
      if (!g_atomic_int_get (&drive->quit))
        poller_wait (drive->config.poller, &ready,
                     g_atomic_int_get (&drive->mailed) ? 0 : until_us);
      g_atomic_int_set (&drive->thread_sleeps, FALSE);
    }
}

gboolean
drive_is_deaf (const Drive *drive)
{
  return fcntl (drive->alarms[ALARM_NOW].watch.fd, F_GETFD) < 0 && errno == EBADF;
}

void
drive_quit (Drive *drive)
{
  g_atomic_int_set (&drive->quit, TRUE);
  set_alarm (drive, ALARM_NOW);
}

/* ---- a worker ---- */

/* Lets the driver's thread drive: an event that is pending or comes wakes it. */
static void
let_thread (Drive *drive)
{
  gboolean now = g_atomic_int_get (&drive->mailed) || g_atomic_int_get (&drive->quit);

  g_atomic_int_set (&drive->wanted, FALSE);
  set_gate (drive, TRUE);
  set_alarm (drive, now ? ALARM_NOW : ALARM_LATE);
}

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
  let_thread (drive);
  return FALSE;
}

/* One turn. Sleeps until `until_us` at most (-1: no limit; 0: does not sleep). TRUE: something
 * happened. */
static gboolean
turn_once (Drive *drive, gint64 until_us)
{
  PollerReady ready;
  gint64 due_us = prepare (drive, &ready);

  if (until_us < 0 || (due_us >= 0 && due_us < until_us))
    until_us = due_us;
  g_atomic_int_set (&drive->worker_sleeps, until_us != 0);
  if (g_atomic_int_get (&drive->mailed))
    until_us = 0;
  poller_wait (drive->config.poller, &ready, until_us);
  g_atomic_int_set (&drive->worker_sleeps, FALSE);
  return finish (drive, &ready);
}

static void
leave (Drive *drive)
{
  if (drive->unflushed)
    flush (drive);
  give (drive);
  let_thread (drive);
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
  drive->mail = TRUE; /* the worker's last events were left for itself */
  while ((wanted = wish (data)) != DRIVE_LEAVE && !g_atomic_int_get (&drive->quit)
         && (end_us < 0 || now_us < end_us))
    {
      if (serve (drive)) /* its own events first: they may be sent in the same write */
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
