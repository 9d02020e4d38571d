/* SPDX-License-Identifier: BSD-3-Clause */
/* The progress of the held jobs of an engine, and the part of the tree that is done. Whichever
 * stack works for a job, its work is counted under the job's number. The jobs stop until the test
 * lets them go on. */
#include "config.h"

#include "engine-rig.h"
#include "record.h"

#include <math.h>

#define WORK_US 2000 /* how long each job has worked at least when its progress is read */

static gint n_held, open; /* atomic: the number of jobs that wait; … may go on */

SATIN_JOB (hold, int32_t, (int32_t, n))
{
  gint64 until_us = g_get_monotonic_time () + WORK_US;

  while (g_get_monotonic_time () < until_us)
    ;
  g_atomic_int_inc (&n_held);
  while (!g_atomic_int_get (&open))
    {
      (void)satin_aborted ();
      g_thread_yield ();
    }
  return n;
}

SATIN_JOB (fork_two, int32_t)
{
  int32_t a, b;

  satin_spawn (hold, &a, 1);
  satin_spawn (hold, &b, 2);
  satin_sync ();
  return a + b;
}

SATIN_JOB (leaf, int32_t, (int32_t, n))
{
  return n;
}

/* /0 and /1 are finished; /2 and /3 are not. */
SATIN_JOB (half, int32_t)
{
  int32_t a, b, c, d;

  satin_spawn (hold, &c, 3);
  satin_spawn (hold, &d, 4);
  satin_spawn (leaf, &a, 1);
  satin_spawn (leaf, &b, 2);
  satin_sync ();
  return a + b + c + d;
}

enum
{
  JOB_HOLD,
  JOB_FORK_TWO,
  JOB_HALF
};
static const SatinJob *const jobs[] = { &hold_job, &fork_two_job, &half_job, &leaf_job, NULL };

static Rig *
begin (guint workers)
{
  g_atomic_int_set (&n_held, 0);
  g_atomic_int_set (&open, FALSE);
  return rig_new_for (jobs, workers, 0, 1);
}

static void
await_held (gint n)
{
  while (g_atomic_int_get (&n_held) < n)
    g_usleep (100);
}

static void
run_held (Rig *rig, guint64 number, const char *path, guint32 job, const void *args)
{
  g_autoptr (GBytes) encoded = record_encode (jobs[job]->args, args);
  Digest digest = engine_digest (rig->engine, job, encoded);
  g_autoptr (Loan) loan = loan_new (0, path, job, &digest, 0.5, encoded);

  g_assert_true (engine_run (rig->engine, number, loan));
}

static void
finish (Rig *rig, guint n_jobs)
{
  g_atomic_int_set (&open, TRUE);
  for (; n_jobs > 0; n_jobs--)
    {
      EngineEvent event;

      rig_await (rig, ENGINE_DONE, &event);
      engine_event_clear (&event);
    }
}

/* (nullable) */
static const EngineProgress *
find (const GArray *all, guint64 held)
{
  for (guint i = 0; i < all->len; i++)
    if (g_array_index (all, EngineProgress, i).held == held)
      return &g_array_index (all, EngineProgress, i);
  return NULL;
}

static void
test_a_stolen_child_counts_for_its_job (void)
{
  Rig *rig = begin (2);
  EngineStats before, after;
  g_autoptr (GArray) all = NULL;

  run_held (rig, 7, "/0", JOB_FORK_TWO, &(satin_args_fork_two){ 0 });
  await_held (2);
  engine_stats (rig->engine, &before);
  all = engine_progress (rig->engine);
  engine_stats (rig->engine, &after);
  g_assert_cmpuint (all->len, ==, 1);
  g_assert_nonnull (find (all, 7));
  g_assert_cmpuint (find (all, 7)->busy, ==, 2);
  g_assert_cmpuint (find (all, 7)->risk_us, >=, before.risk_us);
  g_assert_cmpuint (find (all, 7)->risk_us, <=, after.risk_us);
  g_assert_cmpuint (before.risk_us, >=, 2 * WORK_US);
  finish (rig, 1);
  rig_free (rig);
}

static void
test_each_job_has_its_own (void)
{
  Rig *rig = begin (2);
  g_autoptr (GArray) all = NULL;

  run_held (rig, 7, "/0", JOB_HOLD, &(satin_args_hold){ 1 });
  run_held (rig, 8, "/1", JOB_HOLD, &(satin_args_hold){ 2 });
  await_held (2);
  all = engine_progress (rig->engine);
  g_assert_cmpuint (all->len, ==, 2);
  for (guint64 held = 7; held <= 8; held++)
    {
      g_assert_nonnull (find (all, held));
      g_assert_cmpuint (find (all, held)->busy, ==, 1);
      g_assert_cmpuint (find (all, held)->risk_us, >=, WORK_US);
    }
  finish (rig, 2);
  rig_free (rig);
}

/* The stack waits for a lent job: no job runs, and the work that was done is still at risk. */
static void
test_a_waiting_job_is_at_risk (void)
{
  Rig *rig = begin (1);
  Loan loan = { 0 };
  int32_t one = 1;
  g_autoptr (GBytes) value = record_encode (hold_job.result, &one);
  g_autoptr (GArray) all = NULL;

  run_held (rig, 7, "/0", JOB_FORK_TWO, &(satin_args_fork_two){ 0 });
  await_held (1);
  while (!engine_lend (rig->engine, &loan))
    g_thread_yield ();
  g_atomic_int_set (&open, TRUE);
  while (!engine_is_hungry (rig->engine))
    g_thread_yield ();
  all = engine_progress (rig->engine);
  g_assert_cmpuint (all->len, ==, 1);
  g_assert_nonnull (find (all, 7));
  g_assert_cmpuint (find (all, 7)->busy, ==, 0);
  g_assert_cmpuint (find (all, 7)->risk_us, >=, WORK_US);
  g_assert_true (engine_put (rig->engine, loan.loan, value, 0, 0));
  finish (rig, 1);
  g_free (loan.path);
  g_bytes_unref (loan.args);
  rig_free (rig);
}

/* The share that scans have found belongs to running jobs: it is dropped when they end. */
static void
test_share (void)
{
  Rig *rig = begin (1);
  EngineEvent event;

  run_held (rig, 7, "", JOB_HALF, &(satin_args_half){ 0 });
  await_held (1);
  engine_scan (rig->engine, FALSE);
  rig_await (rig, ENGINE_SCANNED, &event);
  engine_event_clear (&event);
  g_assert_cmpfloat (fabs (engine_share (rig->engine) - 0.25), <, 1e-6); /* 2 of 4, of a half */
  finish (rig, 1);
  while (!engine_is_hungry (rig->engine))
    g_thread_yield ();
  g_assert_cmpfloat (engine_share (rig->engine), ==, 0);
  rig_free (rig);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/progress/a-stolen-child-counts-for-its-job",
                   test_a_stolen_child_counts_for_its_job);
  g_test_add_func ("/progress/each-job-has-its-own", test_each_job_has_its_own);
  g_test_add_func ("/progress/a-waiting-job-is-at-risk", test_a_waiting_job_is_at_risk);
  g_test_add_func ("/progress/the-share-of-what-runs", test_share);
  return g_test_run ();
}
