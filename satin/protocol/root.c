/* SPDX-License-Identifier: BSD-3-Clause */
/* See root.h. */
#include "core.h"

void
root_done (Node *node)
{
  Root *root = &node->root;

  g_clear_pointer (&root->job, loan_free);
}

/* The master before ran the root, or had lent it: this one does not run it again before the rows of
 * the checkpoint are known. FALSE: they are asked for, and root_back follows. */
static gboolean
is_told (Node *node)
{
  const LoanEntry entry = { .loan = LOANS_ROOT, .path = (char *)"", .kind = LOAN_ADOPTED };

  if (!node->root.again || (node->saves.here && node->saves.tells_all)
      || loans_find (node, LOANS_ROOT) != NULL)
    return TRUE;
  loans_add (node, entry);
  if (rerun_waits (node, loans_find (node, LOANS_ROOT), NULL))
    return FALSE;
  loans_back (node, loans_find (node, LOANS_ROOT));
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
  root->job = loan_new (LOANS_ROOT, "", job->job, &job->digest, job->weight, job->args);
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

/* What the checkpoint holds is known here, and all that others have said. */
static gboolean
may_begin (Node *node)
{
  NodeId coordinator;

  if (shares_wait (node))
    return FALSE;
  return !node->config.checkpoint || node->office.without || office_ready (node, &coordinator);
}

void
root_go_on (Node *node)
{
  Root *root = &node->root;
  Holder holder;

  if (root->state != ROOT_WAITING || !may_begin (node) || stop_halts (node))
    return;
  ArchiveRow *row = archive_find (node, "", &root->job->digest);
  if (row != NULL)
    {
      g_autoptr (GPtrArray) shares = archive_shares (node, row);
      g_autoptr (GBytes) value = archive_take (node, "", row);
      root_result (node, &(Result){ value, shares, row->work_us, 0 });
      return;
    }
  HeldJob *held = orphans_find (node, "", &root->job->digest);
  if (held != NULL)
    {
      node->stats.orphans_adopted++;
      take (node, held);
      if (held->finished)
        held_return (node, held);
      return;
    }
  if (known_holder (node, "", &root->job->digest, &holder))
    {
      root->state = ROOT_ADOPTED;
      orphans_ask (node, LOANS_ROOT, "", &root->job->digest, &holder.node);
      return;
    }
  held = held_add (node, loan_copy (root->job));
  take (node, held);
  lend_expect (node);
  held_run (node, held);
}

/* The root's row is saved like any other, so that a later master finds it. */
static void
save_adopted (Node *node, const Result *result)
{
  const Loan *job = node->root.job;
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);

  Row *row = row_new ("", job->job, &job->digest, job->weight, result->work_us, result->value);
  row->shares = result->shares == NULL ? NULL : g_ptr_array_ref (result->shares);
  g_ptr_array_add (rows, row);
  saves_on_rows (node, rows, result->risk_us);
}

void
root_result (Node *node, const Result *result)
{
  Root *root = &node->root;
  g_autoptr (GBytes) kept = g_bytes_ref (result->value);

  if (root->state == ROOT_NONE || root->state == ROOT_DONE)
    return;
  root->state = ROOT_DONE;
  node->stats.answer_us = result->work_us;
  HeldJob *held = held_find (node, root->held);
  if (held != NULL && held->finished)
    saves_flush (node);
  else
    save_adopted (node, result);
  if (held != NULL && !held->finished) /* another node was faster */
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
  held_drop (node, held_find (node, node->root.held));
  node->root.held = 0;
  node->root.state = loans_find (node, LOANS_ROOT) != NULL ? ROOT_ADOPTED : ROOT_WAITING;
  root_go_on (node);
}

void
root_heard (Node *node, const Holder *holder)
{
  Root *root = &node->root;

  if (root->state == ROOT_RUNNING && holder->finished
      && digest_equal (&root->job->digest, &holder->digest)
      && loans_find (node, LOANS_ROOT) == NULL)
    orphans_ask (node, LOANS_ROOT, "", &holder->digest, &holder->node);
}

void
root_deposed (Node *node)
{
  HeldJob *held = held_find (node, node->root.held);
  LoanEntry *entry = loans_find (node, LOANS_ROOT);

  node->root.state = ROOT_NONE;
  node->root.held = 0;
  if (entry != NULL)
    loans_back (node, entry);
  if (held == NULL || held->lender != LENDER_MAIN)
    return;
  held_set_lender (node, held, LENDER_NONE, NULL, 0);
  orphans_announce (node, held);
}
