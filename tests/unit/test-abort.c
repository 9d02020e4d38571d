/* SPDX-License-Identifier: BSD-3-Clause */
/* satin_abort and satin_aborted on the threads of one engine. */
#include "config.h"

#include "engine-jobs.h"
#include "engine-rig.h"

#include "sched/worker.h"
#include "tree/trace.h"

#include <sched.h>
#include <string.h>

/* All atomic: how many endless jobs have begun and how many steps they made; flags: enough have
 * begun, the job is aborting, it has aborted, the test has seen all that it waits for. */
static gint begun, steps, enough, aborting, aborted, seen;

static const int64_t *
smaller (const int64_t *a, const int64_t *b)
{
  return *a < *b ? a : b;
}

SATIN_BEST (int64_t, least, smaller, 1000)

static void
reset (gint needed)
{
  g_atomic_int_set (&begun, 0);
  g_atomic_int_set (&steps, 0);
  g_atomic_int_set (&enough, needed);
  g_atomic_int_set (&aborting, 0);
  g_atomic_int_set (&aborted, 0);
  g_atomic_int_set (&seen, 0);
}

/* Ends only by an abort: a leaf that polls, or a tree that never ends. */
SATIN_JOB (endless, int64_t, (int32_t, depth))
{
  int64_t x[3];

  g_atomic_int_inc (&begun);
  if (depth == 0)
    while (!satin_aborted ())
      g_atomic_int_inc (&steps);
  for (int i = 0; i < 3; i++)
    satin_spawn (endless, &x[i], depth - 1);
  satin_sync ();
  return x[0] + x[1] + x[2];
}

/* A tree of short jobs that would take for ever. */
SATIN_JOB (vast, int64_t, (int32_t, depth))
{
  int64_t x[3], sum = 0;
  int32_t number;

  g_atomic_int_inc (&begun);
  g_atomic_int_inc (&steps);
  if (depth == 0)
    return 1;
  for (int i = 0; i < 3; i++)
    satin_spawn (vast, &x[i], depth - 1);
  if (depth % 3 == 0) /* these jobs abort some children themselves */
    {
      number = satin_sync_next ();
      satin_abort ();
      return x[number];
    }
  while ((number = satin_sync_next ()) >= 0)
    sum += x[number];
  return sum;
}

SATIN_JOB (quick, int64_t, (int32_t, n))
{
  while (g_atomic_int_get (&begun) < g_atomic_int_get (&enough))
    if (!satin_aborted ()) /* a poll: thieves get jobs */
      sched_yield ();
  return n;
}

/* The child that is spawned last ends when enough of the others have begun. */
SATIN_JOB (first, int64_t, (int32_t, n), (int32_t, depth), (uint8_t, leaves))
{
  int64_t x[8] = { 0 }, y, z;
  int32_t number;

  for (int i = 0; i + 1 < n; i++)
    if (leaves)
      satin_spawn (endless, &x[i], depth);
    else
      satin_spawn (vast, &x[i], depth);
  satin_spawn (quick, &x[n - 1], 77);
  number = satin_sync_next ();
  g_atomic_int_set (&aborting, 1);
  satin_abort ();
  g_atomic_int_set (&aborted, g_atomic_int_get (&steps));
  g_assert_cmpint (satin_sync_next (), ==, -1);
  satin_spawn (quick, &y, 11);
  satin_sync ();
  z = satin_call (quick, 13);
  return x[number] * 10000 + y * 100 + z;
}

/* Jobs that test what an aborted job must not do any more. */
SATIN_JOB (late, int64_t, (int32_t, n))
{
  int64_t x, y, found = 5;

  satin_spawn (quick, &x, 1);
  satin_spawn (quick, &y, 2);
  satin_sync ();
  g_atomic_int_inc (&begun);
  while (!origin_is_aborted (slot_origin (worker_here ()->own.mark)))
    sched_yield (); /* the job was asked to stop, but has not polled yet */
  satin_improve (least, &found);
  if (n > 0)
    satin_aborted ();
  g_atomic_int_inc (&steps);
  return x + y;
}

SATIN_JOB (forgetful, int64_t, (int32_t, n))
{
  int64_t x = 0, y = 0, found = 50;

  satin_spawn (late, &x, n);
  satin_spawn (quick, &y, 3);
  g_assert_cmpint (satin_sync_next (), ==, 1);
  satin_improve (least, &found);
  while (g_atomic_int_get (&begun) == 0)
    if (!satin_aborted ())
      sched_yield ();
  g_atomic_int_set (&aborting, 1);
  satin_abort ();
  g_assert_cmpint (x, ==, 0);
  g_atomic_int_set (&aborted, 1);
  while (!g_atomic_int_get (&seen))
    if (!satin_aborted ()) /* a poll: scans are served */
      sched_yield ();
  return y;
}

SATIN_JOB (same, int64_t, (int32_t, n))
{
  return n;
}

enum
{
  FIRST,
  FORGETFUL,
  SAME,
  PARTED
};

/* Runs until the test allows it to end, and never polls. */
SATIN_JOB (stubborn, int64_t, (int32_t, n))
{
  g_atomic_int_inc (&begun);
  while (!g_atomic_int_get (&aborting))
    sched_yield ();
  return n;
}

/* One child is run by a thief, one by another node, one by this worker. */
SATIN_JOB (parted, int64_t, (int32_t, n))
{
  int64_t x[3];

  satin_spawn (stubborn, &x[0], n);
  satin_spawn (same, &x[1], 1);
  satin_spawn (endless, &x[2], 0);
  satin_sync ();
  return x[0] + x[1] + x[2];
}

static const SatinJob *const jobs[]
    = { &first_job, &forgetful_job, &same_job, &parted_job,   &endless_job,
        &vast_job,  &quick_job,     &late_job, &stubborn_job, NULL };

static guint
n_times (guint n)
{
  return g_test_slow () ? n * 20 : n;
}

static void
test_races (void)
{
  static const guint workers[] = { 1, 2, 4 };

  engine_test_leaf_spins = 500;
  for (guint seed = 1; seed <= n_times (15); seed++)
    {
      Rig *rig = rig_new (workers[seed % 3], seed % 4 == 0 ? workers[seed % 3] : 0, seed);
      int64_t value = rig_run_number (rig, JOB_RACE, &(satin_args_race){ 6, (int32_t)seed });

      g_assert_cmpint (value, ==, serial_race (6, (int32_t)seed));
      rig_free (rig);
    }
}

/* No aborted job makes a step after satin_abort has returned. */
static void
check_first (guint workers, guint stacks_max, guint64 seed, const satin_args_first *args)
{
  Rig *rig = rig_new_for (jobs, workers, stacks_max, seed);
  gint then;

  g_assert_cmpint (rig_run_number (rig, FIRST, args), ==, 771113);
  then = g_atomic_int_get (&steps);
  g_assert_cmpint (then, ==, g_atomic_int_get (&aborted));
  g_usleep (2000);
  g_assert_cmpint (g_atomic_int_get (&steps), ==, then);
  rig_free (rig);
}

static void
test_unstarted (void)
{
  reset (0);
  check_first (1, 0, 1, &(satin_args_first){ 8, 3, TRUE });
  g_assert_cmpint (g_atomic_int_get (&begun), ==, 0);
}

static void
test_leaves (void)
{
  for (guint i = 0; i < n_times (20); i++)
    {
      guint workers = 2 + i % 3;

      reset ((gint)workers - 1);
      check_first (workers, 0, i, &(satin_args_first){ 8, 0, TRUE });
    }
}

/* Thieves that steal from thieves, deep in their jobs, some parked. */
static void
test_deep (void)
{
  for (guint i = 0; i < n_times (40); i++)
    {
      guint workers = 2 + i % 4;

      reset (i % 2 == 0 ? 3000 : 100);
      check_first (workers, i % 3 == 0 ? workers + 1 : 0, i, &(satin_args_first){ 6, 40, FALSE });
    }
  for (guint i = 0; i < n_times (10); i++)
    {
      guint workers = 3 + i % 2;

      reset ((gint)workers + 1); /* each thief has begun a job above its first */
      check_first (workers, 0, i, &(satin_args_first){ 4, 2, TRUE });
    }
}

/* Runs `forgetful` and scans all the time. Rows that are reported after the abort must be right.
 * The test goes on until three whole scans that began after the abort are over. */
static void
check_late (gboolean polls)
{
  Rig *rig = rig_new_for (jobs, 2, 0, 1);
  gboolean done = FALSE, own = FALSE;
  guint n_after = 0;
  EngineEvent event = { .kind = ENGINE_HUNGRY };

  reset (0);
  rig_start (rig, FORGETFUL, &(satin_args_forgetful){ polls });
  while (!done)
    {
      gboolean before = !g_atomic_int_get (&aborting), after = g_atomic_int_get (&aborted);

      engine_scan (rig->engine, TRUE);
      for (gboolean scanned = FALSE; !scanned && !done; engine_event_clear (&event))
        {
          if (!rig_next (rig, &event, 100))
            continue;
          scanned = event.kind == ENGINE_SCANNED;
          done = event.kind == ENGINE_DONE;
          for (guint i = 0; event.kind == ENGINE_ROWS && i < event.rows->len; i++)
            {
              const Row *row = event.rows->pdata[i];

              own = own || g_str_equal (row->path, "/1");
              g_assert_false (g_str_equal (row->path, "/0"));
              g_assert_true (before || !g_str_has_prefix (row->path, "/0/"));
            }
          n_after += scanned && after;
          g_atomic_int_set (&seen, n_after >= 3);
        }
    }
  g_assert_true (own);
  g_assert_cmpint (satin_best (least), ==, 50);
  g_assert_cmpint (g_atomic_int_get (&steps), ==, polls ? 0 : 1);
  rig_free (rig);
}

static void
test_late (void)
{
  check_late (TRUE);
  check_late (FALSE);
}

/* A job of another node is dropped: its lender does not want it any more. */
static void
test_held (void)
{
  EngineEvent event;

  for (guint i = 0; i < n_times (10); i++)
    {
      Rig *rig = rig_new_for (jobs, 1 + i % 3, 0, i);
      gboolean gone = FALSE;
      gint then;

      reset (G_MAXINT);
      rig_start (rig, FIRST, &(satin_args_first){ 4, 40, FALSE });
      while (g_atomic_int_get (&begun) < 1000 && i % 3 > 0)
        g_usleep (100);
      engine_unrun (rig->engine, 1);
      while (!gone)
        {
          if (!rig_next (rig, &event, 100000))
            continue;
          g_assert_cmpint (event.kind, !=, ENGINE_ROWS);
          gone = event.kind == ENGINE_UNRUN;
          engine_event_clear (&event);
        }
      then = g_atomic_int_get (&steps);
      g_usleep (2000);
      g_assert_cmpint (g_atomic_int_get (&steps), ==, then);
      engine_unrun (rig->engine, 1); /* the engine does not know it any more, so no event comes */
      while (rig_next (rig, &event, 1000))
        {
          g_assert_cmpint (event.kind, !=, ENGINE_UNRUN);
          engine_event_clear (&event);
        }
      rig_free (rig);
    }
}

static void
wait_for_event (Rig *rig, EngineEventKind kind)
{
  EngineEvent event = { 0 };

  do
    {
      engine_event_clear (&event);
      g_assert_true (rig_next (rig, &event, 10000000));
      g_assert_cmpint (event.kind, !=, ENGINE_COVERED);
    }
  while (event.kind != kind);
  engine_event_clear (&event);
}

/* The job stops because it must not run here. The children that it drops are wanted elsewhere. */
static void
test_held_covers_nothing (void)
{
  Rig *rig = rig_new_for (jobs, 2, 0, 1);
  const NodeId holder = { 1, 2, 3 };
  g_autoptr (GBytes) args = record_encode (same_job.args, &(satin_args_same){ 1 });
  Digest digest = engine_digest (rig->engine, SAME, args);
  reset (G_MAXINT);
  engine_known (rig->engine, "/1", &digest, &holder, FALSE);
  rig_start (rig, PARTED, &(satin_args_parted){ 1 });
  wait_for_event (rig, ENGINE_ADOPT);
  while (g_atomic_int_get (&begun) < 2)
    sched_yield ();
  engine_unrun (rig->engine, 1);
  wait_for_event (rig, ENGINE_ABORTED);
  engine_known (rig->engine, "/1/0", &digest, &holder, TRUE);
  g_usleep (20000);
  g_atomic_int_set (&aborting, 1);
  wait_for_event (rig, ENGINE_UNRUN);
  rig_free (rig);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/abort/results-do-not-depend-on-what-is-forgotten", test_races);
  g_test_add_func ("/abort/what-has-not-started-never-does", test_unstarted);
  g_test_add_func ("/abort/a-leaf-that-polls-ends-there", test_leaves);
  g_test_add_func ("/abort/thieves-deep-in-their-jobs-leave", test_deep);
  g_test_add_func ("/abort/nothing-of-an-aborted-job-is-improved-or-saved", test_late);
  g_test_add_func ("/abort/a-held-job-stops", test_held);
  g_test_add_func ("/abort/a-held-job-that-stops-covers-nothing", test_held_covers_nothing);
  return g_test_run ();
}
