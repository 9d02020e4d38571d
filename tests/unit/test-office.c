/* SPDX-License-Identifier: BSD-3-Clause */
/* A run that gets its checkpoint while it goes on: everybody hears of it, and the master becomes
 * coordinator. */
#include "node-world.h"

#include "satin/protocol/message.h"

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

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/office/a-checkpoint-may-come-late", test_a_checkpoint_may_come_late);
  g_test_add_func ("/office/a-node-that-joins-later-hears-of-it",
                   test_a_node_that_joins_later_hears_of_it);
  return g_test_run ();
}
