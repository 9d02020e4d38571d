/* SPDX-License-Identifier: BSD-3-Clause */
/* A run that gets its checkpoint while it goes on: everybody hears of it, and the master becomes
 * coordinator. What a new master, or a new coordinator, makes of what others were told. */
#include "node-world.h"

#include "satin/protocol/core.h"

/* Asked of a node that is not the master. Each node is told once, and the first place counts. */
static void
test_a_checkpoint_may_come_late (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  Digest digest = digest_of_string ("/3");
  g_autoptr (GBytes) value = g_bytes_new ("7", 1);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);
  g_ptr_array_add (rows, row_new ("/3", 1, &digest, 0.1, 50, value));

  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_ROWS, .rows = rows });
  g_assert_false (said (world, 0, "COORDINATOR"));
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_CHECKPOINT, .text = "/a" });
  for (guint i = 0; i < 3; i++)
    g_assert_true (said (world, i, "CHECKPOINT /a"));
  g_assert_true (said (world, 0, "COORDINATOR"));
  forget_log (world);
  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_CHECKPOINT, .text = "/b" });
  for (guint i = 0; i < 3; i++)
    g_assert_false (said (world, i, "CHECKPOINT"));
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  pass (world, 10 * G_USEC_PER_SEC);
  g_assert_true (said (world, 1, "SCAN"));
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_ROWS, .rows = rows });
  g_assert_true (said (world, 0, "SAVE /3"));
}

/* One that links later hears of it, too. */
static void
test_a_node_that_joins_later_hears_of_it (void)
{
  g_autoptr (World) world = world_new (2, FALSE);

  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_CHECKPOINT, .text = "/a" });
  add_peer (world, FALSE);
  pump (world);
  g_assert_true (said (world, 2, "CHECKPOINT /a"));
}

/* n2 is coordinator, n0 master. */
static World *
world_with_another (void)
{
  World *world = world_new (4, TRUE);

  for (guint i = 0; i < 4; i++)
    {
      world->peer[i].commit_us = i == 2 ? 100000 : 900000;
      world->peer[i].found = 1;
    }
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_PUBLISHED, .number = 1 });
  start (world);
  pass (world, 3 * G_USEC_PER_SEC);
  g_assert_true (said (world, 2, "COORDINATOR"));
  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_OPENED, .number = 1 });
  pass (world, G_USEC_PER_SEC);
  return world;
}

static void
drain (World *world, guint who)
{
  tell (world, who, &(NodeEvent){ .kind = NODE_EVENT_HALTED });
  tell (world, who, &(NodeEvent){ .kind = NODE_EVENT_SERVED, .number = G_MAXUINT32 });
}

/* The master dies in a suspend. The next one waits for all, whatever it was told when it was master
 * for a while before, on another side of a split. */
static void
test_a_new_master_waits_for_all_anew (void)
{
  g_autoptr (World) world = world_with_another ();
  const Roster *roster = &world->peer[1].node->roster;

  for (guint i = 0; i < roster->members->len; i++)
    ((Member *)roster->members->pdata[i])->drained = TRUE;
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_SUSPEND });
  drain (world, 1);
  drain (world, 2);
  die (world, 0);
  pass (world, G_USEC_PER_SEC);
  g_assert_true (roster_is_master (world->peer[1].node));
  g_assert_false (said (world, 2, "FINAL"));
  drain (world, 3);
  g_assert_true (said (world, 2, "FINAL"));
}

/* The coordinator dies in a suspend: what was sent to it and is not published goes to the next one
 * first. */
static void
test_a_new_coordinator_gets_all_anew (void)
{
  g_autoptr (World) world = world_with_another ();
  Digest digest = digest_of_string ("/3");
  g_autoptr (GBytes) value = g_bytes_new ("7", 1);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);
  guint next = 4;

  g_ptr_array_add (rows, row_new ("/3", 1, &digest, 0.1, 50, value));
  tell (world, 1, &(NodeEvent){ .kind = NODE_EVENT_ROWS, .rows = rows, .risk_us = 50 });
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_SUSPEND });
  for (guint i = 0; i < 2; i++)
    drain (world, i);
  die (world, 2);
  forget_log (world);
  pass (world, 2 * G_USEC_PER_SEC);
  for (guint i = 0; i < 4; i++)
    next = said (world, i, "COORDINATOR") ? i : next;
  g_assert_cmpuint (next, <, 4);
  tell (world, next, &(NodeEvent){ .kind = NODE_EVENT_OPENED, .number = 1 });
  drain (world, 3);
  g_assert_true (said (world, 1, "SCAN whole"));
  g_assert_false (said (world, next, "FINAL"));
  for (guint i = 0; i < 2; i++)
    tell (world, i, &(NodeEvent){ .kind = NODE_EVENT_SERVED, .number = G_MAXUINT32 });
  g_assert_true (said (world, next, "FINAL"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/office/a-checkpoint-may-come-late", test_a_checkpoint_may_come_late);
  g_test_add_func ("/office/a-node-that-joins-later-hears-of-it",
                   test_a_node_that_joins_later_hears_of_it);
  g_test_add_func ("/office/a-new-master-waits-for-all-anew", test_a_new_master_waits_for_all_anew);
  g_test_add_func ("/office/a-new-coordinator-gets-all-anew", test_a_new_coordinator_gets_all_anew);
  return g_test_run ();
}
