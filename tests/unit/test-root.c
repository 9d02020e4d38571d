/* SPDX-License-Identifier: BSD-3-Clause */
/* Roots that main requests one after the other. tests/e2e/roots.sh kills the processes. */
#include "node-alone.h"

static Node *
master (World *world)
{
  return world->peer[0].node;
}

static void
ask (World *world, guint who, const char *path)
{
  Digest digest = digest_of_string (path);
  g_autoptr (Loan) root = loan_new (0, path, 0, &digest, 1, NULL);

  tell (world, who, &(NodeEvent){ .kind = NODE_EVENT_ROOT, .job = root });
}

/* n1, which receives nothing any more, holds this root as an orphan. */
static void
hear_of_root (World *world, const char *path)
{
  MessageHold hold = { (char *)path, digest_of_string (path), 0 };
  g_autoptr (GArray) holds = g_array_new (FALSE, FALSE, sizeof hold);

  g_array_append_val (holds, hold);
  world->peer[1].deaf = TRUE;
  deliver (world, link_between (world, 0, 1), 0,
           &(Message){ .kind = MESSAGE_HOLD, .holds = holds });
}

static void
adopt_root (World *world, const char *path)
{
  hear_of_root (world, path);
  ask (world, 0, path);
  g_assert_cmpint (master (world)->root.state, ==, ROOT_ADOPTED);
}

static void
result_of (World *world, const char *path)
{
  g_autoptr (GBytes) value = g_bytes_new ("42", 2);

  deliver (world, link_between (world, 0, 1), 0,
           &(Message){ .kind = MESSAGE_RESULT,
                       .number = master (world)->root.loan,
                       .path = path,
                       .digest = digest_of_string (path),
                       .value = value });
  g_assert_cmpint (master (world)->root.state, ==, ROOT_DONE);
}

/* Otherwise a late answer to one request would count as an answer to another. */
static void
test_no_two_have_the_same_number (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  guint64 numbers[3];

  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    {
      const char *const paths[] = { "", "1:", "2:" };

      adopt_root (world, paths[i]);
      numbers[i] = master (world)->root.loan;
      for (guint k = 0; k < i; k++)
        g_assert_cmpuint (numbers[i], !=, numbers[k]);
      result_of (world, paths[i]);
    }
}

/* The result of a root from another node is held as if it had been computed here, for the next
 * main. */
static void
test_an_adopted_one_is_held (void)
{
  g_autoptr (World) world = world_new (2, FALSE);

  adopt_root (world, "");
  g_assert_cmpuint (stats_of (world, 0).held, ==, 0);
  result_of (world, "");
  const HeldJob *held = held_find (master (world), master (world)->root.held);
  g_assert_nonnull (held);
  g_assert_true (held->phase == HELD_FINISHED && held->lender == LENDER_MAIN);
  g_assert_cmpstr (held->job->path, ==, "");
}

/* … with all that came with it: the next main, and the file, get no less than the first. */
static void
test_an_adopted_one_is_held_whole (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  g_autoptr (GBytes) value = g_bytes_new ("42", 2), bytes = g_bytes_new ("shared", 6);
  g_autoptr (GPtrArray) shares = shared_list_new ();

  adopt_root (world, "");
  Node *node = alone (world, 0);
  g_ptr_array_add (shares, shared_add (node->shares.store, bytes));
  root_result (node, &(Result){ value, shares, 50, 40 });
  const HeldJob *held = held_find (node, node->root.held);
  g_assert_true (g_bytes_equal (held->value, value));
  g_assert_cmpuint (held->work_us, ==, 50);
  g_assert_cmpuint (held->risk_us, ==, 40);
  g_assert_nonnull (held->shares);
  g_assert_true (held->shares->len == 1 && held->shares->pdata[0] == shares->pdata[0]);
}

/* n0 opened the first term, so nobody has run a root before. When it has died, n1 must know the
 * rows of n2, the coordinator, before it runs one: else what was saved is computed again. */
static void
test_a_later_master_knows_the_rows_first (void)
{
  g_autoptr (World) world = world_new (3, TRUE);
  g_autoptr (GPtrArray) rows = g_ptr_array_new ();
  for (guint i = 0; i < 3; i++)
    {
      world->peer[i].commit_us = i == 2 ? 100000 : 900000;
      world->peer[i].found = 1;
    }
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED, .number = 1 });
  ask (world, 0, "");
  g_assert_true (said (world, 0, "RUN "));
  pass (world, 3 * G_USEC_PER_SEC);
  g_assert_true (said (world, 2, "COORDINATOR"));
  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_OPENED, .number = 1 });
  pass (world, G_USEC_PER_SEC);

  die (world, 0);
  pass (world, 60 * G_USEC_PER_SEC);
  g_assert_true (said (world, 1, "MASTER"));
  forget_log (world);
  ask (world, 1, "");
  pass (world, 1000);
  g_assert_true (said (world, 2, "SALVAGE "));
  g_assert_false (said (world, 1, "RUN "));
  tell (world, 2,
        &(NodeEvent){ .kind = NODE_EVENT_RESTORED, .rows = rows, .path = "", .final = TRUE });
  pass (world, 1000);
  g_assert_true (said (world, 1, "RUN "));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/root/no-two-have-the-same-number", test_no_two_have_the_same_number);
  g_test_add_func ("/root/an-adopted-one-is-held", test_an_adopted_one_is_held);
  g_test_add_func ("/root/an-adopted-one-is-held-whole", test_an_adopted_one_is_held_whole);
  g_test_add_func ("/root/a-later-master-knows-the-rows-first",
                   test_a_later_master_knows_the_rows_first);
  return g_test_run ();
}
