/* SPDX-License-Identifier: BSD-3-Clause */
/* The failure detector (alive.c): which reports the master believes, how often a suspect is
 * dialled, and what happens at which microsecond. */
#include "node-world.h"

#include "satin/protocol/core.h"

/* ---- complaints about a member ---- */

static guint n_offers; /* the number of routes to n2 that n0 offered */

static void
count_offers (World *world, guint who, const NodeEffect *effect)
{
  g_auto (Message) message = { 0 };
  NodeId third = node_self (world->peer[2].node);

  n_offers += who == 0 && read_sent (effect, &message) && message.kind == MESSAGE_SOUGHT
              && message.flag && node_id_equal (&message.id, &third);
}

/* n1 tells n0, the master, that n2 is gone; silent: n1 has received nothing from n2 for long. */
static void
accuse (World *world, gboolean silent)
{
  deliver (
      world, link_between (world, 0, 1), 0,
      &(Message){ .kind = MESSAGE_GONE, .flag = silent, .id = node_self (world->peer[2].node) });
}

static Member *
third_member (World *world, guint who)
{
  NodeId third = node_self (world->peer[2].node);

  return roster_find (world->peer[who].node, &third);
}

/* Node `who` heard n2 last so long ago. */
static void
heard_before (World *world, guint who, guint64 us)
{
  third_member (world, who)->heard_us = world->now_us - us;
  alive_changed (world->peer[who].node);
}

static World *
three (void)
{
  World *world = world_new (3, FALSE);

  start (world);
  pass (world, 2 * NODE_SILENCE_US);
  n_offers = 0;
  world->watch = count_offers;
  return world;
}

/* A route is offered each time. It must work within one limit of silence from the first complaint,
 * however often the complaint is repeated. */
static void
test_whom_the_master_hears_stays_for_a_while (void)
{
  g_autoptr (World) world = three ();
  guint64 since_us = world->now_us;

  for (guint i = 1; i <= 4; i++)
    {
      accuse (world, TRUE);
      g_assert_cmpuint (n_offers, ==, i);
      g_assert_cmpuint (members_of (world, 0), ==, 3);
      pass (world, since_us + i * NODE_SILENCE_US / 4 - 1 - world->now_us);
    }
  accuse (world, TRUE);
  g_assert_cmpuint (members_of (world, 0), ==, 3);
  pass (world, 1);
  accuse (world, TRUE);
  pass (world, ROSTER_TELL_US + NODE_HEARTBEAT_US);
  g_assert_cmpuint (stats_of (world, 0).silenced, ==, 1);
}

/* A member with a new connection counts as heard by others, too, until they complain again. */
static void
test_a_new_link_ends_what_was_said (void)
{
  g_autoptr (World) world = three ();

  accuse (world, TRUE);
  g_assert_cmpuint (third_member (world, 0)->accused_us, ==, world->now_us);
  pass (world, NODE_SILENCE_US / 2);
  cut (world, 0, 2);
  pass (world, NODE_SILENCE_US / 2);
  g_assert_cmpuint (third_member (world, 0)->accused_us, ==, 0);
  accuse (world, TRUE);
  pass (world, NODE_HEARTBEAT_US);
  g_assert_cmpuint (members_of (world, 0), ==, 3);
}

/* The master does not hear the member, either: it is silent for all. */
static void
test_whom_the_master_does_not_hear_either_is_dead (void)
{
  for (guint i = 0; i < 2; i++) /* exact to the microsecond */
    {
      g_autoptr (World) world = three ();

      heard_before (world, 0, NODE_SILENCE_US / 2 - i);
      accuse (world, TRUE);
      g_assert_cmpuint (stats_of (world, 0).silenced, ==, i == 0 ? 1 : 0);
      g_assert_cmpuint (n_offers, ==, i);
    }
}

/* … nor if the third node has a new connection. */
static void
test_what_was_said_of_silence_counts_with_a_lost_link (void)
{
  for (guint i = 0; i < 2; i++) /* to the microsecond */
    {
      g_autoptr (World) world = three ();
      guint64 since_us = world->now_us;

      accuse (world, TRUE);
      pass (world, since_us + NODE_SILENCE_US - i - world->now_us);
      third_member (world, 0)->dial = G_MAXUINT64; /* a dial is in progress */
      accuse (world, FALSE);
      g_assert_cmpuint (stats_of (world, 0).silenced, ==, i == 0 ? 1 : 0);
      if (i == 0)
        continue; /* it is not on the roster any more */
      heard_before (world, 0, NODE_SILENCE_US / 2);
      accuse (world, FALSE);
      g_assert_cmpuint (stats_of (world, 0).silenced, ==, 0);
    }
}

/* A lost link alone is no silence. The master dials, one dial at a time, and concludes nothing. */
static void
test_a_lost_link_is_checked_and_not_believed (void)
{
  g_autoptr (World) world = three ();
  Member *member = third_member (world, 0);

  world->peer[2].deaf = TRUE;
  heard_before (world, 0, NODE_SILENCE_US / 2);
  guint before = world->n_dials;
  for (guint i = 0; i < 3; i++)
    {
      accuse (world, FALSE);
      g_assert_cmpuint (world->n_dials, ==, before + 1);
      g_assert_false (member->dead);
      member->dial = member->dial == 0 ? G_MAXUINT64 : member->dial; /* still in progress */
    }
}

/* Complaints are sent to the master. A node that is not master cannot decide a death of which it is
 * told. */
static void
test_only_the_master_believes (void)
{
  g_autoptr (World) world = three ();
  Member *member = third_member (world, 1);

  heard_before (world, 1, NODE_SILENCE_US / 2);
  for (guint i = 0; i < 3; i++)
    {
      deliver (
          world, link_between (world, 0, 1), 1,
          &(Message){ .kind = MESSAGE_GONE, .flag = TRUE, .id = node_self (world->peer[2].node) });
      g_assert_cmpuint (stats_of (world, 1).silenced, ==, 0);
      g_assert_cmpuint (member->accused_us, ==, 0);
    }
}

/* ---- dials ---- */

/* The effects that a call of the room asks for; none is carried out. */
static GArray *
begin_call (World *world, guint who)
{
  GArray *effects = g_array_new (FALSE, FALSE, sizeof (NodeEffect));

  g_array_set_clear_func (effects, (GDestroyNotify)node_effect_clear);
  world->peer[who].node->effects = effects;
  world->peer[who].node->now_us = world->now_us;
  return effects;
}

static guint
dials_asked (World *world, guint who)
{
  GArray *effects = world->peer[who].node->effects;
  guint n = 0;

  for (guint i = 0; i < effects->len; i++)
    n += g_array_index (effects, NodeEffect, i).kind == NODE_EFFECT_DIAL;
  return n;
}

/* A member whose link breaks again and again is dialled only with pauses. The first dial is made at
 * once, one dial is made at a time, and dead members are not dialled. */
static void
test_dials_of_one_member_keep_a_distance (void)
{
  g_autoptr (World) world = three ();
  Node *node = world->peer[0].node;
  Member *member = third_member (world, 0);
  g_autoptr (GArray) effects = begin_call (world, 0);

  member->dialled_us = world->now_us - ALIVE_REDIAL_MIN_US + 1;
  alive_redial (node, member);
  g_assert_cmpuint (member->dial_at_us, ==, world->now_us + 1);
  g_assert_cmpuint (dials_asked (world, 0), ==, 0);
  member->dialled_us = world->now_us - ALIVE_REDIAL_MIN_US;
  member->dead = DEATH_REFUSED;
  alive_redial (node, member);
  g_assert_cmpuint (dials_asked (world, 0), ==, 0);
  member->dead = DEATH_NONE;
  alive_redial (node, member);
  g_assert_cmpuint (member->dialled_us, ==, world->now_us);
  g_assert_cmpuint (member->dial_at_us, ==, CORE_NEVER);
  g_assert_cmpuint (member->dial, !=, 0);
  member->dialled_us = 0;
  alive_redial (node, member);
  g_assert_cmpuint (dials_asked (world, 0), ==, 1);
  member->dial = 0;
  member->dialled_us = 0; /* it was never dialled, and the clock has just started */
  node->now_us = ALIVE_REDIAL_MIN_US / 2;
  alive_redial (node, member);
  g_assert_cmpuint (dials_asked (world, 0), ==, 2);
  node->effects = NULL;
}

/* A link over which messages arrive also delivers the crash report of its dead end, for its crash
 * report. */
static void
test_who_spoke_of_late_over_its_own_link_may_speak (void)
{
  g_autoptr (World) world = three ();
  Member *member = third_member (world, 0);
  Node *node = world->peer[0].node;

  node->now_us = world->now_us;
  member->heard_us = world->now_us - NODE_SILENCE_US / 2 + 1;
  g_assert_true (alive_may_speak (node, member));
  member->heard_us--;
  g_assert_false (alive_may_speak (node, member));
  member->heard_us = world->now_us;
  alive_changed (node);
  world->peer[2].deaf = TRUE; /* n2 does not answer dials */
  cut (world, 0, 2);
  pump (world);
  g_assert_null (link_direct (node, &member->id));
  g_assert_cmpuint (member->seek_at_us, ==, member->dialled_us + REACH_SLOW_US);
  g_assert_false (alive_may_speak (node, member));
}

/* A delayed dial is not made if it is not needed any more: a link is up, or another dial is in
 * progress. */
static void
test_a_late_dial_is_made_where_it_is_needed (void)
{
  g_autoptr (World) world = three ();
  Node *node = world->peer[0].node;
  Member *member = third_member (world, 0);
  guint before = world->n_dials;

  for (guint i = 0; i < 3; i++)
    {
      world->peer[2].deaf = i > 0; /* it answers no dial */
      if (i == 2)
        {
          cut (world, 0, 2);
          pump (world);
          member->dial = G_MAXUINT64;
          before = world->n_dials;
        }
      member->dial_at_us = world->now_us;
      alive_changed (node);
      tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_TIMER });
      tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_TIMER });
      g_assert_cmpuint (world->n_dials, ==, before);
    }
}

/* No member dies twice, and a node does not take itself for dead. */
static void
test_a_member_dies_once (void)
{
  g_autoptr (World) world = three ();
  Node *node = world->peer[1].node;
  g_autoptr (GArray) effects = begin_call (world, 1);

  for (guint i = 0; i < 2; i++)
    {
      alive_dead (node, third_member (world, 1), DEATH_SILENT);
      g_assert_cmpuint (stats_of (world, 1).silenced, ==, 1);
    }
  alive_dead (node, roster_find (node, &node->self), DEATH_SILENT);
  g_assert_false (roster_find (node, &node->self)->dead);
  g_assert_cmpuint (stats_of (world, 1).silenced, ==, 1);
  node->effects = NULL;
}

/* ---- what people are shown ---- */

/* A member that works is shown as silent after a few seconds, any other one after two heartbeats.
 * What others told of it counts as heard. In a large run a busy member need not speak each second,
 * and a member without a link never. */
static void
test_who_is_shown_as_silent (void)
{
  const guint64 work_us = ALIVE_TOLD_US, idle_us = 2 * NODE_HEARTBEAT_US;
  const struct
  {
    guint n;
    guint busy;
    guint64 heard_us, told_us; /* so long ago; 0: now */
    gboolean watched;
    gboolean silent;
  } cases[] = {
    { 3, 1, work_us, work_us, TRUE, TRUE },
    { 3, 1, work_us - 1, work_us, TRUE, FALSE },
    { 3, 1, work_us, work_us - 1, TRUE, FALSE },
    { 3, 0, idle_us - 1, idle_us, TRUE, FALSE },
    { 3, 0, idle_us, idle_us - 1, TRUE, FALSE },
    { 3, 0, idle_us, idle_us, TRUE, TRUE },
    { 3, 0, idle_us, idle_us, FALSE, FALSE },
    { WORK_ALL_MAX + 1, 1, work_us, work_us, TRUE, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (World) world = world_new (cases[i].n, FALSE);

      pass (world, 4 * NODE_SILENCE_US);
      Node *node = world->peer[0].node;
      Member *member = third_member (world, 0);
      g_autoptr (GArray) effects = begin_call (world, 0);
      if (!cases[i].watched)
        link_close (node, member->links->pdata[0]);
      member->contact = cases[i].watched;
      member->dial = 0;
      member->dial_at_us = CORE_NEVER;
      member->told.busy = cases[i].busy;
      member->heard_us = world->now_us - cases[i].heard_us;
      member->told.told_us = world->now_us - cases[i].told_us;
      g_assert_cmpint (alive_is_silent (node, member), ==, cases[i].silent);
      node->effects = NULL;
    }
}

/* ---- when something is due ---- */

/* After half of the limit without a message a member is dialled, not only with the next ping. */
static void
test_a_suspect_is_dialled_in_time (void)
{
  g_autoptr (World) world = three ();
  Node *node = world->peer[0].node;

  world->peer[2].deaf = TRUE;
  heard_before (world, 0, NODE_SILENCE_US / 2 - 1);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_TIMER });
  guint before = world->n_dials;
  g_assert_cmpuint (node->alive.ping_at_us, >, world->now_us + 1);
  pass (world, 1);
  g_assert_cmpuint (world->n_dials, ==, before + 1);
}

/* A silent link is closed in time, although its member is heard over another. */
static void
test_a_silent_link_is_closed_in_time (void)
{
  g_autoptr (World) world = three ();
  Node *node = world->peer[0].node;
  Member *member = third_member (world, 0);

  ((Link *)member->links->pdata[0])->heard_us = world->now_us - NODE_SILENCE_US + 1;
  alive_changed (node);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_TIMER });
  guint before = world->n_closed;
  g_assert_cmpuint (node->alive.ping_at_us, >, world->now_us + 1);
  pass (world, 1);
  g_assert_cmpuint (world->n_closed, >, before);
}

static void
test_who_was_late_by_more_than_a_heartbeat_slept (void)
{
  g_autoptr (World) world = three ();
  Node *node = world->peer[0].node;

  g_assert_cmpuint (node->wish_us, !=, CORE_NEVER);
  node->now_us = node->wish_us + NODE_HEARTBEAT_US;
  g_assert_false (alive_was_asleep (node));
  node->now_us++;
  g_assert_true (alive_was_asleep (node));
  node->wish_us = CORE_NEVER;
  g_assert_false (alive_was_asleep (node));
}

static guint n_complaints; /* complaints by n1 */

static void
count_complaints (World *world G_GNUC_UNUSED, guint who, const NodeEffect *effect)
{
  n_complaints += who == 1 && kind_sent (effect) == MESSAGE_GONE;
}

/* The master still heard the member when it was told. It is told again as long as nothing
 * changes. */
static void
test_the_master_is_told_again (void)
{
  g_autoptr (World) world = three ();
  g_autoptr (GArray) effects = begin_call (world, 1);

  n_complaints = 0;
  world->watch = count_complaints;
  alive_dead (world->peer[1].node, third_member (world, 1), DEATH_SILENT);
  world->peer[1].node->effects = NULL;
  pass (world, NODE_HEARTBEAT_US);
  g_assert_cmpuint (n_complaints, >=, 1);
  n_complaints = 0;
  pass (world, 3 * NODE_HEARTBEAT_US);
  g_assert_cmpuint (n_complaints, >=, 2);
  g_assert_cmpuint (members_of (world, 0), ==, 3);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define TEST(name, function) g_test_add_func ("/suspects/" name, function)
  TEST ("whom-the-master-hears-stays-for-a-while", test_whom_the_master_hears_stays_for_a_while);
  TEST ("a-new-link-ends-what-was-said", test_a_new_link_ends_what_was_said);
  TEST ("whom-the-master-does-not-hear-either-is-dead",
        test_whom_the_master_does_not_hear_either_is_dead);
  TEST ("a-lost-link-is-checked-and-not-believed", test_a_lost_link_is_checked_and_not_believed);
  TEST ("only-the-master-believes", test_only_the_master_believes);
  TEST ("dials-of-one-member-keep-a-distance", test_dials_of_one_member_keep_a_distance);
  TEST ("who-spoke-of-late-over-its-own-link-may-speak",
        test_who_spoke_of_late_over_its_own_link_may_speak);
  TEST ("what-was-said-of-silence-counts-with-a-lost-link",
        test_what_was_said_of_silence_counts_with_a_lost_link);
  TEST ("a-suspect-is-dialled-in-time", test_a_suspect_is_dialled_in_time);
  TEST ("a-silent-link-is-closed-in-time", test_a_silent_link_is_closed_in_time);
  TEST ("who-was-late-by-more-than-a-heartbeat-slept",
        test_who_was_late_by_more_than_a_heartbeat_slept);
  TEST ("the-master-is-told-again", test_the_master_is_told_again);
  TEST ("a-late-dial-is-made-where-it-is-needed", test_a_late_dial_is_made_where_it_is_needed);
  TEST ("a-member-dies-once", test_a_member_dies_once);
  g_test_add_func ("/suspects/who-is-shown-as-silent", test_who_is_shown_as_silent);
  return g_test_run ();
}
