/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulated checkpoint. Pure. */
#include "config.h"

#include "store.h"

void
store_init (Store *store, const Tree *tree)
{
  *store = (Store){ .tree = tree };
}

gboolean
store_covers (const Store *store, guint32 job)
{
  for (;; job = store->tree->jobs[job].parent)
    {
      if (store->rows[job].there)
        return TRUE;
      if (job == 0)
        return FALSE;
    }
}

/* A row below a saved one is dropped (the real scribe keeps who computed a row, and looks at the
 * rows of all who left instead); rows below a new one go, and their work is the new one's. What is
 * saved again has a new owner: who saved it last is who needs it. */
static void
add (Store *store, guint32 job, const NodeId *node, guint64 work_us)
{
  StoreRow *row = &store->rows[job];

  if (row->there)
    {
      row->node = *node;
      return;
    }
  if (store_covers (store, job))
    return;
  guint64 below_us = 0;
  for (guint32 i = job + 1; i < job + store->tree->jobs[job].size; i++)
    if (store->rows[i].there)
      {
        below_us += store->rows[i].work_us;
        store->rows[i].there = FALSE;
        store->n--;
      }
  *row = (StoreRow){ .there = TRUE, .node = *node, .work_us = MAX (work_us, below_us) };
  store->n++;
}

const char *
store_save (Store *store, const Row *row)
{
  int job = tree_find (store->tree, row->path);

  if (job < 0)
    return "a row of no job";
  if (!digest_equal (&row->digest, &store->tree->jobs[job].digest))
    return "a row with another digest";
  if (!g_bytes_equal (row->value, store->tree->jobs[job].value))
    return "a row with a wrong value";
  if (node_id_is_none (&row->node))
    return "a row of nobody";
  add (store, (guint32)job, &row->node, row->work_us);
  return NULL;
}

void
store_unite (Store *store, const Store *other)
{
  for (guint32 i = 0; i < store->tree->n; i++)
    if (other->rows[i].there)
      add (store, i, &other->rows[i].node, other->rows[i].work_us);
}

GPtrArray *
store_load (const Store *store, const NodeId *node)
{
  GPtrArray *rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);

  for (guint32 i = 0; i < store->tree->n; i++)
    {
      const TreeJob *job = &store->tree->jobs[i];
      if (!store->rows[i].there || (node != NULL && !node_id_equal (node, &store->rows[i].node)))
        continue;
      Row *row
          = row_new (job->path, 0, &job->digest, job->weight, store->rows[i].work_us, job->value);
      row->node = store->rows[i].node;
      g_ptr_array_add (rows, row);
    }
  return rows;
}
