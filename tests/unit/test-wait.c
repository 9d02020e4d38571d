/* SPDX-License-Identifier: BSD-3-Clause */
/* A waiting stack runs only jobs below the job for which it waits, so that they cannot delay that
 * job: a wait for any child takes no jobs from the stacks that run its children. An aborted job
 * ends at its next poll, whether it waits or runs. */
#include "config.h"

#include "engine-rig.h"
#include "flag.h"

#include "sched/seat.h"

#include <sched.h>

#define TIMES 20
#define YIELDS 2000 /* enough that the wait has most likely begun */

static gboolean long_runs, short_runs, waits, taken; /* atomic */

static void
wait_until (const gboolean *flag)
{
  while (!is_set (flag))
    sched_yield ();
}

/* Ends only when the first result was taken: the stack that runs it cannot take it. */
SATIN_JOB (stuck, int32_t)
{
  wait_until (&taken);
  return 1;
}

SATIN_JOB (lasting, int32_t)
{
  int32_t x[2];

  set (&long_runs, TRUE);
  wait_until (&short_runs); /* no other worker is idle */
  for (int i = 0; i < 2; i++)
    satin_spawn (stuck, &x[i]);
  while (!is_set (&waits))
    {
      satin_aborted (); /* a poll: its children can be stolen */
      sched_yield ();
    }
  satin_sync ();
  return x[0] + x[1];
}

SATIN_JOB (brief, int32_t)
{
  set (&short_runs, TRUE);
  wait_until (&waits);
  for (int i = 0; i < YIELDS; i++)
    sched_yield ();
  return 3;
}

/* Lasts until other workers have taken the jobs below it. */
SATIN_JOB (filler, int32_t)
{
  while (!is_set (&long_runs) || !is_set (&short_runs))
    {
      stack_ask ((Stack *)satin_frame_->stack, STACK_FLAG_MOVE);
      satin_aborted ();
      sched_yield ();
    }
  return 0;
}

SATIN_JOB (first, int64_t)
{
  int32_t x, y, z;

  satin_spawn (lasting, &x);
  satin_spawn (brief, &y);
  satin_spawn (filler, &z);
  g_assert_cmpint (satin_sync_next (), ==, 2);
  set (&waits, TRUE);
  g_assert_cmpint (satin_sync_next (), ==, 1);
  set (&taken, TRUE);
  satin_sync ();
  return x + y + z;
}

static void
test_any (void)
{
  static const SatinJob *const jobs[]
      = { &first_job, &lasting_job, &brief_job, &stuck_job, &filler_job, NULL };
  satin_args_first args = { 0 };

  for (guint i = 0; i < TIMES; i++)
    {
      Rig *rig = rig_new_for (jobs, 3, 0, i);

      set (&long_runs, FALSE);
      set (&short_runs, FALSE);
      set (&waits, FALSE);
      set (&taken, FALSE);
      g_assert_cmpint (rig_run_number (rig, 0, &args), ==, 5);
      rig_free (rig);
    }
}

/* ---- jobs below an aborted job ---- */

static gboolean low_runs, top_runs, asked; /* atomic */

/* Runs on top of `outer`, which waits for the job that spawned this one. */
SATIN_JOB (on_top, int32_t)
{
  set (&top_runs, TRUE);
  for (;;)
    if (!satin_aborted ())
      sched_yield ();
  return 0;
}

SATIN_JOB (low, int32_t)
{
  int32_t x;

  set (&low_runs, TRUE);
  satin_spawn (on_top, &x);
  for (;;)
    {
      stack_ask ((Stack *)satin_frame_->stack, STACK_FLAG_MOVE);
      if (!satin_aborted ())
        sched_yield ();
    }
  return 0;
}

/* Lasts until other workers run the jobs below it. */
SATIN_JOB (until, int32_t, (uint8_t, top))
{
  while (!is_set (top ? &top_runs : &low_runs))
    {
      stack_ask ((Stack *)satin_frame_->stack, STACK_FLAG_MOVE);
      satin_aborted ();
      sched_yield ();
    }
  return 0;
}

SATIN_JOB (outer, int32_t)
{
  int32_t x, y;

  satin_spawn (low, &x);
  satin_spawn (until, &y, FALSE);
  satin_sync ();
  return x + y;
}

SATIN_JOB (aborts, int64_t)
{
  int32_t x, y;

  satin_spawn (outer, &x);
  satin_spawn (until, &y, TRUE);
  g_assert_cmpint (satin_sync_next (), ==, 1);
  satin_abort ();
  return 7;
}

static void
test_abort_below_a_wait (void)
{
  static const SatinJob *const jobs[]
      = { &aborts_job, &outer_job, &low_job, &on_top_job, &until_job, NULL };
  satin_args_aborts args = { 0 };

  for (guint i = 0; i < TIMES; i++)
    {
      Rig *rig = rig_new_for (jobs, 3, 0, i);

      set (&low_runs, FALSE);
      set (&top_runs, FALSE);
      g_assert_cmpint (rig_run_number (rig, 0, &args), ==, 7);
      rig_free (rig);
    }
}

SATIN_JOB (goes_on, int32_t)
{
  set (&low_runs, TRUE);
  wait_until (&asked);
  for (;;)
    if (!satin_aborted ())
      sched_yield ();
  return 0;
}

/* A stack that finds both requests at one poll leaves its job, and is nevertheless scanned, or
 * halts. */
static void
test_abort_and_another_at_once (gconstpointer halt)
{
  static const SatinJob *const jobs[] = { &goes_on_job, NULL };
  satin_args_goes_on args = { 0 };
  Rig *rig = rig_new_for (jobs, 1, 0, 1);
  EngineEvent event = { 0 };
  gboolean served = FALSE, left = FALSE;

  set (&low_runs, FALSE);
  set (&asked, FALSE);
  rig_start (rig, 0, &args);
  wait_until (&low_runs);
  if (halt != NULL)
    engine_halt (rig->engine, FALSE);
  else
    engine_scan (rig->engine, TRUE);
  engine_unrun (rig->engine, 1);
  set (&asked, TRUE);
  while (!served || !left)
    {
      if (!rig_next (rig, &event, 100000))
        continue;
      served = served || event.kind == (halt != NULL ? ENGINE_HALTED : ENGINE_SCANNED);
      left = left || event.kind == ENGINE_UNRUN || halt != NULL; /* all has ended then */
      engine_event_clear (&event);
    }
  rig_free (rig);
}

/* ---- a stack that can go on, and has no seat ---- */

#define SECOND_US 1000000

static gboolean may_park, may_end; /* atomic */

SATIN_JOB (leaf, int32_t, (int32_t, n))
{
  return n;
}

SATIN_JOB (until_lent, int32_t)
{
  set (&waits, TRUE);
  while (!is_set (&may_park))
    satin_aborted ();
  return 0;
}

/* /0 is finished, /1 is lent while /2 runs. */
SATIN_JOB (lender, int32_t)
{
  int32_t x, y, z;

  satin_spawn (leaf, &x, 1);
  satin_sync ();
  satin_spawn (leaf, &y, 2);
  satin_spawn (until_lent, &z);
  satin_sync ();
  return x + y + z;
}

/* A job that has the only seat. */
SATIN_JOB (keeps_seat, int32_t)
{
  set (&long_runs, TRUE);
  while (!is_set (&may_end))
    satin_aborted ();
  return 5;
}

static void
lend_one (Rig *rig, Loan *loan)
{
  rig_start (rig, 0, &(satin_args_lender){ 0 });
  wait_until (&waits);
  while (!engine_lend (rig->engine, loan))
    sched_yield ();
  g_assert_cmpstr (loan->path, ==, "/1");
  set (&may_park, TRUE);
}

static void
run_other (Rig *rig)
{
  satin_args_keeps_seat args = { 0 };
  g_autoptr (GBytes) encoded = record_encode (keeps_seat_job.args, &args);
  Digest digest = engine_digest (rig->engine, 3, encoded);
  g_autoptr (Loan) other = loan_new (0, "", 3, &digest, 0.5, encoded);

  while (!engine_is_hungry (rig->engine))
    sched_yield ();
  g_assert_true (engine_run (rig->engine, 2, other));
  wait_until (&long_runs);
}

/* A stack whose child has come back waits for the only seat, and serves a scan meanwhile. */
static void
test_scan_without_a_seat (void)
{
  static const SatinJob *const jobs[]
      = { &lender_job, &leaf_job, &until_lent_job, &keeps_seat_job, NULL };
  Rig *rig = rig_new_for (jobs, 1, 0, 1);
  gint64 until_us;
  EngineEvent event;
  Loan loan = { 0 };
  int32_t two = 2;
  g_autoptr (GBytes) value = record_encode (leaf_job.result, &two);
  guint n_rows = 0;
  gboolean scanned = FALSE;

  set (&waits, FALSE);
  set (&long_runs, FALSE);
  lend_one (rig, &loan);
  run_other (rig);
  g_assert_true (engine_put (rig->engine, loan.loan, value, 0, 0));
  while (__atomic_load_n (&rig->engine->seats.n_ready, __ATOMIC_RELAXED) == 0)
    sched_yield ();
  engine_scan (rig->engine, TRUE);
  until_us = g_get_monotonic_time () + 20 * SECOND_US;
  while (!scanned && g_get_monotonic_time () < until_us)
    if (rig_next (rig, &event, 100000))
      {
        n_rows += event.kind == ENGINE_ROWS ? event.rows->len : 0;
        scanned = event.kind == ENGINE_SCANNED;
        engine_event_clear (&event);
      }
  g_assert_true (scanned);
  g_assert_cmpuint (n_rows, ==, 3); /* /0, /1 and /2 */
  set (&may_end, TRUE);
  g_free (loan.path);
  g_bytes_unref (loan.args);
  rig_free (rig);
}

/* ---- a stack that waits for a lent job ---- */

static void
wait_until_parked (Rig *rig, guint n)
{
  for (guint parked = G_MAXUINT; parked != n; sched_yield ())
    {
      pthread_mutex_lock (&rig->engine->lock);
      parked = rig->engine->seats.n_parked;
      pthread_mutex_unlock (&rig->engine->lock);
    }
}

/* The lender is parked, and /1 is lent. */
static Rig *
begin_lender (Loan *loan)
{
  static const SatinJob *const jobs[]
      = { &lender_job, &leaf_job, &until_lent_job, &keeps_seat_job, NULL };
  Rig *rig = rig_new_for (jobs, 1, 0, 1);

  set (&waits, FALSE);
  set (&may_park, FALSE);
  set (&long_runs, FALSE);
  set (&may_end, FALSE);
  lend_one (rig, loan);
  wait_until_parked (rig, 1);
  return rig;
}

static void
end_lender (Rig *rig, Loan *loan)
{
  g_free (loan->path);
  g_bytes_unref (loan->args);
  rig_free (rig);
}

/* The result arrives, or the job itself comes back: the stack goes on, and after that no worker
 * counts as busy. */
static void
test_a_lent_job_ends (gconstpointer comes_back)
{
  Loan loan = { 0 };
  Rig *rig = begin_lender (&loan);
  int32_t two = 2;
  g_autoptr (GBytes) value = record_encode (leaf_job.result, &two);
  EngineEvent event;
  gboolean over = FALSE;

  if (comes_back != NULL)
    engine_back (rig->engine, loan.loan);
  else
    g_assert_true (engine_put (rig->engine, loan.loan, value, 0, 0));
  while (!over)
    if (rig_next (rig, &event, 100000))
      {
        over = event.kind == ENGINE_DONE;
        engine_event_clear (&event);
      }
  while (__atomic_load_n (&rig->engine->seats.busy, __ATOMIC_SEQ_CST) != 0)
    sched_yield ();
  end_lender (rig, &loan);
}

/* The result never comes. */
static void
test_the_engine_ends_while_a_stack_waits (void)
{
  Loan loan = { 0 };
  Rig *rig = begin_lender (&loan);

  end_lender (rig, &loan);
}

/* A stack that could go on has no seat when all must halt: its rows are saved, and it halts. */
static void
test_halt_without_a_seat (void)
{
  Loan loan = { 0 };
  Rig *rig = begin_lender (&loan);
  int32_t two = 2;
  g_autoptr (GBytes) value = record_encode (leaf_job.result, &two);
  EngineEvent event;
  guint n_rows = 0;
  gboolean halted = FALSE;

  run_other (rig);
  g_assert_true (engine_put (rig->engine, loan.loan, value, 0, 0));
  while (__atomic_load_n (&rig->engine->seats.n_ready, __ATOMIC_RELAXED) == 0)
    sched_yield ();
  engine_halt (rig->engine, FALSE);
  while (!halted)
    if (rig_next (rig, &event, 100000))
      {
        n_rows += event.kind == ENGINE_ROWS ? event.rows->len : 0;
        halted = event.kind == ENGINE_HALTED;
        engine_event_clear (&event);
      }
  g_assert_cmpuint (n_rows, ==, 3); /* /0, /1 and /2 */
  end_lender (rig, &loan);
}

/* ---- jobs that can be stolen while a long job runs ---- */

#define BRANCH_DEPTH 3
#define BRIEF_JOBS 20 /* more syncs than those at which a stack shares jobs in any case */
#define BRIEF_US 200

SATIN_JOB (naps, int32_t)
{
  g_usleep (BRIEF_US);
  return 0;
}

/* The first leaf takes long and does not poll. */
SATIN_JOB (branch, int32_t, (int32_t, depth))
{
  int32_t x[2];

  if (depth == 0)
    {
      set (&long_runs, TRUE);
      wait_until (&may_end);
      return 1;
    }
  for (int i = 0; i < 2; i++)
    satin_spawn (branch, &x[i], depth - 1);
  satin_sync ();
  return x[0] + x[1];
}

SATIN_JOB (naps_first, int32_t, (int32_t, n))
{
  int32_t x;

  for (int32_t i = 0; i < n; i++)
    {
      satin_spawn (naps, &x);
      satin_sync ();
    }
  satin_spawn (branch, &x, BRANCH_DEPTH);
  satin_sync ();
  return x;
}

static void
test_lend_while_a_long_job_runs (gconstpointer long_before)
{
  static const SatinJob *const jobs[] = { &naps_first_job, &branch_job, &naps_job, NULL };
  static const char *const ends[] = { "/0", "/1/0", "/1/1/0" };
  gint32 n = long_before != NULL ? BRIEF_JOBS : 0;
  guint64 lent[G_N_ELEMENTS (ends)];
  Rig *rig = rig_new_for (jobs, 1, 0, 1);
  EngineEvent event = { 0 };
  gboolean over = FALSE;

  set (&long_runs, FALSE);
  set (&may_end, FALSE);
  rig_start (rig, 0, &(satin_args_naps_first){ n });
  wait_until (&long_runs);
  for (guint i = 0; i < G_N_ELEMENTS (ends); i++)
    {
      Loan loan = { 0 };
      g_autofree char *path = g_strdup_printf ("/%d%s", n, ends[i]);

      g_assert_true (engine_lend (rig->engine, &loan));
      g_assert_cmpstr (loan.path, ==, path);
      g_free (loan.path);
      g_bytes_unref (loan.args);
      lent[i] = loan.loan;
    }
  for (guint i = 0; i < G_N_ELEMENTS (ends); i++)
    engine_back (rig->engine, lent[i]);
  set (&may_end, TRUE);
  while (!over)
    if (rig_next (rig, &event, 100000))
      {
        over = event.kind == ENGINE_DONE;
        engine_event_clear (&event);
      }
  rig_free (rig);
}

/* ---- requests to a stack from which no thief wants work ---- */

#define CALM_SYNCS 200 /* after fewer syncs a request that finds no new job ends */
#define CALM_JOBS 8

/* Its own children stay private and cost no more than before, whatever other requests it serves. */
SATIN_JOB (calm, int32_t)
{
  Stack *stack = (Stack *)satin_frame_->stack;
  int32_t x[CALM_JOBS], sum = 0;

  for (int32_t i = 0; i < CALM_SYNCS; i++)
    {
      satin_spawn (leaf, &x[0], i);
      satin_sync ();
    }
  for (int32_t i = 0; i < CALM_JOBS; i++)
    satin_spawn (leaf, &x[i], i);
  satin_aborted ();
  g_assert_cmpuint (stack_flags (stack), ==, 0);
  SatinSlot_ *split = stack->own.split;
  stack_ask (stack, STACK_FLAG_NEWS);
  satin_aborted ();
  g_assert_cmpuint (stack_flags (stack), ==, 0);
  g_assert_true (stack->own.split == split);
  g_assert_true (stack->open.guard != STACK_ALL);
  stack_ask (stack, STACK_FLAG_MOVE); /* now a thief wants work */
  satin_aborted ();
  g_assert_true (stack->own.split > split);
  satin_sync ();
  for (int32_t i = 0; i < CALM_JOBS; i++)
    sum += x[i];
  return sum;
}

SATIN_JOB (calm_root, int64_t)
{
  return satin_call (calm);
}

static void
test_news_make_nothing_public (void)
{
  static const SatinJob *const jobs[] = { &calm_root_job, &calm_job, &leaf_job, NULL };
  satin_args_calm_root args = { 0 };
  Rig *rig = rig_new_for (jobs, 1, 0, 1);

  g_assert_cmpint (rig_run_number (rig, 0, &args), ==, CALM_JOBS * (CALM_JOBS - 1) / 2);
  rig_free (rig);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/wait/the-first-result-is-not-waited-for-below-another-child", test_any);
  g_test_add_func ("/wait/what-runs-on-top-is-aborted-with-the-job-below", test_abort_below_a_wait);
  g_test_add_data_func ("/wait/a-scan-is-served-by-who-is-aborted", NULL,
                        test_abort_and_another_at_once);
  g_test_add_data_func ("/wait/who-is-aborted-halts", "halt", test_abort_and_another_at_once);
  g_test_add_func ("/wait/a-stack-without-a-seat-is-scanned", test_scan_without_a_seat);
  g_test_add_data_func ("/wait/all-is-lent-while-the-first-job-lasts", NULL,
                        test_lend_while_a_long_job_runs);
  g_test_add_data_func ("/wait/all-is-lent-where-jobs-are-long", "long",
                        test_lend_while_a_long_job_runs);
  g_test_add_func ("/wait/news-make-nothing-public", test_news_make_nothing_public);
  g_test_add_data_func ("/wait/the-result-of-a-lent-job-ends-it", NULL, test_a_lent_job_ends);
  g_test_add_data_func ("/wait/a-lent-job-that-comes-back-runs-here", "back", test_a_lent_job_ends);
  g_test_add_func ("/wait/the-engine-ends-while-a-stack-waits",
                   test_the_engine_ends_while_a_stack_waits);
  g_test_add_func ("/wait/a-stack-without-a-seat-halts", test_halt_without_a_seat);
  return g_test_run ();
}
