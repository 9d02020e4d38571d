/* SPDX-License-Identifier: BSD-3-Clause */
/* See hear.h. */
#include "../core.h"

/* A member whose WELCOME was lost with its master cannot become master: it does not know its name.
 * It dials all nodes that it knows in order to join, and its address is on the roster. If this node
 * dialled it, its WELCOME may still be on its way. */
static void
find_nameless (Node *node, const char *address)
{
  if (!roster_master (node)->dead)
    return;
  for (guint i = 0; i < node->roster.members->len; i++)
    {
      Member *member = node->roster.members->pdata[i];
      if (g_str_equal (member->address, address) && !node_id_equal (&member->id, &node->self)
          && link_to (node, &member->id) == NULL)
        {
          alive_dead (node, member, DEATH_PROVED);
          return;
        }
    }
}

/* Another node answers at the member's address. On the same host this proves the member's death,
 * since an address has one listener. But private networks overlap, so another host may have the
 * same address. Then the member is searched through others. A node that is not on this roster
 * proves nothing: the master that admitted it has removed the member. */
static void
on_another (Node *node, Member *member, const NodeId *answers)
{
  const Member *other = roster_find (node, answers);

  if (other == NULL || !roster_is_host (other, member->host))
    {
      member->answered = FALSE;
      reach_dial_failed (node, member, FALSE);
    }
  else if (!alive_may_speak (node, member))
    alive_dead (node, member, DEATH_PROVED);
}

static void
on_hello (Node *node, Link *link, const Message *m)
{
  guint64 number = link->link;

  if (link->state != LINK_NEW && (!node_id_is_none (&link->remote) || node_id_is_none (&m->id)))
    {
      link_break (node, link, "greeted twice"); /* a node that joins through this link has got its
                                                 * name */
      return;
    }
  if (m->number != MESSAGE_VERSION || !digest_equal (&m->digest, &node->config.program))
    {
      link_break (node, link, "another program, other arguments or another version of satin");
      return;
    }
  if (!g_str_equal (m->host, node->config.build))
    {
      link_break (node, link, "another build of the program");
      if (!node_id_is_none (&m->id))
        join_on_refused (node, m->host);
      return;
    }
  if (core_is_member (node) && node_id_equal (&m->id, &node->self))
    {
      link_break (node, link, "this node itself");
      return;
    }
  link->state = LINK_GREETED;
  link->remote = m->id;
  NodeId expected = link->expected;
  /* A node without a name may be the expected one: its WELCOME is on its way. When it comes, that
   * node closes this link and is dialled again. */
  gboolean other = roster_find (node, &expected) != NULL && link->circuit == NULL
                   && !node_id_is_none (&m->id) && !node_id_equal (&expected, &m->id);
  gboolean dialled = !node_id_is_none (&expected);
  if (other) /* this link is not the member's */
    link->expected = NODE_ID_NONE;
  link_bind_all (node);
  Member *gone = other ? roster_find (node, &expected) : NULL;
  if (gone != NULL)
    on_another (node, gone, &m->id);
  if (!node_id_is_none (&m->id))
    return;
  if (!core_is_member (node))
    {
      join_on_stranger (node, number);
      return;
    }
  roster_send (node, link); /* so that it knows other addresses, too */
  if (!dialled)
    find_nameless (node, m->text);
}

/* ---- the handlers ---- */

/* Wraps a handler that needs fewer arguments. */
#define HANDLER(name, call) \
  static void name (Node *node G_GNUC_UNUSED, Link *link G_GNUC_UNUSED, \
                    const Message *m G_GNUC_UNUSED) \
  { \
    call; \
  }
HANDLER (on_stem, (void)0) /* is_in_order has handled it */
HANDLER (on_ping, (void)0)

/* Messages of other layers go up to them. */
static void (*const handlers[MESSAGE_KINDS]) (Node *node, Link *link, const Message *m) = {
  [MESSAGE_HELLO] = on_hello,
  [MESSAGE_JOIN] = admit_on_request,
  [MESSAGE_WELCOME] = roster_on_welcome,
  [MESSAGE_ROSTER] = roster_on_message,
  [MESSAGE_HAVE] = roster_on_have,
  [MESSAGE_CHANGE] = roster_on_change,
  [MESSAGE_PING] = on_ping,
  [MESSAGE_GONE] = alive_on_gone,
  [MESSAGE_SEEK] = reach_on_seek,
  [MESSAGE_SOUGHT] = reach_on_sought,
  [MESSAGE_RELAY] = route_on_relay,
  [MESSAGE_RELAYED] = route_on_relayed,
  [MESSAGE_STEM] = on_stem,
};

gboolean
hear_handles (MessageKind kind)
{
  return handlers[kind] != NULL;
}

/* ---- receiving ---- */

static gboolean
is_whole (const char *path, gpointer stems)
{
  return path_is_whole (stems, path);
}

/* FALSE: the message breaks a rule, and its link was closed. */
static gboolean
is_in_order (Node *node, Link *link, const Message *m)
{
  if (link->state == LINK_NEW && m->kind != MESSAGE_HELLO)
    {
      link_break (node, link, "spoke before it greeted");
      return FALSE;
    }
  if (m->kind == MESSAGE_STEM)
    {
      if (stems_add (node->config.stems, m->text, m->path))
        return TRUE;
      link_break (node, link, "a stem that is none");
      return FALSE;
    }
  if (message_all_paths (m, is_whole, node->config.stems))
    return TRUE;
  link_break (node, link, "a path with an unknown stem");
  return FALSE;
}

/* TRUE: the other end of the link may send such messages. */
static gboolean
may_say (Node *node, const Link *link, MessageFrom from)
{
  switch (from)
    {
    case MESSAGE_FROM_ANYBODY:
      return TRUE;
    case MESSAGE_FROM_RUN:
      return link->member != NULL || !core_is_member (node);
    case MESSAGE_FROM_MEMBER:
      return link->member != NULL;
    case MESSAGE_FROM_COORDINATOR:
      return link->member != NULL && node_id_equal (&link->remote, &node->lease.holder);
    }
  g_assert_not_reached ();
}

/* TRUE: this node accepts such messages now. */
static gboolean
is_receiver (Node *node, MessageTo to)
{
  switch (to)
    {
    case MESSAGE_TO_ALL:
      return TRUE;
    case MESSAGE_TO_MASTER:
      return roster_is_master (node);
    case MESSAGE_TO_COORDINATOR:
      return node->saves.phase >= SAVES_OPENED;
    }
  g_assert_not_reached ();
}

static void
handle (Node *node, Link *link, const Message *m)
{
  if (!may_say (node, link, message_from (m->kind)))
    {
      if (m->kind == MESSAGE_STEAL) /* the thief knows this node as a member already, and would wait
                                     * for ever */
        link_send (node, link, &(Message){ .kind = MESSAGE_JOBS, .number = m->number });
    }
  else if (!is_receiver (node, message_to (m->kind)))
    return;
  else if (handlers[m->kind] != NULL)
    handlers[m->kind](node, link, m);
  else
    {
      NodeId from = link->remote; /* the link may be closed meanwhile */
      node->above->hear (node, &from, m);
    }
}

void
hear_bytes (Node *node, Link *link, GBytes *bytes, gsize start)
{
  g_auto (Message) m = { 0 };
  g_autoptr (GError) error = NULL;

  if (!message_decode_at (bytes, start, &m, &error))
    link_break (node, link, error->message);
  else if (is_in_order (node, link, &m) && node->above->admit (node, link->member, &m))
    handle (node, link, &m);
}

void
hear_message (Node *node, guint64 number, GBytes *bytes)
{
  Link *link = link_find (node, number);

  if (link == NULL)
    return;
  link->heard_us = node->now_us;
  if (link->member != NULL)
    alive_heard (node, link->member);
  if (!carry_is_frame (bytes))
    hear_bytes (node, link, bytes, 0);
  else if (link->state != LINK_NEW)
    carry_hear (node, link, bytes);
  else
    link_break (node, link, "spoke before it greeted");
}

void
hear_again (Node *node, const NodeId *from, const Message *m)
{
  Link *link = link_to (node, from);

  if (link != NULL)
    handle (node, link, m);
}
