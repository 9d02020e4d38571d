/* SPDX-License-Identifier: BSD-3-Clause */
/* What stacks report about themselves while they run. The jobs stop until the test lets them go on,
 * so each answer is known. */
#include "config.h"

#include "engine-rig.h"
#include "engine.h"
#include "tree/look.h"

#define GATES 4

static gint gates[GATES], silent; /* atomic: jobs at a gate may go on; … without a poll */
static gint held_at[GATES];       /* atomic: the number of jobs at the gate */

SATIN_JOB (hold, int64_t, (int32_t, gate))
{
  g_atomic_int_inc (&held_at[gate]);
  while (!g_atomic_int_get (&gates[gate]))
    {
      if (!g_atomic_int_get (&silent))
        (void)satin_aborted ();
      g_thread_yield ();
    }
  return 1;
}

SATIN_JOB (deep, int64_t, (int32_t, levels))
{
  int64_t sum;

  if (levels == 0)
    satin_spawn (hold, &sum, 0);
  else
    satin_spawn (deep, &sum, levels - 1);
  satin_sync ();
  return sum;
}

SATIN_JOB (fork_two, int64_t, (int32_t, unused))
{
  int64_t a, b;

  (void)unused;
  satin_spawn (hold, &a, 0);
  satin_spawn (hold, &b, 1);
  satin_sync ();
  return a + b;
}

SATIN_JOB (fork_more, int64_t)
{
  int64_t a, b;

  satin_spawn (hold, &a, 2);
  satin_spawn (hold, &b, 3);
  satin_sync ();
  return a + b;
}

SATIN_JOB (fork_deep, int64_t, (int32_t, unused))
{
  int64_t a, b;

  (void)unused;
  satin_spawn (fork_more, &a);
  satin_spawn (hold, &b, 1);
  satin_sync ();
  return a + b;
}

SATIN_JOB (fork_next, int64_t, (int32_t, unused))
{
  int64_t a, sum = 0;

  (void)unused;
  satin_spawn (hold, &a, 0);
  satin_spawn (hold, &a, 1);
  while (satin_sync_next () >= 0)
    sum += a;
  return sum;
}

enum
{
  JOB_HOLD,
  JOB_DEEP,
  JOB_FORK_TWO,
  JOB_FORK_NEXT,
  JOB_FORK_DEEP,
  JOB_FORK_MORE
};
static const SatinJob *const jobs[]
    = { &hold_job, &deep_job, &fork_two_job, &fork_next_job, &fork_deep_job, &fork_more_job, NULL };

static void
close_gates (void)
{
  for (int i = 0; i < GATES; i++)
    {
      g_atomic_int_set (&gates[i], FALSE);
      g_atomic_int_set (&held_at[i], 0);
    }
  g_atomic_int_set (&silent, FALSE);
}

static void
await_held (int gate)
{
  while (g_atomic_int_get (&held_at[gate]) == 0)
    g_usleep (100);
}

/* Opens all gates and waits for the end. */
static void
finish (Rig *rig)
{
  EngineEvent event;
  gboolean over = FALSE;

  g_atomic_int_set (&silent, FALSE);
  for (int i = 0; i < GATES; i++)
    g_atomic_int_set (&gates[i], TRUE);
  while (!over)
    if (rig_next (rig, &event, 100000))
      {
        over = event.kind == ENGINE_DONE;
        engine_event_clear (&event);
      }
  rig_free (rig);
}

/* (nullable) The row of `all` of the job at this path. */
static const EngineNow *
find (const GPtrArray *all, const char *path)
{
  for (guint i = 0; i < all->len; i++)
    if (g_str_equal (((const EngineNow *)all->pdata[i])->path, path))
      return all->pdata[i];
  return NULL;
}

/* (transfer full): asks until the job at `path` is reported with the kind `kind`, by its own
 * stack. */
static GPtrArray *
look_for (Rig *rig, const char *path, EngineNowKind kind)
{
  for (;;)
    {
      guint more;
      g_autoptr (GPtrArray) all = engine_look (rig->engine, 100, &more);
      const EngineNow *now = find (all, path);

      g_assert_cmpuint (more, ==, 0);
      if (now != NULL && now->kind == kind && now->deepest)
        return g_steal_pointer (&all);
      engine_look_ask (rig->engine);
      g_usleep (1000);
    }
}

static int32_t
number_of (const EngineNow *now)
{
  int32_t number = -1;

  g_assert_true (record_decode (now->job->args, now->args, &number, NULL));
  return number;
}

static void
an_idle_engine_has_no_rows (void)
{
  Rig *rig = rig_new_for (jobs, 2, 0, 1);
  guint more = 7;
  g_autoptr (GPtrArray) all = NULL;

  engine_look_ask (rig->engine);
  all = engine_look (rig->engine, 100, &more);
  g_assert_cmpuint (all->len, ==, 0);
  g_assert_cmpuint (more, ==, 0);
  rig_free (rig);
}

static void
the_deepest_job_is_told (void)
{
  Rig *rig = rig_new_for (jobs, 1, 0, 1);
  g_autoptr (GPtrArray) all = NULL;
  const EngineNow *now;

  close_gates ();
  rig_start (rig, JOB_DEEP, &(satin_args_deep){ 3 });
  await_held (0);
  all = look_for (rig, "/0/0/0/0", ENGINE_NOW_RUNS);
  g_assert_cmpuint (all->len, ==, 1);
  now = all->pdata[0];
  g_assert_true (now->job == &hold_job);
  g_assert_cmpint (number_of (now), ==, 0);
  g_assert_cmpuint (now->below, ==, 0);
  g_assert_cmpuint (now->said_us, >, 0);
  finish (rig);
}

/* The earlier report of a job is given again, and that the job has not come to a sync since
 * then. */
static void
a_silent_job_is_told_as_asked (void)
{
  Rig *rig = rig_new_for (jobs, 1, 0, 1);
  GPtrArray *all;
  const EngineNow *now;
  gboolean asked = FALSE;
  guint more;

  close_gates ();
  rig_start (rig, JOB_DEEP, &(satin_args_deep){ 0 });
  await_held (0);
  all = look_for (rig, "/0", ENGINE_NOW_RUNS);
  now = all->pdata[0];
  g_assert_false (now->asked);
  g_ptr_array_unref (all);
  g_atomic_int_set (&silent, TRUE);
  for (guint i = 0; i < 1000 && !asked; i++)
    {
      engine_look_ask (rig->engine);
      all = engine_look (rig->engine, 100, &more);
      now = all->pdata[0];
      asked = now->deepest && now->asked && now->said_us > 0;
      g_ptr_array_unref (all);
    }
  g_assert_true (asked);
  finish (rig);
}

/* A job that never syncs cannot be asked: the job that the stack took is reported, and that it is
 * silent. */
static void
a_job_without_a_sync_is_told_as_what_was_taken (void)
{
  Rig *rig = rig_new_for (jobs, 1, 0, 1);
  g_autoptr (GPtrArray) all = NULL;
  const EngineNow *now;
  guint more;

  close_gates ();
  g_atomic_int_set (&silent, TRUE);
  rig_start (rig, JOB_DEEP, &(satin_args_deep){ 2 });
  await_held (0);
  engine_look_ask (rig->engine);
  all = engine_look (rig->engine, 100, &more);
  g_assert_cmpuint (all->len, ==, 1);
  now = all->pdata[0];
  g_assert_cmpstr (now->path, ==, "");
  g_assert_true (now->job == &deep_job);
  g_assert_cmpint (number_of (now), ==, 2);
  g_assert_false (now->deepest);
  g_assert_true (now->asked);
  g_assert_cmpuint (now->said_us, ==, 0);
  finish (rig);
}

/* The report of a stack about an earlier job is not used for a later one. */
static void
an_old_note_is_not_used (void)
{
  Rig *rig = rig_new_for (jobs, 1, 0, 1);
  g_autoptr (GPtrArray) all = NULL;
  EngineEvent event;
  gboolean over = FALSE;
  guint more;

  close_gates ();
  rig_start (rig, JOB_DEEP, &(satin_args_deep){ 1 });
  all = look_for (rig, "/0/0", ENGINE_NOW_RUNS);
  g_clear_pointer (&all, g_ptr_array_unref);
  g_atomic_int_set (&gates[0], TRUE);
  while (!over)
    if (rig_next (rig, &event, 100000))
      {
        over = event.kind == ENGINE_DONE;
        engine_event_clear (&event);
      }
  close_gates ();
  g_atomic_int_set (&silent, TRUE);
  rig_start (rig, JOB_HOLD, &(satin_args_hold){ 0 });
  await_held (0);
  all = engine_look (rig->engine, 100, &more);
  g_assert_cmpuint (all->len, ==, 1);
  g_assert_true (((EngineNow *)all->pdata[0])->job == &hold_job);
  g_assert_false (((EngineNow *)all->pdata[0])->deepest);
  finish (rig);
}

/* The root's stack waits for the other one and runs a job for it meanwhile. It reports that job,
 * but not when it has ended. */
static void
an_ended_job_is_not_told (void)
{
  Rig *rig = rig_new_for (jobs, 2, 2, 1);
  gboolean told = TRUE;
  guint more;

  close_gates ();
  rig_start (rig, JOB_FORK_DEEP, &(satin_args_fork_deep){ 0 });
  await_held (1);
  await_held (3);
  g_atomic_int_set (&gates[1], TRUE);
  await_held (2);
  g_ptr_array_unref (look_for (rig, "/0/0", ENGINE_NOW_RUNS));
  g_usleep (10000); /* no question is open any more */
  g_atomic_int_set (&gates[2], TRUE);
  for (guint i = 0; i < 1000 && told; i++)
    {
      g_autoptr (GPtrArray) all = engine_look (rig->engine, 100, &more);

      told = find (all, "/0/0") != NULL;
      g_usleep (10000);
    }
  g_assert_false (told);
  finish (rig);
}

/* Two stacks: the owner's own child ends first, and then the owner waits for the thief's. */
static void
a_wait_names_the_child_and_its_stack (guint32 job, EngineNowKind kind)
{
  Rig *rig = rig_new_for (jobs, 2, 0, 1);
  g_autoptr (GPtrArray) all = NULL;
  const EngineNow *waits, *runs;

  close_gates ();
  rig_start (rig, job, &(satin_args_fork_two){ 0 });
  await_held (0);
  await_held (1);
  all = look_for (rig, "/0", ENGINE_NOW_RUNS);
  g_clear_pointer (&all, g_ptr_array_unref);
  all = look_for (rig, "/1", ENGINE_NOW_RUNS);
  g_assert_cmpuint (all->len, ==, 2);
  g_clear_pointer (&all, g_ptr_array_unref);
  g_atomic_int_set (&gates[1], TRUE);
  all = look_for (rig, "", kind);
  waits = find (all, "");
  runs = find (all, "/0");
  g_assert_nonnull (runs);
  g_assert_cmpint (runs->kind, ==, ENGINE_NOW_RUNS);
  if (kind == ENGINE_NOW_CHILD)
    {
      g_assert_cmpstr (waits->child, ==, "/0");
      g_assert_cmpuint (waits->thief, ==, runs->stack);
    }
  finish (rig);
}

static void
a_sync_waits_for_a_child (void)
{
  a_wait_names_the_child_and_its_stack (JOB_FORK_TWO, ENGINE_NOW_CHILD);
}

static void
a_sync_next_waits_for_any_child (void)
{
  a_wait_names_the_child_and_its_stack (JOB_FORK_NEXT, ENGINE_NOW_ANY);
}

static void
a_lent_child_has_its_loan (void)
{
  Rig *rig = rig_new_for (jobs, 1, 0, 1);
  g_autoptr (GPtrArray) all = NULL;
  const EngineNow *now;
  Loan loan = { 0 };
  gint64 one = 1;
  g_autoptr (GBytes) value = NULL;

  close_gates ();
  rig_start (rig, JOB_FORK_TWO, &(satin_args_fork_two){ 0 });
  await_held (1);
  while (!engine_lend (rig->engine, &loan))
    g_usleep (1000);
  g_assert_cmpstr (loan.path, ==, "/0");
  g_atomic_int_set (&gates[1], TRUE);
  all = look_for (rig, "", ENGINE_NOW_LOAN);
  now = find (all, "");
  g_assert_cmpstr (now->child, ==, "/0");
  g_assert_cmpuint (now->loan, ==, loan.loan);
  value = record_encode (hold_job.result, &one);
  g_assert_true (engine_put (rig->engine, loan.loan, value, 0, 0));
  g_free (loan.path);
  g_bytes_unref (loan.args);
  finish (rig);
}

static void
the_answer_is_bounded (void)
{
  Rig *rig = rig_new_for (jobs, 2, 0, 1);
  g_autoptr (GPtrArray) all = NULL;
  guint more;

  close_gates ();
  rig_start (rig, JOB_FORK_TWO, &(satin_args_fork_two){ 0 });
  await_held (0);
  await_held (1);
  all = engine_look (rig->engine, 1, &more);
  g_assert_cmpuint (all->len, ==, 1);
  g_assert_cmpuint (more, ==, 1);
  finish (rig);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/look/idle", an_idle_engine_has_no_rows);
  g_test_add_func ("/look/deepest", the_deepest_job_is_told);
  g_test_add_func ("/look/silent", a_silent_job_is_told_as_asked);
  g_test_add_func ("/look/without-a-sync", a_job_without_a_sync_is_told_as_what_was_taken);
  g_test_add_func ("/look/old-note", an_old_note_is_not_used);
  g_test_add_func ("/look/an-ended-job-is-not-told", an_ended_job_is_not_told);
  g_test_add_func ("/look/sync-waits", a_sync_waits_for_a_child);
  g_test_add_func ("/look/sync-next-waits", a_sync_next_waits_for_any_child);
  g_test_add_func ("/look/lent", a_lent_child_has_its_loan);
  g_test_add_func ("/look/bounded", the_answer_is_bounded);
  return g_test_run ();
}
