/* SPDX-License-Identifier: BSD-3-Clause */
/* satin_sync_next on the threads of one engine. */
#include "config.h"

#include "engine-jobs.h"
#include "engine-rig.h"
#include "processor.h"

#include <sched.h>
#include <string.h>

static gint begun, may_go; /* atomic: of `half` */

SATIN_JOB (same, int64_t, (int32_t, n))
{
  return n;
}

static SatinBytes
text_of (int32_t number)
{
  char *text = g_strdup_printf ("text %d", number);

  return satin_bytes (g_bytes_new_take (text, strlen (text)));
}

SATIN_JOB (tell, SatinBytes, (int32_t, number), (SatinBytes, more))
{
  SatinBytes x[3];

  if (g_bytes_get_size (more) > strlen ("text 0"))
    {
      for (int i = 0; i < 3; i++)
        satin_spawn (tell, &x[i], i, text_of (i));
      for (int i = 0; i < number % 3; i++)
        satin_sync_next ();
      satin_abort ();
    }
  return text_of (number);
}

/* Results that satin_sync_next delivered stay, whatever follows. */
SATIN_JOB (keeps, uint8_t, (int32_t, n))
{
  SatinBytes x[12], empty = satin_bytes (g_bytes_new_static ("", 0));
  SatinBytes more = text_of (99);
  gboolean seen[12] = { FALSE };

  for (int i = 0; i < 12; i++)
    satin_spawn (tell, &x[i], i, i % 2 == 0 ? empty : more);
  for (int i = 0; i < n; i++)
    seen[satin_sync_next ()] = TRUE;
  satin_abort ();
  for (int i = 0; i < 12; i++)
    if (seen[i])
      {
        g_autofree char *expected = g_strdup_printf ("text %d", i);
        gsize size;
        const char *text = g_bytes_get_data (x[i], &size);

        g_assert_cmpmem (text, size, expected, strlen (expected));
      }
  return 1;
}

/* Calls and further spawns between two satin_sync_next. */
SATIN_JOB (numbered, int64_t, (int32_t, n))
{
  int64_t x[9] = { 0 }, sum = 0;
  int32_t number, taken = 0;

  for (int i = 0; i < 3; i++)
    satin_spawn (same, &x[i], i);
  sum += satin_call (same, 100);
  for (int i = 3; i < 6; i++)
    satin_spawn (same, &x[i], i);
  for (; taken < n; taken++)
    g_assert_cmpint (number = satin_sync_next (), <, 6);
  sum += satin_call (same, 200);
  for (int i = 6; i < 9; i++)
    satin_spawn (same, &x[i], i);
  while ((number = satin_sync_next ()) >= 0)
    {
      g_assert_cmpint (x[number], ==, number);
      taken++;
    }
  g_assert_cmpint (taken, ==, 9);
  satin_spawn (same, &x[0], 30);
  satin_spawn (same, &x[1], 40);
  number = satin_sync_next ();
  g_assert_cmpint (number, <, 2);
  x[number] = 1; /* this result was handed out: a sync does not write it again */
  satin_sync ();
  g_assert_cmpint (x[number], ==, 1);
  return sum + x[1 - number] - (number == 0 ? 0 : -10);
}

/* Takes one result, waits for the test, polls, and syncs. */
SATIN_JOB (half, int64_t, (int32_t, n))
{
  int64_t x[8] = { 0 }, sum = 0;

  for (int32_t i = 0; i < n; i++)
    satin_spawn (same, &x[i], i + 1);
  satin_sync_next ();
  g_atomic_int_inc (&begun);
  while (!g_atomic_int_get (&may_go))
    sched_yield ();
  satin_aborted ();
  satin_sync ();
  for (int32_t i = 0; i < n; i++)
    sum += x[i];
  return sum;
}

SATIN_JOB (many, int64_t, (int32_t, n), (uint8_t, calls))
{
  int64_t *x = g_new0 (int64_t, n), sum = 0;
  int32_t number;

  for (int32_t i = 0; i < n; i++)
    {
      satin_spawn (same, &x[i], i + 1);
      if (calls)
        sum += satin_call (same, 0);
    }
  while ((number = satin_sync_next ()) >= 0)
    {
      g_assert_cmpint (x[number], ==, number + 1);
      sum += x[number];
    }
  g_free (x);
  return sum;
}

enum
{
  KEEPS,
  NUMBERED,
  MANY,
  SAME,
  HALF
};

static const SatinJob *const jobs[]
    = { &keeps_job, &numbered_job, &many_job, &same_job, &half_job, &tell_job, NULL };

static void
test_bytes (void)
{
  for (gint n = 0; n <= 12; n++)
    {
      Rig *rig = rig_new_for (jobs, 1 + (guint)n % 4, 0, (guint64)n);
      g_autoptr (GBytes) result = rig_run (rig, KEEPS, &(satin_args_keeps){ n });

      g_assert_cmpuint (*(const guint8 *)g_bytes_get_data (result, NULL), ==, 1);
      rig_free (rig);
    }
}

static void
test_numbers (void)
{
  for (gint n = 0; n <= 6; n++)
    for (guint workers = 1; workers <= 3; workers++)
      {
        Rig *rig = rig_new_for (jobs, workers, 0, (guint64)n);
        int64_t value = rig_run_number (rig, NUMBERED, &(satin_args_numbered){ n });

        g_assert_cmpint (value, ==, 340);
        rig_free (rig);
      }
}

/* A child waits for another node when the job asks for the remaining children; nothing else below
 * it is known any more. */
static void
test_held_elsewhere (void)
{
  Rig *rig = rig_new_for (jobs, 1, 0, 1);
  const NodeId holder = { 1, 2, 3 };
  satin_args_same first = { 1 };
  g_autoptr (GBytes) args = record_encode (same_job.args, &first);
  g_autoptr (GBytes) value = record_encode (same_job.result, &(int64_t){ 1 });
  Digest digest = engine_digest (rig->engine, SAME, args);
  EngineEvent event = { 0 };

  g_atomic_int_set (&begun, 0);
  g_atomic_int_set (&may_go, 0);
  engine_known (rig->engine, "/0", &digest, &holder, FALSE);
  rig_start (rig, HALF, &(satin_args_half){ 6 });
  while (event.kind != ENGINE_ADOPT)
    {
      engine_event_clear (&event);
      g_assert_true (rig_next (rig, &event, 10000000));
    }
  while (g_atomic_int_get (&begun) == 0)
    sched_yield ();
  engine_forget (rig->engine, "/0", &holder);
  engine_known (rig->engine, "", &digest, &holder, TRUE);
  g_atomic_int_set (&may_go, 1);
  g_usleep (20000);
  g_assert_true (engine_put (rig->engine, event.loan, value, 1, 0));
  while (event.kind != ENGINE_DONE)
    {
      engine_event_clear (&event);
      g_assert_true (rig_next (rig, &event, 10000000));
    }
  g_autoptr (GBytes) sum = record_encode (half_job.result, &(int64_t){ 21 });
  g_assert_true (g_bytes_equal (event.value, sum));
  engine_event_clear (&event);
  rig_free (rig);
}

static void
test_many (void)
{
  for (guint workers = 1; workers <= 3; workers++)
    {
      Rig *rig = rig_new_for (jobs, workers, 0, workers);

      g_assert_cmpint (rig_run_number (rig, MANY, &(satin_args_many){ 100000, FALSE }), ==,
                       5000050000);
      rig_free (rig);
    }
}

/* Calls do not count as children, and counting the children takes no time. */
static void
test_many_beside_calls (void)
{
  for (guint workers = 1; workers <= 3; workers++)
    {
      Rig *rig = rig_new_for (jobs, workers, 0, workers);
      double began_s = processor_s ();

      g_assert_cmpint (rig_run_number (rig, MANY, &(satin_args_many){ 100000, TRUE }), ==,
                       5000050000);
      g_assert_cmpfloat (processor_s () - began_s, <, 15);
      rig_free (rig);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define TEST(name, function) g_test_add_func ("/sync-next/" name, function)
  TEST ("each-child-is-handed-out-once-by-its-number", test_numbers);
  TEST ("bytes-stay-until-the-job-returns", test_bytes);
  TEST ("a-hundred-thousand-children", test_many);
  TEST ("a-hundred-thousand-beside-calls", test_many_beside_calls);
  TEST ("a-sync-waits-for-what-is-held-elsewhere", test_held_elsewhere);
  return g_test_run ();
}
