/* SPDX-License-Identifier: BSD-3-Clause */
/* Node ids: order and text. */
#include "config.h"

#include "node-id.h"

static void
test_order (void)
{
  static const NodeId ids[]
      = { { 0, 0, 0 },           { 1, 1, 5 }, { 1, 2, 0 },          { 1, 2, 9 },
          { 1, G_MAXUINT32, 0 }, { 2, 0, 0 }, { 2, 0, G_MAXUINT32 } };

  for (gsize i = 0; i < G_N_ELEMENTS (ids); i++)
    for (gsize j = 0; j < G_N_ELEMENTS (ids); j++)
      {
        int order = node_id_compare (&ids[i], &ids[j]);

        g_assert_cmpint (order < 0, ==, i < j);
        g_assert_cmpint (order > 0, ==, i > j);
        g_assert_cmpint (node_id_equal (&ids[i], &ids[j]), ==, i == j);
      }
  g_assert_true (node_id_is_none (&NODE_ID_NONE));
  g_assert_false (node_id_is_none (&ids[1]));
}

static void
test_text (void)
{
  NodeId id = { 2, 7, 0x0a1b2c3d };
  NodeId longest = { G_MAXUINT32, G_MAXUINT32, G_MAXUINT32 };
  NodeId back;
  char text[NODE_ID_TEXT_MAX];

  g_assert_cmpstr (node_id_show (&id, text), ==, "2.7");
  g_assert_cmpstr (node_id_write (&id, text), ==, "2.7.0a1b2c3d");
  g_assert_true (node_id_read (text, &back));
  g_assert_true (node_id_equal (&id, &back));
  g_assert_cmpstr (node_id_write (&longest, text), ==, "4294967295.4294967295.ffffffff");
  g_assert_true (node_id_read (text, &back));
  g_assert_true (node_id_equal (&longest, &back));
}

static void
test_refused (void)
{
  static const char *const bad[] = { "",
                                     "2",
                                     "2.7",
                                     "2.7.",
                                     "2.7.a1b2c3d",
                                     "2.7.0A1B2C3D",
                                     "02.7.0a1b2c3d",
                                     "2.7.0a1b2c3d ",
                                     " 2.7.0a1b2c3d",
                                     "-2.7.0a1b2c3d",
                                     "4294967296.7.0a1b2c3d",
                                     "2.99999999999999999999.0a1b2c3d",
                                     "2.7.00a1b2c3d",
                                     "2..0a1b2c3d" };
  NodeId id = { 1, 2, 3 };

  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++)
    g_assert_false (node_id_read (bad[i], &id));
  g_assert_cmpuint (id.random, ==, 3);
}

static void
test_sets (void)
{
  const NodeId ids[] = { { 1, 2, 3 }, { 1, 1, 9 }, { 1, 2, 4 } };
  g_autoptr (GArray) set = g_array_new (FALSE, FALSE, sizeof (NodeId));

  g_assert_false (node_id_set_remove (set, &ids[0]));
  node_id_set_add (set, &ids[0]);
  node_id_set_add (set, &ids[1]);
  node_id_set_add (set, &ids[0]);
  g_assert_cmpuint (set->len, ==, 2);
  g_assert_true (node_id_equal (&g_array_index (set, NodeId, 1), &ids[1]));
  g_assert_false (node_id_set_has (set, &ids[2]));
  g_assert_true (node_id_set_remove (set, &ids[0]));
  g_assert_false (node_id_set_has (set, &ids[0]));
  g_assert_true (node_id_set_has (set, &ids[1]));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/node-id/order-is-by-term-then-number-then-random", test_order);
  g_test_add_func ("/node-id/text-reads-back", test_text);
  g_test_add_func ("/node-id/other-text-is-refused", test_refused);
  g_test_add_func ("/node-id/a-set-has-each-once-in-order", test_sets);
  return g_test_run ();
}
