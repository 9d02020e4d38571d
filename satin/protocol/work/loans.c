/* SPDX-License-Identifier: BSD-3-Clause */
/* See loans.h. */
#include "../core.h"

static void
entry_free (gpointer data)
{
  LoanEntry *entry = data;

  g_clear_pointer (&entry->job, loan_free);
  g_free (entry);
}

void
loans_init (Node *node)
{
  Loans *loans = &node->loans;

  loans->by_number = g_tree_new_full (core_compare_numbers, NULL, NULL, entry_free);
  core_owns (node, &loans->by_number, (GDestroyNotify)g_tree_unref);
  loans->by_path = g_hash_table_new (g_str_hash, g_str_equal);
  core_owns (node, &loans->by_path, (GDestroyNotify)g_hash_table_unref);
}

LoanEntry *
loans_find (Node *node, guint64 loan)
{
  return g_tree_lookup (node->loans.by_number, &loan);
}

static void
remove_entry (Node *node, LoanEntry *entry)
{
  rerun_forget (node, entry);
  verify_forget (node, entry);
  if (g_hash_table_lookup (node->loans.by_path, entry->path) == entry)
    g_hash_table_remove (node->loans.by_path, entry->path);
  g_tree_remove (node->loans.by_number, &entry->loan);
}

gboolean
loans_is_with (const LoanEntry *entry, const NodeId *id)
{
  return (entry->kind == LOAN_LENT || entry->kind == LOAN_ADOPTED)
         && node_id_equal (&entry->node, id);
}

void
loans_add (Node *node, LoanEntry entry)
{
  gsize size = strlen (entry.path) + 1;
  LoanEntry *own = g_malloc (sizeof *own + size);

  g_assert (loans_find (node, entry.loan) == NULL);
  *own = entry;
  own->path = memcpy (own + 1, entry.path, size);
  own->since_us = node->now_us;
  g_tree_insert (node->loans.by_number, &own->loan, own);
  g_hash_table_replace (node->loans.by_path, own->path, own);
}

void
loans_put (Node *node, LoanEntry *entry, const Result *result)
{
  guint64 loan = entry->loan;

  yield_on_result (node, entry, result);
  verify_own_came (node, entry->path);
  remove_entry (node, entry);
  if (loans_is_root (loan))
    {
      if (loan == node->root.loan)
        root_result (node, result);
      return;
    }
  NodeEffect *effect = core_emit (node, NODE_EFFECT_PUT);
  effect->loan = loan;
  effect->bytes = g_bytes_ref (result->value);
  effect->shares = result->shares == NULL ? NULL : g_ptr_array_ref (result->shares);
  effect->work_us = result->work_us;
  effect->risk_us = result->risk_us;
  work_moved (node, result->risk_us);
}

static void
give_back (Node *node, LoanEntry *entry, gboolean lost)
{
  guint64 loan = entry->loan;
  gboolean elsewhere = quarantine_takes (node, entry);

  remove_entry (node, entry);
  if (elsewhere)
    return;
  if (loans_is_root (loan))
    {
      if (loan == node->root.loan)
        root_back (node);
      return;
    }
  NodeEffect *effect = core_emit (node, NODE_EFFECT_BACK);
  effect->loan = loan;
  effect->failed = lost;
}

void
loans_back (Node *node, LoanEntry *entry)
{
  give_back (node, entry, FALSE);
}

void
loans_back_lost (Node *node, LoanEntry *entry)
{
  give_back (node, entry, TRUE);
}

/* The job in this slot was aborted. Its holder stops it; if another node still needs the job, the
 * holder offers it instead. */
void
loans_aborted (Node *node, guint64 loan)
{
  LoanEntry *entry = loans_find (node, loan);

  if (entry == NULL) /* the result or the job itself has just come back */
    {
      quarantine_aborted (node, loan);
      return;
    }
  if (entry->kind == LOAN_RERUNS || entry->kind == LOAN_ROW) /* no node holds the job */
    {
      remove_entry (node, entry);
      return;
    }
  gboolean kept = yield_keeps (node, entry);
  if (entry->kind == LOAN_OWN)
    {
      HeldJob *held = held_find_self (node, loan);
      remove_entry (node, entry);
      if (kept)
        held_disown_self (node, loan);
      else
        held_give_up (node, held);
      return;
    }
  G_GNUC_UNUSED NodeId holder = entry->node;
  remove_entry (node, entry);
#ifndef SATIN_PLANT_ABORT_NOT_PASSED
  (void)member_send (node, &holder,
                     &(Message){ .kind = MESSAGE_CANCELLED, .number = loan, .flag = kept });
#endif
}

/* The slot that waits for this number from this node. (nullable) */
static LoanEntry *
awaited_from (Node *node, const NodeId *from, guint64 loan)
{
  LoanEntry *entry = loans_find (node, loan);

  return entry != NULL && loans_is_with (entry, from) ? entry : NULL;
}

void
loans_accept (Node *node, LoanEntry *entry, const Arrival *arrival)
{
  const NodeId *from = &arrival->from;
  guint64 loan = arrival->loan;

  if (entry->kind == LOAN_ROW)
    {
      loans_put (node, entry, &arrival->result);
      return;
    }
  mirror_on_result (node, from, arrival->number);
  loans_put (node, entry, &arrival->result);
  if (arrival->in_transit && epoch_withholds (node, from, loan))
    return;
  if (!loans_is_root (loan)
      && buddy_acknowledges (node, from, loan, g_bytes_get_size (arrival->result.value)))
    return;
  (void)member_send (node, from,
                     &(Message){ .kind = MESSAGE_ACK, .number = loan, .flag = node->round.heard });
}

void
loans_on_result (Node *node, const NodeId *from, const Message *m)
{
  if (loans_is_check (m->number))
    {
      verify_own_on_result (node, from, m);
      return;
    }
  LoanEntry *entry = awaited_from (node, from, m->number);
  gboolean wanted = entry != NULL && g_str_equal (entry->path, m->path)
                    && digest_equal (&entry->digest, &m->digest);

  gboolean in_transit = epoch_hears (node, m->count);
  epoch_got_result (node, from, in_transit);
  if (wanted && stop_halts (node))
    return; /* the slot may have been scanned for the last time: the holder keeps the result and
             * saves it */
  if (!wanted)
    {
      mirror_on_result (node, from, m->version);
      (void)member_send (node, from, &(Message){ .kind = MESSAGE_CANCELLED, .number = m->number });
      return;
    }
  Arrival arrival = { .from = *from,
                      .author = m->id,
                      .loan = m->number,
                      .number = m->version,
                      .in_transit = in_transit,
                      .result = { m->value, m->shares, m->work_us, m->risk_us } };
  if (!verify_takes (node, entry, &arrival))
    loans_accept (node, entry, &arrival);
}

/* The job was not run, or its holder does not have it any more. It becomes ready in the slot where
 * it was lent; otherwise two nodes could pass it to each other for ever. */
void
loans_on_returned (Node *node, const NodeId *from, const Message *m)
{
  LoanEntry *entry = awaited_from (node, from, m->number);

  if (loans_is_check (m->number))
    verify_own_on_returned (node, from, m->number);
  if (entry == NULL)
    return;
  if (entry->kind == LOAN_ADOPTED) /* first, since a job that comes back is looked up again */
    known_deny (node, entry->path, &entry->digest, from);
#ifndef SATIN_PLANT_STAYS_LENT
  loans_back (node, entry);
#endif
}

/* The number of jobs with this member about which it has told nothing. */
static guint
count_untold (const GPtrArray *all, const Member *member)
{
  guint n = 0;

  for (guint i = 0; i < all->len; i++)
    {
      const LoanEntry *entry = all->pdata[i];
      n += loans_is_with (entry, &member->id) && entry->told.told_us == 0;
    }
  return n;
}

void
loans_departed (Node *node, const Member *member)
{
  g_autoptr (GPtrArray) all = core_values (node->loans.by_number);
  guint untold = count_untold (all, member);

  for (guint i = 0; i < all->len; i++)
    {
      LoanEntry *entry = all->pdata[i];
      if (!loans_is_with (entry, &member->id))
        continue;
      poison_lost (node, member, entry);
      verify_forget (node, entry);
      entry->waits_us = 0;
      if (node->leave.phase
          == LEAVE_NONE) /* otherwise the node that gets the job then counts the cost */
        {
          node->stats.jobs_lost++;
          if (entry->told.told_us != 0)
            work_lost (node, member, entry->path, &entry->told);
          else
            work_lost_early (node, member, entry->path, entry->since_us, untold);
        }
#ifdef SATIN_PLANT_ORPHAN_NOT_REQUEUED
      if (entry->kind == LOAN_ADOPTED)
        {
          remove_entry (node, entry);
          continue;
        }
#endif
      if (!rerun_waits (node, entry, member))
        loans_back_lost (node, entry);
    }
}

void
loans_all_back (Node *node)
{
  g_autoptr (GPtrArray) all = core_values (node->loans.by_number);

  for (guint i = 0; i < all->len; i++)
    if (((LoanEntry *)all->pdata[i])->kind != LOAN_OWN)
      loans_back (node, all->pdata[i]);
}

void
loans_check (Node *node)
{
  GHashTableIter iter;
  gpointer key, value;

  g_assert (g_hash_table_size (node->loans.by_path)
            <= (guint)g_tree_nnodes (node->loans.by_number));
  g_hash_table_iter_init (&iter, node->loans.by_path);
  while (g_hash_table_iter_next (&iter, &key, &value))
    g_assert (g_tree_lookup (node->loans.by_number, &((LoanEntry *)value)->loan) == value);
  for (GTreeNode *at = g_tree_node_first (node->loans.by_number); at != NULL;
       at = g_tree_node_next (at))
    {
      const LoanEntry *entry = g_tree_node_value (at);
      if (entry->kind == LOAN_OWN || entry->kind == LOAN_ROW || entry->kind == LOAN_RERUNS)
        g_assert (node_id_is_none (&entry->node));
      else
        g_assert (roster_find (node, &entry->node) != NULL
                  && !node_id_equal (&entry->node, &node->self));
      g_assert (entry->kind != LOAN_OWN || held_waits_for_self (node, entry->loan));
      g_assert (!loans_is_root (entry->loan)
                || (entry->loan == node->root.loan && node->root.state != ROOT_NONE));
    }
}
