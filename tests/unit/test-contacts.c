/* SPDX-License-Identifier: BSD-3-Clause */
/* Links of a sparse run: which members have one, and what the hub is told. */
#include "node-calls.h"

#define NODES 16
#define DENSE 8 /* three contacts at the own site are wanted */

static World *
new_world (guint n)
{
  World *world = world_new (0, FALSE);

  world->dense = DENSE;
  for (guint i = 0; i < n; i++)
    add_peer (world, FALSE);
  pass (world, 10 * ALIVE_EXPECT_US);
  for (guint i = 0; i < n; i++)
    g_assert_cmpuint (members_of (world, i), ==, n);
  return world;
}

static gboolean
are_linked (World *world, guint a, guint b)
{
  return link_to (node_at (world, a), &node_at (world, b)->self) != NULL;
}

static guint
count_links (World *world, guint who)
{
  guint n = 0;

  for (guint i = 0; i < world->n; i++)
    n += i != who && are_linked (world, who, i);
  return n;
}

static gboolean
is_contact (World *world, guint who, guint other)
{
  return roster_find (node_at (world, who), &node_at (world, other)->self)->contact;
}

/* Sets a and b to the first two nodes that are no contacts and have no link. */
static void
find_strangers (World *world, guint *a, guint *b)
{
  for (*a = 1; *a < world->n; (*a)++)
    for (*b = *a + 1; *b < world->n; (*b)++)
      if (!is_contact (world, *a, *b) && !are_linked (world, *a, *b))
        return;
  g_assert_not_reached ();
}

static void
test_a_small_run_links_all (void)
{
  g_autoptr (World) world = new_world (DENSE);

  for (guint i = 0; i < DENSE; i++)
    g_assert_cmpuint (count_links (world, i), ==, DENSE - 1);
}

static void
test_a_large_run_links_few (void)
{
  g_autoptr (World) world = new_world (NODES);
  guint contacts = 0;

  g_assert_cmpuint (count_links (world, 0), ==, NODES - 1); /* the hub */
  for (guint i = 1; i < NODES; i++)
    for (guint k = 1; k < NODES; k++)
      {
        if (i == k)
          continue;
        contacts += is_contact (world, i, k);
        g_assert_cmpint (is_contact (world, i, k), ==, is_contact (world, k, i));
        if (is_contact (world, i, k))
          g_assert_true (are_linked (world, i, k));
      }
  g_assert_cmpuint (contacts, >, 0);
  g_assert_cmpuint (contacts, <, (NODES - 1) * (NODES - 2) / 2);
}

static gint
count_held (World *world, guint who)
{
  return g_tree_nnodes (node_at (world, who)->held.by_number);
}

/* `lender` lends this job to a node that dies without a crash report. The thief is neither n0 nor
 * n1. */
static void
falls_silent (World *world, guint lender, const char *path)
{
  guint thief = world->n - 1;

  while (thief == lender || !world->peer[thief].alive || !are_linked (world, lender, thief))
    thief--;
  g_assert_cmpuint (thief, >, 1);
  (void)offer (world, lender, path);
  for (guint i = 0; i < 50 && count_held (world, thief) == 0; i++)
    hunger (world, thief);
  g_assert_cmpint (count_held (world, thief), ==, 1);
  die (world, thief);
  pass (world, G_USEC_PER_SEC);
}

/* How many nodes know of `deaths` silent deaths of holders of this job. */
static guint
count_informed (World *world, const char *path, guint deaths)
{
  guint n = 0;

  for (guint i = 0; i < world->n; i++)
    n += world->peer[i].alive && poison_count_quiet (node_at (world, i), path) == deaths;
  return n;
}

/* Each death has another lender. */
static void
test_all_hear_of_silent_deaths_when_a_job_is_suspicious (void)
{
  g_autoptr (World) world = new_world (NODES);

  start (world);
  falls_silent (world, 2, "/0/3");
  g_assert_cmpuint (count_informed (world, "/0/3", 1), ==, 2); /* n2 and the hub */
  falls_silent (world, 3, "/0/3");
  g_assert_cmpuint (poison_count_quiet (node_at (world, 0), "/0/3"), ==, 2);
  g_assert_cmpuint (count_informed (world, "/0/3", 1), ==, 2); /* n2 and n3 */
  g_assert_false (said (world, 0, "WARN"));
  falls_silent (world, 4, "/0/3");
  g_assert_cmpuint (count_informed (world, "/0/3", 3), ==, NODES - 3);
  g_assert_true (said (world, 0, "WARN"));
  for (guint i = 1; i < NODES; i++)
    g_assert_false (said (world, i, "WARN"));
}

static void
test_the_next_hub_hears_of_silent_deaths (void)
{
  g_autoptr (World) world = new_world (NODES);

  start (world);
  falls_silent (world, 2, "/0/3");
  falls_silent (world, 3, "/0/3");
  falls_silent (world, 4, "/0/4");
  die (world, 0);
  pass (world, 5 * G_USEC_PER_SEC);
  g_assert_cmpuint (poison_count_quiet (node_at (world, 1), "/0/3"), ==, 2);
  g_assert_cmpuint (poison_count_quiet (node_at (world, 1), "/0/4"), ==, 1);
  g_assert_cmpuint (count_informed (world, "/0/3", 1), ==, 2); /* n2 and n3 as before */
}

static void
test_a_message_makes_a_link (void)
{
  g_autoptr (World) world = new_world (NODES);
  guint a, b;

  find_strangers (world, &a, &b);
  start (world);
  adopt (world, a, "/0/1", 7, b); /* b has no such orphan, and reports that */
  pass (world, G_USEC_PER_SEC);
  g_assert_true (are_linked (world, a, b));
  g_assert_true (said (world, a, "BACK 7"));
}

static void
test_the_next_hub_links_to_all (void)
{
  g_autoptr (World) world = new_world (NODES);

  die (world, 0);
  pass (world, 5 * G_USEC_PER_SEC);
  for (guint i = 1; i < NODES; i++)
    g_assert_cmpuint (members_of (world, i), ==, NODES - 1);
  g_assert_cmpuint (count_links (world, 1), ==, NODES - 2);
}

/* The dead node is unknown to most nodes except the hub. */
static void
test_the_hub_finds_out_who_dies (void)
{
  g_autoptr (World) world = new_world (NODES);

  die (world, NODES - 1);
  pass (world, 5 * G_USEC_PER_SEC);
  for (guint i = 0; i < NODES - 1; i++)
    g_assert_cmpuint (members_of (world, i), ==, NODES - 1);
}

/* A member without a link is silent by nature: nobody takes it for dead. */
static void
test_strangers_live (void)
{
  g_autoptr (World) world = new_world (NODES);

  pass (world, 3 * NODE_SILENCE_US);
  for (guint i = 0; i < NODES; i++)
    {
      g_assert_cmpuint (members_of (world, i), ==, NODES);
      g_assert_cmpuint (stats_of (world, i).silenced, ==, 0);
    }
}

/* Beginning to talk to a stranger starts the time in which it must answer. What goes to all members
 * goes only to those with which there is a session. */
static void
test_talking_to_a_stranger (void)
{
  g_autoptr (World) world = new_world (NODES);
  guint a, b;

  find_strangers (world, &a, &b);
  Node *node = node_at (world, a);
  Member *member = member_at (world, a, b);
  g_autoptr (GArray) effects = begin_call (world, a);
  link_broadcast (node, &(Message){ .kind = MESSAGE_STEAL });
  g_assert_null (member->carry.session);
  member->heard_us = 1;
  g_assert_true (carry_open (node, member));
  g_assert_cmpuint (member->heard_us, ==, node->now_us);
  end_call (world, a);
}

/* The number of members that get this from the hub. */
static guint
count_passed (World *world, const NodeId *from)
{
  Node *node = node_at (world, 0);
  g_autoptr (GArray) effects = begin_call (world, 0);
  guint n = 0;

  contacts_pass_on (node, from, &(Message){ .kind = MESSAGE_STEAL });
  for (guint i = 0; i < effects->len; i++)
    {
      const NodeEffect *effect = &g_array_index (effects, NodeEffect, i);

      if (effect->kind != NODE_EFFECT_SEND)
        continue;
      g_assert_false (node_id_equal (&link_find (node, effect->link)->remote, from));
      n++;
    }
  end_call (world, 0);
  return n;
}

/* The hub passes a message on to all members but the one that sent it. */
static void
test_the_hub_passes_on (void)
{
  g_autoptr (World) world = new_world (NODES);
  NodeId fourth = id_of (world, 3), nobody = { 9, 9, 9 };

  g_assert_cmpuint (count_passed (world, &fourth), ==, NODES - 2);
  g_assert_cmpuint (count_passed (world, &nobody), ==, NODES - 1);
}

static guint
count_contacts (World *world, guint who)
{
  guint n = 0;

  for (guint i = 0; i < world->n; i++)
    n += i != who && is_contact (world, who, i);
  return n;
}

/* The coordinator has links to all members, as long as it is the coordinator. */
static void
test_the_coordinator_links_to_all (void)
{
  g_autoptr (World) world = new_world (NODES);
  const guint who = 5;
  guint before = count_contacts (world, who);

  g_assert_cmpuint (before, <, NODES - 1);
  for (guint round = 0; round < 2; round++)
    {
      for (guint i = 0; i < NODES; i++)
        {
          Node *node = node_at (world, i);
          g_autoptr (GArray) effects = begin_call (world, i);

          node->lease.number = round == 0 ? 1 : 2;
          node->lease.holder = id_of (world, round == 0 ? who : 0);
          contacts_refresh (node);
          end_call (world, i);
        }
      g_assert_cmpuint (count_contacts (world, who), ==, round == 0 ? NODES - 1 : before);
      for (guint i = 0; i < NODES; i++)
        g_assert_true (i == who || is_contact (world, i, who) == is_contact (world, who, i));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/contacts/small", test_a_small_run_links_all);
  g_test_add_func ("/contacts/large", test_a_large_run_links_few);
  g_test_add_func ("/contacts/silent-deaths",
                   test_all_hear_of_silent_deaths_when_a_job_is_suspicious);
  g_test_add_func ("/contacts/silent-deaths-next-hub", test_the_next_hub_hears_of_silent_deaths);
  g_test_add_func ("/contacts/message", test_a_message_makes_a_link);
  g_test_add_func ("/contacts/next-hub", test_the_next_hub_links_to_all);
  g_test_add_func ("/contacts/death", test_the_hub_finds_out_who_dies);
  g_test_add_func ("/contacts/strangers-live", test_strangers_live);
  g_test_add_func ("/contacts/talking-to-a-stranger", test_talking_to_a_stranger);
  g_test_add_func ("/contacts/hub-passes-on", test_the_hub_passes_on);
  g_test_add_func ("/contacts/coordinator", test_the_coordinator_links_to_all);
  return g_test_run ();
}
