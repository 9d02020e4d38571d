/* SPDX-License-Identifier: BSD-3-Clause */
/* Three Nodes, of which n0 and n2 cannot dial each other: what passes through n1, and what n1 must
 * store for that. */
#include "node-world.h"

#include "satin/protocol/core.h"
#include "satin/protocol/messages/message.h"
#include "satin/protocol/members/route.h"

/* n0 founds the run, n1 joins at n0, n2 at n1. */
static World *
walled_world (void)
{
  World *world = world_new (0, FALSE);

  world->wall = TRUE;
  for (guint who = 0; who < 3; who++)
    {
      add_peer (world, FALSE);
      pass (world, 4 * G_USEC_PER_SEC);
      g_assert_cmpuint (members_of (world, who), ==, who + 1);
    }
  return world;
}

static GBytes *
large (gsize size)
{
  guint8 *data = g_malloc (size);

  for (gsize i = 0; i < size; i++)
    data[i] = (guint8)(i * 2654435761u >> 13);
  return g_bytes_new_take (data, size);
}

static void
publish (World *world, GBytes *value)
{
  step (world, 0,
        &(NodeEvent){ .kind = NODE_EVENT_CONSTANT, .text = "const/large", .bytes = value });
  step (world, 0, &(NodeEvent){ .kind = NODE_EVENT_CONSTANT });
}

static void
test_large (void)
{
  g_autoptr (World) world = walled_world ();
  g_autoptr (GBytes) value = large (20 * 1024 * 1024 + 7);
  gsize waits = 0;

  world->lates = SESSION_FRAGMENT;
  publish (world, value);
  pump (world);
  for (GList *at = world->posts->head; at != NULL; at = at->next)
    if (((Post *)at->data)->bytes != NULL)
      waits += g_bytes_get_size (((Post *)at->data)->bytes);
  g_assert_cmpuint (waits, >, SESSION_FLIGHT_MAX / 2); /* it is in transit … */
  g_assert_cmpuint (waits, <, SESSION_FLIGHT_MAX + SESSION_FLIGHT_MAX / 8); /* … most is at n0 */
  world->lates = G_MAXSIZE;
  world->peer[2].late = FALSE;
  pump (world);
  g_assert_nonnull (world->peer[2].constant);
  g_assert_true (g_bytes_equal (world->peer[2].constant, value));
  g_assert_true (g_bytes_equal (world->peer[1].constant, value));
}

/* The route breaks while a large message is in transit: it arrives over the next one. */
static void
test_breaks (void)
{
  g_autoptr (World) world = walled_world ();
  g_autoptr (GBytes) value = large (9 * 1024 * 1024);

  world->lates = SESSION_FRAGMENT;
  publish (world, value);
  pump (world);
  for (guint64 link = 1; link <= world->wires->len; link++)
    break_link (world, link);
  world->lates = G_MAXSIZE;
  world->peer[2].late = FALSE;
  pass (world, 4 * G_USEC_PER_SEC);
  g_assert_nonnull (world->peer[2].constant);
  g_assert_true (g_bytes_equal (world->peer[2].constant, value));
  for (guint i = 0; i < 3; i++)
    g_assert_cmpuint (members_of (world, i), ==, 3);
}

/* The relay dies, and the two are cut off: each goes on, and they meet again when they can. */
static void
test_dies (void)
{
  g_autoptr (World) world = walled_world ();

  world->peer[1].alive = FALSE;
  for (guint64 link = 1; link <= world->wires->len; link++)
    break_link (world, link);
  pass (world, 4 * G_USEC_PER_SEC);
  g_assert_cmpuint (members_of (world, 0), ==, 1);
  g_assert_cmpuint (members_of (world, 2), ==, 1);
  g_assert_true (said (world, 2, "MASTER"));
  world->wall = FALSE;
  pass (world, 30 * G_USEC_PER_SEC);
  g_assert_cmpuint (members_of (world, 0), ==, 2);
  g_assert_cmpuint (members_of (world, 2), ==, 2);
}

/* Once one of the two can dial the other, they need no relay. */
static void
test_opens (void)
{
  g_autoptr (World) world = walled_world ();
  g_autoptr (GBytes) value = large (100);

  world->wall = FALSE;
  pass (world, 70 * G_USEC_PER_SEC);
  world->peer[1].late = TRUE;
  publish (world, value);
  pump (world);
  g_assert_nonnull (world->peer[2].constant);
}

static gboolean
has_direct_link (World *world)
{
  for (guint i = 0; i < world->wires->len; i++)
    {
      const Wire *wire = &g_array_index (world->wires, Wire, i);
      if (wire->up && wire->end[0] + wire->end[1] == 2)
        return TRUE;
    }
  return FALSE;
}

/* A job may be in transit through n1 when the direct link comes up. Over that link the other end
 * already reports that it holds nothing, which must not count yet: the route stays until everything
 * on it has arrived, however long that takes. */
static void
test_closes_late (void)
{
  g_autoptr (World) world = walled_world ();
  Peer *between = &world->peer[1];

  world->wall = FALSE;
  world->said_no = 0;
  for (guint tenths = 0; !has_direct_link (world); tenths++)
    {
      g_assert_cmpuint (tenths, <, 700);
      between->late = FALSE;
      pump (world);
      between->late = TRUE;
      pass (world, G_USEC_PER_SEC / 10);
    }
  pass (world, 5 * G_USEC_PER_SEC); /* the relay is silent, but not for too long */
  g_assert_cmpuint (world->said_no, ==, 0);
  between->late = FALSE;
  pass (world,
        20 * G_USEC_PER_SEC); /* the messages sent meanwhile open the route again, at a ping */
  g_assert_cmpuint (world->said_no, >, 0);
}

static guint
count_links (World *world, guint a, guint b)
{
  guint n = 0;

  for (guint i = 0; i < world->wires->len; i++)
    {
      const Wire *wire = &g_array_index (world->wires, Wire, i);
      n += wire->up && MIN (wire->end[0], wire->end[1]) == a
           && MAX (wire->end[0], wire->end[1]) == b;
    }
  return n;
}

/* The link to the node through which n2 joined carries their messages from then on. */
static void
test_who_joins_through_another_stays_linked_to_it (void)
{
  g_autoptr (World) world = walled_world ();

  g_assert_cmpuint (count_links (world, 1, 2), ==, 1);
  start (world);
  (void)offer (world, 1, "/0");
  hunger (world, 2);
  g_assert_true (said (world, 2, "RUN /0"));
  g_assert_cmpuint (count_links (world, 1, 2), ==, 1);
}

/* n2 does not search for another route to the master, which also continues to use this one. */
static void
test_the_way_by_which_one_joins_stays (void)
{
  g_autoptr (World) world = walled_world ();

  g_assert_cmpuint (world->said_no, ==, 0);
}

/* The first address that n2 is told does not answer, but another one is known. */
static void
test_who_joins_does_not_wait_for_a_slow_dial (void)
{
  g_autoptr (World) world = world_new (2, FALSE);

  world->swallows = TRUE;
  add_peer (world, FALSE);
  tell (world, 2, &(NodeEvent){ .kind = NODE_EVENT_JOIN, .text = "n1" });
  pass (world, G_USEC_PER_SEC);
  g_assert_cmpuint (members_of (world, 2), ==, 3);
}

/* Dials between n0 and n2 are suddenly refused, and n3, which knows that n0 lives, is slow to
 * greet. */
static void
test_nobody_is_dead_before_all_could_be_asked (void)
{
  g_autoptr (World) world = world_new (4, FALSE);

  die (world, 1);
  pass (world, G_USEC_PER_SEC);
  world->wall = TRUE;
  world->peer[3].late = TRUE;
  cut (world, 0, 2);
  cut (world, 2, 3);
  pass (world, 3 * G_USEC_PER_SEC);
  g_assert_false (said (world, 2, "MASTER"));
  world->peer[3].late = FALSE;
  pass (world, 4 * G_USEC_PER_SEC);
  g_assert_false (said (world, 2, "MASTER"));
  for (guint i = 0; i < 4; i++)
    g_assert_true (i == 1 || members_of (world, i) == 3);
}

/* The link between n0 and n1. */
static guint64
first_link (World *world)
{
  for (guint64 link = 1; link <= world->wires->len; link++)
    {
      const Wire *wire = &g_array_index (world->wires, Wire, link - 1);
      if (wire->up && wire->end[0] + wire->end[1] == 1)
        return link;
    }
  g_assert_not_reached ();
}

/* Nonsense about routes from one member has no effect on others. */
static void
test_nonsense (void)
{
  g_autoptr (World) world = walled_world ();
  guint64 link = first_link (world);
  g_autoptr (GBytes) some = large (100);
  g_autoptr (GBytes) much = large (ROUTE_RELAYED_MAX + 1);
  NodeId nobody = { 9, 9, 9 }, third = node_self (world->peer[2].node);

  world->said_no = world->n_closed = 0;
  deliver (world, link, 1, &(Message){ .kind = MESSAGE_RELAY, .number = 900, .id = nobody });
  deliver (world, link, 1, &(Message){ .kind = MESSAGE_RELAYED, .number = 901, .value = some });
  deliver (world, link, 1,
           &(Message){ .kind = MESSAGE_RELAYED, .number = 1, .flag = TRUE, .value = some });
  g_assert_cmpuint (world->said_no, >=, 2);
  deliver (world, link, 1, &(Message){ .kind = MESSAGE_RELAYED, .number = 8, .flag = TRUE });
  g_assert_cmpuint (world->n_closed, ==, 0);
  world->peer[0].late = TRUE; /* it would answer that it does not know this route */
  deliver (world, link, 1,
           &(Message){ .kind = MESSAGE_RELAY, .number = 902, .flag = FALSE, .id = third });
  deliver (world, link, 1,
           &(Message){ .kind = MESSAGE_RELAY, .number = 902, .flag = FALSE, .id = third });
  g_assert_cmpuint (world->n_closed, >, 0); /* the same number twice */
  world->peer[0].late = FALSE;
  pass (world, 4 * G_USEC_PER_SEC);
  world->n_closed = 0;
  deliver (world, first_link (world), 1,
           &(Message){ .kind = MESSAGE_RELAYED, .number = 3, .value = much });
  g_assert_cmpuint (world->n_closed, >, 0);
  pass (world, 4 * G_USEC_PER_SEC);
  for (guint i = 0; i < 3; i++)
    g_assert_cmpuint (members_of (world, i), ==, 3);
}

/* A routed link of n2; NULL if there is none. */
static Link *
routed_link (World *world)
{
  const GPtrArray *links = world->peer[2].node->links.links;

  for (guint i = 0; i < links->len; i++)
    if (((Link *)links->pdata[i])->circuit != NULL)
      return links->pdata[i];
  return NULL;
}

/* Routed bytes that are no message cost the routed link, and nothing else. */
static void
test_no_message (void)
{
  g_autoptr (World) world = walled_world ();
  g_autoptr (GBytes) nonsense = large (100);
  const Link *link = routed_link (world);

  g_assert_nonnull (link);
  guint64 number = link->link, carrier = link->circuit->leg.link;
  deliver (world, carrier, 2,
           &(Message){ .kind = MESSAGE_RELAYED,
                       .number = link->circuit->leg.number,
                       .flag = !link->circuit->leg.mine,
                       .value = nonsense });
  g_assert_null (link_find (world->peer[2].node, number));
  g_assert_nonnull (link_find (world->peer[2].node, carrier));
  pass (world, 4 * G_USEC_PER_SEC);
  g_assert_cmpuint (members_of (world, 2), ==, 3);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/route/large-messages-stay-with-their-sender", test_large);
  g_test_add_func ("/route/what-was-on-its-way-comes-again", test_breaks);
  g_test_add_func ("/route/who-passes-on-dies", test_dies);
  g_test_add_func ("/route/not-needed-any-more", test_opens);
  g_test_add_func ("/route/closed-when-what-is-under-way-has-arrived", test_closes_late);
  g_test_add_func ("/route/who-joins-through-another-stays-linked-to-it",
                   test_who_joins_through_another_stays_linked_to_it);
  g_test_add_func ("/route/the-way-by-which-one-joins-stays",
                   test_the_way_by_which_one_joins_stays);
  g_test_add_func ("/route/who-joins-does-not-wait-for-a-slow-dial",
                   test_who_joins_does_not_wait_for_a_slow_dial);
  g_test_add_func ("/route/nobody-is-dead-before-all-could-be-asked",
                   test_nobody_is_dead_before_all_could_be_asked);
  g_test_add_func ("/route/nonsense", test_nonsense);
  g_test_add_func ("/route/no-message", test_no_message);
  return g_test_run ();
}
