/* SPDX-License-Identifier: BSD-3-Clause */
/* When a publication is worth its processor time. A publication copies the whole file, so its cost
 * grows with the rows; what it saves does not: it only counts if all nodes die. Used if the user
 * has said no interval. Pure. */
#pragma once

#include <glib.h>

/* A publication takes at most one part in this many of one processor's time since the last one … */
#define PACE_DUTY 100
/* … but it never waits longer than this, in microseconds. */
#define PACE_REST_MAX_US (60 * G_USEC_PER_SEC)

typedef struct
{
  gint64 published_us; /* monotonic time of the last publication; 0: there was none */
  guint64 cost_us;     /* processor time of it and of the rows that were written for it */
  guint64 bytes;       /* of its file */
} Pace;

/* A publication of `bytes` ended at `now_us`. `cpu_us`: the processor time since the one before, so
 * that rows which others have replaced since are paid for, too. */
void pace_published (Pace *pace, gint64 now_us, guint64 cpu_us, guint64 bytes);
/* How long after the last publication one of `bytes` is worth its cost, in microseconds: it costs
 * what the last one did, and more if the file has grown. The first does not wait: 0. */
guint64 pace_rest_us (const Pace *pace, guint64 bytes);
