/* SPDX-License-Identifier: BSD-3-Clause */
/* Three Nodes, of which n0 and n2 cannot dial each other: what goes through n1, and what n1 has to
 * keep for that. Links deliver in order, when they are told to; the clock is moved by hand. */
#include "satin/protocol/message.h"
#include "satin/protocol/node.h"
#include "satin/protocol/route.h"

#include <string.h>

#define NODES 3

typedef struct
{
  guint end[2];
  gboolean up;
} Wire;

typedef struct
{
  guint to;
  NodeEventKind kind;
  guint64 link, dial;
  GBytes *bytes;
} Post;

typedef struct
{
  Node *node[NODES];
  gboolean alive[NODES];
  gboolean deaf[NODES]; /* what is sent to it waits */
  gboolean deafens;     /* n2 turns deaf once something large goes to it */
  gboolean wall;        /* between n0 and n2 */
  guint64 timer_us[NODES], now_us;
  GBytes *constant[NODES];
  guint masters[NODES], said_no, closed;
  GArray *wires;
  GQueue *posts;
  Stems *stems;
} World;

static void step (World *world, guint who, const NodeEvent *event);

static void
post (World *world, Post one)
{
  g_queue_push_tail (world->posts, g_memdup2 (&one, sizeof one));
}

static guint
other_end (World *world, guint64 link, guint who)
{
  const Wire *wire = &g_array_index (world->wires, Wire, link - 1);

  return wire->end[0] == who ? wire->end[1] : wire->end[0];
}

static void
carry_dial (World *world, guint who, const NodeEffect *effect)
{
  guint to = (guint)(effect->text[1] - '0');
  guint64 link = world->wires->len + 1;
  Wire wire = { { who, to }, TRUE };

  if (!world->alive[to] || (world->wall && who + to == 2 && who != to))
    {
      post (world, (Post){ .to = who, .kind = NODE_EVENT_DIAL_FAILED, .dial = effect->dial });
      return;
    }
  g_array_append_val (world->wires, wire);
  post (world, (Post){ .to = to, .kind = NODE_EVENT_LINK_UP, .link = link });
  post (world, (Post){ .to = who, .kind = NODE_EVENT_LINK_UP, .link = link, .dial = effect->dial });
}

static void
carry_send (World *world, guint who, const NodeEffect *effect)
{
  g_autoptr (GByteArray) all = g_byte_array_new ();
  g_auto (Message) message = { 0 };

  for (guint i = 0; i < effect->parts->len; i++)
    g_byte_array_append (all, g_bytes_get_data (effect->parts->pdata[i], NULL),
                         (guint)g_bytes_get_size (effect->parts->pdata[i]));
  GBytes *bytes = g_byte_array_free_to_bytes (g_steal_pointer (&all));
  g_assert_true (message_decode (bytes, &message, NULL));
  world->said_no += message.kind == MESSAGE_UNROUTE;
  if (world->deafens && other_end (world, effect->link, who) == 2
      && g_bytes_get_size (bytes) >= ROUTE_PIECE)
    world->deaf[2] = TRUE;
  if (g_array_index (world->wires, Wire, effect->link - 1).up)
    post (world, (Post){ .to = other_end (world, effect->link, who),
                         .kind = NODE_EVENT_MESSAGE,
                         .link = effect->link,
                         .bytes = g_bytes_ref (bytes) });
  g_bytes_unref (bytes);
}

static void
break_link (World *world, guint64 link)
{
  Wire *wire = &g_array_index (world->wires, Wire, link - 1);

  if (!wire->up)
    return;
  wire->up = FALSE;
  for (guint i = 0; i < 2; i++)
    post (world, (Post){ .to = wire->end[i], .kind = NODE_EVENT_LINK_DOWN, .link = link });
}

static void
carry (World *world, guint who, const NodeEffect *effect)
{
  switch ((int)effect->kind)
    {
    case NODE_EFFECT_SEND:
      carry_send (world, who, effect);
      break;
    case NODE_EFFECT_DIAL:
      carry_dial (world, who, effect);
      break;
    case NODE_EFFECT_CLOSE:
      world->closed++;
      break_link (world, effect->link);
      break;
    case NODE_EFFECT_TIMER:
      world->timer_us[who] = effect->at_us;
      break;
    case NODE_EFFECT_MASTER:
      world->masters[who]++;
      break;
    case NODE_EFFECT_CONSTANT:
      g_clear_pointer (&world->constant[who], g_bytes_unref);
      world->constant[who] = g_bytes_ref (effect->bytes);
      break;
    default:
      break;
    }
}

static void
step (World *world, guint who, const NodeEvent *event)
{
  g_autoptr (GArray) effects = g_array_new (FALSE, TRUE, sizeof (NodeEffect));

  g_array_set_clear_func (effects, (GDestroyNotify)node_effect_clear);
  node_step (world->node[who], world->now_us, event, effects);
  node_check_invariants (world->node[who]);
  for (guint i = 0; i < effects->len; i++)
    carry (world, who, &g_array_index (effects, NodeEffect, i));
}

/* Delivers all that may be, but for what goes to the deaf. */
static void
pump (World *world)
{
  for (GList *at = world->posts->head; at != NULL;)
    {
      Post *one = at->data;
      if (world->deaf[one->to])
        {
          at = at->next;
          continue;
        }
      g_queue_delete_link (world->posts, at);
      if (world->alive[one->to])
        step (world, one->to,
              &(NodeEvent){ .kind = one->kind,
                            .link = one->link,
                            .dial = one->dial,
                            .refused = one->kind == NODE_EVENT_DIAL_FAILED,
                            .bytes = one->bytes });
      g_clear_pointer (&one->bytes, g_bytes_unref);
      g_free (one);
      at = world->posts->head; /* what was sent just now may be for one before */
    }
}

static void
pass (World *world, guint64 us)
{
  guint64 end = world->now_us + us;

  pump (world);
  for (;;)
    {
      guint who = NODES;
      for (guint i = 0; i < NODES; i++)
        if (world->alive[i] && world->timer_us[i] <= end
            && (who == NODES || world->timer_us[i] < world->timer_us[who]))
          who = i;
      if (who == NODES)
        break;
      world->now_us = MAX (world->now_us, world->timer_us[who]);
      world->timer_us[who] = G_MAXUINT64;
      step (world, who, &(NodeEvent){ .kind = NODE_EVENT_TIMER });
      pump (world);
    }
  world->now_us = end;
}

static guint
n_members (World *world, guint who)
{
  g_autoptr (GArray) members = node_members (world->node[who]);

  return members->len;
}

/* n0 founds the run, n1 joins there, n2 at n1. */
static World *
world_new (void)
{
  World *world = g_new0 (World, 1);

  world->now_us = G_USEC_PER_SEC;
  world->wall = TRUE;
  world->stems = stems_new ();
  world->wires = g_array_new (FALSE, TRUE, sizeof (Wire));
  world->posts = g_queue_new ();
  for (guint who = 0; who < NODES; who++)
    {
      g_autofree char *address = g_strdup_printf ("n%u", who);
      g_autofree char *known = g_strdup_printf ("n%u", who - 1);
      NodeConfig config = { .founder = who == 0,
                            .address = address,
                            .host = "host",
                            .pid = 100 + who,
                            .workers = 1,
                            .program = digest_of_string ("program"),
                            .save_interval_us = G_USEC_PER_SEC,
                            .stems = world->stems,
                            .seed = 7 + who };
      world->node[who] = node_new (&config);
      world->alive[who] = TRUE;
      world->timer_us[who] = G_MAXUINT64;
      step (world, who, &(NodeEvent){ .kind = NODE_EVENT_TIMER });
      if (who > 0)
        step (world, who, &(NodeEvent){ .kind = NODE_EVENT_JOIN, .text = known });
      pass (world, 4 * G_USEC_PER_SEC);
      g_assert_cmpuint (n_members (world, who), ==, who + 1);
    }
  return world;
}

static void
world_free (World *world)
{
  Post *one;

  while ((one = g_queue_pop_head (world->posts)) != NULL)
    {
      g_clear_pointer (&one->bytes, g_bytes_unref);
      g_free (one);
    }
  for (guint i = 0; i < NODES; i++)
    {
      node_free (world->node[i]);
      g_clear_pointer (&world->constant[i], g_bytes_unref);
    }
  g_queue_free (world->posts);
  g_array_unref (world->wires);
  stems_free (world->stems);
  g_free (world);
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
  World *world = world_new ();
  g_autoptr (GBytes) value = large (20 * 1024 * 1024 + 7);
  gsize waits = 0;

  world->deafens = TRUE;
  publish (world, value);
  pump (world);
  for (GList *at = world->posts->head; at != NULL; at = at->next)
    if (((Post *)at->data)->bytes != NULL)
      waits += g_bytes_get_size (((Post *)at->data)->bytes);
  g_assert_cmpuint (waits, >, ROUTE_WINDOW / 2);                /* it is on its way … */
  g_assert_cmpuint (waits, <, ROUTE_WINDOW + ROUTE_WINDOW / 8); /* … and most of it still at n0 */
  world->deaf[2] = world->deafens = FALSE;
  pump (world);
  g_assert_nonnull (world->constant[2]);
  g_assert_true (g_bytes_equal (world->constant[2], value));
  g_assert_true (g_bytes_equal (world->constant[1], value));
  world_free (world);
}

/* The way breaks while something large is on it: it comes over the next one. */
static void
test_breaks (void)
{
  World *world = world_new ();
  g_autoptr (GBytes) value = large (9 * 1024 * 1024);

  world->deafens = TRUE;
  publish (world, value);
  pump (world);
  for (guint64 link = 1; link <= world->wires->len; link++)
    break_link (world, link);
  world->deaf[2] = world->deafens = FALSE;
  pass (world, 4 * G_USEC_PER_SEC);
  g_assert_nonnull (world->constant[2]);
  g_assert_true (g_bytes_equal (world->constant[2], value));
  for (guint i = 0; i < NODES; i++)
    g_assert_cmpuint (n_members (world, i), ==, 3);
  world_free (world);
}

/* The one between dies, and the two are cut off: each goes on, and they meet when they can. */
static void
test_dies (void)
{
  World *world = world_new ();

  world->alive[1] = FALSE;
  for (guint64 link = 1; link <= world->wires->len; link++)
    break_link (world, link);
  pass (world, 4 * G_USEC_PER_SEC);
  g_assert_cmpuint (n_members (world, 0), ==, 1);
  g_assert_cmpuint (n_members (world, 2), ==, 1);
  g_assert_cmpuint (world->masters[2], ==, 1);
  world->wall = FALSE;
  pass (world, 30 * G_USEC_PER_SEC);
  g_assert_cmpuint (n_members (world, 0), ==, 2);
  g_assert_cmpuint (n_members (world, 2), ==, 2);
  world_free (world);
}

/* Once one of the two can dial, they need nobody between. */
static void
test_opens (void)
{
  World *world = world_new ();
  g_autoptr (GBytes) value = large (100);

  world->wall = FALSE;
  pass (world, 70 * G_USEC_PER_SEC);
  world->deaf[1] = TRUE;
  publish (world, value);
  pump (world);
  g_assert_nonnull (world->constant[2]);
  world_free (world);
}

static void
say (World *world, guint64 link, guint to, const Message *message)
{
  g_autoptr (GPtrArray) parts = message_encode (message);
  g_autoptr (GByteArray) all = g_byte_array_new ();

  for (guint i = 0; i < parts->len; i++)
    g_byte_array_append (all, g_bytes_get_data (parts->pdata[i], NULL),
                         (guint)g_bytes_get_size (parts->pdata[i]));
  post (world, (Post){ .to = to,
                       .kind = NODE_EVENT_MESSAGE,
                       .link = link,
                       .bytes = g_byte_array_free_to_bytes (g_steal_pointer (&all)) });
  pump (world);
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

/* Whatever a member says of routes, others hear nothing of it. */
static void
test_nonsense (void)
{
  World *world = world_new ();
  guint64 link = first_link (world);
  g_autoptr (GBytes) piece = large (100);
  g_autoptr (GBytes) much = large (ROUTE_PIECE + 1);
  NodeId nobody = { 9, 9, 9 }, third = node_self (world->node[2]);

  world->said_no = world->closed = 0;
  say (world, link, 1, &(Message){ .kind = MESSAGE_ROUTE, .number = 900, .id = nobody });
  say (world, link, 1, &(Message){ .kind = MESSAGE_CARGO, .number = 901, .value = piece });
  say (world, link, 1,
       &(Message){ .kind = MESSAGE_HASTE, .number = 1, .flag = TRUE, .value = NULL });
  g_assert_cmpuint (world->said_no, >=, 2);
  say (world, link, 1, &(Message){ .kind = MESSAGE_CREDIT, .number = 7, .version = G_MAXUINT64 });
  say (world, link, 1, &(Message){ .kind = MESSAGE_UNROUTE, .number = 8, .flag = TRUE });
  g_assert_cmpuint (world->closed, ==, 0);
  world->deaf[0] = TRUE; /* it would say that it knows nothing of this */
  say (world, link, 1,
       &(Message){ .kind = MESSAGE_ROUTE, .number = 902, .flag = FALSE, .id = third });
  say (world, link, 1,
       &(Message){ .kind = MESSAGE_ROUTE, .number = 902, .flag = FALSE, .id = third });
  g_assert_cmpuint (world->closed, >, 0); /* twice one number */
  world->deaf[0] = FALSE;
  pass (world, 4 * G_USEC_PER_SEC);
  world->closed = 0;
  say (world, first_link (world), 1,
       &(Message){ .kind = MESSAGE_CARGO, .number = 3, .value = much });
  g_assert_cmpuint (world->closed, >, 0);
  pass (world, 4 * G_USEC_PER_SEC);
  for (guint i = 0; i < NODES; i++)
    g_assert_cmpuint (n_members (world, i), ==, 3);
  world_free (world);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/route/large-messages-stay-with-their-sender", test_large);
  g_test_add_func ("/route/what-was-on-its-way-comes-again", test_breaks);
  g_test_add_func ("/route/who-passes-on-dies", test_dies);
  g_test_add_func ("/route/not-needed-any-more", test_opens);
  g_test_add_func ("/route/nonsense", test_nonsense);
  return g_test_run ();
}
