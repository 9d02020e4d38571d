/* SPDX-License-Identifier: BSD-3-Clause */
/* engine_replay: the job at a path runs with the right arguments and gives the right result,
 * wherever it is; jobs that it does not depend on do not run; known results are used. The thread of
 * each engine stands still at the end, so the engines are not freed. */
#include "config.h"

#include "engine-jobs.h"
#include "engine-rig.h"

#include <sched.h>

#define NUMBERS_MAX 100
#define LOOK_US 1000 /* the report of a replay is no event */

static const NodeId archive_id = { 1, 1, 1 };

/* The reports of one replay; protected by the rig's lock. */
typedef struct
{
  Rig *rig;
  const SatinJob *job;
  Digest digest;
  GBytes *args, *value;
  gboolean waits, missed, over;
  guint32 first, last, number;
} Said;

static void
wake_up (Said *said)
{
  pthread_mutex_lock (&said->rig->lock);
  said->over = TRUE;
  said->rig->woken = TRUE;
  pthread_cond_signal (&said->rig->cond);
  pthread_mutex_unlock (&said->rig->lock);
}

static gboolean
is_over (Said *said)
{
  pthread_mutex_lock (&said->rig->lock);
  gboolean over = said->over;
  pthread_mutex_unlock (&said->rig->lock);
  return over;
}

static void
begins (void *data, const SatinJob *job, const Digest *digest, GBytes *args)
{
  Said *said = data;
  g_assert_null (said->job);
  said->job = job;
  said->digest = *digest;
  said->args = g_bytes_ref (args);
}

static void
waits (void *data, guint32 first, guint32 last)
{
  Said *said = data;
  g_assert_false (said->waits);
  said->waits = TRUE;
  said->first = first;
  said->last = last;
}

static void
ended (void *data, GBytes *value, guint64 took_us)
{
  Said *said = data;
  (void)took_us;
  said->value = g_bytes_ref (value);
  wake_up (said);
}

static void
missed (void *data, guint32 number)
{
  Said *said = data;
  said->missed = TRUE;
  said->number = number;
  wake_up (said);
}

static Said *
said_new_for (const SatinJob *const *jobs, const guint32 *numbers, gsize n)
{
  Said *said = g_new0 (Said, 1);
  EngineReplay calls
      = { .begins = begins, .waits = waits, .ended = ended, .missed = missed, .data = said };
  said->rig = rig_new_for (jobs, 1, 0, 1);
  g_autofree char *path = path_from_numbers (said->rig->stems, numbers, n);
  g_assert_true (engine_replay (said->rig->engine, path, &calls));
  return said;
}

static Said *
said_new (const guint32 *numbers, gsize n)
{
  return said_new_for (engine_test_jobs, numbers, n);
}

/* Runs until the replay is over. Returns how many saved results the engine asked for. */
static guint
run (Said *said, guint32 job, const void *args, GHashTable *saved)
{
  guint n = 0;
  rig_start (said->rig, job, args);
  while (!is_over (said))
    {
      EngineEvent event;
      if (!rig_next (said->rig, &event, LOOK_US))
        continue;
      g_assert_cmpint (event.kind, !=, ENGINE_DONE);
      if (event.kind == ENGINE_ADOPT)
        {
          GBytes *value = g_hash_table_lookup (saved, event.path);
          g_assert_nonnull (value);
          g_assert_true (engine_put (said->rig->engine, event.loan, value, 0, 0));
          n++;
        }
      engine_event_clear (&event);
    }
  return n;
}

static void
check (const Said *said, guint32 root, const void *args, const guint32 *numbers, gsize n)
{
  g_autoptr (GBytes) encoded = record_encode (engine_test_jobs[root]->args, args);
  guint32 job;
  g_autoptr (GBytes) wanted = serial_args_at (root, encoded, numbers, (guint)n, &job);
  g_autoptr (GBytes) value = serial_encoded (job, wanted);
  Digest digest = engine_digest (said->rig->engine, job, wanted);
  g_assert_false (said->missed);
  g_assert_true (said->job == engine_test_jobs[job]);
  g_assert_true (g_bytes_equal (said->args, wanted));
  g_assert_true (digest_equal (&said->digest, &digest));
  g_assert_true (g_bytes_equal (said->value, value));
}

static void
test_everywhere (void)
{
  static const satin_args_fib fib_args = { 14 };
  static const satin_args_phases phases_args = { 3, 5 };
  static const satin_args_calls calls_args = { 15 };
  static const satin_args_steps steps_args = { 2, 6, 3 };
  static const struct
  {
    guint32 job;
    const void *args;
    guint32 numbers[4];
    gsize n;
    gboolean waits;
  } cases[] = {
    { JOB_FIB, &fib_args, { 0 }, 0, FALSE },
    { JOB_FIB, &fib_args, { 0, 1, 0 }, 3, FALSE },
    { JOB_FIB, &fib_args, { 1, 1, 1, 1 }, 4, FALSE },
    { JOB_PHASES, &phases_args, { 0, 1 }, 2, FALSE },
    { JOB_PHASES, &phases_args, { 3 }, 1, TRUE },
    { JOB_PHASES, &phases_args, { 2, 3, 1 }, 3, TRUE },
    { JOB_CALLS, &calls_args, { 0 }, 1, FALSE },
    { JOB_CALLS, &calls_args, { 1 }, 1, TRUE },
    { JOB_CALLS, &calls_args, { 4, 1 }, 2, TRUE },
    { JOB_STEPS, &steps_args, { 5, 9 }, 2, TRUE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      Said *said = said_new (cases[i].numbers, cases[i].n);
      g_assert_cmpuint (run (said, cases[i].job, cases[i].args, NULL), ==, 0);
      check (said, cases[i].job, cases[i].args, cases[i].numbers, cases[i].n);
      g_assert_cmpint (said->waits, ==, cases[i].waits);
    }
}

/* fib (22) has 57313 jobs; below the fourth one on this way are 465. */
static void
test_quarantine (void)
{
  static const guint32 numbers[] = { 0, 1, 1, 1, 1, 0 };
  const satin_args_fib args = { 22 };
  EngineStats stats;
  Said *said = said_new (numbers, G_N_ELEMENTS (numbers));
  (void)run (said, JOB_FIB, &args, NULL);
  check (said, JOB_FIB, &args, numbers, G_N_ELEMENTS (numbers));
  engine_stats (said->rig->engine, &stats);
  g_assert_cmpuint (stats.jobs, <, 500);
}

static void
test_deep (void)
{
  guint32 numbers[NUMBERS_MAX];
  const satin_args_comb args = { NUMBERS_MAX + 20 };
  for (gsize i = 0; i < NUMBERS_MAX; i++)
    numbers[i] = 1;
  Said *said = said_new (numbers, NUMBERS_MAX);
  (void)run (said, JOB_COMB, &args, NULL);
  check (said, JOB_COMB, &args, numbers, NUMBERS_MAX);
}

/* A job above uses satin_sync_next and satin_abort: siblings may not end the search first. */
static void
test_first (void)
{
  for (guint32 i = 0; i < 200; i++)
    {
      const guint32 numbers[] = { i % 6, i / 6 % 6 };
      const satin_args_race args = { 3, (int32_t)i * 7 };
      Said *said = said_new (numbers, G_N_ELEMENTS (numbers));
      (void)run (said, JOB_RACE, &args, NULL);
      if (said->missed) /* a job above aborts the job before it waits for anything */
        continue;
      g_autoptr (GBytes) value = serial_encoded (JOB_RACE, said->args);
      g_assert_true (g_bytes_equal (said->value, value));
    }
}

/* An earlier phase is taken from the saved rows. */
static void
test_saved (void)
{
  static const guint32 numbers[] = { 3 };
  const satin_args_phases args = { 7, 5 };
  g_autoptr (GBytes) encoded = record_encode (phases_job.args, &args);
  g_autoptr (GHashTable) saved
      = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_bytes_unref);
  EngineStats stats;
  Said *said = said_new (numbers, G_N_ELEMENTS (numbers));
  for (guint32 i = 0; i < 2; i++)
    {
      guint32 job;
      g_autoptr (GBytes) child = serial_args_at (JOB_PHASES, encoded, &i, 1, &job);
      char *path = path_from_numbers (said->rig->stems, &i, 1);
      Digest digest = engine_digest (said->rig->engine, job, child);
      g_hash_table_insert (saved, path, serial_encoded (job, child));
      engine_known (said->rig->engine, path, &digest, &archive_id, 1);
    }
  g_assert_cmpuint (run (said, JOB_PHASES, &args, saved), ==, 2);
  check (said, JOB_PHASES, &args, numbers, G_N_ELEMENTS (numbers));
  engine_stats (said->rig->engine, &stats);
  g_assert_cmpuint (stats.jobs, <, 5500); /* 5461 in this phase; the others have as many each */
}

static void
test_missed (void)
{
  static const guint32 numbers[] = { 1, 0, 2, 5 };
  const satin_args_fib args = { 12 };
  Said *said = said_new (numbers, G_N_ELEMENTS (numbers));
  (void)run (said, JOB_FIB, &args, NULL);
  g_assert_true (said->missed);
  g_assert_cmpuint (said->number, ==, 2);
  g_assert_null (said->job);
  g_assert_true (said->waits);
  g_assert_cmpuint (said->first, ==, 0);
  g_assert_cmpuint (said->last, ==, 1);
}

static gint polls, may_end; /* atomic */

SATIN_JOB (polling, int32_t, (int32_t, n))
{
  while (!g_atomic_int_get (&may_end))
    {
      satin_aborted ();
      g_atomic_int_inc (&polls);
    }
  return n;
}

SATIN_JOB (parent, int32_t)
{
  int32_t x[3];

  for (int32_t i = 0; i < 3; i++)
    satin_spawn (polling, &x[i], i);
  satin_sync ();
  return x[0] + x[1] + x[2];
}

/* Siblings of the job are not lent to thieves either, however often they ask. */
static void
test_nothing_to_steal (void)
{
  static const SatinJob *const jobs[] = { &parent_job, &polling_job, NULL };
  static const guint32 numbers[] = { 0 };
  satin_args_parent args = { 0 };
  Said *said = said_new_for (jobs, numbers, G_N_ELEMENTS (numbers));

  rig_start (said->rig, 0, &args);
  while (g_atomic_int_get (&polls) == 0)
    sched_yield ();
  for (guint i = 0; i < 3; i++)
    {
      Loan loan = { 0 };
      gint before;

      g_assert_false (engine_lend (said->rig->engine, &loan)); /* the stack is asked to share */
      before = g_atomic_int_get (&polls);
      while (g_atomic_int_get (&polls) < before + 2)
        sched_yield ();
    }
  g_atomic_int_set (&may_end, TRUE);
  while (!is_over (said))
    sched_yield ();
  g_assert_nonnull (said->value);
}

static void
test_no_path (void)
{
  EngineReplay calls = { .begins = begins };
  Rig *rig = rig_new (1, 0, 1);
  g_assert_false (engine_replay (rig->engine, "0/3", &calls));
  g_assert_false (engine_replay (rig->engine, "~0123456789abcdef/0", &calls));
  rig_free (rig);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/replay/a-job-runs-as-it-ran-wherever-it-stands", test_everywhere);
  g_test_add_func ("/replay/what-it-does-not-depend-on-does-not-run", test_quarantine);
  g_test_add_func ("/replay/a-job-below-a-stem", test_deep);
  g_test_add_func ("/replay/its-siblings-do-not-end-a-search-first", test_first);
  g_test_add_func ("/replay/what-it-depends-on-is-taken-if-it-is-saved", test_saved);
  g_test_add_func ("/replay/a-job-that-is-never-spawned", test_missed);
  g_test_add_func ("/replay/its-siblings-are-not-stolen", test_nothing_to_steal);
  g_test_add_func ("/replay/a-path-that-is-none", test_no_path);
  return g_test_run ();
}
