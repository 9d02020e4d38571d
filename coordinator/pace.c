/* SPDX-License-Identifier: BSD-3-Clause */
#include "coordinator/pace.h"

/* Measured: writing, copying, checking and syncing rows of 100 to 1,000,000 bytes takes 10 to 20 ns
 * for each byte. */
#define BYTE_US 0.015

void
pace_published (Pace *pace, gint64 now_us, guint64 cpu_us, guint64 bytes)
{
  *pace = (Pace){ .published_us = now_us, .cost_us = cpu_us, .bytes = bytes };
}

guint64
pace_rest_us (const Pace *pace, guint64 bytes)
{
  double more = bytes > pace->bytes ? (double)(bytes - pace->bytes) : 0;
  double rest_us = PACE_DUTY * ((double)pace->cost_us + BYTE_US * more);
  return pace->published_us > 0 ? (guint64)MIN (rest_us, (double)PACE_REST_MAX_US) : 0;
}
