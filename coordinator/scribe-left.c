/* SPDX-License-Identifier: BSD-3-Clause */
/* How the scribe's thread finds out how much work is left: after a tick it looks at the rows, so it
 * never wakes for that. Tests: test-left, test-scribe, status.sh. */
#include "coordinator/scribe-private.h"

/* Looking takes one of so many parts of a processor's time at most. A look at a thousand rows takes
 * about a millisecond. */
#define LOOK_DUTY 500

static gint64
cpu_us (void)
{
  struct timespec used;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &used);
  return used.tv_sec * G_USEC_PER_SEC + used.tv_nsec / 1000;
}

void
scribe_look (Scribe *scribe)
{
  gint64 now_us = g_get_monotonic_time (), began_us = cpu_us ();
  LeftRange work = { 0 };

  if (now_us < scribe->look_us)
    return;
  if (scribe->left == NULL)
    scribe->left = left_new ();
  gboolean is_known = ledger_look (scribe->ledger, scribe->left) && left_work (scribe->left, &work);
  scribe->look_us = now_us + (cpu_us () - began_us) * LOOK_DUTY;
  pthread_mutex_lock (&scribe->lock);
  scribe->stats.left = work;
  scribe->stats.left_us = is_known ? now_us : 0;
  pthread_mutex_unlock (&scribe->lock);
}
