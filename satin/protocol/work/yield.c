/* SPDX-License-Identifier: BSD-3-Clause */
/* See yield.h. Results at or below the job are offered only when the job is gone. Until then the
 * job's own finished slots cover them.
 * Tests: sim. */
#include "../core.h"

typedef struct
{
  guint64 held;
  guint64 scan; /* the job's rows are here when this scan is served; 0: the job was told to stop */
} YieldJob;

void
yield_init (Node *node)
{
  Yield *yield = &node->yield;

  core_array (node, &yield->jobs, sizeof (YieldJob));
  core_pointers (node, &yield->rows, (GDestroyNotify)row_free);
}

static gboolean
yields (Node *node, const HeldJob *held)
{
  for (guint i = 0; i < node->yield.jobs->len; i++)
    if (g_array_index (node->yield.jobs, YieldJob, i).held == held->held)
      return TRUE;
  return FALSE;
}

void
yield_ask (Node *node, const NodeId *holder, const MessageHold *hold)
{
  const HeldJob *held = hold->finished ? NULL : held_at (node, hold->path);

  if (stop_halts (node)) /* jobs here do not go on */
    return;
  for (; held != NULL; held = held->next)
    {
      if (held->lender == LENDER_NONE || held->lender == LENDER_VAIN
          || held->lender == LENDER_REPEAT || held->phase == HELD_FINISHED
          || !digest_equal (&held->job->digest, &hold->digest)
          || (held->lender == LENDER_NODE && node_id_equal (&held->node, holder)))
        continue;
      (void)member_send (
          node, holder,
          &(Message){ .kind = MESSAGE_RUNS, .path = hold->path, .digest = hold->digest });
      return;
    }
}

void
yield_on_runs (Node *node, const NodeId *from, const Message *m)
{
  const HeldJob *held = orphans_find (node, m->path, &m->digest);

  if (held == NULL || held->phase == HELD_FINISHED || yields (node, held) || stop_halts (node)
      || roster_find (node, from)->leaving)
    return;
  YieldJob job = { held->held, node->control->scan_whole (node) };
  g_array_append_val (node->yield.jobs, job);
}

/* TRUE: the row lies at or below the job. Only a kept state of the job has the job's own path. */
static gboolean
is_part (Node *node, const HeldJob *held, const char *path)
{
  return g_str_equal (path, held->job->path)
         || path_is_below (node->config.stems, path, held->job->path);
}

/* TRUE: the same for any job that yields. */
static gboolean
is_wanted (Node *node, const char *path)
{
  for (guint i = 0; i < node->yield.jobs->len; i++)
    {
      const HeldJob *held = held_find (node, g_array_index (node->yield.jobs, YieldJob, i).held);
      if (is_part (node, held, path))
        return TRUE;
    }
  return FALSE;
}

void
yield_on_rows (Node *node, GPtrArray *rows)
{
  for (guint i = 0; i < rows->len && node->yield.jobs->len > 0; i++)
    {
      const Row *row = rows->pdata[i];
      if (!is_wanted (node, row->path))
        continue;
      Row *own = row_copy (row);
      own->node = node->self;
      g_ptr_array_add (node->yield.rows, own);
    }
}

void
yield_on_result (Node *node, const LoanEntry *entry, const Result *result)
{
  if (node->yield.jobs->len == 0 || loans_is_root (entry->loan) || !is_wanted (node, entry->path))
    return;
  Row *row = row_new (entry->path, ARCHIVE_JOB, &entry->digest, 0, result->work_us, result->value);
  row->shares = result->shares == NULL ? NULL : g_ptr_array_ref (result->shares);
  row->node = node->self;
  g_ptr_array_add (node->yield.rows, row);
}

/* Takes out all rows at or below the job. (transfer full) */
static GPtrArray *
take_parts (Node *node, const HeldJob *held)
{
  GPtrArray *rows = node->yield.rows,
            *parts = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);

  for (guint i = rows->len; i > 0; i--)
    if (is_part (node, held, ((const Row *)rows->pdata[i - 1])->path))
      g_ptr_array_add (parts, g_ptr_array_steal_index_fast (rows, i - 1));
  return parts;
}

/* Ends the yield and returns the rows found so far. (transfer full) */
static GPtrArray *
end (Node *node, guint place)
{
  const HeldJob *held = held_find (node, g_array_index (node->yield.jobs, YieldJob, place).held);

  g_array_remove_index (node->yield.jobs, place);
  return take_parts (node, held);
}

void
yield_on_served (Node *node, guint64 scan)
{
  for (guint i = node->yield.jobs->len; i > 0; i--)
    {
      YieldJob *job = &g_array_index (node->yield.jobs, YieldJob, i - 1);
      const HeldJob *held = held_find (node, job->held);
      if (job->scan == 0 || job->scan > scan)
        continue;
      job->scan = 0;
      if (held->lender == LENDER_NONE)
        core_emit (node, NODE_EFFECT_UNRUN)->held = held->held;
      else /* it is needed here, or by no node */
        g_ptr_array_unref (end (node, i - 1));
    }
}

void
yield_ended (Node *node, const HeldJob *held)
{
  for (guint i = 0; i < node->yield.jobs->len; i++)
    if (g_array_index (node->yield.jobs, YieldJob, i).held == held->held)
      {
        g_autoptr (GPtrArray) parts = end (node, i);
        if (held->lender != LENDER_VAIN && held->phase != HELD_FINISHED)
          core_log (node, "the job at %s runs elsewhere: it stops here, and what it has is offered",
                    held->job->path[0] == '\0' ? "/" : held->job->path);
        for (guint k = 0;
             k < parts->len && held->lender != LENDER_VAIN && held->phase != HELD_FINISHED; k++)
          orphans_archive (node, parts->pdata[k]);
        return;
      }
}

void
yield_collect (Node *node, GPtrArray *rows)
{
  for (guint i = 0; i < node->yield.jobs->len; i++)
    {
      const HeldJob *held = held_find (node, g_array_index (node->yield.jobs, YieldJob, i).held);
      for (guint k = 0; k < node->yield.rows->len && held->lender != LENDER_VAIN; k++)
        {
          const Row *row = node->yield.rows->pdata[k];
          if (is_part (node, held, row->path))
            g_ptr_array_add (rows, row_copy (row));
        }
    }
}

gboolean
yield_has (Node *node, const char *path)
{
  for (guint i = 0; i < node->yield.rows->len; i++)
    {
      const Row *row = node->yield.rows->pdata[i];
      if (row->children == 0 && g_str_equal (row->path, path))
        return TRUE;
    }
  return FALSE;
}

gboolean
yield_keeps (Node *node, const LoanEntry *entry)
{
  return node->yield.jobs->len > 0 && is_wanted (node, entry->path);
}

void
yield_check (Node *node)
{
  for (guint i = 0; i < node->yield.jobs->len; i++)
    {
      const HeldJob *held = held_find (node, g_array_index (node->yield.jobs, YieldJob, i).held);
      g_assert (held != NULL && held->phase != HELD_FINISHED);
    }
  for (guint i = 0; i < node->yield.rows->len; i++)
    g_assert (is_wanted (node, ((const Row *)node->yield.rows->pdata[i])->path));
}
