/* SPDX-License-Identifier: BSD-3-Clause */
/* Halt, scan and resume: the rows that a halted engine reports are right, and a second engine that
 * knows them gives the same result with less work. Also late news, whole scans and idle engines. */
#include "config.h"

#include "engine-jobs.h"
#include "engine-rig.h"
#include "processor.h"

#define ROOT_DEPTH 6
#define PHASES_LEAVES (1 << 2 * ROOT_DEPTH)
#define STEP_LEAVES 40

static const NodeId archive_id = { 1, 1, 1 };
static const satin_args_phases root_args = { ROOT_DEPTH, 5 };

static void
check_row (Rig *rig, const Row *row)
{
  g_autoptr (GArray) numbers = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GBytes) root = record_encode (phases_job.args, &root_args);
  g_autoptr (GBytes) args = NULL, value = NULL;
  guint32 job;
  Digest digest;

  g_assert_true (path_to_numbers (rig->stems, row->path, NULL, numbers));
  args = serial_args_at (JOB_PHASES, root, (guint32 *)(void *)numbers->data, numbers->len, &job);
  digest = engine_digest (rig->engine, job, args);
  value = serial_encoded (job, args);
  g_assert_cmpuint (row->job, ==, job);
  g_assert_true (digest_equal (&digest, &row->digest));
  g_assert_true (g_bytes_equal (value, row->value));
}

static void
keep_rows (Rig *rig, GHashTable *rows, const EngineEvent *event)
{
  for (guint i = 0; event->rows != NULL && i < event->rows->len; i++)
    {
      Row *row = row_copy (event->rows->pdata[i]);

      check_row (rig, row);
      g_hash_table_replace (rows, (gpointer)row->path, row);
    }
}

static gboolean
has_ancestor (Rig *rig, GHashTable *rows, const char *path)
{
  GHashTableIter iter;
  gpointer other;

  g_hash_table_iter_init (&iter, rows);
  while (g_hash_table_iter_next (&iter, &other, NULL))
    if (path_is_below (rig->stems, path, other))
      return TRUE;
  return FALSE;
}

/* Everything that was reported before. No job runs meanwhile. (transfer full) */
static GHashTable *
tell_apart (Rig *rig, GHashTable *rows)
{
  GHashTable *before = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  GHashTableIter iter;
  EngineEvent event;
  gpointer path;

  while (rig_next (rig, &event, 1000))
    {
      keep_rows (rig, rows, &event);
      engine_event_clear (&event);
    }
  g_hash_table_iter_init (&iter, rows);
  while (g_hash_table_iter_next (&iter, &path, NULL))
    g_hash_table_add (before, g_strdup (path));
  g_hash_table_remove_all (rows);
  return before;
}

/* An engine whose node leaves reports all of that. */
static void
check_all_told (Rig *rig, GHashTable *rows, GHashTable *before)
{
  GHashTableIter iter;
  gpointer path;

  g_hash_table_iter_init (&iter, before);
  while (g_hash_table_iter_next (&iter, &path, NULL))
    g_assert_true (g_hash_table_contains (rows, path) || has_ancestor (rig, rows, path));
}

/* An engine that has halted reports everything again when it is asked. */
static void
check_told_again (Rig *rig, GHashTable *rows)
{
  g_autoptr (GHashTable) again
      = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, (GDestroyNotify)row_free);
  gboolean scanned = FALSE;
  EngineEvent event;

  engine_scan (rig->engine, TRUE);
  while (!scanned)
    {
      if (!rig_next (rig, &event, 100000))
        continue;
      keep_rows (rig, again, &event);
      scanned = event.kind == ENGINE_SCANNED;
      engine_event_clear (&event);
    }
  check_all_told (rig, again, rows);
}

/* Runs until so many leaves have begun, scans meanwhile, and halts. (transfer full): all rows by
 * path, checked; when leaving, only those of the halt. */
static GHashTable *
run_and_halt (Rig *rig, int leaves, gboolean leaving)
{
  GHashTable *rows
      = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, (GDestroyNotify)row_free);
  g_autoptr (GHashTable) before = NULL;
  gboolean halting = FALSE, halted = FALSE, whole = FALSE;
  EngineEvent event;

  engine_test_gate (leaves);
  rig_start (rig, JOB_PHASES, &root_args);
  engine_scan (rig->engine, FALSE);
  while (!halted)
    {
      if (!halting && engine_test_gate_reached ())
        {
          if (leaving)
            before = tell_apart (rig, rows);
          engine_halt (rig->engine, leaving);
          engine_test_gate (-1);
          halting = TRUE;
        }
      if (!rig_next (rig, &event, 1000))
        continue;
      g_assert_cmpint (event.kind, !=, ENGINE_DONE);
      keep_rows (rig, rows, &event);
      halted = event.kind == ENGINE_HALTED;
      if (event.kind == ENGINE_SCANNED && !halting)
        engine_scan (rig->engine, whole = !whole);
      engine_event_clear (&event);
    }
  if (leaving)
    check_all_told (rig, rows, before);
  check_told_again (rig, rows);
  return rows;
}

static void
resume (GHashTable *rows, guint workers, guint64 jobs_total)
{
  Rig *rig = rig_new (workers, 0, 3);
  g_autoptr (GBytes) result = NULL;
  GHashTableIter iter;
  gpointer value;
  EngineEvent event;
  EngineStats stats;
  guint n_known = 0;
  int64_t number;

  g_hash_table_iter_init (&iter, rows);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    {
      const Row *row = value;

      if (has_ancestor (rig, rows, row->path))
        continue;
      engine_known (rig->engine, row->path, &row->digest, &archive_id, TRUE);
      n_known++;
    }
  rig_start (rig, JOB_PHASES, &root_args);
  while (result == NULL)
    {
      if (!rig_next (rig, &event, 100000))
        continue;
      if (event.kind == ENGINE_ADOPT)
        {
          Row *row = g_hash_table_lookup (rows, event.path);

          g_assert_nonnull (row);
          g_assert_true (engine_put (rig->engine, event.loan, row->value, row->work_us, 0));
        }
      if (event.kind == ENGINE_COVERED)
        engine_forget (rig->engine, event.path, &archive_id);
      if (event.kind == ENGINE_DONE)
        result = g_bytes_ref (event.value);
      engine_event_clear (&event);
    }

  g_assert_true (record_decode (&satin_type_int64_t, result, &number, NULL));
  g_assert_cmpint (number, ==, serial_phases (root_args.depth, root_args.seed));
  engine_stats (rig->engine, &stats);
  g_assert_cmpuint (stats.jobs_reused, ==, n_known);
  g_assert_cmpuint (stats.jobs, <=, jobs_total);
  rig_free (rig);
}

static void
halt_and_go_on (gboolean leaving)
{
  static const guint workers[] = { 1, 2, 4 };
  guint64 jobs_total = 0;

  for (guint i = 0, power = 1; i <= ROOT_DEPTH; i++, power *= 4)
    jobs_total += power;
  for (guint i = 0; i < G_N_ELEMENTS (workers); i++)
    for (int leaves = 10; leaves < 3000; leaves += 700)
      {
        Rig *rig = rig_new (workers[i], 0, (guint64)leaves);
        GHashTable *rows = run_and_halt (rig, leaves, leaving);

        resume (rows, 3 - i, jobs_total);
        g_hash_table_unref (rows);
        rig_free (rig);
      }
}

static void
test_resume (void)
{
  halt_and_go_on (FALSE);
}

static void
test_leave (void)
{
  engine_test_leaf_spins = 2000; /* so that some rows are scanned before */
  halt_and_go_on (TRUE);
}

/* A job that has not begun goes back to its lender when the node leaves. */
static void
test_unstarted (void)
{
  Rig *rig = rig_new (1, 0, 1);
  satin_args_phases args = { 1, 1 };
  g_autoptr (GBytes) encoded = record_encode (phases_job.args, &args);
  Digest digest = engine_digest (rig->engine, JOB_PHASES, encoded);
  g_autoptr (Loan) second = loan_new (9, "/4", JOB_PHASES, &digest, 1, encoded);
  gboolean halted = FALSE, back = FALSE;
  EngineEvent event;

  engine_test_gate (1);
  rig_start (rig, JOB_PHASES, &root_args);
  while (!engine_test_gate_reached ())
    g_usleep (100);
  g_assert_true (engine_run (rig->engine, 2, second));
  engine_halt (rig->engine, TRUE);
  engine_test_gate (-1);
  while (!halted)
    {
      if (!rig_next (rig, &event, 1000))
        continue;
      back = back || (event.kind == ENGINE_UNRUN && event.held == 2);
      halted = event.kind == ENGINE_HALTED;
      engine_event_clear (&event);
    }
  g_assert_true (back);
  rig_free (rig);
}

/* The engine is told that another node holds the job of a row that a scan has just reported: it
 * must answer that the job is finished here, so that no node adopts it. TRUE: a row was reported
 * before half of the leaves were done. With one worker that is always so: the gate lets the leaves
 * run in steps, and a scan is ordered before each. An engine whose last job has ended need not
 * answer. */
static gboolean
tell_late_news (guint64 seed)
{
  static const NodeId other = { 1, 7, 7 };
  Rig *rig = rig_new (1 + seed % 2, 0, seed);
  g_autofree char *path = NULL;
  gboolean covered = FALSE, done = FALSE;
  int steps = PHASES_LEAVES / STEP_LEAVES / 2;
  EngineEvent event;

  engine_test_gate (0);
  rig_start (rig, JOB_PHASES, &root_args);
  while (!done)
    {
      if (steps > 0 && engine_test_gate_reached ())
        {
          engine_scan (rig->engine, FALSE);
          steps = path == NULL ? steps - 1 : 0;
          engine_test_gate (steps > 0 ? STEP_LEAVES : -1);
        }
      if (!rig_next (rig, &event, 1000))
        continue;
      if (event.rows != NULL && event.rows->len > 0 && path == NULL && steps > 0)
        {
          const Row *row = event.rows->pdata[event.rows->len - 1];

          path = g_strdup (row->path);
          engine_known (rig->engine, row->path, &row->digest, &other, TRUE);
        }
      g_assert_cmpint (event.kind, !=, ENGINE_ADOPT);
      if (event.kind == ENGINE_COVERED)
        covered = covered || g_str_equal (path, event.path)
                  || path_is_below (rig->stems, path, event.path);
      done = event.kind == ENGINE_DONE;
      engine_event_clear (&event);
    }
  g_assert_true (covered == (path != NULL));
  rig_free (rig);
  return covered;
}

static void
test_late_news (void)
{
  guint told = 0;

  for (guint64 seed = 0; told < 6; seed++)
    {
      gboolean any = tell_late_news (seed);

      g_assert_true (any || seed % 2 == 1);
      told += any;
    }
}

static void
test_counts (void)
{
  Rig *rig = rig_new (2, 0, 1);
  g_autoptr (GBytes) result = rig_run (rig, JOB_FIB, &(satin_args_fib){ 20 });
  EngineStats stats;

  engine_stats (rig->engine, &stats);
  g_assert_cmpuint (stats.jobs, ==, 21891);
  g_assert_cmpuint (stats.lent, ==, 0);
  rig_free (rig);
}

static void
test_idle (void)
{
  Rig *rig = rig_new (4, 0, 1);
  EngineEvent event;
  double began_s;

  g_bytes_unref (rig_run (rig, JOB_FIB, &(satin_args_fib){ 10 }));
  while (rig_next (rig, &event, 200000))
    engine_event_clear (&event);
  began_s = processor_s ();
  g_assert_false (rig_next (rig, &event, 200000));
  g_assert_cmpfloat (processor_s () - began_s, <, 0.01);
  rig_free (rig);
}

static void
test_hungry (void)
{
  Rig *rig = rig_new (3, 0, 1);
  EngineEvent event;
  guint seats = 0;

  while (seats < 3)
    if (rig_next (rig, &event, 100000))
      {
        g_assert_cmpint (event.kind, ==, ENGINE_HUNGRY);
        g_assert_cmpuint (event.seats, >, seats);
        seats = event.seats;
        engine_event_clear (&event);
      }
  g_assert_false (rig_next (rig, &event, 50000));
  rig_free (rig);
}

static void
test_refuses (void)
{
  Rig *rig = rig_new (1, 0, 1);
  g_autoptr (GBytes) args = record_encode (fib_job.args, &(satin_args_fib){ 3 });
  g_autoptr (GBytes) bad = g_bytes_new_static ("x", 1);
  Digest digest = engine_digest (rig->engine, JOB_FIB, args), zero = { { 0 } };
  Digest bad_digest = engine_digest (rig->engine, JOB_FIB, bad);
  g_autoptr (Loan) right = loan_new (0, "/1", JOB_FIB, &digest, 1, args);
  g_autoptr (Loan) other = loan_new (0, "/1", JOB_FIB, &zero, 1, args);
  g_autoptr (Loan) malformed = loan_new (0, "/1", JOB_FIB, &bad_digest, 1, bad);
  g_autoptr (Loan) unknown = loan_new (0, "/1", 1000, &digest, 1, args);

  g_assert_false (engine_run (rig->engine, 2, other));
  g_assert_false (engine_run (rig->engine, 2, malformed));
  g_assert_false (engine_run (rig->engine, 2, unknown));
  engine_unrun (rig->engine, 2);
  g_assert_false (engine_put (rig->engine, 17, args, 0, 0));
  g_assert_false (engine_back (rig->engine, 17));
  g_assert_true (engine_run (rig->engine, 2, right));
  rig_free (rig);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/what-a-halted-engine-reports-is-enough-to-go-on", test_resume);
  g_test_add_func ("/engine/what-an-engine-tells-when-it-leaves-is-everything", test_leave);
  g_test_add_func ("/engine/what-has-not-begun-goes-back-when-it-leaves", test_unstarted);
  g_test_add_func ("/engine/late-news-of-what-is-finished-is-answered", test_late_news);
  g_test_add_func ("/engine/jobs-are-counted-exactly", test_counts);
  g_test_add_func ("/engine/an-idle-engine-uses-no-processor-time", test_idle);
  g_test_add_func ("/engine/hunger-is-said-once-per-change", test_hungry);
  g_test_add_func ("/engine/malformed-jobs-are-refused", test_refuses);
  return g_test_run ();
}
