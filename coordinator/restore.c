/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads checkpoints, through the guard only. Must not know threads, queues or work files. */
#include "coordinator/restore.h"

#include "coordinator/readable.h"
#include "coordinator/takeover.h"

#include "storage/aside.h"
#include "storage/guard.h"
#include "storage/tables.h"

#include <string.h>

static void
restore_constant_free (gpointer data)
{
  RestoreConstant *constant = data;
  g_free (constant->name);
  g_free (constant->type);
  g_bytes_unref (constant->value);
  g_free (constant);
}

void
restore_clear (Restore *restore)
{
  identity_clear (&restore->identity);
  g_clear_pointer (&restore->answer, g_bytes_unref);
  g_strfreev (restore->addresses);
  g_free (restore->inputs);
  g_free (restore->damage);
  g_clear_pointer (&restore->constants, g_ptr_array_unref);
  g_clear_pointer (&restore->bests, g_ptr_array_unref);
  memset (restore, 0, sizeof *restore);
}

static gboolean
add_value (const TablesValue *value, gpointer data, GError **error)
{
  RestoreConstant *constant = g_new0 (RestoreConstant, 1);
  (void)error;
  constant->name = g_strdup (value->name);
  constant->type = g_strdup (value->type);
  constant->value = g_bytes_ref (value->value);
  g_ptr_array_add (data, constant);
  return TRUE;
}

static gboolean
add_address (const TablesNode *node, gpointer data, GError **error)
{
  (void)error;
  if (node->left == 0 && node->address != NULL && node->address[0] != '\0')
    g_ptr_array_add (data, g_strdup (node->address));
  return TRUE;
}

static gboolean
count_row (const Result *row, gpointer data, GError **error)
{
  Restore *restore = data;
  (void)error;
  if (takeover_row_is_sound (row))
    {
      restore->rows++;
      restore->done += row->weight;
    }
  else
    restore->rows_bad++;
  return TRUE;
}

static void
read_answer (Sql *file, Restore *restore)
{
  g_autofree char *code = tables_get_string (file, "exit", NULL);
  g_autofree char *generation = tables_get_string (file, "generation", NULL);
  restore->answer = tables_get (file, "answer", NULL);
  restore->finished = restore->answer != NULL && code != NULL;
  restore->exit_code = restore->finished ? (int)g_ascii_strtoll (code, NULL, 10) : 0;
  restore->generation = generation != NULL ? g_ascii_strtoull (generation, NULL, 10) : 0;
}

static gboolean
read_tables (Sql *file, Restore *restore, GError **error)
{
  g_autoptr (GPtrArray) addresses = g_ptr_array_new_with_free_func (g_free);
  restore->constants = g_ptr_array_new_with_free_func (restore_constant_free);
  restore->bests = g_ptr_array_new_with_free_func (restore_constant_free);
  if (!tables_each_constant (file, add_value, restore->constants, error)
      || !tables_each_best (file, add_value, restore->bests, error)
      || !tables_each_node (file, add_address, addresses, error))
    return FALSE;
  g_ptr_array_add (addresses, NULL);
  restore->addresses = (char **)g_ptr_array_steal (addresses, NULL);
  return TRUE;
}

static gboolean
count_rows (Sql *file, Restore *restore, GError **error)
{
  ResultsQuery all = { 0 };
  if (!results_each (file, &all, count_row, restore, &restore->rows_bad, error))
    return FALSE;
  restore->done = CLAMP (restore->done, 0.0, 1.0);
  return TRUE;
}

/* NULL without an error: nothing there. */
static Sql *
open_file (const char *target, const Identity *identity, GError **error)
{
  char hex[DIGEST_HEX_LENGTH + 1];
  GError *reason = NULL;
  if (identity != NULL)
    digest_to_hex (&identity->identity, hex);
  Sql *file = guard_open (target, identity != NULL ? hex : NULL, &reason);
  if (reason != NULL)
    identity_take_error (error, reason);
  return file;
}

static gboolean
read_file (Sql *file, const char *target, gboolean counts, Restore *restore, GError **error)
{
  GError *reason = NULL;
  Restore found = { 0 };
  memset (restore, 0, sizeof *restore);
  if (!identity_load (file, target, &found.identity, error))
    return FALSE;
  read_answer (file, &found);
  found.inputs = tables_get_string (file, "inputs", NULL);
  if (!read_tables (file, &found, &reason) || (counts && !count_rows (file, &found, &reason)))
    {
      g_prefix_error (&reason, "checkpoint '%s': ", target);
      identity_take_error (error, reason);
      restore_clear (&found);
      return FALSE;
    }
  found.exists = TRUE;
  found.damage = takeover_damage (file, counts ? found.rows : file->n_kept, found.rows_bad);
  *restore = found;
  return TRUE;
}

gboolean
restore_read (Sql *file, const char *target, Restore *restore, GError **error)
{
  return read_file (file, target, TRUE, restore, error);
}

static gboolean
look (const char *target, const Identity *identity, gboolean counts, Restore *restore,
      GError **error)
{
  g_assert (target != NULL && restore != NULL);

  GError *reason = NULL;
  memset (restore, 0, sizeof *restore);
  g_autoptr (Sql) file = open_file (target, identity, &reason);
  if (file != NULL)
    return read_file (file, target, counts, restore, error);
  if (reason != NULL)
    g_propagate_error (error, reason);
  return reason == NULL;
}

gboolean
restore_look (const char *target, Restore *restore, GError **error)
{
  return look (target, NULL, TRUE, restore, error);
}

gboolean
restore_look_for (const char *target, const Identity *identity, Restore *restore, GError **error)
{
  return look (target, identity, FALSE, restore, error);
}

char *
restore_set_aside (const char *target, GError **error)
{
  GError *reason = NULL;
  char *name = aside_move (target, "old", &reason);
  if (name == NULL)
    identity_take_error (error, reason);
  return name;
}

gboolean
restore_matches (const Restore *restore, const Identity *identity, const char *target,
                 GError **error)
{
  g_assert (restore->exists);

  return identity_matches (&restore->identity, identity, target, error);
}

gboolean
restore_input_is_sound (const Restore *restore, const char *path, GBytes *bytes, const char *target,
                        GError **error)
{
  if (restore->inputs == NULL && restore->damage == NULL)
    return TRUE;
  gsize size;
  const void *data = g_bytes_get_data (bytes, &size);
  Digest digest = digest_of_data (data, size);
  char hex[DIGEST_HEX_LENGTH + 1];
  digest_to_hex (&digest, hex);
  g_auto (GStrv) lines = g_strsplit (restore->inputs != NULL ? restore->inputs : "", "\n", -1);
  gboolean is_sound = restore->inputs != NULL;
  for (guint i = 0; lines[i] != NULL; i++)
    {
      const char *blank = strchr (lines[i], ' ');
      if (blank != NULL && strcmp (blank + 1, path) == 0)
        is_sound = strncmp (lines[i], hex, DIGEST_HEX_LENGTH) == 0;
    }
  if (!is_sound)
    g_set_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_UNUSABLE,
                 "checkpoint '%s' is damaged and has lost the input '%s', and nothing proves that "
                 "the file is still the same; name another checkpoint",
                 target, path);
  return is_sound;
}

Sql *
restore_open (const char *target, GError **error)
{
  GError *reason = NULL;
  Sql *file = open_file (target, NULL, &reason);
  if (reason != NULL)
    g_propagate_error (error, reason);
  else if (file == NULL)
    g_set_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_STORE,
                 "there is no checkpoint at '%s'", target);
  return file;
}

static void
restore_row_free (gpointer data)
{
  RestoreRow *row = data;
  g_free (row->path);
  g_free (row->node);
  g_free (row->job);
  g_free (row->type);
  g_free (row->value);
  g_free (row);
}

static gboolean
add_row (const Result *result, gpointer data, GError **error)
{
  RestoreRow *row = g_new0 (RestoreRow, 1);
  (void)error;
  row->path = g_strdup (result->path);
  row->node = g_strdup (result->node);
  row->job = g_strdup (result->job);
  row->type = g_strdup (result->type);
  row->value = readable_short (result->type, result->value);
  row->size = g_bytes_get_size (result->value);
  row->work_s = result->work_s;
  row->weight = result->weight;
  row->saved = result->saved;
  g_ptr_array_add (data, row);
  return TRUE;
}

GPtrArray *
restore_rows (Sql *file, const RestoreQuery *query, GError **error)
{
  ResultsQuery rows = { .node = query->node, .largest = query->largest, .limit = query->limit };
  GError *reason = NULL;
  g_autoptr (GPtrArray) found = g_ptr_array_new_with_free_func (restore_row_free);
  if (results_each (file, &rows, add_row, found, NULL, &reason))
    return g_steal_pointer (&found);
  identity_take_error (error, reason);
  return NULL;
}

static void
restore_node_free (gpointer data)
{
  RestoreNode *node = data;
  g_free (node->id);
  g_free (node->name);
  g_free (node->site);
  g_free (node->address);
  g_free (node->cause);
  g_free (node);
}

static RestoreNode *
find_node (GPtrArray *nodes, const char *id)
{
  for (guint i = 0; i < nodes->len; i++)
    {
      RestoreNode *node = g_ptr_array_index (nodes, i);
      if (strcmp (node->id, id) == 0)
        return node;
    }
  RestoreNode *node = g_new0 (RestoreNode, 1);
  node->id = g_strdup (id);
  g_ptr_array_add (nodes, node);
  return node;
}

static gboolean
add_node (const TablesNode *listed, gpointer data, GError **error)
{
  RestoreNode *node = find_node (data, listed->id);
  (void)error;
  node->name = g_strdup (listed->name);
  node->site = g_strdup (listed->site);
  node->address = g_strdup (listed->address);
  node->cause = g_strdup (listed->cause);
  node->joined = listed->joined;
  node->left = listed->left;
  return TRUE;
}

static gboolean
add_share (const Result *row, gpointer data, GError **error)
{
  RestoreNode *node = find_node (data, row->node);
  (void)error;
  node->rows++;
  node->work_s += row->work_s;
  node->weight += row->weight;
  return TRUE;
}

GPtrArray *
restore_nodes (Sql *file, GError **error)
{
  ResultsQuery all = { 0 };
  GError *reason = NULL;
  g_autoptr (GPtrArray) nodes = g_ptr_array_new_with_free_func (restore_node_free);
  if (tables_each_node (file, add_node, nodes, &reason)
      && results_each (file, &all, add_share, nodes, NULL, &reason))
    return g_steal_pointer (&nodes);
  identity_take_error (error, reason);
  return NULL;
}
