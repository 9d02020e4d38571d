/* SPDX-License-Identifier: BSD-3-Clause */
/* Signs of life, and what their absence leads to. */
#include "node-world.h"

#include "satin/protocol/core.h"

/* In a large run each node gives its signs of life less often, and none is taken for dead. */
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

/* In a run of any size each node is heard several times before its silence would count. */
static void
test_many_are_heard_in_time (void)
{
  g_autoptr (World) world = world_new (0, FALSE);

  world->heartbeat_us = 100 * 1000;
  world->silence_us = 1200 * 1000;
  for (guint i = 0; i < NODES_MAX; i++)
    add_peer (world, FALSE);
  pass (world, 20 * G_USEC_PER_SEC);
  for (guint i = 0; i < NODES_MAX; i++)
    {
      g_assert_cmpuint (members_of (world, i), ==, NODES_MAX);
      g_assert_cmpuint (stats_of (world, i).silenced, ==, 0);
      /* No node had to be probed. */
      g_assert_cmpuint (world->peer[i].pings, >=, 19 * 1000 * 1000 * 3 / world->silence_us);
    }
}

/* A recent message is as good a sign of life as a ping. */
static void
test_who_has_just_spoken_does_not_ping (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  Node *node = world->peer[1].node;
  NodeId other = node_self (world->peer[0].node);

  start (world);
  world->peer[0].deaf = TRUE; /* otherwise an acknowledgement may be the recent message */
  pass (world, NODE_HEARTBEAT_US);
  pass (world, node->alive.ping_at_us - world->now_us - 1);
  guint pings = world->peer[1].pings;
  link_to (node, &other)->spoke_us = world->now_us;
  pass (world, 1);
  g_assert_cmpuint (world->peer[1].pings, ==, pings);
  pass (world, NODE_HEARTBEAT_US);
  g_assert_cmpuint (world->peer[1].pings, ==, pings + 1);
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
  pass (world, NODE_HEARTBEAT_US); /* not earlier, and not later: the whole limit has passed now */
  g_assert_cmpuint (members_of (world, 0), ==, 2);
  g_assert_cmpuint (members_of (world, 1), ==, 2);
  g_assert_cmpuint (stats_of (world, 0).silenced, ==, 1);
}

/* Does node 0 show n2 as silent? */
static gboolean
is_said_silent (World *world)
{
  g_autoptr (GArray) members = node_members (world->peer[0].node);
  gboolean silent = FALSE;

  for (guint i = 0; i < members->len; i++)
    {
      const NodeMember *member = &g_array_index (members, NodeMember, i);
      NodeId third = node_self (world->peer[2].node);

      g_assert_false (member->self && member->silent);
      if (node_id_equal (&member->id, &third))
        silent = member->silent;
    }
  return silent;
}

/* A busy node sends each second, any other at each heartbeat. So status shows a silent node long
 * before it counts as dead, and shows it as up when it is heard again. */
static void
test_people_hear_of_a_silent_one_soon (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  NodeId third = node_self (world->peer[2].node);
  Member *member;
  guint64 now_us;

  start (world);
  member = roster_find (world->peer[0].node, &third);
  pass (world, NODE_SILENCE_US);
  g_assert_false (is_said_silent (world));
  world->peer[2].deaf = TRUE;
  pass (world, NODE_HEARTBEAT_US);
  g_assert_false (is_said_silent (world));
  pass (world, 2 * NODE_HEARTBEAT_US);
  g_assert_true (is_said_silent (world));
  g_assert_cmpuint (members_of (world, 0), ==, 3);

  now_us = world->peer[0].node->now_us;
  member->heard_us = member->told.told_us = now_us;
  g_assert_false (is_said_silent (world));
  member->told.busy = 1;
  member->heard_us = member->told.told_us = now_us - 3 * G_USEC_PER_SEC + 1;
  g_assert_false (is_said_silent (world));
  member->told.told_us--;
  g_assert_false (is_said_silent (world)); /* another message was heard */
  member->heard_us--;
  g_assert_true (is_said_silent (world));
  member->told.busy = 0; /* … so it need not send so often */
  g_assert_false (is_said_silent (world));
}

/* Private networks overlap: two hosts have the same address. Dials of it reach one of them, so the
 * other is reached through a member that has a link to it. */
static void
test_two_hosts_with_one_address_are_two_members (void)
{
  g_autoptr (World) world = world_new (2, FALSE);

  world->twin = 2;
  add_peer (world, FALSE);
  add_peer (world, FALSE);
  pass (world, NODE_SILENCE_US);
  for (guint i = 0; i < 4; i++)
    g_assert_cmpuint (members_of (world, i), ==, 4);
  cut (world, 0, 2);
  pass (world, 2 * NODE_SILENCE_US);

  for (guint i = 0; i < 4; i++)
    g_assert_cmpuint (members_of (world, i), ==, 4);
  g_assert_cmpuint (stats_of (world, 0).crashes, ==, 0);
}

/* … but on one host an address has only one listener, so the earlier node is gone. */
static void
test_who_takes_an_address_of_its_host_takes_a_place (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  Wire wire = { { 0, 2 }, TRUE, FALSE };
  Message hello = { .kind = MESSAGE_HELLO,
                    .number = MESSAGE_VERSION,
                    .digest = digest_of_string ("program"),
                    .text = "n1",
                    .host = "" };

  g_array_append_val (world->wires, wire);
  post (world, (Post){ .to = 0, .kind = NODE_EVENT_LINK_UP, .link = world->wires->len });
  deliver (world, world->wires->len, 0, &hello);
  deliver (world, world->wires->len, 0,
           &(Message){ .kind = MESSAGE_JOIN, .text = "n1", .host = "host", .site = "" });

  g_assert_cmpuint (members_of (world, 0), ==, 3);
  g_assert_cmpuint (stats_of (world, 0).crashes, ==, 1);
}

/* An evicted node may act as a member until it learns of the eviction. Its result waited for shared
 * bytes that no node sends, and the JOIN after the result waited, too. */
static void
test_a_join_does_not_wait_behind_what_nobody_hears (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  SharedStore *store = shared_store_new (1000);
  g_autoptr (GBytes) bytes = g_bytes_new ("shared bytes", 12);
  GPtrArray *shares = shared_list_new ();
  Wire wire = { { 0, 1 }, TRUE, FALSE };
  Message hello = { .kind = MESSAGE_HELLO,
                    .number = MESSAGE_VERSION,
                    .digest = digest_of_string ("program"),
                    .id = { 9, 9, 9 },
                    .text = "n7",
                    .host = "" };

  g_ptr_array_add (shares, shared_add (store, bytes));
  g_array_append_val (world->wires, wire);
  guint64 link = world->wires->len;
  post (world, (Post){ .to = 0, .kind = NODE_EVENT_LINK_UP, .link = link });
  deliver (world, link, 0, &hello);
  deliver (
      world, link, 0,
      &(Message){
          .kind = MESSAGE_RESULT, .number = 1, .path = "/3", .value = bytes, .shares = shares });
  deliver (world, link, 0,
           &(Message){ .kind = MESSAGE_JOIN, .text = "n7", .host = "host", .site = "" });

  g_assert_cmpuint (members_of (world, 0), ==, 3);
  g_ptr_array_unref (shares);
  shared_store_free (store);
}

/* A node of another program, whose digest differs by a single byte, does not join. */
static void
test_a_program_by_a_near_name_does_not_join (void)
{
  const Digest program = digest_of_string ("program");

  for (gsize i = 0; i <= sizeof program.bytes; i++) /* the last turn has the right digest */
    {
      g_autoptr (World) world = world_new (2, FALSE);
      Wire wire = { { 0, 1 }, TRUE, FALSE };
      Message hello = { .kind = MESSAGE_HELLO,
                        .number = MESSAGE_VERSION,
                        .digest = program,
                        .text = "n7",
                        .host = "" };

      if (i < sizeof program.bytes)
        hello.digest.bytes[i] ^= 1;
      g_array_append_val (world->wires, wire);
      guint64 link = world->wires->len;
      post (world, (Post){ .to = 0, .kind = NODE_EVENT_LINK_UP, .link = link });
      deliver (world, link, 0, &hello);
      deliver (world, link, 0,
               &(Message){ .kind = MESSAGE_JOIN, .text = "n7", .host = "host", .site = "" });
      g_assert_cmpuint (members_of (world, 0), ==, i < sizeof program.bytes ? 2 : 3);
    }
}

/* A connection that has not greeted yet keeps its time to greet after a sleep of this node. */
static void
test_a_sleep_is_not_time_to_greet (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  Wire wire = { { 0, 1 }, TRUE, FALSE };

  start (world);
  pass (world, NODE_HEARTBEAT_US);
  g_array_append_val (world->wires, wire);
  guint64 link = world->wires->len;
  post (world, (Post){ .to = 0, .kind = NODE_EVENT_LINK_UP, .link = link });
  pump (world);
  world->now_us += (guint64)100 * NODE_SILENCE_US;
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_TIMER });
  g_assert_true (g_array_index (world->wires, Wire, link - 1).up);
  pass (world, 2 * NODE_SILENCE_US);
  g_assert_false (g_array_index (world->wires, Wire, link - 1).up);
}

/* Only the members that were lost last are searched for, and never the node itself. */
static void
test_the_last_that_are_gone_are_looked_for (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  Node *node = world->peer[0].node;

  alive_accuse (node, node->config.address);
  g_assert_false (alive_is_accused (node, node->config.address));
  for (guint i = 0; i <= ALIVE_ACCUSED_MAX; i++)
    {
      g_autofree char *address = g_strdup_printf ("gone%u", i);
      alive_accuse (node, address);
      g_assert_true (alive_is_accused (node, address));
    }
  g_assert_false (alive_is_accused (node, "gone0"));
  g_assert_true (alive_is_accused (node, "gone1"));
}

/* The time in which this node slept counts against no link. */
static void
test_sleep_closes_no_link (void)
{
  g_autoptr (World) world = world_new (3, FALSE);

  start (world);
  pass (world, G_USEC_PER_SEC);
  guint n_closed = world->n_closed;
  world->now_us += (guint64)100 * NODE_SILENCE_US;
  for (guint i = 0; i < world->n; i++)
    step (world, i, &(NodeEvent){ .kind = NODE_EVENT_TIMER });
  pump (world);
  g_assert_cmpuint (world->n_closed, ==, n_closed);
  g_assert_cmpuint (members_of (world, 0), ==, 3);
}

/* Each address is listed once, and only valid addresses. A node that has joined again is not
 * searched for. */
static void
test_each_that_is_gone_stands_once (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  Node *node = world->peer[0].node;

  alive_accuse (node, "");
  g_assert_cmpuint (node->alive.accused->len, ==, 0);
  for (guint i = 0; i < 3; i++)
    alive_accuse (node, "gone");
  alive_accuse (node, "other");
  g_assert_cmpuint (node->alive.accused->len, ==, 2);
  alive_met (node, "gone", FALSE);
  alive_met (node, "nobody", TRUE);
  g_assert_cmpuint (node->alive.accused->len, ==, 2);
  alive_met (node, "gone", TRUE);
  g_assert_false (alive_is_accused (node, "gone"));
  g_assert_true (alive_is_accused (node, "other"));
  alive_accuse (node, world->peer[1].node->config.address); /* which is a member */
  pass (world, ALIVE_MEET_MAX * (guint64)NODE_HEARTBEAT_US);
  g_assert_false (alive_is_accused (node, world->peer[1].node->config.address));
}

/* A lost member is dialled soon at first, then at longer and longer intervals up to a maximum, one
 * dial at a time. */
static void
test_they_are_looked_for_ever_more_seldom (void)
{
  g_autoptr (World) world = world_new (1, FALSE);
  Node *node = world->peer[0].node;
  const guint64 beat_us = NODE_HEARTBEAT_US, step_us = 20 * 1000;
  guint64 last_us, gap_us = 0, first_us = 0;
  guint n = 0, before;

  pass (world, 3600 * (guint64)G_USEC_PER_SEC);
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_TIMER });
  before = world->n_dials;
  alive_accuse (node, "gone");
  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_TIMER });
  last_us = world->now_us;
  g_assert_cmpuint (world->n_dials, ==, before); /* it was evicted just now */
  for (guint64 end_us = last_us + 40 * ALIVE_MEET_MAX * beat_us; world->now_us < end_us;)
    {
      pass (world, step_us);
      g_assert_cmpuint (world->n_dials, <=, before + 1);
      if (world->n_dials == before)
        continue;
      before = world->n_dials;
      gap_us = world->now_us - last_us;
      last_us = world->now_us;
      first_us = n++ == 0 ? gap_us : first_us;
      g_assert_cmpuint (gap_us, >=, ALIVE_MEET_MIN * beat_us / 2);
      g_assert_cmpuint (gap_us, <=, 2 * ALIVE_MEET_MAX * beat_us);
    }
  g_assert_cmpuint (n, >, 20);
  g_assert_cmpuint (first_us, <=, 2 * ALIVE_MEET_MIN * beat_us);
  g_assert_cmpuint (gap_us, >=, ALIVE_MEET_MAX * beat_us / 2);
}

/* A member accuses another: the master dials the accused, and does not just believe it. */
static void
test_the_master_looks_for_itself (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  guint n_dials;

  start (world);
  pass (world, G_USEC_PER_SEC);
  n_dials = world->n_dials;
  deliver (world, link_between (world, 0, 1), 0,
           &(Message){ .kind = MESSAGE_GONE, .id = node_self (world->peer[2].node) });
  g_assert_cmpuint (world->n_dials, ==, n_dials + 1);
  pass (world, NODE_SILENCE_US);
  g_assert_cmpuint (members_of (world, 0), ==, 3);
}

/* n1 hears nothing from n2. */
static void
accuse (World *world)
{
  deliver (world, link_between (world, 0, 1), 0,
           &(Message){ .kind = MESSAGE_GONE, .id = node_self (world->peer[2].node), .flag = TRUE });
}

/* The master hears the accused, and offers a relay to it. If the accusation goes on for as long as
 * a silence, one of the two must go. Accusations of different hours are nothing of that kind. */
static void
test_an_old_accusation_is_settled (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  guint64 begun_us;

  start (world);
  for (guint hour = 0; hour < 3; hour++)
    {
      accuse (world);
      g_assert_cmpuint (members_of (world, 0), ==, 3);
      pass (world, 60 * 60 * (guint64)G_USEC_PER_SEC);
    }
  begun_us = world->now_us;
  for (accuse (world); members_of (world, 0) == 3; accuse (world))
    pass (world, NODE_HEARTBEAT_US);
  g_assert_cmpuint (world->now_us, >=, begun_us + NODE_SILENCE_US);
  g_assert_cmpuint (world->now_us, <=, begun_us + NODE_SILENCE_US + 2 * NODE_HEARTBEAT_US);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define TEST(name, function) g_test_add_func ("/alive/" name, function)
  TEST ("many-say-little", test_many_say_little);
  TEST ("many-are-heard-in-time", test_many_are_heard_in_time);
  TEST ("who-has-just-spoken-does-not-ping", test_who_has_just_spoken_does_not_ping);
  TEST ("people-hear-of-a-silent-one-soon", test_people_hear_of_a_silent_one_soon);
  TEST ("a-silent-one-is-looked-for-and-then-left-out",
        test_a_silent_one_is_looked_for_and_then_left_out);
  TEST ("two-hosts-with-one-address-are-two-members",
        test_two_hosts_with_one_address_are_two_members);
  TEST ("who-takes-an-address-of-its-host-takes-a-place",
        test_who_takes_an_address_of_its_host_takes_a_place);
  TEST ("a-join-does-not-wait-behind-what-nobody-hears",
        test_a_join_does_not_wait_behind_what_nobody_hears);
  TEST ("a-program-by-a-near-name-does-not-join", test_a_program_by_a_near_name_does_not_join);
  TEST ("sleep-closes-no-link", test_sleep_closes_no_link);
  TEST ("each-that-is-gone-stands-once", test_each_that_is_gone_stands_once);
  TEST ("they-are-looked-for-ever-more-seldom", test_they_are_looked_for_ever_more_seldom);
  TEST ("the-master-looks-for-itself", test_the_master_looks_for_itself);
  TEST ("an-old-accusation-is-settled", test_an_old_accusation_is_settled);
  TEST ("a-sleep-is-not-time-to-greet", test_a_sleep_is_not_time_to_greet);
  TEST ("the-last-that-are-gone-are-looked-for", test_the_last_that_are_gone_are_looked_for);
  return g_test_run ();
}
