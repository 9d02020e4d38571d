/* SPDX-License-Identifier: BSD-3-Clause */
/* Idle workers: they cost next to nothing while a job runs that spawns nothing, and all find work
 * as soon as there is some. */
#include "config.h"

#include "engine-rig.h"

#include "sched/seat.h"

#include <dlfcn.h>
#include <sched.h>

#define WORKERS 16
#define NAP_US 200000
#define ROUNDS 3
#define LEVELS 100     /* more levels than leapfrogging looks at */
#define CALM_SYNCS 100 /* more syncs than those in which a stack makes jobs public on its own */
/* A worker may look so often while a job sleeps, and once more in each LOOK_US. */
#define LOOKS_MAX 20
#define LOOK_US (32 * 1000)

static gint met, begun; /* atomic */
static Engine *engine;
static gint looks, unlimited; /* atomic: the number of limited sleeps of its threads; whether sleeps
                                 have no limit now */

/* Replaces the C library's function: counts the limited sleeps under the engine's lock. */
int
pthread_cond_timedwait (pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *until)
{
  static int (*limited) (pthread_cond_t *, pthread_mutex_t *, const struct timespec *);

  if (g_once_init_enter (&limited))
    {
      void *found = dlsym (RTLD_NEXT, "pthread_cond_timedwait");
      g_once_init_leave (&limited, found);
    }
  if (engine == NULL || mutex != &engine->lock)
    return limited (cond, mutex, until);
  g_atomic_int_inc (&looks);
  return g_atomic_int_get (&unlimited) ? pthread_cond_wait (cond, mutex)
                                       : limited (cond, mutex, until);
}

/* A leaf without polls. */
SATIN_JOB (nap, int64_t, (int32_t, us))
{
  if (us > 0)
    g_usleep ((gulong)us);
  return 7;
}

/* Ends when all of these jobs have begun: each needs its own worker. */
SATIN_JOB (meet, int64_t, (int32_t, n))
{
  g_atomic_int_inc (&met);
  while (g_atomic_int_get (&met) < n)
    {
      satin_aborted (); /* a poll: the jobs beside it can be stolen */
      sched_yield ();
    }
  return 1;
}

/* Runs alone for a while, so that all other workers sleep; then there is work for them. */
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

/* TRUE if the only other stack sleeps in its wait. */
static gboolean
other_is_parked (void)
{
  pthread_mutex_lock (&engine->lock);
  gboolean parked = engine->seats.n_parked > 0;
  pthread_mutex_unlock (&engine->lock);
  return parked;
}

/* Spawns two jobs that must run at the same time, when only the stack that waits for this job is
 * left to run the other. This happens several times: that stack sleeps in between, and the earlier
 * request is over. */
SATIN_JOB (awaited, int64_t)
{
  int64_t sum[2], all = 0;

  g_atomic_int_set (&unlimited, 1);
  g_atomic_int_set (&begun, 1); /* the other stack waits from now on */
  for (int32_t i = 1; i <= ROUNDS; i++)
    {
      while (!other_is_parked ())
        sched_yield ();
      satin_spawn (meet, &sum[0], 2 * i);
      satin_spawn (meet, &sum[1], 2 * i);
      stack_ask ((Stack *)satin_frame_->stack, STACK_FLAG_MOVE);
      satin_sync ();
      all += sum[0] + sum[1];
    }
  return all;
}

/* Two jobs that must run at the same time, `levels` levels down. */
SATIN_JOB (deep_meeting, int64_t, (int32_t, levels))
{
  int64_t sum[2] = { 0 };

  if (levels > 0)
    satin_spawn (deep_meeting, &sum[0], levels - 1);
  else
    for (int i = 0; i < 2; i++)
      satin_spawn (meet, &sum[i], 2);
  satin_sync ();
  return sum[0] + sum[1];
}

/* This job is asked for work when it has none, and spawns some later, far below: the stack that
 * waits for it, which is the only one left for that work, looks again and again. */
SATIN_JOB (awaited_late, int64_t)
{
  int64_t sum;

  g_atomic_int_set (&begun, 1);
  while (!other_is_parked ())
    sched_yield ();
  for (int32_t k = 0; k < CALM_SYNCS; k++)
    {
      satin_spawn (nap, &sum, 0);
      satin_sync ();
    }
  satin_spawn (deep_meeting, &sum, LEVELS);
  satin_sync ();
  return sum;
}

SATIN_JOB (waits, int64_t, (uint8_t, late))
{
  int64_t sum;

  if (late)
    satin_spawn (awaited_late, &sum);
  else
    satin_spawn (awaited, &sum);
  while (!g_atomic_int_get (&begun))
    {
      satin_aborted (); /* a poll: the job can be stolen */
      sched_yield ();
    }
  satin_sync ();
  return sum;
}

enum
{
  NAP,
  GATHER,
  WAITS
};
static const SatinJob *const jobs[]
    = { &nap_job,     &gather_job,       &waits_job,        &meet_job,
        &awaited_job, &awaited_late_job, &deep_meeting_job, NULL };

/* Only one rig exists at a time, from rig_new to rig_free. */
static Rig *
begin (guint workers, guint stacks_max, guint64 seed)
{
  Rig *rig = rig_new_for (jobs, workers, stacks_max, seed);

  engine = rig->engine;
  g_atomic_int_set (&met, 0);
  g_atomic_int_set (&begun, 0);
  return rig;
}

static void
end (Rig *rig)
{
  engine = NULL;
  rig_free (rig);
}

/* One idle worker looks for work, at longer and longer intervals. */
static void
test_idle (void)
{
  Rig *rig = begin (WORKERS, 0, 1);
  satin_args_nap args = { NAP_US };
  gint64 begin_us = g_get_monotonic_time ();
  gint before = g_atomic_int_get (&looks);

  g_assert_cmpint (rig_run_number (rig, NAP, &args), ==, 7);
  g_assert_cmpint (g_atomic_int_get (&looks) - before, <,
                   LOOKS_MAX + (g_get_monotonic_time () - begin_us) / LOOK_US);
  end (rig);
}

static void
test_gather (void)
{
  for (int32_t n = 1; n <= WORKERS; n *= 2)
    {
      Rig *rig = begin (WORKERS, 0, (guint64)n);
      satin_args_gather args = { n };

      g_assert_cmpint (rig_run_number (rig, GATHER, &args), ==, n);
      end (rig);
    }
}

/* Leapfrogging works without the occasional looks of a parked stack. */
static void
test_leapfrog (void)
{
  for (guint64 seed = 1; seed <= 20; seed++)
    {
      Rig *rig = begin (2, 2, seed);
      satin_args_waits args = { FALSE };

      g_assert_cmpint (rig_run_number (rig, WAITS, &args), ==, 2 * ROUNDS);
      g_atomic_int_set (&unlimited, 0);
      end (rig);
    }
}

static void
test_late_jobs (void)
{
  for (guint64 seed = 1; seed <= 5; seed++)
    {
      Rig *rig = begin (2, 2, seed);
      satin_args_waits args = { TRUE };

      g_assert_cmpint (rig_run_number (rig, WAITS, &args), ==, 2);
      end (rig);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/seat/idle-workers-hardly-wake", test_idle);
  g_test_add_func ("/seat/all-find-work-that-comes-late", test_gather);
  g_test_add_func ("/seat/who-waits-is-woken-to-leapfrog", test_leapfrog);
  g_test_add_func ("/seat/who-waits-looks-again-for-late-jobs", test_late_jobs);
  return g_test_run ();
}
