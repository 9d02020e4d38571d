/* SPDX-License-Identifier: BSD-3-Clause */
/* See roster.h: changes of the roster, and how they spread.
 *
 * The master numbers the versions of its term. For each version it tells all members the difference
 * to the one before (CHANGE). On a new link each end tells its version (HAVE). The master sends the
 * changes that the other end lacks; so does a member that is asked, or that meets a node which is
 * not on its roster. A node that misses a change, or hears of a newer version that does not come,
 * asks. Whole rosters are sent to nodes without a name and between different terms. Each node keeps
 * the last changes, in order to pass them on.
 *
 * Tests: test-roster */
#include "../core.h"

typedef struct
{
  GPtrArray *joined; /* of Member */
  GArray *left;      /* of NodeId */
} Change;

static void
change_free (gpointer data)
{
  Change *change = data;

  g_ptr_array_unref (change->joined);
  g_array_unref (change->left);
  g_free (change);
}

/* (transfer full) */
GPtrArray *
roster_new_changes (void)
{
  return g_ptr_array_new_with_free_func (change_free);
}

void
roster_changed (Node *node, GPtrArray *old, gboolean next)
{
  GPtrArray *members = node->roster.members, *changes = node->roster.changes;

  if (!next)
    {
      g_ptr_array_set_size (changes, 0);
      node->roster.behind = 0;
      return;
    }
  Change *change = g_new0 (Change, 1);
  change->joined = roster_new_members ();
  change->left = g_array_new (FALSE, FALSE, sizeof (NodeId));
  for (guint i = 0, at = 0; i < members->len; i++)
    if (roster_find_next (old, &at, &((Member *)members->pdata[i])->id) == NULL)
      g_ptr_array_add (change->joined, g_rc_box_acquire (members->pdata[i]));
  for (guint i = 0, at = 0; i < old->len; i++)
    if (roster_find_next (members, &at, &((Member *)old->pdata[i])->id) == NULL)
      g_array_append_val (change->left, ((Member *)old->pdata[i])->id);
  if (changes->len == ROSTER_CHANGES_MAX)
    g_ptr_array_remove_index (changes, 0);
  g_ptr_array_add (changes, change);
}

/* ---- sending ---- */

void
roster_send (Node *node, Link *link)
{
  if (!core_is_member (node)
      || (link->told_version == node->roster.version
          && term_compare (&link->told_term, &node->roster.term) == 0))
    return;
  g_auto (Message) message = { .kind = MESSAGE_ROSTER };
  roster_fill (node, &message);
  link->told_term = link->said_term = node->roster.term;
  link->told_version = link->said_version = node->roster.version;
  link_send (node, link, &message);
}

static void
send_change (Node *node, Link *link, const Change *change, guint64 version)
{
  g_autoptr (GArray) joined = g_array_new (FALSE, FALSE, sizeof (MessageMember));

  for (guint i = 0; i < change->joined->len; i++)
    {
      MessageMember item = roster_item (change->joined->pdata[i]);
      g_array_append_val (joined, item);
    }
  link_send (node, link,
             &(Message){ .kind = MESSAGE_CHANGE,
                         .term = node->roster.term,
                         .version = version,
                         .members = joined,
                         .ids = change->left });
}

static gboolean
is_of_term (Node *node, const Term *term)
{
  return term_compare (term, &node->roster.term) == 0;
}

/* Sends the changes since version `since` of this term. `sure`: the other end has that version;
 * otherwise it may be of another term. */
static void
tell_since (Node *node, Link *link, guint64 since, gboolean sure)
{
  const GPtrArray *changes = node->roster.changes;
  guint64 version = node->roster.version;

  if (since + changes->len < version)
    {
      roster_send (node, link);
      return;
    }
  for (guint64 i = since; i < version; i++)
    send_change (node, link, changes->pdata[changes->len - (version - i)], i + 1);
  link->said_term = node->roster.term;
  link->said_version = version;
  if (!sure)
    return;
  link->told_term = node->roster.term;
  link->told_version = version;
}

void
roster_catch_up (Node *node, Link *link)
{
  if (core_is_member (node) && link->said_version > 0 && is_of_term (node, &link->said_term))
    tell_since (node, link, link->said_version,
                link->told_version == link->said_version && is_of_term (node, &link->told_term));
  else
    roster_send (node, link);
}

void
roster_say (Node *node, Link *link, gboolean ask)
{
  const Member *master = roster_master (node);

  if (master == NULL)
    return;
  link->said_term = node->roster.term;
  link->said_version = node->roster.version;
  link_send (node, link,
             &(Message){ .kind = MESSAGE_HAVE,
                         .term = node->roster.term,
                         .version = node->roster.version,
                         .text = master->address,
                         .flag = ask });
}

/* ---- receiving ---- */

/* The other end of this link has a newer version, which may be on its way. `now`: it is not, or the
 * sender may be a newcomer that no other node knows if the master dies. */
static void
note_behind (Node *node, Link *link, guint64 version, gboolean now)
{
  Roster *roster = &node->roster;

  roster->behind = MAX (roster->behind, version);
  roster->behind_link = link->link;
  if (roster->ask_us != CORE_NEVER)
    return;
  roster->ask_us = node->now_us + ROSTER_ASK_US;
  if (now)
    roster_say (node, link, TRUE);
}

void
roster_ask (Node *node)
{
  Roster *roster = &node->roster;

  if (roster->ask_us > node->now_us)
    return;
  roster->ask_us = CORE_NEVER;
  if (!core_is_member (node) || roster->behind <= roster->version)
    return;
  Link *link = link_find (node, roster->behind_link);
  if (link == NULL)
    link = link_to (node, &roster_master (node)->id);
  if (link == NULL)
    return; /* the next link tells its version */
  roster->ask_us = node->now_us + ROSTER_ASK_US;
  roster_say (node, link, TRUE);
}

void
roster_on_have (Node *node, Link *link, const Message *m)
{
  node->roster.term_seen = MAX (node->roster.term_seen, m->term.number);
  if (!core_is_member (node))
    {
      join_on_have (node, link, m);
      return;
    }
  if (m->flag) /* what it was sent did not come, or came out of order */
    link->told_version = 0;
  if (!is_of_term (node, &m->term))
    roster_send (node, link);
  else if (m->version > node->roster.version)
    note_behind (node, link, m->version, roster_find (node, &link->remote) == NULL);
  else if (m->version < node->roster.version
           && (m->flag || roster_is_master (node) || roster_find (node, &link->remote) == NULL))
    tell_since (node, link, m->version, TRUE);
}

static gboolean
is_left (const Message *m, const NodeId *id)
{
  for (guint i = 0; i < m->ids->len; i++)
    if (node_id_equal (&g_array_index (m->ids, NodeId, i), id))
      return TRUE;
  return FALSE;
}

/* Handles a change as a whole roster: this node is not on it, or members return that it had given
 * up. */
static void
hear_whole (Node *node, Link *link, const Message *m)
{
  Message whole = { .kind = MESSAGE_ROSTER };

  roster_fill (node, &whole);
  whole.version = m->version;
  for (guint i = whole.members->len; i > 0; i--)
    if (is_left (m, &g_array_index (whole.members, MessageMember, i - 1).id))
      g_array_remove_index (whole.members, i - 1);
  g_array_append_vals (whole.members, m->members->data, m->members->len);
  if (whole.members->len > 0)
    roster_on_message (node, link, &whole);
  message_clear (&whole);
}

/* The members after this change. (transfer full) */
static GPtrArray *
changed (Node *node, const Message *m)
{
  GPtrArray *members = roster_new_members ();

  for (guint i = 0; i < node->roster.members->len; i++)
    {
      Member *member = node->roster.members->pdata[i];
      if (!is_left (m, &member->id))
        g_ptr_array_add (members, g_rc_box_acquire (member));
    }
  for (guint i = 0; i < m->members->len; i++)
    g_ptr_array_add (members,
                     roster_new_member (node, &g_array_index (m->members, MessageMember, i)));
  return members;
}

/* TRUE: the newcomers are younger than all members: the master numbers upwards. */
static gboolean
are_youngest (Node *node, const Message *m)
{
  const GPtrArray *members = node->roster.members;
  const Member *last = members->pdata[members->len - 1];

  return m->members->len == 0
         || node_id_compare (&last->id, &g_array_index (m->members, MessageMember, 0).id) < 0;
}

void
roster_on_change (Node *node, Link *link, const Message *m)
{
  node->roster.term_seen = MAX (node->roster.term_seen, m->term.number);
  if (!core_is_member (node))
    return;
  if (!is_of_term (node, &m->term))
    roster_say (node, link, TRUE);
  else if (m->version > node->roster.version + 1)
    note_behind (node, link, m->version, TRUE);
  else if (m->version <= node->roster.version)
    return;
  else if (!are_youngest (node, m) || is_left (m, &roster_master (node)->id))
    link_break (node, link, "a change of the roster that no master makes");
  else if (is_left (m, &node->self) || roster_names_gone (node, m))
    hear_whole (node, link, m);
  else
    {
      roster_replace (node, &m->term, m->version, changed (node, m));
      roster_retell (node, FALSE);
    }
}
