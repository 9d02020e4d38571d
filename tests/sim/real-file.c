/* SPDX-License-Identifier: BSD-3-Clause */
/* See real-file.h. Reads base and delta as one, as `satin inspect` does. */
#include "config.h"

#include "real-file.h"

#include "coordinator/restore.h"
#include "storage/results.h"
#include "storage/tables.h"

#include <string.h>

typedef struct
{
  Store *store;
  char *wrong; /* (nullable) */
} Reading;

static void
find_fault (Reading *reading, const char *what, const char *path)
{
  if (reading->wrong == NULL)
    reading->wrong = g_strdup_printf ("%s: '%s'", what, path);
}

static gboolean
has_digest (const guint8 *found, gsize size, const Digest *wanted)
{
  return size == sizeof wanted->bytes && memcmp (found, wanted->bytes, size) == 0;
}

static gboolean
add_row (const Result *row, gpointer data, GError **error)
{
  Reading *reading = data;
  Store *store = reading->store;
  int at = tree_find (store->tree, row->path);
  const TreeJob *job = &store->tree->jobs[MAX (at, 0)];
  StoreRow *place = &store->rows[MAX (at, 0)];

  (void)error;
  if (at < 0)
    find_fault (reading, "a row of no job", row->path);
  else if (!has_digest (row->digest, row->digest_size, &job->digest))
    find_fault (reading, "a row with another digest", row->path);
  else if (!g_bytes_equal (row->value, job->value))
    find_fault (reading, "a row with a wrong value", row->path);
  else if (place->there)
    find_fault (reading, "a row twice", row->path);
  if (at < 0)
    return TRUE;
  place->there = TRUE;
  place->work_us = (guint64)(row->work_s * G_USEC_PER_SEC + 0.5);
  if (!node_id_read (row->node, &place->node))
    find_fault (reading, "a row of nobody", row->path);
  store->n++;
  return TRUE;
}

static gboolean
add_keep (const Keep *keep, gpointer data, GError **error)
{
  Reading *reading = data;
  Store *store = reading->store;
  int at = tree_find (store->tree, keep->path);

  (void)error;
  if (at < 0 || tree_phase_at (store->tree, (guint32)at, keep->children) < 0
      || !store->tree->jobs[at].keeps)
    {
      find_fault (reading, "a state that is not kept", keep->path);
      return TRUE;
    }
  g_autoptr (GBytes) right = tree_kept (store->tree, (guint32)at, keep->children);
  if (!has_digest (keep->digest, keep->digest_size, &store->tree->jobs[at].kept_digest))
    find_fault (reading, "a state with another digest", keep->path);
  else if (!g_bytes_equal (keep->value, right) || strcmp (keep->type, TREE_KEPT_TYPE) != 0)
    find_fault (reading, "a wrong state", keep->path);
  store->kept[at] = keep->children;
  return TRUE;
}

static gboolean
add_node (const TablesNode *node, gpointer data, GError **error)
{
  Reading *reading = data;
  Store *store = reading->store;
  StoreMember member = { .joined = node->joined > 0, .left = node->left > 0 };

  (void)error;
  if (!node_id_read (node->id, &member.id))
    find_fault (reading, "a node without a name", node->id);
  else if (store->n_members < STORE_MEMBERS_MAX)
    store->members[store->n_members++] = member;
  return TRUE;
}

/* Finds rows that another row covers: reading them is useless. */
static void
look_for_covered (Reading *reading)
{
  const Store *store = reading->store;
  gboolean covered[TREE_JOBS_MAX];

  store_cover_all (store, covered);
  for (guint32 i = 0; i < store->tree->n; i++)
    {
      const TreeJob *job = &store->tree->jobs[i];
      gboolean above = !tree_is_root (store->tree, i)
                       && (covered[job->parent] || store->kept[job->parent] > job->number);
      if (above && (store->rows[i].there || store->kept[i] > 0))
        find_fault (reading, "a row below another", job->path);
    }
}

static void
take_answer (Reading *reading, const Restore *restore)
{
  Store *store = reading->store;

  store->generation = restore->generation;
  store->answered = restore->finished;
  if (restore->finished && !g_bytes_equal (restore->answer, tree_answer (store->tree)))
    find_fault (reading, "a wrong answer", "");
  if (restore->rows_bad > 0 || restore->damage != NULL)
    find_fault (reading, "damage",
                restore->damage != NULL ? restore->damage : "rows that do not prove themselves");
}

char *
real_file_read (const char *target, const Tree *tree, Store *store)
{
  Reading reading = { .store = store };
  Restore restore = { 0 };
  GError *error = NULL;
  guint64 bad = 0;

  store_init (store, tree);
  if (!restore_look (target, &restore, &error))
    find_fault (&reading, "it cannot be read", error->message);
  else if (restore.exists)
    {
      ResultsQuery all = { .any_job = TRUE };
      g_autoptr (Sql) file = restore_open (target, &error);
      take_answer (&reading, &restore);
      if (file == NULL || !results_each (file, &all, add_row, &reading, &bad, &error)
          || !keeps_each (file, add_keep, &reading, &bad, &error)
          || !tables_each_node (file, add_node, &reading, &error))
        find_fault (&reading, "it cannot be read", error != NULL ? error->message : "");
      if (bad > 0)
        find_fault (&reading, "rows that do not prove themselves", target);
      look_for_covered (&reading);
    }
  restore_clear (&restore);
  g_clear_error (&error);
  return reading.wrong;
}
