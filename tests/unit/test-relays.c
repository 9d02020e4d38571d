/* SPDX-License-Identifier: BSD-3-Clause */
/* Which routes a node relays, what it tells both ends, and how members are searched for: one call
 * at a time, whose effects are read and not carried out. */
#include "node-calls.h"

static const NodeId nobody = { 9, 9, 9 };

/* (transfer full): what these effects send, a line each: the receiver, the kind, and what the test
 * is about. Removes them. */
static char *
sent (World *world, guint who, GArray *effects)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < effects->len; i++)
    {
      const NodeEffect *effect = &g_array_index (effects, NodeEffect, i);
      g_auto (Message) m = { 0 };
      const Link *link = effect->kind == NODE_EFFECT_SEND
                             ? link_find (world->peer[who].node, effect->link)
                             : NULL;

      if (effect->kind == NODE_EFFECT_DIAL)
        g_string_append_printf (text, "DIAL %s\n", effect->text);
      if (link == NULL || !read_sent (effect, &m))
        continue;
      guint64 to = link->member != NULL ? link->remote.number - 1 : 99; /* 99: a stranger */
      const char *name = message_kind_name (m.kind);
      if (m.kind == MESSAGE_RELAY)
        g_string_append_printf (text, "n%u %s n%d%s\n", (guint)to, name, (int)m.id.number - 1,
                                m.flag ? " end" : "");
      else if (m.kind == MESSAGE_SOUGHT)
        g_string_append_printf (text, "n%u %s n%d %s %u\n", (guint)to, name, (int)m.id.number - 1,
                                m.flag ? "yes" : "no", (guint)m.count);
      else if (m.kind == MESSAGE_RELAYED && g_bytes_get_size (m.value) == 0)
        g_string_append_printf (text, "n%u relay end\n", (guint)to);
      else if (m.kind == MESSAGE_SEEK)
        g_string_append_printf (text, "n%u %s\n", (guint)to, name);
      else if (m.kind == MESSAGE_RELAYED)
        g_string_append_printf (text, "n%u %s %s\n", (guint)to, name,
                                effect->urgent ? "urgent" : "bulk");
    }
  g_array_set_size (effects, 0);
  return g_string_free (text, FALSE);
}

static void
assert_sent (World *world, guint who, GArray *effects, const char *wanted)
{
  g_autofree char *text = sent (world, who, effects);

  g_assert_cmpstr (text, ==, wanted);
}

/* n0 and n2 cannot dial each other: their link goes through n1. */
static World *
walled_world (guint n)
{
  World *world = world_new (0, FALSE);

  world->wall = TRUE;
  for (guint who = 0; who < n; who++)
    {
      add_peer (world, FALSE);
      pass (world, 4 * G_USEC_PER_SEC);
      g_assert_cmpuint (members_of (world, who), ==, who + 1);
    }
  return world;
}

/* A node without a name greets n1. */
static guint64
stranger (World *world)
{
  Wire wire = { { 0, 1 }, TRUE, TRUE };

  g_array_append_val (world->wires, wire);
  guint64 link = world->wires->len;
  post (world, (Post){ .to = 1, .kind = NODE_EVENT_LINK_UP, .link = link });
  deliver (world, link, 1,
           &(Message){ .kind = MESSAGE_HELLO,
                       .number = MESSAGE_VERSION,
                       .digest = digest_of_string ("program"),
                       .text = "n7",
                       .host = "" });
  return link;
}

/* ---- what a relay passes on ---- */

/* A member gets a route to any other member; a stranger gets one, to the master only. */
static void
test_which_routes_are_relayed (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  Node *node = world->peer[1].node;
  guint64 strange = stranger (world), silent = stranger (world);
  const struct
  {
    Link *from;
    NodeId to;
    gboolean end; /* the asker says that this node is the route's other end */
    const char *wanted;
  } cases[] = {
    { link_at (world, 1, 0), id_of (world, 2), FALSE, "n2 relay n0 end\n" },
    { link_at (world, 1, 2), id_of (world, 0), FALSE, "n0 relay n2 end\n" },
    { link_at (world, 1, 0), id_of (world, 0), FALSE, "n0 relay end\n" }, /* back to the asker */
    { link_at (world, 1, 0), id_of (world, 1), FALSE, "n0 relay end\n" }, /* itself */
    { link_at (world, 1, 0), nobody, FALSE, "n0 relay end\n" },
    { link_find (node, strange), id_of (world, 2), FALSE, "n99 relay end\n" },
    { link_find (node, strange), id_of (world, 0), TRUE, "n99 relay end\n" },
    { link_find (node, strange), id_of (world, 0), FALSE, "n0 relay n-1 end\n" },
    { link_find (node, strange), id_of (world, 0), FALSE, "n99 relay end\n" }, /* a second one */
  };
  g_autoptr (GArray) effects = begin_call (world, 1);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      route_on_relay (
          node, cases[i].from,
          &(Message){
              .kind = MESSAGE_RELAY, .number = 100 + i, .flag = cases[i].end, .id = cases[i].to });
      assert_sent (world, 1, effects, cases[i].wanted);
    }
  /* A stranger that has a route keeps its link as long as that; another one has to greet in time.
   */
  world->peer[1].node->now_us += link_greeting_us (node);
  alive_changed (node);
  (void)alive_due (node);
  node->alive.ping_at_us = node->now_us;
  alive_tick (node);
  g_assert_nonnull (link_find (node, strange));
  g_assert_null (link_find (node, silent));
  end_call (world, 1);
}

/* What is relayed may pass others if its content may, over each of its relays. */
static void
test_it_is_as_urgent_as_its_content (void)
{
  const MessageKind kinds[] = { MESSAGE_PING, MESSAGE_LEAVING };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_autoptr (GPtrArray) parts = message_encode (&(Message){ .kind = kinds[i] });
      g_autoptr (GBytes) content = g_bytes_ref (parts->pdata[0]);
      for (guint hops = 0; hops <= ROUTE_HOPS_MAX; hops++)
        {
          g_assert_cmpint (carry_is_urgent (content), ==, kinds[i] == MESSAGE_PING);
          g_autoptr (GPtrArray) outer = message_encode (
              &(Message){ .kind = MESSAGE_RELAYED, .number = 1, .value = content });
          g_autoptr (GByteArray) whole = g_byte_array_new ();
          for (guint k = 0; k < outer->len; k++)
            g_byte_array_append (whole, g_bytes_get_data (outer->pdata[k], NULL),
                                 (guint)g_bytes_get_size (outer->pdata[k]));
          g_bytes_unref (content);
          content = g_bytes_new (whole->data, whole->len);
        }
    }
}

/* Both ends of a route are told that it ended, whether one end closes it or a link breaks. What
 * passes is sent on as urgently as it came. */
static void
test_both_ends_are_told (void)
{
  for (guint how = 0; how < 3; how++)
    {
      g_autoptr (World) world = walled_world (3);
      Node *node = world->peer[1].node;
      const Circuit *circuit = link_at (world, 2, 0)->circuit;
      Link *third = link_at (world, 1, 2);
      g_autoptr (GBytes) largest
          = g_bytes_new_take (g_malloc0 (ROUTE_RELAYED_MAX), ROUTE_RELAYED_MAX);
      g_autoptr (GBytes) nothing = g_bytes_new (NULL, 0);

      g_assert_true (route_needs (node, third));
      g_assert_true (route_needs (node, link_at (world, 1, 0)));
      g_autoptr (GArray) effects = begin_call (world, 1);
      g_autoptr (GPtrArray) ping = message_encode (&(Message){ .kind = MESSAGE_PING });
      Message m = { .kind = MESSAGE_RELAYED,
                    .number = circuit->leg.number,
                    .flag = circuit->leg.mine,
                    .value = ping->pdata[0] };
      route_on_relayed (node, third, &m);
      assert_sent (world, 1, effects, "n0 relayed urgent\n");
      m.value = largest;
      route_on_relayed (node, third, &m);
      assert_sent (world, 1, effects, "n0 relayed bulk\n");
      if (how == 0)
        route_on_relayed (node, third,
                          &(Message){ .kind = MESSAGE_RELAYED,
                                      .number = circuit->leg.number,
                                      .flag = circuit->leg.mine,
                                      .value = nothing });
      else if (how == 1)
        link_down (node, third->link);
      else
        link_close (node, third);
      g_autofree char *text = sent (world, 1, effects);
      g_assert_true (g_str_has_prefix (text, "n0 relay end\n"));
      g_assert_false (route_needs (node, link_at (world, 1, 0)));
      end_call (world, 1);
    }
}

/* No route goes in a circle or through more than ROUTE_HOPS_MAX nodes: both ends count them. */
static void
test_hops_are_counted (void)
{
  g_autoptr (World) world = walled_world (4);
  Node *node = world->peer[0].node;
  Link *routed = link_at (world, 0, 2);
  NodeId third = id_of (world, 2);

  g_assert_cmpuint (route_hops (routed), ==, 1);
  g_assert_cmpuint (route_hops (link_at (world, 2, 0)), ==, 1);
  g_assert_true (route_needs (node, link_at (world, 0, 1)));
  g_assert_false (route_needs (node, link_at (world, 0, 3)));
  g_autoptr (GArray) effects = begin_call (world, 0);
  for (guint hops = 1; hops <= ROUTE_HOPS_MAX + 1; hops++)
    {
      const gboolean may = hops < ROUTE_HOPS_MAX;

      routed->circuit->hops = hops;
      g_assert_cmpint (reach_offer (node, link_at (world, 0, 3), &third), ==, may);
      assert_sent (world, 0, effects, may ? "n3 sought n2 yes 1\n" : "");
      route_on_relay (
          node, link_at (world, 0, 3),
          &(Message){ .kind = MESSAGE_RELAY, .number = 200 + hops, .flag = FALSE, .id = third });
      assert_sent (world, 0, effects, may ? "n1 relayed urgent\n" : "n3 relay end\n");
    }
  routed->circuit->hops = 1; /* n1 asks for the way that leads through n1 */
  g_assert_false (reach_offer (node, link_at (world, 0, 1), &third));
  route_on_relay (node, link_at (world, 0, 1),
                  &(Message){ .kind = MESSAGE_RELAY, .number = 300, .flag = FALSE, .id = third });
  assert_sent (world, 0, effects, "n1 relay end\n");
  end_call (world, 0);
}

/* A route is begun over any way that is short enough, and is one node longer than that way. */
static void
test_offered_ways (void)
{
  for (guint count = 0; count <= ROUTE_HOPS_MAX; count++)
    {
      g_autoptr (World) world = walled_world (3);
      Node *node = world->peer[0].node;

      g_autoptr (GArray) effects = begin_call (world, 0);
      link_close (node, link_at (world, 0, 2));
      reach_on_sought (
          node, link_at (world, 0, 1),
          &(Message){
              .kind = MESSAGE_SOUGHT, .id = id_of (world, 2), .flag = TRUE, .count = count });
      const Link *last = node->links.links->pdata[node->links.links->len - 1];
      g_assert_cmpint (last->circuit != NULL, ==, count < ROUTE_HOPS_MAX);
      if (last->circuit != NULL)
        g_assert_cmpuint (route_hops (last), ==, count + 1);
      end_call (world, 0);
    }
}

/* ---- searches ---- */

/* A node that is asked offers its link. Without a link it dials the member itself. */
static void
test_asked (void)
{
  g_autoptr (World) world = world_new (3, FALSE);
  Node *node = world->peer[1].node;
  Message seek = { .kind = MESSAGE_SEEK, .id = id_of (world, 2) };

  pass (world, G_USEC_PER_SEC);
  g_autoptr (GArray) effects = begin_call (world, 1);
  reach_on_seek (node, link_at (world, 1, 0), &seek);
  assert_sent (world, 1, effects, "n0 sought n2 yes 0\n");
  Member *member = member_at (world, 1, 2);
  link_close (node, link_at (world, 1, 2));
  g_array_set_size (effects, 0);
  member->dialled_us = 0;
  reach_on_seek (node, link_at (world, 1, 0), &seek);
  assert_sent (world, 1, effects, "DIAL n2\n");
  /* It answers as soon as it gives the member up. */
  reach_tick (node);
  assert_sent (world, 1, effects, "");
  member->dead = TRUE;
  reach_tick (node);
  assert_sent (world, 1, effects, "n0 sought n2 no 0\n");
  end_call (world, 1);
}

/* A member that opens a route to this node is dialled, unless there is a direct link. */
static void
test_called (void)
{
  g_autoptr (World) world = walled_world (3);
  g_autoptr (GArray) effects = begin_call (world, 0);

  member_at (world, 0, 2)->dialled_us = 0;
  for (guint who = 2; who > 0; who--)
    route_on_relay (
        world->peer[0].node, link_at (world, 0, 1),
        &(Message){
            .kind = MESSAGE_RELAY, .number = 900 + who, .flag = TRUE, .id = id_of (world, who) });
  assert_sent (world, 0, effects,
               "n1 relayed urgent\nn1 relayed bulk\nDIAL n2\n"
               "n1 relayed urgent\nn1 relayed bulk\n");
  end_call (world, 0);
}

/* The number of members that `who` asks for n`about`, when the link between them is gone. */
static guint
count_asked (World *world, guint who, guint about)
{
  Node *node = world->peer[who].node;
  g_autoptr (GArray) effects = begin_call (world, who);

  link_close (node, link_at (world, who, about));
  reach_seek (node, member_at (world, who, about));
  g_assert_cmpuint (node->reach.searches->len, ==, 1);
  const ReachSearch *search = node->reach.searches->pdata[0];
  guint n = search->asked->len;
  reach_reset (node);
  end_call (world, who);
  return n;
}

/* The node that decides about a death asks all members. Others ask a few of each site, and few in
 * all. */
static void
test_how_many_are_asked (void)
{
  const guint n = 14;
  g_autoptr (World) world = world_new (n, FALSE);

  g_assert_cmpuint (count_asked (world, 0, 12), ==, n - 2);
  g_assert_cmpuint (count_asked (world, 11, 12), ==, REACH_ASKED_OF_SITE);
  for (guint i = 0; i < n; i++)
    {
      Member *member = member_at (world, 10, i);
      g_free (member->site);
      member->site = g_strdup_printf ("site %u", i);
    }
  g_assert_cmpuint (count_asked (world, 10, 12), ==, REACH_ASKED_MAX);
  member_at (world, 1, 0)->dead = TRUE; /* now n1 is the eldest */
  g_assert_cmpuint (count_asked (world, 1, 12), ==, n - 3);
}

/* A member to which there is only a route cannot be asked. */
static void
test_routes_are_not_asked (void)
{
  g_autoptr (World) world = walled_world (4);

  g_assert_cmpuint (count_asked (world, 0, 3), ==, 1);
}

/* A refused dial proves the death of a member that had answered before. Another one gets a second
 * to dial itself. A dial without an answer refuses nothing. */
static void
test_what_a_refusal_proves (void)
{
  for (guint i = 0; i < 4; i++)
    {
      const gboolean answered = i == 0 || i == 3, grace = i == 1, refused = i != 3;
      g_autoptr (World) world = world_new (2, FALSE);
      Node *node = world->peer[0].node;
      Member *member = member_at (world, 0, 1);
      g_autoptr (GArray) effects = begin_call (world, 0);
      guint64 now_us = node->now_us;

      link_close (node, link_at (world, 0, 1));
      reach_dial_failed (node, member, TRUE);
      g_assert_cmpuint (member->refused_us, ==, now_us);
      node->now_us += grace ? REACH_GRACE_US : REACH_GRACE_US - 1;
      reach_dial_failed (node, member, refused);
      g_assert_cmpuint (member->refused_us, ==, refused ? now_us : 0); /* since the first one */
      member->answered = answered;
      reach_tick (node);
      Member *after = member_at (world, 0, 1);
      gboolean dead = after == NULL || after->dead;
      g_assert_cmpint (dead, ==, refused && (answered || grace));
      if (i == 2)
        g_assert_cmpuint (after->seek_at_us, ==, now_us + REACH_GRACE_US);
      end_call (world, 0);
    }
}

/* A new link ends all doubts about a member. */
static void
test_a_link_ends_doubts (void)
{
  g_autoptr (World) world = world_new (2, FALSE);
  Member *member = member_at (world, 0, 1);
  g_autoptr (GArray) effects = begin_call (world, 0);

  member->refused_us = member->seek_at_us = member->dial_failures = 5;
  reach_bound (world->peer[0].node, member);
  g_assert_cmpuint (member->refused_us, ==, 0);
  g_assert_cmpuint (member->seek_at_us, ==, CORE_NEVER);
  g_assert_cmpuint (member->dial_failures, ==, 0);
  end_call (world, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/relays/which-routes-are-relayed", test_which_routes_are_relayed);
  g_test_add_func ("/relays/it-is-as-urgent-as-its-content", test_it_is_as_urgent_as_its_content);
  g_test_add_func ("/relays/both-ends-are-told", test_both_ends_are_told);
  g_test_add_func ("/relays/hops-are-counted", test_hops_are_counted);
  g_test_add_func ("/relays/offered-ways", test_offered_ways);
  g_test_add_func ("/relays/asked", test_asked);
  g_test_add_func ("/relays/called", test_called);
  g_test_add_func ("/relays/how-many-are-asked", test_how_many_are_asked);
  g_test_add_func ("/relays/routes-are-not-asked", test_routes_are_not_asked);
  g_test_add_func ("/relays/what-a-refusal-proves", test_what_a_refusal_proves);
  g_test_add_func ("/relays/a-link-ends-doubts", test_a_link_ends_doubts);
  return g_test_run ();
}
