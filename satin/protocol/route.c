/* SPDX-License-Identifier: BSD-3-Clause */
/* See route.h. */
#include "core.h"

#include "value/buffer.h"

#include <string.h>

/* One end of a passage, and how by_leg finds it. */
typedef struct
{
  guint64 link, number;
  gboolean mine; /* this node gave the number */
} Leg;

typedef struct
{
  Leg legs[2];
} Passage;

typedef struct
{
  GBytes *bytes;
  guint64 left; /* of its message, after it */
} Piece;

static guint
leg_hash (gconstpointer key)
{
  const Leg *leg = key;

  return (guint)((leg->link * 31 + leg->number) * 2 + (guint64)leg->mine);
}

static gboolean
leg_equal (gconstpointer a, gconstpointer b)
{
  const Leg *one = a, *other = b;

  return one->link == other->link && one->number == other->number && one->mine == other->mine;
}

void
route_init (Node *node)
{
  Routes *routes = &node->routes;

  routes->passages = g_ptr_array_new_with_free_func (g_free);
  routes->by_leg = g_hash_table_new (leg_hash, leg_equal);
}

void
route_done (Node *node)
{
  Routes *routes = &node->routes;

  g_hash_table_unref (routes->by_leg);
  g_ptr_array_unref (routes->passages);
}

static void
piece_free (gpointer data)
{
  Piece *piece = data;

  g_bytes_unref (piece->bytes);
  g_free (piece);
}

static void
drop_gathering (RouteGathering *gathering)
{
  if (gathering->data != NULL)
    buffer_give (gathering->data, gathering->size);
  *gathering = (RouteGathering){ 0 };
}

void
route_circuit_free (Circuit *circuit)
{
  if (circuit == NULL)
    return;
  g_queue_clear_full (&circuit->waiting, piece_free);
  drop_gathering (&circuit->normal);
  drop_gathering (&circuit->urgent);
  g_free (circuit);
}

guint
route_hops (const Link *link)
{
  return link->circuit != NULL ? link->circuit->hops : 0;
}

/* ---- the ends ---- */

static Link *
add_end (Node *node, Link *carrier, guint64 number, gboolean mine, guint hops)
{
  Circuit *circuit = g_new0 (Circuit, 1);

  circuit->carrier = carrier->link;
  circuit->number = number;
  circuit->mine = mine;
  circuit->hops = hops;
  return link_add (node, ROUTE_LINK | ++node->routes.links, circuit);
}

Link *
route_open (Node *node, Link *carrier, const NodeId *id, guint hops)
{
  guint64 number = ++node->routes.numbers;

  link_send (node, carrier,
             &(Message){ .kind = MESSAGE_ROUTE, .number = number, .flag = FALSE, .id = *id });
  Link *link = add_end (node, carrier, number, TRUE, hops);
  link->expected = *id;
  link_greet (node, link);
  return link;
}

void
route_shut (Node *node, const Link *link)
{
  Link *carrier = link_find (node, link->circuit->carrier);

  if (carrier != NULL)
    link_send (node, carrier,
               &(Message){ .kind = MESSAGE_UNROUTE,
                           .number = link->circuit->number,
                           .flag = link->circuit->mine });
}

/* (nullable) */
static Link *
find_end (Node *node, const Leg *leg)
{
  for (guint i = 0; i < node->links.links->len; i++)
    {
      Link *link = node->links.links->pdata[i];
      const Circuit *circuit = link->circuit;
      if (circuit != NULL && circuit->carrier == leg->link && circuit->number == leg->number
          && circuit->mine == leg->mine)
        return link;
    }
  return NULL;
}

static void
send_piece (Node *node, Circuit *circuit, MessageKind kind, GBytes *bytes, guint64 left)
{
  Link *carrier = link_find (node, circuit->carrier);

  circuit->sent += g_bytes_get_size (bytes);
  if (carrier != NULL)
    link_send (node, carrier,
               &(Message){ .kind = kind,
                           .number = circuit->number,
                           .flag = circuit->mine,
                           .version = left,
                           .value = bytes });
}

static void
pump (Node *node, Circuit *circuit)
{
  Piece *piece;

  while (
      (piece = g_queue_peek_head (&circuit->waiting)) != NULL
      && (circuit->sent == circuit->credited
          || circuit->sent + g_bytes_get_size (piece->bytes) <= circuit->credited + ROUTE_WINDOW))
    {
      g_queue_pop_head (&circuit->waiting);
      send_piece (node, circuit, MESSAGE_CARGO, piece->bytes, piece->left);
      piece_free (piece);
    }
}

static void
take_rest (GPtrArray *pieces, GByteArray **rest)
{
  if ((*rest)->len > 0)
    {
      g_ptr_array_add (pieces, g_byte_array_free_to_bytes (*rest));
      *rest = g_byte_array_new ();
    }
}

/* (transfer full): pieces of at most ROUTE_PIECE bytes; what is large is not copied. */
static GPtrArray *
cut (GPtrArray *parts)
{
  GPtrArray *pieces = g_ptr_array_new_with_free_func ((GDestroyNotify)g_bytes_unref);

  if (parts->len == 1 && g_bytes_get_size (parts->pdata[0]) <= ROUTE_PIECE) /* as most */
    {
      g_ptr_array_add (pieces, g_bytes_ref (parts->pdata[0]));
      return pieces;
    }
  GByteArray *rest = g_byte_array_new ();
  for (guint i = 0; i < parts->len; i++)
    {
      gsize size, start = 0;
      const guint8 *data = g_bytes_get_data (parts->pdata[i], &size);
      if (rest->len + size > ROUTE_PIECE)
        take_rest (pieces, &rest);
      for (; size - start > ROUTE_PIECE; start += ROUTE_PIECE)
        g_ptr_array_add (pieces, g_bytes_new_from_bytes (parts->pdata[i], start, ROUTE_PIECE));
      if (size > start)
        g_byte_array_append (rest, data + start, (guint)(size - start));
    }
  take_rest (pieces, &rest);
  g_byte_array_unref (rest);
  return pieces;
}

void
route_send (Node *node, Link *link, GPtrArray *parts, gboolean urgent)
{
  Circuit *circuit = link->circuit;
  g_autoptr (GPtrArray) pieces = cut (parts);
  guint64 left = 0;

  for (guint i = 0; i < pieces->len; i++)
    left += g_bytes_get_size (pieces->pdata[i]);
  for (guint i = 0; i < pieces->len; i++)
    {
      left -= g_bytes_get_size (pieces->pdata[i]);
      if (urgent)
        {
          send_piece (node, circuit, MESSAGE_HASTE, pieces->pdata[i], left);
          continue;
        }
      Piece *piece = g_new (Piece, 1);
      *piece = (Piece){ g_bytes_ref (pieces->pdata[i]), left };
      g_queue_push_tail (&circuit->waiting, piece);
    }
  pump (node, circuit);
}

/* (transfer full, nullable): the message, once it is whole. `wrong`: it is none. */
static GBytes *
gather (RouteGathering *gathering, GBytes *bytes, guint64 left, gboolean *wrong)
{
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);

  if (gathering->data == NULL && left == 0)
    return g_bytes_ref (bytes);
  if (gathering->data == NULL && left <= ROUTE_MESSAGE_MAX)
    {
      gathering->size = size + (gsize)left;
      gathering->data = buffer_take (gathering->size);
    }
  if (gathering->data == NULL || gathering->size - gathering->filled != size + left)
    {
      *wrong = TRUE;
      return NULL;
    }
  memcpy (gathering->data + gathering->filled, data, size);
  gathering->filled += size;
  if (left > 0)
    return NULL;
  GBytes *whole = buffer_to_bytes (gathering->data, gathering->size);
  *gathering = (RouteGathering){ 0 };
  return whole;
}

/* A piece for this end. The last thing that is done with what came: hearing it may close links. */
static void
take_in (Node *node, Link *link, const Message *m)
{
  Circuit *circuit = link->circuit;
  gboolean wrong = FALSE;
  RouteGathering *gathering = m->kind == MESSAGE_HASTE ? &circuit->urgent : &circuit->normal;
  g_autoptr (GBytes) whole = gather (gathering, m->value, m->version, &wrong);

  circuit->received += g_bytes_get_size (m->value);
  if (circuit->received - circuit->told >= ROUTE_WINDOW / 4)
    {
      Link *carrier = link_find (node, circuit->carrier);
      circuit->told = circuit->received;
      if (carrier != NULL)
        link_send (node, carrier,
                   &(Message){ .kind = MESSAGE_CREDIT,
                               .number = circuit->number,
                               .flag = circuit->mine,
                               .version = circuit->received });
    }
  if (wrong)
    link_break (node, link, "pieces that make no message, or no memory for it");
  else if (whole != NULL)
    hear_message (node, link->link, whole);
}

/* ---- passing on ---- */

static Leg
leg_of (const Link *link, const Message *m)
{
  return (Leg){ link->link, m->number, !m->flag };
}

/* (nullable): the other end of the passage. */
static const Leg *
other_leg (Node *node, const Leg *leg)
{
  const Passage *passage = g_hash_table_lookup (node->routes.by_leg, leg);

  if (passage == NULL)
    return NULL;
  return leg_equal (&passage->legs[0], leg) ? &passage->legs[1] : &passage->legs[0];
}

static void
forget (Node *node, Passage *passage)
{
  for (guint i = 0; i < 2; i++)
    g_hash_table_remove (node->routes.by_leg, &passage->legs[i]);
  g_ptr_array_remove_fast (node->routes.passages, passage);
}

static void
say_unroute (Node *node, const Leg *leg)
{
  Link *link = link_find (node, leg->link);

  if (link != NULL)
    link_send (node, link,
               &(Message){ .kind = MESSAGE_UNROUTE, .number = leg->number, .flag = leg->mine });
}

gboolean
route_begins_at (Node *node, const Link *link)
{
  for (guint i = 0; i < node->routes.passages->len; i++)
    if (((const Passage *)node->routes.passages->pdata[i])->legs[0].link == link->link)
      return TRUE;
  return FALSE;
}

/* One who is no member yet may reach the master only, once. */
static gboolean
may_pass (Node *node, const Link *from, const Link *to)
{
  if (to == NULL || to == from || node->routes.passages->len >= ROUTES_MAX
      || route_hops (to) >= ROUTE_HOPS_MAX
      || (to->circuit != NULL && to->circuit->carrier == from->link))
    return FALSE;
  if (from->bound)
    return TRUE;
  return !route_begins_at (node, from) && node_id_is_none (&from->remote)
         && node_id_equal (&to->remote, &roster_master (node)->id);
}

static void
pass (Node *node, Link *from, guint64 number, Link *to)
{
  Passage *passage = g_new (Passage, 1);
  NodeId who = from->bound ? from->remote : NODE_ID_NONE;

  passage->legs[0] = (Leg){ from->link, number, FALSE };
  passage->legs[1] = (Leg){ to->link, ++node->routes.numbers, TRUE };
  g_ptr_array_add (node->routes.passages, passage);
  for (guint i = 0; i < 2; i++)
    g_hash_table_insert (node->routes.by_leg, &passage->legs[i], passage);
  link_send (
      node, to,
      &(Message){
          .kind = MESSAGE_ROUTE, .number = passage->legs[1].number, .flag = TRUE, .id = who });
}

void
route_on_route (Node *node, Link *link, const Message *m)
{
  Leg leg = { link->link, m->number, FALSE };

  if (find_end (node, &leg) != NULL || other_leg (node, &leg) != NULL)
    {
      link_break (node, link, "one number for two routes");
      return;
    }
  if (m->flag && link->bound && route_hops (link) < ROUTE_HOPS_MAX
      && node->links.links->len < ROUTES_MAX)
    {
      Link *end = add_end (node, link, m->number, FALSE, route_hops (link) + 1);
      link_greet (node, end);
      return;
    }
  Link *to = !m->flag && core_is_member (node) ? link_to (node, &m->id) : NULL;
  if (may_pass (node, link, to))
    pass (node, link, m->number, to);
  else
    say_unroute (node, &leg);
}

void
route_on_cargo (Node *node, Link *link, const Message *m)
{
  Leg leg = leg_of (link, m);
  Link *end = find_end (node, &leg);
  const Leg *other = end == NULL ? other_leg (node, &leg) : NULL;
  Link *to = other != NULL ? link_find (node, other->link) : NULL;

  if (g_bytes_get_size (m->value) > ROUTE_PIECE)
    link_break (node, link, "a piece that is too large");
  else if (end != NULL)
    take_in (node, end, m);
  else if (to == NULL)
    say_unroute (node, &leg);
  else
    link_send (node, to,
               &(Message){ .kind = m->kind,
                           .number = other->number,
                           .flag = other->mine,
                           .version = m->version,
                           .value = m->value });
}

void
route_on_credit (Node *node, Link *link, const Message *m)
{
  Leg leg = leg_of (link, m);
  Link *end = find_end (node, &leg);
  const Leg *other = end == NULL ? other_leg (node, &leg) : NULL;
  Link *to = other != NULL ? link_find (node, other->link) : NULL;

  if (to != NULL)
    link_send (node, to,
               &(Message){ .kind = MESSAGE_CREDIT,
                           .number = other->number,
                           .flag = other->mine,
                           .version = m->version });
  if (end == NULL || m->version <= end->circuit->credited || m->version > end->circuit->sent)
    return;
  end->circuit->credited = m->version;
  pump (node, end->circuit);
}

void
route_on_unroute (Node *node, Link *link, const Message *m)
{
  Leg leg = leg_of (link, m);
  Link *end = find_end (node, &leg);
  Passage *passage = g_hash_table_lookup (node->routes.by_leg, &leg);

  if (passage != NULL)
    {
      Leg other = *other_leg (node, &leg);
      forget (node, passage);
      say_unroute (node, &other);
    }
  if (end != NULL)
    link_down (node, end->link);
}

gboolean
route_needs (Node *node, const Link *carrier)
{
  gboolean needs = FALSE;

  for (guint i = 0; i < node->routes.passages->len && !needs; i++)
    {
      const Passage *passage = node->routes.passages->pdata[i];
      needs = passage->legs[0].link == carrier->link || passage->legs[1].link == carrier->link;
    }
  for (guint i = 0; i < node->links.links->len && !needs; i++)
    {
      const Link *link = node->links.links->pdata[i];
      needs = link->circuit != NULL && link->circuit->carrier == carrier->link;
    }
  return needs;
}

void
route_carrier_gone (Node *node, guint64 number)
{
  for (guint i = node->routes.passages->len; i > 0; i--)
    {
      Passage *passage = node->routes.passages->pdata[i - 1];
      if (passage->legs[0].link != number && passage->legs[1].link != number)
        continue;
      Leg other = passage->legs[passage->legs[0].link == number ? 1 : 0];
      forget (node, passage);
      say_unroute (node, &other);
    }
  for (guint i = node->links.links->len; i > 0; i--)
    {
      if (i > node->links.links->len)
        continue; /* losing one lost others */
      const Link *link = node->links.links->pdata[i - 1];
      if (link->circuit != NULL && link->circuit->carrier == number)
        link_down (node, link->link);
    }
}

void
route_check (Node *node)
{
  const Routes *routes = &node->routes;

  g_assert (g_hash_table_size (routes->by_leg) == 2 * routes->passages->len);
  for (guint i = 0; i < routes->passages->len; i++)
    for (guint k = 0; k < 2; k++)
      g_assert (link_find (node, ((const Passage *)routes->passages->pdata[i])->legs[k].link)
                != NULL);
  for (guint i = 0; i < node->links.links->len; i++)
    {
      const Link *link = node->links.links->pdata[i];
      g_assert (link->circuit == NULL || link_find (node, link->circuit->carrier) != NULL);
    }
}
