/* SPDX-License-Identifier: BSD-3-Clause */
/* See carry.h. Frames of a session are sent at once, so that the effects of a step keep their
 * order. Deliveries, wants and closes wait until no part is in the middle of its work, since a
 * message may end links and members. */
#include "../core.h"
#include "sent.h"

#include <string.h>

static void
free_effects (gpointer effects)
{
  g_array_set_clear_func (effects, (GDestroyNotify)session_effect_clear);
  g_array_unref (effects);
}

void
carry_init (Node *node)
{
  core_array (node, &node->sessions.effects, sizeof (SessionEffect));
  node->sessions.later = g_array_new (FALSE, FALSE, sizeof (SessionEffect));
  core_owns (node, &node->sessions.later, free_effects);
  node->sessions.due_us = CORE_NEVER;
}

void
carry_waiting_free (gpointer data)
{
  CarryWaiting *waiting = data;

  g_bytes_unref (waiting->frame);
  g_clear_pointer (&waiting->shares, g_ptr_array_unref);
  g_free (waiting);
}

void
carry_clear (Carry *carry)
{
  g_clear_pointer (&carry->session, session_free);
  g_clear_pointer (&carry->stems, g_hash_table_unref);
  g_queue_clear_full (&carry->unheard, (GDestroyNotify)g_bytes_unref);
  g_queue_clear_full (&carry->waiting, carry_waiting_free);
  g_queue_clear_full (&carry->told, (GDestroyNotify)g_ptr_array_unref);
}

gboolean
carry_bears (MessageKind kind)
{
  MessageFrom from = message_from (kind);

  return message_layer (kind) != MESSAGE_LAYER_MESH
         && (from == MESSAGE_FROM_MEMBER || from == MESSAGE_FROM_COORDINATOR);
}

/* ---- effects of sessions ---- */

/* The link of this connection. (nullable) */
static Link *
link_of (const Member *member, guint64 connection)
{
  for (guint i = 0; i < member->links->len; i++)
    {
      Link *link = member->links->pdata[i];
      if (link->link == connection)
        return link;
    }
  return NULL;
}

static void
send_frame (Node *node, const Member *member, SessionEffect *said, gboolean awaited)
{
  Link *link = link_of (member, said->connection);

  if (link != NULL)
    link_send_parts (node, link, said->parts, session_frame_is_urgent (said->parts->pdata[0]),
                     awaited);
  session_effect_clear (said);
}

static void
take_effects (Node *node, const Member *member, gboolean awaited)
{
  GArray *effects = node->sessions.effects;

  for (guint i = 0; i < effects->len; i++)
    {
      SessionEffect *said = &g_array_index (effects, SessionEffect, i);
      if (said->kind == SESSION_EFFECT_SEND)
        send_frame (node, member, said, awaited);
      else
        g_array_append_vals (node->sessions.later, said, 1);
    }
  g_array_set_size (effects, 0);
}

/* Call this after each call of a session. */
static void
note (Node *node, Member *member, gboolean awaited)
{
  member->carry.due_us = session_due (member->carry.session);
  node->sessions.due_us = MIN (node->sessions.due_us, member->carry.due_us);
  take_effects (node, member, awaited);
}

/* The member with this session. (nullable) */
static Member *
member_of (Node *node, const Session *session, const Link *link)
{
  if (link != NULL && link->member != NULL && link->member->carry.session == session)
    return link->member;
  for (guint i = 0; i < node->roster.members->len; i++)
    {
      Member *member = node->roster.members->pdata[i];
      if (member->carry.session == session)
        return member;
    }
  return NULL;
}

static void
deliver (Node *node, Member *member, const SessionEffect *said)
{
  Link *link = link_of (member, said->connection);

  if (link == NULL)
    link = link_to (node, &member->id);
  if (link != NULL)
    hear_bytes (node, link, said->message, said->start);
  else
    g_queue_push_tail (&member->carry.unheard,
                       g_bytes_new_from_bytes (said->message, said->start,
                                               g_bytes_get_size (said->message) - said->start));
}

static gboolean
is_mine (const Link *link)
{
  return link->circuit != NULL ? link->circuit->leg.mine : link->dial != 0;
}

/* The session does not need this link any more. The end that accepted it closes it at once. The end
 * that dialled it waits for that, so that nothing under way is lost. */
static void
retire (Node *node, Link *link)
{
  link->retired_us = node->now_us + (is_mine (link) ? link_greeting_us (node) : 0);
  node->sessions.due_us = MIN (node->sessions.due_us, link->retired_us);
  alive_changed (node); /* less silence is allowed from now on */
}

static void
carry_out (Node *node, const SessionEffect *said)
{
  Link *link = link_find (node, said->connection);
  Member *member = said->session == NULL ? NULL : member_of (node, said->session, link);

  if (member == NULL)
    return;
  if (said->kind == SESSION_EFFECT_DELIVER)
    deliver (node, member, said);
  else if (said->kind == SESSION_EFFECT_WANT && !member->dead)
    alive_redial (node, member);
  else if (said->kind == SESSION_EFFECT_CLOSE && link != NULL && said->why != NULL)
    link_break (node, link, said->why);
  else if (said->kind == SESSION_EFFECT_CLOSE && link != NULL)
    retire (node, link);
}

void
carry_settle (Node *node)
{
  Sessions *sessions = &node->sessions;

  if (sessions->settling)
    return;
  sessions->settling = TRUE;
  for (guint i = 0; i < sessions->later->len && node->phase < NODE_ENDED; i++) /* the array may grow
                                                                                * meanwhile */
    {
      SessionEffect said = g_array_index (sessions->later, SessionEffect, i);
      g_array_index (sessions->later, SessionEffect, i) = (SessionEffect){ 0 };
      carry_out (node, &said);
      session_effect_clear (&said);
    }
  if (node->phase < NODE_ENDED)
    g_array_set_size (sessions->later, 0);
  if (sessions->doors && node->phase < NODE_ENDED)
    {
      sessions->doors = FALSE;
      node->above->readmit (node);
    }
  sessions->settling = FALSE;
}

/* ---- links ---- */

static void
begin (Node *node, Member *member)
{
  static const SessionConfig config = { .idle_us = SESSION_NEVER }; /* the failure detector closes
                                                                     * links, not the session */
  Carry *carry = &member->carry;

  carry->session = session_new (&config, &node->self, &member->id, node->sessions.effects);
  carry->stems = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  carry->due_us = session_due (carry->session);
}

gboolean
carry_bound (Node *node, Link *link, Member *member)
{
  Carry *carry = &member->carry;
  gboolean first = carry->session == NULL;
  GBytes *bytes;

  if (first)
    begin (node, member);
  node->sessions.doors = node->sessions.doors || !g_queue_is_empty (&carry->waiting);
  session_connection_up (carry->session, node->now_us, link->link, is_mine (link),
                         link->circuit != NULL);
  note (node, member, FALSE);
  while ((bytes = g_queue_pop_head (&carry->unheard)) != NULL)
    {
      SessionEffect said = { .kind = SESSION_EFFECT_DELIVER,
                             .session = carry->session,
                             .connection = link->link,
                             .message = bytes };
      g_array_append_val (node->sessions.later, said);
    }
  while ((bytes = g_queue_pop_head (&link->early)) != NULL)
    {
      member->knows_us = TRUE;
      session_hear (carry->session, node->now_us, link->link, bytes);
      note (node, member, FALSE);
      g_bytes_unref (bytes);
    }
  return first;
}

void
carry_down (Node *node, guint64 link, Member *member)
{
  if (member->carry.session == NULL)
    return;
  session_connection_down (member->carry.session, node->now_us, link);
  note (node, member, FALSE);
}

void
carry_departed (Node *node, Member *member)
{
  for (guint i = 0; i < node->sessions.later->len; i++)
    {
      SessionEffect *said = &g_array_index (node->sessions.later, SessionEffect, i);
      if (said->session != member->carry.session)
        continue;
      session_effect_clear (said);
      *said = (SessionEffect){ 0 };
    }
  carry_clear (&member->carry);
}

/* ---- messages ---- */

static void
send_now (Node *node, Member *member, const Message *message)
{
  g_autoptr (GPtrArray) parts = message_encode_behind (message, SESSION_FRAME_DATA_HEAD);
  gboolean urgent = message_is_urgent (message->kind);

  sent_count (node, message->kind, parts);
  (void)session_send (member->carry.session, node->now_us, urgent ? SESSION_URGENT : SESSION_BULK,
                      parts);
  note (node, member, message->loans != NULL && message->loans->len > 0);
}

static void
say_by_session (Node *node, void *to, const Message *message)
{
  send_now (node, to, message);
}

/* From now on the member must answer: it is dialled, and its silence counts. */
static void
watch (Node *node, Member *member)
{
  if (contacts_watch (node, member))
    return;
  member->heard_us = node->now_us;
  alive_changed (node);
}

gboolean
carry_open (Node *node, Member *member)
{
  if (node_id_equal (&member->id, &node->self))
    return FALSE;
  watch (node, member);
  if (member->carry.session != NULL)
    return TRUE;
  begin (node, member);
  node->above->greet (node, member);
  return TRUE;
}

gboolean
carry_send (Node *node, Member *member, const Message *message)
{
  if (!carry_open (node, member))
    return FALSE;
  link_say_stems (node, message, member->carry.stems, say_by_session, member);
  send_now (node, member, message);
  node->above->sent (member, message);
  return TRUE;
}

gboolean
carry_reaches (Node *node, const NodeId *id)
{
  const Member *member = roster_find (node, id);

  return member != NULL && member->carry.session != NULL;
}

gboolean
carry_may_reach (Node *node, const NodeId *id)
{
  return roster_find (node, id) != NULL && !node_id_equal (id, &node->self);
}

gboolean
carry_is_frame (GBytes *bytes)
{
  return message_kind_of (bytes) >= SESSION_FRAME_HELLO;
}

gboolean
carry_is_urgent (GBytes *bytes)
{
  guint32 kind = message_kind_of (bytes);
  g_auto (Message) m = { 0 };

  if (carry_is_frame (bytes))
    return session_frame_is_urgent (bytes);
  if (kind != MESSAGE_RELAYED)
    return message_is_urgent ((MessageKind)kind);
  return message_decode (bytes, &m, NULL) && carry_is_urgent (m.value);
}

void
carry_hear (Node *node, Link *link, GBytes *frame)
{
  Member *member = link->member;

  if (member != NULL && member->carry.session != NULL)
    {
      member->knows_us = TRUE;
      session_hear (member->carry.session, node->now_us, link->link, frame);
      note (node, member, FALSE);
      carry_settle (node);
      return;
    }
  link->early_bytes += g_bytes_get_size (frame);
  if (link->early_bytes > CARRY_EARLY_MAX)
    link_break (node, link, "says too much to one who does not know it");
  else
    g_queue_push_tail (&link->early, g_bytes_ref (frame));
}

gboolean
carry_acknowledge (Node *node, Link *link)
{
  Member *member = roster_find (node, &link->remote);
  gboolean said
      = member->carry.session != NULL && session_acknowledge (member->carry.session, link->link);

  if (said)
    note (node, member, FALSE);
  return said;
}

gboolean
carry_has_room (const Member *member)
{
  return member->carry.session != NULL && session_has_room (member->carry.session);
}

gboolean
carry_wants (const Member *member)
{
  return member->carry.session != NULL && session_wants (member->carry.session);
}

/* ---- time ---- */

static guint64
find_due (Node *node)
{
  guint64 at = CORE_NEVER;

  for (guint i = 0; i < node->roster.members->len; i++)
    {
      const Member *member = node->roster.members->pdata[i];
      if (member->carry.session != NULL)
        at = MIN (at, member->carry.due_us);
    }
  for (guint i = 0; i < node->links.links->len; i++)
    {
      const Link *link = node->links.links->pdata[i];
      if (link->retired_us > 0)
        at = MIN (at, link->retired_us);
    }
  return at;
}

guint64
carry_due (Node *node)
{
  return node->sessions.later->len == 0 ? node->sessions.due_us : node->now_us;
}

void
carry_check (Node *node)
{
  g_assert (node->sessions.due_us <= find_due (node));
}

/* A retired link whose time is over. (nullable) */
static Link *
next_retired (Node *node)
{
  for (guint i = 0; i < node->links.links->len; i++)
    {
      Link *link = node->links.links->pdata[i];
      if (link->retired_us == 0 || link->retired_us > node->now_us)
        continue;
      if (!route_needs (node, link)) /* a node that joins through it has no other way */
        return link;
      link->retired_us = node->now_us + link_greeting_us (node);
    }
  return NULL;
}

void
carry_tick (Node *node)
{
  Link *link;

  if (node->sessions.due_us > node->now_us)
    {
      carry_settle (node);
      return;
    }
  for (guint i = 0; i < node->roster.members->len; i++)
    {
      Member *member = node->roster.members->pdata[i];
      if (member->carry.session == NULL || member->carry.due_us > node->now_us)
        continue;
      session_tick (member->carry.session, node->now_us);
      note (node, member, FALSE);
    }
  while ((link = next_retired (node)) != NULL)
    link_break (node, link, "there is another");
  node->sessions.due_us = find_due (node);
  carry_settle (node);
}
