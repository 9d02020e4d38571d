/* SPDX-License-Identifier: BSD-3-Clause */
/* The results of a node's own jobs are computed again by another node (verify-own.h). n0 runs the
 * root and has finished /3. */
#include "node-results.h"

#include "satin/protocol/core.h"

#define PATH "/3"

static World *
world_that (guint n, gboolean saves)
{
  World *world = world_new (0, saves);

  world->verify = 1;
  for (guint i = 0; i < n; i++)
    add_peer (world, FALSE);
  if (saves)
    tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  pass (world, saves ? G_USEC_PER_SEC / 2 : 10);
  start (world);
  return world;
}

static World *
world_of (guint n)
{
  return world_that (n, FALSE);
}

static void
finished_here (World *world, guint who, const char *path, GPtrArray *shares)
{
  Digest digest = digest_of_string (path);
  g_autoptr (GBytes) args = g_bytes_new ("1", 1), value = g_bytes_new ("42", 2);
  g_autoptr (Loan) job = loan_new (0, path, 1, &digest, 0.1, args);

  tell (world, who,
        &(NodeEvent){ .kind = NODE_EVENT_FINISHED, .job = job, .bytes = value, .shares = shares });
}

static void
done_with (World *world, guint who, const char *path, const char *value)
{
  g_autoptr (GBytes) bytes = g_bytes_new (value, strlen (value));
  guint64 held = held_of (world, who, path);

  g_hash_table_remove (world->peer[who].running, &held);
  tell (world, who, &(NodeEvent){ .kind = NODE_EVENT_DONE, .held = held, .bytes = bytes });
}

static guint
checks_of (World *world, guint who)
{
  return world->peer[who].node->verify_own.checks->len;
}

/* The world in which n1 computes /3 again, and n0 has finished the root meanwhile. */
static World *
world_that_checks (guint n, gboolean saves)
{
  World *world = world_that (n, saves);

  finished_here (world, 0, PATH, NULL);
  hunger (world, 1);
  g_assert_cmpuint (checks_of (world, 0), ==, 1);
  g_assert_cmpuint (held_of (world, 1, PATH), !=, 0);
  done_with (world, 0, "", "99");
  g_assert_false (said (world, 0, "RESULT"));
  return world;
}

static void
test_the_root_waits_for_a_check (void)
{
  g_autoptr (World) world = world_that_checks (2, FALSE);

  done_with (world, 1, PATH, "42");
  g_assert_cmpuint (checks_of (world, 0), ==, 0);
  g_assert_cmpuint (stats_of (world, 0).verified, ==, 1);
  g_assert_cmpuint (stats_of (world, 1).held, ==, 0);
  g_assert_true (said (world, 0, "RESULT"));
}

/* After that no result is given out, however long the driver takes to end the run. */
static void
test_two_results_differ (void)
{
  g_autoptr (World) world = world_that_checks (2, FALSE);

  world->watch = note_difference;
  done_with (world, 1, PATH, "43");
  g_assert_cmpstr (values, ==, PATH ": 43, 42");
  g_assert_true (node_id_equal (&author, &world->peer[1].node->self));
  pass (world, 10 * G_USEC_PER_SEC);
  g_assert_false (said (world, 0, "RESULT"));
  g_free (values);
}

static void
test_the_holder_dies (void)
{
  g_autoptr (World) world = world_that_checks (3, FALSE);

  die (world, 1);
  pass (world, G_USEC_PER_SEC);
  hunger (world, 2);
  g_assert_cmpuint (held_of (world, 2, PATH), !=, 0);
  g_assert_false (said (world, 0, "RESULT"));
  done_with (world, 2, PATH, "42");
  g_assert_true (said (world, 0, "RESULT"));
}

/* A job may end every process that runs it: the check is given up long before the patience ends. */
static void
test_two_holders_die (void)
{
  g_autoptr (World) world = world_that_checks (4, FALSE);

  die (world, 1);
  pass (world, G_USEC_PER_SEC);
  g_assert_cmpuint (checks_of (world, 0), ==, 1);
  hunger (world, 2);
  die (world, 2);
  pass (world, G_USEC_PER_SEC);
  g_assert_cmpuint (checks_of (world, 0), ==, 0);
  g_assert_true (said (world, 0, "RESULT"));
}

static void
test_no_other_node_is_left (void)
{
  g_autoptr (World) world = world_that_checks (2, FALSE);

  die (world, 1);
  pass (world, 2 * G_USEC_PER_SEC);
  g_assert_true (said (world, 0, "RESULT"));
}

/* The only thief has no room for the check. */
static void
test_nobody_takes_it (void)
{
  g_autoptr (World) world = world_of (2);

  finished_here (world, 0, PATH, NULL);
  done_with (world, 0, "", "99");
  g_assert_false (said (world, 0, "RESULT"));
  pass (world, 3 * G_USEC_PER_SEC);
  g_assert_true (said (world, 0, "RESULT"));
}

/* The patience begins again when a check comes back. */
static void
test_a_check_that_comes_back_is_waited_for (void)
{
  g_autoptr (World) world = world_that_checks (2, FALSE);
  guint64 held = held_of (world, 1, PATH);

  pass (world, 3 * G_USEC_PER_SEC / 2);
  g_hash_table_remove (world->peer[1].running, &held);
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_UNRUN, .held = held });
  g_assert_cmpuint (checks_of (world, 0), ==, 1);
  pass (world, 3 * G_USEC_PER_SEC / 2);
  g_assert_false (said (world, 0, "RESULT"));
  pass (world, G_USEC_PER_SEC);
  g_assert_true (said (world, 0, "RESULT"));
}

/* A result that waits for a check is nowhere else: it is at risk. */
static void
test_what_is_deferred_is_at_risk (void)
{
  g_autoptr (World) world = world_of (2);
  g_autoptr (GBytes) bytes = g_bytes_new ("99", 2);

  finished_here (world, 0, PATH, NULL);
  tell (world, 0,
        &(NodeEvent){ .kind = NODE_EVENT_DONE,
                      .held = held_of (world, 0, ""),
                      .bytes = bytes,
                      .work_us = 2000,
                      .risk_us = 1000 });
  g_assert_cmpuint (work_unpublished_us (world->peer[0].node), ==, 1000);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_WORK });
  g_assert_cmpuint (work_unpublished_us (world->peer[0].node), ==, 1000);
}

static void
test_checks_have_a_limit (void)
{
  g_autoptr (World) world = world_of (2);
  Digest digest = digest_of_string (PATH);
  g_autoptr (GBytes) args = g_bytes_new ("1", 1);
  g_autoptr (GBytes) value = g_bytes_new_take (g_malloc0 (64 << 20), 64 << 20);
  g_autoptr (Loan) job = loan_new (0, PATH, 1, &digest, 0.1, args);

  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_FINISHED, .job = job, .bytes = value });
  g_assert_cmpuint (checks_of (world, 0), ==, 1);
  finished_here (world, 0, "/4", NULL);
  g_assert_cmpuint (checks_of (world, 0), ==, 1);
}

static void
test_a_suspend_does_not_wait (void)
{
  g_autoptr (World) world = world_that_checks (2, TRUE);

  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_SUSPEND });
  g_assert_cmpuint (checks_of (world, 0), ==, 0);
  g_assert_cmpuint (world->peer[0].node->verify_own.deferred->len, ==, 0);
}

/* `satin save` publishes what is finished, so that counts as finished. */
static void
test_a_round_does_not_wait (void)
{
  g_autoptr (World) world = world_that_checks (2, TRUE);

  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_SAVE });
  g_assert_true (world->peer[0].node->round.heard);
  g_assert_cmpuint (world->peer[0].node->verify_own.deferred->len, ==, 0);
}

/* Not checked: results from other nodes, which were computed twice before they were used; parts of
 * a check; jobs whose shared bytes are not here, since they may be nowhere. */
static void
test_what_is_not_checked (void)
{
  g_autoptr (World) world = world_of (2);
  Digest digest = digest_of_string ("bytes");
  g_autoptr (GPtrArray) shares = shared_list_new ();

  (void)offer (world, 0, "/5");
  hunger (world, 1);
  done_with (world, 1, "/5", "42");
  done_with (world, 0, "/5", "42");
  g_assert_true (said (world, 0, "PUT 1"));
  finished_here (world, 0, "/5", NULL);
  g_assert_cmpuint (checks_of (world, 0), ==, 0);
  verify_own_on_served (world->peer[0].node); /* the next scan may be the one that reports it */
  finished_here (world, 0, "/5", NULL);
  g_assert_cmpuint (checks_of (world, 0), ==, 0);
  g_ptr_array_add (shares, shared_enter (world->peer[0].node->config.shared != NULL
                                             ? world->peer[0].node->config.shared
                                             : shared_store_here (),
                                         &digest, 5));
  finished_here (world, 0, "/6", shares);
  g_assert_cmpuint (checks_of (world, 0), ==, 0);
  finished_here (world, 0, PATH, NULL);
  hunger (world, 1);
  g_assert_cmpuint (held_of (world, 1, PATH), !=, 0);
  finished_here (world, 1, PATH "/1", NULL);
  g_assert_cmpuint (checks_of (world, 1), ==, 0);
  finished_here (world, 1, "/4", NULL);
  g_assert_cmpuint (checks_of (world, 1), ==, 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/verify-own/the-root-waits-for-a-check", test_the_root_waits_for_a_check);
  g_test_add_func ("/verify-own/two-results-differ", test_two_results_differ);
  g_test_add_func ("/verify-own/the-holder-dies", test_the_holder_dies);
  g_test_add_func ("/verify-own/two-holders-die", test_two_holders_die);
  g_test_add_func ("/verify-own/no-other-node-is-left", test_no_other_node_is_left);
  g_test_add_func ("/verify-own/nobody-takes-it", test_nobody_takes_it);
  g_test_add_func ("/verify-own/a-check-that-comes-back-is-waited-for",
                   test_a_check_that_comes_back_is_waited_for);
  g_test_add_func ("/verify-own/what-is-deferred-is-at-risk", test_what_is_deferred_is_at_risk);
  g_test_add_func ("/verify-own/checks-have-a-limit", test_checks_have_a_limit);
  g_test_add_func ("/verify-own/a-suspend-does-not-wait", test_a_suspend_does_not_wait);
  g_test_add_func ("/verify-own/a-round-does-not-wait", test_a_round_does_not_wait);
  g_test_add_func ("/verify-own/what-is-not-checked", test_what_is_not_checked);
  return g_test_run ();
}
