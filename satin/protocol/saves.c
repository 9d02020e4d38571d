/* SPDX-License-Identifier: BSD-3-Clause */
/* See saves.h. */
#include "core.h"

void
saves_init (Saves *saves)
{
  saves->at_us = CORE_NEVER;
  saves->left = g_array_new (FALSE, FALSE, sizeof (NodeId));
}

void
saves_done (Saves *saves)
{
  g_array_unref (saves->left);
}

/* §3.2: the master stands unopposed, for now. */
gboolean
saves_coordinator (Node *node, NodeId *id)
{
  const Member *master = roster_master (node);

  if (!node->config.checkpoint || master == NULL)
    return FALSE;
  Bid bid = { .node = master->id, .commit_us = 0, .same_place = TRUE };
  return election_winner (&bid, 1, &master->id, id);
}

static void
tell_member (Node *node, const Member *member)
{
  NodeEffect *effect = core_emit (node, NODE_EFFECT_MEMBER);

  effect->node = member->id;
  effect->text = g_strdup (member->address);
  effect->text2 = g_strdup (member->host);
  effect->number = member->pid;
}

void
saves_promoted (Node *node)
{
  if (!node->config.checkpoint)
    return;
  node->saves.here = TRUE;
  node->saves.opened = FALSE;
  g_array_set_size (node->saves.left, 0);
  core_emit (node, NODE_EFFECT_COORDINATOR);
  for (guint i = 0; i < node->roster.members->len; i++)
    tell_member (node, node->roster.members->pdata[i]);
  saves_renew (node);
}

void
saves_deposed (Node *node)
{
  node->saves.here = node->saves.opened = FALSE;
}

void
saves_renew (Node *node)
{
  if (!node->config.checkpoint)
    return;
  node->saves.whole = TRUE;
  held_forget_saved (node);
  node->saves.at_us = MIN (node->saves.at_us, node->now_us + SAVES_HURRY_US);
}

static void
emit_save (Node *node, GPtrArray *rows, const NodeId *from)
{
  GPtrArray *copies = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);

  for (guint i = 0; i < rows->len; i++)
    {
      Row *row = row_copy (rows->pdata[i]);
      if (node_id_is_none (&row->node))
        row->node = *from;
      g_ptr_array_add (copies, row);
    }
  node->stats.rows_saved += copies->len;
  core_emit (node, NODE_EFFECT_SAVE)->rows = copies;
}

/* As many as fit into one message, from `start` on. Returns the end. */
static guint
send_some (Node *node, Link *link, GPtrArray *rows, guint start)
{
  g_autoptr (GPtrArray) some = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);
  gsize bytes = 0;
  guint i = start;

  for (; i < rows->len && some->len < SAVES_ROWS_MAX && (some->len == 0 || bytes < SAVES_BYTES_MAX);
       i++)
    {
      Row *row = row_copy (rows->pdata[i]);
      if (node_id_is_none (&row->node))
        row->node = node->self;
      bytes += g_bytes_get_size (row->value);
      g_ptr_array_add (some, row);
    }
  link_send (node, link, &(Message){ .kind = MESSAGE_SAVE, .rows = some });
  return i;
}

void
saves_on_rows (Node *node, GPtrArray *rows)
{
  NodeId coordinator;

  if (rows->len == 0 || !node->config.checkpoint)
    return;
  if (node->saves.here)
    {
      node->stats.rows_sent += rows->len;
      emit_save (node, rows, &node->self);
      return;
    }
  Link *link = saves_coordinator (node, &coordinator) ? link_to (node, &coordinator) : NULL;
  if (link == NULL)
    {
      node->saves.whole = TRUE;
      return;
    }
  node->stats.rows_sent += rows->len;
  for (guint i = 0; i < rows->len;)
    i = send_some (node, link, rows, i);
}

void
saves_on_save (Node *node, Link *link, const Message *m)
{
  if (node->saves.here && m->rows->len > 0)
    emit_save (node, m->rows, &link->remote);
}

static void
salvage (Node *node, const NodeId *id)
{
  core_emit (node, NODE_EFFECT_SALVAGE)->node = *id;
}

void
saves_on_opened (Node *node)
{
  if (!node->saves.here || node->saves.opened)
    return;
  node->saves.opened = TRUE;
  for (guint i = 0; i < node->saves.left->len; i++)
    salvage (node, &g_array_index (node->saves.left, NodeId, i));
  g_array_set_size (node->saves.left, 0);
  root_go_on (node);
  stop_go_on (node);
}

void
saves_flush (Node *node)
{
  NodeId coordinator;

  if (!saves_coordinator (node, &coordinator)
      || (!node->saves.here && link_to (node, &coordinator) == NULL))
    return;
  g_autoptr (GPtrArray) rows = held_rows (node);
  saves_on_rows (node, rows);
}

void
saves_joined (Node *node, const NodeId *id)
{
  if (node_id_equal (id, &node->self) && node->config.checkpoint)
    node->saves.at_us = node->now_us + MAX (node->config.save_interval_us, SAVES_HURRY_US);
  if (node->saves.here)
    tell_member (node, roster_find (node, id));
}

void
saves_departed (Node *node, const NodeId *id, const char *cause)
{
  if (!node->saves.here)
    return;
  NodeEffect *effect = core_emit (node, NODE_EFFECT_LEFT);
  effect->node = *id;
  effect->text = g_strdup (cause);
  if (node->saves.opened)
    salvage (node, id);
  else
    g_array_append_val (node->saves.left, *id);
}

guint64
saves_due (Node *node)
{
  return core_is_member (node) ? node->saves.at_us : CORE_NEVER;
}

void
saves_tick (Node *node)
{
  NodeId coordinator;

  if (!core_is_member (node) || node->now_us < node->saves.at_us)
    return;
  node->saves.at_us = node->now_us + MAX (node->config.save_interval_us, SAVES_HURRY_US);
  if (!saves_coordinator (node, &coordinator)
      || (!node->saves.here && link_to (node, &coordinator) == NULL))
    return;
  core_emit (node, NODE_EFFECT_SCAN)->whole = node->saves.whole;
  node->saves.whole = FALSE;
  saves_flush (node);
}
