/* SPDX-License-Identifier: BSD-3-Clause */
#include "coordinator/pace.h"

/* Measured: writing, copying, checking and syncing rows of 100 to 1,000,000 bytes takes 10 to 20 ns
 * for each byte. A small file takes more for each, because of its syncs: hence a limit. */
#define BYTE_USUAL_US 0.015
#define BYTE_MAX_US 0.060

Pace
pace_new (void)
{
  return (Pace){ .byte_us = BYTE_USUAL_US };
}

void
pace_published (Pace *pace, gint64 now_us, guint64 cpu_us, guint64 bytes)
{
  pace->published_us = now_us;
  if (bytes > 0)
    pace->byte_us = MIN ((double)cpu_us / (double)bytes, BYTE_MAX_US);
}

guint64
pace_rest_us (const Pace *pace, guint64 bytes)
{
  double rest_us = PACE_DUTY * pace->byte_us * (double)bytes;
  return pace->published_us > 0 ? (guint64)MIN (rest_us, (double)PACE_REST_MAX_US) : 0;
}
