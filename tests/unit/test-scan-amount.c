/* SPDX-License-Identifier: BSD-3-Clause */
/* The amount of a scan: a limited number of rows and bytes in mid-run, everything in a halt; each
 * row once, unless all rows are asked for. */
#include "config.h"

#include "engine-rig.h"
#include "flag.h"

#include "sched/seat.h"

#include <sched.h>
#include <string.h>

static gboolean begun; /* atomic */

SATIN_JOB (leaf, int32_t, (int32_t, n))
{
  return n;
}

#define LARGE 80
#define LARGE_BYTES (1 << 20) /* more in all than a scan in mid-run takes */

SATIN_JOB (large, SatinBytes)
{
  return satin_bytes (g_bytes_new_take (g_malloc0 (LARGE_BYTES), LARGE_BYTES));
}

SATIN_JOB (spawns_large, int32_t)
{
  SatinBytes bytes[LARGE];

  for (int i = 0; i < LARGE; i++)
    satin_spawn (large, &bytes[i]);
  satin_sync ();
  set (&begun, TRUE);
  for (;;)
    if (!satin_aborted ())
      g_usleep (200);
  return 0;
}

SATIN_RECORD (Kept, (int32_t, n))

SATIN_JOB (keeps, int32_t)
{
  SATIN_KEEPS (Kept);
  Kept kept = { 1 };
  int32_t x;

  satin_spawn (leaf, &x, 1);
  satin_sync ();
  satin_keep (&kept);
  set (&begun, TRUE);
  for (;;)
    if (!satin_aborted ())
      g_usleep (200);
  return 0;
}

#define DEEP 5
#define DEEP_BYTES (20 << 20) /* four of these are more than a scan takes while the run goes on */

/* Each job on the path down has kept a large state. */
SATIN_JOB (keeps_large, int32_t, (int32_t, n))
{
  SATIN_KEEPS (SatinBytes);
  static const char zeros[DEEP_BYTES];
  int32_t x;

  satin_spawn (leaf, &x, 1);
  satin_sync ();
  SatinBytes state = satin_bytes (g_bytes_new_static (zeros, DEEP_BYTES));
  satin_keep (&state);
  if (n > 1)
    {
      satin_spawn (keeps_large, &x, n - 1);
      satin_sync ();
    }
  set (&begun, TRUE);
  for (;;)
    if (!satin_aborted ())
      g_usleep (200);
  return 0;
}

#define MANY 700 /* more than a scan in mid-run takes at once */
#define ROWS_PER_S 120

SATIN_JOB (spawns_many, int32_t)
{
  int32_t x[MANY];

  for (int i = 0; i < MANY; i++)
    satin_spawn (leaf, &x[i], i);
  satin_sync ();
  set (&begun, TRUE);
  for (;;)
    if (!satin_aborted ())
      g_usleep (200);
  return 0;
}

/* The number of rows until this end; `times` (nullable): how often the row of each child came so
 * far. */
static guint
count_rows (Rig *rig, EngineEventKind end, guint *times)
{
  EngineEvent event = { .kind = ENGINE_ROWS };
  guint n_rows = 0;

  while (event.kind != end)
    {
      if (!rig_next (rig, &event, 100000))
        continue;
      for (guint i = 0; event.kind == ENGINE_ROWS && i < event.rows->len; i++, n_rows++)
        if (times != NULL)
          times[g_ascii_strtoull (((Row *)event.rows->pdata[i])->path + 1, NULL, 10)]++;
      engine_event_clear (&event);
    }
  return n_rows;
}

/* A scan during the run takes a limited number of bytes and leaves the rest for later; a halt
 * reports all. */
static void
test_large (gconstpointer leaving)
{
  static const SatinJob *const jobs[] = { &spawns_large_job, &large_job, NULL };
  satin_args_spawns_large args = { 0 };
  Rig *rig = rig_new_for (jobs, 1, 0, 1);

  set (&begun, FALSE);
  rig_start (rig, 0, &args);
  while (!is_set (&begun))
    sched_yield ();
  if (leaving != NULL)
    {
      guint n_rows;

      engine_scan (rig->engine, TRUE);
      n_rows = count_rows (rig, ENGINE_SCANNED, NULL);
      g_assert_cmpuint (n_rows, >, 0);
      g_assert_cmpuint (n_rows, <, LARGE);
    }
  engine_halt (rig->engine, leaving != NULL);
  g_assert_cmpuint (count_rows (rig, ENGINE_HALTED, NULL), ==, LARGE);
  rig_free (rig);
}

/* Each row is reported once, now or later. A whole scan reports all rows, reported or not, and so
 * does the halt of a node that leaves; the halt of a run reports the rest. T0-7, T2-3. */
static void
test_each_once_and_all_when_asked (gconstpointer leaving)
{
  static const SatinJob *const jobs[] = { &spawns_many_job, &leaf_job, NULL };
  satin_args_spawns_many args = { 0 };
  Rig *rig = rig_new_for (jobs, 1, 0, 1);
  guint times[MANY] = { 0 }, all[MANY] = { 0 }, n_rows;
  gint64 from_us;

  set (&begun, FALSE);
  rig_start (rig, 0, &args);
  while (!is_set (&begun))
    sched_yield ();
  from_us = g_get_monotonic_time ();
  engine_scan (rig->engine, FALSE);
  n_rows = count_rows (rig, ENGINE_SCANNED, times);
  g_assert_cmpuint (n_rows, >, 0);
  g_assert_cmpuint (n_rows, <, MANY);
  engine_scan (rig->engine, FALSE); /* more rows for each second since the last scan */
  n_rows = count_rows (rig, ENGINE_SCANNED, times);
  g_assert_cmpfloat (n_rows, <=,
                     1 + 1e-6 * ROWS_PER_S * (double)(g_get_monotonic_time () - from_us));
  if (leaving != NULL)
    {
      engine_scan (rig->engine, TRUE);
      g_assert_cmpuint (count_rows (rig, ENGINE_SCANNED, all), ==, MANY);
      engine_scan (rig->engine, FALSE);
      g_assert_cmpuint (count_rows (rig, ENGINE_SCANNED, all), ==, 0);
      memset (times, 0, sizeof times);
    }
  engine_halt (rig->engine, leaving != NULL);
  count_rows (rig, ENGINE_HALTED, times);
  for (guint i = 0; i < MANY; i++)
    g_assert_cmpuint (times[i], ==, 1);
  rig_free (rig);
}

/* The first halt says whether the node leaves: then no other node has the rows. */
static void
test_halt_again (void)
{
  static const SatinJob *const jobs[] = { &spawns_many_job, &leaf_job, NULL };
  satin_args_spawns_many args = { 0 };
  Rig *rig = rig_new_for (jobs, 1, 0, 1);

  set (&begun, FALSE);
  rig_start (rig, 0, &args);
  while (!is_set (&begun))
    sched_yield ();
  engine_scan (rig->engine, TRUE);
  g_assert_cmpuint (count_rows (rig, ENGINE_SCANNED, NULL), ==, MANY);
  engine_halt (rig->engine, TRUE);
  engine_halt (rig->engine, FALSE);
  g_assert_true (rig->engine->orders.leaving);
  g_assert_cmpuint (count_rows (rig, ENGINE_HALTED, NULL), ==, MANY);
  rig_free (rig);
}

static void
test_kept_once_and_when_asked (void)
{
  static const SatinJob *const jobs[] = { &keeps_job, &leaf_job, NULL };
  satin_args_keeps args = { 0 };
  Rig *rig = rig_new_for (jobs, 1, 0, 1);

  set (&begun, FALSE);
  rig_start (rig, 0, &args);
  while (!is_set (&begun))
    sched_yield ();
  for (guint i = 0; i < 4; i++)
    {
      gboolean whole = i == 2;

      engine_scan (rig->engine, whole);
      g_assert_cmpuint (count_rows (rig, ENGINE_SCANNED, NULL), ==, i == 0 || whole ? 1 : 0);
    }
  engine_halt (rig->engine, FALSE);
  g_assert_cmpuint (count_rows (rig, ENGINE_HALTED, NULL), ==, 0);
  rig_free (rig);
}

/* The bytes of kept states count, too; what a scan leaves comes later. */
static void
test_kept_and_large (void)
{
  static const SatinJob *const jobs[] = { &keeps_large_job, &leaf_job, NULL };
  satin_args_keeps_large args = { DEEP };
  Rig *rig = rig_new_for (jobs, 1, 0, 1);
  guint n_rows;

  set (&begun, FALSE);
  rig_start (rig, 0, &args);
  while (!is_set (&begun))
    sched_yield ();
  engine_scan (rig->engine, FALSE);
  n_rows = count_rows (rig, ENGINE_SCANNED, NULL);
  g_assert_cmpuint (n_rows, >, 0);
  g_assert_cmpuint (n_rows, <, DEEP);
  engine_halt (rig->engine, FALSE);
  g_assert_cmpuint (n_rows + count_rows (rig, ENGINE_HALTED, NULL), ==, DEEP);
  rig_free (rig);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/scan-amount/a-halt-tells-all-however-large", NULL, test_large);
  g_test_add_data_func ("/scan-amount/a-leaver-tells-all-however-large", "leaving", test_large);
  g_test_add_data_func ("/scan-amount/each-row-is-told-once", NULL,
                        test_each_once_and_all_when_asked);
  g_test_add_data_func ("/scan-amount/all-rows-are-told-when-asked", "leaving",
                        test_each_once_and_all_when_asked);
  g_test_add_func ("/scan-amount/the-first-halt-says-whether-the-node-leaves", test_halt_again);
  g_test_add_func ("/scan-amount/what-is-kept-is-told-once", test_kept_once_and_when_asked);
  g_test_add_func ("/scan-amount/what-is-kept-counts-as-large", test_kept_and_large);
  return g_test_run ();
}
