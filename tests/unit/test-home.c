/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs that nobody has begun, lent on and on until they come back where they came from. */
#include "node-world.h"

/* Out of its inbox. */
static void
pass_on (World *world, guint who, guint64 held)
{
  (void)offer (world, who, "/0");
  ((Loan *)world->peer[who].jobs->pdata[0])->held = held;
}

/* n0 lends a job to n1, which passes it on to n2, and so on; the last one gives it to n0. */
static World *
lend_round (guint n)
{
  World *world = world_new (n, FALSE);

  start (world);
  (void)offer (world, 0, "/0");
  for (guint i = 1; i < n; i++)
    {
      hunger (world, i);
      pass_on (world, i, 1);
    }
  forget_log (world);
  return world;
}

static void
test_a_job_that_meets_its_own_slot_is_ready_there (void)
{
  g_autoptr (World) world = lend_round (2);

  hunger (world, 0);
  g_assert_true (said (world, 0, "BACK 1"));
  g_assert_false (said (world, 0, "RUN /0"));
  g_assert_true (said (world, 1, "UNRUN"));
  g_assert_false (said (world, 1, "BACK 1"));
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_ABORTED, .loan = 1 });
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_UNRUN, .held = 1 });
  g_assert_cmpuint (stats_of (world, 0).lent + stats_of (world, 1).lent, ==, 0);
}

/* n1 has it twice: first from n0, and lent to n2; then from n3, and lent to n0. */
static World *
lend_twice_round (void)
{
  World *world = lend_round (4);

  hunger (world, 1);
  g_assert_true (said (world, 1, "RUN /0"));
  pass_on (world, 1, 2);
  forget_log (world);
  hunger (world, 0);
  g_assert_true (said (world, 0, "BACK 1"));
  return world;
}

/* The engine lets go of what it was told to. */
static void
let_go (World *world, guint who, guint64 loan, guint64 held)
{
  g_assert_true (said (world, who, "UNRUN"));
  tell (world, who, &(NodeEvent){ .kind = NODE_EVENT_ABORTED, .loan = loan });
  tell (world, who, &(NodeEvent){ .kind = NODE_EVENT_UNRUN, .held = held });
}

static void
nothing_is_left (World *world)
{
  for (guint i = 1; i < 4; i++)
    {
      g_assert_cmpuint (stats_of (world, i).lent + stats_of (world, i).held, ==, 0);
      g_assert_false (said (world, i, "BACK 1") || said (world, i, "BACK 2"));
    }
}

/* Else one of them would run what it is to forget a moment later. */
static void
test_who_passed_on_what_came_home_does_not_run_it (void)
{
  g_autoptr (World) world = lend_twice_round ();

  let_go (world, 1, 1, 1); /* the VAIN of n0 goes round */
  let_go (world, 2, 1, 1);
  let_go (world, 3, 1, 1);
  let_go (world, 1, 2, 2);
  nothing_is_left (world);
}

static void
test_it_goes_back_the_way_that_it_came (void)
{
  g_autoptr (World) world = lend_twice_round ();

  let_go (world, 1, 2, 2); /* what n0 gave back goes to n3, and so on */
  let_go (world, 3, 1, 1);
  let_go (world, 2, 1, 1);
  let_go (world, 1, 1, 1);
  nothing_is_left (world);
}

/* It was another of the same path, which n1 needs itself. */
static void
test_what_was_not_passed_on_is_ready_at_once (void)
{
  g_autoptr (World) world = world_new (2, FALSE);

  start (world);
  (void)offer (world, 0, "/0");
  hunger (world, 1);
  (void)offer (world, 1, "/0");
  hunger (world, 0);
  g_assert_true (said (world, 0, "BACK 1"));
  g_assert_true (said (world, 1, "UNRUN")); /* what it has of n0 */
  g_assert_true (said (world, 1, "BACK 1"));
}

/* n0 lends it again before n1 has heard that it came home. */
static void
test_it_may_be_lent_again_before_that_is_heard (void)
{
  g_autoptr (World) world = lend_round (2);

  step (world, 0, &(NodeEvent){ .kind = NODE_EVENT_HUNGRY, .count = 1 });
  world->peer[0].late = TRUE;
  pump (world);
  world->peer[1].late = TRUE;
  world->peer[0].late = FALSE;
  pump (world);
  g_assert_true (said (world, 0, "BACK 1"));
  (void)offer (world, 0, "/0");
  deliver (world, 1, 0, &(Message){ .kind = MESSAGE_STEAL, .number = 99, .count = 1 });
  g_queue_push_head (world->posts, g_queue_pop_tail (world->posts)); /* by another link */
  world->peer[1].late = FALSE;
  pump (world);
  g_assert_true (said (world, 1, "RUN /0")); /* for the second loan, not for the first: */
  g_assert_false (said (world, 1, "BACK 1"));
  let_go (world, 1, 1, 1);
  g_assert_false (said (world, 0, "BACK 2"));
  g_assert_cmpuint (stats_of (world, 0).lent, ==, 1);
}

static void
finish_held (World *world, guint who, guint64 held)
{
  g_autoptr (GBytes) value = g_bytes_new ("42", 2);

  tell (world, who, &(NodeEvent){ .kind = NODE_EVENT_DONE, .held = held, .bytes = value });
}

/* From n3 to n1, n2, n3, n1 and n2, which runs it when n3 dies: its first slot comes back, and asks
 * n1, which has two orphans of it. */
static void
test_who_asks_gets_what_was_lent_on_last (void)
{
  static const struct
  {
    guint thief;
    guint64 held; /* what it has got */
  } ways[] = { { 1, 1 }, { 2, 1 }, { 3, 1 }, { 1, 2 } };
  g_autoptr (World) world = world_new (4, FALSE);

  start (world);
  (void)offer (world, 3, "/0");
  for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
    {
      hunger (world, ways[i].thief);
      pass_on (world, ways[i].thief, ways[i].held);
    }
  hunger (world, 2);
  die (world, 3);
  pass (world, 2000000);
  g_assert_true (said (world, 2, "BACK 1"));
  pass_on (world, 2, 1);
  hunger (world, 1);
  g_assert_cmpuint (stats_of (world, 1).orphans_adopted, ==, 1);
  finish_held (world, 2, 2);
  g_assert_true (said (world, 1, "PUT 2"));
  finish_held (world, 1, 2);
  g_assert_true (said (world, 2, "PUT 2"));
}

/* n0 lent it to n1, that one to n2, and n2 to n3, who is at work on it when n2 leaves. n1 would do
 * the same work again; n0, whose slot it is, asks n3 for it instead. */
static void
test_what_was_between_two_goes_home_when_the_last_one_runs_it (void)
{
  g_autoptr (World) world = lend_round (4);

  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_LEAVE });
  g_assert_true (said (world, 1, "KNOWN /0"));
  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_HALTED });
  g_assert_true (said (world, 2, "LEAVE"));
  let_go (world, 1, 1, 1);
  g_assert_false (said (world, 1, "BACK 1")); /* else its engine would ask, and then say VAIN */
  g_assert_true (said (world, 0, "BACK 1"));
  g_assert_cmpuint (stats_of (world, 1).lent + stats_of (world, 1).held, ==, 0);
  adopt (world, 0, "/0", 2, 3);
  finish (world, 3, "/0");
  g_assert_true (said (world, 0, "PUT 2"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define TEST(name, function) g_test_add_func ("/home/" name, function)
  TEST ("a-job-that-meets-its-own-slot-is-ready-there",
        test_a_job_that_meets_its_own_slot_is_ready_there);
  TEST ("who-passed-on-what-came-home-does-not-run-it",
        test_who_passed_on_what_came_home_does_not_run_it);
  TEST ("it-goes-back-the-way-that-it-came", test_it_goes_back_the_way_that_it_came);
  TEST ("what-was-not-passed-on-is-ready-at-once", test_what_was_not_passed_on_is_ready_at_once);
  TEST ("it-may-be-lent-again-before-that-is-heard",
        test_it_may_be_lent_again_before_that_is_heard);
  TEST ("who-asks-gets-what-was-lent-on-last", test_who_asks_gets_what_was_lent_on_last);
  TEST ("what-was-between-two-goes-home-when-the-last-one-runs-it",
        test_what_was_between_two_goes_home_when_the_last_one_runs_it);
  return g_test_run ();
}
