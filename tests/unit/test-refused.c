/* SPDX-License-Identifier: BSD-3-Clause */
/* The system refuses threads for a while: jobs go back, and are taken again when threads are
 * available. pthread_create fails on demand. */
#include "engine-rig.h"

#include "record.h"
#include "satin.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static gint refuses, opened; /* atomic */

int
pthread_create (pthread_t *thread, const pthread_attr_t *attributes, void *(*body) (void *),
                void *data)
{
  static __typeof__ (pthread_create) *real;

  if (real == NULL)
    *(void **)&real = dlsym (RTLD_NEXT, "pthread_create");
  return g_atomic_int_get (&refuses) ? EAGAIN : real (thread, attributes, body, data);
}

SATIN_JOB (leaf, int64_t, (int32_t, n))
{
  while (!g_atomic_int_get (&opened))
    g_thread_yield ();
  return n;
}

SATIN_JOB (pair, int64_t, (int32_t, n))
{
  int64_t a, b;

  satin_spawn (leaf, &a, n);
  satin_spawn (leaf, &b, n);
  satin_sync ();
  return a + b;
}

/* 31 x 31 x 5 members, and the records that contain them. */
#define MEMBERS_31(type) \
  (type, a), (type, b), (type, c), (type, d), (type, e), (type, f), (type, g), (type, h), \
      (type, i), (type, j), (type, k), (type, l), (type, m), (type, n), (type, o), (type, p), \
      (type, q), (type, r), (type, s), (type, t), (type, u), (type, v), (type, w), (type, x), \
      (type, y), (type, z), (type, aa), (type, ab), (type, ac), (type, ad), (type, ae)
SATIN_RECORD (Line, MEMBERS_31 (uint8_t));
SATIN_RECORD (Page, MEMBERS_31 (Line));
SATIN_RECORD (Book, (Page, a), (Page, b), (Page, c), (Page, d), (Page, e));

SATIN_JOB (writer, int64_t, (int32_t, n))
{
  SATIN_KEEPS (Book);
  Book book = { 0 };

  satin_keep (&book);
  return n;
}

#define MANY (RECORD_SHARED_MAX + 1)
SATIN_RECORD (Many, (SatinShared, all, MANY));

SATIN_JOB (gatherer, Many, (int32_t, n))
{
  static Many many; /* too large for a stack */
  SatinShared one = satin_share (satin_bytes (g_bytes_new ("1", 1)));

  for (gsize i = 0; i < (gsize)n; i++)
    many.all[i] = one;
  return many;
}

static const SatinJob *const jobs[] = { &pair_job, &leaf_job, &writer_job, &gatherer_job, NULL };

static EngineEventKind
next_of (Rig *rig, guint64 held)
{
  EngineEvent event;
  EngineEventKind kind = ENGINE_HUNGRY;

  while (kind == ENGINE_HUNGRY)
    {
      if (!rig_next (rig, &event, G_USEC_PER_SEC))
        continue;
      if (event.held == held && (event.kind == ENGINE_DONE || event.kind == ENGINE_UNRUN))
        kind = event.kind;
      if (held == 0 && event.kind == ENGINE_SHARED)
        kind = event.kind;
      engine_event_clear (&event);
    }
  return kind;
}

static EngineEventKind
run_leaf (Rig *rig, guint64 held)
{
  g_autoptr (GBytes) args = record_encode (leaf_job.args, &(satin_args_leaf){ 1 });
  Digest digest = engine_digest (rig->engine, 1, args);
  g_autoptr (Loan) loan = loan_new (0, "/1", 1, &digest, 1.0, args);

  g_assert_true (engine_run (rig->engine, held, loan));
  return next_of (rig, held);
}

static void
test_a_refused_thread_is_tried_again (void)
{
  Rig *rig = rig_new_for (jobs, 1, 4, 2);
  guint64 held = 2;
  Loan lent = { 0 };

  /* The only worker's job waits for a lent child, so another job takes another stack. */
  engine_request_work (rig->engine, 1);
  rig_start (rig, 0, &(satin_args_pair){ 1 });
  g_assert_cmpint (next_of (rig, 0), ==, ENGINE_SHARED);
  g_assert_true (engine_lend (rig->engine, &lent));
  g_atomic_int_set (&refuses, TRUE);
  g_atomic_int_set (&opened, TRUE);
  g_assert_cmpint (run_leaf (rig, held), ==, ENGINE_UNRUN);

  g_atomic_int_set (&refuses, FALSE);
  while (run_leaf (rig, ++held) != ENGINE_DONE) /* the pause after a refusal is not over */
    g_thread_yield ();

  g_assert_true (engine_back (rig->engine, lent.loan));
  g_assert_cmpint (next_of (rig, 1), ==, ENGINE_DONE);
  g_free (lent.path);
  g_bytes_unref (lent.args);
  rig_free (rig);
}

/* A type that another node would refuse is refused where it is defined, with one message. */
static void
test_a_type_that_is_too_long_is_not_kept (void)
{
  rig_fail (
      jobs, 2, &(int32_t){ 1 }, "",
      "it keeps a state whose type takes 5127 characters to write, more than 4096: keep arrays"
      " or SatinBytes instead");
}

static void
test_too_many_shared_bytes_are_not_returned (void)
{
  rig_fail (jobs, 3, &(int32_t){ MANY }, "",
            "it returns or keeps 393217 shared bytes, more than 393216, in one value");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  puts ("1..0 # SKIP the sanitizers have a pthread_create of their own");
  return 0;
#endif
  g_test_add_func ("/refused/a-refused-thread-is-tried-again",
                   test_a_refused_thread_is_tried_again);
  g_test_add_func ("/refused/a-type-that-is-too-long-is-not-kept",
                   test_a_type_that_is_too_long_is_not_kept);
  g_test_add_func ("/refused/too-many-shared-bytes-are-not-returned",
                   test_too_many_shared_bytes_are_not_returned);
  return g_test_run ();
}
