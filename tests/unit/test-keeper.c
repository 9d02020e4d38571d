/* SPDX-License-Identifier: BSD-3-Clause */
/* A driver and its scribes, one after another: what a new one is told, whose news counts, and what
 * becomes of one that is no longer needed. */
#include "keeper-rig.h"

static void
say_published (const Scribe *scribe, guint64 ticket)
{
  scribe->config.notify (
      &(ScribeNews){ .kind = SCRIBE_PUBLISHED, .ticket = ticket, .generation = 9 },
      scribe->config.data);
  run_posted ();
}

/* A publication of an earlier scribe acknowledges no row that was given to the present one. */
static void
test_only_the_present_scribe_counts (void)
{
  Driver *driver = begin_driver (TRUE);
  const Scribe *first = open_next (driver);

  say_published (first, 5);
  g_assert_cmpuint (steps->len, ==, 1);
  retire (driver);
  say_published (first, 6);
  const Scribe *second = open_next (driver);
  say_published (first, 7);
  g_assert_cmpuint (steps->len, ==, 1);
  say_published (second, 8);
  g_assert_cmpuint (steps->len, ==, 2);
  const NodeEvent *event = &g_array_index (steps, NodeEvent, 1);
  g_assert_cmpint (event->kind, ==, NODE_EVENT_PUBLISHED);
  g_assert_cmpuint (event->saved, ==, 8);
  g_assert_cmpuint (event->number, ==, 9);
  end_driver (driver);
}

#define BATCHES 100

static gpointer
restore (gpointer data)
{
  const Scribe *scribe = data;

  for (guint i = 1; i <= BATCHES; i++)
    {
      g_autoptr (GPtrArray) rows = g_ptr_array_new ();
      scribe->config.notify (
          &(ScribeNews){ .kind = SCRIBE_RESTORED, .rows = rows, .final = i == BATCHES },
          scribe->config.data);
    }
  return NULL;
}

/* All batches of rows arrive: the scribe continues when the Node has accepted some. */
static void
test_all_rows_come (void)
{
  Driver *driver = begin_driver (TRUE);
  Scribe *scribe = open_next (driver);
  GThread *thread = g_thread_new ("restore", restore, scribe);

  for (guint i = 0; i < BATCHES; i++)
    run_posted ();
  g_thread_join (thread);
  g_assert_cmpuint (driver->restoring, ==, 0);
  g_assert_cmpuint (steps->len, ==, BATCHES + 1);
  g_assert_cmpint (g_array_index (steps, NodeEvent, BATCHES - 1).kind, ==, NODE_EVENT_RESTORED);
  g_assert_cmpint (g_array_index (steps, NodeEvent, BATCHES).kind, ==, NODE_EVENT_OPENED);
  g_assert_cmpuint (g_array_index (steps, NodeEvent, BATCHES).number, ==, 3);
  end_driver (driver);
}

/* Each new scribe is told the members, all constants and, unless no job has run yet, the best
 * values. It opens the run that its predecessor found in the file. */
static void
test_a_new_scribe_is_told_all (void)
{
  for (gint founder = 0; founder < 2; founder++)
    {
      Driver *driver = begin_driver (founder);

      for (guint term = 0; term < 2; term++)
        {
          const Scribe *scribe = open_next (driver);
          gboolean first = founder && term == 0;

          g_assert_cmpuint (scribe->joined, ==, 2);
          g_assert_cmpuint (scribe->constants, ==, 1);
          g_assert_cmpuint (scribe->bests, ==, !first);
          g_assert_cmpuint (scribe->loads, ==, 1);
          g_assert_cmpint (scribe->config.goes_on, ==, !first);
          g_assert_cmpuint (scribe->config.least, ==, 3);
          g_assert_cmpuint (scribe->config.term, ==, 4);
          g_assert_cmpstr (scribe->given, ==, term == 0 ? "of-the-run" : "of-the-file");
          g_assert_cmpstr (driver->checkpoint_run, ==, "of-the-file");
          retire (driver);
        }
      end_driver (driver);
    }
}

static gboolean
has_work_file (guint i)
{
  g_autofree char *name
      = g_strdup_printf ("%s/checkpoint-%d-%u.work", scribes[i].config.copy, (int)getpid (), i + 1);

  return access (name, F_OK) == 0;
}

/* A scribe that is no longer needed publishes what it has and ends, and its work file is
 * removed. */
static void
test_an_earlier_scribe_ends (void)
{
  for (gint left = 0; left < 2; left++)
    {
      Driver *driver = begin_driver (TRUE);

      (void)open_next (driver);
      scribes[0].config.copy = driver->config.folder;
      g_assert_true (has_work_file (0));
      driver->part = left ? PART_LEFT : driver->part;
      if (left)
        {
          keeper_retire (driver);
          keeper_close (driver); /* waits for the scribe */
        }
      else
        retire (driver);
      g_assert_cmpuint (scribes[0].finished, ==, 1);
      g_assert_cmpuint (scribes[0].freed, ==, 1);
      g_assert_false (has_work_file (0));
      end_driver (driver);
    }
}

/* While this node's first scribe was still opening, another node was elected, and then this one
 * again. */
static void
test_a_scribe_that_comes_too_late_is_not_used (void)
{
  Driver *driver = begin_driver (TRUE);

  keeper_open (driver, &(NodeEffect){ .number = 3 });
  keeper_retire (driver);
  keeper_open (driver, &(NodeEffect){ .number = 3 });
  run_posted ();
  run_posted ();
  g_assert_nonnull (driver->scribe);
  g_assert_true (driver->scribe->config.data == driver->term);
  g_assert_cmpuint (driver->scribe->freed, ==, 0);
  g_assert_cmpuint (driver->openings, ==, 0);
  const Scribe *other = &scribes[driver->scribe == &scribes[0]];
  while (g_atomic_int_get ((const gint *)&other->freed) == 0)
    g_thread_yield (); /* until it is freed it has the lock of the file */
  g_assert_cmpuint (other->finished, ==, 1);
  g_assert_true (driver->scribe->config.goes_on);
  g_assert_false (other->config.goes_on); /* it was the first, however late it opened */
  end_driver (driver);
}

static void
test_a_scribe_that_cannot_be_had_is_told (void)
{
  Driver *driver = begin_driver (FALSE);

  fails = TRUE;
  (void)open_next (driver);
  g_assert_cmpuint (steps->len, ==, 1);
  g_assert_cmpint (g_array_index (steps, NodeEvent, 0).kind, ==, NODE_EVENT_OPENED);
  g_assert_true (g_array_index (steps, NodeEvent, 0).failed);
  end_driver (driver);
}

/* An event's age counts from its time, however late the scribe is told; each row and event has its
 * ticket. */
static void
test_what_happened_is_told_with_its_age_and_ticket (void)
{
  Driver *driver = begin_driver (TRUE);
  const Scribe *scribe = open_next (driver);
  NodeEffect effect = { .text = (char *)"left", .path = (char *)"", .number = 9 };

  effect.at_us = (guint64)g_get_monotonic_time ();
  keeper_event (driver, &effect);
  g_assert_cmpuint (scribe->ticket, ==, 9);
  gint64 age_us = scribe->age_us;
  effect.at_us -= G_USEC_PER_SEC;
  effect.number = 10;
  keeper_event (driver, &effect);
  g_assert_cmpuint (scribe->ticket, ==, 10);
  g_assert_cmpint (scribe->age_us, >=, age_us + G_USEC_PER_SEC);
  keeper_save (driver, g_ptr_array_new (), 11);
  g_assert_cmpuint (scribe->ticket, ==, 11);
  end_driver (driver);
}

static void
assert_said (const char *expected)
{
  g_assert_cmpstr (said->str, ==, expected);
  g_string_truncate (said, 0);
}

/* What a ticket acknowledges has been given before it, since the scribe may take both apart; and
 * all is given as it was said. */
static void
test_a_scribe_is_given_what_was_said (void)
{
  Driver *driver = begin_driver (FALSE);
  NodeEffect effect = { .text = (char *)"requeued",
                        .text2 = (char *)"why",
                        .path = (char *)"/7",
                        .node = { .number = 8 },
                        .work_us = 6,
                        .number = 9 };
  GPtrArray *rows = g_ptr_array_new ();
  g_autoptr (GBytes) answer = g_bytes_new_static ("42", 2);

  (void)open_next (driver);
  assert_said ("joined 1 host site address; joined 2 host site address; constant const/a ay 1; "
               "event elected 1 coordinator in term 4; load all; ");
  g_ptr_array_set_size (rows, 2);
  keeper_save (driver, rows, 5);
  assert_said ("save 2; ticket 5; ");
  keeper_event (driver, &effect);
  assert_said ("told requeued 8 /7 6 why; ticket 9; ");
  keeper_salvage (driver, "/3");
  assert_said ("load /3; ");
  known_constant.type = &types[3];
  keeper_constant (driver, "const/known", answer);
  assert_said ("constant const/known type-3 42; ");
  keeper_constant (driver, "input/known", answer);
  assert_said ("constant input/known ay 42; ");
  keeper_answer (driver, answer, 3);
  assert_said ("answer 42 3; ");
  keeper_final (driver);
  assert_said ("present 1; present 2; finish; ");
  end_driver (driver);
}

/* Jobs are named with the types of their results and arguments. */
static void
test_jobs_have_their_types (void)
{
  static const SatinJob one = { .name = "one", .result = &types[0], .args = &types[1] },
                        two = { .name = "two", .result = &types[2], .args = &types[3] };
  static const SatinJob *const jobs[] = { &one, &two, NULL };
  Driver *driver = begin_driver (TRUE);

  driver->config.jobs = jobs;
  keeper_open (driver, &(NodeEffect){ .number = 3, .whole = TRUE });
  g_autofree Posted *opened = g_async_queue_timeout_pop (posted, WAIT_US);
  const ScribeConfig *config = &scribes[0].config;
  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *result = g_strdup_printf ("type-%u", 2 * i);
      g_autofree char *args = g_strdup_printf ("type-%u", 2 * i + 1);
      g_assert_cmpstr (config->job_names[i], ==, jobs[i]->name);
      g_assert_cmpstr (config->job_types[i], ==, result);
      g_assert_cmpstr (config->job_args[i], ==, args);
    }
  g_assert_null (config->job_names[2]);
  (void)opened->function (opened->data);
  end_driver (driver);
}

static void
test_a_bid_says_what_it_found (void)
{
  for (gint turn = 0; turn < 3; turn++)
    {
      Driver *driver = begin_driver (TRUE);

      fails = turn == 1;
      bid_us = turn == 2 ? 0 : 10;
      keeper_bid (driver);
      run_posted ();
      g_assert_cmpuint (steps->len, ==, 1);
      const NodeEvent *event = &g_array_index (steps, NodeEvent, 0);
      g_assert_cmpint (event->kind, ==, NODE_EVENT_BID);
      g_assert_cmpint (event->failed, ==, fails);
      g_assert_cmpuint (event->number, ==, 42);
      g_assert_cmpuint (event->work_us, ==,
                        turn == 2 ? 1 : 10); /* 0 would mean that there is no bid */
      end_driver (driver);
      g_assert_cmpuint (g_async_queue_length (posted), ==, 0);
    }
}

int
main (int argc, char **argv)
{
  alarm (30); /* if something that a test waits for does not happen */
  g_test_init (&argc, &argv, NULL);
#define TEST(name, function) g_test_add_func ("/keeper/" name, function)
  TEST ("only-the-present-scribe-counts", test_only_the_present_scribe_counts);
  TEST ("all-rows-come", test_all_rows_come);
  TEST ("a-new-scribe-is-told-all", test_a_new_scribe_is_told_all);
  TEST ("an-earlier-scribe-ends", test_an_earlier_scribe_ends);
  TEST ("a-scribe-that-comes-too-late-is-not-used", test_a_scribe_that_comes_too_late_is_not_used);
  TEST ("a-scribe-that-cannot-be-had-is-told", test_a_scribe_that_cannot_be_had_is_told);
  TEST ("what-happened-is-told-with-its-age-and-ticket",
        test_what_happened_is_told_with_its_age_and_ticket);
  TEST ("a-scribe-is-given-what-was-said", test_a_scribe_is_given_what_was_said);
  TEST ("jobs-have-their-types", test_jobs_have_their_types);
  TEST ("a-bid-says-what-it-found", test_a_bid_says_what_it_found);
  return g_test_run ();
}
