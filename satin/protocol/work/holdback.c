/* SPDX-License-Identifier: BSD-3-Clause */
/* See holdback.h. */
#include "../core.h"

typedef struct
{
  Message message; /* STEAL or JOBS, whose loans it owns; RESULT has only a number: of the held
                      job */
  NodeId to;       /* STEAL, JOBS: the receiver */
  guint64 mark, since_us;
} HoldbackItem;

static void
item_free (gpointer data)
{
  HoldbackItem *item = data;

  g_clear_pointer (&item->message.loans, g_ptr_array_unref);
  g_free (item);
}

void
holdback_init (Node *node)
{
  core_queue (node, &node->holdback.waiting, item_free);
}

/* TRUE: a message to this member waits for the keeper. */
static gboolean
waits (Node *node, PlanWaits what, const NodeId *to)
{
  return (node->config.plan.waits & what) && !stop_halts (node)
         && !node_id_equal (to, &node->buddy.id);
}

static void
hold (Node *node, HoldbackItem item)
{
  item.since_us = node->now_us;
  g_queue_push_tail (&node->holdback.waiting, g_memdup2 (&item, sizeof item));
}

gboolean
holdback_takes (Node *node, HeldJob *held)
{
  held->word = HELD_NO_WORD;
  /* The lender's loan of a root is no row: no slot has it. */
  if (loans_is_root (held->loan) || verify_has (node, held)
      || !waits (node, PLAN_WAITS_RESULT, &held->node))
    return FALSE;
  g_autoptr (Row) row = held_row (node, held);
  held->mark = buddy_send_row (node, row);
#ifdef SATIN_PLANT_RESULT_BEFORE_KEPT
  held->word = held->mark > 0 ? HELD_KEPT : HELD_NO_WORD;
  return FALSE;
#endif
  if (held->mark == 0)
    return FALSE;
  held->word = HELD_WAITS;
  hold (node, (HoldbackItem){ .message = { .kind = MESSAGE_RESULT, .number = held->held },
                              .mark = held->mark });
  return TRUE;
}

/* The mark of the last JOBS that waits for this member and must not be overtaken; 0: none. */
static guint64
mark_before (Node *node, const NodeId *to)
{
  for (const GList *at = node->holdback.waiting.tail; at != NULL; at = at->prev)
    {
      const HoldbackItem *item = at->data;
      if (item->message.kind == MESSAGE_JOBS && node_id_equal (&item->to, to))
        return item->mark;
    }
  return 0;
}

void
holdback_send (Node *node, const NodeId *from, const Message *m)
{
  PlanWaits what = m->kind == MESSAGE_STEAL ? PLAN_WAITS_STEAL : PLAN_WAITS_JOBS;
  guint64 mark = 0;

  if (m->kind == MESSAGE_JOBS && m->loans->len == 0)
    mark = mark_before (node, from);
  else if (waits (node, what, from))
    mark = buddy_send_row (node, NULL);
  if (mark == 0)
    (void)member_send (node, from, m);
  else
    {
      hold (node, (HoldbackItem){ .message = *m, .to = *from, .mark = mark });
      if (m->loans != NULL)
        g_ptr_array_ref (m->loans);
    }
}

static void
send_result (Node *node, const HoldbackItem *item, HeldWord word)
{
  HeldJob *held = held_find (node, item->message.number);

  if (held == NULL || held->word != HELD_WAITS || held->mark != item->mark)
    return; /* no node wants it, or it was held back again */
  held->word = word;
  if (held->lender == LENDER_NODE)
    held_send_result (node, held);
}

/* The thief may have gone or begun to leave: then it gets nothing. */
static void
send_jobs (Node *node, const HoldbackItem *item)
{
  const Member *thief = roster_find (node, &item->to);
  gboolean gives = thief != NULL && !thief->leaving && !stop_halts (node);
  g_autoptr (GPtrArray) loans = g_ptr_array_new ();

  for (guint i = 0; i < item->message.loans->len; i++)
    {
      Loan *loan = item->message.loans->pdata[i];
      LoanEntry *entry = loans_find (node, loan->loan);
      if (entry == NULL || !loans_is_with (entry, &item->to))
        continue;
      if (gives)
        g_ptr_array_add (loans, loan);
      else
        loans_back (node, entry);
    }
  Message jobs = item->message;
  jobs.loans = loans;
  jobs.count = epoch_colours (node);
  if (loans->len > 0 || !jobs.flag) /* else more follows */
    (void)member_send (node, &item->to, &jobs);
}

static void
send_steal (Node *node, const HoldbackItem *item)
{
  const Member *victim = roster_find (node, &item->to);

  if (victim == NULL || victim->leaving || stop_halts (node)
      || !member_send (node, &item->to, &item->message))
    steal_on_answer (node, item->message.number, 0, 0, FALSE);
}

/* Sends the oldest message. */
static void
send_first (Node *node, HeldWord word)
{
  HoldbackItem *item = g_queue_pop_head (&node->holdback.waiting);

  node->stats.waits++;
  node->stats.waited_us += node->now_us - item->since_us;
  if (item->message.kind == MESSAGE_RESULT)
    send_result (node, item, word);
  else if (item->message.kind == MESSAGE_JOBS)
    send_jobs (node, item);
  else
    send_steal (node, item);
  item_free (item);
}

void
holdback_confirmed (Node *node, guint64 mark)
{
  const HoldbackItem *first;

  while ((first = g_queue_peek_head (&node->holdback.waiting)) != NULL && first->mark <= mark)
    send_first (node, HELD_KEPT);
}

void
holdback_settle (Node *node)
{
  gboolean nobody = node->buddy.state != BUDDY_FULL || stop_halts (node);

  while (nobody && node->holdback.waiting.length > 0)
    send_first (node, HELD_NO_WORD);
}

guint64
holdback_due (Node *node)
{
  const HoldbackItem *first = g_queue_peek_head (&node->holdback.waiting);

  return first == NULL ? CORE_NEVER : first->since_us + NODE_HOLDBACK_US;
}

void
holdback_tick (Node *node)
{
  while (node->now_us >= holdback_due (node))
    {
      node->stats.expired++;
      send_first (node, HELD_NO_WORD);
    }
}

/* ---- for tests ---- */

typedef struct
{
  Node *node, *keeper;
  const char *path; /* (nullable) */
} Missing;

static gboolean
note_missing (gpointer key G_GNUC_UNUSED, gpointer value, gpointer data)
{
  const HeldJob *held = value;
  Missing *missing = data;

  if (held->word == HELD_KEPT && held->lender == LENDER_NODE
      && !buddy_keeps (missing->keeper, &missing->node->self, held->job->path, &held->job->digest))
    missing->path = held->job->path;
  return missing->path != NULL;
}

const char *
holdback_missing (Node *node, Node *keeper)
{
  Missing missing = { node, keeper, NULL };

  if (roster_find (keeper, &node->self) != NULL)
    g_tree_foreach (node->held.by_number, note_missing, &missing);
  return missing.path;
}

static gboolean
check_waiting (gpointer key G_GNUC_UNUSED, gpointer value, gpointer data)
{
  const HeldJob *held = value;
  const Node *node = data;
  gboolean waits = held->word != HELD_WAITS || held->lender != LENDER_NODE;

  for (const GList *at = node->holdback.waiting.head; at != NULL && !waits; at = at->next)
    {
      const HoldbackItem *item = at->data;
      waits = item->message.kind == MESSAGE_RESULT && item->message.number == held->held
              && item->mark == held->mark;
    }
  g_assert (waits);
  return FALSE;
}

/* What waits can still be confirmed, in this order; and a result that is held back waits. */
void
holdback_check (Node *node)
{
  guint64 mark = 0;

  g_assert (node->holdback.waiting.length == 0 || node->buddy.state == BUDDY_FULL);
  for (const GList *at = node->holdback.waiting.head; at != NULL; at = at->next)
    {
      const HoldbackItem *item = at->data;
      g_assert (item->mark >= mark && item->mark <= node->buddy.marks);
      mark = item->mark;
    }
  g_tree_foreach (node->held.by_number, check_waiting, node);
}
