/* SPDX-License-Identifier: BSD-3-Clause */
/* See verify.h.
 *
 * Tests: test-verify, sim. */
#include "../core.h"

/* A result that came for a slot, and the job that computes it again here. `arrival` names the slot
 * and the sender. The slot's entry in `loans` has the arguments; it lives as long. */
typedef struct
{
  guint64 held;
  Arrival arrival; /* its result is owned */
} Repeat;

static void
repeat_free (gpointer data)
{
  Repeat *repeat = data;

  g_bytes_unref (repeat->arrival.result.value);
  g_clear_pointer (&repeat->arrival.result.shares, g_ptr_array_unref);
  g_free (repeat);
}

void
verify_init (Node *node)
{
  core_pointers (node, &node->verify.repeats, repeat_free);
  core_pointers (node, &node->verify.seconds, NULL);
}

/* (transfer full): number `i`. */
static Repeat *
take (Node *node, guint i)
{
  return g_ptr_array_steal_index_fast (node->verify.repeats, i);
}

/* The index of the repeat for this slot; -1: none. */
static int
find (Node *node, guint64 loan)
{
  const GPtrArray *repeats = node->verify.repeats;
  guint i = repeats->len;

  while (i > 0 && ((const Repeat *)repeats->pdata[i - 1])->arrival.loan != loan)
    i--;
  return (int)i - 1;
}

static LoanEntry *
entry_of (Node *node, const Repeat *repeat)
{
  return loans_find (node, repeat->arrival.loan);
}

gboolean
verify_has (const Node *node, const HeldJob *held)
{
  return g_ptr_array_find (node->verify.seconds, held, NULL);
}

void
verify_second (Node *node, HeldJob *held, gboolean is_second)
{
  (void)g_ptr_array_remove_fast (node->verify.seconds, held);
  if (is_second)
    g_ptr_array_add (node->verify.seconds, held);
}

gboolean
verify_is_second (Node *node, const char *path)
{
  const GPtrArray *repeats = node->verify.repeats, *seconds = node->verify.seconds;

  for (guint i = 0; i < seconds->len; i++)
    if (path_is_below (node->config.stems, path, ((const HeldJob *)seconds->pdata[i])->job->path))
      return TRUE;

  for (guint i = 0; i < repeats->len; i++)
    if (path_is_below (node->config.stems, path, entry_of (node, repeats->pdata[i])->path))
      return TRUE;
  return FALSE;
}

gboolean
verify_chooses (Node *node, const char *path)
{
  return node->config.verify > 0 && path_is_drawn (path, node->config.verify)
         && !verify_is_second (node, path);
}

static void
begin (Node *node, Repeat *repeat)
{
  HeldJob *held = held_add (node, loan_copy (entry_of (node, repeat)->job));

  repeat->held = held->held;
  held_set_lender (node, held, LENDER_REPEAT, NULL, repeat->arrival.loan);
  g_ptr_array_add (node->verify.repeats, repeat);
  held_run (node, held);
}

/* TRUE: the result may be a row. The author of a row is known, unless a damaged file has lost it.
 * For an adopted row of another node only the risk is known, which is 0, as for an orphan that has
 * reported all its parts. */
static gboolean
may_be_row (const LoanEntry *entry, const Arrival *arrival)
{
  return !node_id_is_none (&arrival->author) || entry->kind == LOAN_ROW
         || (entry->kind == LOAN_ADOPTED && arrival->result.risk_us == 0);
}

/* The holder has drawn the parts of the job that it reported in rows (verify-own.h). So the whole
 * job is drawn only with the share of its remaining work. A row is drawn for all of its work. */
static gboolean
is_drawn (Node *node, const LoanEntry *entry, const Arrival *arrival)
{
  const Result *result = &arrival->result;
  double share = 1;

  if (!may_be_row (entry, arrival) && result->work_us > 0)
    share = (double)result->risk_us / (double)result->work_us;
  return path_is_drawn (entry->path, node->config.verify * share);
}

gboolean
verify_takes (Node *node, LoanEntry *entry, const Arrival *arrival)
{
  if (find (node, entry->loan) >= 0)
    return TRUE; /* a repeated message */
  if (entry->job == NULL || node->round.heard || node->leave.phase >= LEAVE_BEGUN
      || (loans_is_with (entry, &arrival->from) && roster_find (node, &arrival->from)->leaving)
      || !verify_chooses (node, entry->path) || !is_drawn (node, entry, arrival))
    return FALSE;
  Repeat *repeat = g_new0 (Repeat, 1);
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
  const LoanEntry *entry = entry_of (node, repeat);
  const Arrival *arrival = &repeat->arrival;

  effect->job = loan_copy (entry->job);
  effect->failed = !node_id_is_none (&arrival->author) || entry->kind == LOAN_ROW;
  effect->node = effect->failed ? arrival->author : arrival->from;
  effect->parts = g_ptr_array_new_with_free_func ((GDestroyNotify)g_bytes_unref);
  g_ptr_array_add (effect->parts, g_bytes_ref (repeat->arrival.result.value));
  g_ptr_array_add (effect->parts, g_bytes_ref (value));
}

void
verify_on_done (Node *node, const HeldJob *held)
{
  Repeat *repeat = take (node, (guint)find (node, held->loan));

  if (!g_bytes_equal (repeat->arrival.result.value, held->value))
    tell_difference (node, repeat, held->value);
  else if (!stop_halts (node)) /* otherwise its slot may have been scanned for the last time */
    {
      node->stats.verified++;
      loans_accept (node, entry_of (node, repeat), &repeat->arrival);
    }
  repeat_free (repeat);
}

void
verify_on_unrun (Node *node, guint64 loan, gboolean robbed)
{
  Repeat *repeat = take (node, (guint)find (node, loan));

  if (robbed && !stop_halts (node))
    {
      begin (node, repeat);
      return;
    }
  if (!stop_halts (node))
    loans_accept (node, entry_of (node, repeat), &repeat->arrival);
  repeat_free (repeat);
}

/* The second computation is not needed any more. */
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
      (void)take (node, i - 1);
      loans_accept (node, entry_of (node, repeat), &repeat->arrival);
      give_up (node, repeat);
    }
}

void
verify_forget (Node *node, const LoanEntry *entry)
{
  int i = find (node, entry->loan);

  if (i >= 0)
    give_up (node, take (node, (guint)i));
}

void
verify_check (Node *node)
{
  const GPtrArray *repeats = node->verify.repeats;

  for (guint i = 0; i < repeats->len; i++)
    {
      const Repeat *repeat = repeats->pdata[i];
      const HeldJob *held = held_find (node, repeat->held);
      const LoanEntry *entry = entry_of (node, repeat);
      g_assert (held != NULL && held->lender == LENDER_REPEAT && held->loan == repeat->arrival.loan
                && held->phase != HELD_FINISHED);
      g_assert (entry != NULL && entry->job != NULL
                && (entry->kind == LOAN_ROW || loans_is_with (entry, &repeat->arrival.from)));
    }
}
