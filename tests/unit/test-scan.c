/* SPDX-License-Identifier: BSD-3-Clause */
/* Results that move from one stack to another while both are scanned: none is missed. */
#include "config.h"

#include "engine-rig.h"
#include "flag.h"

#include "sched/seat.h"

#include <sched.h>
#include <string.h>

/* The number of repetitions: an error may need a certain moment. */
#define TIMES 20
#define PART_MS 50 /* most of the time of a job with such a part */

static gboolean begun, open, over; /* atomic */

SATIN_JOB (leaf, int32_t, (int32_t, n))
{
  return n;
}

SATIN_JOB (lasts, int32_t, (int32_t, n))
{
  g_usleep (PART_MS * 1000);
  return n;
}

/* Another stack takes this job. It has a finished child, and comes to no further sync. */
SATIN_JOB (stolen, int32_t, (int32_t, n))
{
  int32_t x;

  satin_spawn (leaf, &x, n);
  satin_sync ();
  set (&begun, TRUE);
  while (!is_set (&open))
    sched_yield ();
  return x;
}

SATIN_JOB (own, int32_t)
{
  while (!is_set (&begun))
    sched_yield ();
  return 1;
}

/* Waits for `stolen`, and then comes to a sync from time to time. */
SATIN_JOB (waits, int32_t)
{
  int32_t x, y, z;

  satin_spawn (stolen, &x, 7);
  satin_spawn (own, &y);
  stack_ask ((Stack *)satin_frame_->stack, STACK_FLAG_MOVE);
  satin_sync ();
  while (!is_set (&over))
    {
      satin_spawn (leaf, &z, 3);
      satin_sync ();
      g_usleep (200);
    }
  return x + y;
}

/* Its first phase is over when the scan is requested, and no sync has followed. */
SATIN_JOB (phased, int32_t)
{
  int32_t x, y, z;

  satin_spawn (leaf, &x, 1);
  satin_spawn (leaf, &y, 2);
  satin_sync ();
  set (&begun, TRUE);
  while (!is_set (&open))
    sched_yield ();
  satin_spawn (leaf, &z, 3);
  satin_sync ();
  return x + y + z;
}

/* Atomic: how many syncs each of two jobs may pass, and has passed. */
static gint allowed[2], at[2];

/* Comes to its next sync when the test allows it. */
SATIN_JOB (paced, int32_t, (int32_t, who))
{
  int32_t x;

  for (gint i = 0; g_atomic_int_get (&allowed[who]) >= 0; i++)
    {
      g_atomic_int_set (&at[who], i);
      while (g_atomic_int_get (&allowed[who]) == i)
        sched_yield ();
      satin_spawn (leaf, &x, i);
      satin_sync ();
    }
  return 0;
}

SATIN_JOB (two_paced, int32_t)
{
  int32_t x, y;

  satin_spawn (paced, &x, 0);
  satin_spawn (paced, &y, 1);
  stack_ask ((Stack *)satin_frame_->stack, STACK_FLAG_MOVE);
  satin_sync ();
  return x + y;
}

static gboolean
has_row (const EngineEvent *event, const char *path)
{
  for (guint i = 0; event->kind == ENGINE_ROWS && i < event->rows->len; i++)
    if (g_str_equal (((Row *)event->rows->pdata[i])->path, path))
      return TRUE;
  return FALSE;
}

/* The root has at least two children, and no part weighs more than the whole. */
static void
check_weights (const EngineEvent *event)
{
  double sum = 0;

  for (guint i = 0; event->kind == ENGINE_ROWS && i < event->rows->len; i++)
    {
      const Row *row = event->rows->pdata[i];
      g_assert_cmpfloat (row->weight, >, 0);
      g_assert_cmpfloat (row->weight, <=, 0.5);
      sum += row->weight;
    }
  g_assert_cmpfloat (sum, <=, 1 + 1e-9);
}

/* The waiting stack has reported its rows; then the other stack ends its job. TRUE: the rows
 * finished there came before the end of the whole scan. */
static gboolean
goes_over (Rig *rig, EngineEventKind end)
{
  EngineEvent event = { .kind = ENGINE_ROWS };
  gboolean told = FALSE, found = FALSE;

  while (event.kind != end)
    {
      event.kind = ENGINE_ROWS;
      if (!rig_next (rig, &event, 100000))
        continue;
      check_weights (&event);
      told = told || has_row (&event, "/1");
      found = found || has_row (&event, "/0") || has_row (&event, "/0/0");
      engine_event_clear (&event);
      set (&open, told);
    }
  return found;
}

static Rig *
begin (void)
{
  static const SatinJob *const jobs[] = { &waits_job, &stolen_job, &own_job, &leaf_job, NULL };
  satin_args_waits args = { 0 };
  Rig *rig = rig_new_for (jobs, 2, 0, 1);

  set (&begun, FALSE);
  set (&open, FALSE);
  set (&over, FALSE);
  rig_start (rig, 0, &args);
  while (!is_set (&begun))
    sched_yield ();
  return rig;
}

static void
test_scan (void)
{
  for (guint i = 0; i < TIMES; i++)
    {
      Rig *rig = begin ();

      engine_scan (rig->engine, FALSE);
      g_assert_true (goes_over (rig, ENGINE_SCANNED));
      set (&over, TRUE);
      rig_free (rig);
    }
}

static void
test_halt (void)
{
  for (guint i = 0; i < TIMES; i++)
    {
      Rig *rig = begin ();

      engine_halt (rig->engine, FALSE);
      g_assert_true (goes_over (rig, ENGINE_HALTED));
      set (&over, TRUE);
      rig_free (rig);
    }
}

static void
test_phase (void)
{
  static const SatinJob *const jobs[] = { &phased_job, &leaf_job, NULL };
  satin_args_phased args = { 0 };
  Rig *rig = rig_new_for (jobs, 1, 0, 1);
  EngineEvent event = { .kind = ENGINE_ROWS };
  gboolean first = FALSE, second = FALSE, third = FALSE;

  set (&begun, FALSE);
  set (&open, FALSE);
  rig_start (rig, 0, &args);
  while (!is_set (&begun))
    sched_yield ();
  engine_scan (rig->engine, FALSE);
  set (&open, TRUE);
  while (event.kind != ENGINE_SCANNED)
    {
      if (!rig_next (rig, &event, 100000))
        continue;
      first = first || has_row (&event, "/0");
      second = second || has_row (&event, "/1");
      third = third || has_row (&event, "/2");
      engine_event_clear (&event);
    }
  g_assert_true (first && second && !third);
  rig_free (rig);
}

/* Further scans are requested before a stack comes to a sync: none of them ends before it does. */
static void
test_no_scan_ends_early (void)
{
  static const SatinJob *const jobs[] = { &phased_job, &leaf_job, NULL };
  satin_args_phased args = { 0 };
  Rig *rig = rig_new_for (jobs, 1, 0, 1);
  EngineEvent event = { .kind = ENGINE_ROWS };
  gboolean told = FALSE;

  set (&begun, FALSE);
  set (&open, FALSE);
  rig_start (rig, 0, &args);
  while (!is_set (&begun))
    sched_yield ();
  for (guint i = 0; i < 3; i++)
    {
      engine_scan (rig->engine, FALSE);
      while (rig_next (rig, &event, 0))
        {
          g_assert_cmpint (event.kind, !=, ENGINE_SCANNED);
          engine_event_clear (&event);
        }
    }
  set (&open, TRUE);
  while (event.kind != ENGINE_SCANNED || event.scan < 3)
    {
      if (!rig_next (rig, &event, 100000))
        continue;
      told = told || has_row (&event, "/0");
      g_assert_true (told || event.kind != ENGINE_SCANNED);
      engine_event_clear (&event);
    }
  rig_free (rig);
}

/* Computes for long, then polls until `open`. */
SATIN_JOB (middle, int32_t, (int32_t, n))
{
  int32_t x;

  satin_spawn (lasts, &x, n);
  satin_sync ();
  set (&begun, TRUE);
  while (!is_set (&open))
    if (!satin_aborted ())
      g_usleep (200);
  return x;
}

/* Child number `n` is the one that computes for long; polls until `over`. */
SATIN_JOB (outer, int32_t, (int32_t, n))
{
  int32_t x;

  for (int32_t i = 0; i < n; i++)
    satin_spawn (leaf, &x, i);
  satin_spawn (middle, &x, n);
  satin_sync ();
  set (&begun, TRUE);
  while (!is_set (&over))
    if (!satin_aborted ())
      g_usleep (200);
  return x;
}

/* Until this scan is served: counts the reports of `path` and of all jobs that have what is needed
 * to compute them again. */
static guint
count_finished (Rig *rig, guint64 scan, const char *path, guint *n)
{
  EngineEvent event = { .kind = ENGINE_ROWS };
  guint found = 0;
  gboolean served = FALSE;

  while (!served)
    {
      if (!rig_next (rig, &event, 100000))
        continue;
      served = event.kind == ENGINE_SCANNED && event.scan >= scan;
      if (event.kind == ENGINE_FINISHED)
        {
          Digest digest = engine_digest (rig->engine, event.whole->job, event.whole->args);
          g_assert_true (digest_equal (&digest, &event.whole->digest));
          g_assert_true (g_bytes_equal (event.whole->args, event.value)); /* jobs return n */
          *n += 1;
          found += g_str_equal (event.whole->path, path);
        }
      engine_event_clear (&event);
    }
  return found;
}

/* Finished children are reported once each. A job most of which an earlier row contained is
 * reported as seldom as little is new in it: not at all, if its path is chosen only with a large
 * share. */
static void
test_what_may_be_computed_twice (void)
{
  static const SatinJob *const jobs[] = { &outer_job, &middle_job, &lasts_job, &leaf_job, NULL };
  Rig *rig = rig_new_for (jobs, 1, 0, 1);
  g_autofree char *path = NULL, *part = NULL;
  gint32 k = -1;
  guint n = 0;

  do
    {
      g_free (path);
      path = g_strdup_printf ("/%d", ++k);
    }
  while (path_is_drawn (path, 0.99));
  part = g_strconcat (path, "/0", NULL);
  rig->engine->config.twice = 1;
  set (&begun, FALSE);
  set (&open, FALSE);
  set (&over, FALSE);
  rig_start (rig, 0, &(satin_args_outer){ k });
  while (!is_set (&begun))
    sched_yield ();
  engine_scan (rig->engine, FALSE);
  g_assert_cmpuint (count_finished (rig, 1, part, &n), ==, 1);
  engine_scan (rig->engine, TRUE);
  g_assert_cmpuint (count_finished (rig, 2, part, &n), ==, 0);
  g_assert_cmpuint (n, ==, 1);
  set (&begun, FALSE);
  set (&open, TRUE);
  while (!is_set (&begun))
    sched_yield ();
  engine_scan (rig->engine, FALSE);
  g_assert_cmpuint (count_finished (rig, 3, path, &n), ==, 0);
  set (&over, TRUE);
  rig_free (rig);
}

/* Lets job `who` pass its next sync and wait before the one after that. */
static void
step (gint who)
{
  gint next = g_atomic_int_get (&at[who]) + 1;

  g_atomic_int_set (&allowed[who], next);
  while (g_atomic_int_get (&at[who]) != next)
    sched_yield ();
}

/* Both stacks never have served all requested scans at the same time, since the next scan is
 * requested in between: a job is longer than the time between two scans. Yet each scan ends. */
static void
test_scans_end_though_others_are_asked_for (void)
{
  static const SatinJob *const jobs[] = { &two_paced_job, &paced_job, &leaf_job, NULL };
  satin_args_two_paced args = { 0 };
  EngineEvent event = { .kind = ENGINE_ROWS };
  EngineStats stats;
  guint64 work_us = 0;

  for (gint i = 0; i < 2; i++)
    {
      g_atomic_int_set (&allowed[i], 0);
      g_atomic_int_set (&at[i], -1);
    }
  Rig *rig = rig_new_for (jobs, 2, 0, 1);
  rig_start (rig, 0, &args);
  while (g_atomic_int_get (&at[0]) != 0 || g_atomic_int_get (&at[1]) != 0)
    sched_yield ();
  for (guint64 scan = 1; scan <= TIMES; scan++)
    {
      engine_scan (rig->engine, FALSE);
      step (scan % 2);
      while (scan > 1 && !(event.kind == ENGINE_SCANNED && event.scan == scan - 1))
        if (rig_next (rig, &event, 100000))
          {
            check_weights (&event);
            work_us += event.kind == ENGINE_SCANNED ? event.work_us : 0;
            engine_event_clear (&event);
          }
    }
  engine_stats (rig->engine, &stats);
  g_assert_cmpuint (2 * work_us, <=, stats.scan_us); /* of two seats: each scan counts its own */
  g_atomic_int_set (&allowed[0], -1);
  g_atomic_int_set (&allowed[1], -1);
  rig_free (rig);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/scan/what-may-be-computed-twice", test_what_may_be_computed_twice);
  g_test_add_func ("/scan/what-goes-over-while-others-are-scanned-is-told", test_scan);
  g_test_add_func ("/scan/what-goes-over-while-others-halt-is-told", test_halt);
  g_test_add_func ("/scan/a-phase-that-is-over-is-told", test_phase);
  g_test_add_func ("/scan/no-scan-ends-before-its-rows", test_no_scan_ends_early);
  g_test_add_func ("/scan/scans-end-though-others-are-asked-for",
                   test_scans_end_though_others_are_asked_for);
  return g_test_run ();
}
