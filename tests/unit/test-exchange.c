/* SPDX-License-Identifier: BSD-3-Clause */
/* Two engines in one process. A driver between them lends, returns, delays, sends back, forgets,
 * announces orphans and answers adoptions at random. Every loan and every row is checked against
 * the oracle: path -> arguments -> serial result. */
#include "config.h"

#include "engine-jobs.h"
#include "engine-rig.h"
#include "engine.h"

#include <stdlib.h>

typedef struct
{
  guint64 held;
  int on, lender; /* the number of the engine */
  guint64 loan;
  gboolean live;     /* the lender awaits it */
  gboolean finished; /* the value is there and not yet taken */
  gboolean covered;  /* dropped when it ends */
  char *path;
  Digest digest;
  GBytes *value;
} Job;

typedef struct
{
  Rig *rigs[2];
  guint hungry[2];
  GPtrArray *jobs; /* of Job */
  GHashTable
      *kept; /* path -> Row: the states that jobs have kept, for engines that run them again */
  GRand *random;
  guint64 last_held;
  guint32 root;
  GBytes *root_args;
  GBytes *result;
  gboolean faults;
  guint n_lent, n_adopted, n_covered, n_rows, n_back, n_missed, n_orphans, n_kept, n_recalled;
  guint n_aborted, n_late;
} Grid;

static const NodeId archive_id = { 1, 3, 7 };

static NodeId
id_of (int on)
{
  return (NodeId){ 1, (guint32)on + 1, 7 };
}

static void
job_free (void *data)
{
  Job *job = data;

  g_free (job->path);
  g_clear_pointer (&job->value, g_bytes_unref);
  g_free (job);
}

static gboolean
chance (Grid *grid, int percent)
{
  return g_rand_int_range (grid->random, 0, 100) < percent;
}

/* Checks that job and digest are those of this path. (transfer full): the arguments. */
static GBytes *
check_identity (Grid *grid, int on, const char *path, guint32 job, const Digest *digest)
{
  g_autoptr (GArray) numbers = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint32 expected;
  GBytes *args;
  Digest right;

  g_assert_true (path_to_numbers (grid->rigs[on]->stems, path, NULL, numbers));
  args = serial_args_at (grid->root, grid->root_args, (guint32 *)(void *)numbers->data,
                         numbers->len, &expected);
  g_assert_cmpuint (job, ==, expected);
  right = engine_digest (grid->rigs[on]->engine, job, args);
  g_assert_true (digest == NULL || digest_equal (digest, &right));
  return args;
}

static void
add_stem (const char *id, const char *stem, void *data)
{
  g_assert_true (stems_add (data, id, stem));
}

/* As the coordinator does: keeps the newest state that was sent, and tells all engines. */
static void
take_kept (Grid *grid, int on, const Row *row)
{
  g_autoptr (GBytes) args = check_identity (grid, on, row->path, row->job, NULL);
  g_autoptr (GBytes) value = serial_kept (args, row->children);
  const Row *old = g_hash_table_lookup (grid->kept, row->path);
  Row *copy = row_copy (row);

  g_assert_true (g_bytes_equal (value, row->value));
  grid->n_kept++;
  if (old != NULL && old->children >= row->children)
    {
      row_free (copy);
      return;
    }
  g_hash_table_replace (grid->kept, (gpointer)copy->path, copy);
  g_assert_true (
      path_each_stem (grid->rigs[on]->stems, row->path, NULL, add_stem, grid->rigs[1 - on]->stems));
  for (int i = 0; i < 2; i++)
    engine_known (grid->rigs[i]->engine, row->path, &row->digest, &archive_id, TRUE);
}

static void
check_row (Grid *grid, int on, const Row *row)
{
  if (row->children > 0)
    {
      take_kept (grid, on, row);
      return;
    }
  g_autoptr (GBytes) args = check_identity (grid, on, row->path, row->job, &row->digest);
  g_autoptr (GBytes) value = serial_encoded (row->job, args);

  g_assert_true (g_bytes_equal (value, row->value));
  g_assert_cmpfloat (row->weight, <=, 1.0);
  grid->n_rows++;
}

static void
announce (Grid *grid, const Job *job)
{
  NodeId holder = id_of (job->on);

  for (int i = 0; i < 2; i++)
    engine_known (grid->rigs[i]->engine, job->path, &job->digest, &holder, job->finished);
}

static void
drop (Grid *grid, Job *job)
{
  NodeId holder = id_of (job->on);

  for (int i = 0; i < 2; i++)
    engine_forget (grid->rigs[i]->engine, job->path, &holder);
  g_ptr_array_remove (grid->jobs, job);
}

static Job *
find_held (Grid *grid, int on, guint64 held)
{
  for (guint i = 0; i < grid->jobs->len; i++)
    {
      Job *job = grid->jobs->pdata[i];

      if (job->on == on && job->held == held)
        return job;
    }
  return NULL;
}

/* The job goes back unrun: it is ready again at its lender. */
static void
go_back (Grid *grid, Job *job)
{
  g_assert_nonnull (job);
  if (job->live)
    {
      engine_back (grid->rigs[job->lender]->engine, job->loan);
      grid->n_back++;
    }
  drop (grid, job);
}

static void
feed (Grid *grid, int on)
{
  Engine *lender = grid->rigs[1 - on]->engine;
  Loan loan = { 0 };
  Job *job;

  if (grid->hungry[on] == 0 || !engine_lend (lender, &loan))
    return;
  if (loan.held != 0)
    {
      go_back (grid, find_held (grid, 1 - on, loan.held));
      return;
    }
  grid->hungry[on]--;
  g_bytes_unref (check_identity (grid, 1 - on, loan.path, loan.job, &loan.digest));
  g_assert_true (
      path_each_stem (grid->rigs[1 - on]->stems, loan.path, NULL, add_stem, grid->rigs[on]->stems));
  job = g_new0 (Job, 1);
  *job = (Job){ .held = ++grid->last_held,
                .on = on,
                .lender = 1 - on,
                .loan = loan.loan,
                .live = TRUE,
                .path = g_strdup (loan.path),
                .digest = loan.digest };
  g_ptr_array_add (grid->jobs, job);
  g_autoptr (Loan) taken = loan_copy (&loan);
  g_assert_true (engine_run (grid->rigs[on]->engine, job->held, taken));
  g_free (loan.path);
  g_bytes_unref (loan.args);
  grid->n_lent++;
}

/* The lender loses contact: the job becomes an orphan and is announced. */
static void
orphan (Grid *grid, Job *job)
{
  if (!engine_awaits (grid->rigs[job->lender]->engine, job->loan))
    return; /* it was aborted a moment ago */
  job->live = FALSE;
  grid->n_orphans++;
  if (chance (grid, 50))
    announce (grid, job);
  engine_back (grid->rigs[job->lender]->engine, job->loan);
  if (chance (grid, 50))
    announce (grid, job);
}

static void
on_done (Grid *grid, int on, EngineEvent *event)
{
  Job *job = find_held (grid, on, event->held);

  if (on == 0 && event->held == 1)
    {
      grid->result = g_bytes_ref (event->value);
      return;
    }
  g_assert_nonnull (job);
  if (job->live && grid->faults && chance (grid, 10))
    orphan (grid, job);
  if (job->live)
    {
      grid->n_late += !engine_put (grid->rigs[job->lender]->engine, job->loan, event->value, 7, 3);
      g_assert_false (engine_put (grid->rigs[job->lender]->engine, job->loan, event->value, 7, 3));
      drop (grid, job);
      return;
    }
  job->finished = TRUE;
  job->value = g_bytes_ref (event->value);
  if (job->covered)
    drop (grid, job);
  else
    announce (grid, job);
}

/* A finished orphan is preferred to a running one, as in nodes. */
static Job *
find_orphan (Grid *grid, EngineEvent *event)
{
  Job *found = NULL;

  for (guint i = 0; i < grid->jobs->len; i++)
    {
      Job *job = grid->jobs->pdata[i];
      NodeId id = id_of (job->on);

      if (!job->live && g_str_equal (job->path, event->path) && node_id_equal (&id, &event->holder)
          && digest_equal (&job->digest, &event->digest)
          && (found == NULL || (job->finished && !found->finished)))
        found = job;
    }
  return found;
}

/* TRUE if the request was answered. */
static gboolean
answer_recall (Grid *grid, Engine *engine, const EngineEvent *event)
{
  const Row *row = g_hash_table_lookup (grid->kept, event->path);

  if (row == NULL || !node_id_equal (&event->holder, &archive_id)
      || !digest_equal (&row->digest, &event->digest) || chance (grid, 20))
    return FALSE;
  g_autoptr (GBytes) packed = row_pack_kept (row);
  /* FALSE if the job that recalls was aborted a moment ago. */
  grid->n_recalled += engine_put (engine, event->loan, packed, row->work_us, 0);
  return TRUE;
}

static void
on_adopt (Grid *grid, int on, EngineEvent *event)
{
  Engine *engine = grid->rigs[on]->engine;
  Job *job = find_orphan (grid, event);

  if (answer_recall (grid, engine, event))
    return;
  if (job == NULL || chance (grid, 20))
    {
      engine_forget (engine, event->path, &event->holder);
      engine_back (engine, event->loan);
      grid->n_missed++;
      return;
    }
  grid->n_adopted++;
  job->covered = FALSE;
  job->live = TRUE;
  job->lender = on;
  job->loan = event->loan;
  if (!job->finished)
    return;
  engine_put (engine, job->loan, job->value, 7, 3);
  drop (grid, job);
}

static void
drop_kept (Grid *grid, const char *path)
{
  GHashTableIter iter;
  gpointer key;

  g_hash_table_iter_init (&iter, grid->kept);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    if (g_str_equal (key, path) || path_is_below (grid->rigs[0]->stems, key, path))
      {
        for (int i = 0; i < 2; i++)
          engine_forget (grid->rigs[i]->engine, key, &archive_id);
        g_hash_table_iter_remove (&iter);
      }
}

static void
on_covered (Grid *grid, EngineEvent *event)
{
  drop_kept (grid, event->path);
  for (guint i = grid->jobs->len; i > 0; i--)
    {
      Job *job = grid->jobs->pdata[i - 1];

      if (job->live
          || !(g_str_equal (job->path, event->path)
               || path_is_below (grid->rigs[0]->stems, job->path, event->path)))
        continue;
      grid->n_covered++;
      job->covered = TRUE;
      if (job->finished)
        drop (grid, job);
      else
        engine_unrun (grid->rigs[job->on]->engine, job->held);
    }
}

/* The lender's child was aborted: the lent job stops. */
static void
on_aborted (Grid *grid, int on, guint64 loan)
{
  g_assert_false (engine_awaits (grid->rigs[on]->engine, loan));
  grid->n_aborted++;
  for (guint i = 0; i < grid->jobs->len; i++)
    {
      Job *job = grid->jobs->pdata[i];

      if (!job->live || job->lender != on || job->loan != loan)
        continue;
      job->live = FALSE;
      job->covered = TRUE;
      engine_unrun (grid->rigs[job->on]->engine, job->held);
      return;
    }
}

static void
on_event (Grid *grid, int on, EngineEvent *event)
{
  switch (event->kind)
    {
    case ENGINE_HUNGRY:
      grid->hungry[on] = event->seats;
      break;
    case ENGINE_DONE:
      on_done (grid, on, event);
      break;
    case ENGINE_UNRUN:
      go_back (grid, find_held (grid, on, event->held));
      break;
    case ENGINE_ABORTED:
      on_aborted (grid, on, event->loan);
      break;
    case ENGINE_ADOPT:
      on_adopt (grid, on, event);
      break;
    case ENGINE_COVERED:
      on_covered (grid, event);
      break;
    case ENGINE_ROWS:
      for (guint i = 0; i < event->rows->len; i++)
        check_row (grid, on, event->rows->pdata[i]);
      break;
    default:
      break;
    }
}

/* Causes a fault from time to time. */
static void
disturb (Grid *grid)
{
  Job *job;

  if (!grid->faults || grid->jobs->len == 0 || !chance (grid, 60))
    return;
  job = grid->jobs->pdata[g_rand_int_range (grid->random, 0, (gint)grid->jobs->len)];
  if (!job->live)
    return;
  if (chance (grid, 50))
    engine_unrun (grid->rigs[job->on]->engine, job->held);
  else
    orphan (grid, job);
}

/* Faults and scans come as often as events, however slowly the jobs run: so a busy machine does not
 * mean more work that is done again. */
static void
run_grid (Grid *grid)
{
  EngineEvent event;

  while (grid->result == NULL)
    for (int on = 0; on < 2; on++)
      {
        while (grid->result == NULL && rig_next (grid->rigs[on], &event, 50))
          {
            on_event (grid, on, &event);
            engine_event_clear (&event);
            disturb (grid);
            if (chance (grid, 20))
              engine_scan (grid->rigs[g_rand_int_range (grid->random, 0, 2)]->engine,
                           chance (grid, 30));
          }
        feed (grid, on);
      }
}

/* Jobs that live, slots that wait for something elsewhere, and the count of fetches. */
static guint
count_live (Grid *grid)
{
  guint n = 0;

  for (int i = 0; i < 2; i++)
    n += g_hash_table_size (grid->rigs[i]->engine->pending.by_slot)
         + grid->rigs[i]->engine->pending.n_fetches;
  for (guint i = 0; i < grid->jobs->len; i++)
    n += ((Job *)grid->jobs->pdata[i])->live;
  return n;
}

/* Aborted jobs stop wherever they run, and at rest nothing waits. Orphans go on after the answer,
 * and may still fetch results. If something waits for ever, the test's time limit ends this. */
static void
run_out (Grid *grid)
{
  EngineEvent event;

  while (count_live (grid) > 0)
    {
      for (int on = 0; on < 2; on++)
        while (rig_next (grid->rigs[on], &event, 50))
          {
            on_event (grid, on, &event);
            engine_event_clear (&event);
          }
    }
}

static void
check_grid (guint32 root, const void *args, guint workers, guint stacks_max, guint32 seed,
            gboolean faults)
{
  Grid grid = { .root = root, .faults = faults, .last_held = 1 };
  g_autoptr (GBytes) serial = NULL;

  grid.random = g_rand_new_with_seed (seed);
  grid.jobs = g_ptr_array_new_with_free_func (job_free);
  grid.kept = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, (GDestroyNotify)row_free);
  grid.root_args = record_encode (engine_test_jobs[root]->args, args);
  serial = serial_encoded (root, grid.root_args);
  for (int i = 0; i < 2; i++)
    grid.rigs[i] = rig_new (workers, stacks_max, seed * 2 + (guint)i);
  rig_share (grid.rigs[1], grid.rigs[0]);
  rig_start (grid.rigs[0], root, args);
  run_grid (&grid);
  run_out (&grid);

  g_assert_true (g_bytes_equal (grid.result, serial));
  g_test_message ("lent %u adopted %u missed %u orphans %u back %u covered %u rows %u kept %u "
                  "recalled %u aborted %u late %u",
                  grid.n_lent, grid.n_adopted, grid.n_missed, grid.n_orphans, grid.n_back,
                  grid.n_covered, grid.n_rows, grid.n_kept, grid.n_recalled, grid.n_aborted,
                  grid.n_late);
  /* Wakes of rig 1 go through rig 0. */
  engine_halt (grid.rigs[1]->engine, FALSE);
  engine_halt (grid.rigs[0]->engine, FALSE);
  rig_free (grid.rigs[1]);
  rig_free (grid.rigs[0]);
  g_ptr_array_unref (grid.jobs);
  g_hash_table_unref (grid.kept);
  g_rand_free (grid.random);
  g_bytes_unref (grid.root_args);
  g_bytes_unref (grid.result);
}

static guint
n_seeds (guint n)
{
  return g_test_slow () ? n * 20 : n;
}

/* T0-2. */
static void
test_calm (void)
{
  engine_test_leaf_spins = 2000;
  check_grid (JOB_FIB, &(satin_args_fib){ 24 }, 2, 0, 1, FALSE);
  for (guint seed = 1; seed <= n_seeds (8); seed++)
    check_grid (JOB_PHASES, &(satin_args_phases){ 5, (int32_t)seed }, 1 + seed % 3, 0, seed, FALSE);
}

/* T4-1. */
static void
test_faults (void)
{
  engine_test_leaf_spins = 5000;
  for (guint seed = 1; seed <= n_seeds (18); seed++)
    check_grid (JOB_PHASES, &(satin_args_phases){ 6, (int32_t)seed }, 1 + seed % 3, 0, seed, TRUE);
}

static void
test_limit (void)
{
  engine_test_leaf_spins = 5000;
  for (guint seed = 1; seed <= n_seeds (12); seed++)
    check_grid (JOB_PHASES, &(satin_args_phases){ 5, (int32_t)seed }, 1 + seed % 2, 2 + seed % 2,
                seed, TRUE);
}

static void
test_queens (void)
{
  for (guint seed = 1; seed <= n_seeds (10); seed++)
    check_grid (JOB_QUEENS, &(satin_args_queens){ { .n = 10 } }, 2, 0, seed, TRUE);
}

/* A tree deeper than a stem, with a leaf to lend at each level. */
static void
test_comb (void)
{
  engine_test_leaf_spins = 200000;
  for (guint seed = 1; seed <= n_seeds (6); seed++)
    check_grid (JOB_COMB, &(satin_args_comb){ 200 }, 2, 0, seed, TRUE);
}

/* Jobs with phases inside phases: a job that runs again continues from its kept state. How often
 * that happens here depends on the clock; in test-recall it always happens. */
static void
test_phases (void)
{
  engine_test_leaf_spins = 20000;
  for (guint seed = 1; seed <= n_seeds (12); seed++)
    check_grid (JOB_STEPS, &(satin_args_steps){ 3, 6, (int32_t)seed }, 1 + seed % 3, 0, seed, TRUE);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define RACE_DEPTH 6
#else
#define RACE_DEPTH 7
#endif

/* Children are aborted at every level, wherever they run. */
static void
test_aborts (void)
{
  engine_test_leaf_spins = 1000;
  for (guint seed = 1; seed <= n_seeds (12); seed++)
    check_grid (JOB_RACE, &(satin_args_race){ RACE_DEPTH, (int32_t)seed }, 1 + seed % 3, 0, seed,
                FALSE);
  for (guint seed = 1; seed <= n_seeds (12); seed++)
    check_grid (JOB_RACE, &(satin_args_race){ RACE_DEPTH, (int32_t)seed }, 1 + seed % 3,
                seed % 2 == 0 ? 0 : 4, seed, TRUE);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/exchange/jobs-are-lent-and-return", test_calm);
  g_test_add_func ("/exchange/orphans-are-adopted-and-lost-jobs-redone", test_faults);
  g_test_add_func ("/exchange/the-limit-of-stacks-does-not-stop-a-run", test_limit);
  g_test_add_func ("/exchange/queens-with-faults", test_queens);
  g_test_add_func ("/exchange/paths-deeper-than-a-stem", test_comb);
  g_test_add_func ("/exchange/phases-are-recalled-by-whoever-runs-them-again", test_phases);
  g_test_add_func ("/exchange/children-are-forgotten-wherever-they-are", test_aborts);
  return g_test_run ();
}
