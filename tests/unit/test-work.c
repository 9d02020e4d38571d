/* SPDX-License-Identifier: BSD-3-Clause */
/* What Nodes report about their work, and what they count as lost when one dies. */
#include "node-world.h"

#include "satin/protocol/core.h"

/* The engine of `who` reports its work: in total and for one held job so much is at risk. */
static void
tell_sums (World *world, guint who, guint64 all_us, guint64 held, guint64 risk_us, guint32 busy)
{
  NodeProgress item = { held, risk_us, busy };
  g_autoptr (GArray) progress = g_array_new (FALSE, FALSE, sizeof (NodeProgress));

  g_array_append_val (progress, item);
  tell (world, who,
        &(NodeEvent){ .kind = NODE_EVENT_WORK,
                      .work_us = all_us,
                      .risk_us = all_us,
                      .count = busy,
                      .progress = progress });
}

static void
tell_work (World *world, guint who, guint64 held, guint64 risk_us, guint32 busy)
{
  tell_sums (world, who, risk_us, held, risk_us, busy);
}

/* The work of `other`, which is gone, as far as `who` knows it. */
static guint64
departed_work_us (World *world, guint who, guint other)
{
  const GArray *departed = node_departed (world->peer[who].node);
  guint64 work_us = 0;

  for (guint i = 0; i < departed->len; i++)
    {
      const NodeDeparted *one = &g_array_index (departed, NodeDeparted, i);
      if (one->id.number == other + 1)
        work_us += one->work_us;
    }
  return work_us;
}

static void
test_a_lender_knows_what_its_holder_took_along (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  start (world);
  (void)offer (world, 0, "/0");
  hunger (world, 1);
  tell_work (world, 1, held_of (world, 1, "/0"), 700, 1);
  pass (world, 100);

  die (world, 1);
  pass (world, 1);

  g_assert_cmpuint (stats_of (world, 0).lost_us, ==, 800);
}

static void
test_who_had_no_time_to_tell_had_no_more_seats_than_it_has (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  start (world);
  for (guint i = 0; i < 3; i++)
    (void)offer (world, 0, ((const char *const[]){ "/0", "/1", "/2" })[i]);
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_IDLE, .count = 3 });
  g_assert_cmpuint (g_hash_table_size (world->peer[1].running), ==, 3);
  pass (world, 90);

  die (world, 1);
  pump (world);

  g_assert_cmpuint (stats_of (world, 0).lost_us, ==, 180); /* of two workers */
  g_assert_cmpuint (departed_work_us (world, 0, 1), >=, 180);
}

/* Nor did the jobs that it had told of take a seat from the others. */
static void
test_what_it_told_does_not_count_as_untold (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  static const char *const paths[] = { "/0", "/1", "/2", "/3" };

  start (world);
  for (guint i = 0; i < G_N_ELEMENTS (paths); i += 2)
    {
      (void)offer (world, 0, paths[i]);
      (void)offer (world, 0, paths[i + 1]);
      tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_IDLE, .count = 2 });
      if (i == 0)
        tell_work (world, 1, held_of (world, 1, "/0"), 0, 0);
    }
  g_assert_cmpuint (g_hash_table_size (world->peer[1].running), ==, 4);
  pass (world, 90);

  die (world, 1);
  pump (world);

  g_assert_cmpuint (stats_of (world, 0).lost_us, ==, 180);
}

/* The master, to which n1 also reported its work, dies together with n1: n2, which had lent n1 a
 * job, knows what n1 had done. */
static void
test_what_was_lost_had_been_done (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  start (world);
  (void)offer (world, 2, "/0");
  hunger (world, 1);
  tell_work (world, 1, held_of (world, 1, "/0"), 700, 1);
  pass (world, 100);

  die (world, 0);
  die (world, 1);
  pass (world, 1);

  g_assert_cmpuint (stats_of (world, 2).lost_us, ==, 800);
  g_assert_cmpuint (departed_work_us (world, 2, 1), ==, 800);
}

/* What a member tells of main's root holds until its next message: a root that it names no more is
 * not lost with it. */
static void
test_what_was_told_of_the_root_is_replaced (void)
{
  static const guint64 root[WORK_ITEM] = { LOANS_ROOT, 700, 0 };

  for (guint named = 0; named < 2; named++)
    {
      g_autoptr (World) world = world_new (2, FALSE);
      g_autoptr (GArray) numbers = g_array_new (FALSE, FALSE, sizeof (guint64));
      Message told = { .kind = MESSAGE_WORK, .work_us = 700, .numbers = numbers };

      g_array_append_vals (numbers, root, WORK_ITEM);
      deliver (world, link_between (world, 0, 1), 1, &told);
      told.numbers = named ? numbers : NULL;
      deliver (world, link_between (world, 0, 1), 1, &told);
      die (world, 0);
      pass (world, G_USEC_PER_SEC);
      g_assert_true (said (world, 1, "MASTER"));
      g_assert_cmpuint (stats_of (world, 1).lost_us, ==, named ? 700 : 0);
    }
}

static void
test_what_comes_and_goes_at_once_is_told_at_once (void)
{
  g_autoptr (World) world = world_new (2, TRUE);
  g_autoptr (GBytes) value = g_bytes_new ("7", 1);
  g_autoptr (GPtrArray) none = g_ptr_array_new ();
  NodeEvent rows = { .kind = NODE_EVENT_ROWS, .rows = none, .risk_us = WORK_MOVED_US / 2 };
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  start (world);
  (void)offer (world, 0, "/0");
  hunger (world, 1);

  tell (world, 1,
        &(NodeEvent){ .kind = NODE_EVENT_DONE,
                      .held = held_of (world, 1, "/0"),
                      .bytes = value,
                      .work_us = WORK_MOVED_US,
                      .risk_us = WORK_MOVED_US });
  g_assert_true (said (world, 0, "TELL")); /* its result came */
  tell (world, 1, &rows);
  g_assert_false (said (world, 1, "TELL"));
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_WORK });
  tell (world, 1, &rows);
  g_assert_false (said (world, 1, "TELL"));
  tell (world, 1, &rows);
  g_assert_true (said (world, 1, "TELL"));

  g_string_truncate (world->peer[1].log, 0);
  tell (world, 1,
        &(NodeEvent){ .kind = NODE_EVENT_WORK,
                      .work_us = G_USEC_PER_SEC,
                      .risk_us = 2 * WORK_MOVED_US * WORK_MOVED_SHARE });
  for (guint i = 0; i < 3; i++)
    tell (world, 1, &rows);
  g_assert_false (said (world, 1, "TELL")); /* compared with the total that is little */
  tell (world, 1, &rows);
  g_assert_true (said (world, 1, "TELL"));
}

/* Messages WORK that were sent. */
static guint n_told;

static void
count_told (World *world G_GNUC_UNUSED, guint who G_GNUC_UNUSED, const NodeEffect *effect)
{
  n_told += kind_sent (effect) == MESSAGE_WORK;
}

/* The number of nodes that learn of this node's report. */
static guint
told_of (World *world, guint who, guint64 all_us, guint64 held, guint64 risk_us, guint32 busy)
{
  n_told = 0;
  tell_sums (world, who, all_us, held, risk_us, busy);
  return n_told;
}

static guint
told_by (World *world, guint who, guint64 held, guint64 risk_us, guint32 busy)
{
  return told_of (world, who, risk_us, held, risk_us, busy);
}

/* With more than WORK_ALL_MAX members the master and the lender learn at once if more is at risk
 * than they assume, and if less is, only after a while. */
static void
test_in_a_large_run_less_can_wait (void)
{
  g_autoptr (World) world = world_new (WORK_ALL_MAX + 2, FALSE);
  guint64 pause_us = world->n * WORK_PAUSE_US, held;
  start (world);
  (void)offer (world, 2, "/0");
  hunger (world, 1);
  held = held_of (world, 1, "/0");
  world->watch = count_told;

  g_assert_cmpuint (told_by (world, 1, held, WORK_MOVED_US, 1), ==, 2);
  pass (world, pause_us / 2);
  g_assert_cmpuint (told_by (world, 1, held, WORK_MOVED_US + pause_us / 2, 1), ==, 0);
  g_assert_cmpuint (told_by (world, 1, held, 0, 1), ==, 0);
  g_assert_cmpuint (told_by (world, 1, held, 3 * WORK_MOVED_US + pause_us / 2, 1), ==, 2);
  g_assert_cmpuint (told_by (world, 1, held, 0, 0), ==, 0);
  pass (world, pause_us);
  g_assert_cmpuint (told_by (world, 1, held, 0, 0), ==, 2);
  pass (world, pause_us);
  g_assert_cmpuint (told_by (world, 1, held, 0, 0), ==, 0); /* they know everything already */

  g_assert_cmpuint (told_by (world, 1, held, 700, 1), ==, 2);
  pass (world, 100);
  die (world, 1);
  pass (world, 1);
  g_assert_cmpuint (stats_of (world, 2).lost_us, ==, 800);
}

/* A larger total is reported though no loan has more, and a larger loan though the total is the
 * same. */
static void
test_in_a_large_run_more_is_told_of_all_and_of_each (void)
{
  g_autoptr (World) world = world_new (WORK_ALL_MAX + 2, FALSE);
  guint64 held, much_us = 2 * WORK_MOVED_US;
  start (world);
  (void)offer (world, 2, "/0");
  hunger (world, 1);
  held = held_of (world, 1, "/0");
  world->watch = count_told;

  g_assert_cmpuint (told_of (world, 1, 2 * much_us, held, much_us, 1), ==, 2);
  g_assert_cmpuint (told_of (world, 1, 4 * much_us, held, much_us, 1), ==, 2);
  g_assert_cmpuint (told_of (world, 1, 4 * much_us, held, 3 * much_us, 1), ==, 2);
  g_assert_cmpuint (told_of (world, 1, 4 * much_us, held, 3 * much_us, 1), ==, 0);
}

/* The next master learns at once of the node that has main's root, the other nodes from time to
 * time. */
static void
test_in_a_large_run_the_next_master_hears_of_the_root (void)
{
  g_autoptr (World) world = world_new (WORK_ALL_MAX + 2, FALSE);
  start (world);
  world->watch = count_told;

  g_assert_cmpuint (told_by (world, 0, 0, WORK_MOVED_US, 1), ==, world->n - 1);
  g_assert_cmpuint (told_by (world, 0, 0, 3 * WORK_MOVED_US, 1), ==, 1);
  pass (world, WORK_LONG_US);
  g_assert_cmpuint (told_by (world, 0, 0, 3 * WORK_MOVED_US, 1), ==, world->n - 1);
}

/* The master, the next one and the lender learn at once of what differs from what they assume, all
 * others once a second. */
static void
test_in_a_small_run_what_differs_is_told (void)
{
  g_autoptr (World) world = world_new (5, FALSE);
  guint64 held, risk_us = 10 * WORK_MOVED_US, later_us = 5 * WORK_MOVED_US;
  start (world);
  (void)offer (world, 2, "/0");
  hunger (world, 3);
  held = held_of (world, 3, "/0");
  world->watch = count_told;

  g_assert_cmpuint (told_by (world, 3, held, risk_us, 1), ==, 4);
  pass (world, later_us);
  g_assert_cmpuint (told_by (world, 3, held, risk_us + later_us, 1), ==, 0);
  g_assert_cmpuint (told_by (world, 3, held, risk_us + 2 * later_us, 1), ==, 3);
  g_assert_cmpuint (told_by (world, 3, held, risk_us, 1), ==, 3);
  g_assert_cmpuint (told_of (world, 3, risk_us, held, 0, 1), ==, 3); /* only the lender's is less */
  g_assert_cmpuint (told_of (world, 3, risk_us, held, 0, 0), ==, 3);
  g_assert_cmpuint (told_of (world, 3, risk_us, held, 0, 1), ==, 3);
  pass (world, WORK_LONG_US);
  g_assert_cmpuint (told_of (world, 3, risk_us + WORK_LONG_US, held, WORK_LONG_US, 1), ==, 4);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/work/a-lender-knows-what-its-holder-took-along",
                   test_a_lender_knows_what_its_holder_took_along);
  g_test_add_func ("/work/who-had-no-time-to-tell-had-no-more-seats-than-it-has",
                   test_who_had_no_time_to_tell_had_no_more_seats_than_it_has);
  g_test_add_func ("/work/what-it-told-does-not-count-as-untold",
                   test_what_it_told_does_not_count_as_untold);
  g_test_add_func ("/work/what-was-lost-had-been-done", test_what_was_lost_had_been_done);
  g_test_add_func ("/work/what-was-told-of-the-root-is-replaced",
                   test_what_was_told_of_the_root_is_replaced);
  g_test_add_func ("/work/in-a-large-run-less-can-wait", test_in_a_large_run_less_can_wait);
  g_test_add_func ("/work/in-a-large-run-more-is-told-of-all-and-of-each",
                   test_in_a_large_run_more_is_told_of_all_and_of_each);
  g_test_add_func ("/work/in-a-large-run-the-next-master-hears-of-the-root",
                   test_in_a_large_run_the_next_master_hears_of_the_root);
  g_test_add_func ("/work/in-a-small-run-what-differs-is-told",
                   test_in_a_small_run_what_differs_is_told);
  g_test_add_func ("/work/what-comes-and-goes-at-once-is-told-at-once",
                   test_what_comes_and_goes_at_once_is_told_at_once);
  return g_test_run ();
}
