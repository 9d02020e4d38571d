/* SPDX-License-Identifier: BSD-3-Clause */
/* After large rows a node waits before it scans again (saves.c). */
#include "node-world.h"

#include "satin/protocol/core.h"

static void
send_row (World *world, guint who)
{
  Digest digest = digest_of_string ("/3");
  g_autoptr (GBytes) value = g_bytes_new ("12345", 5);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);

  g_ptr_array_add (rows, row_new ("/3", 1, &digest, 0.1, 50, value));
  tell (world, who, &(NodeEvent){ .kind = NODE_EVENT_ROWS, .rows = rows, .risk_us = 50 });
}

static guint64
count_scans (World *world, guint who)
{
  return world->peer[who].node->saves.scans;
}

/* The more bytes a node has sent, the longer it waits, but never for ever. */
static void
test_large_rows_are_followed_by_a_rest (void)
{
  const struct
  {
    guint64 byte_ns, rest_us;
    guint32 workers;
  } cases[] = { { 0, 0, 1 },
                { 1000, 5, 1 }, /* a row of five bytes */
                { 2 * G_GUINT64_CONSTANT (1000000000), 10 * G_USEC_PER_SEC, 1 },
                { 2 * G_GUINT64_CONSTANT (1000000000), 5 * G_USEC_PER_SEC, 2 },
                { 9 * G_GUINT64_CONSTANT (10000000000), SAVES_ROW_REST_MAX_US, 1 } };
  const guint64 step_us = 20 * 1000, interval_us = G_USEC_PER_SEC; /* the times of this world */

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (World) world = world_new (2, TRUE);
      NodeConfig *config = &world->peer[1].node->config;

      tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
      pass (world, G_USEC_PER_SEC / 2);
      config->row_byte_ns = cases[i].byte_ns;
      config->workers = cases[i].workers;
      send_row (world, 1);
      guint64 sent_us = world->now_us;
      guint n = count_scans (world, 1);
      while (count_scans (world, 1) == n)
        pass (world, step_us);
      guint64 waited_us = world->now_us - sent_us;
      g_assert_cmpuint (waited_us, >=, cases[i].rest_us);
      g_assert_cmpuint (waited_us, <=, MAX (cases[i].rest_us, interval_us) + step_us);
    }
}

/* A keeper gets copies often, whatever rows cost the coordinator: a crash of this node loses the
 * work since the last copies. */
static void
test_a_keeper_does_not_wait (void)
{
  g_autoptr (World) world = world_new (0, TRUE);

  world->buddies = TRUE;
  for (guint i = 0; i < 2; i++)
    add_peer (world, FALSE);
  pass (world, 10);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  pass (world, 2 * G_USEC_PER_SEC);
  world->peer[1].node->config.row_byte_ns = 2 * G_GUINT64_CONSTANT (1000000000);
  g_assert_true (buddy_takes (world->peer[1].node));
  send_row (world, 1);
  guint64 n = count_scans (world, 1);
  pass (world, G_USEC_PER_SEC);
  g_assert_cmpuint (count_scans (world, 1), >, n + 2);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/saves-rest/large-rows-are-followed-by-a-rest",
                   test_large_rows_are_followed_by_a_rest);
  g_test_add_func ("/saves-rest/a-keeper-does-not-wait", test_a_keeper_does_not_wait);
  return g_test_run ();
}
