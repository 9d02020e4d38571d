/* SPDX-License-Identifier: BSD-3-Clause */
/* See saves.h. */
#include "core.h"

void
saves_init (Saves *saves)
{
  saves->at_us = CORE_NEVER;
  saves->left = g_array_new (FALSE, FALSE, sizeof (NodeId));
  g_queue_init (&saves->waiting);
}

void
saves_done (Saves *saves)
{
  g_array_unref (saves->left);
  g_queue_clear_full (&saves->waiting, g_free);
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
saves_promoted (Node *node, gboolean whole)
{
  node->saves.here = TRUE;
  node->saves.opened = FALSE;
  g_array_set_size (node->saves.left, 0);
  NodeEffect *effect = core_emit (node, NODE_EFFECT_COORDINATOR);
  effect->whole = whole;
  effect->number = office_required (node);
  for (guint i = 0; i < node->roster.members->len; i++)
    tell_member (node, node->roster.members->pdata[i]);
}

void
saves_retired (Node *node)
{
  Saves *saves = &node->saves;

  saves->here = saves->opened = saves->closing = saves->final = saves->again = FALSE;
  g_queue_clear_full (&saves->waiting, g_free);
  round_deposed (node);
  core_emit (node, NODE_EFFECT_RETIRE);
}

void
saves_renew (Node *node)
{
  if (!node->config.checkpoint)
    return;
  if (node->stats.rows_sent > 0) /* else the next scan has all there is in any case */
    node->saves.whole = TRUE;
  work_renew (node);
  held_forget_saved (node);
  leave_forget_sent (node);
  node->saves.at_us = MIN (node->saves.at_us, node->now_us + SAVES_HURRY_US);
  round_renew (node);
}

/* What the scribe is given from now on is published later than the rows so far. */
static void
note_ticket (Node *node, const NodeId *id, guint32 office, guint64 reported_us)
{
  SavesTicket *ticket = g_new (SavesTicket, 1);

  *ticket = (SavesTicket){ node->saves.tickets, *id, office, reported_us };
  g_queue_push_tail (&node->saves.waiting, ticket);
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
      if (row->children > 0)
        orphans_archive (node, row); /* whoever is to run that job again need not wait for a disk */
    }
  node->stats.rows_saved += copies->len;
  NodeEffect *effect = core_emit (node, NODE_EFFECT_SAVE);
  effect->rows = copies;
  effect->number = ++node->saves.tickets;
}

/* As many as fit into one message, from `start` on. Returns the end. The last message tells how
 * much is reported now. */
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
  link_send (node, link,
             &(Message){ .kind = MESSAGE_SAVE,
                         .rows = some,
                         .number = i == rows->len ? node->work.reported_us : 0,
                         .count = node->office.number });
  return i;
}

void
saves_on_rows (Node *node, GPtrArray *rows, guint64 risk_us)
{
  NodeId coordinator;
  guint i = 0;

  if ((rows->len == 0 && risk_us == 0) || !node->config.checkpoint)
    return;
  gboolean ready = office_ready (node, &coordinator);
  Link *link = ready ? link_to (node, &coordinator) : NULL;
  if (!ready || (!node->saves.here && link == NULL))
    {
      node->saves.whole = TRUE;
      work_not_sent (node, risk_us);
      return;
    }
  node->stats.rows_sent += rows->len;
  work_reported (node, risk_us);
  if (node->saves.here)
    {
      emit_save (node, rows, &node->self);
      note_ticket (node, &node->self, node->office.number, node->work.reported_us);
      return;
    }
  do
    i = send_some (node, link, rows, i);
  while (i < rows->len);
}

void
saves_on_save (Node *node, Link *link, const Message *m)
{
  if (!node->saves.opened)
    return; /* it was for an earlier time in office: all is sent again */
  if (m->rows->len > 0)
    emit_save (node, m->rows, &link->remote);
  if (m->number > 0)
    note_ticket (node, &link->remote, m->count, m->number);
}

guint64
saves_scan (Node *node)
{
  Saves *saves = &node->saves;

  saves->scans++;
  if (saves->whole)
    saves->whole_scan = saves->scans;
  core_emit (node, NODE_EFFECT_SCAN)->whole = saves->whole;
  saves->whole = FALSE;
  saves_flush (node);
  return saves->scans;
}

void
saves_on_served (Node *node, guint64 scan, guint64 cost_us)
{
  g_autoptr (GPtrArray) none = g_ptr_array_new ();
  guint64 unsent_us = node->work.unsent_us;

  node->saves.rest_us = node->now_us + SAVES_REST * cost_us;
  if (scan < node->saves.whole_scan || node->saves.whole || unsent_us == 0)
    return;
  node->work.unsent_us = 0; /* all rows have gone once more */
  saves_on_rows (node, none, unsent_us);
}

/* Who asked ends the run. */
static void
tell_closed (Node *node, guint64 generation, gboolean failed)
{
  Message message = {
    .kind = MESSAGE_CLOSED, .count = node->saves.request, .number = generation, .flag = failed
  };

  if (node_id_equal (&node->saves.closer, &node->self))
    stop_on_closed (node, &node->self, &message);
  else
    (void)link_send_to (node, &node->saves.closer, &message);
}

/* All orders up to `ticket` are published. */
static void
acknowledge (Node *node, guint64 ticket, guint64 generation)
{
  GQueue *waiting = &node->saves.waiting;
  SavesTicket *first;

  while ((first = g_queue_peek_head (waiting)) != NULL && first->ticket <= ticket)
    {
      if (!node_id_equal (&first->node, &node->self))
        (void)link_send_to (node, &first->node,
                            &(Message){ .kind = MESSAGE_SAVED,
                                        .number = first->reported_us,
                                        .version = generation,
                                        .count = first->office });
      else if (first->office == node->office.number)
        work_published (node, first->reported_us);
      g_free (g_queue_pop_head (waiting));
    }
}

void
saves_on_published (Node *node, const NodeEvent *event)
{
  Saves *saves = &node->saves;
  gboolean newer = !event->failed && event->number > node->office.generation;

  if (!saves->here)
    return; /* not any more: nobody counts on it */
  if (!event->failed)
    acknowledge (node, event->saved, event->number);
  office_saw_generation (node, event->number);
  if (newer) /* a bid is held against it, whoever will be master then */
    link_broadcast (node, &(Message){ .kind = MESSAGE_SAVED, .version = event->number });
  if (event->final && !round_on_answer (node, event->number, event->failed) && saves->final)
    {
      saves->final = FALSE;
      saves->closing = saves->again;
      saves->again = FALSE;
      if (!saves->closing)
        tell_closed (node, event->number, event->failed);
    }
  if (node->ended)
    return;
  if (event->failed || event->work_us > 0)
    elect_watch (node, event->failed ? 0 : event->work_us);
  saves_close_go_on (node);
}

void
saves_on_saved (Node *node, Link *link, const Message *m)
{
  office_saw_generation (node, m->version);
  if (m->count == node->office.number && node_id_equal (&link->remote, &node->office.holder))
    work_published (node, m->number);
}

/* ---- the end ---- */

void
saves_on_close (Node *node, const NodeId *from, const Message *m)
{
  Saves *saves = &node->saves;

  if (!saves->opened)
    return; /* asked again when it is */
  if (node_id_equal (&saves->closer, from) && m->count < saves->request)
    return; /* it was held up on an older link; only the newest is waited for */
  if (saves->final && (saves->request != m->count || !node_id_equal (&saves->closer, from)))
    saves->again = TRUE; /* what is under way may lack what this one wants */
  saves->closing = TRUE;
  saves->closer = *from;
  saves->request = m->count;
  if (m->flag)
    {
      NodeEffect *effect = core_emit (node, NODE_EFFECT_ANSWER);
      effect->bytes = g_bytes_ref (m->value);
      effect->number = m->number;
    }
  saves_close_go_on (node);
}

void
saves_close_go_on (Node *node)
{
  Saves *saves = &node->saves;

  if (!saves->closing || saves->final || !saves->opened || node->round.publishing)
    return;
  saves->final = TRUE;
  core_emit (node, NODE_EFFECT_FINAL);
}

void
saves_event (Node *node, const Message *event)
{
  NodeId coordinator;

  if (!office_coordinator (node, &coordinator))
    return;
  if (!node->saves.here)
    {
      (void)link_send_to (node, &coordinator, event);
      return;
    }
  NodeEffect *effect = core_emit (node, NODE_EFFECT_EVENT);
  effect->text = g_strdup (event->text);
  effect->text2 = g_strdup (event->host);
  effect->path = g_strdup (event->path);
  effect->node = event->id;
  effect->work_us = event->work_us;
}

static void
salvage (Node *node, const NodeId *id)
{
  core_emit (node, NODE_EFFECT_SALVAGE)->node = *id;
}

void
saves_opened (Node *node)
{
  node->saves.opened = TRUE;
  for (guint i = 0; i < node->saves.left->len; i++)
    salvage (node, &g_array_index (node->saves.left, NodeId, i));
  g_array_set_size (node->saves.left, 0);
}

void
saves_flush (Node *node)
{
  NodeId coordinator;

  if (!office_ready (node, &coordinator)
      || (!node->saves.here && link_to (node, &coordinator) == NULL))
    return;
  guint64 risk_us;
  g_autoptr (GPtrArray) rows = held_rows (node, &risk_us);
  risk_us += leave_add_taken (node, rows);
  saves_on_rows (node, rows, risk_us);
  leave_sent_taken (node);
}

void
saves_joined (Node *node, const NodeId *id)
{
  work_joined (node, id);
  if (node_id_equal (id, &node->self) && node->config.checkpoint)
    node->saves.at_us = node->now_us + MAX (node->config.save_interval_us, SAVES_HURRY_US);
  if (!node->saves.here)
    return;
  tell_member (node, roster_find (node, id));
  roster_find (node, id)->scanned = TRUE; /* nobody waits for the round that it came into */
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
  round_go_on (node);
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
  if (node->now_us < node->saves.rest_us && !node->saves.whole)
    {
      node->saves.at_us = node->saves.rest_us;
      return;
    }
  node->saves.at_us = node->now_us + MAX (node->config.save_interval_us, SAVES_HURRY_US);
  if (!office_ready (node, &coordinator)
      || (!node->saves.here && link_to (node, &coordinator) == NULL))
    return;
  (void)saves_scan (node);
}
