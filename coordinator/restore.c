/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads checkpoints, only through the guard. Knows nothing of threads, queues and work files. */
#include "coordinator/restore.h"

#include "coordinator/pair.h"
#include "coordinator/proof.h"
#include "coordinator/readable.h"
#include "coordinator/takeover.h"

#include "host/temporary.h"

#include "storage/aside.h"
#include "storage/publish.h"
#include "storage/tables.h"

#include "storage/places/place.h"

#include "storage/recover/guard.h"

#include <errno.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#define LOOK_US (8 * G_USEC_PER_SEC)

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
  g_free (restore->const_list);
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
  ResultsQuery all = { .any_job = TRUE };
  if (!results_each (file, &all, count_row, restore, &restore->rows_bad, error))
    return FALSE;
  restore->done = CLAMP (restore->done, 0.0, 1.0);
  return TRUE;
}

/* The file to open. A file at a URI is opened in a copy. */
typedef struct
{
  const char *path;       /* of the file to open */
  char *copy, *temporary; /* (nullable) for a URI; temporary: a folder that is removed */
  gboolean exists;
} View;

static void
view_clear (View *view)
{
  if (view->temporary != NULL)
    {
      place_forget_copy (view->copy);
      temporary_remove (view->temporary);
    }
  g_free (view->copy);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (View, view_clear)

/* `is_start`: the caller will open the place again. FALSE: COORDINATOR_ERROR. */
static gboolean
view_open (View *view, const char *target, const char *copy, gboolean is_start, GError **error)
{
  PlacePair pair = { 0 };
  GError *reason = NULL;
  *view = (View){ .path = target, .exists = TRUE };
  if (!place_is_remote (target))
    return TRUE;
  if (copy == NULL && (view->temporary = temporary_make (&reason)) == NULL)
    {
      identity_take_error (error, reason);
      return FALSE;
    }
  view->path = view->copy
      = copy != NULL ? g_strdup (copy) : g_build_filename (view->temporary, "checkpoint", NULL);
  g_autoptr (Place) place = place_open (target, &reason);
  if (place != NULL)
    {
      place_set_limit (place, g_get_monotonic_time () + LOOK_US);
      (void)place_refresh (place, view->copy, &pair, &reason);
      if (is_start)
        place_leave_open (g_steal_pointer (&place));
    }
  view->exists = pair.base.exists;
  place_pair_clear (&pair);
  if (reason != NULL)
    identity_take_error (error, reason);
  return reason == NULL;
}

/* NULL without an error: there is no file. The copy may be removed when the file is open.
 * `is_front`: the tables before the rows suffice (sql->is_front). */
static Sql *
open_file (const char *target, const char *copy, const Identity *identity, gboolean with_rows,
           gboolean is_front, GError **error)
{
  char hex[DIGEST_HEX_LENGTH + 1];
  g_auto (View) view = { 0 };
  g_auto (Pair) pair = { 0 };
  GError *reason = NULL;
  if (!view_open (&view, target, copy, identity != NULL, error) || !view.exists)
    return NULL;
  if (identity != NULL)
    digest_to_hex (&identity->identity, hex);
  Sql *file = pair_open (&pair, view.path, identity != NULL ? hex : NULL,
                         (view.copy != NULL ? PAIR_OWN : 0) | (is_front ? PAIR_FRONT : 0), &reason)
                  ? pair_unite (&pair, with_rows, &reason)
                  : NULL;
  identity_rename_error (reason, view.copy, target);
  if (reason != NULL)
    identity_take_error (error, reason);
  return file;
}

gboolean
restore_is_ours (const char *target)
{
  g_auto (View) view = { 0 };
  return view_open (&view, target, NULL, FALSE, NULL) && view.exists && guard_is_ours (view.path);
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
  found.const_list = tables_get_string (file, "constants", NULL);
  if (!read_tables (file, &found, &reason) || (counts && !count_rows (file, &found, &reason)))
    {
      g_prefix_error (&reason, "checkpoint '%s': ", target);
      identity_take_error (error, reason);
      restore_clear (&found);
      return FALSE;
    }
  found.exists = TRUE;
  found.origin = file->origin;
  guint64 damaged = file->audit->tables[INVENTORY_RESULT].damaged;
  found.damage
      = takeover_damage (file, file->audit, found.rows_bad - MIN (found.rows_bad, damaged));
  found.rows_bad = MAX (found.rows_bad, damaged) + file->audit->tables[INVENTORY_RESULT].missing;
  *restore = found;
  return TRUE;
}

gboolean
restore_read (Sql *file, const char *target, Restore *restore, GError **error)
{
  return read_file (file, target, TRUE, restore, error);
}

/* An answer is believed only if the whole file is sound. */
static gboolean
look (const char *target, const char *copy, const Identity *identity, gboolean counts,
      gboolean is_front, Restore *restore, GError **error)
{
  g_assert (target != NULL && restore != NULL);

  GError *reason = NULL;
  memset (restore, 0, sizeof *restore);
  g_autoptr (Sql) file = open_file (target, copy, identity, counts, is_front, &reason);
  if (file != NULL)
    {
      gboolean good = read_file (file, target, counts, restore, error);
      if (!good || !file->is_front || !restore->finished)
        return good;
      restore_clear (restore);
      return look (target, copy, identity, counts, FALSE, restore, error);
    }
  if (reason != NULL)
    g_propagate_error (error, reason);
  return reason == NULL;
}

gboolean
restore_look (const char *target, Restore *restore, GError **error)
{
  return look (target, NULL, NULL, TRUE, FALSE, restore, error);
}

gboolean
restore_look_for (const char *target, const char *copy, const Identity *identity, Restore *restore,
                  GError **error)
{
  return look (target, copy, identity, FALSE, TRUE, restore, error);
}

/* Looks first: a store that does not answer is given up soon, and sending a large file takes
 * time. */
static gboolean
copy_to_place (const char *path, const char *to, GError **error)
{
  PlaceState there = { 0 };
  const PlaceState nothing = { 0 };
  GError *reason = NULL;
  g_autoptr (Place) place = place_open (to, &reason);
  if (place != NULL)
    place_set_limit (place, g_get_monotonic_time () + LOOK_US);
  gboolean good = place != NULL && place_look (place, "", &there, &reason);
  if (good)
    place_set_limit (place, 0);
  good = good && !there.exists && place_put (place, "", path, &nothing, NULL, &reason);
  if (there.exists || g_error_matches (reason, PLACE_ERROR, PLACE_ERROR_CHANGED))
    {
      g_set_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_STORE,
                   "'%s' is there already: choose another place", place_name (place));
      g_clear_error (&reason);
    }
  else if (!good)
    identity_take_error (error, reason);
  place_state_clear (&there);
  return good;
}

/* Never replaces a file at `to`. */
static gboolean
copy_to_path (const char *path, const char *to, GError **error)
{
  g_autofree char *trial = g_strdup_printf ("%s.%d~", to, (int)getpid ());
  g_autoptr (GFile) source = g_file_new_for_path (path);
  g_autoptr (GFile) target = g_file_new_for_path (trial);
  g_autoptr (GError) reason = NULL;
  int failed = 0;
  if (g_file_copy (source, target, G_FILE_COPY_OVERWRITE | G_FILE_COPY_TARGET_DEFAULT_PERMS, NULL,
                   NULL, NULL, &reason))
    failed = link (trial, to) == 0 ? 0 : errno;
  (void)g_unlink (trial);
  if (reason == NULL && failed == 0)
    return TRUE;
  if (failed == EEXIST)
    g_set_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_STORE,
                 "'%s' is there already: choose another place", to);
  else
    g_set_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_STORE, "cannot write '%s': %s", to,
                 reason != NULL ? reason->message : g_strerror (failed));
  return FALSE;
}

/* TRUE: there is a delta of its run beside the base at `path`. */
static gboolean
has_delta (const char *path)
{
  g_auto (Pair) pair = { 0 };
  return pair_open (&pair, path, NULL, 0, NULL) && pair.delta != NULL;
}

/* Writes base and delta as one file, `made`. */
static gboolean
make_one (const char *path, const char *made, GError **error)
{
  GError *reason = NULL;
  Published published;
  g_auto (Pair) pair = { 0 };
  g_autoptr (Sql) file
      = pair_open (&pair, path, NULL, 0, &reason) ? pair_unite (&pair, TRUE, &reason) : NULL;
  if (file == NULL || !publish_copy (file, made, "copy", NULL, &published, &reason))
    {
      identity_take_error (error, reason);
      return FALSE;
    }
  (void)close (published.fd);
  return TRUE;
}

static gboolean
copy_one (const char *path, const char *to, GError **error)
{
  return place_is_remote (to) ? copy_to_place (path, to, error) : copy_to_path (path, to, error);
}

gboolean
restore_copy (const char *from, const char *to, GError **error)
{
  g_auto (View) view = { 0 };
  GError *reason = NULL;
  if (!view_open (&view, from, NULL, FALSE, error))
    return FALSE;
  if (!has_delta (view.path))
    return copy_one (view.path, to, error);
  char *folder = temporary_make (&reason);
  if (folder == NULL)
    {
      identity_take_error (error, reason);
      return FALSE;
    }
  g_autofree char *made = g_build_filename (folder, "checkpoint", NULL);
  gboolean good = make_one (view.path, made, error) && copy_one (made, to, error);
  temporary_remove (folder);
  return good;
}

/* Sends the delta, if there is one, under the new name of its base. */
static gboolean
send_delta_aside (Place *place, const View *view, const char *suffix, gboolean has_delta,
                  GError **error)
{
  g_autofree char *delta = pair_delta_path (view->path);
  g_autofree char *delta_suffix = g_strconcat (suffix, PLACE_DELTA, NULL);
  return !has_delta || place_put (place, delta_suffix, delta, NULL, NULL, error);
}

/* Sends the file under the other name before it removes the original. */
static char *
move_aside (const char *target, GError **error)
{
  g_auto (View) view = { 0 };
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();
  g_autofree char *time = g_date_time_format (now, "%Y%m%dT%H%M%SZ");
  g_autofree char *suffix = g_strconcat (".old-", time, NULL);
  g_autoptr (Place) place = NULL;
  if (!view_open (&view, target, NULL, FALSE, error)
      || (place = place_open (target, error)) == NULL)
    return NULL;
  gboolean with_delta = has_delta (view.path);
  if (!place_put (place, suffix, view.path, NULL, NULL, error)
      || !send_delta_aside (place, &view, suffix, with_delta, error)
      || !place_remove (place, "", NULL, error)
      || (with_delta && !place_remove (place, PLACE_DELTA, NULL, error)))
    return NULL;
  return g_strconcat (place_name (place), suffix, NULL);
}

char *
restore_set_aside (const char *target, GError **error)
{
  GError *reason = NULL;
  char *name = place_is_remote (target) ? move_aside (target, &reason)
                                        : aside_move (target, "old", has_delta (target), &reason);
  if (name == NULL)
    identity_take_error (error, reason);
  return name;
}

gboolean
restore_matches (const Restore *restore, const Identity *identity, const char *target,
                 GError **error)
{
  g_assert (restore->exists);

  return identity_matches (&restore->identity, identity, target, error)
         && proof_allows (restore->origin, target, error);
}

Sql *
restore_open (const char *target, GError **error)
{
  GError *reason = NULL;
  Sql *file = open_file (target, NULL, NULL, TRUE, FALSE, &reason);
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
  ResultsQuery rows
      = { .node = query->node, .largest = query->largest, .limit = query->limit, .any_job = TRUE };
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
  ResultsQuery all = { .any_job = TRUE };
  GError *reason = NULL;
  g_autoptr (GPtrArray) nodes = g_ptr_array_new_with_free_func (restore_node_free);
  if (tables_each_node (file, add_node, nodes, &reason)
      && results_each (file, &all, add_share, nodes, NULL, &reason))
    return g_steal_pointer (&nodes);
  identity_take_error (error, reason);
  return NULL;
}
