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
  NodeId id = node_self (node_at (world, from));

  deliver (world, link_between (world, who, from), who,
           &(Message){ .kind = MESSAGE_JOBS, .id = id });
}

static gboolean
is_asked (World *world, guint who, guint other)
{
  const Steal *steal = &node_at (world, who)->steal;
  NodeId id = id_of (world, other);

  for (guint i = 0; i < STEAL_LANES; i++)
    if (node_id_equal (&steal->lanes[i].victim, &id))
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

/* A node that refused and then gave a job is asked again like any other. The job that came
 * has a seat: nothing more is asked for until the engine says that it is idle. */
static void
test_who_gave_refuses_no_more (void)
{
  g_autoptr (World) world = refused_by_all ();
  const Steal *steal = &node_at (world, 2)->steal;
  NodeId id = id_of (world, 1);

  g_assert_true (node_id_set_has (steal->refused, &id));
  (void)offer (world, 1, "/0");
  for (guint i = 0; i < 1000 && !said (world, 2, "RUN /0"); i++)
    pass (world, STEAL_PAUSE_MIN_US);
  g_assert_true (said (world, 2, "RUN /0"));
  g_assert_false (node_id_set_has (steal->refused, &id));
  guint steals = world->peer[2].steals;
  pass (world, 10 * STEAL_PAUSE_MAX_US);
  g_assert_cmpuint (world->peer[2].steals, ==, steals);
}

/* In a run without work nodes ask ever less often. */
static void
test_who_is_refused_asks_less_often (void)
{
  g_autoptr (World) world = refused_by_all ();

  pass (world, 10 * STEAL_PAUSE_MAX_US);
  guint steals = world->peer[2].steals;
  pass (world, 10 * STEAL_PAUSE_MAX_US);
  g_assert_cmpuint (world->peer[2].steals - steals, <=,
                    20 + 1); /* a pause is half as long at least */
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
      g_free (member_of (world, 1, 2)->site);
      member_of (world, 1, 2)->site = g_strdup ("another");
      contacts_refresh (node_at (world, 1));
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
  g_test_add_func ("/steal/who-gave-refuses-no-more", test_who_gave_refuses_no_more);
  g_test_add_func ("/steal/who-is-refused-asks-less-often", test_who_is_refused_asks_less_often);
  g_test_add_func ("/steal/who-leaves-is-not-asked", test_who_leaves_is_not_asked);
  g_test_add_func ("/steal/other-sites-come-last", test_other_sites_come_last);
  return g_test_run ();
}
