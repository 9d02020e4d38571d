/* SPDX-License-Identifier: BSD-3-Clause */
/* See contacts.h. */
#include "../core.h"

/* ---- which members ---- */

gboolean
contacts_are_all (const Node *node)
{
  return node->roster.members->len <= node->config.dense;
}

gboolean
contacts_is_hub (const Node *node, const NodeId *id)
{
  return !contacts_are_all (node) && node_id_equal (id, &node->contacts.hub);
}

static guint64
mix (guint64 x)
{
  x = (x ^ (x >> 31)) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
  x = (x ^ (x >> 29)) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  return x ^ (x >> 32);
}

/* TRUE: one in `share` pairs of members, the same at both ends. */
static gboolean
is_drawn (const NodeId *a, const NodeId *b, guint share)
{
  guint64 x = mix (((guint64)a->number << 32) + a->random),
          y = mix (((guint64)b->number << 32) + b->random);

  return mix (x ^ y) % share == 0;
}

/* The largest power of two so that at least `wanted` of `all` members are drawn. While `all` does
 * not double, the same members are drawn. */
static guint
share_of (guint all, guint wanted)
{
  guint share = 1;

  while (all / (2 * share) >= wanted)
    share *= 2;
  return share;
}

static gboolean
is_self (const Node *node, const NodeId *id)
{
  return node_id_equal (id, &node->self);
}

/* TRUE: this member has links to all others. All nodes agree on this. */
static gboolean
links_to_all (const Node *node, const NodeId *id)
{
  return node_id_equal (id, &node->contacts.hub)
         || (node->lease.number > 0 && node_id_equal (id, &node->lease.holder));
}

static gboolean
is_contact (Node *node, const Member *member)
{
  const Contacts *contacts = &node->contacts;

  return contacts_are_all (node) || links_to_all (node, &node->self)
         || links_to_all (node, &member->id)
         || is_drawn (&node->self, &member->id,
                      roster_is_near (node, member) ? contacts->near_share : contacts->far_share);
}

gboolean
contacts_watch (Node *node G_GNUC_UNUSED, const Member *member)
{
  return member->contact || member->links->len > 0 || member->dial != 0
         || member->dial_at_us != CORE_NEVER || carry_wants (member);
}

/* ---- their links ---- */

static void
count (Node *node)
{
  guint near = 0, all = node->roster.members->len;

  for (guint i = 0; i < all; i++)
    near += roster_is_near (node, node->roster.members->pdata[i]);
  node->contacts.near_share = share_of (near, CONTACTS_NEAR (node->config.dense));
  node->contacts.far = all - near;
  node->contacts.far_share = share_of (all - near, CONTACTS_FAR (node->config.dense));
}

/* From now on messages to all go through this hub, which also keeps the directory. The hub before
 * may not have passed all on. */
static void
greet_hub (Node *node, const Member *hub)
{
  if (!is_self (node, &hub->id))
    {
      if (carry_reaches (node, &hub->id))
        node->above->greet_again (node, &hub->id);
      return;
    }
  for (guint i = 0; i < node->roster.members->len && !contacts_are_all (node); i++)
    {
      const Member *member = node->roster.members->pdata[i];
      if (!is_self (node, &member->id) && carry_reaches (node, &member->id))
        node->above->greet_again (node, &member->id);
    }
}

/* The younger of the two nodes dials; the elder checks later whether it has. */
static void
link_up_soon (Node *node, Member *member)
{
  gboolean watched = contacts_watch (node, member);

  member->contact = TRUE;
  if (!watched)
    member->heard_us = node->now_us;
  if (member->links->len == 0 && member->dial == 0 && member->dial_at_us == CORE_NEVER)
    member->dial_at_us = node_id_compare (&member->id, &node->self) < 0
                             ? node->now_us
                             : node->now_us + ALIVE_EXPECT_US;
}

void
contacts_refresh (Node *node)
{
  const Member *hub = roster_acting (node);
  NodeId before = node->contacts.hub;

  if (hub == NULL)
    return;
  node->contacts.hub = hub->id;
  count (node);
  for (guint i = 0; i < node->roster.members->len; i++)
    {
      Member *member = node->roster.members->pdata[i];
      if (is_self (node, &member->id) || member->dead)
        continue;
      if (!is_contact (node, member))
        member->contact = FALSE;
      else if (!member->contact)
        link_up_soon (node, member);
    }
  alive_changed (node);
  if (!node_id_equal (&before, &hub->id))
    greet_hub (node, hub);
}

/* ---- messages to all ---- */

void
contacts_pass_on (Node *node, const NodeId *from, const Message *message)
{
  if (!contacts_is_hub (node, &node->self))
    return;
  for (guint i = 0; i < node->roster.members->len; i++)
    {
      const Member *member = node->roster.members->pdata[i];
      if (!node_id_equal (&member->id, from) && carry_reaches (node, &member->id))
        (void)link_send_to (node, &member->id, message);
    }
}
