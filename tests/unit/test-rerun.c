/* SPDX-License-Identifier: BSD-3-Clause */
/* What runs again after a crash, and the rows of the checkpoint at or below it. */
#include "node-world.h"

#include "satin/protocol/work/rerun.h"

static guint n_back, n_lost;

static void
count_back (World *world G_GNUC_UNUSED, guint who G_GNUC_UNUSED, const NodeEffect *effect)
{
  n_back += effect->kind == NODE_EFFECT_BACK;
  n_lost += effect->kind == NODE_EFFECT_BACK && effect->failed;
}

/* A job that comes back is marked as lost if its holder is gone, with a coordinator that is asked
 * first, or without one. */
static void
test_what_is_lost_is_told_apart (void)
{
  for (gboolean saved = FALSE; saved <= TRUE; saved++)
    {
      g_autoptr (World) world = world_new (3, saved);
      start (world);
      n_back = n_lost = 0;
      world->watch = count_back;
      guint64 loan = offer (world, 1, "/3");
      hunger (world, 2);
      pass (world, 1000000);
      g_autofree char *back = g_strdup_printf ("BACK %" G_GUINT64_FORMAT, loan);
      die (world, 2);
      pass (world, 2 * RERUN_PATIENCE_US);
      g_assert_true (said (world, 1, back));
      g_assert_cmpuint (n_back, ==, 1);
      g_assert_cmpuint (n_lost, ==, 1);
    }
}

/* … and not if the holder has returned it. */
static void
test_what_is_returned_is_not_lost (void)
{
  g_autoptr (World) world = world_new (3, FALSE);

  start (world);
  n_back = n_lost = 0;
  world->watch = count_back;
  guint64 loan = offer (world, 1, "/3");
  hunger (world, 2);
  pass (world, 1000000);
  guint64 link = world->wires->len;
  g_assert_cmpuint (link, >, 0);
  for (link = 1; link <= world->wires->len; link++)
    deliver (world, link, 1, &(Message){ .kind = MESSAGE_RETURNED, .number = loan });
  g_assert_cmpuint (n_back, ==, 1);
  g_assert_cmpuint (n_lost, ==, 0);
}

/* T1-3a: members have finished parts of a job for its holder, and dropped them: the rows of these
 * parts are wanted, too, although their author lives. So the rows at or below the path are
 * requested, whichever node computed them, and the job does not run again before they are known. */
static void
test_what_a_crash_brings_back_runs_when_its_rows_are_known (void)
{
  g_autoptr (World) world = world_new (3, TRUE);
  Digest digest = digest_of_string ("/3/1");
  g_autoptr (GBytes) value = g_bytes_new ("7", 1);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);
  Row *row = row_new ("/3/1", 1, &digest, 0.1, 50, value);
  g_ptr_array_add (rows, row);

  start (world);
  row->node = node_self (world->peer[1].node);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  guint64 loan = offer (world, 1, "/3");
  hunger (world, 2);
  pass (world, 1000000);
  g_assert_true (said (world, 2, "RUN /3"));
  forget_log (world);
  die (world, 2);
  pass (world, 1000);
  g_autofree char *back = g_strdup_printf ("BACK %" G_GUINT64_FORMAT, loan);
  g_assert_true (said (world, 0, "SALVAGE /3"));
  g_assert_false (said (world, 1, back));
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_RESTORED, .rows = rows, .path = "/3" });
  g_assert_false (said (world, 1, back));
  tell (world, 0,
        &(NodeEvent){ .kind = NODE_EVENT_RESTORED, .rows = rows, .path = "/3", .final = TRUE });

  const char *known = strstr (world->peer[1].log->str, "KNOWN /3/1 finished");
  g_assert_nonnull (known);
  g_assert_nonnull (strstr (known, back));
}

/* A coordinator whose disk hangs does not stop the run. */
static void
test_a_coordinator_that_does_not_answer_is_not_waited_for_long (void)
{
  g_autoptr (World) world = world_new (3, TRUE);

  start (world);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  guint64 loan = offer (world, 1, "/3");
  hunger (world, 2);
  pass (world, 1000000);
  forget_log (world);
  die (world, 2);
  pass (world, 1000);
  g_autofree char *back = g_strdup_printf ("BACK %" G_GUINT64_FORMAT, loan);
  pass (world, RERUN_PATIENCE_US / 2);
  g_assert_false (said (world, 1, back));
  pass (world, RERUN_PATIENCE_US);

  g_assert_true (said (world, 1, back));
}

/* Nor does a suspend wait for it: no job begins any more. */
static void
test_a_halt_waits_for_no_rows (void)
{
  g_autoptr (World) world = world_new (3, TRUE);

  start (world);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  guint64 loan = offer (world, 1, "/3");
  hunger (world, 2);
  pass (world, 1000000);
  forget_log (world);
  die (world, 2);
  pass (world, 1000);
  g_autofree char *back = g_strdup_printf ("BACK %" G_GUINT64_FORMAT, loan);
  g_assert_false (said (world, 1, back));
  deliver (world, link_between (world, 0, 1), 1, &(Message){ .kind = MESSAGE_SUSPEND });
  pass (world, 1);
  g_assert_true (said (world, 1, back));
}

/* An orphan has no lender that could ask. When its holder is gone, too, the directory asks the
 * coordinator: here n0 is both. */
static void
test_the_rows_below_an_orphan_are_offered_when_its_holder_is_gone (void)
{
  g_autoptr (World) world = world_new (4, TRUE);

  start (world);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  (void)offer (world, 2, "/3");
  hunger (world, 3);
  pass (world, 1000000);
  die (world, 2);
  pass (world, 1000);
  g_assert_true (said (world, 0, "KNOWN /3"));
  forget_log (world);
  die (world, 3);
  pass (world, 1000);

  g_assert_true (said (world, 0, "SALVAGE /3"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define TEST(name, function) g_test_add_func ("/rerun/" name, function)
  TEST ("what-is-lost-is-told-apart", test_what_is_lost_is_told_apart);
  TEST ("a-halt-waits-for-no-rows", test_a_halt_waits_for_no_rows);
  TEST ("what-is-returned-is-not-lost", test_what_is_returned_is_not_lost);
  TEST ("what-a-crash-brings-back-runs-when-its-rows-are-known",
        test_what_a_crash_brings_back_runs_when_its_rows_are_known);
  TEST ("a-coordinator-that-does-not-answer-is-not-waited-for-long",
        test_a_coordinator_that_does_not_answer_is_not_waited_for_long);
  TEST ("the-rows-below-an-orphan-are-offered-when-its-holder-is-gone",
        test_the_rows_below_an_orphan_are_offered_when_its_holder_is_gone);
  return g_test_run ();
}
