/* SPDX-License-Identifier: BSD-3-Clause */
/* See buddy.h. */
#include "../core.h"

/* What was sent up to here is to be confirmed. */
typedef struct
{
  guint64 number, scan, reported_us;
  gboolean whole;
  gboolean row; /* of one row between two scans */
} BuddyMark;

/* A result in a slot here; this scan, or one before it, has its row. */
typedef struct
{
  NodeId holder;
  guint64 loan, scan;
  gsize bytes;
} BuddyAck;

/* `before`: the rows of the last whole scan and what followed, while another one comes. */
typedef struct
{
  NodeId id;
  GPtrArray *rows, *before; /* of Row; before: nullable */
} BuddyWard;

/* To be answered when that one is gone. */
typedef struct
{
  NodeId ward, from;
  guint64 loan;
  char *path;
} BuddyOrder;

static GPtrArray *
new_rows (void)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);
}

static void
ward_free (gpointer data)
{
  BuddyWard *ward = data;

  g_ptr_array_unref (ward->rows);
  g_clear_pointer (&ward->before, g_ptr_array_unref);
  g_free (ward);
}

static void
order_free (gpointer data)
{
  BuddyOrder *order = data;

  g_free (order->path);
  g_free (order);
}

void
buddy_init (Node *node)
{
  Buddy *buddy = &node->buddy;

  g_queue_init (&buddy->unconfirmed);
  g_queue_init (&buddy->acks);
  buddy->elders = g_array_new (FALSE, FALSE, sizeof (BuddyPair));
  buddy->wards = g_ptr_array_new_with_free_func (ward_free);
  buddy->orders = g_ptr_array_new_with_free_func (order_free);
}

void
buddy_done (Node *node)
{
  Buddy *buddy = &node->buddy;

  g_queue_clear_full (&buddy->unconfirmed, g_free);
  g_queue_clear_full (&buddy->acks, g_free);
  g_array_unref (buddy->elders);
  g_ptr_array_unref (buddy->wards);
  g_ptr_array_unref (buddy->orders);
}

/* ---- rows go there ---- */

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

/* Nothing, to one that is gone. */
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
  if (node_id_equal (&buddy->before, &buddy->id)) /* it is that again, before another was full */
    buddy->before = NODE_ID_NONE;
  buddy->pause_us = buddy->again_us = 0;
  buddy->state = node_id_is_none (&pair.buddy) ? BUDDY_NONE : BUDDY_CHOSEN;
  mirror_keeper_changed (node);
  Member *chosen = roster_find (node, &buddy->id);
  if (chosen != NULL)
    (void)carry_open (node, chosen);
  else
    send_acks (node, G_MAXUINT64); /* nobody would confirm anything */
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

/* One that has just left the roster, beside another for whom all is scanned now, is not slow:
 * buddy_departed follows. */
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
         || (buddy->whole_scan == 0 && buddy->rows > 2 * buddy->rows_whole + BUDDY_ROWS_MORE);
}

/* It takes rows in more slowly than they come, or stands still, and the coordinator goes on: all of
 * them go there later. */
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
    }
  BuddyMark *mark = g_new (BuddyMark, 1);
  *mark = (BuddyMark){ ++buddy->marks, scan, node->work.reported_us, whole, FALSE };
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
  *mark = (BuddyMark){ ++buddy->marks, buddy->served, node->work.reported_us, FALSE, TRUE };
  g_queue_push_tail (&buddy->unconfirmed, mark);
  if (row == NULL)
    {
      send (node, &buddy->id, BUDDY_ROWS, mark->number);
      return mark->number;
    }
  buddy->rows++;
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
      if (mark->whole && buddy->state == BUDDY_FILLING)
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
      buddy->scans -= !mark->row;
      g_free (g_queue_pop_head (&buddy->unconfirmed));
    }
}

guint64
buddy_confirmed_us (Node *node)
{
  return node->buddy.confirmed_us;
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
  BuddyAck *ack = g_new (BuddyAck, 1);
  *ack = (BuddyAck){ *holder, loan, node->saves.scans + 1, bytes };
  g_queue_push_tail (&buddy->acks, ack);
  buddy->acks_bytes += bytes;
  while (buddy->acks.length > BUDDY_ACKS_MAX || buddy->acks_bytes > BUDDY_ACKS_BYTES)
    send_acks (node, ((const BuddyAck *)g_queue_peek_head (&buddy->acks))->scan);
  return TRUE;
}

/* ---- the other end ---- */

/* (nullable) */
static BuddyWard *
find_ward (Node *node, const NodeId *id, guint *place)
{
  GPtrArray *wards = node->buddy.wards;

  for (*place = 0; *place < wards->len; (*place)++)
    {
      BuddyWard *ward = wards->pdata[*place];
      if (node_id_equal (&ward->id, id))
        return ward;
    }
  return NULL;
}

static BuddyWard *
add_ward (Node *node, const NodeId *id)
{
  BuddyWard *ward = g_new0 (BuddyWard, 1);

  ward->id = *id;
  ward->rows = new_rows ();
  g_ptr_array_add (node->buddy.wards, ward);
  return ward;
}

static void
begin_again (BuddyWard *ward)
{
  if (ward->before == NULL)
    ward->before = g_steal_pointer (&ward->rows);
  else /* a whole scan that was not finished */
    g_ptr_array_unref (ward->rows);
  ward->rows = new_rows ();
}

static gboolean
has_row (const GPtrArray *rows, const char *path, const Digest *digest)
{
  for (guint i = 0; rows != NULL && i < rows->len; i++)
    {
      const Row *row = rows->pdata[i];
      if (row->children == 0 && g_str_equal (row->path, path)
          && digest_equal (&row->digest, digest))
        return TRUE;
    }
  return FALSE;
}

gboolean
buddy_keeps (Node *node, const NodeId *id, const char *path, const Digest *digest)
{
  guint place;
  const BuddyWard *ward = find_ward (node, id, &place);

  return ward != NULL
         && (has_row (ward->rows, path, digest) || has_row (ward->before, path, digest));
}

gboolean
buddy_has_rows_of (Node *node, const NodeId *id)
{
  guint place;

  return find_ward (node, id, &place) != NULL;
}

void
buddy_on_copy (Node *node, const NodeId *from, const Message *m)
{
  guint place;
  BuddyWard *ward = find_ward (node, from, &place);

  if (m->count == BUDDY_DROP)
    {
      if (ward != NULL)
        g_ptr_array_remove_index_fast (node->buddy.wards, place);
      mirror_forget (node, from);
      return;
    }
  if (ward == NULL)
    ward = add_ward (node, from);
  if (m->count == BUDDY_BEGIN)
    begin_again (ward);
  for (guint i = 0; i < m->rows->len; i++)
    g_ptr_array_add (ward->rows, row_copy (m->rows->pdata[i]));
  if (m->count == BUDDY_WHOLE)
    g_clear_pointer (&ward->before, g_ptr_array_unref);
  if (m->number > 0)
    (void)member_send (node, from, &(Message){ .kind = MESSAGE_COPIED, .number = m->number });
}

static void
answer (Node *node, const BuddyOrder *order)
{
  orphans_flush (node);
  archive_tell (node, &order->from, order->path);
  (void)member_send (
      node, &order->from,
      &(Message){
          .kind = MESSAGE_TOLD, .number = order->loan, .path = order->path, .id = order->ward });
}

void
buddy_on_ask (Node *node, const NodeId *from, const Message *m)
{
  BuddyOrder order = { m->id, *from, m->number, (char *)m->path }, *own;

  if (roster_find (node, &m->id) == NULL)
    {
      answer (node, &order);
      return;
    }
  own = g_memdup2 (&order, sizeof order);
  own->path = g_strdup (m->path);
  g_ptr_array_add (node->buddy.orders, own);
}

static void
offer (Node *node, const GPtrArray *rows)
{
#ifdef SATIN_PLANT_COPIES_NOT_OFFERED
  return;
#endif
  for (guint i = 0; rows != NULL && i < rows->len; i++)
    {
      node->control->adopt_row (node, rows->pdata[i]);
      orphans_archive (node, rows->pdata[i]);
    }
}

static void
answer_orders (Node *node, const NodeId *gone)
{
  GPtrArray *orders = node->buddy.orders;
  guint i = 0;

  while (i < orders->len)
    {
      const BuddyOrder *order = orders->pdata[i];
      gboolean now = node_id_equal (&order->ward, gone);
      if (now)
        answer (node, order);
      if (now || node_id_equal (&order->from, gone))
        g_ptr_array_remove_index (orders, i);
      else
        i++;
    }
}

/* It is to wait for no acknowledgement. */
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
  choose (node); /* another one, if it was the buddy */
  mirror_lookup (node);
}

/* Main's root may have been there. */
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
  guint place;
  BuddyWard *ward = find_ward (node, &member->id, &place);

  if (ward != NULL) /* one that was leaving may have died before its heir had all */
    {
      offer (node, ward->before);
      offer (node, ward->rows);
      g_ptr_array_remove_index_fast (buddy->wards, place);
    }
  note_elder (node, member);
  answer_orders (node, &member->id);
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
  g_ptr_array_set_size (buddy->orders, 0);
}

void
buddy_check (Node *node)
{
  const Buddy *buddy = &node->buddy;

  g_assert ((buddy->state == BUDDY_NONE) == node_id_is_none (&buddy->id));
  g_assert (buddy->confirmed_us <= node->work.reported_us);
  for (guint i = 0; i < buddy->wards->len; i++)
    g_assert (roster_find (node, &((const BuddyWard *)buddy->wards->pdata[i])->id) != NULL);
}
