/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists and texts between jobs: borrowed, copied, cut into parts, stolen; nothing is lost or freed
 * twice (the check with AddressSanitizer sees that). */
#include "config.h"

#include "engine-rig.h"
#include "list.h"
#include "record.h"

#include <math.h>
#include <string.h>

SATIN_LIST (Numbers, int64_t)
SATIN_RECORD (Word, (SatinText, text), (int32_t, count), (Numbers, places))
SATIN_LIST (Words, Word)

/* Merge sort: the parts share the memory of the list. */
SATIN_JOB (order, Numbers, (Numbers, list))
{
  uint64_t half = list.n / 2, i = 0, k = 0;
  Numbers low, high, all;
  int64_t *to;

  if (list.n < 2)
    return list;
  satin_spawn (order, &low, (Numbers){ list.at, half, list.held });
  satin_spawn (order, &high, (Numbers){ list.at + half, list.n - half, list.held });
  satin_sync ();
  all = satin_list (Numbers, NULL, list.n);
  to = satin_items (Numbers, all);
  while (i < low.n || k < high.n)
    *to++ = k == high.n || (i < low.n && low.at[i] <= high.at[k]) ? low.at[i++] : high.at[k++];
  return all;
}

/* The job's own memory is passed to a spawn and is overwritten before the child runs. */
SATIN_JOB (word, Word, (SatinText, text), (Numbers, places))
{
  Word made = { satin_text ("%s/%s", text.text, text.text), (int32_t)places.n, places };

  return made;
}

SATIN_JOB (words, Words, (int32_t, n))
{
  int64_t places[3];
  char name[16];
  Word made[8];

  for (int32_t i = 0; i < n; i++)
    {
      g_snprintf (name, sizeof name, "w%d", i);
      for (int32_t k = 0; k < 3; k++)
        places[k] = i * 10 + k;
      satin_spawn (word, &made[i], (SatinText){ name, NULL }, (Numbers){ places, 3, NULL });
    }
  memset (places, 0, sizeof places);
  memset (name, 0, sizeof name);
  satin_sync ();
  return satin_list (Words, made, (uint64_t)n);
}

/* A loop that makes a list of lists, and one that adds numbers; both have arguments. */
SATIN_FOR (multiples, Words, Word, (int32_t, times), (SatinText, name))
{
  const int64_t places[2] = { i, i * times };

  return (Word){ satin_text ("%s%d", name.text, (int)i), times, satin_list (Numbers, places, 2) };
}

static double
sum (double a, double b)
{
  return a + b;
}

SATIN_REDUCE (harmonic, double, sum)
{
  double s = 0;

  for (int64_t k = from; k < to; k++)
    s += 1.0 / (double)(k + 1);
  return s;
}

/* A search in plain functions, which polls and fails by a handle. */
static int64_t
search (SatinHere here, int32_t depth)
{
  satin_poll (here);
  if (depth < 0)
    satin_fail_here (here, "depth %d", depth);
  return depth == 0 ? 1 : search (here, depth - 1) + search (here, depth - 1);
}

SATIN_JOB (searches, int64_t, (int32_t, depth))
{
  int64_t x, y, z = satin_reduce (harmonic, 0, 100, 0) > 5 ? 1 : 0;
  Numbers none;

  satin_spawn (order, &none, (Numbers){ NULL, 0, NULL });
  x = search (satin_here (), depth);
  satin_sync ();
  y = search (satin_here (), depth);
  return x + y + z + (int64_t)none.n;
}

/* Jobs that take days: one polls, one keeps, and one is a loop in one piece. */
SATIN_JOB (turns, int64_t)
{
  for (;;)
    satin_aborted ();
  return 0;
}

SATIN_RECORD (Count, (int64_t, n))
SATIN_JOB (keeps, int64_t)
{
  SATIN_KEEPS (Count);

  for (Count count = { 0 };; count.n++)
    satin_keep (&count);
  return 0;
}

SATIN_FOR (naps, Numbers, int64_t)
{
  g_usleep (1000);
  return i;
}

enum
{
  ORDER,
  WORD,
  WORDS,
  MULTIPLES,
  HARMONIC,
  SEARCHES,
  TURNS,
  KEEPS,
  NAPS
};
static const SatinJob *const jobs[]
    = { &order_job,    &word_job,  &words_job, &multiples_job, &harmonic_job,
        &searches_job, &turns_job, &keeps_job, &naps_job,      NULL };

static void
test_a_list_is_sorted (void)
{
  enum
  {
    N = 5000
  };
  g_autofree int64_t *own = g_new (int64_t, N);
  const satin_args_order args = { { own, N, NULL } };
  Rig *rig = rig_new_for (jobs, 4, 0, 7);
  Numbers sorted;

  for (int64_t i = 0; i < N; i++)
    own[i] = i * 7919 % N;
  g_autoptr (GBytes) value = rig_run (rig, ORDER, &args);
  g_assert_true (record_decode (order_job.result, value, &sorted, NULL));
  g_assert_cmpuint (sorted.n, ==, N);
  for (int64_t i = 0; i < N; i++)
    g_assert_cmpint (sorted.at[i], ==, i);
  record_clear (order_job.result, &sorted);
  rig_free (rig);
}

static void
test_lists_of_lists_and_texts (void)
{
  const satin_args_words args = { 8 };
  Rig *rig = rig_new_for (jobs, 3, 0, 9);
  Words made;

  for (int round = 0; round < 50; round++)
    {
      g_autoptr (GBytes) value = rig_run (rig, WORDS, &args);
      g_assert_true (record_decode (words_job.result, value, &made, NULL));
      g_assert_cmpuint (made.n, ==, 8);
      for (int i = 0; i < 8; i++)
        {
          g_autofree char *text = g_strdup_printf ("w%d/w%d", i, i);
          g_assert_cmpstr (made.at[i].text.text, ==, text);
          g_assert_cmpuint (made.at[i].places.n, ==, 3);
          g_assert_cmpint (made.at[i].places.at[2], ==, i * 10 + 2);
        }
      record_clear (words_job.result, &made);
    }
  rig_free (rig);
}

static void
test_a_loop_makes_a_list (void)
{
  static const int64_t grains[] = { 0, 1, 7, 1000 };
  Rig *rig = rig_new_for (jobs, 4, 0, 11);
  Words made;

  for (guint g = 0; g < G_N_ELEMENTS (grains); g++)
    {
      const satin_args_multiples args = { -5, 300, grains[g], 3, { "n", NULL } };
      g_autoptr (GBytes) value = rig_run (rig, MULTIPLES, &args);

      g_assert_true (record_decode (multiples_job.result, value, &made, NULL));
      g_assert_cmpuint (made.n, ==, 305);
      for (int k = 0; k < 305; k++)
        {
          g_autofree char *text = g_strdup_printf ("n%d", k - 5);
          g_assert_cmpstr (made.at[k].text.text, ==, text);
          g_assert_cmpuint (made.at[k].places.n, ==, 2);
          g_assert_cmpint (made.at[k].places.at[1], ==, (k - 5) * 3);
        }
      record_clear (multiples_job.result, &made);
    }
  rig_free (rig);
}

static void
test_a_loop_adds_the_same_on_any_number_of_workers (void)
{
  static const satin_args_harmonic ranges[] = { { 0, 100000, 0 }, { 0, 100000, 333 }, { 3, 3, 0 } };
  GBytes *first[G_N_ELEMENTS (ranges)] = { NULL };

  for (guint workers = 1; workers < 5; workers++)
    {
      Rig *rig = rig_new_for (jobs, workers, 0, workers);

      for (guint r = 0; r < G_N_ELEMENTS (ranges); r++)
        {
          GBytes *value = rig_run (rig, HARMONIC, &ranges[r]);

          if (first[r] == NULL)
            first[r] = g_bytes_ref (value);
          g_assert_true (g_bytes_equal (first[r], value));
          g_bytes_unref (value);
        }
      rig_free (rig);
    }
  g_assert_cmpfloat (fabs (*(const double *)g_bytes_get_data (first[0], NULL) - 12.0901461298634),
                     <, 1e-9);
  g_assert_cmpfloat (*(const double *)g_bytes_get_data (first[2], NULL), ==, 0);
  for (guint r = 0; r < G_N_ELEMENTS (ranges); r++)
    g_clear_pointer (&first[r], g_bytes_unref);
}

static gboolean
comes (Rig *rig, EngineEventKind kind)
{
  EngineEvent event;
  gboolean came = FALSE;

  while (!came && rig_next (rig, &event, 60 * G_USEC_PER_SEC))
    {
      came = event.kind == kind;
      engine_event_clear (&event);
    }
  return came;
}

/* All that satin.h calls a poll stops for a scan and for a halt. */
static void
test_a_long_job_stops (void)
{
  const satin_args_searches depth = { 40 };
  const satin_args_naps range = { 0, 100000, 100000 };
  const struct
  {
    guint32 job;
    const void *args;
  } cases[] = { { SEARCHES, &depth }, { TURNS, "" }, { KEEPS, "" }, { NAPS, &range } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      Rig *rig = rig_new_for (jobs, 2, 0, 1);

      rig_start (rig, cases[i].job, cases[i].args);
      engine_scan (rig->engine, FALSE);
      g_assert_true (comes (rig, ENGINE_SCANNED));
      engine_halt (rig->engine, FALSE);
      g_assert_true (comes (rig, ENGINE_HALTED));
      rig_free (rig);
    }
}

static void
test_functions_of_a_job_poll (void)
{
  const satin_args_searches few = { 10 }, bad = { -1 };
  Rig *rig = rig_new_for (jobs, 2, 0, 1);
  EngineEvent event = { 0 };

  g_assert_cmpint (rig_run_number (rig, SEARCHES, &few), ==, 2049);
  rig_free (rig);

  rig = rig_new_for (jobs, 2, 0, 1);
  rig_start (rig, SEARCHES, &bad);
  do
    {
      engine_event_clear (&event);
      g_assert_true (rig_next (rig, &event, 60 * G_USEC_PER_SEC));
    }
  while (event.kind != ENGINE_FAILED);
  g_assert_cmpstr (event.at, ==, "");
  g_assert_cmpstr (event.cause, ==, "depth -1");
  engine_event_clear (&event);
  engine_halt (rig->engine, FALSE);
  rig_free (rig);
}

static void
test_a_list_has_a_greatest_length (void)
{
  if (g_test_subprocess ())
    {
      list_check_length ((guint64)G_MAXUINT32 + 1);
      return;
    }
  list_check_length (G_MAXUINT32);
  g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
  g_test_trap_assert_failed ();
  g_test_trap_assert_stderr ("*a list has at most 4294967295*");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/lists/a-list-is-sorted", test_a_list_is_sorted);
  g_test_add_func ("/lists/lists-of-lists-and-texts", test_lists_of_lists_and_texts);
  g_test_add_func ("/lists/a-loop-makes-a-list", test_a_loop_makes_a_list);
  g_test_add_func ("/lists/a-loop-adds-the-same-on-any-number-of-workers",
                   test_a_loop_adds_the_same_on_any_number_of_workers);
  g_test_add_func ("/lists/greatest-length", test_a_list_has_a_greatest_length);
  g_test_add_func ("/lists/a-long-job-stops", test_a_long_job_stops);
  g_test_add_func ("/lists/functions-of-a-job-poll", test_functions_of_a_job_poll);
  return g_test_run ();
}
