/* SPDX-License-Identifier: BSD-3-Clause */
/* See verify.h.
 *
 * Tests: test-verify, sim. */
#include "../core.h"

typedef struct
{
  guint64 loan; /* the slot that waits */
  guint64 held; /* the job that runs for it here */
  Loan *job;
  Arrival arrival; /* what came; its result is owned */
} Repeat;

static void
repeat_free (gpointer data)
{
  Repeat *repeat = data;

  loan_free (repeat->job);
  g_bytes_unref (repeat->arrival.result.value);
  g_clear_pointer (&repeat->arrival.result.shares, g_ptr_array_unref);
  g_free (repeat);
}

void
verify_init (Node *node)
{
  node->verify.repeats = g_ptr_array_new_with_free_func (repeat_free);
}

void
verify_done (Node *node)
{
  g_ptr_array_unref (node->verify.repeats);
}

/* (transfer full) (nullable): the repeat for this slot, or that runs under this number. */
static Repeat *
take_repeat (Node *node, guint64 loan, guint64 held)
{
  GPtrArray *repeats = node->verify.repeats;

  for (guint i = 0; i < repeats->len; i++)
    {
      const Repeat *repeat = repeats->pdata[i];
      if (repeat->loan == loan || repeat->held == held)
        return g_ptr_array_steal_index_fast (repeats, i);
    }
  return NULL;
}

/* Does the job belong to one that is repeated here? */
static gboolean
is_part (Node *node, const char *path)
{
  const GPtrArray *repeats = node->verify.repeats;

  for (guint i = 0; i < repeats->len; i++)
    if (path_is_below (node->config.stems, path, ((const Repeat *)repeats->pdata[i])->job->path))
      return TRUE;
  return FALSE;
}

gboolean
verify_chooses (Node *node, const char *path)
{
  return node->config.verify > 0 && path_is_drawn (path, node->config.verify)
         && !is_part (node, path);
}

static void
begin (Node *node, Repeat *repeat)
{
  HeldJob *held = held_add (node, loan_copy (repeat->job));

  repeat->held = held->held;
  held_set_lender (node, held, LENDER_REPEAT, NULL, repeat->loan);
  g_ptr_array_add (node->verify.repeats, repeat);
  held_run (node, held);
}

static gboolean
is_under_way (Node *node, guint64 loan)
{
  const GPtrArray *repeats = node->verify.repeats;

  for (guint i = 0; i < repeats->len; i++)
    if (((const Repeat *)repeats->pdata[i])->loan == loan)
      return TRUE;
  return FALSE;
}

gboolean
verify_takes (Node *node, LoanEntry *entry, const Arrival *arrival)
{
  if (is_under_way (node, entry->loan))
    return TRUE; /* said again */
  if (entry->job == NULL || node->round.heard || node->leave.begun
      || roster_find (node, &arrival->from)->leaving || !verify_chooses (node, entry->path))
    return FALSE;
  Repeat *repeat = g_new0 (Repeat, 1);
  repeat->loan = entry->loan;
  repeat->job = loan_copy (entry->job);
  repeat->arrival = *arrival;
  g_bytes_ref (arrival->result.value);
  if (arrival->result.shares != NULL)
    g_ptr_array_ref (arrival->result.shares);
  begin (node, repeat);
  return TRUE;
}

static void
tell_difference (Node *node, const Repeat *repeat, GBytes *value)
{
  NodeEffect *effect = core_emit (node, NODE_EFFECT_DIFFERS);

  effect->job = loan_copy (repeat->job);
  effect->node = repeat->arrival.from;
  effect->parts = g_ptr_array_new_with_free_func ((GDestroyNotify)g_bytes_unref);
  g_ptr_array_add (effect->parts, g_bytes_ref (repeat->arrival.result.value));
  g_ptr_array_add (effect->parts, g_bytes_ref (value));
}

void
verify_on_done (Node *node, const HeldJob *held)
{
  Repeat *repeat = take_repeat (node, held->loan, held->held);
  LoanEntry *entry = loans_find (node, held->loan);

  if (!g_bytes_equal (repeat->arrival.result.value, held->value))
    tell_difference (node, repeat, held->value);
  else if (!stop_halts (node)) /* else its slot may have been scanned for the last time */
    {
      node->stats.verified++;
      loans_accept (node, entry, &repeat->arrival);
    }
  repeat_free (repeat);
}

void
verify_on_unrun (Node *node, guint64 held, gboolean robbed)
{
  Repeat *repeat = take_repeat (node, 0, held);

  if (repeat == NULL)
    return;
  if (robbed && !stop_halts (node))
    {
      begin (node, repeat);
      return;
    }
  if (!stop_halts (node))
    loans_accept (node, loans_find (node, repeat->loan), &repeat->arrival);
  repeat_free (repeat);
}

/* The job that runs for it is not wanted any more. */
static void
give_up (Node *node, Repeat *repeat)
{
  held_give_up (node, held_find (node, repeat->held));
  repeat_free (repeat);
}

void
verify_end (Node *node, const NodeId *from)
{
  GPtrArray *repeats = node->verify.repeats;

  for (guint i = repeats->len; i > 0; i--)
    {
      Repeat *repeat = repeats->pdata[i - 1];
      if (stop_halts (node) || (from != NULL && !node_id_equal (&repeat->arrival.from, from)))
        continue;
      g_ptr_array_steal_index_fast (repeats, i - 1);
      loans_accept (node, loans_find (node, repeat->loan), &repeat->arrival);
      give_up (node, repeat);
    }
}

void
verify_forget (Node *node, const LoanEntry *entry)
{
  Repeat *repeat = take_repeat (node, entry->loan, 0);

  if (repeat != NULL)
    give_up (node, repeat);
}

void
verify_check (Node *node)
{
  const GPtrArray *repeats = node->verify.repeats;

  for (guint i = 0; i < repeats->len; i++)
    {
      const Repeat *repeat = repeats->pdata[i];
      const HeldJob *held = held_find (node, repeat->held);
      const LoanEntry *entry = loans_find (node, repeat->loan);
      g_assert (held != NULL && held->lender == LENDER_REPEAT && held->loan == repeat->loan
                && !held->finished);
      g_assert (entry != NULL && loans_is_with (entry, &repeat->arrival.from));
    }
}
