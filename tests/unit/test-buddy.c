/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of a member at its buddy: which member is the buddy, when results are acknowledged, and
 * what is offered after a death. */
#include "node-world.h"

#include "satin/protocol/core.h"

#define ROW_US 50
#define SCAN_US (BUDDY_SCAN_US + 1000)
#define TOO_MUCH (9 << 20) /* more than a session sends at once */

static Buddy *
buddy_at (World *world, guint who)
{
  return &world->peer[who].node->buddy;
}

static guint
number_of (World *world, const NodeId *id)
{
  guint who = 0;

  while (who < world->n && !node_id_equal (&world->peer[who].node->self, id))
    who++;
  return who;
}

static guint
buddy_number (World *world, guint who)
{
  return number_of (world, &buddy_at (world, who)->id);
}

/* The engines serve all scans. */
static void
serve (World *world)
{
  for (guint i = 0; i < world->n; i++)
    if (world->peer[i].alive)
      tell (world, i,
            &(NodeEvent){ .kind = NODE_EVENT_SERVED, .number = world->peer[i].node->saves.scans });
}

static void
scan (World *world)
{
  pass (world, SCAN_US);
  serve (world);
}

static World *
new_world (guint n)
{
  World *world = world_new (0, FALSE);

  world->buddies = TRUE;
  for (guint i = 0; i < n; i++)
    add_peer (world, n == 1);
  pass (world, 10);
  return world;
}

static World *
world_with_buddies (guint n)
{
  World *world = new_world (n);

  for (guint i = 0; i < 3; i++)
    scan (world);
  for (guint i = 0; i < n; i++)
    g_assert_cmpint (buddy_at (world, i)->state, ==, BUDDY_FULL);
  return world;
}

static void
give_row (World *world, guint who, const char *path)
{
  Digest digest = digest_of_string (path);
  g_autoptr (GBytes) value = g_bytes_new ("7", 1);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);

  g_ptr_array_add (rows, row_new (path, 1, &digest, 0.1, ROW_US, value));
  tell (world, who, &(NodeEvent){ .kind = NODE_EVENT_ROWS, .rows = rows, .risk_us = ROW_US });
}

/* A node other than a and b. */
static guint
third (World *world, guint a, guint b)
{
  guint who = 0;

  while (who == a || who == b || !world->peer[who].alive)
    who++;
  g_assert_cmpuint (who, <, world->n);
  return who;
}

static void
test_each_has_another_one (void)
{
  g_autoptr (World) world = world_with_buddies (4);

  for (guint i = 0; i < 4; i++)
    {
      g_assert_cmpuint (buddy_number (world, i), <, 4);
      g_assert_cmpuint (buddy_number (world, i), !=, i);
    }
}

static void
test_one_alone_has_none (void)
{
  g_autoptr (World) world = new_world (1);

  scan (world);
  g_assert_cmpint (buddy_at (world, 0)->state, ==, BUDDY_NONE);
  g_assert_false (said (world, 0, "SCAN"));
}

static void
test_what_a_dead_one_had_is_offered (void)
{
  g_autoptr (World) world = world_with_buddies (4);
  guint victim = 3, buddy = buddy_number (world, victim), other = third (world, victim, buddy);

  give_row (world, victim, "/3");
  g_assert_false (said (world, other, "KNOWN /3 finished"));
  die (world, victim);
  pass (world, G_USEC_PER_SEC);
  g_assert_true (said (world, buddy, "KNOWN /3 finished"));
  g_assert_true (said (world, other, "KNOWN /3 finished"));
}

/* A row counts as safe only when the buddy has confirmed it. */
static void
test_rows_are_safe_when_they_are_confirmed (void)
{
  g_autoptr (World) world = world_with_buddies (3);

  give_row (world, 2, "/3");
  g_assert_cmpuint (stats_of (world, 2).alone_us, ==, ROW_US);
  scan (world);
  g_assert_cmpuint (stats_of (world, 2).alone_us, ==, 0);
  g_assert_cmpuint (stats_of (world, 2).unpublished_us, ==, ROW_US);
}

/* T0-6. n1 runs a job for n0. */
static void
test_a_result_is_acknowledged_when_two_have_it (void)
{
  g_autoptr (World) world = world_with_buddies (3);

  start (world);
  (void)offer (world, 0, "/3");
  hunger (world, 1);
  finish (world, 1, "/3");
  g_assert_true (said (world, 0, "PUT 1"));
  g_assert_cmpuint (stats_of (world, 1).held, ==, 1); /* it is kept */
  scan (world);
  g_assert_cmpuint (stats_of (world, 1).held, ==, 0);
}

static void
test_a_result_is_offered_when_its_lender_dies_first (void)
{
  g_autoptr (World) world = world_with_buddies (3);

  start (world);
  (void)offer (world, 0, "/3");
  hunger (world, 1);
  finish (world, 1, "/3");
  die (world, 0);
  pass (world, G_USEC_PER_SEC);
  g_assert_true (said (world, 1, "KNOWN /3 finished"));
}

/* The buddy dies: all rows go to another buddy, and until then no result is acknowledged. */
static void
test_another_one_gets_all_rows (void)
{
  g_autoptr (World) world = world_with_buddies (4);
  guint who = 3, first = buddy_number (world, who);

  give_row (world, who, "/3");
  scan (world);
  die (world, first);
  pass (world, G_USEC_PER_SEC / 100);
  g_assert_cmpuint (buddy_number (world, who), !=, first);
  g_assert_cmpint (buddy_at (world, who)->state, !=, BUDDY_FULL);
  g_assert_cmpuint (stats_of (world, who).alone_us, ==, ROW_US); /* its own death would lose it */
  forget_log (world);
  pass (world, SCAN_US);
  g_assert_true (said (world, who, "SCAN whole"));
  give_row (world, who, "/4"); /* of a scan before that one: the new buddy still lacks /3 */
  tell (world, who,
        &(NodeEvent){ .kind = NODE_EVENT_SERVED, .number = node_at (world, who)->saves.scans - 1 });
  g_assert_cmpint (buddy_at (world, who)->state, !=, BUDDY_FULL);
  g_assert_cmpuint (stats_of (world, who).alone_us, ==, 2 * ROW_US);
  give_row (world, who, "/3");
  serve (world);
  g_assert_cmpint (buddy_at (world, who)->state, ==, BUDDY_FULL);

  guint second = buddy_number (world, who), other = third (world, who, second);
  die (world, who);
  pass (world, G_USEC_PER_SEC);
  g_assert_true (said (world, other, "KNOWN /3 finished"));
}

/* A member whose buddy is the newest member; the newest member itself if there is none. */
static guint
find_unfaithful (World *world)
{
  guint who = 0, newest = world->n - 1;

  while (who < newest && buddy_number (world, who) != newest)
    who++;
  return who;
}

/* The buddy changes, and changes back before the new buddy has all rows. */
static void
test_one_that_is_chosen_again_keeps_what_it_has (void)
{
  g_autoptr (World) world = world_with_buddies (4);
  guint buddies[NODES_MAX], who, newest;

  do
    {
      scan (world);
      scan (world);
      for (guint i = 0; i < world->n; i++)
        buddies[i] = buddy_number (world, i);
      newest = world->n;
      add_peer (world, FALSE);
      pass (world, 10);
      who = find_unfaithful (world);
    }
  while (who == newest);
  g_assert_cmpint (buddy_at (world, who)->state, !=, BUDDY_FULL);
  die (world, newest);
  pass (world, G_USEC_PER_SEC / 100);
  g_assert_cmpuint (buddy_number (world, who), ==, buddies[who]);
  pass (world, SCAN_US);
  give_row (world, who, "/3");
  serve (world);
  g_assert_cmpint (buddy_at (world, who)->state, ==, BUDDY_FULL);

  Digest digest = digest_of_string ("/3");
  g_assert_true (
      buddy_keeps (world->peer[buddies[who]].node, &world->peer[who].node->self, "/3", &digest));
}

/* While all rows are sent again, the old copies still count. */
static void
test_rows_are_replaced_when_all_have_come (void)
{
  g_autoptr (World) world = world_with_buddies (4);
  guint who = 3, buddy = buddy_number (world, who), other = third (world, who, buddy);

  give_row (world, who, "/3");
  scan (world);
  buddy_at (world, who)->rows = BUDDY_ROWS_MORE + 1;
  pass (world, SCAN_US);
  g_assert_true (said (world, who, "SCAN whole"));
  die (world, who); /* before it has sent them */
  pass (world, G_USEC_PER_SEC);
  g_assert_true (said (world, other, "KNOWN /3 finished"));
}

static void
test_old_rows_go_when_all_have_come (void)
{
  g_autoptr (World) world = world_with_buddies (4);
  guint who = 3, buddy = buddy_number (world, who), other = third (world, who, buddy);

  give_row (world, who, "/3");
  scan (world);
  buddy_at (world, who)->rows = BUDDY_ROWS_MORE + 1;
  pass (world, SCAN_US);
  give_row (world, who, "/4");
  serve (world);
  die (world, who);
  pass (world, G_USEC_PER_SEC);
  g_assert_true (said (world, other, "KNOWN /4 finished"));
  g_assert_false (said (world, other, "KNOWN /3 finished"));
}

/* A few large rows are replaced, too, before they fill the keeper's memory. */
static void
test_large_rows_are_replaced (void)
{
  g_autoptr (World) world = world_with_buddies (4);
  guint who = 3;

  give_row (world, who, "/3");
  scan (world);
  buddy_at (world, who)->bytes = BUDDY_BYTES_MORE;
  g_assert_false (buddy_wants_whole (world->peer[who].node));
  give_row (world, who, "/4");
  g_assert_true (buddy_wants_whole (world->peer[who].node));
  pass (world, SCAN_US);
  g_assert_cmpuint (buddy_at (world, who)->bytes, ==, 0); /* it has begun */
  give_row (world, who, "/4");
  serve (world);
  g_assert_cmpuint (buddy_at (world, who)->bytes_whole, ==, sizeof (Row) + sizeof "/4" + 1);
  g_assert_false (buddy_wants_whole (world->peer[who].node));
}

/* The size of a row grows with its value and each of its texts; a copy has the same size. */
static void
test_bytes_of_a_row (void)
{
  g_autoptr (GBytes) value = g_bytes_new ("0123456", 7), empty = g_bytes_new (NULL, 0);
  Digest digest = digest_of_string ("job");
  g_autoptr (Row) bare = row_new ("/1", 2, &digest, 0.5, 9, empty);
  g_autoptr (Row) row = row_new ("/1/23", 2, &digest, 0.5, 9, value);
  g_autoptr (Row) kept = row_new_kept ("/1", 3, 2, &digest, 0.5, "(xd)", value);

  g_assert_cmpuint (rows_bytes (bare), ==, sizeof (Row) + 3);
  g_assert_cmpuint (rows_bytes (row), ==, sizeof (Row) + 6 + 7);
  row->args = g_strdup ("AQ==");
  g_assert_cmpuint (rows_bytes (row), ==, sizeof (Row) + 6 + 7 + 5);
  g_assert_cmpuint (rows_bytes (kept), ==, sizeof (Row) + 3 + 7 + 5);
  g_autoptr (Row) copy = row_copy (row);
  g_assert_cmpuint (rows_bytes (copy), ==, rows_bytes (row));
}

/* The rows of a ward count while they are kept here, old ones until all have been sent again. The
 * figures keep the maximum. */
static void
test_what_is_kept_is_counted (void)
{
  g_autoptr (World) world = world_with_buddies (4);
  guint who = 3, buddy = buddy_number (world, who);
  Node *keeper = world->peer[buddy].node;
  gsize one = sizeof (Row) + sizeof "/3" + 1;

  g_assert_cmpuint (buddy_kept_bytes (keeper), ==, 0);
  give_row (world, who, "/3");
  g_assert_cmpuint (buddy_kept_bytes (keeper), ==, one);
  give_row (world, who, "/4");
  scan (world);
  g_assert_cmpuint (buddy_kept_bytes (keeper), ==, 2 * one);
  buddy_at (world, who)->rows = BUDDY_ROWS_MORE + 1;
  pass (world, SCAN_US);
  give_row (world, who, "/4");
  g_assert_cmpuint (buddy_kept_bytes (keeper), ==, 3 * one);
  serve (world);
  g_assert_cmpuint (buddy_kept_bytes (keeper), ==, one);
  die (world, who);
  pass (world, G_USEC_PER_SEC);
  g_assert_cmpuint (buddy_kept_bytes (keeper), ==, 0);
  g_assert_cmpuint (stats_of (world, buddy).kept_bytes, ==, 3 * one);
}

/* A buddy is stopped while a coordinator requests scans: the rows for it do not pile up. */
static void
test_one_that_is_too_slow_waits (void)
{
  g_autoptr (World) world = world_with_buddies (4);
  g_autoptr (GBytes) value = g_bytes_new_take (g_malloc0 (TOO_MUCH), TOO_MUCH);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);
  Digest digest = digest_of_string ("/3");
  guint who = 3;
  Peer *buddy = &world->peer[buddy_number (world, who)];

  buddy->late = TRUE;
  g_ptr_array_add (rows, row_new ("/3", 1, &digest, 0.1, ROW_US, value));
  tell (world, who, &(NodeEvent){ .kind = NODE_EVENT_ROWS, .rows = rows, .risk_us = ROW_US });
  forget_log (world);
  pass (world, SCAN_US);
  g_assert_false (said (world, who, "SCAN")); /* not because of the buddy */
  buddy->late = FALSE;
  pass (world, 2 * G_USEC_PER_SEC);
  g_assert_true (said (world, who, "SCAN")); /* it receives again */

  buddy->late = TRUE;
  tell (world, who, &(NodeEvent){ .kind = NODE_EVENT_ROWS, .rows = rows, .risk_us = ROW_US });
  buddy_on_scan (world->peer[who].node, 99, FALSE);
  g_assert_cmpint (buddy_at (world, who)->state, ==, BUDDY_CHOSEN);

  buddy->late = FALSE;
  pass (world, G_USEC_PER_SEC);
  serve (world);
  g_assert_cmpint (buddy_at (world, who)->state, ==, BUDDY_CHOSEN); /* not at once */
  pass (world, BUDDY_PAUSE_MIN_US);
  pass (world, SCAN_US);
  serve (world);
  g_assert_cmpint (buddy_at (world, who)->state, ==, BUDDY_FULL);
}

/* Rows are sent to the buddy as often as without a checkpoint, which is written less often. */
static void
test_a_checkpoint_makes_copies_no_rarer (void)
{
  g_autoptr (World) world = world_new (0, TRUE);

  world->buddies = TRUE;
  for (guint i = 0; i < 2; i++)
    add_peer (world, FALSE);
  pass (world, 10);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  for (guint i = 0; i < 10; i++)
    scan (world);
  for (guint turn = 0; turn < 3; turn++)
    {
      forget_log (world);
      scan (world);
      for (guint i = 0; i < 2; i++)
        {
          g_assert_cmpint (buddy_at (world, i)->state, ==, BUDDY_FULL);
          g_assert_true (said (world, i, "SCAN"));
        }
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/buddy/each-has-another-one", test_each_has_another_one);
  g_test_add_func ("/buddy/one-alone-has-none", test_one_alone_has_none);
  g_test_add_func ("/buddy/what-a-dead-one-had-is-offered", test_what_a_dead_one_had_is_offered);
  g_test_add_func ("/buddy/rows-are-safe-when-they-are-confirmed",
                   test_rows_are_safe_when_they_are_confirmed);
  g_test_add_func ("/buddy/a-result-is-acknowledged-when-two-have-it",
                   test_a_result_is_acknowledged_when_two_have_it);
  g_test_add_func ("/buddy/a-result-is-offered-when-its-lender-dies-first",
                   test_a_result_is_offered_when_its_lender_dies_first);
  g_test_add_func ("/buddy/another-one-gets-all-rows", test_another_one_gets_all_rows);
  g_test_add_func ("/buddy/one-that-is-chosen-again-keeps-what-it-has",
                   test_one_that_is_chosen_again_keeps_what_it_has);
  g_test_add_func ("/buddy/rows-are-replaced-when-all-have-come",
                   test_rows_are_replaced_when_all_have_come);
  g_test_add_func ("/buddy/old-rows-go-when-all-have-come", test_old_rows_go_when_all_have_come);
  g_test_add_func ("/buddy/large-rows-are-replaced", test_large_rows_are_replaced);
  g_test_add_func ("/buddy/bytes-of-a-row", test_bytes_of_a_row);
  g_test_add_func ("/buddy/what-is-kept-is-counted", test_what_is_kept_is_counted);
  g_test_add_func ("/buddy/one-that-is-too-slow-waits", test_one_that_is_too_slow_waits);
  g_test_add_func ("/buddy/a-checkpoint-makes-copies-no-rarer",
                   test_a_checkpoint_makes_copies_no_rarer);
  return g_test_run ();
}
