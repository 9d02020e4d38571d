/* SPDX-License-Identifier: BSD-3-Clause */
/* See route.h. */
#include "../core.h"

typedef struct
{
  RouteLeg legs[2];
} Passage;

static guint
leg_hash (gconstpointer key)
{
  const RouteLeg *leg = key;

  return (guint)((leg->link * 31 + leg->number) * 2 + (guint64)leg->mine);
}

static gboolean
leg_equal (gconstpointer a, gconstpointer b)
{
  const RouteLeg *one = a, *other = b;

  return one->link == other->link && one->number == other->number && one->mine == other->mine;
}

void
route_init (Node *node)
{
  Routes *routes = &node->routes;

  core_pointers (node, &routes->passages, g_free);
  routes->by_leg = g_hash_table_new (leg_hash, leg_equal);
  core_owns (node, &routes->by_leg, (GDestroyNotify)g_hash_table_unref);
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

  circuit->leg = (RouteLeg){ carrier->link, number, mine };
  circuit->hops = hops;
  return link_add (node, ROUTE_LINK | ++node->routes.links, circuit);
}

Link *
route_open (Node *node, Link *carrier, const NodeId *id, guint hops)
{
  guint64 number = ++node->routes.numbers;

  link_send (node, carrier,
             &(Message){ .kind = MESSAGE_RELAY, .number = number, .flag = FALSE, .id = *id });
  Link *link = add_end (node, carrier, number, TRUE, hops);
  link->expected = *id;
  link_greet (node, link);
  return link;
}

/* Tells the node at the other end of this link that the route has ended. */
static void
say_end (Node *node, const RouteLeg *leg)
{
  Link *link = link_find (node, leg->link);

  if (link != NULL)
    link_send (node, link,
               &(Message){ .kind = MESSAGE_RELAYED, .number = leg->number, .flag = leg->mine });
}

void
route_shut (Node *node, const Link *link)
{
  say_end (node, &link->circuit->leg);
}

/* (nullable) */
static Link *
find_end (Node *node, const RouteLeg *leg)
{
  for (guint i = 0; i < node->links.links->len; i++)
    {
      Link *link = node->links.links->pdata[i];
      if (link->circuit != NULL && leg_equal (&link->circuit->leg, leg))
        return link;
    }
  return NULL;
}

/* All parts in one. (transfer full) */
static GBytes *
join (const GPtrArray *parts)
{
  GByteArray *all;

  if (parts->len == 1) /* usual case */
    return g_bytes_ref (parts->pdata[0]);
  all = g_byte_array_new ();
  for (guint i = 0; i < parts->len; i++)
    {
      gsize size;
      const guint8 *data = g_bytes_get_data (parts->pdata[i], &size);
      g_byte_array_append (all, data, (guint)size);
    }
  return g_byte_array_free_to_bytes (all);
}

void
route_send (Node *node, Link *link, GPtrArray *parts)
{
  const RouteLeg *leg = &link->circuit->leg;
  Link *carrier = link_find (node, leg->link);
  g_autoptr (GBytes) whole = join (parts);

  if (carrier != NULL)
    link_send (
        node, carrier,
        &(Message){
            .kind = MESSAGE_RELAYED, .number = leg->number, .flag = leg->mine, .value = whole });
}

/* ---- relaying ---- */

/* The other end of the relayed connection. (nullable) */
static const RouteLeg *
other_leg (Node *node, const RouteLeg *leg)
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

gboolean
route_begins_at (Node *node, const Link *link)
{
  for (guint i = 0; i < node->routes.passages->len; i++)
    if (((const Passage *)node->routes.passages->pdata[i])->legs[0].link == link->link)
      return TRUE;
  return FALSE;
}

/* A node that is no member yet may reach only the master, over one relayed connection. */
static gboolean
may_pass (Node *node, const Link *from, const Link *to)
{
  if (to == NULL || to == from || node->routes.passages->len >= ROUTES_MAX
      || route_hops (to) >= ROUTE_HOPS_MAX
      || (to->circuit != NULL && to->circuit->leg.link == from->link))
    return FALSE;
  if (from->member != NULL)
    return TRUE;
  return !route_begins_at (node, from) && node_id_is_none (&from->remote)
         && node_id_equal (&to->remote, &roster_master (node)->id);
}

static void
pass (Node *node, Link *from, guint64 number, Link *to)
{
  Passage *passage = g_new (Passage, 1);
  NodeId who = from->member != NULL ? from->remote : NODE_ID_NONE;

  passage->legs[0] = (RouteLeg){ from->link, number, FALSE };
  passage->legs[1] = (RouteLeg){ to->link, ++node->routes.numbers, TRUE };
  g_ptr_array_add (node->routes.passages, passage);
  for (guint i = 0; i < 2; i++)
    g_hash_table_insert (node->routes.by_leg, &passage->legs[i], passage);
  link_send (
      node, to,
      &(Message){
          .kind = MESSAGE_RELAY, .number = passage->legs[1].number, .flag = TRUE, .id = who });
}

void
route_on_relay (Node *node, Link *link, const Message *m)
{
  RouteLeg leg = { link->link, m->number, FALSE };

  if (find_end (node, &leg) != NULL || other_leg (node, &leg) != NULL)
    {
      link_break (node, link, "one number for two routes");
      return;
    }
  if (m->flag && link->member != NULL && route_hops (link) < ROUTE_HOPS_MAX
      && node->links.links->len < ROUTES_MAX)
    {
      Link *end = add_end (node, link, m->number, FALSE, route_hops (link) + 1);
      link_greet (node, end);
      reach_on_route (node, &m->id);
      return;
    }
  Link *to = !m->flag && core_is_member (node) ? link_to (node, &m->id) : NULL;
  if (may_pass (node, link, to))
    pass (node, link, m->number, to);
  else
    say_end (node, &leg);
}

/* The route has ended at the other end of the link. `end` (nullable): it ends here. */
static void
on_end (Node *node, const RouteLeg *leg, const Link *end)
{
  Passage *passage = g_hash_table_lookup (node->routes.by_leg, leg);

  if (passage != NULL)
    {
      RouteLeg other = *other_leg (node, leg);
      forget (node, passage);
      say_end (node, &other);
    }
  if (end != NULL)
    link_down (node, end->link);
}

void
route_on_relayed (Node *node, Link *link, const Message *m)
{
  RouteLeg leg = { link->link, m->number, !m->flag };
  Link *end = find_end (node, &leg);
  const RouteLeg *other = end == NULL ? other_leg (node, &leg) : NULL;
  Link *to = other != NULL ? link_find (node, other->link) : NULL;
  gsize size = g_bytes_get_size (m->value);

  if (size > ROUTE_RELAYED_MAX)
    link_break (node, link, "says too much at once through others");
  else if (size == 0)
    on_end (node, &leg, end);
  else if (end != NULL)
    hear_message (node, end->link, m->value);
  else if (to == NULL)
    say_end (node, &leg);
  else
    link_send (node, to,
               &(Message){ .kind = MESSAGE_RELAYED,
                           .number = other->number,
                           .flag = other->mine,
                           .value = m->value });
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
      needs = link->circuit != NULL && link->circuit->leg.link == carrier->link;
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
      RouteLeg other = passage->legs[passage->legs[0].link == number ? 1 : 0];
      forget (node, passage);
      say_end (node, &other);
    }
  for (guint i = node->links.links->len; i > 0; i--)
    {
      if (i > node->links.links->len)
        continue; /* losing one link lost others */
      const Link *link = node->links.links->pdata[i - 1];
      if (link->circuit != NULL && link->circuit->leg.link == number)
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
      g_assert (link->circuit == NULL || link_find (node, link->circuit->leg.link) != NULL);
    }
}
