/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions over links that break, are doubled, and are retired. */
#include "node-world.h"

#include "satin/protocol/core.h"
#include "satin/protocol/members/sent.h"

/* The number of links between two nodes that are up; sets `last` to the last of them. */
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

/* The last node tells node `to` that `who` is gone. `to` then dials `who`, although there is a
 * link. */
static void
accuse (World *world, guint to, guint who)
{
  guint64 link;

  g_assert_cmpuint (links_between (world, to, 2, &link), ==, 1);
  deliver (world, link, to,
           &(Message){ .kind = MESSAGE_GONE, .id = node_self (world->peer[who].node) });
}

/* The elder node dials a member to which it already has a link, made by the younger. One link
 * stays, the elder's, and what was lent over the other stays lent. */
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

  accuse (world, 0, 1);
  pass (world, 2 * NODE_HEARTBEAT_US);
  g_assert_cmpuint (world->wires->len, ==, n_wires + 1);
  g_assert_cmpuint (links_between (world, 0, 1, &last), ==, 1);
  g_assert_cmpuint (last, !=, first);
  g_assert_cmpuint (world->n_closed, ==, 1); /* closed by one of the two */
  g_assert_false (said (world, 0, "BACK 1"));
  finish (world, 1, "/0");
  g_assert_true (said (world, 0, "PUT 1"));
}

/* Two nodes that redial each other at the same time. */
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

/* A new link is not closed in favour of a half-open one. */
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

  accuse (world, 0, 1);
  pass (world, NODE_HEARTBEAT_US);
  g_assert_cmpuint (links_between (world, 0, 1, &last), ==, 2);
  pass (world, 2 * NODE_SILENCE_US);
  g_assert_cmpuint (links_between (world, 0, 1, &first), ==, 1);
  g_assert_cmpuint (first, ==, last);
  g_assert_cmpuint (members_of (world, 0), ==, 3);
  g_assert_cmpuint (stats_of (world, 0).silenced + stats_of (world, 1).silenced, ==, 0);
}

/* A result that a half-open link swallows arrives over the next link, once. */
static void
test_what_a_link_swallows_comes_by_the_next (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  guint64 link;
  start (world);
  offer (world, 0, "/0");
  hunger (world, 1);
  g_assert_cmpuint (links_between (world, 0, 1, &link), ==, 1);

  g_array_index (world->wires, Wire, link - 1).mute = TRUE;
  finish (world, 1, "/0");
  g_assert_false (said (world, 0, "PUT 1"));
  break_link (world, link);
  pass (world, G_USEC_PER_SEC);
  g_assert_true (said (world, 0, "PUT 1"));
  g_assert_cmpuint (stats_of (world, 1).held, ==, 0);
  forget_log (world);
  cut (world, 0, 1);
  pass (world, G_USEC_PER_SEC);
  g_assert_false (said (world, 0, "PUT 1"));
}

/* A loan in transit stays lent, however often its link breaks. */
static void
test_what_is_lent_over_a_broken_link_stays_lent (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  guint64 link;
  start (world);
  offer (world, 0, "/0");
  g_assert_cmpuint (links_between (world, 0, 1, &link), ==, 1);
  deliver (world, link, 0, &(Message){ .kind = MESSAGE_STEAL, .number = 1, .count = 1 });
  forget_log (world);

  for (guint i = 0; i < 3; i++)
    {
      cut (world, 0, 1);
      pass (world, G_USEC_PER_SEC);
    }
  g_assert_false (said (world, 0, "BACK 1"));
  finish (world, 1, "/0");
  g_assert_true (said (world, 0, "PUT 1"));
}

static guint n_frames;

static void
count_frames (World *world G_GNUC_UNUSED, guint who G_GNUC_UNUSED, const NodeEffect *effect)
{
  n_frames += effect->kind == NODE_EFFECT_SEND;
}

/* Acknowledgements are part of frames that are sent back anyway. */
static void
test_a_steal_costs_no_further_frame (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  start (world);
  pass (world, G_USEC_PER_SEC);
  offer (world, 0, "/0");
  world->watch = count_frames;

  n_frames = 0;
  hunger (world, 1);
  finish (world, 1, "/0");
  g_assert_true (said (world, 0, "PUT 1"));
  guint n = n_frames;
  pass (world, 19 * 1000);
  g_assert_cmpuint (n_frames, ==, n);
  pass (world, G_USEC_PER_SEC); /* only the last acknowledgement */
  g_assert_cmpuint (n_frames, <=, n + 1);
}

/* n1 evicts n2, and then learns that the others have not. n1 joins with another id, since n2 goes
 * on with a session whose other end n1 has dropped. */
static void
test_who_gave_up_a_member_takes_another_name (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  guint64 link;
  start (world);
  pass (world, NODE_HEARTBEAT_US);
  NodeId before = node_self (world->peer[1].node);
  g_auto (Message) without = { .kind = MESSAGE_ROSTER }, with = { .kind = MESSAGE_ROSTER };
  roster_fill (world->peer[0].node, &without);
  roster_fill (world->peer[0].node, &with);
  g_array_remove_index (without.members, 2);
  without.version += 1;
  with.version += 2;
  g_assert_cmpuint (links_between (world, 0, 1, &link), ==, 1);

  deliver (world, link, 1, &without);
  g_assert_cmpuint (members_of (world, 1), ==, 2);
  deliver (world, link, 1, &with);
  pass (world, NODE_HEARTBEAT_US);
  NodeId after = node_self (world->peer[1].node);
  g_assert_false (node_id_is_none (&after));
  g_assert_false (node_id_equal (&before, &after));
  g_assert_cmpuint (members_of (world, 1), ==, 3);
}

/* Sends a large row. */
static void
send_large_row (World *world, guint who)
{
  Digest digest = digest_of_string ("/3");
  g_autoptr (GBytes) value = g_bytes_new_take (g_malloc0 (1 << 20), 1 << 20);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);

  g_ptr_array_add (rows, row_new ("/3", 1, &digest, 0.1, 50, value));
  tell (world, who, &(NodeEvent){ .kind = NODE_EVENT_ROWS, .rows = rows, .risk_us = 50 });
}

/* n0 receives nothing for a while. What n1 finishes meanwhile stays in its engine once the session
 * is full. */
static void
test_rows_wait_in_the_engine_for_room (void)
{
  g_autoptr (World) world = world_new (2, TRUE);
  guint n = 0;

  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  pass (world, G_USEC_PER_SEC / 2);
  world->peer[0].late = TRUE;
  for (guint i = 0; i < 12; i++)
    {
      forget_log (world);
      pass (world, G_USEC_PER_SEC);
      if (said (world, 1, "SCAN"))
        {
          n++;
          send_large_row (world, 1);
        }
    }
  g_assert_cmpuint (n, >=, SESSION_ROOM_MAX >> 21);
  g_assert_cmpuint (n, <=, SESSION_ROOM_MAX >> 20);
  forget_log (world);
  world->peer[0].late = FALSE;
  pass (world, 2 * G_USEC_PER_SEC);
  g_assert_true (said (world, 1, "SCAN"));
  g_assert_true (said (world, 0, "SAVE /3"));
}

/* Each message is counted at its sender, by its purpose, whatever link carries it. */
static void
test_what_is_sent_is_counted (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  start (world);
  offer (world, 0, "/0");
  hunger (world, 1);
  const NodeStats lender = stats_of (world, 0), thief = stats_of (world, 1);
  g_assert_cmpuint (thief.sent_bytes[NODE_SENT_JOBS], >, 0);  /* the request */
  g_assert_cmpuint (lender.sent_bytes[NODE_SENT_JOBS], >, 0); /* the job */
  g_assert_cmpuint (thief.sent_bytes[NODE_SENT_RESULTS], ==, 0);
  g_assert_cmpuint (lender.sent_bytes[NODE_SENT_KEEPERS], ==, 0);

  finish (world, 1, "/0");
  const NodeStats after = stats_of (world, 1), put = stats_of (world, 0);
  g_assert_cmpuint (after.sent_bytes[NODE_SENT_RESULTS], >, 32); /* the digest alone has 32 */
  g_assert_cmpuint (put.sent_bytes[NODE_SENT_RESULTS], >, 0);    /* ACK */
  g_assert_cmpuint (after.sent_bytes[NODE_SENT_SHARED], ==, 0);
}

/* Results for a keeper are counted as such under each plan. Messages of the membership are not. */
static void
test_what_messages_are_for (void)
{
  static const MessageKind keepers[] = { MESSAGE_COPY, MESSAGE_COPIED };

  for (guint i = 0; i < G_N_ELEMENTS (keepers); i++)
    g_assert_cmpint (sent_use (keepers[i]), ==, NODE_SENT_KEEPERS);
  g_assert_cmpint (sent_use (MESSAGE_HOLD), ==, NODE_SENT_OFFERS);
  g_assert_cmpint (sent_use (MESSAGE_BYTES), ==, NODE_SENT_SHARED);
  for (MessageKind kind = 1; kind < MESSAGE_KINDS; kind++)
    if (message_layer (kind) == MESSAGE_LAYER_MESH)
      g_assert_cmpint (sent_use (kind), ==, NODE_SENT_OTHER);
}

/* Large rows for the coordinator count as saves. */
static void
test_rows_count_as_saves (void)
{
  g_autoptr (World) world = world_new (2, TRUE);

  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  pass (world, G_USEC_PER_SEC);
  send_large_row (world, 1);
  g_assert_true (said (world, 0, "SAVE /3"));
  g_assert_cmpuint (stats_of (world, 1).sent_bytes[NODE_SENT_SAVES], >, 1 << 20);
  g_assert_cmpuint (stats_of (world, 1).sent_bytes[NODE_SENT_SAVES], <, 2 << 20);
  g_assert_cmpuint (stats_of (world, 1).sent_bytes[NODE_SENT_OTHER], <, 1 << 16);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define TEST(name, function) g_test_add_func ("/carry/" name, function)
  TEST ("one-link-is-enough", test_one_link_is_enough);
  TEST ("of-two-links-one-stays", test_of_two_links_one_stays);
  TEST ("a-dead-link-replaces-none", test_a_dead_link_replaces_none);
  TEST ("what-a-link-swallows-comes-by-the-next", test_what_a_link_swallows_comes_by_the_next);
  TEST ("what-is-lent-over-a-broken-link-stays-lent",
        test_what_is_lent_over_a_broken_link_stays_lent);
  TEST ("a-steal-costs-no-further-frame", test_a_steal_costs_no_further_frame);
  TEST ("who-gave-up-a-member-takes-another-name", test_who_gave_up_a_member_takes_another_name);
  TEST ("rows-wait-in-the-engine-for-room", test_rows_wait_in_the_engine_for_room);
  TEST ("what-is-sent-is-counted", test_what_is_sent_is_counted);
  TEST ("what-messages-are-for", test_what_messages_are_for);
  TEST ("rows-count-as-saves", test_rows_count_as_saves);
  return g_test_run ();
}
