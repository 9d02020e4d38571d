/* SPDX-License-Identifier: BSD-3-Clause */
/* Each kind of message has its handler, and no handler gets a message that messages.def forbids its
 * sender or its receiver. */
#include "any-message.h"
#include "node-calls.h"

#include "satin/protocol/members/hear.h"
#include "satin/protocol/node-parts.h"

#define EACH_KIND 20

/* (transfer full): the node's effects, without timers. They are not carried out. */
static GArray *
hear (World *world, guint64 link, guint to, const Message *message)
{
  g_autoptr (GBytes) bytes = any_message_join (message_encode (message));
  GArray *effects = g_array_new (FALSE, TRUE, sizeof (NodeEffect));

  g_array_set_clear_func (effects, (GDestroyNotify)node_effect_clear);
  node_step (world->peer[to].node, world->now_us,
             &(NodeEvent){ .kind = NODE_EVENT_MESSAGE, .link = link, .bytes = bytes }, effects);
  for (guint i = effects->len; i > 0; i--)
    if (g_array_index (effects, NodeEffect, i - 1).kind == NODE_EFFECT_TIMER)
      g_array_remove_index (effects, i - 1);
  return effects;
}

static void
assert_ignored (World *world, guint64 link, guint to, const Message *message)
{
  g_autoptr (GArray) effects = hear (world, link, to, message);

  if (effects->len > 0)
    g_error ("'%s' has an effect", message_kind_name (message->kind));
}

/* The layer `members` handles the kinds that messages.def lists for it, and STEM. */
static void
test_each_kind_has_a_handler (void)
{
  for (int kind = 1; kind < MESSAGE_KINDS; kind++)
    {
      if (!node_hears ((MessageKind)kind))
        g_error ("nothing takes in '%s'", message_kind_name ((MessageKind)kind));
      gboolean mesh = message_layer ((MessageKind)kind) == MESSAGE_LAYER_MESH;
      if (hear_handles ((MessageKind)kind) != (mesh || kind == MESSAGE_STEM))
        g_error ("'%s' is taken in by another layer", message_kind_name ((MessageKind)kind));
    }
}

/* The sender has sent HELLO, but is not a member. Only STEAL is answered, by a refusal. */
static void
test_a_stranger_says_nothing_that_only_members_may_say (void)
{
  g_autoptr (World) world = world_new (2, TRUE);
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  Wire wire = { { 0, 1 }, TRUE, TRUE };

  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  g_array_append_val (world->wires, wire);
  guint64 link = world->wires->len;
  post (world, (Post){ .to = 0, .kind = NODE_EVENT_LINK_UP, .link = link });
  deliver (world, link, 0,
           &(Message){ .kind = MESSAGE_HELLO,
                       .number = MESSAGE_VERSION,
                       .digest = digest_of_string ("program"),
                       .text = "n7",
                       .host = "" });
  for (int kind = 1; kind < MESSAGE_KINDS; kind++)
    for (guint i = 0; message_from ((MessageKind)kind) != MESSAGE_FROM_ANYBODY && i < EACH_KIND;
         i++)
      {
        g_auto (AnyMessage) any;
        any_message_init (&any, (MessageKind)kind, rand);
        if (kind != MESSAGE_STEAL)
          {
            assert_ignored (world, link, 0, &any.message);
            continue;
          }
        g_autoptr (GArray) effects = hear (world, link, 0, &any.message);
        g_assert_cmpuint (effects->len, ==, 1);
        const NodeEffect *effect = &g_array_index (effects, NodeEffect, 0);
        g_assert_cmpint (effect->kind, ==, NODE_EFFECT_SEND);
        guint64 request = 0;
        g_assert_cmpint (jobs_sent (effect, &request), ==, 0);
        g_assert_cmpuint (request, ==, any.message.number);
      }
}

/* n0 is master and coordinator. n1 sends n2 the kinds that only the coordinator may send, and n0
 * sends n2 the kinds that only the master or the coordinator accepts. */
static void
test_members_keep_to_their_parts (void)
{
  g_autoptr (World) world = world_new (3, TRUE);
  g_autoptr (GRand) rand = g_rand_new_with_seed (2);

  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  pass (world, G_USEC_PER_SEC / 2);
  for (int kind = 1; kind < MESSAGE_KINDS; kind++)
    for (guint i = 0; i < EACH_KIND; i++)
      {
        gboolean speaker = message_from ((MessageKind)kind) == MESSAGE_FROM_COORDINATOR;
        gboolean listener = message_to ((MessageKind)kind) != MESSAGE_TO_ALL;
        g_auto (AnyMessage) any;
        any_message_init (&any, (MessageKind)kind, rand);
        any.message.count = i % 3; /* the count of a lease or of a request */
        g_clear_pointer (&any.message.shares, g_ptr_array_unref);
        for (guint k = 0; any.message.rows != NULL && k < any.message.rows->len; k++)
          g_clear_pointer (&((Row *)any.message.rows->pdata[k])->shares, g_ptr_array_unref);
        if (speaker)
          assert_ignored (world, link_between (world, 1, 2), 2, &any.message);
        if (listener)
          assert_ignored (world, link_between (world, 0, 2), 2, &any.message);
      }
}

/* Allowed messages from and to the coordinator have effects. */
static void
test_the_coordinator_is_heard (void)
{
  g_autoptr (World) world = world_new (3, TRUE);
  const Message scan = { .kind = MESSAGE_SCAN, .number = 9 };
  const Message publish = { .kind = MESSAGE_PUBLISH, .number = 9 };
  const Message release = { .kind = MESSAGE_RELEASE };

  tell (world, 0, &(NodeEvent){ .kind = NODE_EVENT_OPENED });
  pass (world, G_USEC_PER_SEC / 2);
  g_autoptr (GArray) scans = hear (world, link_between (world, 0, 2), 2, &scan);
  g_assert_cmpuint (scans->len, >, 0);
  g_autoptr (GArray) rounds = hear (world, link_between (world, 0, 1), 0, &publish);
  g_assert_cmpuint (rounds->len, >, 0);
  g_autoptr (GArray) releases = hear (world, link_between (world, 0, 1), 0, &release);
  g_assert_cmpuint (releases->len, >, 0);
}

/* ---- greetings ---- */

/* A node greets over a new link of n1, which it dialled as `expected` (nullable). The effects are
 * not carried out. */
static void
greets (World *world, const NodeId *expected, const NodeId *id, const char *address,
        const char *build)
{
  Node *node = node_at (world, 1);
  Link *link = link_add (node, 900, NULL);
  g_autoptr (GBytes) bytes
      = any_message_join (message_encode (&(Message){ .kind = MESSAGE_HELLO,
                                                      .number = MESSAGE_VERSION,
                                                      .digest = digest_of_string ("program"),
                                                      .id = *id,
                                                      .text = address,
                                                      .host = build }));

  if (expected != NULL)
    link->expected = *expected;
  hear_message (node, link->link, bytes);
}

/* A node without a name at the address of a member proves that member's death only while the master
 * is dead, when no name can be on its way to it; and not if the member has a link, or was the one
 * that was dialled. */
static void
test_a_nameless_node_at_the_address_of_a_member (void)
{
  static const struct
  {
    gboolean master_dead, linked, dialled, dead;
  } cases[] = { { TRUE, FALSE, FALSE, TRUE },
                { FALSE, FALSE, FALSE, FALSE },
                { TRUE, TRUE, FALSE, FALSE },
                { TRUE, FALSE, TRUE, FALSE } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (World) world = world_new (4, FALSE);
      Node *node = node_at (world, 1);
      Member *member = member_at (world, 1, 2);
      NodeId id = member->id;
      g_autoptr (GArray) effects = begin_call (world, 1);

      member_at (world, 1, 0)->dead = cases[i].master_dead;
      if (!cases[i].linked)
        link_close (node, link_at (world, 1, 2));
      greets (world, cases[i].dialled ? &id : NULL, &NODE_ID_NONE, "n2", "");
      g_assert_cmpint (member->dead, ==, cases[i].dead);
      end_call (world, 1);
    }
}

/* Another member of the same host at a member's address proves that member's death, unless it spoke
 * a moment ago over a link that stands. Over a route no address answers. */
static void
test_another_member_answers (void)
{
  static const struct
  {
    gboolean linked, routed, dead;
  } cases[] = { { FALSE, FALSE, TRUE }, { TRUE, FALSE, FALSE }, { FALSE, TRUE, FALSE } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (World) world = world_new (4, FALSE);
      Node *node = node_at (world, 1);
      Member *member = member_at (world, 1, 2);
      NodeId expected = member->id, other = id_of (world, 3);
      g_autoptr (GArray) effects = begin_call (world, 1);

      if (!cases[i].linked)
        link_close (node, link_at (world, 1, 2));
      if (cases[i].routed)
        {
          Link *route = route_open (node, link_at (world, 1, 0), &expected, 1);
          g_autoptr (GBytes) bytes = any_message_join (
              message_encode (&(Message){ .kind = MESSAGE_HELLO,
                                          .number = MESSAGE_VERSION,
                                          .digest = digest_of_string ("program"),
                                          .id = other,
                                          .text = "n3",
                                          .host = "" }));
          hear_message (node, route->link, bytes);
        }
      else
        greets (world, &expected, &other, "n3", "");
      g_assert_cmpint (member->dead, ==, cases[i].dead);
      end_call (world, 1);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/hear/each-kind-has-a-handler", test_each_kind_has_a_handler);
  g_test_add_func ("/hear/a-stranger-says-nothing-that-only-members-may-say",
                   test_a_stranger_says_nothing_that_only_members_may_say);
  g_test_add_func ("/hear/members-keep-to-their-parts", test_members_keep_to_their_parts);
  g_test_add_func ("/hear/the-coordinator-is-heard", test_the_coordinator_is_heard);
  g_test_add_func ("/hear/a-nameless-node-at-the-address-of-a-member",
                   test_a_nameless_node_at_the_address_of_a_member);
  g_test_add_func ("/hear/another-member-answers", test_another_member_answers);
  return g_test_run ();
}
