/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs with phases: the states that they keep are reported correctly, a second engine that recalls
 * them skips these phases, memory stays at what one phase needs, and broken rules are reported. */
#include "config.h"

#include "engine-jobs.h"
#include "engine-rig.h"
#include "processor.h"

#include <sys/resource.h>
#include <time.h>

static const NodeId archive_id = { 1, 1, 1 }, other_id = { 1, 2, 2 };

/* Plays the driver: notes all reported rows by path, results and kept states separately. */
typedef struct
{
  Rig *rig;
  guint32 root;
  GBytes *root_args;
  GHashTable *results, *kept; /* path -> Row */
  guint n_kept;
} Watcher;

static GHashTable *
row_table (void)
{
  return g_hash_table_new_full (g_str_hash, g_str_equal, NULL, (GDestroyNotify)row_free);
}

static Watcher *
watcher_new (guint workers, guint64 seed, guint32 root, const void *args)
{
  Watcher *watcher = g_new0 (Watcher, 1);

  watcher->rig = rig_new (workers, 0, seed);
  watcher->root = root;
  watcher->root_args = record_encode (engine_test_jobs[root]->args, args);
  watcher->results = row_table ();
  watcher->kept = row_table ();
  return watcher;
}

static void
watcher_free (Watcher *watcher)
{
  rig_free (watcher->rig);
  g_bytes_unref (watcher->root_args);
  g_hash_table_unref (watcher->results);
  g_hash_table_unref (watcher->kept);
  g_free (watcher);
}

static void
take_row (Watcher *watcher, const Row *row)
{
  g_autoptr (GArray) numbers = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GBytes) args = NULL, value = NULL;
  guint32 job;
  Digest digest;

  g_assert_true (path_to_numbers (watcher->rig->stems, row->path, NULL, numbers));
  args = serial_args_at (watcher->root, watcher->root_args, (guint32 *)(void *)numbers->data,
                         numbers->len, &job);
  digest = engine_digest (watcher->rig->engine, job, args);
  value = row->children > 0 ? serial_kept (args, row->children) : serial_encoded (job, args);
  g_assert_cmpuint (row->job, ==, job);
  g_assert_true (digest_equal (&digest, &row->digest) == (row->children == 0));
  g_assert_true (g_bytes_equal (value, row->value));
  g_autofree char *shown = loan_show_args (args);
  g_assert_cmpstr (row->args, ==, shown);
  if (row->children == 0)
    {
      Row *copy = row_copy (row);

      g_hash_table_replace (watcher->results, (gpointer)copy->path, copy);
      return;
    }
  Row *copy = row_copy (row), *old = g_hash_table_lookup (watcher->kept, row->path);

  g_assert_cmpstr (row->type, ==, "(ix)");
  g_assert_true (old == NULL || old->children <= row->children);
  g_hash_table_replace (watcher->kept, (gpointer)copy->path, copy);
  watcher->n_kept++;
}

/* (nullable) (transfer full): the result, if the root ended. */
static GBytes *
take_event (Watcher *watcher, const EngineEvent *event)
{
  for (guint i = 0; event->rows != NULL && i < event->rows->len; i++)
    take_row (watcher, event->rows->pdata[i]);
  return event->kind == ENGINE_DONE ? g_bytes_ref (event->value) : NULL;
}

/* Runs until `leaves` leaves have begun, with one scan after another, and halts. */
static void
run_and_halt (Watcher *watcher, const void *args, int leaves)
{
  Rig *rig = watcher->rig;
  gboolean halting = FALSE, halted = FALSE;
  EngineEvent event;

  engine_test_gate (leaves);
  rig_start (rig, watcher->root, args);
  engine_scan (rig->engine, FALSE);
  while (!halted)
    {
      if (!halting && engine_test_gate_reached ())
        {
          engine_halt (rig->engine, FALSE);
          engine_test_gate (-1);
          halting = TRUE;
        }
      if (!rig_next (rig, &event, 1000))
        continue;
      g_assert_null (take_event (watcher, &event));
      halted = event.kind == ENGINE_HALTED;
      if (event.kind == ENGINE_SCANNED && !halting)
        engine_scan (rig->engine, FALSE);
      engine_event_clear (&event);
    }
}

/* TRUE if a kept state or a result of a job above covers this row. */
static gboolean
lies_in_kept_phase (Watcher *watcher, const char *path)
{
  g_autofree char *above = g_strdup (path);
  char *slash;

  while ((slash = strrchr (above, '/')) != NULL)
    {
      guint64 number = g_ascii_strtoull (slash + 1, NULL, 10);
      const Row *row;

      *slash = '\0';
      row = g_hash_table_lookup (watcher->kept, above);
      if ((row != NULL && row->children > number)
          || g_hash_table_contains (watcher->results, above))
        return TRUE;
    }
  return FALSE;
}

static void
announce (Watcher *from, GHashTable *rows, Rig *rig, const NodeId *holder)
{
  GHashTableIter iter;
  gpointer value;

  g_hash_table_iter_init (&iter, rows);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    {
      const Row *row = value;

      if (!lies_in_kept_phase (from, row->path))
        engine_known (rig->engine, row->path, &row->digest, holder, TRUE);
    }
}

#define GIFT_US 1000000 /* each value from another node is said to have cost more work */

/* Answers as a holder the request of a waiting slot. Returns the work of the answer. */
static guint64
answer (Watcher *from, Rig *rig, const EngineEvent *event, guint *n_recalled)
{
  const Row *row = g_hash_table_lookup (from->results, event->path);
  const Row *kept = g_hash_table_lookup (from->kept, event->path);
  g_autoptr (GBytes) packed = NULL;

  if (kept != NULL && digest_equal (&kept->digest, &event->digest))
    {
      packed = row_pack_kept (kept);
      *n_recalled += 1;
      g_assert_true (engine_put (rig->engine, event->loan, packed, GIFT_US + kept->work_us, 0));
      g_assert_false (engine_put (rig->engine, event->loan, packed, kept->work_us, 0));
      return GIFT_US + kept->work_us;
    }
  g_assert_true (row != NULL && digest_equal (&row->digest, &event->digest));
  g_assert_true (engine_put (rig->engine, event->loan, row->value, GIFT_US + row->work_us, 0));
  return GIFT_US + row->work_us;
}

/* A second engine continues from the rows that the first reported. Returns how many jobs it
 * executed. */
static guint64
go_on (Watcher *from, const void *args, guint *n_recalled)
{
  Watcher *watcher = watcher_new (2, 7, from->root, args);
  Rig *rig = watcher->rig;
  g_autoptr (GBytes) result = NULL, serial = serial_encoded (from->root, from->root_args);
  EngineEvent event;
  EngineStats before, stats;
  guint64 given_us = 0;

  announce (from, from->results, rig, &archive_id);
  announce (from, from->kept, rig, &archive_id);
  rig_start (rig, from->root, args);
  engine_scan (rig->engine, FALSE);
  while (result == NULL)
    {
      if (!rig_next (rig, &event, 1000000))
        continue;
      if (event.kind == ENGINE_ADOPT)
        given_us += answer (from, rig, &event, n_recalled);
      if (event.kind == ENGINE_SCANNED)
        engine_scan (rig->engine, FALSE);
      result = take_event (watcher, &event);
      engine_stats (rig->engine, &before);
      engine_stats (rig->engine, &stats);
      if (result != NULL) /* the work of the root includes all given work, which counts as saved */
        {
          g_assert_cmpuint (event.work_us, >=, given_us);
          g_assert_cmpuint (event.risk_us, <=, stats.work_us);
        }
      g_assert_cmpuint (before.risk_us, <=, stats.work_us);
      engine_event_clear (&event);
    }
  g_assert_true (g_bytes_equal (result, serial));
  engine_stats (rig->engine, &stats);
  watcher_free (watcher);
  return stats.jobs;
}

/* The number of jobs in a tree of `steps` of this depth. */
static guint64
jobs_in (int32_t depth, int32_t n)
{
  return depth == 0 ? 1 : 1 + 2 * (guint64)n * jobs_in (depth - 1, n);
}

/* Counts the running jobs, one on each level, that have kept a state when `leaves` leaves have
 * ended one after another. A job has `n` phases of two children each. */
static guint
kept_on_spine (int32_t depth, int32_t n, int leaves)
{
  int phase = 2;
  guint kept = 0;

  for (; depth > 0; depth--, phase *= 2 * n)
    kept += leaves % (phase * n) >= phase;
  return kept;
}

static void
test_resume (void)
{
  static const satin_args_steps args = { 3, 5, 11 };
  guint64 total = jobs_in (3, 5);

  /* The last leaf is the first of its phase. */
  for (int leaves = 15; leaves < 1000; leaves += 150)
    for (guint workers = 1; workers <= 3; workers += 2)
      {
        guint n_recalled = 0;
        Watcher *watcher = watcher_new (workers, (guint64)leaves, JOB_STEPS, &args);
        const Row *root;
        guint64 jobs;

        run_and_halt (watcher, &args, leaves);
        root = g_hash_table_lookup (watcher->kept, "");
        jobs = go_on (watcher, &args, &n_recalled);
        if (root != NULL)
          g_assert_cmpuint (jobs + root->children * jobs_in (2, 5), <=, total + 3);
        if (workers
            == 1) /* all finished jobs were saved: only the running job of each level runs twice */
          {
            g_assert_cmpuint (jobs, <=, total - (guint64)leaves + 4);
            g_assert_cmpuint (n_recalled, ==, kept_on_spine (3, 5, leaves));
          }
        watcher_free (watcher);
      }
}

static void
test_numbers (void)
{
  static const satin_args_steps args = { 1, 20000, 3 };
  Watcher *watcher = watcher_new (1, 1, JOB_STEPS, &args);
  guint n_recalled = 0;

  run_and_halt (watcher, &args, 30001);
  const Row *root = g_hash_table_lookup (watcher->kept, "");

  g_assert_cmpuint (root->children, ==, 30000);
  g_assert_cmpuint (watcher->n_kept, <=, 1000);
  g_assert_cmpuint (go_on (watcher, &args, &n_recalled), ==, 10000);
  g_assert_cmpuint (n_recalled, ==, 1);
  watcher_free (watcher);
}

/* The sanitizers keep freed memory for a while. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MORE_KIB_MAX 65536
#else
#define MORE_KIB_MAX 4096
#endif

static long
peak_kib (void)
{
  struct rusage usage;

  getrusage (RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

/* A million phases would need more slots than a stack has, and more memory than MORE_KIB_MAX, if
 * slots were not used again. */
static void
test_a_million (void)
{
  static const satin_args_steps few = { 1, 100, 3 }, many = { 1, 1000000, 3 };
  Rig *rig = rig_new (1, 0, 1);
  g_autoptr (GBytes) first = rig_run (rig, JOB_STEPS, &few);
  long before_kib = peak_kib ();
  double before_s = processor_s ();
  g_autoptr (GBytes) result = rig_run (rig, JOB_STEPS, &many);
  g_autoptr (GBytes) args = record_encode (steps_job.args, &many);
  g_autoptr (GBytes) serial = NULL;

  g_test_message ("a million phases of two children, kept: %.3f s, %ld KiB more",
                  processor_s () - before_s, peak_kib () - before_kib);
  g_assert_cmpint (peak_kib () - before_kib, <, MORE_KIB_MAX);
  serial = serial_encoded (JOB_STEPS, args);
  g_assert_true (g_bytes_equal (result, serial));
  rig_free (rig);
}

static void
test_bytes (void)
{
  static const satin_args_story args = { 3000 };
  Rig *rig = rig_new (2, 0, 1);
  g_autoptr (GBytes) warm = rig_run (rig, JOB_STORY, &(satin_args_story){ 100 });
  long before_kib = peak_kib ();
  g_autoptr (GBytes) result = rig_run (rig, JOB_STORY, &args);
  g_autofree char *serial = serial_story (3000);
  g_autoptr (GBytes) expected = g_bytes_new (serial, strlen (serial));

  g_assert_true (g_bytes_equal (result, expected));
  g_assert_cmpint (peak_kib () - before_kib, <, MORE_KIB_MAX);
  rig_free (rig);
}

/* Waits for the next event of this kind and drops all other events. */
static void
wait_for_kind (Rig *rig, EngineEventKind kind, EngineEvent *event)
{
  for (;;)
    if (rig_next (rig, event, 1000000))
      {
        if (event->kind == kind)
          return;
        engine_event_clear (event);
      }
}

/* A state that the job with path "" has kept while it ran, and its digest. A job `steps` has kept
 * it after its 20th phase. */
static Digest
digest_of_kept (guint32 job, const void *args, Row **kept)
{
  Rig *rig = rig_new (1, 0, 1);
  gboolean runs = FALSE;
  EngineEvent event;
  Digest digest;

  for (*kept = NULL; *kept == NULL;)
    {
      if (!runs)
        {
          engine_test_gate (job == JOB_STEPS ? 41 : -1);
          rig_start (rig, job, args);
          while (!engine_test_gate_reached ())
            g_thread_yield ();
        }
      runs = TRUE;
      engine_scan (rig->engine, TRUE);
      engine_test_gate (-1);
      if (!rig_next (rig, &event, 1000000))
        continue;
      runs = event.kind != ENGINE_DONE; /* the job ended before it was scanned: once more */
      for (guint i = 0; event.rows != NULL && i < event.rows->len && *kept == NULL; i++)
        if (((Row *)event.rows->pdata[i])->children > 0)
          *kept = row_copy (event.rows->pdata[i]);
      engine_event_clear (&event);
    }
  engine_halt (rig->engine, FALSE);
  wait_for_kind (rig, ENGINE_HALTED, &event);
  digest = (*kept)->digest;
  rig_free (rig);
  return digest;
}

/* The bytes of a recalled state are valid as long as they are the job's state. If a holder has no
 * state, or a malformed one, the next holder is asked. */
static void
test_holders (void)
{
  static const satin_args_story args = { 20000 };
  g_autoptr (Row) kept = NULL;
  Digest digest = digest_of_kept (JOB_STORY, &args, &kept);
  Rig *rig = rig_new (1, 0, 1);
  g_autofree char *serial = serial_story (20000);
  g_autoptr (GBytes) packed = row_pack_kept (kept),
                     expected = g_bytes_new (serial, strlen (serial));
  g_autoptr (GBytes) malformed = g_bytes_new_static ("\2\0\0\0\0\0\0\0xyz", 11);
  EngineEvent event;

  g_assert_cmpuint (kept->children, >, 0);
  engine_known (rig->engine, "", &digest, &archive_id, TRUE);
  engine_known (rig->engine, "", &digest, &other_id, TRUE);
  rig_start (rig, JOB_STORY, &args);
  wait_for_kind (rig, ENGINE_ADOPT, &event);
  g_assert_cmpstr (event.path, ==, "");
  g_assert_true (node_id_equal (&event.holder, &archive_id));
  engine_forget (rig->engine, "", &event.holder);
  g_assert_true (engine_back (rig->engine, event.loan));
  g_assert_false (engine_awaits (rig->engine, event.loan));
  engine_event_clear (&event);
  wait_for_kind (rig, ENGINE_ADOPT, &event);
  g_assert_true (node_id_equal (&event.holder, &other_id));
  g_assert_true (engine_put (rig->engine, event.loan, malformed, 5, 0));
  engine_event_clear (&event);
  wait_for_kind (rig, ENGINE_ADOPT, &event);
  g_assert_true (engine_put (rig->engine, event.loan, packed, 5, 0));
  engine_event_clear (&event);
  wait_for_kind (rig, ENGINE_DONE, &event);
  g_assert_true (g_bytes_equal (event.value, expected));
  engine_event_clear (&event);
  rig_free (rig);
}

static void
test_halted_while_recalling (void)
{
  static const satin_args_story args = { 20000 };
  g_autoptr (Row) kept = NULL;
  Digest digest = digest_of_kept (JOB_STORY, &args, &kept);
  Rig *rig = rig_new (1, 0, 1);
  EngineEvent event;

  engine_known (rig->engine, "", &digest, &archive_id, TRUE);
  rig_start (rig, JOB_STORY, &args);
  wait_for_kind (rig, ENGINE_ADOPT, &event);
  engine_event_clear (&event);
  engine_halt (rig->engine, FALSE);
  wait_for_kind (rig, ENGINE_HALTED, &event);
  rig_free (rig);
}

/* Orphan rule 4: a kept phase covers the offers below it, and no others. A recalled state is not
 * reported again. */
static void
test_covers (void)
{
  static const satin_args_steps args = { 1, 100000, 3 };
  g_autoptr (Row) kept = NULL;
  Digest digest = digest_of_kept (JOB_STEPS, &args, &kept), other = digest_of_string ("orphan");
  Rig *rig = rig_new (1, 0, 1);
  g_autoptr (GBytes) packed = row_pack_kept (kept);
  g_autofree char *next = g_strdup_printf ("/%u/7", kept->children);
  EngineEvent event;

  engine_known (rig->engine, "", &digest, &archive_id, TRUE);
  engine_known (rig->engine, next, &other, &other_id, FALSE);
  engine_known (rig->engine, "/0/3", &other, &other_id, FALSE);
  engine_known (rig->engine, "/199999", &other, &other_id, FALSE);
  rig_start (rig, JOB_STEPS, &args);
  wait_for_kind (rig, ENGINE_ADOPT, &event);
  engine_test_gate (1);
  g_assert_true (engine_put (rig->engine, event.loan, packed, 5, 0));
  engine_event_clear (&event);
  wait_for_kind (rig, ENGINE_COVERED, &event);
  g_assert_cmpstr (event.path, ==, "/0");
  engine_event_clear (&event);
  engine_forget (rig->engine, "/0/3", &other_id);
  while (!engine_test_gate_reached ())
    g_thread_yield ();
  while (rig_next (rig, &event, 0))
    {
      g_assert_cmpint (event.kind, !=, ENGINE_COVERED);
      engine_event_clear (&event);
    }
  engine_forget (rig->engine, next, &other_id);

  engine_known (rig->engine, "/1/7", &other, &other_id,
                FALSE); /* a late offer below a finished phase */
  engine_scan (rig->engine, FALSE);
  engine_test_gate (-1);
  wait_for_kind (rig, ENGINE_COVERED, &event);
  g_assert_cmpstr (event.path, ==, "/1");
  engine_event_clear (&event);
  wait_for_kind (rig, ENGINE_ROWS, &event);
  for (guint i = 0; i < event.rows->len; i++)
    g_assert_cmpuint (((Row *)event.rows->pdata[i])->children, !=, kept->children);
  engine_event_clear (&event);
  wait_for_kind (rig, ENGINE_COVERED, &event);
  g_assert_cmpstr (event.path, ==, "/199999");
  engine_event_clear (&event);
  wait_for_kind (rig, ENGINE_DONE, &event);
  engine_event_clear (&event);
  rig_free (rig);
}

/* An offer of the job itself does not slow its children. */
static void
test_known_is_cheap (void)
{
  static const satin_args_steps args = { 1, 300000, 3 };
  g_autoptr (Row) kept = NULL;
  Digest digest = digest_of_kept (JOB_STEPS, &args, &kept);
  Rig *plain = rig_new (1, 0, 1), *rig = rig_new (1, 0, 1);
  double start_s, plain_s, known_s;
  EngineEvent event;

  g_bytes_unref (rig_run (plain, JOB_STEPS, &args));
  start_s = processor_s ();
  g_bytes_unref (rig_run (plain, JOB_STEPS, &args));
  plain_s = processor_s () - start_s;
  engine_known (rig->engine, "", &digest, &archive_id, TRUE);
  engine_test_gate (1);
  rig_start (rig, JOB_STEPS, &args);
  wait_for_kind (rig, ENGINE_ADOPT, &event);
  engine_forget (rig->engine, "", &archive_id);
  g_assert_true (engine_back (rig->engine, event.loan));
  engine_event_clear (&event);
  while (!engine_test_gate_reached ())
    g_thread_yield ();
  engine_known (rig->engine, "", &digest, &other_id, TRUE); /* while it runs */
  start_s = processor_s ();
  engine_test_gate (-1);
  wait_for_kind (rig, ENGINE_DONE, &event);
  engine_event_clear (&event);
  known_s = processor_s () - start_s;

  g_test_message ("300,000 phases: %.3f s, with a state known elsewhere %.3f s", plain_s, known_s);
  g_assert_cmpfloat (known_s, <, 3 * plain_s + 0.2);
  rig_free (plain);
  rig_free (rig);
}

SATIN_JOB (hasty, int64_t, (int32_t, n))
{
  SATIN_KEEPS (int64_t);
  int64_t x = 0, y = n;

  if (n == 2)
    satin_call (fib, 1);
  if (n == 2 && satin_recall (&y))
    return 0;
  satin_spawn (fib, &x, 3);
  satin_keep (&y);
  satin_sync ();
  return x;
}

static const SatinJob *const hasty_jobs[] = { &hasty_job, &fib_job, NULL };

static void
test_keep_unsynced (void)
{
  rig_fail (hasty_jobs, 0, &(int32_t){ 1 }, "",
            "it called satin_keep before satin_sync had ended its phase");
}

static void
test_recall_late (void)
{
  rig_fail (hasty_jobs, 0, &(int32_t){ 2 }, "",
            "it called satin_recall after its first satin_spawn or satin_call");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/keep/what-is-kept-is-not-done-again", test_resume);
  g_test_add_func ("/keep/numbers-go-on-from-the-last-keep", test_numbers);
  g_test_add_func ("/keep/a-million-phases-need-the-memory-of-one", test_a_million);
  g_test_add_func ("/keep/bytes-go-from-phase-to-phase", test_bytes);
  g_test_add_func ("/keep/a-holder-without-the-state-is-left-for-the-next", test_holders);
  g_test_add_func ("/keep/a-halt-does-not-wait-for-a-recall", test_halted_while_recalling);
  g_test_add_func ("/keep/a-kept-phase-covers-what-is-below-it", test_covers);
  g_test_add_func ("/keep/a-state-known-elsewhere-slows-nothing", test_known_is_cheap);
  g_test_add_func ("/keep/keeping-with-children-unsynced-is-caught", test_keep_unsynced);
  g_test_add_func ("/keep/recalling-late-is-caught", test_recall_late);
  return g_test_run ();
}
