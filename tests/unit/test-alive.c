/* SPDX-License-Identifier: BSD-3-Clause */
/* Signs of life, and what follows when there are none. */
#include "node-world.h"

/* Among many each gives its signs of life more seldom, and none is taken for dead. */
static void
test_many_say_little (void)
{
  g_autoptr (World) world = world_new (NODES_MAX, FALSE);
  const guint minutes = 2;
  start (world);
  pass (world, 60 * G_USEC_PER_SEC);
  for (guint i = 0; i < NODES_MAX; i++)
    world->peer[i].pings = 0;
  pass (world, minutes * 60 * G_USEC_PER_SEC);

  for (guint i = 0; i < NODES_MAX; i++)
    {
      g_assert_cmpuint (world->peer[i].pings, <=, minutes * 60 * 3 + NODES_MAX);
      g_assert_cmpuint (world->peer[i].pings, >,
                        (NODES_MAX - 1) * minutes * 60 * 2 / (NODE_SILENCE_US / G_USEC_PER_SEC));
      g_assert_cmpuint (members_of (world, i), ==, NODES_MAX);
      g_assert_cmpuint (stats_of (world, i).silenced, ==, 0);
    }
}

static void
test_a_silent_one_is_looked_for_and_then_left_out (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  guint n_wires = world->wires->len;
  start (world);

  world->peer[2].deaf = TRUE;
  pass (world, NODE_SILENCE_US / 2 - NODE_HEARTBEAT_US);
  g_assert_cmpuint (world->wires->len, ==, n_wires);
  pass (world, 2 * NODE_HEARTBEAT_US);
  g_assert_cmpuint (world->wires->len, >, n_wires);
  pass (world, NODE_SILENCE_US / 2 - 2 * NODE_HEARTBEAT_US);
  g_assert_cmpuint (members_of (world, 0), ==, 3);
  pass (world, NODE_HEARTBEAT_US); /* no sooner, and no later: all of the limit has passed now */
  g_assert_cmpuint (members_of (world, 0), ==, 2);
  g_assert_cmpuint (members_of (world, 1), ==, 2);
  g_assert_cmpuint (stats_of (world, 0).silenced, ==, 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define TEST(name, function) g_test_add_func ("/alive/" name, function)
  TEST ("many-say-little", test_many_say_little);
  TEST ("a-silent-one-is-looked-for-and-then-left-out",
        test_a_silent_one_is_looked_for_and_then_left_out);
  return g_test_run ();
}
