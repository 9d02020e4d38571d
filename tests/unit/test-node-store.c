/* SPDX-License-Identifier: BSD-3-Clause */
/* What Nodes do for the checkpoint: rows and kept states, scans, and the choice of the
 * coordinator. */
#include "node-world.h"

#include "satin/protocol/control/round.h"
#include "satin/protocol/control/saves.h"
#include "satin/protocol/messages/message.h"

static void
test_with_a_checkpoint_the_root_waits_and_the_end_is_published (void)
{
  g_autoptr (World) world = world_new (1, TRUE);

  start (world);
  g_assert_false (said (world, 0, "RUN "));
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  finish (world, 0, "");
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_FINISH });
  g_assert_true (said (world, 0, "SAVE "));
  g_assert_true (said (world, 0, "FINAL"));
  g_assert_false (said (world, 0, "END"));
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED, .number = 1, .final = TRUE });

  g_assert_cmpuint (world->peer[0].ended, ==, 0);
}

static guint
count_scans (World *world, guint64 us)
{
  guint n = 0;

  g_string_truncate (world->peer[0].log, 0);
  pass (world, us);
  for (const char *at = world->peer[0].log->str; (at = strstr (at, "SCAN")) != NULL; at++)
    n++;
  return n;
}

static void
test_scans_that_take_long_are_made_less_often (void)
{
  g_autoptr (World) world = world_new (1, TRUE);

  start (world);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  g_assert_cmpuint (count_scans (world, 10 * G_USEC_PER_SEC), ==, 10);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_SERVED, .number = 10, .work_us = 10000 });
  g_assert_cmpuint (count_scans (world, 10000 * SAVES_REST - 1), ==, 0);
  g_assert_cmpuint (count_scans (world, 1), ==, 1);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_SERVED, .number = 11, .work_us = 100 });
  g_assert_cmpuint (count_scans (world, 5 * G_USEC_PER_SEC), ==, 5);
}

static void
test_rows_are_at_risk_until_they_are_published (void)
{
  g_autoptr (World) world = world_new (2, TRUE);
  Digest digest = digest_of_string ("/3");
  g_autoptr (GBytes) value = g_bytes_new ("7", 1);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);
  g_ptr_array_add (rows, row_new ("/3", 1, &digest, 0.1, 50, value));

  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_ROWS, .rows = rows, .risk_us = 50 });
  g_assert_cmpuint (stats_of (world, 1).unpublished_us, ==, 50);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED, .number = 1, .saved = 0 });
  g_assert_cmpuint (stats_of (world, 1).unpublished_us, ==, 50);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED, .number = 2, .saved = 9 });
  g_assert_cmpuint (stats_of (world, 1).unpublished_us, ==, 0);
}

/* T1-3a: the coordinator reads the rows of a node that left again, and offers them. */
static void
test_rows_go_to_the_coordinator_and_come_back_as_orphans (void)
{
  g_autoptr (World) world = world_new (2, TRUE);
  Digest digest = digest_of_string ("/3");
  g_autoptr (GBytes) value = g_bytes_new ("7", 1);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);
  g_ptr_array_add (rows, row_new ("/3", 1, &digest, 0.1, 50, value));

  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_RESTORED, .rows = rows });
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_ROWS, .rows = rows });
  g_assert_true (said (world, 0, "SAVE /3"));
  g_assert_true (said (world, 0, "KNOWN /3 finished"));
  for (guint64 loan = 5; loan < 7; loan++) /* a row serves as often as it is asked for */
    adopt (world, 1, "/3", loan, 0);
  g_assert_true (said (world, 1, "PUT 5") && said (world, 1, "PUT 6"));
}

static const char kept_name[] = "/3 as kept";

static void
say_kept (World *world, guint who, guint32 children)
{
  Digest digest = digest_of_string (kept_name);
  g_autoptr (GBytes) value = g_bytes_new ("state", 5);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);

  g_ptr_array_add (rows, row_new_kept ("/3", children, 1, &digest, 0, "ay", value));
  tell (world, who, &(NodeEvent){ .kind = NODE_EVENT_ROWS, .rows = rows });
}

/* The number of children for which the state stands that this node gets from node 0; 0: none. */
static guint32
recall (World *world, guint who, guint64 loan)
{
  guint32 children = 0;

  g_clear_pointer (&world->peer[who].put, g_bytes_unref);
  tell (world, who,
        &(NodeEvent){ .kind = NODE_EVENT_ADOPT,
                      .loan = loan,
                      .path = "/3",
                      .digest = digest_of_string (kept_name),
                      .node = node_self (world->peer[0].node) });
  if (world->peer[who].put == NULL)
    return 0;
  g_autoptr (GBytes) state = row_unpack_kept (world->peer[who].put, &children);
  g_assert_nonnull (state);
  return children;
}

static void
test_what_was_kept_is_recalled_from_the_coordinator (void)
{
  g_autoptr (World) world = world_new (3, TRUE);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  start (world);
  (void)offer (world, 0, "/3");
  hunger (world, 2);

  say_kept (world, 1, 4);
  g_assert_true (said (world, 0, "SAVE /3"));
  g_assert_true (said (world, 2, "KNOWN /3 finished"));
  forget_log (world);
  say_kept (world, 1, 6);
  say_kept (world, 2, 5); /* another node runs the job, too, and is not as far */
  g_assert_true (said (world, 0, "SAVE /3"));
  g_assert_false (said (world, 2, "KNOWN /3 finished")); /* n2 knows who has the state */
  adopt (world, 2, "/3", 6, 0);                          /* the job itself, which no node holds */
  g_assert_true (said (world, 2, "FORGET /3") && said (world, 2, "BACK 6"));
  g_assert_true (said (world, 2, "KNOWN /3 finished")); /* the engine forgets offers by paths */

  g_assert_cmpuint (recall (world, 2, 7), ==, 6);
  g_assert_cmpuint (recall (world, 0, 8), ==, 6);
  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_COVERED, .path = "/3" });
  g_assert_true (said (world, 0, "FORGET /3"));
  g_assert_cmpuint (recall (world, 2, 9), ==, 0);
  g_assert_true (said (world, 2, "BACK 9"));
}

static void
test_a_job_and_what_it_kept_are_held_side_by_side (void)
{
  g_autoptr (World) world = world_new (3, TRUE);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  start (world);
  (void)offer (world, 2, "/3");
  hunger (world, 0);
  g_assert_true (said (world, 0, "RUN /3"));

  say_kept (world, 0, 4);
  die (world, 2); /* the coordinator runs an orphan now, and holds its kept state */
  pass (world, 1000000);
  g_assert_cmpuint (recall (world, 1, 70), ==, 4);
  adopt (world, 1, "/3", 71, 0);
  finish (world, 0, "/3");
  g_assert_true (said (world, 1, "PUT 71"));
  g_assert_cmpuint (recall (world, 1, 72), ==,
                    4); /* the job's offer is withdrawn, the state's is not */
}

/* The world's coordinator has opened and published once; node `fast` has the fast path to the
 * store. */
static World *
world_that_elects (guint n, guint fast)
{
  World *world = world_new (n, TRUE);

  for (guint i = 0; i < n; i++)
    {
      world->peer[i].commit_us = i == fast ? 100000 : 900000;
      world->peer[i].found = 1;
    }
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED, .number = 1 });
  start (world);
  return world;
}

static gboolean
is_coordinator (World *world, guint who, guint by)
{
  g_autoptr (GArray) members = node_members (world->peer[by].node);
  NodeId id = node_self (world->peer[who].node);

  for (guint i = 0; i < members->len; i++)
    {
      const NodeMember *member = &g_array_index (members, NodeMember, i);
      if (node_id_equal (&member->id, &id))
        return member->coordinator;
    }
  return FALSE;
}

static void
send_row (World *world, guint who)
{
  Digest digest = digest_of_string ("/3");
  g_autoptr (GBytes) value = g_bytes_new ("7", 1);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);

  g_ptr_array_add (rows, row_new ("/3", 1, &digest, 0.1, 50, value));
  tell (world, who, &(NodeEvent){ .kind = NODE_EVENT_ROWS, .rows = rows, .risk_us = 50 });
}

static void
test_the_fastest_bid_is_elected_and_gets_whole_frontiers (void)
{
  g_autoptr (World) world = world_that_elects (3, 1);

  send_row (world, 0);
  send_row (world, 2);
  g_assert_true (said (world, 0, "SAVE /3"));
  forget_log (world);
  pass (world, 3 * G_USEC_PER_SEC);
  g_assert_true (said (world, 1, "COORDINATOR") && said (world, 0, "RETIRE"));
  for (guint i = 0; i < 3; i++)
    g_assert_true (is_coordinator (world, 1, i) && world->peer[i].bids == 1);
  /* Rows wait until the new coordinator has taken over; messages of the earlier one no longer
   * count. */
  send_row (world, 2);
  g_assert_false (said (world, 1, "SAVE /3"));
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED, .number = 2, .saved = 9 });
  g_assert_cmpuint (stats_of (world, 2).unpublished_us, ==, 100);
  forget_log (world);
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_OPENED, .number = 2 });
  pass (world, G_USEC_PER_SEC);

  g_assert_true (said (world, 0, "SCAN whole") && said (world, 2, "SCAN whole"));
  send_row (world, 2);
  g_assert_true (said (world, 1, "SAVE /3"));
}

static void
test_a_bid_at_another_place_is_not_elected (void)
{
  g_autoptr (World) world = world_that_elects (3, 1);

  world->peer[1].found = 0;
  pass (world, 3 * G_USEC_PER_SEC);

  g_assert_cmpuint (world->peer[1].bids, ==, 1);
  g_assert_true (is_coordinator (world, 0, 2));
}

/* The last node has the rows, and no other node is left to write them. */
static void
test_the_last_one_bids_though_it_leaves (void)
{
  g_autoptr (World) world = world_that_elects (2, 1);
  guint bids;

  pass (world, 3 * G_USEC_PER_SEC);
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_OPENED, .number = 1 });
  g_assert_true (is_coordinator (world, 1, 0));
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_LEAVE });
  g_assert_true (said (world, 0, "HALT"));
  bids = world->peer[0].bids;
  die (world, 1);
  pass (world, 5 * G_USEC_PER_SEC);

  g_assert_cmpuint (world->peer[0].bids, >, bids);
  g_assert_true (is_coordinator (world, 0, 0));
}

static void
test_a_coordinator_that_dies_has_a_successor (void)
{
  g_autoptr (World) world = world_that_elects (3, 1);

  pass (world, 3 * G_USEC_PER_SEC);
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_OPENED, .number = 1 });
  world->peer[2].commit_us = 20000;
  die (world, 1);
  pass (world, G_USEC_PER_SEC);

  g_assert_true (said (world, 2, "COORDINATOR") && is_coordinator (world, 2, 0));
}

static void
test_a_bidder_that_is_silent_is_not_waited_for_long (void)
{
  g_autoptr (World) world = world_that_elects (3, 1);

  world->peer[2].deaf = TRUE;
  pass (world, 11 * G_USEC_PER_SEC);
  g_assert_true (is_coordinator (world, 0, 1));
  pass (world, 2 * G_USEC_PER_SEC);

  g_assert_true (is_coordinator (world, 1, 0));
}

static void
test_three_slow_commits_bring_an_election (void)
{
  g_autoptr (World) world = world_that_elects (3, 1);

  pass (world, 3 * G_USEC_PER_SEC);
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_OPENED, .number = 1 });
  world->peer[1].commit_us = 5 * G_USEC_PER_SEC;
  for (guint i = 0; i < 3; i++)
    tell (world, 1,
          &(NodeEvent){
              .kind = NODE_EVENT_PUBLISHED, .number = 2 + i, .work_us = 5 * G_USEC_PER_SEC });
  for (guint i = 0; i < 3; i++)
    world->peer[i].found = 4;
  pass (world, 30 * G_USEC_PER_SEC);
  g_assert_cmpuint (world->peer[2].bids, ==, 1); /* an election was a moment ago */
  pass (world, 40 * G_USEC_PER_SEC);

  g_assert_cmpuint (world->peer[2].bids, ==, 2);
  g_assert_true (is_coordinator (world, 0, 1));
}

/* T1-5: a coordinator whose disk fails counts as a slow one. */
static void
test_a_coordinator_that_fails_is_replaced (void)
{
  g_autoptr (World) world = world_that_elects (2, 9);

  pass (world, 3 * G_USEC_PER_SEC);
  world->peer[0].trouble = "disk full";
  for (guint i = 0; i < 3; i++)
    tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED, .failed = TRUE });
  pass (world, 70 * G_USEC_PER_SEC);

  g_assert_true (is_coordinator (world, 1, 0));
}

static void
test_a_node_that_reaches_the_store_serves_one_that_does_not (void)
{
  g_autoptr (World) world = world_new (3, TRUE);

  for (guint i = 0; i < 3; i++)
    world->peer[i].trouble = i == 2 ? NULL : "no route";
  world->peer[1].found = 9; /* that it has read something keeps nobody from writing */
  start (world);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED, .failed = TRUE, .text = "no route" });
  pass (world, 1000);
  g_assert_true (said (world, 2, "COORDINATOR"));
  g_assert_false (said (world, 0, "RUN "));
  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  g_assert_true (said (world, 0, "RUN "));
  finish (world, 0, "");
  g_autoptr (GBytes) answer = g_bytes_new ("42", 2);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_FINISH, .bytes = answer });
  g_assert_true (said (world, 2, "ANSWER") && said (world, 2, "FINAL"));
  g_assert_cmpuint (world->peer[0].ended, ==, 999);
  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED, .number = 1, .final = TRUE });

  for (guint i = 0; i < 3; i++)
    g_assert_cmpuint (world->peer[i].ended, ==, 0);
}

static void
test_a_start_without_anybody_who_can_write_ends_with_4 (void)
{
  g_autoptr (World) world = world_new (2, TRUE);

  world->peer[0].trouble = world->peer[1].trouble = "no route";
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED, .failed = TRUE, .text = "no route" });
  pass (world, 10 * G_USEC_PER_SEC);

  g_assert_cmpuint (world->peer[0].ended, ==, NODE_END_NO_STORE);
}

/* A node that has waited for a silent store does not wait for other nodes again. */
static void
test_a_start_ends_soon_after_a_long_silence (void)
{
  g_autoptr (World) world = world_new (2, TRUE);

  world->peer[0].trouble = world->peer[1].trouble = "no answer";
  pass (world, 8 * G_USEC_PER_SEC);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED, .failed = TRUE, .text = "no answer" });
  pass (world, G_USEC_PER_SEC);

  g_assert_cmpuint (world->peer[0].ended, ==, NODE_END_NO_STORE);
}

/* Later the run goes on without the store and gives its answer. */
static void
test_later_the_run_goes_on_without (void)
{
  g_autoptr (World) world = world_that_elects (2, 1);

  pass (world, 3 * G_USEC_PER_SEC);
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_OPENED, .number = 1 });
  world->peer[0].trouble = "no route";
  die (world, 1);
  pass (world, 20 * G_USEC_PER_SEC);
  g_assert_cmpuint (world->peer[0].ended, ==, 999);
  finish (world, 0, "");
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_FINISH });

  g_assert_cmpuint (world->peer[0].ended, ==, 0);
}

/* Only n0, the master, is left, and its bid takes long; main ends `done_us` after its beginning. */
static World *
world_with_a_slow_bid (guint64 done_us)
{
  World *world = world_that_elects (2, 1);

  pass (world, 3 * G_USEC_PER_SEC);
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_OPENED, .number = 1 });
  world->peer[0].slow = TRUE;
  g_string_truncate (world->peer[0].log, 0);
  die (world, 1);
  pass (world, done_us);
  finish (world, 0, "");
  g_autoptr (GBytes) answer = g_bytes_new ("42", 2);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_FINISH, .bytes = answer });
  return world;
}

static void
test_the_answer_waits_for_a_slow_bid (void)
{
  for (guint i = 0; i < 2; i++)
    {
      /* before or after the first election ended without the bid */
      g_autoptr (World) world = world_with_a_slow_bid ((i == 0 ? 5 : 11) * G_USEC_PER_SEC);
      pass (world, 20 * G_USEC_PER_SEC);
      g_assert_cmpuint (world->peer[0].ended, ==, 999);
      tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_BID, .work_us = 9, .number = 1 });
      g_assert_true (said (world, 0, "COORDINATOR"));
      tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED, .number = 1 });
      g_assert_true (said (world, 0, "ANSWER") && said (world, 0, "FINAL"));
    }
}

static void
test_the_answer_does_not_wait_for_ever (void)
{
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (World) world = world_with_a_slow_bid ((i == 0 ? 5 : 11) * G_USEC_PER_SEC);
      pass (world, 130 * G_USEC_PER_SEC);
      g_assert_cmpuint (world->peer[0].ended, ==, 0);
    }
}

/* The order to close is lost with the coordinator, and no node replaces that. */
static void
test_the_end_does_not_wait_for_a_coordinator_that_is_gone (void)
{
  g_autoptr (World) world = world_that_elects (2, 1);

  pass (world, 3 * G_USEC_PER_SEC);
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_OPENED, .number = 1 });
  finish (world, 0, "");
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_FINISH });
  g_assert_true (said (world, 1, "FINAL"));
  g_assert_cmpuint (world->peer[0].ended, ==, 999);
  world->peer[0].trouble = "no route";
  die (world, 1);
  pass (world, 20 * G_USEC_PER_SEC);

  g_assert_cmpuint (world->peer[0].ended, ==, 0);
}

static void
test_an_order_to_close_that_was_overtaken_counts_no_more (void)
{
  g_autoptr (World) world = world_that_elects (2, 1);
  const Message first = { .kind = MESSAGE_PUBLISH, .version = ROUND_FINISHED, .count = 1 };
  g_autoptr (GPtrArray) parts = message_encode (&first);

  pass (world, 3 * G_USEC_PER_SEC);
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_OPENED, .number = 1 });
  finish (world, 0, "");
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_FINISH });
  cut (world, 0, 1); /* the master asks again over the next link */
  pass (world, G_USEC_PER_SEC);
  tell (world, 1,
        &(NodeEvent){ .kind = NODE_EVENT_MESSAGE,
                      .link = link_between (world, 0, 1),
                      .bytes = parts->pdata[0] });
  for (guint i = 0; i < 2; i++)
    tell (world, 1,
          &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED, .number = 2 + i, .saved = 9, .final = TRUE });

  g_assert_cmpuint (world->peer[0].ended, ==, 0);
}

static void
test_who_was_asked_for_a_bid_over_a_broken_link_is_asked_again (void)
{
  g_autoptr (World) world = world_that_elects (2, 1);
  guint64 link = link_between (world, 0, 1);

  g_array_index (world->wires, Wire, link - 1).mute = TRUE;
  pass (world, 3 * G_USEC_PER_SEC);
  g_assert_cmpuint (world->peer[0].bids, ==, 1);
  g_assert_cmpuint (world->peer[1].bids, ==, 0);
  break_link (world, link);
  pass (world, G_USEC_PER_SEC);

  g_assert_cmpuint (world->peer[1].bids, >, 0); /* once for each new link */
  g_assert_true (is_coordinator (world, 1, 0));
}

static void
test_an_election_waits_until_something_stands_there (void)
{
  g_autoptr (World) world = world_new (2, TRUE);

  for (guint i = 0; i < 2; i++)
    {
      world->peer[i].commit_us = i == 1 ? 100000 : 900000;
      world->peer[i].found = 1;
    }
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  start (world);
  pass (world, 20 * G_USEC_PER_SEC);
  g_assert_cmpuint (world->peer[0].bids + world->peer[1].bids, ==, 0);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED, .number = 1 });
  pass (world, 3 * G_USEC_PER_SEC);

  g_assert_true (is_coordinator (world, 1, 0));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define TEST(name, function) g_test_add_func ("/node-store/" name, function)
  TEST ("with-a-checkpoint-the-root-waits-and-the-end-is-published",
        test_with_a_checkpoint_the_root_waits_and_the_end_is_published);
  TEST ("scans-that-take-long-are-made-less-often", test_scans_that_take_long_are_made_less_often);
  TEST ("rows-are-at-risk-until-they-are-published",
        test_rows_are_at_risk_until_they_are_published);
  TEST ("rows-go-to-the-coordinator-and-come-back-as-orphans",
        test_rows_go_to_the_coordinator_and_come_back_as_orphans);
  TEST ("what-was-kept-is-recalled-from-the-coordinator",
        test_what_was_kept_is_recalled_from_the_coordinator);
  TEST ("a-job-and-what-it-kept-are-held-side-by-side",
        test_a_job_and_what_it_kept_are_held_side_by_side);
  TEST ("the-fastest-bid-is-elected-and-gets-whole-frontiers",
        test_the_fastest_bid_is_elected_and_gets_whole_frontiers);
  TEST ("a-bid-at-another-place-is-not-elected", test_a_bid_at_another_place_is_not_elected);
  TEST ("the-last-one-bids-though-it-leaves", test_the_last_one_bids_though_it_leaves);
  TEST ("a-coordinator-that-dies-has-a-successor", test_a_coordinator_that_dies_has_a_successor);
  TEST ("a-bidder-that-is-silent-is-not-waited-for-long",
        test_a_bidder_that_is_silent_is_not_waited_for_long);
  TEST ("three-slow-commits-bring-an-election", test_three_slow_commits_bring_an_election);
  TEST ("a-coordinator-that-fails-is-replaced", test_a_coordinator_that_fails_is_replaced);
  TEST ("a-node-that-reaches-the-store-serves-one-that-does-not",
        test_a_node_that_reaches_the_store_serves_one_that_does_not);
  TEST ("a-start-without-anybody-who-can-write-ends-with-4",
        test_a_start_without_anybody_who_can_write_ends_with_4);
  TEST ("a-start-ends-soon-after-a-long-silence", test_a_start_ends_soon_after_a_long_silence);
  TEST ("later-the-run-goes-on-without", test_later_the_run_goes_on_without);
  TEST ("the-answer-waits-for-a-slow-bid", test_the_answer_waits_for_a_slow_bid);
  TEST ("the-answer-does-not-wait-for-ever", test_the_answer_does_not_wait_for_ever);
  TEST ("the-end-does-not-wait-for-a-coordinator-that-is-gone",
        test_the_end_does_not_wait_for_a_coordinator_that_is_gone);
  TEST ("an-order-to-close-that-was-overtaken-counts-no-more",
        test_an_order_to_close_that_was_overtaken_counts_no_more);
  TEST ("who-was-asked-for-a-bid-over-a-broken-link-is-asked-again",
        test_who_was_asked_for_a_bid_over_a_broken_link_is_asked_again);
  TEST ("an-election-waits-until-something-stands-there",
        test_an_election_waits_until_something_stands_there);
  return g_test_run ();
}
