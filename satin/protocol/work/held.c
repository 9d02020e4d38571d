/* SPDX-License-Identifier: BSD-3-Clause */
/* See held.h. */
#include "../core.h"

#include <string.h>

static int
compare_returns (gconstpointer a, gconstpointer b, gpointer data G_GNUC_UNUSED)
{
  const HeldJob *x = a, *y = b;
  int order = node_id_compare (&x->node, &y->node);

  return order != 0 ? order : core_compare_numbers (&x->loan, &y->loan, NULL);
}

static void
held_free (gpointer data)
{
  HeldJob *held = data;

  loan_free (held->job);
  g_clear_pointer (&held->value, g_bytes_unref);
  g_clear_pointer (&held->shares, g_ptr_array_unref);
  g_free (held);
}

void
held_init (Node *node)
{
  Held *held = &node->held;

  held->by_number = g_tree_new_full (core_compare_numbers, NULL, NULL, held_free);
  core_owns (node, &held->by_number, (GDestroyNotify)g_tree_unref);
  held->by_return = g_tree_new_full (compare_returns, NULL, NULL, NULL);
  core_owns (node, &held->by_return, (GDestroyNotify)g_tree_unref);
  held->by_path = g_tree_new ((GCompareFunc)strcmp);
  core_owns (node, &held->by_path, (GDestroyNotify)g_tree_unref);
}

HeldJob *
held_find (Node *node, guint64 number)
{
  return g_tree_lookup (node->held.by_number, &number);
}

HeldJob *
held_find_return (Node *node, const NodeId *id, guint64 loan)
{
  const HeldJob like = { .node = *id, .loan = loan };

  return g_tree_lookup (node->held.by_return, &like);
}

HeldJob *
held_at (Node *node, const char *path)
{
  return g_tree_lookup (node->held.by_path, path);
}

HeldJob *
held_add (Node *node, Loan *job)
{
  HeldJob *held = g_new (HeldJob, 1), *last = held_at (node, job->path);

  *held = (HeldJob){ .held = ++node->held.numbers, .job = job };
  g_tree_insert (node->held.by_number, &held->held, held);
  if (last == NULL)
    g_tree_insert (node->held.by_path, job->path, held);
  for (; last != NULL; last = last->next)
    if (last->next == NULL)
      {
        last->next = held;
        break;
      }
  return held;
}

void
held_set_lender (Node *node, HeldJob *held, Lender lender, const NodeId *id, guint64 loan)
{
  if (held->lender == LENDER_NODE)
    g_tree_remove (node->held.by_return, held);
  held->lender = lender;
  held->node = lender == LENDER_NODE ? *id : NODE_ID_NONE;
  held->loan = loan;
  held->copy = HELD_COPY_NONE;
  held->copied_to = NODE_ID_NONE;
  held->copy_number = 0;
  held->told = (WorkTold){ .told_us = MAX (node->now_us, 1), .busy = 1 };
  if (lender == LENDER_NODE)
    g_tree_insert (node->held.by_return, held, held);
  else
    verify_second (node, held, FALSE);
  shares_lender_changed (node, held->held);
}

/* Removes the job from those with its path. */
static void
unchain (Node *node, const HeldJob *held)
{
  HeldJob *before = held_at (node, held->job->path);

  if (before == held && held->next == NULL)
    g_tree_remove (node->held.by_path, held->job->path);
  else if (before == held) /* the next job's path becomes the key */
    g_tree_replace (node->held.by_path, held->next->job->path, held->next);
  else
    {
      while (before->next != held)
        before = before->next;
      before->next = held->next;
    }
}

void
held_drop (Node *node, HeldJob *held)
{
  orphans_withdraw (node, held);
  held_set_lender (node, held, LENDER_NONE, NULL, 0);
  unchain (node, held);
  g_tree_remove (node->held.by_number, &held->held);
}

void
held_run (Node *node, HeldJob *held)
{
  NodeEffect *effect = core_emit (node, NODE_EFFECT_RUN);

  effect->held = held->held;
  effect->job = loan_ref (held->job);
  node->held.unfinished++;
}

void
held_send_result (Node *node, HeldJob *held)
{
  guint64 number = mirror_send (node, held);

  epoch_sends_result (node, &held->node);
  (void)member_send (node, &held->node,
                     &(Message){ .kind = MESSAGE_RESULT,
                                 .number = held->loan,
                                 .path = held->job->path,
                                 .digest = held->job->digest,
                                 .work_us = held->work_us,
                                 .risk_us = held->risk_us,
                                 .version = number,
                                 .count = epoch_colours (node),
                                 .value = held->value,
                                 .shares = held->shares });
}

/* Saves the row of a job that is about to be dropped: the slot may be scanned already (round.h). */
static void
save_going (Node *node, HeldJob *held)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);

  if (held->saved || verify_has (node, held) || !node->config.checkpoint)
    return;
  g_ptr_array_add (rows, held_row (node, held));
  held->saved = TRUE;
#ifndef SATIN_PLANT_SCANS_ONCE
  node->control->rows (node, rows, 0);
#endif
}

void
held_return (Node *node, HeldJob *held)
{
  g_assert (held->phase == HELD_FINISHED);
  LoanEntry *entry = held->lender == LENDER_SELF ? loans_find (node, held->loan) : NULL;

  if (held->held <= node->held.renamed && held->lender != LENDER_NONE)
    work_regained (node, held->job->path, held->work_us);
  switch (held->lender)
    {
    case LENDER_NONE:
      orphans_announce (node, held);
      break;
    case LENDER_NODE:
      if (!holdback_takes (node, held))
        held_send_result (node, held);
      break;
    case LENDER_SELF:
      if (stop_halts (node))
        break; /* the slot may have been scanned for the last time, so the row is saved from here */
      if (entry != NULL)
        loans_put (node, entry,
                   &(Result){ held->value, held->shares, held->work_us, held->risk_us });
      if (epoch_saves_first (node))
        save_going (node, held);
      held_drop (node, held);
      break;
    case LENDER_REPEAT:
      verify_on_done (node, held);
      held_drop (node, held);
      break;
    case LENDER_MAIN:
      root_result (node, &(Result){ held->value, held->shares, held->work_us, held->risk_us });
      break;
    case LENDER_VAIN:
      g_assert_not_reached (); /* such a job was dropped */
    }
}

void
held_give_up (Node *node, HeldJob *held)
{
  if (held->phase == HELD_FINISHED)
    {
      held_drop (node, held);
      return;
    }
  orphans_withdraw (node, held);
  held_set_lender (node, held, LENDER_VAIN, NULL, 0);
  core_emit (node, NODE_EFFECT_UNRUN)->held = held->held;
}

/* ---- receiving ---- */

/* TRUE: an orphan or a row here is this job. A second computation must run anew. */
static gboolean
adopt_for (Node *node, const NodeId *from, const Loan *job)
{
  HeldJob *held = job->again ? NULL : orphans_find (node, job->path, &job->digest);

  if (!job->again && orphans_send_row (node, from, job->path, &job->digest, job->loan))
    return TRUE;
  if (held == NULL)
    return FALSE;
  held_set_lender (node, held, LENDER_NODE, from, job->loan);
  if (held->phase == HELD_FINISHED)
    held_return (node, held);
  return TRUE;
}

/* TRUE: this node returns the job: it leaves, cannot begin, has work and so cannot run a job alone,
 * or runs such a job. A node whose jobs all wait takes the job, which may be what they wait for. A
 * job that comes unasked after a long wait is always taken. */
static gboolean
is_too_much (Node *node, const Message *m, gboolean alone)
{
  if (node->leave.phase >= LEAVE_BEGUN || !constants_started (node))
    return TRUE;
  return alone ? node->steal.hungry < node->config.workers : node->held.alone > 0 && m->number > 0;
}

/* The job has ended or stopped. */
static void
note_over (Node *node, HeldJob *held)
{
  node->held.unfinished--;
  node->held.alone -= held->alone;
  yield_ended (node, held);
}

void
held_on_jobs (Node *node, const NodeId *from, const Message *m)
{
  gboolean alone = m->number == 0 && m->flag, more = m->number > 0 && m->flag;
  guint n = 0;

  if (m->loans->len > 0)
    (void)epoch_hears (node, m->count);
  for (guint i = 0; i < m->loans->len; i++)
    {
      Loan *job = m->loans->pdata[i];
      if (is_too_much (node, m, alone))
        {
          (void)member_send (node, from,
                             &(Message){ .kind = MESSAGE_RETURNED, .number = job->loan });
          continue;
        }
      if (held_find_return (node, from, job->loan) != NULL || adopt_for (node, from, job))
        continue;
      HeldJob *held = held_add (node, loan_ref (job));
      held_set_lender (node, held, LENDER_NODE, from, job->loan);
      verify_second (node, held, job->again);
      held->alone = alone;
      node->held.alone += held->alone;
      held_run (node, held);
      n++;
    }
  node->stats.steals_remote += n;
  steal_on_answer (node, m->number, m->loans->len, n, more);
  steal_on_offer (node, &m->id);
}

void
held_on_done (Node *node, const NodeEvent *event)
{
  HeldJob *held = held_find (node, event->held);

  if (held == NULL || held->phase == HELD_FINISHED || verify_own_defers (node, held, event))
    return;
  held->phase = HELD_FINISHED;
  note_over (node, held);
  held->value = g_bytes_ref (event->bytes);
  held->shares = event->shares == NULL ? NULL : g_ptr_array_ref (event->shares);
  held->work_us = event->work_us;
  held->risk_us = event->risk_us;
  held->began_ms = event->began_ms;
  held->took_ms = event->took_ms;
  loan_drop_args (held->job);
  if (held->lender == LENDER_VAIN)
    held_drop (node, held);
  else
    held_return (node, held);
  if (node->stop.phase == STOP_HALTED || epoch_saves_first (node))
    node->control->flush (node);
}

void
held_on_unrun (Node *node, guint64 number, gboolean robbed)
{
  HeldJob *held = held_find (node, number);

  if (held == NULL || held->phase == HELD_FINISHED)
    return;
  note_over (node, held);
  if (held->lender == LENDER_MAIN)
    {
      if (!stop_halts (node))
        root_unrun (node);
      return;
    }
  Lender lender = held->lender;
  NodeId id = held->node;
  Message returned = { .kind = MESSAGE_RETURNED, .number = held->loan };
  held_drop (node, held);
  if (lender == LENDER_NODE)
    (void)member_send (node, &id, &returned);
  else if (lender == LENDER_REPEAT)
    verify_on_unrun (node, returned.number, robbed);
  LoanEntry *entry = lender == LENDER_SELF ? loans_find (node, returned.number) : NULL;
  if (entry != NULL)
    loans_back (node, entry);
}

void
held_on_ack (Node *node, const NodeId *from, guint64 loan, gboolean in_round)
{
  HeldJob *held = held_find_return (node, from, loan);

  if (held == NULL || held->phase != HELD_FINISHED)
    return;
  if (in_round || node->round.heard)
    save_going (node, held);
  if (!mirror_retains (node, held))
    held_drop (node, held);
}

/* ---- links and members ---- */

/* The jobs held for this node, by loan. (transfer container) */
static GPtrArray *
all_for (Node *node, const NodeId *id)
{
  const HeldJob first = { .node = *id };
  GPtrArray *all = g_ptr_array_new ();

  for (GTreeNode *at = g_tree_lower_bound (node->held.by_return, &first); at != NULL;
       at = g_tree_node_next (at))
    {
      HeldJob *held = g_tree_node_value (at);
      if (!node_id_equal (&held->node, id))
        break;
      g_ptr_array_add (all, held);
    }
  return all;
}

static void
orphan (Node *node, HeldJob *held)
{
  held_set_lender (node, held, LENDER_NONE, NULL, 0);
  orphans_announce (node, held);
}

void
held_on_cancelled (Node *node, const NodeId *from, guint64 loan, gboolean yields)
{
  HeldJob *held = held_find_return (node, from, loan);

  if (held != NULL && yields)
    orphan (node, held);
  else if (held != NULL)
    held_give_up (node, held);
}

void
held_disown_self (Node *node, guint64 loan)
{
  HeldJob *held = held_find_self (node, loan);

  if (held != NULL)
    orphan (node, held);
}

void
held_departed (Node *node, const NodeId *id)
{
  g_autoptr (GPtrArray) all = all_for (node, id);

  for (guint i = 0; i < all->len; i++)
    orphan (node, all->pdata[i]);
}

void
held_orphan_all (Node *node)
{
  g_autoptr (GPtrArray) all = core_values (node->held.by_number);

  for (guint i = 0; i < all->len; i++)
    {
      HeldJob *held = all->pdata[i];
      held->announced = FALSE; /* not announced under the next name */
      if (held->lender == LENDER_NODE)
        held_set_lender (node, held, LENDER_NONE, NULL, 0);
    }
  node->held.renamed = node->held.numbers;
  archive_lose_name (node);
}

HeldJob *
held_find_self (Node *node, guint64 loan)
{
  g_autoptr (GPtrArray) all = core_values (node->held.by_number);

  for (guint i = 0; i < all->len; i++)
    {
      HeldJob *held = all->pdata[i];
      if (held->lender == LENDER_SELF && held->loan == loan)
        return held;
    }
  return NULL;
}

void
held_each_lender (Node *node, void (*each) (const NodeId *lender, gpointer data), gpointer data)
{
  for (GTreeNode *at = g_tree_node_first (node->held.by_return); at != NULL;
       at = g_tree_node_next (at))
    each (&((HeldJob *)g_tree_node_value (at))->node, data);
}

/* ---- saving ---- */

Row *
held_row (Node *node, const HeldJob *held)
{
  Row *row = row_new (held->job->path, held->job->job, &held->job->digest, held->job->weight,
                      held->work_us, held->value);

#ifndef SATIN_PLANT_SHARED_NOT_SAVED
  row->shares = held->shares == NULL ? NULL : g_ptr_array_ref (held->shares);
#endif
  row->args = loan_show_args (held->job->args);
  row->began_ms = held->began_ms;
  row->took_ms = held->took_ms;
  row->node = node->self;
  return row;
}

/* FALSE: the lender has or soon gets the result in a slot, and gives its row, too. */
static gboolean
is_worth_a_row (Node *node, const HeldJob *held)
{
#ifndef SATIN_PLANT_KEPT_DROPPED
  if (held->word != HELD_NO_WORD)
    return TRUE; /* the keeper stores it until the lender has it, too */
#endif
  return held->lender != LENDER_NODE || !buddy_takes (node) || node->round.heard
         || held->work_us >= HELD_ROW_PRICE_US (g_bytes_get_size (held->value));
}

GPtrArray *
held_rows (Node *node, guint64 *risk_us)
{
  g_autoptr (GPtrArray) all = core_values (node->held.by_number);
  GPtrArray *rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);

  *risk_us = 0;
  for (guint i = 0; i < all->len; i++)
    {
      HeldJob *held = all->pdata[i];
      if (held->phase != HELD_FINISHED || held->saved || verify_has (node, held)
          || !is_worth_a_row (node, held))
        continue;
      held->saved = TRUE;
      *risk_us += held->risk_us;
      held->risk_us = 0;
      g_ptr_array_add (rows, held_row (node, held));
    }
  return rows;
}

void
held_forget_saved (Node *node)
{
  g_autoptr (GPtrArray) all = core_values (node->held.by_number);

  for (guint i = 0; i < all->len; i++)
    ((HeldJob *)all->pdata[i])->saved = FALSE;
}

/* ---- leaving ---- */

void
held_collect (Node *node, GPtrArray *rows)
{
  g_autoptr (GPtrArray) all = core_values (node->held.by_number);

  for (guint i = 0; i < all->len; i++)
    {
      HeldJob *held = all->pdata[i];
      if (held->phase != HELD_FINISHED || held->handed || held->lender == LENDER_NODE)
        continue;
      held->handed = TRUE;
      g_ptr_array_add (rows, held_row (node, held));
    }
}

/* ---- invariants ---- */

gboolean
held_waits_for_self (Node *node, guint64 loan)
{
  const HeldJob *held = held_find_self (node, loan);

  return held != NULL && (held->phase != HELD_FINISHED || stop_halts (node));
}

void
held_check (Node *node)
{
  guint returns = 0, unfinished = 0, alone = 0;

  for (GTreeNode *at = g_tree_node_first (node->held.by_number); at != NULL;
       at = g_tree_node_next (at))
    {
      HeldJob *held = g_tree_node_value (at);
      g_assert ((held->phase == HELD_FINISHED) == (held->value != NULL));
      unfinished += held->phase != HELD_FINISHED;
      alone += held->phase != HELD_FINISHED && held->alone;
      g_assert (held->lender != LENDER_VAIN || (held->phase != HELD_FINISHED && !held->announced));
      const HeldJob *same = held_at (node, held->job->path);
      while (same != held)
        same = same->next;
      if (held->lender == LENDER_SELF)
        g_assert ((held->phase != HELD_FINISHED || stop_halts (node))
                  && loans_find (node, held->loan) != NULL
                  && loans_find (node, held->loan)->kind == LOAN_OWN);
      if (held->lender == LENDER_MAIN)
        g_assert (path_is_root (held->job->path)
                  && (held->phase == HELD_FINISHED || node->root.held == held->held));
      if (held->lender == LENDER_NONE && core_is_member (node))
        g_assert (held->announced);
      if (held->lender != LENDER_NODE)
        continue;
      returns++;
      g_assert (roster_find (node, &held->node) != NULL
                && !node_id_equal (&held->node, &node->self));
      g_assert (held_find_return (node, &held->node, held->loan) == held);
    }
  g_assert ((guint)g_tree_nnodes (node->held.by_return) == returns);
  g_assert (node->held.unfinished == unfinished && node->held.alone == alone);
}
