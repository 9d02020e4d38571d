/* SPDX-License-Identifier: BSD-3-Clause */
/* See buddy.h. */
#include "../core.h"

/* What was sent just before a mark. */
typedef enum
{
  MARKS_ROW, /* one row between two scans, or nothing */
  MARKS_SCAN,
  MARKS_WHOLE_SCAN
} BuddyMarked;

/* A mark that the buddy confirms when it has everything sent before. */
typedef struct
{
  guint64 number, scan, reported_us;
  BuddyMarked after;
} BuddyMark;

/* An acknowledgement that waits: the result is in a slot of this node, and `scan` or an earlier
 * scan contains its row. In plan cut all wait for the end of the epoch. */
typedef struct
{
  NodeId holder;
  guint64 loan, scan;
  gsize bytes;
} BuddyAck;

void
buddy_init (Node *node)
{
  Buddy *buddy = &node->buddy;

  core_queue (node, &buddy->unconfirmed, g_free);
  core_queue (node, &buddy->acks, g_free);
  core_array (node, &buddy->elders, sizeof (BuddyPair));
  buddy_wards_init (node);
}

/* ---- sending rows ---- */

static void
send (Node *node, const NodeId *to, BuddyPhase phase, guint64 mark)
{
  (void)member_send (node, to, &(Message){ .kind = MESSAGE_COPY, .number = mark, .count = phase });
}

static void
forget_marks (Buddy *buddy)
{
  g_queue_clear_full (&buddy->unconfirmed, g_free);
  buddy->scans = 0;
  buddy->confirmed_us = 0;
  buddy->whole_scan = 0;
}

/* Sends nothing if the holder is gone. */
static void
send_ack (Node *node, const BuddyAck *ack)
{
  (void)member_send (
      node, &ack->holder,
      &(Message){ .kind = MESSAGE_ACK, .number = ack->loan, .flag = node->round.heard });
  node->buddy.acks_bytes -= ack->bytes;
}

static void
send_acks (Node *node, guint64 scan)
{
  Buddy *buddy = &node->buddy;
  BuddyAck *ack;

  while ((ack = g_queue_peek_head (&buddy->acks)) != NULL && ack->scan <= scan)
    {
      send_ack (node, ack);
      g_free (g_queue_pop_head (&buddy->acks));
    }
}

static void
choose (Node *node)
{
  Buddy *buddy = &node->buddy;
  const Member *self = roster_find (node, &node->self);
  BuddyPair pair = { 0 };

  if (self == NULL || self->leaving)
    return;
  (void)buddy_of (node, self, &pair);
  if (node_id_equal (&pair.buddy, &buddy->id))
    return;
  if (buddy->state == BUDDY_FULL)
    buddy->before = buddy->id;
  else if (buddy->state == BUDDY_FILLING)
    send (node, &buddy->id, BUDDY_DROP, 0);
  forget_marks (buddy);
  buddy->id = pair.buddy;
  if (node_id_equal (&buddy->before, &buddy->id)) /* the former buddy again */
    buddy->before = NODE_ID_NONE;
  buddy->pause_us = buddy->again_us = 0;
  buddy->state = node_id_is_none (&pair.buddy) ? BUDDY_NONE : BUDDY_CHOSEN;
  mirror_keeper_changed (node);
  Member *chosen = roster_find (node, &buddy->id);
  if (chosen != NULL)
    (void)carry_open (node, chosen);
  else
    send_acks (node, G_MAXUINT64); /* there is no buddy that would confirm anything */
}

void
buddy_settle (Node *node)
{
  Buddy *buddy = &node->buddy;

  if (node->config.plan.keeper == PLAN_KEEPER_NONE || !core_is_member (node))
    return;
  if (buddy->rosters != node->stats.rosters)
    {
      buddy->rosters = node->stats.rosters;
      choose (node);
    }
  if (buddy->state == BUDDY_CHOSEN && node->now_us >= buddy->again_us)
    node->control->hurry (node);
}

/* A buddy that has just left the roster does not count as slow: buddy_departed follows. */
static gboolean
has_room (Node *node)
{
  const Member *member = roster_find (node, &node->buddy.id);

  return member == NULL || carry_has_room (member);
}

gboolean
buddy_takes (Node *node)
{
  const Buddy *buddy = &node->buddy;

  return buddy->state != BUDDY_NONE && carry_reaches (node, &buddy->id) && has_room (node)
         && !stop_halts (node) && (buddy->state != BUDDY_CHOSEN || node->now_us >= buddy->again_us);
}

gboolean
buddy_wants_whole (Node *node)
{
  const Buddy *buddy = &node->buddy;

  return buddy->state == BUDDY_CHOSEN
         || (buddy->whole_scan == 0
             && (buddy->rows > 2 * buddy->rows_whole + BUDDY_ROWS_MORE
                 || buddy->bytes > 2 * buddy->bytes_whole + BUDDY_BYTES_MORE));
}

/* The buddy accepts rows more slowly than they come, or hangs, while the coordinator goes on. It
 * will get all rows later. */
static void
give_up_for_now (Node *node)
{
  Buddy *buddy = &node->buddy;

  forget_marks (buddy);
  buddy->state = BUDDY_CHOSEN;
  buddy->pause_us = CLAMP (2 * buddy->pause_us, BUDDY_PAUSE_MIN_US, BUDDY_PAUSE_MAX_US);
  buddy->again_us = node->now_us + buddy->pause_us;
}

void
buddy_on_scan (Node *node, guint64 scan, gboolean whole)
{
  Buddy *buddy = &node->buddy;

  if (buddy->state >= BUDDY_FILLING && !has_room (node))
    give_up_for_now (node);
  if (!whole || !buddy_takes (node))
    return;
  if (buddy->state == BUDDY_CHOSEN)
    buddy->state = BUDDY_FILLING;
  buddy->whole_scan = scan;
  buddy->rows = 0;
  buddy->bytes = 0;
  send (node, &buddy->id, BUDDY_BEGIN, 0);
}

void
buddy_on_rows (Node *node, GPtrArray *rows)
{
  Buddy *buddy = &node->buddy;
  guint i = 0;

  if (buddy->state < BUDDY_FILLING || rows->len == 0)
    return;
  buddy->rows += rows->len;
  for (guint j = 0; j < rows->len; j++)
    buddy->bytes += rows_bytes (rows->pdata[j]);
  buddy->news = TRUE;
  while (i < rows->len)
    i = rows_send (node, &buddy->id, rows, i, &(Message){ .kind = MESSAGE_COPY });
}

void
buddy_on_served (Node *node, guint64 scan)
{
  Buddy *buddy = &node->buddy;
  const BuddyAck *first = g_queue_peek_head (&buddy->acks);
  gboolean whole = buddy->whole_scan > 0 && scan >= buddy->whole_scan;
  buddy->served = scan;
  gboolean news = buddy->news || (first != NULL && first->scan <= scan);

  if (buddy->state < BUDDY_FILLING || !(whole || (news && buddy->scans == 0)))
    return;
  if (whole)
    {
      buddy->whole_scan = 0;
      buddy->rows_whole = buddy->rows;
      buddy->bytes_whole = buddy->bytes;
    }
  BuddyMark *mark = g_new (BuddyMark, 1);
  *mark = (BuddyMark){ ++buddy->marks, scan, node->work.reported_us,
                       whole ? MARKS_WHOLE_SCAN : MARKS_SCAN };
  g_queue_push_tail (&buddy->unconfirmed, mark);
  buddy->scans++;
  buddy->news = FALSE;
  send (node, &buddy->id, whole ? BUDDY_WHOLE : BUDDY_ROWS, mark->number);
}

guint64
buddy_send_row (Node *node, const Row *row)
{
  Buddy *buddy = &node->buddy;
  g_autoptr (GPtrArray) rows = g_ptr_array_new ();

  if (buddy->state != BUDDY_FULL || !buddy_takes (node))
    return 0;
  BuddyMark *mark = g_new (BuddyMark, 1);
  *mark = (BuddyMark){ ++buddy->marks, buddy->served, node->work.reported_us, MARKS_ROW };
  g_queue_push_tail (&buddy->unconfirmed, mark);
  if (row == NULL)
    {
      send (node, &buddy->id, BUDDY_ROWS, mark->number);
      return mark->number;
    }
  buddy->rows++;
  buddy->bytes += rows_bytes (row);
  g_ptr_array_add (rows, (gpointer)row);
  (void)rows_send (node, &buddy->id, rows, 0,
                   &(Message){ .kind = MESSAGE_COPY, .number = mark->number });
  return mark->number;
}

void
buddy_on_copied (Node *node, const NodeId *from, const Message *m)
{
  Buddy *buddy = &node->buddy;
  BuddyMark *mark;

  if (!node_id_equal (from, &buddy->id))
    return;
  while ((mark = g_queue_peek_head (&buddy->unconfirmed)) != NULL && mark->number <= m->number)
    {
      if (mark->after == MARKS_WHOLE_SCAN && buddy->state == BUDDY_FILLING)
        {
          buddy->state = BUDDY_FULL;
          buddy->pause_us = 0;
          if (!node_id_is_none (&buddy->before))
            send (node, &buddy->before, BUDDY_DROP, 0);
          buddy->before = NODE_ID_NONE;
        }
      if (buddy->state == BUDDY_FULL)
        {
          buddy->confirmed_us = mark->reported_us;
          send_acks (node, mark->scan);
          holdback_confirmed (node, mark->number);
        }
      buddy->scans -= mark->after != MARKS_ROW;
      g_free (g_queue_pop_head (&buddy->unconfirmed));
    }
}

guint64
buddy_confirmed_us (Node *node)
{
  return node->buddy.confirmed_us;
}

static void
push_ack (Node *node, BuddyAck ack)
{
  g_queue_push_tail (&node->buddy.acks, g_memdup2 (&ack, sizeof ack));
  node->buddy.acks_bytes += ack.bytes;
}

void
buddy_acknowledge_later (Node *node, const NodeId *holder, guint64 loan)
{
  push_ack (node, (BuddyAck){ .holder = *holder, .loan = loan });
}

void
buddy_acknowledge_all (Node *node)
{
  send_acks (node, G_MAXUINT64);
}

gboolean
buddy_acknowledges (Node *node, const NodeId *holder, guint64 loan, gsize bytes)
{
  Buddy *buddy = &node->buddy;

#ifdef SATIN_PLANT_EARLY_ACK
  return FALSE;
#endif
  if (!(node->config.plan.waits & PLAN_WAITS_ACK) || buddy->state == BUDDY_NONE || stop_halts (node)
      || roster_find (node, holder)->leaving)
    return FALSE;
  push_ack (node, (BuddyAck){ *holder, loan, node->saves.scans + 1, bytes });
  while (buddy->acks.length > BUDDY_ACKS_MAX || buddy->acks_bytes > BUDDY_ACKS_BYTES)
    send_acks (node, ((const BuddyAck *)g_queue_peek_head (&buddy->acks))->scan);
  return TRUE;
}

/* The holder must not wait for an acknowledgement any more: sends all. */
static void
release (Node *node, const NodeId *holder)
{
  Buddy *buddy = &node->buddy;

  for (GList *item = buddy->acks.head, *next; item != NULL; item = next)
    {
      BuddyAck *ack = item->data;
      next = item->next;
      if (!node_id_equal (&ack->holder, holder))
        continue;
      send_ack (node, ack);
      g_free (ack);
      g_queue_delete_link (&buddy->acks, item);
    }
}

void
buddy_on_leaving (Node *node, const NodeId *id)
{
  release (node, id);
  choose (node); /* another buddy, if the leaver was the buddy */
  mirror_lookup (node);
}

/* The leaver's buddy may have the row of main's root. */
static void
note_elder (Node *node, const Member *member)
{
  GArray *elders = node->buddy.elders;
  BuddyPair pair;

  if (member->leaving || node_id_compare (&member->id, &node->self) > 0
      || !buddy_of (node, member, &pair))
    return;
  if (elders->len == BUDDY_ELDERS_MAX)
    g_array_remove_index (elders, 0);
  g_array_append_val (elders, pair);
}

void
buddy_departed (Node *node, const Member *member)
{
  Buddy *buddy = &node->buddy;

  buddy_wards_offer (node, &member->id);
  note_elder (node, member);
  release (node, &member->id);
  if (node_id_equal (&member->id, &buddy->before))
    buddy->before = NODE_ID_NONE;
  if (node_id_equal (&member->id, &buddy->id))
    {
      forget_marks (buddy);
      buddy->id = NODE_ID_NONE;
      buddy->state = BUDDY_NONE; /* until buddy_settle chooses another one */
    }
}

void
buddy_reset (Node *node)
{
  Buddy *buddy = &node->buddy;

  g_queue_clear_full (&buddy->acks, g_free);
  buddy->acks_bytes = 0;
  forget_marks (buddy);
  buddy->id = buddy->before = NODE_ID_NONE;
  buddy->state = BUDDY_NONE;
  g_array_set_size (buddy->elders, 0);
  g_ptr_array_set_size (buddy->wards, 0);
}

static void
check_marks (const Buddy *buddy)
{
  guint64 before = 0, scan = 0;
  guint scans = 0;

  for (const GList *at = buddy->unconfirmed.head; at != NULL; at = at->next)
    {
      const BuddyMark *mark = at->data;
      g_assert (mark->number > before && mark->number <= buddy->marks && mark->scan >= scan);
      before = mark->number;
      scan = mark->scan;
      scans += mark->after != MARKS_ROW;
    }
  g_assert (scans == buddy->scans && scan <= buddy->served);
}

/* An acknowledgement waits only for a buddy. A leaver chooses no other one. */
static void
check_acks (Node *node)
{
  const Buddy *buddy = &node->buddy;
  guint64 scan = 0;
  gsize bytes = 0;

  for (const GList *at = buddy->acks.head; at != NULL; at = at->next)
    {
      const BuddyAck *ack = at->data;
      g_assert (ack->scan >= scan && ack->scan <= node->saves.scans + 1);
      g_assert (roster_find (node, &ack->holder) != NULL);
      scan = ack->scan;
      bytes += ack->bytes;
    }
  g_assert (bytes == buddy->acks_bytes && bytes <= BUDDY_ACKS_BYTES);
  if (node->config.plan.epochs)
    return;
  g_assert (buddy->acks.length <= BUDDY_ACKS_MAX);
  g_assert (buddy->acks.length == 0 || buddy->state != BUDDY_NONE
            || node->leave.phase >= LEAVE_BEGUN);
}

void
buddy_check (Node *node)
{
  const Buddy *buddy = &node->buddy;

  g_assert ((buddy->state == BUDDY_NONE) == node_id_is_none (&buddy->id));
  g_assert (buddy->confirmed_us <= node->work.reported_us);
  g_assert (node_id_is_none (&buddy->before) || !node_id_equal (&buddy->before, &buddy->id));
  check_marks (buddy);
  check_acks (node);
  buddy_wards_check (node);
}
