/* SPDX-License-Identifier: BSD-3-Clause */
/* See directory.h.
 *
 * Tests: test-directory */
#include "../core.h"

#include <string.h>

gboolean
directory_is_here (const Node *node)
{
  return core_is_member (node) && node_id_equal (&node->contacts.hub, &node->self);
}

/* The node that makes an offer, and the node from which the news came. */
typedef struct
{
  const NodeId *author, *from; /* `from` has the news; for own news this is the directory, which is
                                * told first */
} News;

static NodeId
named (const Node *node, const News *news)
{
  return node_id_equal (news->author, &node->self) ? NODE_ID_NONE : *news->author;
}

/* ---- receivers ---- */

/* Makes the path that of the parent. FALSE: it is the path of a root. */
static gboolean
go_up (Stems *stems, char path[PATH_TEXT_MAX])
{
  char *last = strrchr (path, '/');

  if (last == NULL)
    return FALSE;
  *last = '\0';
  if (path[0] != '~' || strchr (path, '/') != NULL)
    return TRUE;
  const char *stem = stems_lookup (stems, path + 1);
  return stem != NULL && g_strlcpy (path, stem, PATH_TEXT_MAX) < PATH_TEXT_MAX;
}

/* Adds the nodes that run orphans of this path. */
static void
add_runners (Node *node, const char *path, GArray *ids)
{
  const GArray *holders = g_tree_lookup (node->known.by_path, path);

  for (guint i = 0; holders != NULL && i < holders->len; i++)
    {
      const Holder *holder = &g_array_index (holders, Holder, i);
      if (holder->finished == 0)
        node_id_set_add (ids, &holder->node);
    }
}

/* Adds the nodes that may run jobs above this path, or the job itself. */
static void
add_concerned (Node *node, const char *path, GArray *ids)
{
  gboolean is_here = directory_is_here (node) && g_tree_nnodes (node->known.by_path) > 0,
           is_above = FALSE;
  char at[PATH_TEXT_MAX];

  if (!is_here && g_hash_table_size (node->loans.by_path) == 0)
    return;
  g_strlcpy (at, path, sizeof at);
  do
    {
      const LoanEntry *entry = g_hash_table_lookup (node->loans.by_path, at);
      if (entry != NULL && (entry->kind == LOAN_LENT || entry->kind == LOAN_ADOPTED))
        node_id_set_add (ids, &entry->node);
      if (is_here && is_above)
        add_runners (node, at, ids);
      is_above = TRUE;
    }
  while (go_up (node->config.stems, at));
}

static gboolean
is_to_be_told (const Node *node, const News *news, const NodeId *id)
{
  return !node_id_equal (id, &node->self) && !node_id_equal (id, news->author)
         && !node_id_equal (id, news->from);
}

static void
tell_all (Node *node, const News *news, const GArray *ids, Message message)
{
  message.id = named (node, news);
  for (guint i = 0; i < ids->len; i++)
    {
      const NodeId *id = &g_array_index (ids, NodeId, i);
      if (is_to_be_told (node, news, id))
        (void)member_send (node, id, &message);
    }
}

/* ---- offers ---- */

typedef struct
{
  NodeId to;
  GArray *holds;
} Share;

static void
share_clear (gpointer data)
{
  g_array_unref (((Share *)data)->holds);
}

static GArray *
share_of (GArray *all, const NodeId *to)
{
  for (guint i = 0; i < all->len; i++)
    if (node_id_equal (&g_array_index (all, Share, i).to, to))
      return g_array_index (all, Share, i).holds;
  Share share = { *to, g_array_new (FALSE, FALSE, sizeof (MessageHold)) };
  g_array_append_val (all, share);
  return share.holds;
}

/* Tells each concerned node the offers that it needs. */
static void
pass_on_offers (Node *node, const News *news, const GArray *holds)
{
  g_autoptr (GArray) shares = g_array_new (FALSE, FALSE, sizeof (Share)),
                     ids = g_array_new (FALSE, FALSE, sizeof (NodeId));

  g_array_set_clear_func (shares, share_clear);
  for (guint i = 0; i < holds->len; i++)
    {
      const MessageHold *hold = &g_array_index (holds, MessageHold, i);
      g_array_set_size (ids, 0);
      add_concerned (node, hold->path, ids);
      for (guint k = 0; k < ids->len; k++)
        if (is_to_be_told (node, news, &g_array_index (ids, NodeId, k)))
          g_array_append_val (share_of (shares, &g_array_index (ids, NodeId, k)), *hold);
    }
  for (guint i = 0; i < shares->len; i++)
    {
      const Share *share = &g_array_index (shares, Share, i);
      (void)member_send (
          node, &share->to,
          &(Message){ .kind = MESSAGE_HOLD, .id = named (node, news), .holds = share->holds });
    }
}

void
directory_offer (Node *node, GArray *holds)
{
  const NodeId hub = node->contacts.hub;

  if (!core_is_member (node))
    return;
  if (!directory_is_here (node))
    (void)member_send (node, &hub, &(Message){ .kind = MESSAGE_HOLD, .holds = holds });
  pass_on_offers (node, &(News){ &node->self, &hub }, holds);
}

void
directory_withdraw (Node *node, const char *path)
{
  g_autoptr (GArray) holds = g_array_new (FALSE, FALSE, sizeof (MessageHold));
  const MessageHold nothing = { .path = path, .finished = MESSAGE_HOLDS_NOTHING };

  g_array_append_val (holds, nothing);
  directory_offer (node, holds);
}

/* FALSE for own news, which come back from a lender. */
static gboolean
is_to_be_heard (Node *node, const NodeId *author)
{
  return roster_find (node, author) != NULL && !node_id_equal (author, &node->self);
}

void
directory_on_hold (Node *node, const NodeId *from, const Message *m)
{
  const NodeId author = node_id_is_none (&m->id) ? *from : m->id;
  g_autoptr (GArray) news = g_array_new (FALSE, FALSE, sizeof (MessageHold));

  if (!is_to_be_heard (node, &author))
    return;
  for (guint i = 0; i < m->holds->len; i++)
    {
      const MessageHold *hold = &g_array_index (m->holds, MessageHold, i);
      Holder holder = { author, hold->digest, hold->finished };
      gboolean is_withdrawn = hold->finished == MESSAGE_HOLDS_NOTHING;
      if (is_withdrawn ? known_remove (node, hold->path, &author)
                       : known_add (node, hold->path, &holder))
        g_array_append_val (news, *hold);
      if (is_withdrawn)
        continue;
      if (directory_is_here (node) && hold->finished == 0)
        directory_tell (node, &author, hold->path);
      archive_compare (node, hold->path, &holder);
      yield_ask (node, &author, hold);
      root_heard (node, hold->path, &holder);
    }
  pass_on_offers (node, &(News){ &author, from }, news);
  if (m->number > 0)
    rerun_on_answer (node, from, m->number);
}

void
directory_tell (Node *node, const NodeId *to, const char *path)
{
  known_tell_below (node, to, path);
  archive_tell (node, to, path, 0);
}

/* ---- cancelled offers ---- */

/* Adds the nodes with offers at or below the path, if this node is the directory. FALSE: no such
 * offer is known. */
static gboolean
add_holders (Node *node, const char *path, GArray *ids)
{
  g_autoptr (GPtrArray) keys = known_keys_below (node->known.by_path, node->config.stems, path);

  for (guint i = 0; i < keys->len && directory_is_here (node); i++)
    {
      const GArray *holders = g_tree_lookup (node->known.by_path, keys->pdata[i]);
      for (guint k = 0; k < holders->len; k++)
        node_id_set_add (ids, &g_array_index (holders, Holder, k).node);
    }
  return keys->len > 0;
}

static void
cover (Node *node, const News *news, const char *path)
{
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (NodeId));
  gboolean is_news = add_holders (node, path, ids) || node_id_equal (news->author, &node->self);

  add_concerned (node, path, ids);
  orphans_covered (node, path);
  if (is_news)
    tell_all (node, news, ids, (Message){ .kind = MESSAGE_COVERED, .path = path });
}

void
directory_cover (Node *node, const char *path)
{
  const NodeId hub = node->contacts.hub;

  if (core_is_member (node) && !directory_is_here (node))
    (void)member_send (node, &hub, &(Message){ .kind = MESSAGE_COVERED, .path = path });
  cover (node, &(News){ &node->self, &hub }, path);
}

void
directory_on_covered (Node *node, const NodeId *from, const Message *m)
{
  const NodeId author = node_id_is_none (&m->id) ? *from : m->id;

  if (is_to_be_heard (node, &author))
    cover (node, &(News){ &author, from }, m->path);
}

/* ---- leaving ---- */

void
directory_moved (Node *node, const NodeId *to, const GPtrArray *rows)
{
  for (guint i = 0; i < rows->len; i++)
    {
      const Row *row = rows->pdata[i];
      Holder holder = { *to, row->digest, 1 + row->children };
      (void)known_add (node, row->path, &holder);
    }
}

static gboolean
tell_lender (gpointer key G_GNUC_UNUSED, gpointer value, gpointer data)
{
  const HeldJob *held = value;

  known_tell_below (data, &held->node, held->job->path);
  return FALSE;
}

void
directory_leave (Node *node)
{
  const Member *next = NULL;

  for (guint i = node->roster.members->len; i-- > 0;) /* the eldest is the first */
    {
      const Member *member = node->roster.members->pdata[i];
      if (!member->dead && !node_id_equal (&member->id, &node->self))
        next = member;
    }
  if (next != NULL && directory_is_here (node))
    known_tell_below (node, &next->id, NULL);
  g_tree_foreach (node->held.by_return, tell_lender, node);
}
