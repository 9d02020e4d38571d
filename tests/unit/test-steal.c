/* SPDX-License-Identifier: BSD-3-Clause */
/* Which node is asked for work, and when. */
#include "node-alone.h"

static void
be_hungry (World *world, guint who)
{
  tell (world, who, &(NodeEvent){ .kind = NODE_EVENT_IDLE, .count = 1 });
}

static Member *
member_of (World *world, guint who, guint other)
{
  NodeId id = id_of (world, other);

  return (Member *)roster_find (node_at (world, who), &id);
}

static void
hear_more (World *world, guint who, guint from)
{
  deliver (world, link_between (world, who, from), who, &(Message){ .kind = MESSAGE_MORE });
}

static gboolean
is_asked (World *world, guint who, guint other)
{
  const Steal *steal = &node_at (world, who)->steal;
  NodeId id = id_of (world, other);

  for (guint i = 0; i < STEAL_LANES; i++)
    if (steal->lanes[i].in_flight && node_id_equal (&steal->lanes[i].victim, &id))
      return TRUE;
  return FALSE;
}

/* All nodes have refused n2, which pauses. */
static World *
refused_by_all (void)
{
  World *world = world_new (3, FALSE);

  start (world);
  be_hungry (world, 2);
  g_assert_cmpuint (world->peer[2].steals, ==, 2);
  g_assert_false (is_asked (world, 2, 0) || is_asked (world, 2, 1));
  return world;
}

/* A member that has work again announces it and is asked at once, whatever pause there is. */
static void
test_who_says_more_is_asked_at_once (void)
{
  g_autoptr (World) world = refused_by_all ();

  world->peer[1].deaf = TRUE; /* so that its answer does not come */
  hear_more (world, 2, 1);
  g_assert_cmpuint (world->peer[2].steals, ==, 3);
  g_assert_true (is_asked (world, 2, 1));
}

/* A node that leaves gives no work. */
static void
test_who_leaves_is_not_asked (void)
{
  g_autoptr (World) world = refused_by_all ();

  member_of (world, 2, 1)->leaving = TRUE;
  hear_more (world, 2, 1);
  g_assert_cmpuint (world->peer[2].steals, ==, 2);
  pass (world, 100 * G_USEC_PER_SEC);
  g_assert_false (is_asked (world, 2, 1));
}

/* Other sites are asked when all of this one have refused, and not before. */
static void
test_other_sites_come_last (void)
{
  for (gint refuses = FALSE; refuses <= TRUE; refuses++)
    {
      g_autoptr (World) world = world_new (3, FALSE);

      start (world);
      member_of (world, 1, 2)->elsewhere = TRUE;
      world->peer[0].deaf = !refuses;
      world->peer[2].deaf = TRUE;
      be_hungry (world, 1);
      g_assert_cmpint (is_asked (world, 1, 0), ==, !refuses);
      g_assert_cmpint (is_asked (world, 1, 2), ==, refuses);
      g_assert_cmpuint (world->peer[1].steals, ==, 1 + refuses);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/steal/who-says-more-is-asked-at-once", test_who_says_more_is_asked_at_once);
  g_test_add_func ("/steal/who-leaves-is-not-asked", test_who_leaves_is_not_asked);
  g_test_add_func ("/steal/other-sites-come-last", test_other_sites_come_last);
  return g_test_run ();
}
