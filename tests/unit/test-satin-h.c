/* SPDX-License-Identifier: BSD-3-Clause */
/* What satin.h offers to a program: layouts, constants, best values, and the sentences for broken
 * rules. */
#include "config.h"

#include "engine-rig.h"

#include "best.h"
#include "constant.h"
#include "engine-jobs.h"

#include <stdlib.h>

SATIN_RECORD (Inner, (int8_t, small), (double, real))
SATIN_RECORD (Outer, (Inner, one), (Inner, many, 3), (SatinBytes, name), (uint16_t, codes, 5))

SATIN_CONST (Outer, scene)
SATIN_CONST (int64_t, another)

static const int64_t *
smaller (const int64_t *a, const int64_t *b)
{
  return *a <= *b ? a : b;
}
SATIN_BEST (int64_t, bound, smaller, 1000)

static void
test_layout (void)
{
  g_autofree char *signature = record_signature (&satin_type_Outer);

  g_assert_cmpstr (signature, ==, "((nd)a(nd)ayaq)");
  g_assert_cmpuint (satin_type_Outer.size, ==, sizeof (Outer));
  g_assert_cmpuint (satin_fields_Outer[3].count, ==, 5);
  g_assert_cmpuint (satin_fields_Outer[1].offset, ==, offsetof (Outer, many));
  g_assert_true (SATIN_HOLDS_ (Outer));
  g_assert_false (SATIN_HOLDS_ (Inner));
  g_assert_cmpuint (sizeof (SatinSlot_), ==, 128);
  g_assert_true (wide_job.big);
  g_assert_false (queens_job.big);
  g_assert_true (text_job.args_hold && text_job.result_holds);
}

static void
test_constants (void)
{
  g_autoptr (GBytes) name = g_bytes_new_static ("scene one", 9), bytes = NULL, bad = NULL;
  Outer value = { .one = { 1, 2.5 }, .name = name }, other = { .one = { 2, 2.5 } };
  g_autoptr (GError) error = NULL;
  const Outer *published;

  g_assert_true (constant_find ("another") == &another_const);
  g_assert_true (constant_find ("scene") == &scene_const);
  g_assert_null (constant_encode (&scene_const));

  g_assert_true (constant_set (&scene_const, &value));
  published = satin_const (scene);
  g_assert_cmpint (published->one.small, ==, 1);
  bytes = constant_encode (&scene_const);
  g_assert_true (constant_set_encoded (&scene_const, bytes, &error));
  g_assert_false (constant_set (&scene_const, &other));
  g_assert_true (published == satin_const (scene));

  bad = g_bytes_new_static ("xyz", 3);
  g_assert_false (constant_set_encoded (&another_const, bad, &error));
  g_assert_nonnull (error);
}

static void
test_best (void)
{
  Rig *rig = rig_new (1, 0, 1);
  int64_t value = 500;
  g_autoptr (GBytes) worse = NULL, better = NULL, now = NULL;
  EngineEvent event;
  guint n = 0;

  g_assert_cmpint (satin_best (bound), ==, 1000);
  satin_improve (bound, &value);
  satin_improve (bound, &value);
  value = 700;
  satin_improve (bound, &value);
  g_assert_cmpint (satin_best (bound), ==, 500);

  worse = record_encode (&satin_type_int64_t, &value);
  value = 400;
  better = record_encode (&satin_type_int64_t, &value);
  g_assert_true (engine_improve (rig->engine, 0, worse));
  g_assert_cmpint (satin_best (bound), ==, 500);
  g_assert_true (engine_improve (rig->engine, 0, better));
  g_assert_cmpint (satin_best (bound), ==, 400);
  now = engine_best (rig->engine, 0);
  g_assert_true (g_bytes_equal (now, better));
  g_assert_false (engine_improve (rig->engine, 1, better));

  while (engine_next_event (rig->engine, &event))
    {
      n += event.kind == ENGINE_IMPROVED;
      engine_event_clear (&event);
    }
  g_assert_cmpuint (n, ==, 1);
  rig_free (rig);
}

/* Results of every size up to 8 bytes are returned in a register; longer ones and those that
 * contain bytes are not. Each of these jobs counts the leaves below it, in its own way. */
SATIN_RECORD (Three, (int8_t, part, 3))
SATIN_RECORD (Five, (int8_t, part, 5))
SATIN_RECORD (Floats, (double, one))
SATIN_RECORD (Nine, (int8_t, part, 9))
SATIN_RECORD (Large, (int64_t, number, 40))

#define COUNTS(name, Type, FIELD, last) \
  SATIN_JOB (name, Type, (int32_t, n), (Large, large)) \
  { \
    Type a = { 0 }, b = { 0 }, c = { 0 }; \
    if (n < 2) \
      { \
        a FIELD last = (large.number[n] == n ? -1 : -100); \
        return a; \
      } \
    satin_spawn (name, &a, n - 1, large); \
    b = satin_call (name, n - 2, large); \
    satin_spawn (name, &c, 0, large); \
    satin_sync (); \
    a FIELD last += (b FIELD last) + (c FIELD last); \
    return a; \
  }

COUNTS (count_byte, int8_t, , )
COUNTS (count_short, int16_t, , )
COUNTS (count_real, double, , )
COUNTS (count_three, Three, .part, [2])
COUNTS (count_five, Five, .part, [4])
COUNTS (count_floats, Floats, .one, )
COUNTS (count_nine, Nine, .part, [8])

static int
leaves (int n)
{
  return n < 2 ? 1 : leaves (n - 1) + leaves (n - 2) + 1;
}

static void
test_short_results (void)
{
  static const SatinJob *const jobs[]
      = { &count_byte_job, &count_short_job,  &count_real_job, &count_three_job,
          &count_five_job, &count_floats_job, &count_nine_job, NULL };
  satin_args_count_byte args = { .n = 9 };
  int expected = -leaves (args.n);

  args.large.number[1] = 1;
  for (guint workers = 1; workers <= 4; workers += 3)
    for (guint32 i = 0; jobs[i] != NULL; i++)
      {
        Rig *rig = rig_new_for (jobs, workers, 0, i + 1);
        g_autoptr (GBytes) bytes = rig_run (rig, i, &args);
        union
        {
          int8_t byte;
          int16_t number;
          double real;
          int8_t part[9];
        } result = { 0 };
        gsize size = jobs[i]->result->size;

        g_assert_true (record_decode (jobs[i]->result, bytes, &result, NULL));
        if (i == 1)
          g_assert_cmpint (result.number, ==, expected);
        else if (i == 2 || i == 5)
          g_assert_cmpint ((int)result.real, ==, expected);
        else
          g_assert_cmpint (result.part[size - 1], ==, expected);
        g_assert_cmpint (jobs[i]->returns, ==, size <= 8);
        rig_free (rig);
      }
}

SATIN_JOB (careless, int64_t, (int32_t, n))
{
  int64_t x;

  if (n > 0)
    satin_spawn (careless, &x, n - 1);
  return n;
}

SATIN_JOB (endless, int64_t, (int32_t, n))
{
  volatile char room[4096];
  int64_t x;

  room[n % 4096] = 1;
  satin_spawn (endless, &x, n + 1);
  satin_sync ();
  return x + room[n % 4096];
}

/* Runs one job with its own table in this process, which is expected to end by it. */
static void
run_alone (const SatinJob *job, gsize stack_bytes)
{
  const SatinJob *jobs[] = { job, &fib_job, NULL };
  g_autoptr (Stems) stems = stems_new ();
  EngineConfig config = { .jobs = jobs, .workers = 1, .stems = stems, .stack_bytes = stack_bytes };
  Engine *engine = engine_new (&config, NULL);
  g_autoptr (GBytes) args = record_encode (job->args, &(int32_t){ 1 });
  Digest digest = engine_digest (engine, 0, args);
  g_autoptr (Loan) loan = loan_new (0, "", 0, &digest, 1, args);
  EngineEvent event = { .kind = ENGINE_HUNGRY };

  g_assert_true (engine_run (engine, 1, loan));
  while (event.kind != ENGINE_DONE)
    {
      engine_scan (engine, FALSE);
      if (!engine_next_event (engine, &event))
        g_thread_yield ();
    }
  exit (0);
}

static void
test_unsynced (void)
{
  const SatinJob *jobs[] = { &careless_job, NULL };

  rig_fail (jobs, 0, &(int32_t){ 1 }, "",
            "it returned without satin_sync after its last satin_spawn");
}

static void
test_overflow (void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  g_test_skip ("the sanitizers have a handler of their own");
#else
  if (g_test_subprocess ())
    run_alone (&endless_job, 1 << 20);
  g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
  g_test_trap_assert_failed ();
  g_test_trap_assert_stderr ("satin: the C stack of a job is full: the recursion is too deep\n");
#endif
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/satin-h/records-describe-their-layout", test_layout);
  g_test_add_func ("/satin-h/constants-are-set-once", test_constants);
  g_test_add_func ("/satin-h/best-never-goes-back", test_best);
  g_test_add_func ("/satin-h/results-of-every-size-come-home", test_short_results);
  g_test_add_func ("/satin-h/a-job-with-children-unsynced-is-caught", test_unsynced);
  g_test_add_func ("/satin-h/a-full-stack-is-told-in-one-sentence", test_overflow);
  return g_test_run ();
}
