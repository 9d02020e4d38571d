/* SPDX-License-Identifier: BSD-3-Clause */
/* See saves.h. */
#include "../core.h"

void
saves_init (Node *node)
{
  Saves *saves = &node->saves;

  saves->at_us = CORE_NEVER;
  core_queue (node, &saves->waiting, g_free);
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
  node->saves.phase = SAVES_HERE;
  node->saves.tells_all = whole;
  NodeEffect *effect = core_emit (node, NODE_EFFECT_COORDINATOR);
  effect->whole = whole;
  effect->number = lease_required (node);
  for (guint i = 0; i < node->roster.members->len; i++)
    tell_member (node, node->roster.members->pdata[i]);
}

void
saves_retired (Node *node)
{
  Saves *saves = &node->saves;

  saves->phase = SAVES_NOT;
  g_queue_clear_full (&saves->waiting, g_free);
  rerun_retired (node);
  round_deposed (node);
  core_emit (node, NODE_EFFECT_RETIRE);
}

gboolean
saves_wants_whole (const Node *node)
{
  return node->saves.whole_scan == CORE_NEVER;
}

gboolean
saves_reaches (Node *node)
{
  NodeId coordinator;

  if (!lease_ready (node, &coordinator))
    return FALSE;
  return node->saves.phase != SAVES_NOT || carry_reaches (node, &coordinator);
}

void
saves_renew (Node *node)
{
  if (!node->config.checkpoint)
    return;
  if (node->saves.rows > 0) /* else the next scan has all there is in any case */
    node->saves.whole_scan = CORE_NEVER;
  node->stats.renewed++;
  events_renew (node);
  work_renew (node);
  held_forget_saved (node);
  leave_forget_sent (node);
  saves_hurry (node);
  round_renew (node);
}

/* What the scribe is given from now on is published later than what it was given so far. */
static void
push_ticket (Node *node, SavesTicket ticket)
{
  ticket.ticket = node->saves.tickets;
  g_queue_push_tail (&node->saves.waiting, g_memdup2 (&ticket, sizeof ticket));
}

static void
note_ticket (Node *node, const NodeId *id, guint32 lease, guint64 reported_us)
{
  push_ticket (node, (SavesTicket){ .node = *id, .lease = lease, .reported_us = reported_us });
}

void
saves_note_event (Node *node, const NodeId *id, guint64 event)
{
  SavesTicket *last = g_queue_peek_tail (&node->saves.waiting);

  if (last != NULL && last->event > 0 && node_id_equal (&last->node, id))
    {
      last->event = event;
      last->lease = node->lease.number;
      last->ticket = node->saves.tickets;
    }
  else
    push_ticket (node, (SavesTicket){ .node = *id, .lease = node->lease.number, .event = event });
}

void
saves_note_roster (Node *node)
{
  push_ticket (node, (SavesTicket){ .term = node->roster.term, .version = node->roster.version });
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

/* Rows were sent: the coordinator's cost grows with their bytes. A node that has a keeper does not
 * wait: its scans are also those that the keeper's copies come from. */
static void
rest_after (Node *node, const GPtrArray *rows)
{
  guint64 bytes = 0;

  if (buddy_takes (node))
    return;
  for (guint i = 0; i < rows->len; i++)
    bytes += g_bytes_get_size (((const Row *)rows->pdata[i])->value);
  guint64 rest_us = bytes * node->config.row_byte_ns / 1000 / MAX (node->config.workers, 1);
  node->saves.rest_us
      = MAX (node->saves.rest_us, node->now_us + MIN (rest_us, SAVES_ROW_REST_MAX_US));
}

void
saves_on_rows (Node *node, GPtrArray *rows, guint64 risk_us)
{
  NodeId coordinator;
  guint i = 0;

  if (rows->len == 0 && risk_us == 0)
    return;
  node->saves.rows += rows->len;
  buddy_on_rows (node, rows);
  if (!node->config.checkpoint)
    {
      work_reported (node, risk_us);
      return;
    }
  if (!saves_reaches (node))
    {
      node->saves.whole_scan = CORE_NEVER;
      work_not_sent (node, risk_us);
      return;
    }
  (void)lease_ready (node, &coordinator);
  node->stats.rows_sent += rows->len;
  work_reported (node, risk_us);
  rest_after (node, rows);
  if (node->saves.phase != SAVES_NOT)
    {
      emit_save (node, rows, &node->self);
      note_ticket (node, &node->self, node->lease.number, node->work.reported_us);
      return;
    }
  do
    i = rows_send (node, &coordinator, rows, i,
                   &(Message){ .kind = MESSAGE_SAVE,
                               .number = node->work.reported_us,
                               .count = node->lease.number });
  while (i < rows->len);
}

void
saves_on_save (Node *node, const NodeId *from, const Message *m)
{
  if (m->rows->len > 0)
    emit_save (node, m->rows, from);
  if (m->number > 0)
    note_ticket (node, from, m->count, m->number);
}

static guint64
scan (Node *node, gboolean whole)
{
  Saves *saves = &node->saves;

  saves->scans++;
  if (whole && saves_reaches (node))
    saves->whole_scan = saves->scans;
  buddy_on_scan (node, saves->scans, whole);
  core_emit (node, NODE_EFFECT_SCAN)->whole = whole;
  if (whole)
    held_forget_saved (node);
  saves_flush (node);
  return saves->scans;
}

guint64
saves_scan (Node *node)
{
  return scan (node, (saves_wants_whole (node) && saves_reaches (node))
                         || (buddy_takes (node) && buddy_wants_whole (node)));
}

guint64
saves_scan_whole (Node *node)
{
  return scan (node, TRUE);
}

void
saves_on_served (Node *node, guint64 scan, guint64 cost_us)
{
  g_autoptr (GPtrArray) none = g_ptr_array_new ();
  guint64 unsent_us = node->work.unsent_us;

  node->saves.rest_us = MAX (node->saves.rest_us, node->now_us + SAVES_REST * cost_us);
  buddy_on_served (node, scan);
  mirror_on_served (node, scan);
  if (scan < node->saves.whole_scan || unsent_us == 0)
    return;
  node->work.unsent_us = 0; /* all rows have gone once more */
  saves_on_rows (node, none, unsent_us);
}

/* This node's rows and events are published, or the events of all rosters up to one are. */
static void
count_published (Node *node, const Message *m)
{
  if (m->number > 0)
    work_published (node, m->number);
  if (m->work_us > 0)
    events_published (node, m->work_us);
  if (m->term.number > 0)
    events_seen_published (node, &m->term, m->risk_us);
}

static void
acknowledge_one (Node *node, const SavesTicket *ticket, guint64 generation)
{
  Message saved = { .kind = MESSAGE_SAVED,
                    .number = ticket->reported_us,
                    .version = generation,
                    .count = ticket->lease,
                    .work_us = ticket->event };

  if (node_id_equal (&ticket->node, &node->self))
    count_published (node, &saved); /* of an earlier lease of this node: work_renew has passed that
                                     * mark */
  else
    (void)member_send (node, &ticket->node, &saved);
}

/* All orders up to the one that the event names are published. A bid is held against the
 * generation, whoever will be master then, so all members are told it. */
static void
acknowledge (Node *node, const NodeEvent *event)
{
  GQueue *waiting = &node->saves.waiting;
  const SavesTicket *first;
  Message all = { .kind = MESSAGE_SAVED, .version = event->number, .count = node->lease.number };

  while ((first = g_queue_peek_head (waiting)) != NULL && first->ticket <= event->saved)
    {
      if (first->term.number == 0)
        acknowledge_one (node, first, event->number);
      else
        {
          all.term = first->term;
          all.risk_us = first->version;
        }
      g_free (g_queue_pop_head (waiting));
    }
  if (all.term.number > 0 || event->number > node->lease.generation)
    member_send_all (node, &all);
}

void
saves_on_published (Node *node, const NodeEvent *event)
{
  Saves *saves = &node->saves;

  if (saves->phase == SAVES_NOT)
    return; /* not any more: nobody counts on it */
  if (!event->failed)
    acknowledge (node, event);
  if (node->config.plan.epochs) /* else the scribe itself waits */
    node->saves.rest_us = MAX (node->saves.rest_us, node->now_us + event->rest_us);
  lease_saw_generation (node, event->number);
  if (event->final)
    round_on_answer (node, event);
  if (node->phase >= NODE_ENDED)
    return;
  if (event->failed || event->work_us > 0)
    elect_watch (node, event->failed ? 0 : event->work_us);
}

void
saves_on_saved (Node *node, const NodeId *from, const Message *m)
{
  lease_saw_generation (node, m->version);
  if (m->count == node->lease.number && node_id_equal (from, &node->lease.holder))
    count_published (node, m);
}

void
saves_opened (Node *node)
{
  node->saves.phase = SAVES_OPENED;
}

void
saves_flush (Node *node)
{
  if (!saves_reaches (node) && !buddy_takes (node))
    return;
  guint64 risk_us;
  g_autoptr (GPtrArray) rows = held_rows (node, &risk_us);
  risk_us += leave_add_taken (node, rows);
  saves_on_rows (node, rows, risk_us);
  leave_sent_taken (node);
}

/* Rows for a buddy are wanted often, those for a file alone at its interval. */
static guint64
interval_us (Node *node)
{
  guint64 file_us = MAX (node->config.save_interval_us, SAVES_HURRY_US);

  if (!buddy_takes (node))
    return file_us;
  return node->config.checkpoint ? MIN (node->config.copy_us, file_us) : node->config.copy_us;
}

void
saves_begin (Node *node)
{
  node->saves.at_us = node->now_us + interval_us (node);
}

void
saves_hurry (Node *node)
{
  guint64 soon_us = MIN (SAVES_HURRY_US, interval_us (node));

  node->saves.at_us = MIN (node->saves.at_us, node->now_us + soon_us);
}

void
saves_joined (Node *node, const Member *member, gboolean seen)
{
  const NodeId *id = &member->id;

  work_joined (node, id);
  if (seen || node_id_equal (id, &node->self))
    events_see (node, &(Message){ .text = "joined", .id = *id, .path = "", .host = member->host });
  if (node_id_equal (id, &node->self) && node->config.checkpoint)
    saves_begin (node);
  if (node->saves.phase == SAVES_NOT)
    return;
  tell_member (node, member);
  round_joined (node, id);
}

void
saves_departed (Node *node, const NodeId *id, const char *cause)
{
  events_see (node, &(Message){ .text = EVENT_LEFT, .id = *id, .path = "", .host = cause });
}

guint64
saves_due (Node *node)
{
  return core_is_member (node) ? node->saves.at_us : CORE_NEVER;
}

/* Else what is finished stays in the engine: the coordinator takes nothing in, or less than comes.
 */
static gboolean
has_room (Node *node)
{
  const Member *coordinator = roster_find (node, &node->lease.holder);

  return node->saves.phase != SAVES_NOT || (coordinator != NULL && carry_has_room (coordinator));
}

void
saves_tick (Node *node)
{
  if (!core_is_member (node))
    return;
  if (node->now_us < node->saves.at_us)
    return;
  if (node->now_us < node->saves.rest_us && !saves_wants_whole (node))
    {
      node->saves.at_us = node->saves.rest_us;
      return;
    }
  node->saves.at_us = node->now_us + interval_us (node);
  if (node->config.plan.epochs)
    {
      round_on_interval (node);
      return;
    }
  if (saves_reaches (node) ? has_room (node) : buddy_takes (node))
    (void)saves_scan (node);
  else if (!node->config.checkpoint && node->buddy.state == BUDDY_NONE)
    node->saves.at_us = CORE_NEVER;
}

void
saves_check (Node *node)
{
  const Saves *saves = &node->saves;
  guint64 ticket = 0;

  g_assert (saves->phase != SAVES_NOT || saves->waiting.length == 0);
  for (const GList *at = saves->waiting.head; at != NULL; at = at->next)
    {
      const SavesTicket *waiting = at->data;
      g_assert (waiting->ticket >= ticket && waiting->ticket <= saves->tickets);
      ticket = waiting->ticket;
    }
  g_assert (saves->whole_scan <= saves->scans || saves_wants_whole (node));
}
