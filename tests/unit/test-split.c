/* SPDX-License-Identifier: BSD-3-Clause */
/* A network that splits and heals: both sides go on, they meet, the elder master stays, and the
 * work of the other side is used. */
#include "node-alone.h"

#define MINUTE (G_GUINT64_CONSTANT (60) * G_USEC_PER_SEC)

static void
heal (World *world)
{
  world->parted = 0;
}

/* TRUE if all nodes know the same members, and the first node is master. */
static gboolean
is_one (World *world)
{
  NodeId first = node_self (world->peer[0].node);

  for (guint i = 0; i < world->n; i++)
    {
      g_autoptr (GArray) members = node_members (world->peer[i].node);
      if (members->len != world->n
          || !node_id_equal (&g_array_index (members, NodeMember, 0).id, &first))
        return FALSE;
    }
  return TRUE;
}

static gboolean
comes_together_within (World *world, guint64 us)
{
  for (guint64 end = world->now_us + us; world->now_us < end && !is_one (world);)
    pass (world, G_USEC_PER_SEC);
  return is_one (world);
}

static void
test_the_elder_master_stays (void)
{
  g_autoptr (World) world = world_new (4, FALSE);

  start (world);
  part (world, 1);
  pass (world, MINUTE);
  g_assert_true (said (world, 1, "MASTER")); /* of three, and the elder is alone */
  g_assert_cmpuint (members_of (world, 0), ==, 1);
  g_assert_cmpuint (members_of (world, 1), ==, 3);
  forget_log (world);
  heal (world);

  g_assert_true (comes_together_within (world, MINUTE / 2));
  g_assert_true (said (world, 1, "DEPOSED"));
  g_assert_false (said (world, 0, "DEPOSED"));
}

static void
test_one_pair_that_meets_is_enough (void)
{
  g_autoptr (World) world = world_new (4, FALSE);

  start (world);
  part (world, 2);
  pass (world, 2 * MINUTE);
  g_assert_true (said (world, 2, "MASTER"));
  world->bridged = TRUE; /* only nodes 1 and 2; neither is the elder master */

  g_assert_true (comes_together_within (world, MINUTE));
  pass (world, 2 * MINUTE);
  g_assert_true (is_one (world));
}

/* Something on the way refuses the dials while the network is split. That proves no death, so both
 * sides keep dialling. */
static void
test_a_refusal_on_the_way_ends_no_search (void)
{
  g_autoptr (World) world = world_new (4, FALSE);

  start (world);
  world->one_way = TRUE;
  part (world, 2);
  pass (world, 2 * MINUTE);
  g_assert_cmpuint (members_of (world, 0), ==, 2);
  g_assert_true (said (world, 2, "MASTER"));
  world->one_way = FALSE;
  heal (world);

  g_assert_true (comes_together_within (world, MINUTE));
}

/* At first each node dials a missed node every 5 to 15 s, so the moment when the network works
 * again does not matter. */
static void
test_they_meet_soon_whenever_that_is (void)
{
  for (guint s = 29; s < 90; s++)
    {
      g_autoptr (World) world = world_new (4, FALSE);

      start (world);
      part (world, 2);
      pass (world, s * G_USEC_PER_SEC);
      g_assert_cmpuint (members_of (world, 0), ==, 2);
      heal (world);
      g_assert_true (comes_together_within (world, MINUTE / 4));
    }
}

/* n0 can dial n1, and n1 cannot dial n0. */
static void
test_who_is_found_joins_by_the_link_that_found_it (void)
{
  g_autoptr (World) world = world_new (2, FALSE);

  start (world);
  part (world, 1);
  pass (world, MINUTE);
  g_assert_true (said (world, 1, "MASTER"));
  world->one_way = TRUE;
  heal (world);

  g_assert_true (comes_together_within (world, MINUTE / 2));
  pass (world, 2 * MINUTE);
  g_assert_true (is_one (world));
}

static void
test_they_meet_after_days_and_that_costs_nothing (void)
{
  g_autoptr (World) world = world_new (4, FALSE);

  start (world);
  part (world, 2);
  pass (world, 48 * 60 * MINUTE);
  g_assert_cmpuint (members_of (world, 0), ==, 2);
  world->n_dials = 0;
  pass (world, 60 * MINUTE);
  g_assert_cmpuint (world->n_dials, >, 20);
  g_assert_cmpuint (world->n_dials, <, 4 * 2 * 60); /* each dials two, less than once a minute */
  heal (world);

  g_assert_true (comes_together_within (world, 8 * MINUTE));
  world->n_dials = 0;
  pass (world, 60 * MINUTE);
  g_assert_cmpuint (world->n_dials, ==, 0); /* no node is missed any more */
}

static void
test_three_sides_become_one (void)
{
  g_autoptr (World) world = world_new (6, FALSE);

  start (world);
  part (world, 2);
  pass (world, MINUTE);
  for (guint i = 0; i < world->wires->len; i++) /* then the younger side splits, too */
    {
      Wire *wire = &g_array_index (world->wires, Wire, i);
      wire->mute = wire->mute || (wire->end[0] < 4) != (wire->end[1] < 4);
    }
  world->parted = 4;
  pass (world, MINUTE);
  g_assert_true (said (world, 2, "MASTER") || said (world, 4, "MASTER"));
  heal (world);

  g_assert_true (comes_together_within (world, 2 * MINUTE));
}

static void
root_runs (World *world, guint who)
{
  Digest digest = digest_of_string ("");
  g_autoptr (Loan) root = loan_new (0, "", 0, &digest, 1, NULL);

  tell (world, who, &(NodeEvent){ .kind = NODE_EVENT_ROOT, .job = root });
  g_assert_true (said (world, who, "RUN "));
}

/* Two trees: the results of the younger master are offered, and its root stops. */
static void
test_the_parts_of_the_other_root_are_offered (void)
{
  g_autoptr (World) world = world_new (4, FALSE);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);
  g_autoptr (GBytes) value = g_bytes_new ("7", 1);
  Digest digest = digest_of_string ("/3");

  g_ptr_array_add (rows, row_new ("/3", 1, &digest, 0.1, 50, value));
  start (world);
  part (world, 2);
  pass (world, MINUTE);
  root_runs (world, 2);
  (void)offer (world, 2, "/1");
  hunger (world, 3);
  g_assert_true (said (world, 3, "RUN /1"));
  forget_log (world);
  heal (world);
  g_assert_true (comes_together_within (world, MINUTE));
  pass (world, G_USEC_PER_SEC);

  g_assert_true (said (world, 2, "DEPOSED"));
  g_assert_true (said (world, 2, "SCAN whole"));
  g_assert_false (said (world, 2, "UNRUN")); /* not before its parts are known */
  adopt (world, 2, "/1", 9, 3);              /* it goes on for a while */
  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_ROWS, .rows = rows });
  g_assert_false (said (world, 0, "KNOWN /3 finished")); /* its own slot would cover the offer */
  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_SERVED, .number = 1 });
  g_assert_true (said (world, 2, "UNRUN"));
  forget_log (world);
  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_ABORTED, .loan = 9 });
  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_UNRUN, .held = held_of (world, 2, "") });

  g_assert_true (said (world, 0, "KNOWN /3 finished"));
  g_assert_false (said (world, 3, "UNRUN")); /* the lent job is not stopped */
  adopt (world, 0, "/1", 11, 3);
  finish (world, 3, "/1");
  g_assert_true (said (world, 0, "PUT 11"));
  adopt (world, 1, "/3", 5, 2);
  g_assert_true (said (world, 1, "PUT 5"));
}

/* Only an orphan yields, and only to a job with a lender. */
static void
test_an_orphan_that_nobody_else_runs_goes_on (void)
{
  g_autoptr (World) world = world_new (4, FALSE);

  start (world);
  (void)offer (world, 0, "/0");
  hunger (world, 3);
  part (world, 3);
  pass (world, MINUTE); /* the thief is cut off with its job, and continues it */
  heal (world);
  g_assert_true (comes_together_within (world, MINUTE));
  g_assert_true (said (world, 0, "BACK 1"));
  pass (world, MINUTE);
  g_assert_false (said (world, 3, "SCAN whole"));
  g_assert_false (said (world, 3, "UNRUN"));
  adopt (world, 0, "/0", 7, 3);
  finish (world, 3, "/0");
  g_assert_true (said (world, 0, "PUT 7"));
}

/* A node holds a job and has lent a slot of the same job: the thief goes on when the node's job
 * becomes an orphan. */
/* While a job yields, a result of a part of it that comes from elsewhere is kept whole, to be
 * offered when the job has stopped. */
static void
test_a_part_that_comes_meanwhile_is_kept_whole (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  g_autoptr (GBytes) bytes = g_bytes_new ("shared", 6), value = g_bytes_new ("42", 2);
  g_autoptr (GPtrArray) shares = shared_list_new (),
                        rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);
  Digest digest = digest_of_string ("/0");
  NodeId other = id_of (world, 0), self = id_of (world, 1);
  LoanEntry entry = { .loan = 9, .path = (char *)"/0/1", .digest = digest_of_string ("/0/1") };

  start (world);
  Node *node = alone (world, 1);
  g_ptr_array_add (shares, shared_add (node->shares.store, bytes));
  (void)held_add (node, loan_new (1, "/0", 1, &digest, 0.5, NULL));
  yield_on_runs (node, &other, &(Message){ .path = "/0", .digest = digest });
  yield_on_result (node, &entry, &(Result){ value, shares, 5, 3 });
  yield_collect (node, rows);

  g_assert_cmpuint (rows->len, ==, 1);
  const Row *row = rows->pdata[0];
  g_assert_cmpstr (row->path, ==, "/0/1");
  g_assert_true (digest_equal (&row->digest, &entry.digest));
  g_assert_true (g_bytes_equal (row->value, value));
  g_assert_cmpuint (row->work_us, ==, 5);
  g_assert_true (node_id_equal (&row->node, &self));
  g_assert_nonnull (row->shares);
  g_assert_true (row->shares->len == 1 && row->shares->pdata[0] == shares->pdata[0]);
}

static void
test_a_thief_does_not_make_its_own_lender_yield (void)
{
  g_autoptr (World) world = world_new (4, FALSE);

  start (world);
  (void)offer (world, 1, "/0");
  hunger (world, 2);
  g_assert_true (said (world, 2, "RUN /0"));
  (void)offer (world, 2, "/0");
  hunger (world, 3);
  g_assert_true (said (world, 3, "RUN /0"));
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_LEAVE });
  pass (world, G_USEC_PER_SEC);

  g_assert_true (said (world, 0, "KNOWN /0"));
  g_assert_false (said (world, 2, "SCAN whole") || said (world, 2, "UNRUN"));
  g_assert_false (said (world, 3, "UNRUN"));
}

/* A leaver that is the last node of its side suspends that side, but not the whole run. */
static void
test_who_leaves_alone_suspends_no_other_side (void)
{
  g_autoptr (World) world = world_new (4, TRUE);

  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  start (world);
  part (world, 2);
  pass (world, MINUTE);
  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_LEAVE });
  die (world, 3);
  pass (world, MINUTE);
  g_assert_false (said (world, 2, "LEAVE") || said (world, 2, "STAYED"));
  heal (world);
  pass (world, MINUTE);

  g_assert_true (said (world, 2, "LEAVE"));
  g_assert_false (said (world, 0, "HALT") || said (world, 1, "HALT"));
  for (guint i = 0; i < 2; i++)
    g_assert_cmpuint (world->peer[i].ended, ==, 999);
}

/* n1 leaves while n0 sleeps, so n1 is alone, suspends the run, and cannot save it. */
static void
test_who_cannot_save_leaves_the_run_to_who_lost_its_name (void)
{
  g_autoptr (World) world = world_new (2, TRUE);

  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  start (world);
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_LEAVE, .number = 2 * MINUTE });
  world->peer[0].deaf = TRUE;
  world->peer[1].trouble = "no route";
  pass (world, MINUTE / 2);
  g_assert_true (said (world, 1, "COORDINATOR"));
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_OPENED, .failed = TRUE, .text = "no route" });
  world->peer[0].deaf = FALSE;
  forget_log (world);
  pass (world, 5 * G_USEC_PER_SEC);
  g_assert_true (said (world, 1, "LEAVE")); /* n1 does not wait for its store first */
  pass (world, MINUTE);

  g_assert_true (said (world, 0, "MASTER"));
  for (guint i = 0; i < 2; i++)
    g_assert_cmpuint (world->peer[i].ended, ==, 999);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define TEST(name, function) g_test_add_func ("/split/" name, function)
  TEST ("the-elder-master-stays", test_the_elder_master_stays);
  TEST ("one-pair-that-meets-is-enough", test_one_pair_that_meets_is_enough);
  TEST ("who-is-found-joins-by-the-link-that-found-it",
        test_who_is_found_joins_by_the_link_that_found_it);
  TEST ("they-meet-after-days-and-that-costs-nothing",
        test_they_meet_after_days_and_that_costs_nothing);
  TEST ("a-refusal-on-the-way-ends-no-search", test_a_refusal_on_the_way_ends_no_search);
  TEST ("they-meet-soon-whenever-that-is", test_they_meet_soon_whenever_that_is);
  TEST ("three-sides-become-one", test_three_sides_become_one);
  TEST ("the-parts-of-the-other-root-are-offered", test_the_parts_of_the_other_root_are_offered);
  TEST ("an-orphan-that-nobody-else-runs-goes-on", test_an_orphan_that_nobody_else_runs_goes_on);
  TEST ("a-part-that-comes-meanwhile-is-kept-whole",
        test_a_part_that_comes_meanwhile_is_kept_whole);
  g_test_add_func ("/split/a-thief-does-not-make-its-own-lender-yield",
                   test_a_thief_does_not_make_its_own_lender_yield);
  g_test_add_func ("/split/who-leaves-alone-suspends-no-other-side",
                   test_who_leaves_alone_suspends_no_other_side);
  TEST ("who-cannot-save-leaves-the-run-to-who-lost-its-name",
        test_who_cannot_save_leaves_the_run_to_who_lost_its_name);
  return g_test_run ();
}
