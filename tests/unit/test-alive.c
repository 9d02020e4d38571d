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

/* Links between two that are up; the last of them. */
static guint
links_between (World *world, guint a, guint b, guint64 *last)
{
  guint n = 0;

  for (guint i = 0; i < world->wires->len; i++)
    {
      const Wire *wire = &g_array_index (world->wires, Wire, i);
      if (!wire->up || wire->end[0] + wire->end[1] != a + b
          || (wire->end[0] != a && wire->end[0] != b))
        continue;
      *last = i + 1;
      n++;
    }
  return n;
}

/* One that is accused is dialled, though there is a link to it. */
static void
accuse (World *world, guint who)
{
  guint64 link;

  g_assert_cmpuint (links_between (world, 0, 2, &link), ==, 1);
  deliver (world, link, 0,
           &(Message){ .kind = MESSAGE_GONE, .id = node_self (world->peer[who].node) });
}

/* The elder dials whom it has a link to that the younger made: one is enough, and what was lent
 * over the other stays lent. */
static void
test_one_link_is_enough (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  guint64 first, last;
  start (world);
  offer (world, 0, "/0");
  hunger (world, 1);
  g_assert_cmpuint (links_between (world, 0, 1, &first), ==, 1);
  forget_log (world);
  guint n_wires = world->wires->len;

  accuse (world, 1);
  pass (world, 2 * NODE_HEARTBEAT_US);
  g_assert_cmpuint (world->wires->len, ==, n_wires + 1);
  g_assert_cmpuint (links_between (world, 0, 1, &last), ==, 1);
  g_assert_cmpuint (last, ==, first);
  g_assert_cmpuint (world->n_closed, ==, 1); /* by one of them */
  g_assert_false (said (world, 0, "BACK 1"));
  finish (world, 1, "/0");
  g_assert_true (said (world, 0, "PUT 1"));
}

/* Two that redial each other at the same time. */
static void
test_of_two_links_one_stays (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  guint64 last;
  start (world);
  pass (world, NODE_HEARTBEAT_US);
  guint n_wires = world->wires->len;

  cut (world, 1, 2);
  pump (world);
  g_assert_cmpuint (world->wires->len, ==, n_wires + 2);
  pass (world, 2 * NODE_HEARTBEAT_US);
  g_assert_cmpuint (links_between (world, 1, 2, &last), ==, 1);
}

/* No new link is given up for one that is half open. */
static void
test_a_dead_link_replaces_none (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  guint64 first, last;
  start (world);
  pass (world, NODE_HEARTBEAT_US);
  g_assert_cmpuint (links_between (world, 0, 1, &first), ==, 1);
  g_array_index (world->wires, Wire, first - 1).mute = TRUE;
  pass (world, NODE_HEARTBEAT_US);

  accuse (world, 1);
  pass (world, NODE_HEARTBEAT_US);
  g_assert_cmpuint (links_between (world, 0, 1, &last), ==, 2);
  pass (world, 2 * NODE_SILENCE_US);
  g_assert_cmpuint (links_between (world, 0, 1, &first), ==, 1);
  g_assert_cmpuint (first, ==, last);
  g_assert_cmpuint (members_of (world, 0), ==, 3);
  g_assert_cmpuint (stats_of (world, 0).silenced + stats_of (world, 1).silenced, ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define TEST(name, function) g_test_add_func ("/alive/" name, function)
  TEST ("many-say-little", test_many_say_little);
  TEST ("a-silent-one-is-looked-for-and-then-left-out",
        test_a_silent_one_is_looked_for_and_then_left_out);
  TEST ("one-link-is-enough", test_one_link_is_enough);
  TEST ("of-two-links-one-stays", test_of_two_links_one_stays);
  TEST ("a-dead-link-replaces-none", test_a_dead_link_replaces_none);
  return g_test_run ();
}
