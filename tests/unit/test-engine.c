/* SPDX-License-Identifier: BSD-3-Clause */
/* One engine: every kind of job on one, two and four workers, compared with its serial twin. */
#include "config.h"

#include "engine-jobs.h"
#include "engine-rig.h"
#include "sched/worker.h"

#include <sched.h>
#include <stdlib.h>

static const guint worker_counts[] = { 1, 2, 4 };

static void
check_job (guint32 job, const void *args)
{
  g_autoptr (GBytes) encoded = record_encode (engine_test_jobs[job]->args, args);
  g_autoptr (GBytes) serial = serial_encoded (job, encoded);

  for (guint i = 0; i < G_N_ELEMENTS (worker_counts); i++)
    {
      Rig *rig = rig_new (worker_counts[i], 0, i + 1);
      g_autoptr (GBytes) result = rig_run (rig, job, args);

      g_assert_true (g_bytes_equal (result, serial));
      rig_free (rig);
    }
}

static void
check_again (Rig *rig, guint32 job, const void *args)
{
  g_autoptr (GBytes) encoded = record_encode (engine_test_jobs[job]->args, args);
  g_autoptr (GBytes) serial = serial_encoded (job, encoded);
  g_autoptr (GBytes) result = rig_run (rig, job, args);

  g_assert_true (g_bytes_equal (result, serial));
}

static void
test_fib (void)
{
  check_job (JOB_FIB, &(satin_args_fib){ 25 });
}

static void
test_queens (void)
{
  check_job (JOB_QUEENS, &(satin_args_queens){ { .n = 8 } });
}

static void
test_phases (void)
{
  check_job (JOB_PHASES, &(satin_args_phases){ 7, 3 });
}

static void
test_wide (void)
{
  satin_args_wide args = { .depth = 7 };

  check_job (JOB_WIDE, &args);
}

static void
test_text (void)
{
  g_autoptr (GBytes) prefix = g_bytes_new_static ("x", 1);
  satin_args_text args = { 8, prefix };

  check_job (JOB_TEXT, &args);
}

static void
test_calls (void)
{
  check_job (JOB_CALLS, &(satin_args_calls){ 20 });
}

static void
test_comb (void)
{
  check_job (JOB_COMB, &(satin_args_comb){ 3000 });
}

static void
test_mutual (void)
{
  Rig *rig = rig_new (2, 0, 1);
  g_autoptr (GBytes) result = rig_run (rig, JOB_IS_ODD, &(satin_args_is_odd){ 1001 });

  g_assert_cmpuint (*(const guint8 *)g_bytes_get_data (result, NULL), ==, 1);
  rig_free (rig);
}

static void
test_eight (void)
{
  Rig *rig = rig_new (2, 0, 1);
  satin_args_eight args = { 10, 1, -2, 3, -4, 5, -6, 7.25 };
  g_autoptr (GBytes) result = rig_run (rig, JOB_EIGHT, &args);
  int64_t value;

  g_assert_true (record_decode (&satin_type_int64_t, result, &value, NULL));
  g_assert_cmpint (value, ==, 1 - 2 + 3 - 4 + 5 - 6 + 12);
  rig_free (rig);
}

static void
test_stress (void)
{
  engine_test_leaf_spins = 20;
  for (int i = 0; i < 30; i++)
    {
      Rig *rig = rig_new (4, 0, (guint64)i);
      satin_args_phases args = { 5, i };
      g_autoptr (GBytes) result = rig_run (rig, JOB_PHASES, &args);
      int64_t value;

      g_assert_true (record_decode (&satin_type_int64_t, result, &value, NULL));
      g_assert_cmpint (value, ==, serial_phases (5, i));
      rig_free (rig);
    }
}

static void
wait_for_event (Rig *rig, EngineEventKind kind)
{
  EngineEvent event = { .kind = ENGINE_SCANNED };

  while (event.kind != kind)
    {
      if (rig_next (rig, &event, 100000))
        engine_event_clear (&event);
      else
        event.kind = ENGINE_SCANNED;
    }
}

/* Three thieves wait before there is anything to lend, and the worker does not poll while a long
 * child runs: each thief gets a job. */
static void
test_few_long_jobs_are_enough_for_all_who_wait (void)
{
  Rig *rig = rig_new (1, 0, 1);
  satin_args_phases args = { 6, 1 };
  Loan loans[3] = { 0 };

  engine_test_gate (1);
  engine_request_work (rig->engine, G_N_ELEMENTS (loans));
  rig_start (rig, JOB_PHASES, &args);
  wait_for_event (rig, ENGINE_SHARED);
  while (!engine_test_gate_reached ())
    sched_yield ();
  for (guint i = 0; i < G_N_ELEMENTS (loans); i++)
    g_assert_true (engine_lend (rig->engine, &loans[i]));
  for (guint i = 0; i < G_N_ELEMENTS (loans); i++)
    {
      g_assert_true (engine_back (rig->engine, loans[i].loan));
      g_free (loans[i].path);
      g_bytes_unref (loans[i].args);
    }
  engine_test_gate (-1);
  wait_for_event (rig, ENGINE_DONE);
  rig_free (rig);
}

/* The request comes long before there is anything to lend. */
static void
test_who_is_owed_work_hears_of_it (void)
{
  Rig *rig = rig_new (1, 0, 1);
  satin_args_phases args = { 6, 1 };
  Loan loan = { 0 };

  engine_test_gate (0);
  g_assert_false (engine_lend (rig->engine, &loan));
  engine_request_work (rig->engine, 1);
  rig_start (rig, JOB_PHASES, &args);
  wait_for_event (rig, ENGINE_SHARED);
  g_assert_true (engine_lend (rig->engine, &loan));
  g_assert_true (engine_back (rig->engine, loan.loan));
  engine_request_work (rig->engine,
                       1); /* a returned job is there: this request is answered at once */
  wait_for_event (rig, ENGINE_SHARED);
  engine_test_gate (-1);
  wait_for_event (rig, ENGINE_DONE);
  g_free (loan.path);
  g_bytes_unref (loan.args);
  rig_free (rig);
}

static void
loan_done (Rig *rig, Loan *loan)
{
  g_assert_true (engine_back (rig->engine, loan->loan));
  g_free (loan->path);
  g_bytes_unref (loan->args);
}

#define LOANS_MAX 16

/* Lends all jobs that there are, the last of which came from another node, held as 9; returns their
 * number. */
static guint
lend_all (Rig *rig, Loan *loans)
{
  satin_args_phases args = { 6, 1 };
  guint n = 1;

  engine_test_gate (0);
  engine_request_work (rig->engine, 1);
  rig_start (rig, JOB_PHASES, &args);
  wait_for_event (rig, ENGINE_SHARED);
  g_assert_true (engine_lend (rig->engine, &loans[0]));
  g_autoptr (Loan) again = loan_copy (&loans[0]);
  g_assert_true (engine_run (rig->engine, 9, again));
  while (n < LOANS_MAX && engine_lend (rig->engine, &loans[n]))
    n++;
  return n;
}

/* The slots are lent. The job that came from another node goes back there, and this node has it no
 * more. */
static void
test_what_has_not_begun_goes_back (void)
{
  Rig *rig = rig_new (1, 0, 1);
  Loan loans[LOANS_MAX] = { 0 };
  guint n = lend_all (rig, loans);
  EngineEvent event;

  for (guint i = 0; i < n; i++)
    g_assert_cmpuint (loans[i].held, ==, i + 1 < n ? 0 : 9);
  g_assert_cmpuint (loans[n - 1].loan, ==, 0);
  g_assert_null (loans[n - 1].path);
  while (rig_next (rig, &event, 1000))
    engine_event_clear (&event);
  engine_unrun (rig->engine, 9);
  g_assert_false (rig_next (rig, &event, 1000));
  for (guint i = 0; i + 1 < n; i++)
    loan_done (rig, &loans[i]);
  engine_test_gate (-1);
  wait_for_event (rig, ENGINE_DONE);
  while (rig_next (rig, &event, 1000))
    {
      g_assert_false (event.kind == ENGINE_DONE && event.held == 9);
      engine_event_clear (&event);
    }
  rig_free (rig);
}

#define PHASES 3
#define CHILDREN 4

static gsize tails[PHASES], begins[PHASES]; /* written by the only worker */

/* Records where thieves begin to look and where the children of this phase begin. One thief steals
 * in the first phase. */
SATIN_JOB (look, int32_t, (int32_t, phase), (int32_t, number))
{
  Stack *stack = (Stack *)satin_frame_->stack;

  if (number == CHILDREN - 1)
    {
      gboolean dry;
      SatinSlot_ *claimed = phase == 0 ? stack_claim (stack, &dry) : NULL;

      if (claimed != NULL)
        {
          slot_set_state (claimed, SLOT_STOLEN_BY (SLOT_DRIVER));
          worker_give_back (stack, claimed);
        }
      tails[phase] = stack->shared.tt & 0xffffff;
      begins[phase] = stack_index (stack, satin_frame_->self) - (gsize)number;
    }
  return number;
}

SATIN_JOB (asked, int32_t)
{
  int32_t results[PHASES * CHILDREN], sum = 0;

  for (int32_t phase = 0; phase < PHASES; phase++)
    {
      for (int32_t i = 0; i < CHILDREN; i++)
        satin_spawn (look, &results[phase * CHILDREN + i], phase, i);
      stack_ask ((Stack *)satin_frame_->stack, STACK_FLAG_MOVE);
      satin_sync ();
    }
  for (guint i = 0; i < G_N_ELEMENTS (results); i++)
    sum += results[i];
  return sum;
}

/* Otherwise a job with many phases would become slower with each phase. */
static void
test_thieves_look_at_no_earlier_phases (void)
{
  static const SatinJob *const jobs[] = { &asked_job, &look_job, NULL };
  Rig *rig = rig_new_for (jobs, 1, 0, 1);
  satin_args_asked args = { 0 };
  g_autoptr (GBytes) result = rig_run (rig, 0, &args);

  for (guint i = 1; i < PHASES; i++)
    g_assert_cmpuint (tails[i], ==, begins[i]);
  g_assert_cmpuint (begins[1], ==, begins[0] + CHILDREN);
  rig_free (rig);
}

#define CALLED 3000 /* more slots than a thief's request looks at without recording it */

static gsize looks_begin; /* written by the only worker */

SATIN_JOB (called, int32_t, (int32_t, levels))
{
  Stack *stack = (Stack *)satin_frame_->stack;

  if (levels == 0)
    {
      looks_begin = stack_index (stack, stack->own.split);
      return 0;
    }
  if (levels < 3)
    stack_ask (stack, STACK_FLAG_MOVE);
  return satin_call (called, levels - 1) + 1;
}

SATIN_JOB (call_many, int32_t)
{
  int32_t sum = 0;

  for (int i = 0; i < CALLED; i++)
    sum += satin_call (called, 1);
  return sum + satin_call (called, 3);
}

/* Otherwise each request would cost a look at all finished jobs below in the stack. */
static void
test_what_is_finished_below_is_not_looked_at_again (void)
{
  static const SatinJob *const jobs[] = { &call_many_job, &called_job, NULL };
  Rig *rig = rig_new_for (jobs, 1, 0, 1);
  satin_args_call_many args = { 0 };
  g_autoptr (GBytes) result = rig_run (rig, 0, &args);

  g_assert_cmpuint (looks_begin, >=, CALLED);
  rig_free (rig);
}

static gsize looked_at; /* written by the only worker */

SATIN_JOB (first_half, int32_t)
{
  int32_t results[2 * CHILDREN], sum = 0;
  const Stack *stack = (const Stack *)satin_frame_->stack;

  for (int32_t i = 0; i < 2 * CHILDREN; i++)
    satin_spawn (look, &results[i], 0, i);
  for (guint i = 0; i < CHILDREN; i++)
    sum += results[satin_sync_next ()];
  const Next *next = &g_array_index (stack->own.nexts, Next, stack->own.nexts->len - 1);
  looked_at = (gsize)(next->high - next->low);
  for (int i = satin_sync_next (); i >= 0; i = satin_sync_next ())
    sum += results[i];
  return sum;
}

/* Otherwise handing out n children one by one would cost n looks at all of them. */
static void
test_what_was_handed_out_is_not_looked_at (void)
{
  static const SatinJob *const jobs[] = { &first_half_job, &look_job, NULL };
  Rig *rig = rig_new_for (jobs, 1, 0, 1);
  satin_args_first_half args = { 0 };
  g_autoptr (GBytes) result = rig_run (rig, 0, &args);

  g_assert_cmpuint (looked_at, ==,
                    CHILDREN
                        + 1); /* the child that is left, and the one that was handed out last */
  rig_free (rig);
}

static gboolean first_is_done, idles, may_give_up; /* atomic */
static Engine *idles_engine;                       /* atomic */

/* After the first job it drives, and reports that it cannot only when there is work again. */
static gboolean
idle_in_vain (void *data, gint64 look_us)
{
  (void)data, (void)look_us;
  while (!__atomic_load_n (&may_give_up, __ATOMIC_ACQUIRE))
    {
      Engine *engine = __atomic_load_n (&idles_engine, __ATOMIC_ACQUIRE);

      if (__atomic_load_n (&first_is_done, __ATOMIC_ACQUIRE))
        __atomic_store_n (&idles, TRUE, __ATOMIC_RELEASE);
      else if (engine != NULL
               && engine_is_roused (engine)) /* the worker was idle before there was a job */
        return TRUE;
      g_usleep (100);
    }
  return FALSE;
}

static void
test_who_cannot_drive_does_not_sleep_on_its_work (void)
{
  Rig *rig = rig_new_idle (1, idle_in_vain);
  satin_args_fib args = { 10 };

  __atomic_store_n (&idles_engine, rig->engine, __ATOMIC_RELEASE);
  rig_start (rig, JOB_FIB, &args);
  wait_for_event (rig, ENGINE_DONE);
  __atomic_store_n (&first_is_done, TRUE, __ATOMIC_RELEASE);
  while (!__atomic_load_n (&idles, __ATOMIC_ACQUIRE))
    g_usleep (100);
  rig_start (rig, JOB_FIB, &args);
  __atomic_store_n (&may_give_up, TRUE, __ATOMIC_RELEASE);
  wait_for_event (rig, ENGINE_DONE);
  rig_free (rig);
}

static guint
count_threads (void)
{
  g_autoptr (GDir) dir = g_dir_open ("/proc/self/task", 0, NULL);
  guint n = 0;

  while (dir != NULL && g_dir_read_name (dir) != NULL)
    n++;
  return n;
}

static gboolean
threads_are (guint n)
{
  for (int i = 0; i < 60000 && count_threads () != n;
       i++) /* a limit, only reached if the test fails */
    g_usleep (1000);
  return count_threads () == n;
}

/* Stacks that were needed only while others were parked lose their threads, and get new ones. */
static void
test_threads_that_nobody_needs_end (void)
{
  guint before = count_threads (), most = 0;
  Rig *rig = rig_new (2, 0, 1);

  for (guint i = 0; i < 5; i++)
    {
      while (__atomic_load_n (&rig->engine->seats.free, __ATOMIC_RELAXED) < 2)
        g_usleep (100);
      pthread_mutex_lock (&rig->engine->lock);
      for (guint k = 0; k < 2; k++) /* both seats go to new stacks */
        if (worker_new (rig->engine, FALSE) != NULL)
          __atomic_store_n (&rig->engine->seats.free, rig->engine->seats.free - 1,
                            __ATOMIC_RELAXED);
      most = rig->engine->n_stacks;
      /* Usually no thread sleeps when a stack is made; here all are woken. */
      for (guint k = 0; k < most; k++)
        pthread_cond_signal (&rig->engine->stacks[k]->seat.cond);
      pthread_mutex_unlock (&rig->engine->lock);
      check_again (rig, JOB_FIB, &(satin_args_fib){ 20 });
      if (before > 0)
        g_assert_true (threads_are (before + 2));
      check_again (rig, JOB_QUEENS, &(satin_args_queens){ { .n = 7 } });
    }
  g_assert_cmpuint (most, >, 2);
  rig_free (rig);
}

typedef struct
{
  Engine *engine;
  gint over; /* atomic */
} Digests;

static gpointer
digest_all_the_time (gpointer data)
{
  Digests *digests = data;
  g_autofree guint8 *zeros = g_malloc0 (1 << 20);
  g_autoptr (GBytes) args = g_bytes_new (zeros, 1 << 20);
  Digest first = engine_digest (digests->engine, 0, args);

  for (int i = 0; i < 100; i++)
    {
      Digest digest = engine_digest (digests->engine, 0, args);
      g_assert_true (digest_equal (&digest, &first));
    }
  g_atomic_int_set (&digests->over, TRUE);
  return NULL;
}

/* The constants are published again by a master that takes over, while orphans run. */
static void
test_the_same_constants_are_said_again (void)
{
  Rig *rig = rig_new (1, 0, 1);
  Digest constants = { { 1, 2, 3 } };
  Digests digests = { rig->engine, FALSE };

  engine_set_constants (rig->engine, &constants);
  GThread *thread = g_thread_new ("digests", digest_all_the_time, &digests);
  while (!g_atomic_int_get (&digests.over))
    engine_set_constants (rig->engine, &constants);
  g_thread_join (thread);
  rig_free (rig);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/fib-is-right-on-any-number-of-workers", test_fib);
  g_test_add_func ("/engine/queens-is-right", test_queens);
  g_test_add_func ("/engine/a-second-phase-sees-the-results-of-the-first", test_phases);
  g_test_add_func ("/engine/values-larger-than-a-slot-are-right", test_wide);
  g_test_add_func ("/engine/bytes-travel-and-are-released", test_text);
  g_test_add_func ("/engine/calls-mix-with-spawns", test_calls);
  g_test_add_func ("/engine/deep-combs-are-right", test_comb);
  g_test_add_func ("/engine/jobs-recurse-mutually", test_mutual);
  g_test_add_func ("/engine/eight-arguments-of-all-types", test_eight);
  g_test_add_func ("/engine/many-small-runs-of-phases", test_stress);
  g_test_add_func ("/engine/few-long-jobs-are-enough-for-all-who-wait",
                   test_few_long_jobs_are_enough_for_all_who_wait);
  g_test_add_func ("/engine/what-has-not-begun-goes-back", test_what_has_not_begun_goes_back);
  g_test_add_func ("/engine/thieves-look-at-no-earlier-phases",
                   test_thieves_look_at_no_earlier_phases);
  g_test_add_func ("/engine/what-is-finished-below-is-not-looked-at-again",
                   test_what_is_finished_below_is_not_looked_at_again);
  g_test_add_func ("/engine/what-was-handed-out-is-not-looked-at",
                   test_what_was_handed_out_is_not_looked_at);
  g_test_add_func ("/engine/who-is-owed-work-hears-of-it", test_who_is_owed_work_hears_of_it);
  g_test_add_func ("/engine/who-cannot-drive-does-not-sleep-on-its-work",
                   test_who_cannot_drive_does_not_sleep_on_its_work);
  g_test_add_func ("/engine/the-same-constants-are-said-again",
                   test_the_same_constants_are_said_again);
  g_test_add_func ("/engine/threads-that-nobody-needs-end", test_threads_that_nobody_needs_end);
  return g_test_run ();
}
