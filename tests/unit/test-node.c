/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs between Nodes: lent, lost, adopted, aborted. */
#include "node-world.h"

#include "satin/protocol/work/steal.h"

/* T0-4. */
static void
test_a_stolen_job_returns_and_nothing_is_left (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  start (world);
  guint64 loan = offer (world, 0, "/0");

  hunger (world, 1);
  g_assert_true (said (world, 1, "RUN /0"));
  g_assert_cmpuint (stats_of (world, 0).lent, ==, loan);
  finish (world, 1, "/0");

  g_assert_true (said (world, 0, "PUT 1"));
  g_assert_cmpuint (stats_of (world, 0).lent, ==, 0);
  g_assert_cmpuint (stats_of (world, 1).held, ==, 0);
}

static void
test_constants_come_before_work (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  g_autoptr (GBytes) value = g_bytes_new ("scene", 5);

  (void)offer (world, 0, "/0");
  hunger (world, 1);
  g_assert_false (said (world, 1, "RUN /0"));
  tell (world, 0,
        &(NodeEvent){ .kind = NODE_EVENT_CONSTANT, .text = "const/scene", .bytes = value });
  start (world);
  hunger (world, 1);

  g_assert_cmpstr (world->peer[1].log->str, ==, "JOINED\nCONSTANT const/scene\nSTART\nRUN /0\n");
}

/* T0-10. */
static void
test_a_result_lost_with_its_link_is_sent_again (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  start (world);
  (void)offer (world, 0, "/0");
  hunger (world, 1);
  g_autoptr (GBytes) value = g_bytes_new ("42", 2);
  step (world, 1,
        &(NodeEvent){ .kind = NODE_EVENT_DONE, .held = held_of (world, 1, "/0"), .bytes = value });
  Post *lost = g_queue_pop_tail (world->posts);
  g_bytes_unref (lost->bytes);
  g_free (lost);

  cut (world, 0, 1);
  pass (world, 1000000);

  g_assert_true (said (world, 0, "PUT 1"));
  g_assert_cmpuint (stats_of (world, 1).held, ==, 0);
  g_assert_cmpuint (members_of (world, 0), ==, 2);
}

static void
test_a_job_lost_with_its_link_comes_by_the_next (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  start (world);
  (void)offer (world, 0, "/0");
  step (world, 1, &(NodeEvent){ .kind = NODE_EVENT_IDLE, .count = 1 });
  Post *request = g_queue_pop_head (world->posts);
  step (world, 0,
        &(NodeEvent){ .kind = NODE_EVENT_MESSAGE, .link = request->link, .bytes = request->bytes });
  g_bytes_unref (request->bytes);
  g_free (request);
  Post *lost = g_queue_pop_tail (world->posts); /* the reply with the job */
  g_bytes_unref (lost->bytes);
  g_free (lost);

  cut (world, 0, 1);
  pass (world, 1000000);

  g_assert_true (said (world, 1, "RUN /0"));
  g_assert_false (said (world, 0, "BACK 1"));
  g_assert_cmpuint (stats_of (world, 0).lent, ==, 1);
}

/* T0-9, T0-11, T4-7. */
static void
test_what_a_dead_thief_held_comes_back (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  start (world);
  (void)offer (world, 0, "/0");
  hunger (world, 1);

  die (world, 1);
  pass (world, 1000000);

  g_assert_true (said (world, 0, "BACK 1"));
  g_assert_cmpuint (members_of (world, 0), ==, 1);
  g_assert_cmpuint (stats_of (world, 0).jobs_lost, ==, 1);
}

/* The messages of a dead node are still read: the end of the run may be among them. */
static void
test_the_dead_are_heard_out (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  start (world);
  world->peer[0].alive = FALSE;
  cut (world, 0, 2);
  pass (world, 1000000); /* n2 has confirmed the death, and n1, whose link is up, is told */
  g_assert_cmpuint (members_of (world, 1), ==, 3);
  cut (world, 0, 1);
  pass (world, 1000000);
  g_assert_true (said (world, 1, "MASTER"));
  g_assert_cmpuint (members_of (world, 1), ==, 2);
}

/* T1-2. */
static void
test_an_orphan_is_adopted_while_it_runs (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  start (world);
  (void)offer (world, 0, "/0");
  hunger (world, 2);
  forget_log (world);

  die (world, 0);
  pass (world, 1000000);
  g_assert_true (said (world, 1, "MASTER"));
  g_assert_true (said (world, 1, "KNOWN /0"));
  g_assert_true (said (world, 2, "KNOWN /0"));
  adopt (world, 1, "/0", 9, 2);
  finish (world, 2, "/0");

  g_assert_true (said (world, 1, "PUT 9"));
  g_assert_cmpuint (stats_of (world, 2).held, ==, 0);
  g_assert_cmpuint (stats_of (world, 1).known, ==, 0);
}

static void
test_an_adopted_slot_comes_back_when_its_holder_dies (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  start (world);
  (void)offer (world, 0, "/0");
  hunger (world, 2);
  die (world, 0);
  pass (world, 1000000);
  adopt (world, 1, "/0", 9, 2);
  forget_log (world);

  die (world, 2);
  pass (world, 1000000);

  g_assert_cmpstr (world->peer[1].log->str, ==, "FORGET *\nBACK 9\n");
}

static void
test_an_own_orphan_is_adopted_by_its_own_holder (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  start (world);
  (void)offer (world, 0, "/0");
  hunger (world, 1);
  die (world, 0);
  pass (world, 1000000);
  forget_log (world);

  adopt (world, 1, "/0", 4, 1);
  finish (world, 1, "/0");

  g_assert_true (said (world, 1, "PUT 4"));
  g_assert_cmpuint (stats_of (world, 1).held, ==, 0);
}

static void
test_a_miss_forgets_before_it_comes_back (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  start (world);
  forget_log (world);

  adopt (world, 0, "/7", 5, 1);
  g_assert_cmpstr (world->peer[0].log->str, ==, "FORGET /7\nBACK 5\n");
  forget_log (world);
  adopt (world, 0, "/7", 6, 0);

  g_assert_cmpstr (world->peer[0].log->str, ==, "FORGET /7\nBACK 6\n");
}

/* The holder of an orphan that was returned unrun is not asked for it again. */
static void
test_an_orphan_that_is_returned_is_forgotten (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  start (world);
  (void)offer (world, 0, "/0");
  hunger (world, 2);
  die (world, 0);
  pass (world, 1000000);
  adopt (world, 1, "/0", 9, 2);
  forget_log (world);

  /* The report that it no longer holds the job may take another route and arrive later. */
  deliver (world, link_between (world, 1, 2), 1,
           &(Message){ .kind = MESSAGE_RETURNED, .number = 9 });
  g_assert_cmpstr (world->peer[1].log->str, ==, "FORGET /0\nBACK 9\n");
}

static void
test_what_is_covered_is_dropped (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  start (world);
  (void)offer (world, 0, "/0/1");
  hunger (world, 2);
  die (world, 0);
  pass (world, 1000000);
  forget_log (world);

  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_COVERED, .path = "/0" });
  g_assert_true (said (world, 2, "UNRUN"));
  g_assert_true (said (world, 1, "FORGET /0/1"));
  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_UNRUN, .held = held_of (world, 2, "/0/1") });

  g_assert_cmpuint (stats_of (world, 2).held, ==, 0);
}

static void
stopped (World *world, guint who, const char *path)
{
  guint64 held = held_of (world, who, path);

  g_hash_table_remove (world->peer[who].running, &held);
  tell (world, who, &(NodeEvent){ .kind = NODE_EVENT_UNRUN, .held = held });
}

static void
test_an_abort_stops_a_loan_and_what_it_lent (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  start (world);
  guint64 loan = offer (world, 0, "/0");
  hunger (world, 1);
  guint64 further = offer (world, 1, "/0/2");
  hunger (world, 2);

  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_ABORTED, .loan = loan });
  g_assert_true (said (world, 1, "UNRUN"));
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_ABORTED, .loan = further });
  g_assert_true (said (world, 2, "UNRUN"));
  stopped (world, 2, "/0/2");
  stopped (world, 1, "/0");

  for (guint i = 1; i < 3; i++)
    g_assert_cmpuint (stats_of (world, i).held, ==, 0);
  for (guint i = 0; i < 2; i++)
    {
      g_assert_cmpuint (stats_of (world, i).lent, ==, 0);
      g_assert_false (said (world, i, "PUT 1"));
      g_assert_false (said (world, i, "BACK 1"));
    }
}

/* T4-4. */
static void
test_a_late_result_of_an_aborted_job_is_dropped (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  start (world);
  guint64 loan = offer (world, 0, "/0");
  hunger (world, 1);

  step (world, 0, &(NodeEvent){ .kind = NODE_EVENT_ABORTED, .loan = loan });
  finish (world, 1, "/0"); /* before it has learned of the abort */

  g_assert_false (said (world, 0, "PUT 1"));
  g_assert_cmpuint (stats_of (world, 0).lent, ==, 0);
  g_assert_cmpuint (stats_of (world, 1).held, ==, 0);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_ABORTED, .loan = loan }); /* reported twice */
}

static void
test_an_abort_lost_with_its_link_is_made_good (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  start (world);
  guint64 loan = offer (world, 0, "/0");
  hunger (world, 1);

  step (world, 0, &(NodeEvent){ .kind = NODE_EVENT_ABORTED, .loan = loan });
  while (!g_queue_is_empty (world->posts)) /* the messages in transit are lost */
    {
      Post *lost = g_queue_pop_head (world->posts);
      g_clear_pointer (&lost->bytes, g_bytes_unref);
      g_free (lost);
    }
  cut (world, 0, 1);
  pass (world, 2 * G_USEC_PER_SEC);

  g_assert_true (said (world, 1, "UNRUN"));
  stopped (world, 1, "/0");
  g_assert_cmpuint (stats_of (world, 1).held, ==, 0);
}

static void
test_an_aborted_slot_lets_its_orphan_go (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  start (world);
  (void)offer (world, 0, "/0/1");
  hunger (world, 2);
  die (world, 0);
  pass (world, 1000000);
  adopt (world, 1, "/0/1", 9, 2);

  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_ABORTED, .loan = 9 });
  g_assert_true (said (world, 2, "UNRUN"));
  stopped (world, 2, "/0/1");

  g_assert_cmpuint (stats_of (world, 2).held, ==, 0);
  g_assert_cmpuint (stats_of (world, 1).lent, ==, 0);
  g_assert_true (said (world, 1, "FORGET /0/1"));
}

static void
test_a_job_with_a_live_lender_is_not_covered (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  start (world);
  (void)offer (world, 0, "/0/1");
  hunger (world, 1);

  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_COVERED, .path = "/0" });
  finish (world, 1, "/0/1");

  g_assert_true (said (world, 0, "PUT 1"));
}

static void
test_a_job_returned_unrun_is_ready_again (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  start (world);
  (void)offer (world, 0, "/0");
  hunger (world, 1);

  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_UNRUN, .held = held_of (world, 1, "/0") });

  g_assert_true (said (world, 0, "BACK 1"));
  g_assert_cmpuint (stats_of (world, 1).held, ==, 0);
}

static void
test_a_refused_thief_is_told (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  start (world);
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_IDLE, .count = 1 });
  pass (world, 20000000); /* by now the pauses are long */
  g_assert_true (said (world, 0, "REQUEST"));
  g_assert_cmpuint (g_hash_table_size (world->peer[1].running), ==, 0);

  (void)offer (world, 0, "/0");
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_SHARED });

  g_assert_true (said (world, 1, "RUN /0")); /* at once */
}

/* An engine without a running job has nothing to look for. */
static void
test_an_idle_engine_is_not_asked_again (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  start (world);
  for (guint i = 1; i < 3; i++)
    tell (world, i, &(NodeEvent){ .kind = NODE_EVENT_IDLE, .count = 1 });
  pass (world, 60 * G_USEC_PER_SEC); /* they have refused each other and ask at most every 3 s */

  g_assert_cmpuint (world->peer[1].owes, <, 60);
  g_assert_cmpuint (world->peer[0].owes, >, 200);
}

/* Node `from` has 200 jobs of `us` microseconds each, which `to` takes and finishes; after that no
 * node is idle. */
static void
finish_many (World *world, guint from, guint to, guint64 us)
{
  for (guint i = 0; i < 200; i++)
    {
      g_autofree char *path = g_strdup_printf ("/%u", i);
      (void)offer (world, from, path);
    }
  tell (world, to, &(NodeEvent){ .kind = NODE_EVENT_IDLE, .count = 1 });
  for (guint i = 0; i < 200; i++)
    {
      g_autofree char *path = g_strdup_printf ("/%u", i);
      world->now_us += us;
      finish (world, to, path);
      if (g_hash_table_size (world->peer[to].running) == (to == 0) && i < 199) /* n0 has the root */
        tell (world, to, &(NodeEvent){ .kind = NODE_EVENT_IDLE, .count = 1 });
    }
}

static void
test_many_short_jobs_come_together (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  start (world);
  finish_many (world, 0, 1, 0);
  g_assert_cmpuint (world->peer[1].steals, <, 20);
  g_assert_cmpuint (world->peer[0].jobs->len, ==, 0);

  (void)offer (world, 0, "/200"); /* not in advance: the jobs are done at once */
  pass (world, 2 * G_USEC_PER_SEC);
  g_assert_false (said (world, 1, "RUN /200"));
}

/* Otherwise the job would go back and be fetched again in turns, and never begin. */
static void
test_who_fetched_what_another_wants_asks_for_less (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  guint steals;

  start (world);
  finish_many (world, 0, 1, STEAL_BRIEF_US);
  guint64 mine = offer (world, 0, "/200");
  pass (world, 2 * G_USEC_PER_SEC);
  g_assert_true (said (world, 1, "RUN /200")); /* in advance: the node is not idle */

  forget_log (world);
  has_not_begun (world, 1, "/200");
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_IDLE, .count = 1 });
  pass (world, 1000);
  g_autofree char *back = g_strdup_printf ("BACK %d", (int)mine);
  g_assert_true (said (world, 0, back));
  steals = world->peer[1].steals;
  (void)offer (world, 0, "/200");
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_SHARED });
  pass (world, 2 * G_USEC_PER_SEC);
  g_assert_cmpuint (world->peer[1].steals, ==, steals);
}

static void
test_long_jobs_come_one_by_one (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  const char *const paths[] = { "/0", "/1", "/2", "/3" };
  start (world);
  for (guint i = 0; i < G_N_ELEMENTS (paths); i++)
    (void)offer (world, 0, paths[i]);

  for (guint i = 0; i < G_N_ELEMENTS (paths); i++)
    {
      tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_IDLE, .count = 1 });
      g_assert_cmpuint (g_hash_table_size (world->peer[1].running), ==, 1);
      pass (world, 1000000);
      finish (world, 1, paths[i]);
    }

  g_assert_cmpuint (world->peer[1].steals, ==, 4);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define TEST(name, function) g_test_add_func ("/node/" name, function)
  TEST ("a-stolen-job-returns-and-nothing-is-left", test_a_stolen_job_returns_and_nothing_is_left);
  TEST ("constants-come-before-work", test_constants_come_before_work);
  TEST ("a-result-lost-with-its-link-is-sent-again",
        test_a_result_lost_with_its_link_is_sent_again);
  TEST ("a-job-lost-with-its-link-comes-by-the-next",
        test_a_job_lost_with_its_link_comes_by_the_next);
  TEST ("what-a-dead-thief-held-comes-back", test_what_a_dead_thief_held_comes_back);
  TEST ("the-dead-are-heard-out", test_the_dead_are_heard_out);
  TEST ("an-orphan-is-adopted-while-it-runs", test_an_orphan_is_adopted_while_it_runs);
  TEST ("an-adopted-slot-comes-back-when-its-holder-dies",
        test_an_adopted_slot_comes_back_when_its_holder_dies);
  TEST ("an-own-orphan-is-adopted-by-its-own-holder",
        test_an_own_orphan_is_adopted_by_its_own_holder);
  TEST ("a-miss-forgets-before-it-comes-back", test_a_miss_forgets_before_it_comes_back);
  TEST ("an-orphan-that-is-returned-is-forgotten", test_an_orphan_that_is_returned_is_forgotten);
  TEST ("what-is-covered-is-dropped", test_what_is_covered_is_dropped);
  TEST ("an-abort-stops-a-loan-and-what-it-lent", test_an_abort_stops_a_loan_and_what_it_lent);
  TEST ("a-late-result-of-an-aborted-job-is-dropped",
        test_a_late_result_of_an_aborted_job_is_dropped);
  TEST ("an-abort-lost-with-its-link-is-made-good", test_an_abort_lost_with_its_link_is_made_good);
  TEST ("an-aborted-slot-lets-its-orphan-go", test_an_aborted_slot_lets_its_orphan_go);
  TEST ("a-job-with-a-live-lender-is-not-covered", test_a_job_with_a_live_lender_is_not_covered);
  TEST ("a-job-returned-unrun-is-ready-again", test_a_job_returned_unrun_is_ready_again);
  TEST ("a-refused-thief-is-told", test_a_refused_thief_is_told);
  TEST ("an-idle-engine-is-not-asked-again", test_an_idle_engine_is_not_asked_again);
  TEST ("many-short-jobs-come-together", test_many_short_jobs_come_together);
  TEST ("who-fetched-what-another-wants-asks-for-less",
        test_who_fetched_what_another_wants_asks_for_less);
  TEST ("long-jobs-come-one-by-one", test_long_jobs_come_one_by_one);
  return g_test_run ();
}
