/* SPDX-License-Identifier: BSD-3-Clause */
/* Driving means owning the GMainContext, and with it the Node, the engine's door and the links.
 * Exactly one thread drives at any time: the driver's own thread, or an idle worker. The driver's
 * thread sleeps in poll without owning the context. */
#pragma once

#include "driver.h"

#include "link/poller.h"

typedef struct Drive Drive;

/* The driving thread calls `serve (data)`, which reads the engine's mailbox, and `flush (data)`,
 * which writes what is queued, after each turn; and `timer (data)` at the time of drive_set_timer.
 * (A GSource would write to the context's eventfd whenever its time is set.) `spin_us`: how long an
 * idle worker polls at most before it sleeps, if polling has been faster (waits.h). `late_us` (0:
 * DRIVE_LATE_US): how long drive_wake_late may be delayed. */
typedef struct
{
  Poller *poller; /* the owner of its context drives */
  void (*serve) (void *data);
  void (*flush) (void *data);
  void (*timer) (void *data);
  void *data;
  gint64 spin_us;
  gint64 late_us;
} DriveConfig;

/* Later than the kernel's next tick, so that setting the timer is cheap. */
#define DRIVE_LATE_US 5000

/* (transfer full) NULL: G_IO_ERROR, no descriptor is left. */
Drive *drive_new (const DriveConfig *config, GError **error);
void drive_free (Drive *drive);
/* The driver's thread. Returns after drive_quit. */
void drive_run (Drive *drive);
/* TRUE: the program has closed the descriptors that wake the driver. */
gboolean drive_is_deaf (const Drive *drive);
/* The driver's thread returns soon from drive_run, and drive_idle returns FALSE from now on. Called
 * by the driving thread only. */
void drive_quit (Drive *drive);
/* What an idle worker wants: leave, since it has something to do; drive, but sleep in poll at once,
 * since another thread needs its processor; or drive and spin first. */
typedef enum
{
  DRIVE_LEAVE,
  DRIVE_SLEEP,
  DRIVE_SPIN
} DriveWish;

/* Called by a worker without work. It drives until `wish (data)`, called at each turn, returns
 * DRIVE_LEAVE, or until look_us have passed (0: no limit). FALSE: it could not drive, since another
 * thread does or drive_quit was called. */
gboolean drive_idle (Drive *drive, DriveWish (*wish) (void *data), void *data, gint64 look_us);
/* Calls `timer` once at this monotonic time; -1: never. Driving thread only. */
void drive_set_timer (Drive *drive, gint64 at_us);
/* The driving thread calls `serve` soon. Any thread. */
void drive_wake (Drive *drive);
/* As drive_wake, but `late_us` later at most: the caller may soon drive itself. Any thread. */
void drive_wake_late (Drive *drive);
