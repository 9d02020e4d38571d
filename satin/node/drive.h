/* SPDX-License-Identifier: BSD-3-Clause */
/* Driving is done by the thread of its own, which sleeps in poll without owning anything, or by a
 * worker that has no work and so nothing better to do. Exactly one owns the context, and with it
 * the Node, the engine's door and the links, at any time. */
#pragma once

#include "driver.h"

#include "link/poller.h"

typedef struct Drive Drive;

/* `serve (data)` reads the engine's mailbox, `flush (data)` writes what was queued; both are called
 * by who drives, after each turn, and `timer (data)` when drive_set_timer said. (A GSource for
 * these would write to the context's eventfd whenever its time is set.) `spin_us`: how
 * long an idle worker polls at most before it sleeps, where that brings answers sooner. `late_us`
 * (0: DRIVE_LATE_US): how long what may wait waits for somebody who drives. */
typedef struct
{
  Poller *poller; /* its context is the baton */
  void (*serve) (void *data);
  void (*flush) (void *data);
  void (*timer) (void *data);
  void *data;
  gint64 spin_us;
  gint64 late_us;
} DriveConfig;

/* Further away than the kernel's next tick. */
#define DRIVE_LATE_US 5000

/* NULL: no descriptor is left. */
Drive *drive_new (const DriveConfig *config, GError **error);
void drive_free (Drive *drive);
/* The driver's thread: returns after drive_quit. */
void drive_run (Drive *drive);
/* Somebody else has closed the descriptors by which it is woken. */
gboolean drive_is_deaf (const Drive *drive);
/* The driving thread stops soon; from then on drive_idle returns FALSE. Only that thread
 * calls it. */
void drive_quit (Drive *drive);
/* What an idle worker would do next: it has something else to do; it drives, but its processor is
 * another's, so it sleeps in poll at once; or it may spin before. */
typedef enum
{
  DRIVE_LEAVE,
  DRIVE_SLEEP,
  DRIVE_SPIN
} DriveWish;

/* A worker without work drives until `wish (data)`, asked at each turn, says DRIVE_LEAVE; look_us,
 * if not 0: so long at most. FALSE: it cannot now. */
gboolean drive_idle (Drive *drive, DriveWish (*wish) (void *data), void *data, gint64 look_us);
/* When `timer` is to be called, once; -1: not. Monotonic time. By who drives. */
void drive_set_timer (Drive *drive, gint64 at_us);
/* `serve` is to be called soon. Any thread. */
void drive_wake (Drive *drive);
/* The same, but `late_us` do not matter: whoever says it may soon drive itself. */
void drive_wake_late (Drive *drive);
