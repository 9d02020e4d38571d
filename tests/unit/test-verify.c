/* SPDX-License-Identifier: BSD-3-Clause */
/* Results of other nodes are computed twice (verify.h). n0 lends /3 to n1, and repeats it. */
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
  (void)offer (world, 0, PATH);
  hunger (world, 1);
  forget_log (world);
  return world;
}

static World *
world_of (guint n)
{
  return world_that (n, FALSE);
}

static void
finish_with (World *world, guint who, const char *value)
{
  g_autoptr (GBytes) bytes = g_bytes_new (value, strlen (value));
  guint64 held = held_of (world, who, PATH);

  g_hash_table_remove (world->peer[who].running, &held);
  tell (world, who, &(NodeEvent){ .kind = NODE_EVENT_DONE, .held = held, .bytes = bytes });
}

static guint
repeats_of (World *world, guint who)
{
  return world->peer[who].node->verify.repeats->len;
}

/* Until both results are there the job's result counts as in transit: no slot has it, and its
 * holder keeps it. */
static void
test_a_result_counts_when_it_is_there_twice (void)
{
  g_autoptr (World) world = world_of (2);

  finish_with (world, 1, "42");
  g_assert_cmpuint (repeats_of (world, 0), ==, 1);
  g_assert_false (said (world, 0, "PUT 1"));
  g_assert_cmpuint (stats_of (world, 1).held, ==, 1);
  finish_with (world, 0, "42");
  g_assert_true (said (world, 0, "PUT 1"));
  g_assert_cmpuint (repeats_of (world, 0), ==, 0);
  g_assert_cmpuint (stats_of (world, 0).verified, ==, 1);
  g_assert_cmpuint (stats_of (world, 1).held, ==, 0);
}

static void
test_two_results_differ (void)
{
  g_autoptr (World) world = world_of (2);

  world->watch = note_difference;
  finish_with (world, 1, "42");
  finish_with (world, 0, "43");
  g_assert_cmpstr (values, ==, "/3: 42, 43");
  g_assert_true (node_id_equal (&author, &world->peer[1].node->self));
  g_assert_false (said (world, 0, "PUT 1"));
  g_assert_cmpuint (stats_of (world, 0).verified, ==, 0);
  g_free (values);
}

/* The holder has reported rows for all of the work, and has chosen from them for verification
 * itself: no repeat. */
static void
test_parts_were_drawn_before (void)
{
  g_autoptr (World) world = world_of (2);
  g_autoptr (GBytes) bytes = g_bytes_new ("42", 2);
  guint64 held = held_of (world, 1, PATH);

  g_hash_table_remove (world->peer[1].running, &held);
  tell (world, 1,
        &(NodeEvent){ .kind = NODE_EVENT_DONE, .held = held, .bytes = bytes, .work_us = 1000 });
  g_assert_cmpuint (repeats_of (world, 0), ==, 0);
  g_assert_true (said (world, 0, "PUT 1"));
}

/* The effect is as if the holder had died with the result. */
static void
test_the_holder_dies (void)
{
  g_autoptr (World) world = world_of (2);

  finish_with (world, 1, "42");
  die (world, 1);
  pass (world, 2 * G_USEC_PER_SEC);
  g_assert_cmpuint (repeats_of (world, 0), ==, 0);
  g_assert_true (said (world, 0, "BACK 1"));
  g_assert_false (said (world, 0, "PUT 1"));
}

/* A leave does not wait for the repeat, which may take as long as a job. */
static void
test_the_holder_leaves (void)
{
  g_autoptr (World) world = world_of (3);

  finish_with (world, 1, "42");
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_LEAVE });
  g_assert_cmpuint (repeats_of (world, 0), ==, 0);
  g_assert_true (said (world, 0, "PUT 1"));
  g_assert_cmpuint (stats_of (world, 0).verified, ==, 0);
}

/* A result that came before a round of saving belongs to the round, and one that comes during the
 * round does not wait. */
static void
test_a_round_begins (void)
{
  g_autoptr (World) world = world_that (2, TRUE);

  finish_with (world, 1, "42");
  g_assert_cmpuint (repeats_of (world, 0), ==, 1);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_SAVE });
  g_assert_true (world->peer[0].node->round.heard);
  g_assert_cmpuint (repeats_of (world, 0), ==, 0);
  g_assert_true (said (world, 0, "PUT 1"));
  (void)offer (world, 0, "/4");
  hunger (world, 1);
  finish (world, 1, "/4");
  g_assert_true (said (world, 0, "PUT 2"));
}

/* The slot is aborted: the result is not wanted any more. */
static void
test_the_slot_is_aborted (void)
{
  g_autoptr (World) world = world_of (2);

  finish_with (world, 1, "42");
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_ABORTED, .loan = 1 });
  g_assert_cmpuint (repeats_of (world, 0), ==, 0);
  g_assert_cmpuint (stats_of (world, 1).held, ==, 0);
}

/* A thief gets no repeated job back; if there is no room for the repeat, the result is used as it
 * came: all others may wait for it. */
static void
test_a_repeat_comes_back (void)
{
  g_autoptr (World) world = world_of (3);
  Node *node = world->peer[0].node;

  finish_with (world, 1, "42");
  has_not_begun (world, 0, PATH);
  hunger (world, 2);
  g_assert_cmpuint (repeats_of (world, 0), ==, 1);
  g_assert_false (said (world, 0, "PUT 1"));
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_UNRUN, .held = held_at (node, PATH)->held });
  g_assert_cmpuint (repeats_of (world, 0), ==, 0);
  g_assert_true (said (world, 0, "PUT 1"));
}

/* Jobs that a repeat lends are not repeated by the same node. */
static void
test_parts_of_a_repeat (void)
{
  g_autoptr (World) world = world_of (3);
  Node *node = world->peer[0].node;

  g_assert_true (verify_chooses (node, PATH "/0"));
  finish_with (world, 1, "42");
  g_assert_false (verify_chooses (node, PATH "/0"));
  g_assert_true (verify_chooses (node, "/4"));
}

/* A row of the checkpoint: the node that spawns the job again has asked for one. Node 0 offers it,
 * and node 7.1 computed it in an earlier start. */
static World *
world_with_row_by (const NodeId *computed_by)
{
  World *world = world_new (2, TRUE);
  Digest digest = digest_of_string (PATH);
  g_autoptr (GBytes) value = g_bytes_new ("42", 2);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);
  Row *row = row_new (PATH, 1, &digest, 0.1, 50, value);

  row->node = *computed_by;
  g_ptr_array_add (rows, row);
  for (guint i = 0; i < 2; i++)
    world->peer[i].node->config.verify = 1;
  world->verify = 1;
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_RESTORED, .rows = rows });
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  pass (world, G_USEC_PER_SEC / 2);
  start (world);
  world->watch = note_difference;
  return world;
}

static World *
world_with_row (void)
{
  return world_with_row_by (&(NodeId){ .term = 7, .number = 1 });
}

/* `named` (nullable): the node that the report of a difference names. */
static void
check_a_row_at (guint who, const NodeId *computed_by, const NodeId *named)
{
  g_autoptr (World) world = world_with_row_by (computed_by);

  adopt (world, who, PATH, 9, 0);
  g_assert_cmpuint (repeats_of (world, who), ==, 1);
  g_assert_false (said (world, who, "PUT 9"));
  finish_with (world, who, "42");
  g_assert_true (said (world, who, "PUT 9"));
  g_assert_cmpuint (stats_of (world, who).verified, ==, 1);
  adopt (world, who, PATH, 10, 0);
  finish_with (world, who, "43");
  g_assert_cmpstr (values, ==, PATH ": 42, 43");
  g_assert_true (node_id_equal (&author, named != NULL ? named : &world->peer[0].node->self));
  g_assert_false (said (world, who, "PUT 10"));
  g_free (values);
}

static void
test_a_row_of_another_node (void)
{
  check_a_row_at (1, &(NodeId){ .term = 7, .number = 1 }, &(NodeId){ .term = 7, .number = 1 });
}

static void
test_a_row_of_this_node (void)
{
  check_a_row_at (0, &(NodeId){ .term = 7, .number = 1 }, &(NodeId){ .term = 7, .number = 1 });
}

/* A damaged file may not record which node computed a row: the report names the node that offers
 * it, or none. */
static void
test_a_row_without_an_author (void)
{
  check_a_row_at (0, &(NodeId){ 0 }, &(NodeId){ 0 });
  check_a_row_at (1, &(NodeId){ 0 }, NULL);
}

/* The slot of a row that is computed again is aborted. */
static void
test_a_row_is_aborted (void)
{
  g_autoptr (World) world = world_with_row ();

  adopt (world, 0, PATH, 9, 0);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_ABORTED, .loan = 9 });
  g_assert_cmpuint (repeats_of (world, 0), ==, 0);
  g_assert_false (said (world, 0, "PUT 9"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/verify/a-result-counts-when-it-is-there-twice",
                   test_a_result_counts_when_it_is_there_twice);
  g_test_add_func ("/verify/two-results-differ", test_two_results_differ);
  g_test_add_func ("/verify/parts-were-drawn-before", test_parts_were_drawn_before);
  g_test_add_func ("/verify/the-holder-dies", test_the_holder_dies);
  g_test_add_func ("/verify/the-holder-leaves", test_the_holder_leaves);
  g_test_add_func ("/verify/a-round-begins", test_a_round_begins);
  g_test_add_func ("/verify/the-slot-is-aborted", test_the_slot_is_aborted);
  g_test_add_func ("/verify/a-repeat-comes-back", test_a_repeat_comes_back);
  g_test_add_func ("/verify/parts-of-a-repeat", test_parts_of_a_repeat);
  g_test_add_func ("/verify/a-row-of-another-node", test_a_row_of_another_node);
  g_test_add_func ("/verify/a-row-of-this-node", test_a_row_of_this_node);
  g_test_add_func ("/verify/a-row-without-an-author", test_a_row_without_an_author);
  g_test_add_func ("/verify/a-row-is-aborted", test_a_row_is_aborted);
  return g_test_run ();
}
