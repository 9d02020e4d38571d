/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans buddy (paper 002) and theft (paper 000): the keeper of each node in the ring, and messages
 * that wait for the keeper. */
#include "node-steps.h"

#include "satin/protocol/core.h"

#include <string.h>

static World *
world_of (guint n, gboolean theft)
{
  World *world = world_new (0, FALSE);

  world->ring = TRUE;
  world->theft = theft;
  for (guint i = 0; i < n; i++)
    add_peer (world, FALSE);
  pass (world, 10);
  for (guint i = 0; i < 3; i++)
    scan (world);
  for (guint i = 0; i < n; i++)
    g_assert_cmpint (node_at (world, i)->buddy.state, ==, BUDDY_FULL);
  return world;
}

static guint64
loan_of (World *world, guint who, const char *path)
{
  const LoanEntry *entry = g_hash_table_lookup (node_at (world, who)->loans.by_path, path);

  g_assert_nonnull (entry);
  return entry->loan;
}

static World *
ring_of (guint n)
{
  return world_of (n, FALSE);
}

static gboolean
keeps_for (World *world, guint keeper, guint ward)
{
  return node_id_equal (&node_at (world, ward)->buddy.id, &node_at (world, keeper)->self);
}

/* n1 has finished a job for n0; n2, its keeper, has not received the row. */
static void
finish_one (World *world)
{
  g_autoptr (GBytes) value = g_bytes_new ("42", 2);

  start (world);
  (void)offer (world, 0, "/3");
  hunger (world, 1);
  guint64 held = held_of (world, 1, "/3");
  g_hash_table_remove (world->peer[1].running, &held);
  step (world, 1,
        &(NodeEvent){ .kind = NODE_EVENT_DONE, .held = held, .bytes = value, .work_us = 5 });
}

/* T2-5: the keeper is the next live worker in the ring. */
static void
test_the_next_one_keeps (void)
{
  g_autoptr (World) world = ring_of (4);

  for (guint i = 0; i < 4; i++)
    g_assert_true (keeps_for (world, (i + 1) % 4, i));
}

/* T2-5, T2-6: if the keeper dies, the next node in the ring replaces it; the other keepers stay. */
static void
test_a_successor_takes_over (void)
{
  g_autoptr (World) world = ring_of (4);

  die (world, 2);
  pass (world, G_USEC_PER_SEC);
  g_assert_true (keeps_for (world, 3, 1));
  g_assert_true (keeps_for (world, 0, 3));
  g_assert_true (keeps_for (world, 1, 0));
  scan (world);
  scan (world);
  g_assert_cmpint (node_at (world, 1)->buddy.state, ==, BUDDY_FULL);
}

static void
test_a_newcomer_keeps_for_the_youngest (void)
{
  g_autoptr (World) world = ring_of (3);

  add_peer (world, FALSE);
  pass (world, 10);
  g_assert_true (keeps_for (world, 3, 2));
  g_assert_true (keeps_for (world, 0, 3));
  g_assert_true (keeps_for (world, 1, 0));
}

/* T0-5, T2-4. */
static void
test_a_result_waits_for_the_keeper (void)
{
  g_autoptr (World) world = ring_of (4);
  Digest digest = digest_of_string ("/3");

  finish_one (world);
  g_assert_false (said (world, 0, "PUT 1"));
  g_assert_cmpuint (node_at (world, 1)->holdback.waiting.length, ==, 1);
  g_assert_false (buddy_keeps (node_at (world, 2), &node_at (world, 1)->self, "/3", &digest));
  pump (world);
  g_assert_true (said (world, 0, "PUT 1"));
  g_assert_true (buddy_keeps (node_at (world, 2), &node_at (world, 1)->self, "/3", &digest));
  g_assert_cmpuint (stats_of (world, 1).waits, ==, 1);
  g_assert_cmpuint (stats_of (world, 1).expired, ==, 0);
}

/* T2-5: a sent result survives the death of both lender and holder. */
static void
test_it_survives_lender_and_holder (void)
{
  g_autoptr (World) world = ring_of (4);

  finish_one (world);
  pump (world);
  die (world, 0);
  die (world, 1);
  pass (world, 2 * G_USEC_PER_SEC);
  g_assert_true (said (world, 2, "KNOWN /3 finished"));
}

/* Figure 2 of the paper. Red is n1, the keeper of its rows is n2. Red runs /3 for Green, n0. Of the
 * children of /3, Blue, n3, has returned /3/0 (fA in the figure), Yellow, n4, runs /3/1, and /3/2
 * waits in Red's pool (D2). Red has finished /4 for Green, which has not received the result
 * (rF). */
static World *
figure_two (void)
{
  g_autoptr (World) world = ring_of (5);

  start (world);
  (void)offer (world, 0, "/3");
  hunger (world, 1);
  (void)offer (world, 0, "/4");
  hunger (world, 1);
  (void)offer (world, 1, "/3/0");
  hunger (world, 3);
  finish (world, 3, "/3/0");
  (void)offer (world, 1, "/3/1");
  hunger (world, 4);
  (void)offer (world, 1, "/3/2");
  world->peer[0].deaf = TRUE;
  finish (world, 1, "/4");
  return g_steal_pointer (&world);
}

/* T2-2: when a worker dies, its results and those of its thieves survive at its keeper or their
 * holders. Its victims take back the jobs that it had stolen, and its thieves offer the jobs that
 * they run. No node keeps its pool and its next task: they are spawned again when the victim's job
 * runs. */
static void
test_what_red_holds_survives_it (void)
{
  g_autoptr (World) world = figure_two ();
  g_autofree char *stolen = g_strdup_printf ("BACK %" G_GUINT64_FORMAT, loan_of (world, 0, "/3"));
  g_autofree char *owed = g_strdup_printf ("BACK %" G_GUINT64_FORMAT, loan_of (world, 0, "/4"));
  Digest finished = digest_of_string ("/4");

  g_assert_true (said (world, 1, "PUT 1"));
  g_assert_true (buddy_keeps (node_at (world, 2), &node_at (world, 1)->self, "/4", &finished));
  die (world, 1);
  pump (world);
  world->peer[0].deaf = FALSE;
  pass (world, 40 * G_USEC_PER_SEC);
  g_assert_true (said (world, 0, "KNOWN /4 finished"));
  g_assert_true (said (world, 0, "KNOWN /3/0 finished"));
  g_assert_true (said (world, 0, "KNOWN /3/1"));
  for (guint i = 0; i < world->n; i++)
    g_assert_true (i == 1 || strstr (world->peer[i].log->str, "/3/2") == NULL);
  g_assert_true (said (world, 0, stolen));
  g_assert_true (said (world, 0, owed));
}

/* T0-6: a complete scan does not drop the row of a result that is not acknowledged. */
static void
test_the_row_stays_until_the_lender_has_it (void)
{
  g_autoptr (World) world = ring_of (4);
  Digest digest = digest_of_string ("/3");

  finish_one (world);
  pump (world);
  node_at (world, 1)->buddy.rows = 10 * BUDDY_ROWS_MORE;
  pass (world, SCAN_US); /* no engine serves the scan, so n0 acknowledges no result */
  tell (world, 1,
        &(NodeEvent){ .kind = NODE_EVENT_SERVED, .number = node_at (world, 1)->saves.scans });
  pump (world);
  g_assert_cmpuint (node_at (world, 1)->buddy.rows, <, 10);
  g_assert_cmpuint (stats_of (world, 1).held, ==, 1);
  g_assert_true (buddy_keeps (node_at (world, 2), &node_at (world, 1)->self, "/3", &digest));
}

/* A keeper that does not answer delays a result by at most NODE_HOLDBACK_US. */
static void
test_after_a_second_it_goes (void)
{
  g_autoptr (World) world = ring_of (4);

  world->peer[2].alive = FALSE; /* n2 receives nothing, but its links stay up */
  finish_one (world);
  pass (world, NODE_HOLDBACK_US / 2);
  g_assert_false (said (world, 0, "PUT 1"));
  pass (world, NODE_HOLDBACK_US);
  g_assert_true (said (world, 0, "PUT 1"));
  g_assert_cmpuint (stats_of (world, 1).waits, ==, 1);
  g_assert_cmpuint (stats_of (world, 1).waited_us, >=, NODE_HOLDBACK_US);
  g_assert_cmpuint (stats_of (world, 1).expired, ==, 1);
}

/* A result does not wait for a dead keeper. */
static void
test_when_the_keeper_dies_it_goes (void)
{
  g_autoptr (World) world = ring_of (4);

  finish_one (world);
  die (world, 2);
  pump (world);
  g_assert_true (said (world, 0, "PUT 1"));
  g_assert_cmpuint (stats_of (world, 1).expired, ==, 0);
}

/* n2 runs a job for n0, which is its keeper, too: the result itself is the copy. */
static void
test_nothing_waits_for_the_lender (void)
{
  g_autoptr (World) world = ring_of (3);

  start (world);
  (void)offer (world, 0, "/3");
  hunger (world, 2);
  finish (world, 2, "/3");
  g_assert_true (said (world, 0, "PUT 1"));
  g_assert_cmpuint (stats_of (world, 2).waits, ==, 0);
}

/* Plan theft: n2 steals from n0, whose keepers are n3 and n1. */
static World *
theft_begun (void)
{
  g_autoptr (World) world = world_of (4, TRUE);

  start (world);
  (void)offer (world, 0, "/3");
  step (world, 2, &(NodeEvent){ .kind = NODE_EVENT_IDLE, .count = 1 });
  return g_steal_pointer (&world);
}

static guint
waiting (World *world, guint who)
{
  return node_at (world, who)->holdback.waiting.length;
}

/* Delivers single messages until node `who` holds one back. */
static void
until_held_back (World *world, guint who)
{
  while (waiting (world, who) == 0)
    g_assert_true (world->posts->length > 0 && pump_one (world, world->posts->head));
}

/* T0-1, T0-3: a forced checkpoint at the thief before STEAL, at the victim before JOBS. */
static void
test_thief_and_victim_ask_their_keepers (void)
{
  g_autoptr (World) world = theft_begun ();

  until_held_back (world, 2);
  g_assert_false (said (world, 2, "RUN /3"));
  until_held_back (world, 0);
  g_assert_false (said (world, 2, "RUN /3"));
  pump (world);
  g_assert_true (said (world, 2, "RUN /3"));
  g_assert_cmpuint (stats_of (world, 2).waits, >=, 1);
  g_assert_cmpuint (stats_of (world, 0).waits, ==, 1);
  g_assert_cmpuint (stats_of (world, 0).expired + stats_of (world, 2).expired, ==, 0);
}

/* A victim's keeper that does not answer delays a theft by at most NODE_HOLDBACK_US. */
static void
test_a_theft_waits_for_a_second (void)
{
  g_autoptr (World) world = theft_begun ();

  world->peer[1].deaf = TRUE;
  until_held_back (world, 0);
  pass (world, NODE_HOLDBACK_US / 2);
  g_assert_false (said (world, 2, "RUN /3"));
  pass (world, NODE_HOLDBACK_US);
  g_assert_true (said (world, 2, "RUN /3"));
  g_assert_cmpuint (stats_of (world, 0).expired, ==, 1);
}

/* The thief wants two jobs, and the victim has one: NONE, which ends the request, follows the job.
 * Before the job, an answer without jobs would be a refusal. */
static void
test_none_does_not_overtake_jobs (void)
{
  g_autoptr (World) world = world_of (4, TRUE);

  start (world);
  (void)offer (world, 0, "/3");
  step (world, 2, &(NodeEvent){ .kind = NODE_EVENT_IDLE, .count = 2 });
  until_held_back (world, 0);
  while (!said (world, 2, "RUN /3"))
    g_assert_true (world->posts->length > 0 && pump_one (world, world->posts->head));
  g_assert_false (node_id_set_has (node_at (world, 2)->steal.refused, &node_at (world, 0)->self));
}

/* A job that the victim drops while JOBS is held back is not sent. */
static void
test_a_forgotten_job_is_not_handed_out (void)
{
  g_autoptr (World) world = theft_begun ();

  until_held_back (world, 0);
  guint64 loan = loan_of (world, 0, "/3");
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_ABORTED, .loan = loan });
  pass (world, G_USEC_PER_SEC);
  g_assert_false (said (world, 2, "RUN /3"));
  g_assert_null (loans_find (node_at (world, 0), loan));
}

/* A thief that has begun to leave gets no job: the job goes back to the victim's engine. */
static void
test_a_leaving_thief_gets_nothing (void)
{
  g_autoptr (World) world = theft_begun ();
  g_autofree char *back = NULL;

  until_held_back (world, 0);
  guint64 loan = loan_of (world, 0, "/3");
  ((Member *)roster_find (node_at (world, 0), &node_at (world, 2)->self))->leaving = TRUE;
  pump (world);
  back = g_strdup_printf ("BACK %d", (int)loan);
  g_assert_true (said (world, 0, back));
  g_assert_false (said (world, 2, "RUN /3"));
}

/* If the thief dies, the loan ends and no message is held back for it. */
static void
test_a_dead_thief_gets_nothing (void)
{
  g_autoptr (World) world = theft_begun ();

  until_held_back (world, 0);
  guint64 loan = loan_of (world, 0, "/3");
  die (world, 2);
  pass (world, 2 * G_USEC_PER_SEC);
  g_assert_null (loans_find (node_at (world, 0), loan));
  g_assert_cmpuint (waiting (world, 0), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/holdback/the-next-one-keeps", test_the_next_one_keeps);
  g_test_add_func ("/holdback/a-successor-takes-over", test_a_successor_takes_over);
  g_test_add_func ("/holdback/a-newcomer-keeps-for-the-youngest",
                   test_a_newcomer_keeps_for_the_youngest);
  g_test_add_func ("/holdback/a-result-waits-for-the-keeper", test_a_result_waits_for_the_keeper);
  g_test_add_func ("/holdback/it-survives-lender-and-holder", test_it_survives_lender_and_holder);
  g_test_add_func ("/holdback/what-red-holds-survives-it", test_what_red_holds_survives_it);
  g_test_add_func ("/holdback/the-row-stays-until-the-lender-has-it",
                   test_the_row_stays_until_the_lender_has_it);
  g_test_add_func ("/holdback/after-a-second-it-goes", test_after_a_second_it_goes);
  g_test_add_func ("/holdback/when-the-keeper-dies-it-goes", test_when_the_keeper_dies_it_goes);
  g_test_add_func ("/holdback/nothing-waits-for-the-lender", test_nothing_waits_for_the_lender);
  g_test_add_func ("/holdback/thief-and-victim-ask-their-keepers",
                   test_thief_and_victim_ask_their_keepers);
  g_test_add_func ("/holdback/a-theft-waits-for-a-second", test_a_theft_waits_for_a_second);
  g_test_add_func ("/holdback/none-does-not-overtake-jobs", test_none_does_not_overtake_jobs);
  g_test_add_func ("/holdback/a-forgotten-job-is-not-handed-out",
                   test_a_forgotten_job_is_not_handed_out);
  g_test_add_func ("/holdback/a-leaving-thief-gets-nothing", test_a_leaving_thief_gets_nothing);
  g_test_add_func ("/holdback/a-dead-thief-gets-nothing", test_a_dead_thief_gets_nothing);
  return g_test_run ();
}
