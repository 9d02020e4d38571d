/* SPDX-License-Identifier: BSD-3-Clause */
/* What passes the engine's door: digests distinguish all jobs, a root begins first, invalid bytes
 * change nothing, and a job that is reported as covered is covered. */
#include "config.h"

#include "engine-jobs.h"
#include "engine-rig.h"
#include "engine.h"
#include "save/keep.h"
#include "tree/trace.h"

static void
wait_for_event (Rig *rig, EngineEventKind kind)
{
  EngineEvent event;

  rig_await (rig, kind, &event);
  engine_event_clear (&event);
}

/* A result for another job, other arguments or other constants is not used for this job. */
static void
test_digests_tell_all_apart (void)
{
  Rig *rig = rig_new (1, 0, 1);
  g_autoptr (GBytes) one = record_encode (fib_job.args, &(satin_args_fib){ 1 });
  g_autoptr (GBytes) two = record_encode (fib_job.args, &(satin_args_fib){ 2 });
  const Digest some = { { 1, 2, 3 } }, others = { { 1, 2, 4 } };
  Digest digests[5];

  engine_set_constants (rig->engine, &some);
  digests[0] = engine_digest (rig->engine, JOB_FIB, one);
  digests[1] = engine_digest (rig->engine, JOB_FIB, two);
  digests[2] = engine_digest (rig->engine, JOB_COMB, one); /* of the same types */
  engine_set_constants (rig->engine, &others);
  digests[3] = engine_digest (rig->engine, JOB_FIB, one);
  engine_set_constants (rig->engine, &some);
  digests[4] = engine_digest (rig->engine, JOB_FIB, one);
  for (guint i = 0; i < G_N_ELEMENTS (digests); i++)
    for (guint k = 0; k < i; k++)
      g_assert_cmpint (digest_equal (&digests[i], &digests[k]), ==, k == 0 && i == 4);
  rig_free (rig);
}

/* Nor is a result taken for a state, or a state of another type for one of this. */
static void
test_a_kept_state_has_its_type (void)
{
  Rig *rig = rig_new (1, 0, 1);
  SatinSlot_ slot = { .job = &fib_job };
  Digest digests[3];

  *(satin_args_fib *)slot_payload (&slot) = (satin_args_fib){ 5 };
  digests[0] = slot_digest (rig->engine, &slot, NULL);
  digests[1] = keep_digest (rig->engine, &slot, fib_job.result, NULL);
  digests[2] = keep_digest (rig->engine, &slot, fib_job.args, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (digests); i++)
    for (guint k = 0; k < i; k++)
      g_assert_false (digest_equal (&digests[i], &digests[k]));
  rig_free (rig);
}

static void
run_fib (Rig *rig, guint64 number, const char *path)
{
  g_autoptr (GBytes) args = record_encode (fib_job.args, &(satin_args_fib){ 5 });
  Digest digest = engine_digest (rig->engine, JOB_FIB, args);
  g_autoptr (Loan) loan = loan_new (0, path, JOB_FIB, &digest, 0.1, args);

  g_assert_true (engine_run (rig->engine, number, loan));
}

/* All other jobs may wait for what only a root can produce: a root begins first, and does not go
 * back. */
static void
test_a_root_comes_first (void)
{
  Rig *rig = rig_new (1, 0, 1);
  Loan loan = { 0 };
  guint64 order[3];
  EngineEvent event;

  engine_test_gate (0);
  rig_start (rig, JOB_PHASES, &(satin_args_phases){ 0, 1 }); /* one leaf, held as 1 */
  while (length_hint (&rig->engine->inbox.n) > 0)
    g_thread_yield ();
  run_fib (rig, 8, "/7/0");
  run_fib (rig, 9, "1:");
  run_fib (rig, 10, "/7/1");
  g_assert_true (engine_lend (rig->engine, &loan));
  g_assert_cmpuint (loan.held, ==, 10); /* the last one */
  engine_test_gate (-1);
  for (guint i = 0; i < G_N_ELEMENTS (order); i++)
    {
      rig_await (rig, ENGINE_DONE, &event);
      order[i] = event.held;
      engine_event_clear (&event);
    }
  g_assert_cmpuint (order[0], ==, 1);
  g_assert_cmpuint (order[1], ==, 9);
  g_assert_cmpuint (order[2], ==, 8);
  rig_free (rig);
}

/* A root does not go back, even if it is the only waiting job. */
static void
test_a_root_does_not_go_back (void)
{
  Rig *rig = rig_new (1, 0, 1);
  Loan loan = { 0 };

  engine_test_gate (0);
  rig_start (rig, JOB_PHASES, &(satin_args_phases){ 0, 1 }); /* one leaf */
  while (length_hint (&rig->engine->inbox.n) > 0)
    g_thread_yield ();
  run_fib (rig, 9, "1:");
  g_assert_false (engine_lend (rig->engine, &loan));
  engine_test_gate (-1);
  wait_for_event (rig, ENGINE_DONE);
  wait_for_event (rig, ENGINE_DONE);
  rig_free (rig);
}

/* ---- jobs that wait for the test ---- */

static gint runs, may_end; /* atomic */

SATIN_JOB (still, int32_t, (int32_t, n))
{
  g_atomic_int_inc (&runs);
  while (!g_atomic_int_get (&may_end))
    {
      (void)satin_aborted ();
      g_atomic_int_inc (&runs);
      g_thread_yield ();
    }
  return n;
}

SATIN_JOB (leaf, int32_t, (int32_t, n))
{
  return n;
}

/* /2 runs first, and waits until the others are lent. */
SATIN_JOB (three, int32_t)
{
  int32_t a, b, c;

  satin_spawn (leaf, &a, 1);
  satin_spawn (leaf, &b, 10);
  satin_spawn (still, &c, 100);
  satin_sync ();
  return a + b + c;
}

/* The numbers of finished children in the order in which they were handed out: 2, 1, 0 gives
 * 210. */
SATIN_JOB (in_turn, int32_t)
{
  int32_t a, b, c, order = 0;

  satin_spawn (leaf, &a, 1);
  satin_spawn (leaf, &b, 10);
  satin_spawn (still, &c, 100);
  for (int number = satin_sync_next (); number >= 0; number = satin_sync_next ())
    order = order * 10 + number;
  return order;
}

static const SatinJob *const still_jobs[]
    = { &three_job, &in_turn_job, &leaf_job, &still_job, NULL };
static const NodeId other_id = { 1, 3, 7 };

/* The root waits in /2; *loans: /0 and /1. */
static Rig *
lend_two (guint32 job, Loan *loans)
{
  static const satin_args_three none = { 0 };
  Rig *rig = rig_new_for (still_jobs, 1, 0, 1);

  g_atomic_int_set (&runs, 0);
  g_atomic_int_set (&may_end, FALSE);
  rig_start (rig, job, &none);
  while (g_atomic_int_get (&runs) == 0)
    g_thread_yield ();
  for (guint i = 0; i < 2; i++)
    while (!engine_lend (rig->engine, &loans[i]))
      g_thread_yield ();
  g_assert_cmpstr (loans[0].path, ==, "/0");
  g_assert_cmpstr (loans[1].path, ==, "/1");
  g_assert_true (loans[0].weight == loans[1].weight); /* siblings */
  return rig;
}

static void
put_number (Rig *rig, Loan *loan, int32_t number)
{
  g_autoptr (GBytes) value = record_encode (leaf_job.result, &number);

  g_assert_true (engine_put (rig->engine, loan->loan, value, 0, 0));
  g_free (loan->path);
  g_bytes_unref (loan->args);
}

static int32_t
end_number (Rig *rig)
{
  EngineEvent event;
  int32_t number;

  g_atomic_int_set (&may_end, TRUE);
  rig_await (rig, ENGINE_DONE, &event);
  g_assert_true (record_decode (leaf_job.result, event.value, &number, NULL));
  engine_event_clear (&event);
  rig_free (rig);
  return number;
}

/* Malformed results are refused. The loan stays open, and ends with the next valid result. */
static void
test_malformed_results_change_nothing (void)
{
  Loan loans[2] = { { 0 } };
  Rig *rig = lend_two (0, loans);
  g_autoptr (GBytes) malformed = g_bytes_new_static ("12345", 5);
  EngineStats stats;

  g_assert_false (engine_put (rig->engine, loans[0].loan, malformed, 7, 7));
  g_assert_true (engine_awaits (rig->engine, loans[0].loan));
  put_number (rig, &loans[0], 3);
  g_assert_false (engine_awaits (rig->engine, loans[0].loan));
  put_number (rig, &loans[1], 20);
  engine_stats (rig->engine, &stats);
  g_assert_cmpuint (stats.jobs_reused, ==, 0); /* they were lent, and another node computed them */
  g_assert_cmpint (end_number (rig), ==, 123);
}

/* A finished result is handed out whatever its slot, also one before the slot that was handed out
 * last. */
static void
test_any_result_is_handed_out (void)
{
  Loan loans[2] = { { 0 } };
  Rig *rig = lend_two (1, loans);

  put_number (rig, &loans[1], 20);
  g_atomic_int_set (&may_end, TRUE);
  while (!engine_is_hungry (rig->engine)) /* the root waits for the last result */
    g_thread_yield ();
  put_number (rig, &loans[0], 3);
  g_assert_cmpint (end_number (rig), ==, 210);
}

/* A thief that waits is told of a job that came back while the only seat has another one. */
static void
test_what_comes_back_is_for_thieves (void)
{
  Loan loans[2] = { { 0 } }, again = { 0 };
  Rig *rig = lend_two (0, loans);

  g_assert_true (engine_back (rig->engine, loans[0].loan));
  engine_request_work (rig->engine, 1);
  wait_for_event (rig, ENGINE_SHARED);
  g_assert_true (engine_lend (rig->engine, &again));
  g_assert_cmpstr (again.path, ==, "/0");
  put_number (rig, &again, 3);
  put_number (rig, &loans[1], 20);
  g_free (loans[0].path);
  g_bytes_unref (loans[0].args);
  g_assert_cmpint (end_number (rig), ==, 123);
}

/* A seat that has run what came is idle again, and says so each time. */
static void
test_each_end_is_followed_by_hunger (void)
{
  Rig *rig = rig_new (1, 0, 1);

  wait_for_event (rig, ENGINE_HUNGRY);
  for (guint64 number = 8; number < 11; number++)
    {
      run_fib (rig, number, "/7/0");
      wait_for_event (rig, ENGINE_DONE);
      wait_for_event (rig, ENGINE_HUNGRY);
    }
  rig_free (rig);
}

/* How often this path was reported as covered so far. */
static guint
count_covered (Rig *rig, const char *path)
{
  EngineEvent event;
  guint n = 0;

  while (rig_next (rig, &event, 0))
    {
      n += event.kind == ENGINE_COVERED && g_str_equal (event.path, path);
      engine_event_clear (&event);
    }
  return n;
}

static void
poll_twice (void)
{
  gint before = g_atomic_int_get (&runs);

  while (g_atomic_int_get (&runs) < before + 3)
    g_thread_yield ();
}

/* Offers of other nodes below a job are of use until that job has its result, and no longer. */
static void
test_covered_when_it_has_its_result (void)
{
  Loan loans[2] = { { 0 } };
  Rig *rig = lend_two (0, loans);
  const Digest digest = { { 1 } };

  engine_known (rig->engine, "/0/5", &digest, &other_id, 1);
  engine_known (rig->engine, "/2/5", &digest, &other_id, 1); /* of a running job */
  poll_twice ();
  g_assert_cmpuint (count_covered (rig, "/0") + count_covered (rig, "/2"), ==, 0);
  put_number (rig, &loans[0], 3);
  g_assert_cmpuint (count_covered (rig, "/0"), ==, 1);
  engine_known (rig->engine, "/2/6", &digest, &other_id, 1);
  poll_twice ();
  g_assert_cmpuint (count_covered (rig, "/2"), ==, 0);
  put_number (rig, &loans[1], 20);
  g_assert_cmpint (end_number (rig), ==, 123);
}

/* A job that is held for another node is not finished for good when it ends here: its lender may be
 * lost. */
static void
test_its_end_covers_only_what_is_below (void)
{
  Rig *rig = rig_new (1, 0, 1);
  const Digest digest = { { 1 } };
  EngineEvent event = { .kind = ENGINE_HUNGRY };
  guint n_below = 0;

  engine_known (rig->engine, "/7/0", &digest, &other_id, 1);
  engine_known (rig->engine, "/7/0/1/9", &digest, &other_id, 1);
  run_fib (rig, 8, "/7/0");
  while (event.kind != ENGINE_DONE)
    {
      if (!rig_next (rig, &event, G_USEC_PER_SEC))
        continue;
      if (event.kind == ENGINE_COVERED)
        {
          g_assert_cmpstr (event.path, !=, "/7/0");
          n_below += g_str_has_prefix (event.path, "/7/0/1");
        }
      engine_event_clear (&event);
    }
  g_assert_cmpuint (n_below, ==, 1);
  g_assert_cmpuint (count_covered (rig, "/7/0"), ==, 0);
  rig_free (rig);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/door/a-root-comes-first", test_a_root_comes_first);
  g_test_add_func ("/door/a-root-does-not-go-back", test_a_root_does_not_go_back);
  g_test_add_func ("/door/digests-tell-all-apart", test_digests_tell_all_apart);
  g_test_add_func ("/door/a-kept-state-has-its-type", test_a_kept_state_has_its_type);
  g_test_add_func ("/door/malformed-results-change-nothing", test_malformed_results_change_nothing);
  g_test_add_func ("/door/any-result-is-handed-out", test_any_result_is_handed_out);
  g_test_add_func ("/door/what-comes-back-is-for-thieves", test_what_comes_back_is_for_thieves);
  g_test_add_func ("/door/each-end-is-followed-by-hunger", test_each_end_is_followed_by_hunger);
  g_test_add_func ("/door/covered-when-it-has-its-result", test_covered_when_it_has_its_result);
  g_test_add_func ("/door/its-end-covers-only-what-is-below",
                   test_its_end_covers_only_what_is_below);
  return g_test_run ();
}
