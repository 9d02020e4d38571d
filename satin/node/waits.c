/* SPDX-License-Identifier: BSD-3-Clause */
/* See waits.h. */
#include "config.h"

#include "waits.h"

/* A wait moves the usual time by a part of the difference, and never far, so that one disturbed
 * wait is soon forgotten. */
#define LEARN_PART 4
#define LEARN_MAX_US 4

gint64
waits_begin (Waits *waits, gint64 spin_us)
{
  const double *typical_us = waits->typical_us;

  waits->way = typical_us[WAY_SPIN] < typical_us[WAY_SLEEP] ? WAY_SPIN : WAY_SLEEP;
  if (waits->n++ % WAITS_PROBE == 0)
    waits->way = WAY_SLEEP + WAY_SPIN - waits->way;
  return waits->way == WAY_SPIN ? spin_us : 0;
}

void
waits_end (Waits *waits, gint64 spin_us, gint64 took_us)
{
  double *typical_us = &waits->typical_us[waits->way],
         more_us = (double)MIN (took_us, spin_us) - *typical_us;

  if (took_us <= WAITS_LONG * spin_us)
    *typical_us += CLAMP (more_us / LEARN_PART, -LEARN_MAX_US, LEARN_MAX_US);
}
