/* SPDX-License-Identifier: BSD-3-Clause */
/* Plan mirror (paper 004): a result is also sent to the keeper of its lender, and nothing waits for
 * that. n0 lends /3 to n2. The keeper of n0 is n1, that of n2 is n3. */
#include "node-steps.h"

#include "satin/protocol/core.h"

#include <string.h>

#define PATH "/3"

static const NodeId *
id_of (World *world, guint who)
{
  return &node_at (world, who)->self;
}

static void
scan_thrice (World *world)
{
  for (guint i = 0; i < 3; i++)
    scan (world);
}

static World *
world_of (guint n)
{
  World *world = world_new (0, FALSE);

  world->mirror = TRUE;
  for (guint i = 0; i < n; i++)
    add_peer (world, FALSE);
  pass (world, 10);
  scan_thrice (world);
  for (guint i = 0; i < n; i++)
    g_assert_cmpint (node_at (world, i)->buddy.state, ==, BUDDY_FULL);
  start (world);
  return world;
}

static void
lend_to (World *world, guint holder)
{
  (void)offer (world, 0, PATH);
  hunger (world, holder);
}

static gboolean
has_copy (World *world, guint who)
{
  return mirror_has (node_at (world, who), id_of (world, 0), PATH);
}

/* T4-2: the lender has its result, and its keeper has a copy; neither waits for the other. */
static void
test_a_result_goes_to_lender_and_keeper (void)
{
  g_autoptr (World) world = world_of (4);

  lend_to (world, 2);
  g_assert_false (has_copy (world, 1)); /* there is no copy of the job itself */
  finish (world, 2, PATH);
  g_assert_true (said (world, 0, "PUT 1"));
  g_assert_true (has_copy (world, 1));
  g_assert_false (has_copy (world, 3));
  g_assert_cmpuint (stats_of (world, 2).copied_bytes, ==, 2);
  g_assert_cmpuint (stats_of (world, 2).sent_bytes[NODE_SENT_KEEPERS], >, 2);
  g_assert_cmpuint (mirror_kept_bytes (node_at (world, 1)), ==, sizeof (Row) + sizeof PATH + 2);
  g_assert_cmpuint (stats_of (world, 1).kept_bytes, >=, sizeof (Row) + sizeof PATH + 2);
  g_assert_cmpuint (stats_of (world, 2).held, ==, 0);
  for (guint i = 0; i < world->n; i++)
    g_assert_cmpuint (stats_of (world, i).waits, ==, 0);
}

/* T4-5: the result survives the death of its lender, which had no time for a scan. */
static void
test_it_survives_its_lender (void)
{
  g_autoptr (World) world = world_of (4);

  lend_to (world, 2);
  finish (world, 2, PATH);
  die (world, 0);
  pass (world, 2 * G_USEC_PER_SEC);
  g_assert_true (said (world, 1, "KNOWN /3 finished"));
}

/* … and the death of both lender and holder. */
static void
test_it_survives_lender_and_holder (void)
{
  g_autoptr (World) world = world_of (4);

  lend_to (world, 2);
  finish (world, 2, PATH);
  die (world, 0);
  die (world, 2);
  pass (world, 2 * G_USEC_PER_SEC);
  g_assert_true (said (world, 1, "KNOWN /3 finished"));
}

/* n2 has finished, and the copy is on its way to the keeper, n1. */
static World *
world_with_a_late_keeper (void)
{
  World *world = world_of (4);

  lend_to (world, 2);
  world->peer[1].late = TRUE;
  finish (world, 2, PATH);
  return world;
}

/* T4-5: as long as the keeper has no copy, the holder keeps the result, though it was acknowledged.
 */
static void
test_the_holder_has_it_until_the_keeper_does (void)
{
  g_autoptr (World) world = world_with_a_late_keeper ();

  g_assert_true (said (world, 0, "PUT 1"));
  g_assert_cmpuint (stats_of (world, 2).held, ==, 1);
  world->peer[1].late = FALSE;
  pump (world);
  g_assert_true (has_copy (world, 1));
  g_assert_cmpuint (stats_of (world, 2).held, ==, 0);
}

/* Only the keeper confirms the copy, and all that came before it does not count. */
static void
test_the_mark_of_the_copy_confirms_it (void)
{
  g_autoptr (World) world = world_with_a_late_keeper ();

  Message copied = { .kind = MESSAGE_COPIED, .number = node_at (world, 2)->buddy.marks };
  deliver (world, link_between (world, 2, 3), 2, &copied);
  g_assert_cmpuint (stats_of (world, 2).held, ==, 1);
  copied.number--;
  deliver (world, link_between (world, 1, 2), 2, &copied);
  g_assert_cmpuint (stats_of (world, 2).held, ==, 1);
  copied.number++;
  deliver (world, link_between (world, 1, 2), 2, &copied);
  g_assert_cmpuint (stats_of (world, 2).held, ==, 0);
}

static void
test_the_holder_offers_it_until_the_keeper_does (void)
{
  g_autoptr (World) world = world_of (4);

  lend_to (world, 2);
  world->peer[1].alive = FALSE; /* the node receives nothing, and its links stay up */
  finish (world, 2, PATH);
  die (world, 0);
  die (world, 1);
  pass (world, 2 * G_USEC_PER_SEC);
  g_assert_true (said (world, 2, "KNOWN /3 finished"));
}

/* n1 gets the copy of a result of this holder for n0, with this number. */
static void
copy_again (World *world, guint holder, guint64 number)
{
  Digest digest = digest_of_string (PATH);
  g_autoptr (GBytes) value = g_bytes_new ("42", 2);
  g_autoptr (Row) row = row_new (PATH, 1, &digest, 0.5, 5, value);
  g_autoptr (GPtrArray) rows = g_ptr_array_new ();

  row->node = *id_of (world, holder);
  g_ptr_array_add (rows, row);
  deliver (
      world, link_between (world, 1, holder), 1,
      &(Message){ .kind = MESSAGE_COPY, .id = *id_of (world, 0), .version = number, .rows = rows });
}

/* T4-6: a scan of the lender removes older copies at its keeper. T4-4: a copy that arrives later is
 * dropped. */
static void
test_a_scan_trims (void)
{
  g_autoptr (World) world = world_of (4);

  lend_to (world, 2);
  finish (world, 2, PATH);
  g_assert_true (has_copy (world, 1));
  scan (world);
  g_assert_false (has_copy (world, 1));
  g_assert_cmpuint (node_at (world, 0)->mirror.puts.length, ==, 0);
  copy_again (world, 2, 1);
  g_assert_false (has_copy (world, 1));
  copy_again (world, 2, 2); /* another result, which is not in a slot yet */
  g_assert_true (has_copy (world, 1));
}

/* A scan that has begun when a result arrives may not contain its row: only the next scan trims. */
static void
test_a_scan_under_way_trims_nothing (void)
{
  g_autoptr (World) world = world_of (4);

  lend_to (world, 2);
  scan_thrice (world);
  pass (world, SCAN_US); /* a scan is ordered but not served */
  guint64 under_way = node_at (world, 0)->saves.scans;
  finish (world, 2, PATH);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_SERVED, .number = under_way });
  g_assert_true (has_copy (world, 1));
  scan (world);
  g_assert_false (has_copy (world, 1));
}

/* A keeper that was too slow for a scan lacks rows of the lender: nothing is trimmed. */
static void
test_without_rows_nothing_is_trimmed (void)
{
  g_autoptr (World) world = world_of (4);
  Buddy *keeper = &node_at (world, 0)->buddy;

  lend_to (world, 2);
  finish (world, 2, PATH);
  pass (world, SCAN_US);
  keeper->state = BUDDY_CHOSEN;
  keeper->again_us = G_MAXUINT64;
  tell (world, 0,
        &(NodeEvent){ .kind = NODE_EVENT_SERVED, .number = node_at (world, 0)->saves.scans });
  g_assert_true (has_copy (world, 1));
  keeper->again_us = 0;
  scan_thrice (world);
  scan (world);
  g_assert_cmpint (keeper->state, ==, BUDDY_FULL);
  g_assert_false (has_copy (world, 1));
}

/* Each holder has its own numbers. */
static void
test_each_holder_has_its_numbers (void)
{
  g_autoptr (World) world = world_of (4);

  lend_to (world, 2);
  finish (world, 2, PATH);
  copy_again (world, 3, 1); /* its result has not come yet */
  scan (world);
  g_assert_cmpuint (node_at (world, 1)->mirror.copies->len, ==, 1);
  g_assert_true (has_copy (world, 1));
}

/* T4-4: two copies are offered as one. */
static void
test_duplicates_change_nothing (void)
{
  g_autoptr (World) world = world_of (4);

  lend_to (world, 2);
  finish (world, 2, PATH);
  copy_again (world, 2, 2);
  g_assert_cmpuint (node_at (world, 1)->mirror.copies->len, ==, 2);
  die (world, 0);
  pass (world, 2 * G_USEC_PER_SEC);
  g_assert_cmpuint (node_at (world, 1)->archive.count, ==, 1);
  g_assert_cmpuint (node_at (world, 1)->mirror.copies->len, ==, 0);
}

/* The keeper dies before it has the copy, or after it was told to drop it: its successor gets the
 * copy, and is told, too. */
static void
test_a_successor_gets_the_copy (void)
{
  g_autoptr (World) world = world_of (5);

  lend_to (world, 3);
  world->peer[1].alive = FALSE;
  finish (world, 3, PATH);
  scan (world);
  g_assert_cmpuint (node_at (world, 0)->mirror.puts.length, ==, 0);
  g_assert_cmpuint (stats_of (world, 3).held, ==, 1);
  die (world, 1);
  pump (world);
  g_assert_true (has_copy (world, 2));
  g_assert_cmpuint (stats_of (world, 3).held, ==, 0);
  scan_thrice (world);
  scan (world);
  g_assert_false (has_copy (world, 2));
}

/* The holder is the lender's keeper: the copy stays there, and is sent to no node. */
static void
test_a_holder_that_is_the_keeper_keeps_it (void)
{
  g_autoptr (World) world = world_of (3);

  lend_to (world, 1);
  finish (world, 1, PATH);
  g_assert_true (has_copy (world, 1));
  g_assert_cmpuint (stats_of (world, 1).held, ==, 0);
  add_peer (world, FALSE); /* the keepers of n0 and n1 stay */
  g_assert_cmpuint (node_at (world, 1)->mirror.copies->len, ==, 1);
  die (world, 0);
  pass (world, 2 * G_USEC_PER_SEC);
  g_assert_true (said (world, 1, "KNOWN /3 finished"));
}

/* The keeper learns of its ward's death before the copy arrives: it offers the result at once. */
static void
test_a_copy_of_a_dead_lender_is_offered (void)
{
  g_autoptr (World) world = world_of (4);

  lend_to (world, 2);
  NodeId lender = *id_of (world, 0);
  die (world, 0);
  pass (world, 2 * G_USEC_PER_SEC);
  g_assert_null (roster_find (node_at (world, 1), &lender));
  copy_again (world, 2, 1);
  g_assert_true (said (world, 1, "KNOWN /3 finished"));
}

/* The holder dies, and its result was lost in transit: the lender asks its own keeper before it
 * runs the job again. */
static void
test_a_lost_result_is_offered (void)
{
  g_autoptr (World) world = world_of (4);

  lend_to (world, 2);
  NodeId holder = *id_of (world, 2);
  world->peer[0].deaf = TRUE;
  finish (world, 2, PATH);
  g_assert_true (has_copy (world, 1));
  world->peer[0].deaf = FALSE;
  world->peer[1].late = TRUE;
  die (world, 2);
  pass (world, RERUN_PATIENCE_US / 2);
  g_assert_null (roster_find (node_at (world, 0), &holder));
  g_assert_false (said (world, 0, "BACK 1"));
  world->peer[1].late = FALSE;
  pump (world);
  g_assert_false (said (world, 0, "PUT 1"));
  const char *known = strstr (world->peer[0].log->str, "KNOWN /3 finished");
  const char *back = strstr (world->peer[0].log->str, "BACK 1");
  g_assert_nonnull (known);
  g_assert_nonnull (back);
  g_assert_true (known < back);
}

/* A keeper that is replaced drops its copies. */
static void
test_who_keeps_no_more_forgets (void)
{
  g_autoptr (World) world = world_of (2);

  lend_to (world, 1);
  finish (world, 1, PATH);
  g_assert_cmpuint (node_at (world, 1)->mirror.copies->len, ==, 1);
  mirror_forget (node_at (world, 1), id_of (world, 0));
  g_assert_cmpuint (node_at (world, 1)->mirror.copies->len, ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/mirror/a-result-goes-to-lender-and-keeper",
                   test_a_result_goes_to_lender_and_keeper);
  g_test_add_func ("/mirror/it-survives-its-lender", test_it_survives_its_lender);
  g_test_add_func ("/mirror/it-survives-lender-and-holder", test_it_survives_lender_and_holder);
  g_test_add_func ("/mirror/the-holder-has-it-until-the-keeper-does",
                   test_the_holder_has_it_until_the_keeper_does);
  g_test_add_func ("/mirror/the-mark-of-the-copy-confirms-it",
                   test_the_mark_of_the_copy_confirms_it);
  g_test_add_func ("/mirror/the-holder-offers-it-until-the-keeper-does",
                   test_the_holder_offers_it_until_the_keeper_does);
  g_test_add_func ("/mirror/a-scan-trims", test_a_scan_trims);
  g_test_add_func ("/mirror/a-scan-under-way-trims-nothing", test_a_scan_under_way_trims_nothing);
  g_test_add_func ("/mirror/without-rows-nothing-is-trimmed", test_without_rows_nothing_is_trimmed);
  g_test_add_func ("/mirror/each-holder-has-its-numbers", test_each_holder_has_its_numbers);
  g_test_add_func ("/mirror/duplicates-change-nothing", test_duplicates_change_nothing);
  g_test_add_func ("/mirror/a-successor-gets-the-copy", test_a_successor_gets_the_copy);
  g_test_add_func ("/mirror/a-holder-that-is-the-keeper-keeps-it",
                   test_a_holder_that_is_the_keeper_keeps_it);
  g_test_add_func ("/mirror/a-copy-of-a-dead-lender-is-offered",
                   test_a_copy_of_a_dead_lender_is_offered);
  g_test_add_func ("/mirror/a-lost-result-is-offered", test_a_lost_result_is_offered);
  g_test_add_func ("/mirror/who-keeps-no-more-forgets", test_who_keeps_no_more_forgets);
  return g_test_run ();
}
