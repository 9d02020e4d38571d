/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulated checkpoint. Pure. */
#include "config.h"

#include "store.h"

#include "rng.h"

#include <string.h>

void
store_init (Store *store, const Tree *tree)
{
  *store = (Store){ .tree = tree };
}

void
store_copy (Store *to, const Store *from)
{
  guint32 n = from->tree->n;

  to->tree = from->tree;
  to->generation = from->generation;
  to->answered = from->answered;
  to->n = from->n;
  to->n_members = from->n_members;
  to->n_events = from->n_events;
  memcpy (to->rows, from->rows, n * sizeof from->rows[0]);
  memcpy (to->kept, from->kept, n * sizeof from->kept[0]);
  memcpy (to->kept_us, from->kept_us, n * sizeof from->kept_us[0]);
  memcpy (to->gifts, from->gifts, n * sizeof from->gifts[0]);
  memcpy (to->members, from->members, from->n_members * sizeof from->members[0]);
  memcpy (to->events, from->events, from->n_events * sizeof from->events[0]);
}

gboolean
store_covers (const Store *store, guint32 job)
{
  for (;; job = store->tree->jobs[job].parent)
    {
      if (store->rows[job].there)
        return TRUE;
      if (tree_is_root (store->tree, job))
        return FALSE;
      if (store->kept[store->tree->jobs[job].parent] > store->tree->jobs[job].number)
        return TRUE;
    }
}

void
store_cover_all (const Store *store, gboolean *covered)
{
  for (guint32 i = 0; i < store->tree->n; i++)
    {
      const TreeJob *job = &store->tree->jobs[i];
      covered[i] = store->rows[i].there
                   || (!tree_is_root (store->tree, i)
                       && (covered[job->parent] || store->kept[job->parent] > job->number));
    }
}

/* Removes all rows of `top` and below. Returns their work. */
static guint64
drop_all (Store *store, guint32 top)
{
  guint64 work_us = 0;

  for (guint32 i = top; i < top + store->tree->jobs[top].size; i++)
    {
      work_us += store->kept_us[i];
      store->kept[i] = 0;
      store->kept_us[i] = 0;
      if (!store->rows[i].there)
        continue;
      work_us += store->rows[i].work_us;
      store->rows[i].there = FALSE;
      store->n--;
    }
  return work_us;
}

/* Adds a row. A row below a saved one is dropped; a new row removes the rows below it, and their
 * work becomes its own. A row that is saved again has a new owner, with whom its work can be lost
 * (count_work); the real scribe keeps the node that computed the row. */
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
  work_us = MAX (work_us, drop_all (store, job));
  *row = (StoreRow){ .there = TRUE, .node = *node, .work_us = work_us };
  store->n++;
}

static void
add_kept (Store *store, guint32 job, guint32 children, guint64 work_us)
{
  guint64 below_us = 0;

  if (store_covers (store, job) || store->kept[job] >= children)
    return;
  store->kept[job] = children;
  for (guint32 k = 0; k < children; k++)
    below_us += drop_all (store, tree_child (store->tree, job, k));
  store->kept_us[job] = MAX (MAX (work_us, below_us), store->kept_us[job]);
}

/* TRUE: a saved row speaks of the gift of this job. */
static gboolean
is_spoken_of (const Store *store, guint32 job)
{
  const TreeJob *self = &store->tree->jobs[job];

  if (store->rows[job].there)
    return TRUE;
#ifdef SATIN_PLANT_SHARED_SWEPT
  return FALSE;
#endif
  return !tree_is_root (store->tree, job) && store->kept[self->parent] > self->number
         && tree_keeps_gift (store->tree, self->parent, self->number);
}

/* Removes the gifts that no row speaks of any more. */
static void
sweep (Store *store)
{
  for (guint32 i = 0; store->tree->speaks && i < store->tree->n; i++)
    store->gifts[i] = store->gifts[i] && is_spoken_of (store, i);
}

/* FALSE: a gift that the row speaks of has not come with it. */
static gboolean
save_gift (Store *store, guint32 job, const Row *row)
{
  GBytes *blob = store->tree->blobs[TREE_GIFT (job)];

  for (guint i = 0; blob != NULL && row->shares != NULL && i < row->shares->len; i++)
    {
      g_autoptr (GBytes) bytes = shared_bytes (row->shares->pdata[i]);
      if (bytes != NULL && g_bytes_equal (bytes, blob))
        {
          store->gifts[job] = TRUE;
          return TRUE;
        }
    }
  return blob == NULL;
}

static const char *
save_kept (Store *store, guint32 job, const Row *row)
{
  Digest digest = tree_kept_digest (store->tree, job);
  gboolean is_phase = tree_phase_at (store->tree, job, row->children) >= 0;
  g_autoptr (GBytes) value = is_phase ? tree_kept (store->tree, job, row->children) : NULL;

  if (!store->tree->jobs[job].keeps || !is_phase)
    return "a state that is not kept";
  if (!digest_equal (&row->digest, &digest))
    return "a state with another digest";
  if (!g_bytes_equal (row->value, value) || g_strcmp0 (row->type, TREE_KEPT_TYPE) != 0)
    return "a wrong state";
  for (guint32 k = 0; k < row->children; k++)
    if (tree_keeps_gift (store->tree, job, k)
        && !save_gift (store, tree_child (store->tree, job, k), row))
      return "a state without what it speaks of";
  add_kept (store, job, row->children, row->work_us);
  sweep (store);
  return NULL;
}

const char *
store_save (Store *store, const Row *row)
{
  int job = tree_find (store->tree, row->path);

  if (job < 0)
    return "a row of no job";
  if (row->children > 0)
    return save_kept (store, (guint32)job, row);
  if (!digest_equal (&row->digest, &store->tree->jobs[job].digest))
    return "a row with another digest";
  if (!g_bytes_equal (row->value, store->tree->jobs[job].value))
    return "a row with a wrong value";
  if (node_id_is_none (&row->node))
    return "a row of nobody";
  if (!save_gift (store, (guint32)job, row))
    return "I17: a row without what it speaks of";
  add (store, (guint32)job, &row->node, row->work_us);
  sweep (store);
  return NULL;
}

const StoreMember *
store_member (const Store *store, const NodeId *id)
{
  for (guint i = 0; i < store->n_members; i++)
    if (node_id_equal (&store->members[i].id, id))
      return &store->members[i];
  return NULL;
}

static void
note_member (Store *store, const NodeId *id, gboolean joined, gboolean left)
{
  StoreMember *member = (StoreMember *)store_member (store, id);

  if (member == NULL)
    {
      g_assert (store->n_members < STORE_MEMBERS_MAX);
      member = &store->members[store->n_members++];
      *member = (StoreMember){ .id = *id };
    }
  member->joined = member->joined || joined;
  member->left = member->left || left;
}

guint64
store_event_name (const char *kind, const NodeId *id, const char *path)
{
  guint64 name = rng_mix (g_str_hash (kind)) ^ rng_mix ((guint64)id->term << 32 | id->number);

  for (const char *p = path; *p != '\0'; p++)
    name = rng_mix (name ^ (guint64)*p);
  return name;
}

static gboolean
has_name (const Store *store, guint64 name)
{
  for (guint i = 0; i < store->n_events; i++)
    if (store->events[i] == name)
      return TRUE;
  return FALSE;
}

static void
note_name (Store *store, guint64 name)
{
  if (has_name (store, name))
    return;
  g_assert (store->n_events < STORE_EVENTS_MAX);
  store->events[store->n_events++] = name;
}

gboolean
store_has_event (const Store *store, const char *kind, const NodeId *id, guint64 name)
{
  const StoreMember *member = store_member (store, id);

  if (g_str_equal (kind, "joined"))
    return member != NULL && member->joined;
  return g_str_equal (kind, "left") ? member != NULL && member->left : has_name (store, name);
}

void
store_note (Store *store, const NodeEffect *event)
{
  if (g_str_equal (event->text, "joined") || g_str_equal (event->text, "left"))
    note_member (store, &event->node, TRUE, g_str_equal (event->text, "left"));
  else
    note_name (store, store_event_name (event->text, &event->node, event->path));
}

void
store_unite (Store *store, const Store *other)
{
  for (guint i = 0; i < other->n_members; i++)
    note_member (store, &other->members[i].id, other->members[i].joined, other->members[i].left);
  for (guint i = 0; i < other->n_events; i++)
    note_name (store, other->events[i]);
  store->answered = store->answered || other->answered;
  for (guint32 i = 0; i < store->tree->n; i++)
    store->gifts[i] = store->gifts[i] || other->gifts[i];
  for (guint32 i = 0; i < store->tree->n; i++)
    if (other->rows[i].there)
      add (store, i, &other->rows[i].node, other->rows[i].work_us);
  for (guint32 i = 0; i < store->tree->n; i++)
    if (other->kept[i] > 0)
      add_kept (store, i, other->kept[i], other->kept_us[i]);
  sweep (store);
}

/* FALSE: the gift is missing. */
static gboolean
load_gift (const Store *store, guint32 job, SharedStore *shared, Row *row)
{
  if (!store->tree->jobs[job].gives)
    return TRUE;
  if (!store->gifts[job])
    return FALSE;
  if (row->shares == NULL)
    row->shares = shared_list_new ();
  g_ptr_array_add (row->shares, shared_add (shared, store->tree->blobs[TREE_GIFT (job)]));
  return TRUE;
}

static gboolean
load_kept (const Store *store, guint32 job, SharedStore *shared, GPtrArray *rows)
{
  gboolean all = TRUE;
  Digest digest = tree_kept_digest (store->tree, job);
  g_autoptr (GBytes) value = tree_kept (store->tree, job, store->kept[job]);

  Row *row = row_new_kept (store->tree->jobs[job].path, store->kept[job], 0, &digest, 0,
                           TREE_KEPT_TYPE, value);
  for (guint32 k = 0; k < store->kept[job]; k++)
    if (tree_keeps_gift (store->tree, job, k))
      all = load_gift (store, tree_child (store->tree, job, k), shared, row) && all;
  g_ptr_array_add (rows, row);
  return all;
}

GPtrArray *
store_load (const Store *store, guint32 top, SharedStore *shared)
{
  gboolean all = TRUE;
  GPtrArray *rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);

  for (guint32 i = 0; i < store->tree->n; i++)
    {
      const TreeJob *job = &store->tree->jobs[i];
      if (top != STORE_ALL && !tree_covers (store->tree, top, i))
        continue;
      if (store->kept[i] > 0)
        all = load_kept (store, i, shared, rows) && all;
      if (!store->rows[i].there)
        continue;
      Row *row
          = row_new (job->path, 0, &job->digest, job->weight, store->rows[i].work_us, job->value);
      row->node = store->rows[i].node;
      all = load_gift (store, i, shared, row) && all;
      g_ptr_array_add (rows, row);
    }
  if (!all)
    g_clear_pointer (&rows, g_ptr_array_unref);
  return rows;
}
