/* SPDX-License-Identifier: BSD-3-Clause */
/* What comes through the engine's door from elsewhere: digests tell all jobs apart, and a root
 * begins first. */
#include "config.h"

#include "engine-jobs.h"
#include "engine-rig.h"
#include "engine.h"

static void
wait_for_event (Rig *rig, EngineEventKind kind)
{
  EngineEvent event;

  rig_await (rig, kind, &event);
  engine_event_clear (&event);
}

/* What was computed for another job, other arguments or other constants is not taken for this. */
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

static void
run_fib (Rig *rig, guint64 number, const char *path)
{
  g_autoptr (GBytes) args = record_encode (fib_job.args, &(satin_args_fib){ 5 });
  Digest digest = engine_digest (rig->engine, JOB_FIB, args);
  g_autoptr (Loan) loan = loan_new (0, path, JOB_FIB, &digest, 0.1, args);

  g_assert_true (engine_run (rig->engine, number, loan));
}

/* All others may wait for what only a root can make: it begins first, and does not go back. */
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

/* Nor when it is the only one that waits. */
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

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/door/a-root-comes-first", test_a_root_comes_first);
  g_test_add_func ("/door/a-root-does-not-go-back", test_a_root_does_not_go_back);
  g_test_add_func ("/door/digests-tell-all-apart", test_digests_tell_all_apart);
  return g_test_run ();
}
