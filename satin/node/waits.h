/* SPDX-License-Identifier: BSD-3-Clause */
/* How an idle worker waits. If it sleeps, it has to be woken. If it spins, it may keep the thread
 * that computes the answer from their common processor. Which is slower can only be measured. Pure.
 * All zero at first. */
#pragma once

#include <glib.h>

/* One of so many waits goes the way that was slower lately. */
#define WAITS_PROBE 32
/* A wait longer than so many spins does not count: there was nothing to wait for. */
#define WAITS_LONG 10

typedef enum
{
  WAY_SLEEP,
  WAY_SPIN,
  WAYS
} Way;

typedef struct
{
  double typical_us[WAYS]; /* the usual time from the beginning of a wait until something comes */
  Way way;                 /* of this wait */
  guint n;
} Waits;

/* A wait begins. Returns how long it may spin: `spin_us`, or 0. */
gint64 waits_begin (Waits *waits, gint64 spin_us);
/* Something came `took_us` after the wait began. */
void waits_end (Waits *waits, gint64 spin_us, gint64 took_us);
