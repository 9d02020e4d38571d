/* SPDX-License-Identifier: BSD-3-Clause */
/* satin_share and satin_shared with a driver that has the bytes or does not. */
#include "config.h"

#include "engine-rig.h"
#include "record.h"
#include "shared.h"

#include <string.h>

#define WAIT_US (60 * G_USEC_PER_SEC) /* a limit, only reached if the test fails */

SATIN_RECORD (Part, (SatinShared, whole), (int32_t, from), (SatinShared, others, 2));
SATIN_JOB_DECLARE (sum, int64_t, (Part, part), (int32_t, n));
SATIN_JOB_DECLARE (one, int64_t, (int32_t, n));
SATIN_JOB_DECLARE (shares, int64_t, (int32_t, n));
SATIN_JOB_DECLARE (passes, SatinShared, (SatinShared, whole));
SATIN_JOB_DECLARE (keeps, int64_t, (SatinShared, whole));
SATIN_JOB_DECLARE (after, int64_t, (SatinShared, whole));
SATIN_JOB_DECLARE (planes, int64_t, (SatinShared, whole), (int32_t, n));

static int64_t
sum_of (SatinBytes bytes, int32_t from, int32_t n)
{
  const guint8 *data = g_bytes_get_data (bytes, NULL);
  int64_t sum = 0;

  for (int32_t i = from; i < from + n; i++)
    sum += data[i];
  return sum;
}

SATIN_JOB_DEFINE (sum, int64_t, (Part, part), (int32_t, n))
{
  int64_t x, y;

  if (n <= 10)
    return sum_of (satin_shared (part.whole), part.from, n);
  Part right = part;
  right.from += n / 2;
  satin_spawn (sum, &x, part, n / 2);
  satin_spawn (sum, &y, right, n - n / 2);
  satin_sync ();
  return x + y;
}

static GBytes *
pattern (int32_t n, int salt)
{
  guint8 *data = g_malloc ((gsize)n);

  for (int32_t i = 0; i < n; i++)
    data[i] = (guint8)(i * 7 + salt);
  return g_bytes_new_take (data, (gsize)n);
}

SATIN_JOB_DEFINE (shares, int64_t, (int32_t, n))
{
  SatinShared whole = satin_share (satin_bytes (pattern (n, 1)));
  Part part = { whole, 0, { whole, NULL } };
  int64_t x;

  g_assert_null (satin_shared ((SatinShared)NULL));
  satin_spawn (sum, &x, part, n);
  satin_sync ();
  return x;
}

SATIN_JOB_DEFINE (passes, SatinShared, (SatinShared, whole))
{
  return whole;
}

SATIN_JOB_DEFINE (keeps, int64_t, (SatinShared, whole))
{
  const Part state = { whole, 0, { NULL, NULL } };

  SATIN_KEEPS (Part);
  satin_keep (&state);
  return 1;
}

SATIN_JOB_DEFINE (one, int64_t, (int32_t, n))
{
  return n;
}

/* Waits in the middle of a phase, with finished and unfinished children. */
SATIN_JOB_DEFINE (after, int64_t, (SatinShared, whole))
{
  int64_t x, y, z = satin_call (one, 3);

  satin_spawn (one, &x, 1);
  int64_t sum = sum_of (satin_shared (whole), 0, 5);
  satin_spawn (one, &y, 2);
  satin_sync ();
  return 100 * x + 10 * y + z + 1000 * sum;
}

SATIN_JOB_DEFINE (planes, int64_t, (SatinShared, whole), (int32_t, n))
{
  Part state = { whole, 0, { NULL, NULL } };

  SATIN_KEEPS (Part);
  satin_recall (&state);
  while (state.from < n)
    {
      g_autoptr (GByteArray) next = g_byte_array_new ();
      GBytes *now = satin_shared (state.whole);

      g_byte_array_append (next, g_bytes_get_data (now, NULL), (guint)g_bytes_get_size (now));
      next->data[0]++;
      state.whole = satin_share (satin_bytes (g_bytes_new (next->data, next->len)));
      state.from++;
      satin_keep (&state);
    }
  return sum_of (satin_shared (state.whole), 0, 1);
}

enum
{
  SUM,
  ONE,
  SHARES,
  PASSES,
  KEEPS,
  AFTER,
  PLANES
};
static const SatinJob *const jobs[]
    = { &sum_job, &one_job, &shares_job, &passes_job, &keeps_job, &after_job, &planes_job, NULL };

/* A reference to bytes that are not here. */
static SatinShared
unknown (GBytes *bytes)
{
  gsize size;
  const void *data = g_bytes_get_data (bytes, &size);
  Digest digest = digest_of_data (data, size);

  return shared_enter (shared_store_here (), &digest, size);
}

static void
next_of (Rig *rig, EngineEventKind kind, EngineEvent *event)
{
  for (;;)
    {
      g_assert_true (rig_next (rig, event, WAIT_US));
      if (event->kind == kind)
        return;
      engine_event_clear (event);
    }
}

static int64_t
number_of (GBytes *value)
{
  int64_t number;

  g_assert_true (record_decode (&satin_type_int64_t, value, &number, NULL));
  return number;
}

static void
test_here (void)
{
  Rig *rig = rig_new_for (jobs, 2, 0, 1);
  g_autoptr (GBytes) bytes = pattern (5000, 1);
  g_autoptr (GBytes) value = rig_run (rig, SHARES, &(satin_args_shares){ 5000 });

  g_assert_cmpint (number_of (value), ==, sum_of (bytes, 0, 5000));
  rig_free (rig);
}

/* Each job that finds no bytes asks; the bytes that are put go to the job that asked. Returns how
 * many asked: only a job that uses the bytes keeps them. */
static guint
count_wants (guint workers)
{
  Rig *rig = rig_new_for (jobs, workers, 0, 1);
  g_autoptr (GBytes) bytes = pattern (200, 2);
  SatinShared whole = unknown (bytes);
  EngineEvent event;
  guint n_wants = 0;
  gboolean done = FALSE;

  rig_start (rig, SUM, &(satin_args_sum){ { whole, 0, { NULL, NULL } }, 200 });
  while (!done)
    {
      if (!rig_next (rig, &event, WAIT_US))
        g_assert_not_reached ();
      if (event.kind == ENGINE_WANT)
        {
          g_assert_cmpuint (event.held, ==, 1);
          g_assert_cmpuint (event.length, ==, 200);
          g_assert_true (digest_equal (&event.digest, shared_digest (whole)));
          if (n_wants++ % 3 == 0)
            g_assert_true (engine_back (rig->engine, event.loan));
          else
            g_assert_true (engine_put (rig->engine, event.loan, bytes, 0, 0));
        }
      done = event.kind == ENGINE_DONE;
      if (done)
        {
          g_assert_cmpint (number_of (event.value), ==, sum_of (bytes, 0, 200));
          g_assert_null (event.shared);
        }
      engine_event_clear (&event);
    }
  shared_unref (whole);
  rig_free (rig);
  return n_wants;
}

static void
test_fetched (void)
{
  g_assert_cmpuint (count_wants (1), ==, 48); /* 32 leaves; every third ask is in vain */
  count_wants (2);                            /* one job may find the bytes that another holds */
}

/* The slot in which a job waits is no child: later children keep their numbers, and no scan reports
 * the slot. */
static void
test_in_a_phase (void)
{
  Rig *rig = rig_new_for (jobs, 1, 0, 1);
  g_autoptr (GBytes) bytes = pattern (50, 3);
  SatinShared whole = unknown (bytes);
  EngineEvent event, rows;

  rig_start (rig, AFTER, &(satin_args_after){ whole });
  next_of (rig, ENGINE_WANT, &event);
  engine_scan (rig->engine, TRUE);
  next_of (rig, ENGINE_ROWS, &rows);
  g_assert_cmpuint (rows.rows->len, >=, 1);
  g_assert_cmpuint (rows.rows->len, <=,
                    2); /* the waiting stack may have run the second child meanwhile */
  g_assert_cmpstr (((Row *)rows.rows->pdata[0])->path, ==, "/0");
  if (rows.rows->len == 2)
    g_assert_cmpstr (((Row *)rows.rows->pdata[1])->path, ==, "/1");
  engine_event_clear (&rows);
  g_assert_true (engine_put (rig->engine, event.loan, bytes, 0, 0));
  engine_event_clear (&event);
  next_of (rig, ENGINE_DONE, &event);
  g_assert_cmpint (number_of (event.value), ==, 123 + 1000 * sum_of (bytes, 0, 5));
  engine_event_clear (&event);
  shared_unref (whole);
  rig_free (rig);
}

/* Rows may only be those of the other child, if it is finished. */
static void
check_rows (const GPtrArray *rows, GBytes *bytes)
{
  for (guint i = 0; i < rows->len; i++)
    {
      const Row *row = rows->pdata[i];
      int32_t from = g_str_equal (row->path, "/1") ? 10 : 0;

      g_assert_cmpint (number_of (row->value), ==, sum_of (bytes, from, 10));
    }
}

/* A child without children waits: it is not finished, however small it is. Each waiting child gets
 * its bytes when a scan is over. */
static void
test_waiting_child_is_not_saved (void)
{
  Rig *rig = rig_new_for (jobs, 1, 0, 1);
  g_autoptr (GBytes) bytes = pattern (20, 7);
  SatinShared whole = unknown (bytes);
  guint64 waiting[2];
  guint n = 0;
  EngineEvent event;

  rig_start (rig, SUM, &(satin_args_sum){ { whole, 0, { NULL, NULL } }, 20 });
  for (gboolean done = FALSE; !done; engine_event_clear (&event))
    {
      g_assert_true (rig_next (rig, &event, WAIT_US));
      done = event.kind == ENGINE_DONE;
      if (done)
        g_assert_cmpint (number_of (event.value), ==, sum_of (bytes, 0, 20));
      if (event.kind == ENGINE_WANT)
        {
          g_assert_cmpuint (n, <, G_N_ELEMENTS (waiting));
          if (n == 0) /* otherwise a scan is in progress */
            engine_scan (rig->engine, TRUE);
          waiting[n++] = event.loan;
        }
      if (event.kind == ENGINE_ROWS)
        check_rows (event.rows, bytes);
      for (; event.kind == ENGINE_SCANNED && n > 0; n--)
        g_assert_true (engine_put (rig->engine, waiting[n - 1], bytes, 0, 0));
    }
  shared_unref (whole);
  rig_free (rig);
}

/* A node has the shared bytes of which its results and kept states speak. `job`: a job that returns
 * some, or keeps a state with some. */
static void
test_spoken_of (gconstpointer job)
{
  Rig *rig = rig_new_for (jobs, 1, 0, 1);
  g_autoptr (GBytes) bytes = pattern (70 + GPOINTER_TO_UINT (job), 4); /* of its own */
  SatinShared whole = unknown (bytes);
  EngineEvent event;

  rig_start (rig, GPOINTER_TO_UINT (job), &(satin_args_passes){ whole });
  do
    g_assert_true (rig_next (rig, &event, WAIT_US));
  while (event.kind != ENGINE_WANT && event.kind != ENGINE_DONE);
  g_assert_cmpint (event.kind, ==, ENGINE_WANT);
  g_assert_true (engine_put (rig->engine, event.loan, bytes, 0, 0));
  engine_event_clear (&event);
  next_of (rig, ENGINE_DONE, &event);
  if (GPOINTER_TO_UINT (job) == PASSES)
    g_assert_true (event.shared->len == 1 && event.shared->pdata[0] == whole);
  shared_store_set_memory (shared_store_here (), 0);
  g_autoptr (GBytes) found = shared_bytes (whole);
  g_assert_true (found != NULL && g_bytes_equal (found, bytes));
  shared_store_set_memory (shared_store_here (), SHARED_MEMORY_DEFAULT);
  engine_event_clear (&event);
  shared_unref (whole);
  rig_free (rig);
}

/* A job that waits is aborted. */
static void
test_aborted (void)
{
  Rig *rig = rig_new_for (jobs, 1, 0, 1);
  g_autoptr (GBytes) bytes = pattern (90, 5);
  SatinShared whole = unknown (bytes);
  EngineEvent event;
  guint64 loan;

  rig_start (rig, AFTER, &(satin_args_after){ whole });
  next_of (rig, ENGINE_WANT, &event);
  loan = event.loan;
  engine_event_clear (&event);
  engine_unrun (rig->engine, 1);
  next_of (rig, ENGINE_ABORTED, &event);
  g_assert_cmpuint (event.loan, ==, loan);
  engine_event_clear (&event);
  next_of (rig, ENGINE_UNRUN, &event);
  engine_event_clear (&event);
  g_assert_false (engine_put (rig->engine, loan, bytes, 0, 0));
  shared_unref (whole);
  rig_free (rig);
}

/* The engine ends while a job waits. */
static void
test_halted (void)
{
  Rig *rig = rig_new_for (jobs, 2, 0, 1);
  g_autoptr (GBytes) bytes = pattern (90, 6);
  SatinShared whole = unknown (bytes);
  EngineEvent event;

  rig_start (rig, AFTER, &(satin_args_after){ whole });
  next_of (rig, ENGINE_WANT, &event);
  engine_event_clear (&event);
  engine_halt (rig->engine, FALSE);
  next_of (rig, ENGINE_HALTED, &event);
  engine_event_clear (&event);
  rig_free (rig);
  shared_unref (whole);
}

static void
test_kept (void)
{
  Rig *rig = rig_new_for (jobs, 1, 0, 1);
  g_autoptr (GBytes) bytes = pattern (30, 7);
  SatinShared whole = shared_add (shared_store_here (), bytes);
  g_autoptr (GBytes) value = rig_run (rig, PLANES, &(satin_args_planes){ whole, 40 });

  g_assert_cmpint (number_of (value), ==, (sum_of (bytes, 0, 1) + 40) % 256);
  shared_unref (whole);
  rig_free (rig);
}

static void
run_at (Rig *rig, guint64 number, const char *path, guint32 job, const void *args)
{
  g_autoptr (GBytes) encoded = record_encode (jobs[job]->args, args);
  Digest digest = engine_digest (rig->engine, job, encoded);
  g_autoptr (Loan) loan = loan_new (0, path, job, &digest, 1.0, encoded);

  g_assert_true (engine_run (rig->engine, number, loan));
}

/* The bytes come for which the job with this number waits. */
static void
ends_with (Rig *rig, guint64 loan, GBytes *bytes, guint64 number)
{
  EngineEvent event;

  g_assert_true (engine_put (rig->engine, loan, bytes, 0, 0));
  next_of (rig, ENGINE_DONE, &event);
  g_assert_cmpuint (event.held, ==, number);
  engine_event_clear (&event);
}

/* All stacks wait for bytes that were lost with another node, and only the new master's root can
 * make them again: the root gets a stack beyond the limit, whenever it begins. Any other job goes
 * back. Once the others have ended, that stack runs any job. */
static void
test_root_beyond_limit (void)
{
  g_autoptr (GBytes) bytes = pattern (200, 8);
  SatinShared whole = unknown (bytes);
  EngineEvent event;

  for (guint64 seed = 1; seed <= 20; seed++)
    {
      Rig *rig = rig_new_for (jobs, 1, 2, seed);
      guint64 number = 1, loans[2];

      for (guint i = 0; i < 2; i++)
        {
          g_autofree char *path = g_strdup_printf ("/%u", i);

          run_at (rig, ++number, path, AFTER, &(satin_args_after){ whole });
          next_of (rig, ENGINE_WANT, &event);
          loans[i] = event.loan;
          engine_event_clear (&event);
        }
      for (guint round = 0; round < 3; round++)
        {
          rig_start (rig, SHARES, &(satin_args_shares){ 300 });
          do
            g_assert_true (rig_next (rig, &event, WAIT_US));
          while (event.kind != ENGINE_DONE && event.kind != ENGINE_UNRUN);
          g_assert_cmpint (event.kind, ==, ENGINE_DONE);
          engine_event_clear (&event);
          run_at (rig, ++number, "/2", ONE, &(satin_args_one){ 5 });
          next_of (rig, ENGINE_UNRUN, &event);
          g_assert_cmpuint (event.held, ==, number);
          engine_event_clear (&event);
        }
      rig_start (rig, AFTER, &(satin_args_after){ whole });
      next_of (rig, ENGINE_WANT, &event);
      g_assert_cmpuint (event.held, ==, 1);
      guint64 loan = event.loan;
      engine_event_clear (&event);
      for (guint i = 0; i < 2; i++)
        ends_with (rig, loans[i], bytes, 2 + i);
      ends_with (rig, loan, bytes, 1);
      run_at (rig, ++number, "/2", ONE, &(satin_args_one){ 5 });
      next_of (rig, ENGINE_DONE, &event);
      g_assert_cmpuint (event.held, ==, number);
      engine_event_clear (&event);
      rig_free (rig);
    }
  shared_unref (whole);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/share/here", test_here);
  g_test_add_func ("/share/fetched", test_fetched);
  g_test_add_func ("/share/in-a-phase", test_in_a_phase);
  g_test_add_func ("/share/a-waiting-child-is-not-saved", test_waiting_child_is_not_saved);
  g_test_add_data_func ("/share/returned", GUINT_TO_POINTER (PASSES), test_spoken_of);
  g_test_add_data_func ("/share/in-a-kept-state", GUINT_TO_POINTER (KEEPS), test_spoken_of);
  g_test_add_func ("/share/aborted", test_aborted);
  g_test_add_func ("/share/halted", test_halted);
  g_test_add_func ("/share/kept", test_kept);
  g_test_add_func ("/share/root-beyond-limit", test_root_beyond_limit);
  return g_test_run ();
}
