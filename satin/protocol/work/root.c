/* SPDX-License-Identifier: BSD-3-Clause */
/* See root.h. */
#include "../core.h"

void
root_init (Node *node)
{
  Root *root = &node->root;

  core_owns (node, &root->job, (GDestroyNotify)loan_free);
}

static gboolean
is_known (Node *node, const Loan *job)
{
  const HeldJob *held = orphans_find (node, job->path, &job->digest);
  Holder holder;

  return archive_find (node, job->path, &job->digest) != NULL
         || (held != NULL && held->phase == HELD_FINISHED)
         || (known_holder (node, job->path, &job->digest, &holder) && holder.finished);
}

/* A master before this one ran the root or had lent it, so this node must not run it again before
 * it knows the rows of the checkpoint. FALSE: they are asked for, and root_back follows. */
static gboolean
is_told (Node *node)
{
  const Root *root = &node->root;
  const LoanEntry entry
      = { .loan = root->loan, .path = (char *)root->job->path, .kind = LOAN_ADOPTED };

  if (node->roster.term.number == 1 || (node->saves.phase != SAVES_NOT && node->saves.tells_all)
      || is_known (node, root->job))
    return TRUE;
  loans_add (node, entry);
  if (rerun_waits (node, loans_find (node, root->loan), NULL))
    return FALSE;
  loans_back (node, loans_find (node, root->loan));
  return TRUE;
}

void
root_want (Node *node, const Loan *job)
{
  Root *root = &node->root;

  if (!roster_is_master (node) || root->state == ROOT_WAITING || root->state == ROOT_RUNNING
      || root->state == ROOT_ADOPTED)
    return;
  if (!constants_started (node))
    constants_complete (node);
  g_clear_pointer (&root->job, loan_free);
  root->held = 0;
  root->loan = LOANS_ROOT + root->asked++;
  if (path_root (job->path) == 0) /* main has started again */
    node->stats.answer_us = 0;
  root->job = loan_new (root->loan, job->path, job->job, &job->digest, job->weight, job->args);
  root->state = is_told (node) ? ROOT_WAITING : ROOT_ADOPTED;
  root_go_on (node);
}

static void
take (Node *node, HeldJob *held)
{
  node->root.held = held->held;
  node->root.state = ROOT_RUNNING;
  held_set_lender (node, held, LENDER_MAIN, NULL, 0);
}

/* TRUE: this node knows the rows of the checkpoint, and what other nodes have sent. */
static gboolean
may_begin (Node *node)
{
  NodeId coordinator;

  if (shares_wait (node))
    return FALSE;
  return !node->config.checkpoint || node->lease.state == LEASE_WITHOUT
         || lease_ready (node, &coordinator);
}

void
root_go_on (Node *node)
{
  Root *root = &node->root;
  Holder holder;

  if (root->state != ROOT_WAITING || !may_begin (node) || stop_halts (node))
    return;
  const char *path = root->job->path;
  ArchiveRow *row = archive_find (node, path, &root->job->digest);
  if (row != NULL)
    {
      g_autoptr (GPtrArray) shares = archive_shares (node, row);
      g_autoptr (GBytes) value = archive_take (node, path, row);
      root_result (node, &(Result){ value, shares, row->work_us, 0 });
      return;
    }
  HeldJob *held = orphans_find (node, path, &root->job->digest);
  if (held != NULL)
    {
      node->stats.orphans_adopted++;
      take (node, held);
      if (held->phase == HELD_FINISHED)
        held_return (node, held);
      return;
    }
  if (known_holder (node, path, &root->job->digest, &holder))
    {
      root->state = ROOT_ADOPTED;
      orphans_ask (node, root->loan, path, &root->job->digest, &holder.node, NULL);
      return;
    }
  held = held_add (node, loan_copy (root->job));
  take (node, held);
  lend_expect (node);
  held_run (node, held);
}

/* A result from another node or the checkpoint is held as if this node had computed it. */
static void
hold_result (Node *node, const Result *result)
{
  HeldJob *held = held_add (node, loan_copy (node->root.job));

  held->phase = HELD_FINISHED;
  held->value = g_bytes_ref (result->value);
  held->shares = result->shares == NULL ? NULL : g_ptr_array_ref (result->shares);
  held->work_us = result->work_us;
  held->risk_us = result->risk_us;
  loan_drop_args (held->job);
  node->root.held = held->held;
  held_set_lender (node, held, LENDER_MAIN, NULL, 0);
}

void
root_result (Node *node, const Result *result)
{
  Root *root = &node->root;
  g_autoptr (GBytes) kept = g_bytes_ref (result->value);

  if (root->state == ROOT_NONE || root->state == ROOT_DONE)
    return;
  root->state = ROOT_DONE;
  node->stats.answer_us += result->work_us;
  HeldJob *held = held_find (node, root->held);
  if (held == NULL || held->phase != HELD_FINISHED)
    hold_result (node, result);
  else if (loans_find (node, root->loan) != NULL) /* another node was asked for it, too */
    loans_aborted (node, root->loan);
  node->control->flush (node);
  if (held != NULL && held->phase != HELD_FINISHED) /* another node was faster */
    held_give_up (node, held);
  core_emit (node, NODE_EFFECT_RESULT)->bytes = g_steal_pointer (&kept);
}

void
root_back (Node *node)
{
  if (node->root.state != ROOT_ADOPTED)
    return;
  node->root.state = ROOT_WAITING;
  root_go_on (node);
}

void
root_unrun (Node *node)
{
  Root *root = &node->root;

  held_drop (node, held_find (node, root->held));
  root->held = 0;
  root->state = loans_find (node, root->loan) != NULL ? ROOT_ADOPTED : ROOT_WAITING;
  root_go_on (node);
}

void
root_heard (Node *node, const char *path, const Holder *holder)
{
  Root *root = &node->root;

  if (root->state == ROOT_RUNNING && holder->finished && g_str_equal (root->job->path, path)
      && digest_equal (&root->job->digest, &holder->digest)
      && loans_find (node, root->loan) == NULL)
    orphans_ask (node, root->loan, path, &holder->digest, &holder->node, NULL);
}

/* The present root and the finished ones: the next main needs them. */
static gboolean
collect_root (gpointer key G_GNUC_UNUSED, gpointer value, gpointer data)
{
  HeldJob *held = value;

  if (held->lender == LENDER_MAIN)
    g_ptr_array_add (data, held);
  return FALSE;
}

void
root_deposed (Node *node)
{
  g_autoptr (GPtrArray) roots = g_ptr_array_new ();
  LoanEntry *entry = loans_find (node, node->root.loan);

  node->root.state = ROOT_NONE;
  node->root.held = 0;
  if (entry != NULL)
    loans_back (node, entry);
  g_tree_foreach (node->held.by_number, collect_root, roots);
  for (guint i = 0; i < roots->len; i++)
    {
      held_set_lender (node, roots->pdata[i], LENDER_NONE, NULL, 0);
      orphans_announce (node, roots->pdata[i]);
    }
}

void
root_check (Node *node)
{
  const Root *root = &node->root;
  const HeldJob *held = held_find (node, root->held);

  g_assert (root->state == ROOT_NONE || roster_is_master (node));
  g_assert (root->held == 0 || (held != NULL && held->lender == LENDER_MAIN));
  g_assert (root->state != ROOT_RUNNING || (held != NULL && held->phase != HELD_FINISHED));
  g_assert (root->state != ROOT_DONE || (held != NULL && held->phase == HELD_FINISHED));
  g_assert (root->state != ROOT_ADOPTED || loans_find (node, root->loan) != NULL);
}
