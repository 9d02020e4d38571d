/* SPDX-License-Identifier: BSD-3-Clause */
/* Idle workers: they cost next to nothing while a job runs that spawns nothing, and all find work
 * as soon as there is some. */
#include "config.h"

#include "engine-rig.h"

#include <sched.h>
#include <sys/resource.h>

#define WORKERS 16
#define NAP_US 200000
/* So often threads of this process may sleep while a job naps: each when it begins and ends, and
 * the scout at longer and longer intervals. */
#define SLEEPS_MAX (WORKERS * 12)
#define LOOK_US (10 * 1000)

static gint met; /* atomic */

/* What a leaf without polls does. */
SATIN_JOB (nap, int64_t, (int32_t, us))
{
  g_usleep ((gulong)us);
  return 7;
}

/* Ends when all have begun: each needs a worker of its own. */
SATIN_JOB (meet, int64_t, (int32_t, n))
{
  g_atomic_int_inc (&met);
  while (g_atomic_int_get (&met) < n)
    {
      satin_aborted (); /* the jobs beside it are there to be taken */
      sched_yield ();
    }
  return 1;
}

/* Alone for a while, so that all others sleep; then there is work for them. */
SATIN_JOB (gather, int64_t, (int32_t, n))
{
  int64_t sum[WORKERS], all = 0;

  g_usleep (NAP_US / 10);
  for (int32_t i = 0; i < n; i++)
    satin_spawn (meet, &sum[i], n);
  satin_sync ();
  for (int32_t i = 0; i < n; i++)
    all += sum[i];
  return all;
}

enum
{
  NAP,
  GATHER
};
static const SatinJob *const jobs[]
    = { &nap_job, &gather_job, &meet_job, NULL };

static glong
sleeps (void)
{
  struct rusage usage;

  g_assert_cmpint (getrusage (RUSAGE_SELF, &usage), ==, 0);
  return usage.ru_nvcsw;
}

static void
test_idle (void)
{
  Rig *rig = rig_new_for (jobs, WORKERS, 0, 1);
  satin_args_nap args = { NAP_US };
  gint64 begin_us = g_get_monotonic_time ();
  glong before = sleeps ();

  g_assert_cmpint (rig_run_number (rig, NAP, &args), ==, 7);
  g_assert_cmpint (sleeps () - before, <,
                   SLEEPS_MAX + (g_get_monotonic_time () - begin_us) / LOOK_US);
  rig_free (rig);
}

static void
test_gather (void)
{
  for (int32_t n = 1; n <= WORKERS; n *= 2)
    {
      Rig *rig = rig_new_for (jobs, WORKERS, 0, (guint64)n);
      satin_args_gather args = { n };

      g_atomic_int_set (&met, 0);
      g_assert_cmpint (rig_run_number (rig, GATHER, &args), ==, n);
      rig_free (rig);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/seat/idle-workers-hardly-wake", test_idle);
  g_test_add_func ("/seat/all-find-work-that-comes-late", test_gather);
  return g_test_run ();
}
