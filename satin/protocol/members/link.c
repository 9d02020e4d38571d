/* SPDX-License-Identifier: BSD-3-Clause */
/* See link.h. Settles which node is at the other end; hear.c handles messages.
 * Tests: test-members, test-lost-link, sim. */
#include "../core.h"

#include <string.h>

/* See worth (). */
#define LINK_WORTH_DIRECT 3
#define LINK_WORTH_MAX 4

static void
link_free (gpointer data)
{
  Link *link = data;

  g_hash_table_unref (link->stems);
  g_free (link->circuit);
  g_queue_clear_full (&link->early, (GDestroyNotify)g_bytes_unref);
  g_free (link);
}

static void
dial_free (gpointer data)
{
  Dial *dial = data;

  g_free (dial->address);
  g_free (dial);
}

void
link_init (Node *node)
{
  Links *links = &node->links;

  core_pointers (node, &links->links, link_free);
  links->by_number = g_hash_table_new (g_int64_hash, g_int64_equal);
  core_owns (node, &links->by_number, (GDestroyNotify)g_hash_table_unref);
  core_pointers (node, &links->dials, dial_free);
}

guint64
link_dial (Node *node, DialPurpose purpose, const NodeId *id, const char *address)
{
  Dial *dial = g_new0 (Dial, 1);

  dial->dial = ++node->links.numbers;
  dial->purpose = purpose;
  dial->id = id != NULL ? *id : NODE_ID_NONE;
  dial->address = g_strdup (address);
  g_ptr_array_add (node->links.dials, dial);
  NodeEffect *effect = core_emit (node, NODE_EFFECT_DIAL);
  effect->dial = dial->dial;
  effect->text = g_strdup (address);
  return dial->dial;
}

/* (transfer full) (nullable) */
static Dial *
take_dial (Node *node, guint64 number)
{
  for (guint i = 0; i < node->links.dials->len; i++)
    {
      Dial *dial = node->links.dials->pdata[i];
      if (dial->dial == number)
        return g_ptr_array_steal_index (node->links.dials, i);
    }
  return NULL;
}

Link *
link_find (Node *node, guint64 number)
{
  return g_hash_table_lookup (node->links.by_number, &number);
}

/* Ranks links for sending: a direct link is better than a relayed one; of the same kind a retired
 * one is worse. */
static guint
worth (const Link *link)
{
  return 1 + 2 * (link->circuit == NULL) + (link->retired_us == 0);
}

/* The best bound link with at least this worth, the newest of equal ones. (nullable) */
static Link *
best (const Member *member, guint least)
{
  Link *found = NULL;

  for (guint i = member == NULL ? 0 : member->links->len; i > 0 && least <= LINK_WORTH_MAX; i--)
    {
      Link *link = member->links->pdata[i - 1];
      if (worth (link) < least)
        continue;
      found = link;
      least = worth (link) + 1;
    }
  return found;
}

Link *
link_direct (Node *node, const NodeId *id)
{
  return best (roster_find (node, id), LINK_WORTH_DIRECT);
}

Link *
link_to (Node *node, const NodeId *id)
{
  return best (roster_find (node, id), 1);
}

gboolean
link_is_coming (Node *node, const NodeId *id, gboolean routed)
{
  for (guint i = 0; i < node->links.links->len; i++)
    {
      Link *link = node->links.links->pdata[i];
      if (link->state == LINK_NEW && (link->circuit == NULL || routed)
          && node_id_equal (&link->expected, id))
        return TRUE;
    }
  return FALSE;
}

guint64
link_greeting_us (Node *node)
{
  return node->config.silence_us / 3;
}

/* ---- sending ---- */

void
link_send_parts (Node *node, Link *link, GPtrArray *parts, gboolean urgent, gboolean awaited)
{
  link->spoke_us = node->now_us;
  if (link->circuit != NULL)
    {
      route_send (node, link, parts);
      return;
    }
  NodeEffect *effect = core_emit (node, NODE_EFFECT_SEND);
  effect->link = link->link;
  effect->urgent = urgent;
  effect->awaited = awaited;
  effect->parts = g_ptr_array_ref (parts);
}

static void
send_raw (Node *node, Link *link, const Message *message)
{
  gboolean urgent = message->kind == MESSAGE_RELAYED
                        ? message->value != NULL && carry_is_urgent (message->value)
                        : message_is_urgent (message->kind);
  g_autoptr (GPtrArray) parts = message_encode (message);

  link_send_parts (node, link, parts, urgent, FALSE);
}

typedef struct
{
  Node *node;
  GHashTable *sent;
  LinkStemSay say;
  void *to;
} StemSending;

static gboolean
was_sent (const char *id, void *data)
{
  return g_hash_table_contains (((StemSending *)data)->sent, id);
}

static void
send_stem (const char *id, const char *stem, void *data)
{
  StemSending *sending = data;

  g_hash_table_add (sending->sent, g_strdup (id));
  sending->say (sending->node, sending->to,
                &(Message){ .kind = MESSAGE_STEM, .text = id, .path = stem });
}

static gboolean
send_stems_of (const char *path, gpointer data)
{
  StemSending *sending = data;

  (void)path_each_stem (sending->node->config.stems, path, was_sent, send_stem, sending);
  return TRUE;
}

void
link_say_stems (Node *node, const Message *message, GHashTable *sent, LinkStemSay say, void *to)
{
  StemSending sending = { node, sent, say, to };

  (void)message_all_paths (message, send_stems_of, &sending);
}

static void
say_by_link (Node *node, void *to, const Message *message)
{
  send_raw (node, to, message);
}

void
link_send (Node *node, Link *link, const Message *message)
{
  Member *member = carry_bears (message->kind) ? link->member : NULL;

  if (member != NULL && carry_send (node, member, message))
    return;
  link_say_stems (node, message, link->stems, say_by_link, link);
  send_raw (node, link, message);
}

gboolean
link_send_to (Node *node, const NodeId *id, const Message *message)
{
  Member *member = carry_bears (message->kind) ? roster_find (node, id) : NULL;
  Link *link = member == NULL ? link_to (node, id) : NULL;

  if (member != NULL)
    return carry_send (node, member, message);
  if (link == NULL)
    return FALSE;
  link_send (node, link, message);
  return TRUE;
}

void
link_broadcast (Node *node, const Message *message)
{
  for (guint i = 0; i < node->roster.members->len; i++)
    {
      Member *member = node->roster.members->pdata[i];
      if (!node_id_equal (&member->id, &node->self)
          && (member->carry.session != NULL || !carry_bears (message->kind)))
        (void)link_send_to (node, &member->id, message);
    }
}

/* ---- coming up and closing ---- */

void
link_say_name (Node *node, Link *link)
{
  link_send (node, link,
             &(Message){ .kind = MESSAGE_HELLO,
                         .number = MESSAGE_VERSION,
                         .digest = node->config.program,
                         .id = node->self,
                         .text = node->config.address != NULL ? node->config.address : "",
                         .host = node->config.build });
}

void
link_greet (Node *node, Link *link)
{
  link_say_name (node, link);
  roster_say (node, link, FALSE);
}

Link *
link_add (Node *node, guint64 number, Circuit *circuit)
{
  Link *link = g_new0 (Link, 1);

  link->link = number;
  link->circuit = circuit;
  link->order = ++node->links.orders;
  link->born_us = link->heard_us = node->now_us;
  link->stems = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_ptr_array_add (node->links.links, link);
  g_hash_table_insert (node->links.by_number, &link->link, link);
  return link;
}

void
link_up (Node *node, guint64 number, guint64 dial_number)
{
  Dial *dial = take_dial (node, dial_number);

  g_assert (link_find (node, number) == NULL);
  if (dial_number != 0 && (dial == NULL || (dial->purpose == DIAL_JOIN && !join_wants_link (node))))
    {
      g_clear_pointer (&dial, dial_free);
      core_emit (node, NODE_EFFECT_CLOSE)->link = number;
      return;
    }
  Link *link = link_add (node, number, NULL);
  link->dial = dial_number;
  if (dial != NULL)
    {
      Member *member = roster_find (node, &dial->id);
      if (member != NULL)
        {
          link->expected = member->id;
          member->answered = TRUE;
          member->dial = 0;
          member->dial_at_us = node->now_us + link_greeting_us (node);
          alive_changed (node);
        }
      if (dial->purpose == DIAL_JOIN)
        join_on_link (node, link);
      if (dial->purpose == DIAL_MEET)
        alive_met (node, dial->address, FALSE);
      dial_free (dial);
    }
  link_greet (node, link);
}

void
link_dial_failed (Node *node, guint64 dial_number, NodeDialFailure failure)
{
  Dial *dial = take_dial (node, dial_number);

  if (dial == NULL)
    return;
  Member *member = roster_find (node, &dial->id);
  if (dial->purpose == DIAL_JOIN && dial->dial == node->join.dial)
    join_on_dial_failed (node, failure != NODE_DIAL_UNKNOWN);
  else if (dial->purpose == DIAL_MEET)
    alive_met (node, dial->address, failure == NODE_DIAL_DEAD);
  else if (member != NULL && member->dial == dial->dial)
    {
      member->dial = 0;
      member->dial_at_us = node->now_us + ALIVE_REDIAL_US;
      alive_changed (node);
      if (failure == NODE_DIAL_DEAD && roster_is_host (member, node->config.host)
          && !alive_may_speak (node, member))
        alive_dead (node, member, DEATH_PROVED);
      else
        reach_dial_failed (node, member, failure != NODE_DIAL_UNKNOWN);
    }
  dial_free (dial);
}

/* Removes the link, and everything that depends on it, from the tables. */
static void
take_off (Node *node, Link *link)
{
  guint64 number = link->link;
  Member *member = link->member != NULL ? roster_find (node, &link->remote) : NULL;

  if (link->member != NULL)
    g_ptr_array_remove (link->member->links, link);
  g_hash_table_remove (node->links.by_number, &number);
  g_ptr_array_remove (node->links.links, link);
  if (member != NULL)
    carry_down (node, number, member);
  if (member != NULL && member->links->len == 0)
    node->above->unbound (node, &member->id);
  route_carrier_gone (node, number);
}

/* A link is gone for any reason. Other parts are told after it is off the tables. */
static void
lose (Node *node, Link *link)
{
  guint64 number = link->link;
  NodeId id = link->member != NULL ? link->remote : link->expected;
  gboolean bound = link->member != NULL, routed = link->circuit != NULL;

  take_off (node, link);
  join_on_down (node, number);
  Member *member = roster_find (node, &id);
  if (member == NULL || node_id_equal (&id, &node->self))
    return;
  Link *other = link_to (node, &id);
  if (link_direct (node, &id) == NULL)
    {
      reach_lost (node, &id);
      alive_redial (node, member);
    }
  if (other == NULL && routed)
    reach_seek (node, member);
  else if (other != NULL && bound)
    node->above->bound (node, other); /* crash reports may be lost with this link */
}

void
link_down (Node *node, guint64 number)
{
  Link *link = link_find (node, number);

  if (link != NULL)
    lose (node, link);
}

/* Tells the other end. */
static void
shut (Node *node, const Link *link)
{
  if (link->circuit != NULL)
    route_shut (node, link);
  else
    core_emit (node, NODE_EFFECT_CLOSE)->link = link->link;
}

void
link_break (Node *node, Link *link, const char *why)
{
  core_log (node, "link %" G_GUINT64_FORMAT "%s closed: %s", link->link & ~ROUTE_LINK,
            link->circuit != NULL ? " through others" : "", why);
  shut (node, link);
  lose (node, link);
}

void
link_close (Node *node, Link *link)
{
  shut (node, link);
  take_off (node, link);
}

static void
close_all (Node *node)
{
  while (node->links.links->len > 0)
    link_close (node, node->links.links->pdata[0]);
}

void
link_close_others (Node *node, const Link *kept)
{
  for (guint i = node->links.links->len; i > 0; i--)
    {
      Link *link = node->links.links->pdata[i - 1];
      if (link == kept || (kept->circuit != NULL && link->link == kept->circuit->leg.link))
        continue;
      link_close (node, link);
      i = node->links.links->len + 1; /* other links may be closed, too */
    }
}

Link *
link_renew (Node *node, Link *link)
{
  if (link == NULL || link->circuit != NULL)
    {
      close_all (node);
      return NULL;
    }
  Link old = *link;
  link_close_others (node, link);
  take_off (node, link);
  link = link_add (node, old.link, NULL);
  link->dial = old.dial;
  link->state = LINK_GREETED;
  link->remote = old.remote;
  return link;
}

void
link_close_member (Node *node, const NodeId *id)
{
  for (guint i = node->links.links->len; i > 0; i--)
    {
      Link *link = node->links.links->pdata[i - 1];
      if (link->state != LINK_NEW && node_id_equal (&link->expected, id))
        link->expected = NODE_ID_NONE; /* a node without name is there now, and may join through
                                        * this link */
      if (!node_id_equal (&link->remote, id) && !node_id_equal (&link->expected, id))
        continue;
      link_close (node, link);
      i = node->links.links->len + 1; /* other links may be closed, too */
    }
}

/* ---- binding ---- */

static void
close_oldest (Node *node, const NodeId *id)
{
  const Member *member = roster_find (node, id);

  if (member != NULL && member->links->len > LINK_PER_MEMBER_MAX)
    link_break (node, member->links->pdata[0], "too many links to one member");
}

/* Inserts the link among the member's, in the order in which they came. */
static void
enter (Link *link, Member *member)
{
  GPtrArray *links = member->links;
  guint i = links->len;

  while (i > 0 && ((const Link *)links->pdata[i - 1])->order > link->order)
    i--;
  g_ptr_array_insert (links, (gint)i, link);
  link->member = member;
}

static void
say_through (Node *node, const Link *link)
{
  const Link *carrier = link_find (node, link->circuit->leg.link);

  if (carrier != NULL)
    core_log (node, "node %u.%u is reached through %u.%u", link->remote.term, link->remote.number,
              carrier->remote.term, carrier->remote.number);
}

static void
bind_link (Node *node, Link *link, Member *member)
{
  NodeId id = member->id;

  if (link->circuit != NULL)
    say_through (node, link);
  enter (link, member);
  alive_changed (node);
  member->heard_us = node->now_us;
  member->dead = DEATH_NONE;
  member->accused_us = 0;
  if (link->circuit == NULL)
    member->dial_at_us = CORE_NEVER;
  else if (member->dial == 0 && member->dial_at_us == CORE_NEVER && link_direct (node, &id) == NULL)
    member->dial_at_us = node->now_us + ALIVE_EXPECT_US;
  if (roster_is_master (node) || term_compare (&link->said_term, &node->roster.term) != 0)
    roster_catch_up (node, link);
  if (carry_bound (node, link, member))
    node->above->greet (node, member);
  node->above->bound (node, link);
  reach_bound (node, member);
  member->told_over = 0;
  roster_retell (node, FALSE);
  close_oldest (node, &id);
}

/* The first link that can be bound and is not. Binding one may close another, so each search starts
 * anew. */
static Link *
next_to_bind (Node *node)
{
  for (guint i = 0; i < node->links.links->len; i++)
    {
      Link *link = node->links.links->pdata[i];
      if (link->state != LINK_NEW && link->member == NULL
          && roster_find (node, &link->remote) != NULL
          && !node_id_equal (&link->remote, &node->self))
        return link;
    }
  return NULL;
}

void
link_bind_all (Node *node)
{
  Link *link;

  while (core_is_member (node) && (link = next_to_bind (node)) != NULL)
    bind_link (node, link, roster_find (node, &link->remote));
}
