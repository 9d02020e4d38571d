/* SPDX-License-Identifier: BSD-3-Clause */
/* How an idle worker waits: it sleeps, and has to be woken, or it spins, and may keep the one whose
 * answer it waits for from the processor that they share. Which takes longer is only seen by
 * trying. Pure; zeroed at first. */
#pragma once

#include <glib.h>

/* One of so many waits goes the way that has seemed the worse one. */
#define WAITS_PROBE 32
/* What took so many times as long as a spin says nothing: there was nothing to come. */
#define WAITS_LONG 10

typedef enum
{
  WAY_SLEEP,
  WAY_SPIN,
  WAYS
} Way;

typedef struct
{
  double typical_us[WAYS]; /* from when a wait begins until something comes */
  Way way;                 /* of this wait */
  guint n;
} Waits;

/* How long the wait that begins may spin: `spin_us` or not at all. */
gint64 waits_begin (Waits *waits, gint64 spin_us);
/* Something came, `took_us` after the wait began. */
void waits_end (Waits *waits, gint64 spin_us, gint64 took_us);
