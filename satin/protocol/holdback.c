/* SPDX-License-Identifier: BSD-3-Clause */
/* See holdback.h. */
#include "core.h"

typedef struct
{
  guint64 held, mark, since_us;
} HoldbackResult;

void
holdback_init (Node *node)
{
  g_queue_init (&node->holdback.results);
}

void
holdback_done (Node *node)
{
  g_queue_clear_full (&node->holdback.results, g_free);
}

/* The lender's loan of a root is no row: main has it in no slot. */
static gboolean
is_wanted (Node *node, const HeldJob *held)
{
  return (node->config.plan.waits & PLAN_WAITS_RESULT) && held->loan != LOANS_ROOT
         && !node->leave.begun && !stop_halts (node)
         && !node_id_equal (&held->node, &node->buddy.id);
}

gboolean
holdback_takes (Node *node, HeldJob *held)
{
  held->word = HELD_NO_WORD;
  if (!is_wanted (node, held))
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
  HoldbackResult *result = g_new (HoldbackResult, 1);
  *result = (HoldbackResult){ held->held, held->mark, node->now_us };
  g_queue_push_tail (&node->holdback.results, result);
  return TRUE;
}

/* The oldest goes to its lender, if that one still waits. */
static void
send_first (Node *node, HeldWord word)
{
  g_autofree HoldbackResult *result = g_queue_pop_head (&node->holdback.results);
  HeldJob *held = held_find (node, result->held);

  if (held == NULL || held->word != HELD_WAITS || held->mark != result->mark)
    return; /* nobody wanted it, or it was held back once more */
  held->word = word;
  node->stats.waits++;
  node->stats.waited_us += node->now_us - result->since_us;
  if (held->lender == LENDER_NODE)
    held_send_result (node, held);
}

void
holdback_confirmed (Node *node, guint64 mark)
{
  const HoldbackResult *first;

  while ((first = g_queue_peek_head (&node->holdback.results)) != NULL && first->mark <= mark)
    send_first (node, HELD_KEPT);
}

void
holdback_settle (Node *node)
{
  gboolean nobody = node->buddy.state != BUDDY_FULL || node->leave.begun || stop_halts (node);

  while (nobody && node->holdback.results.length > 0)
    send_first (node, HELD_NO_WORD);
}

guint64
holdback_due (Node *node)
{
  const HoldbackResult *first = g_queue_peek_head (&node->holdback.results);

  return first == NULL ? CORE_NEVER : first->since_us + HOLDBACK_MAX_US;
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
  const char *path; /* nullable */
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
