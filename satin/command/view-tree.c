/* SPDX-License-Identifier: BSD-3-Clause */
/* See view-tree.h. A mutex serialises calls, since they share one file and one set of stems.
 * Tests: view.sh, test-view-icicle. */
#include "view-tree.h"
#include "command-inspect.h"
#include "view-icicle.h"

#include "coordinator/readable.h"

#include "storage/places/place.h"

#include "text/json.h"

#include <gio/gio.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

/* The most characters of an event's detail. */
#define DETAIL_MAX 300

struct ViewTree
{
  GMutex mutex;
  char *target;
  Inspection inspection; /* file NULL: nothing was read */
  struct stat seen;      /* if `target` is a path: the file that was read */
  gint64 read_us;
};

ViewTree *
view_tree_new (const char *target)
{
  ViewTree *tree = g_new0 (ViewTree, 1);

  g_mutex_init (&tree->mutex);
  tree->target = g_strdup (target);
  return tree;
}

static void
inspection_clear (Inspection *inspection)
{
  restore_clear (&inspection->restore);
  sql_free (inspection->file);
  if (inspection->stems != NULL)
    stems_free (inspection->stems);
  *inspection = (Inspection){ 0 };
}

void
view_tree_free (ViewTree *tree)
{
  if (tree == NULL)
    return;
  inspection_clear (&tree->inspection);
  g_mutex_clear (&tree->mutex);
  g_free (tree->target);
  g_free (tree);
}

/* TRUE: neither base nor delta has changed. *now (out): both, combined. A URI always counts as
 * changed. */
static gboolean
is_the_same (ViewTree *tree, struct stat *now)
{
  g_autofree char *delta = g_strconcat (tree->target, "-delta", NULL);
  struct stat beside = { 0 };

  *now = (struct stat){ 0 };
  if (place_is_remote (tree->target) || stat (tree->target, now) != 0)
    return FALSE;
  if (stat (delta, &beside) == 0)
    {
      now->st_size += beside.st_size;
      now->st_ino ^= beside.st_ino;
      now->st_mtim = beside.st_mtim;
    }
  return tree->inspection.file != NULL && now->st_ino == tree->seen.st_ino
         && now->st_size == tree->seen.st_size && now->st_mtim.tv_sec == tree->seen.st_mtim.tv_sec
         && now->st_mtim.tv_nsec == tree->seen.st_mtim.tv_nsec;
}

static gboolean
read_file (ViewTree *tree, GError **error)
{
  Inspection fresh = { .target = tree->target };

  fresh.file = restore_open (tree->target, error);
  if (fresh.file == NULL)
    return FALSE;
  fresh.stems = stems_new ();
  if (!restore_read (fresh.file, tree->target, &fresh.restore, error)
      || !command_inspect_stems (&fresh, error))
    {
      inspection_clear (&fresh);
      return FALSE;
    }
  inspection_clear (&tree->inspection);
  tree->inspection = fresh;
  tree->read_us = g_get_real_time ();
  return TRUE;
}

gboolean
view_tree_read (ViewTree *tree, gboolean *is_new, GError **error)
{
  struct stat now;
  gboolean good = TRUE, same;

  g_mutex_lock (&tree->mutex);
  same = is_the_same (tree, &now);
  if (!same)
    good = read_file (tree, error);
  if (good)
    tree->seen = now;
  g_mutex_unlock (&tree->mutex);
  if (is_new != NULL)
    *is_new = good && !same;
  return good;
}

char *
view_tree_name (ViewTree *tree)
{
  const Identity *identity = &tree->inspection.restore.identity;

  return g_strdup (identity->name != NULL ? identity->name : "?");
}

char *
view_tree_facts (ViewTree *tree)
{
  const Identity *identity = &tree->inspection.restore.identity;
  g_autoptr (GString) json = g_string_new ("\"program\":");

  json_append_string (json, identity->program != NULL ? identity->program : identity->app);
  g_string_append (json, ",\"arguments\":[");
  for (guint i = 0; identity->argv != NULL && identity->argv[i] != NULL; i++)
    {
      g_string_append (json, i == 0 ? "" : ",");
      json_append_string (json, identity->argv[i]);
    }
  g_string_append_c (json, ']');
  return g_string_free (g_steal_pointer (&json), FALSE);
}

char *
view_tree_state (ViewTree *tree, double *done)
{
  const Restore *restore = &tree->inspection.restore;

  *done = restore->finished ? 1 : restore->done;
  return restore->finished ? g_strdup_printf ("finished, exit code %d", restore->exit_code)
                           : g_strdup ("not finished; `satin resume` continues it");
}

/* What is collected from the ledger. */
typedef struct
{
  GPtrArray *events; /* of texts: events as JSON */
  GArray *moments;   /* of double[2]: when, share done */
  GHashTable *costs; /* node -> Cost */
  guint64 older;
  double older_s;
} Events;

typedef struct
{
  guint jobs;
  double work_s;
} Cost;

static void
add_cost (Events *events, const TablesEvent *event)
{
  const char *node = event->node != NULL ? event->node : "";
  Cost *cost = g_hash_table_lookup (events->costs, node);

  if (cost == NULL)
    {
      cost = g_new0 (Cost, 1);
      g_hash_table_insert (events->costs, g_strdup (node), cost);
    }
  cost->jobs++;
  cost->work_s += event->work_s;
}

/* Reads the share from a detail like "generation 7, 41.30 % done before". An older Satin wrote
 * none. */
static void
add_moment (Events *events, const TablesEvent *event)
{
  const char *comma = event->detail != NULL ? strchr (event->detail, ',') : NULL;
  double moment[2] = { (double)event->at, 0 };

  if (comma == NULL || strstr (comma, " % done") == NULL)
    return;
  moment[1] = g_ascii_strtod (comma + 1, NULL) / 100;
  if (isfinite (moment[1]))
    g_array_append_vals (events->moments, moment, 1);
}

static gboolean
add_event (const TablesEvent *event, gpointer data, GError **error)
{
  Events *events = data;
  GString *json;

  (void)error;
  if (strcmp (event->kind, "published") == 0)
    {
      add_moment (events, event);
      return TRUE;
    }
  if (strcmp (event->kind, "requeued") == 0)
    add_cost (events, event);
  json = g_string_new (NULL);
  g_string_append_printf (json, "{\"at\":%" G_GINT64_FORMAT, event->at);
  json_append_member (json, "kind", event->kind);
  if (event->node != NULL)
    json_append_member (json, "node", event->node);
  if (event->path != NULL && (event->path[0] != '\0' || strcmp (event->kind, "requeued") == 0))
    json_append_member (json, "path", command_inspect_path (event->path));
  if (event->detail != NULL)
    {
      g_autofree char *valid = g_utf8_make_valid (event->detail, -1);
      g_autofree char *cut
          = g_utf8_substring (valid, 0, MIN (g_utf8_strlen (valid, -1), DETAIL_MAX));

      json_append_member (json, "detail", cut);
    }
  if (event->work_s > 0)
    {
      g_string_append (json, ",\"work_s\":");
      json_append_number (json, round (event->work_s * 1000) / 1000);
    }
  g_string_append_c (json, '}');
  g_ptr_array_add (events->events, g_string_free (json, FALSE));
  if (events->events->len > VIEW_TREE_EVENTS_MAX)
    {
      g_ptr_array_remove_index (events->events, 0);
      events->older++;
    }
  return TRUE;
}

static void
append_node (GString *json, const RestoreNode *node, const Cost *cost)
{
  g_string_append (json, "{\"node\":");
  json_append_string (json, node->id);
  json_append_member (json, "host", node->name);
  json_append_member (json, "site", node->site);
  json_append_member (json, "cause", node->cause);
  g_string_append_printf (json,
                          ",\"joined\":%" G_GINT64_FORMAT ",\"left\":%" G_GINT64_FORMAT
                          ",\"results\":%" G_GUINT64_FORMAT ",\"work_s\":",
                          node->joined, node->left, node->rows);
  json_append_number (json, round (node->work_s * 1000) / 1000);
  g_string_append (json, ",\"share\":");
  json_append_number (json, round (node->weight * 1e6) / 1e6);
  g_string_append_printf (json, ",\"lost_jobs\":%u,\"lost_s\":", cost != NULL ? cost->jobs : 0);
  json_append_number (json, cost != NULL ? round (cost->work_s * 1000) / 1000 : 0);
  g_string_append_c (json, '}');
}

static void
append_moments (GString *json, const GArray *moments)
{
  guint every = moments->len / VIEW_TREE_MOMENTS_MAX + 1;

  g_string_append (json, ",\"progress\":[");
  for (guint i = 0, n = 0; i < moments->len; i++)
    if ((moments->len - 1 - i) % every == 0)
      {
        const double *moment = (const double *)(void *)moments->data + 2 * (gsize)i;

        g_string_append_printf (json, "%s[%.0f,", n++ > 0 ? "," : "", moment[0]);
        json_append_number (json, round (moment[1] * 1e4) / 1e4);
        g_string_append_c (json, ']');
      }
  g_string_append_c (json, ']');
}

static void
append_events (GString *json, const Events *events)
{
  GHashTableIter iter;
  gpointer value;
  Cost all = { 0 };

  g_hash_table_iter_init (&iter, events->costs);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    {
      all.jobs += ((Cost *)value)->jobs;
      all.work_s += ((Cost *)value)->work_s;
    }
  g_string_append_printf (json, ",\"lost_jobs\":%u,\"lost_s\":", all.jobs);
  json_append_number (json, round (all.work_s * 1000) / 1000);
  g_string_append_printf (json, ",\"older\":%" G_GUINT64_FORMAT ",\"events\":[", events->older);
  for (guint i = 0; i < events->events->len; i++)
    g_string_append_printf (json, "%s%s", i > 0 ? "," : "", (const char *)events->events->pdata[i]);
  g_string_append_c (json, ']');
}

static char *
ledger (ViewTree *tree, GError **error)
{
  const Restore *restore = &tree->inspection.restore;
  g_autoptr (GPtrArray) events = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GArray) moments = g_array_new (FALSE, FALSE, 2 * sizeof (double));
  g_autoptr (GHashTable) costs = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  Events all = { .events = events, .moments = moments, .costs = costs };
  g_autoptr (GPtrArray) nodes = restore_nodes (tree->inspection.file, error);
  g_autoptr (GString) json = g_string_new (NULL);

  if (nodes == NULL || !tables_each_event (tree->inspection.file, add_event, &all, error))
    return NULL;
  g_string_append_printf (json,
                          "{\"kind\":\"ledger\",\"generation\":%" G_GUINT64_FORMAT
                          ",\"rows\":%" G_GUINT64_FORMAT
                          ",\"finished\":%s,\"read\":%" G_GINT64_FORMAT ",\"done\":",
                          restore->generation, restore->rows, restore->finished ? "true" : "false",
                          tree->read_us / G_USEC_PER_SEC);
  json_append_number (json, round (restore->done * 1e6) / 1e6);
  json_append_member (json, "damage", restore->damage);
  append_moments (json, moments);
  append_events (json, &all);
  g_ptr_array_sort (nodes, command_inspect_compare_work);
  g_string_append_printf (json, ",\"all_nodes\":%u,\"nodes\":[", nodes->len);
  for (guint i = 0; i < MIN (nodes->len, VIEW_TREE_NODES_MAX); i++)
    {
      const RestoreNode *node = nodes->pdata[i];

      g_string_append (json, i > 0 ? "," : "");
      append_node (json, node, g_hash_table_lookup (costs, node->id));
    }
  g_string_append (json, "]}");
  return g_string_free (g_steal_pointer (&json), FALSE);
}

char *
view_tree_ledger (ViewTree *tree, GError **error)
{
  char *json = NULL;

  g_mutex_lock (&tree->mutex);
  if (tree->inspection.file != NULL)
    json = ledger (tree, error);
  else
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "nothing is published yet");
  g_mutex_unlock (&tree->mutex);
  return json;
}

typedef struct
{
  Forest *forest;
  const Result *row;
  double narrow; /* a row with a smaller share is never drawn alone */
} Boxes;

static gpointer
make_row (guint level, gpointer data)
{
  const Boxes *boxes = data;
  const Result *result = boxes->row;
  ViewIcicleRow *row;

  if (level > VIEW_ICICLE_LEVELS || result->weight < boxes->narrow)
    return NULL;
  row = g_new0 (ViewIcicleRow, 1);
  g_autofree char *value = readable_short (result->type, result->value);
  row->job = g_strdup (result->job);
  row->node = g_strdup (result->node);
  row->value = level == 0 ? g_strdup (value) : command_inspect_short (value);
  row->saved = result->saved;
  row->args = result->args != NULL ? readable_json (result->args, result->args_size) : NULL;
  row->began = result->began;
  row->took_s = (double)result->took_ms / 1000;
  return row;
}

static gboolean
add_row (const Result *result, gpointer data, GError **error)
{
  Boxes *boxes = data;

  (void)error;
  boxes->row = result;
  forest_add (boxes->forest, result->path, result->work_s, result->weight, make_row, boxes);
  return TRUE;
}

static gboolean
add_keep (const Keep *keep, gpointer data, GError **error)
{
  (void)error;
  forest_add_keep (((Boxes *)data)->forest, keep->path, keep->children);
  return TRUE;
}

static char *
draw_boxes (ViewTree *tree, const char *path, double weight, GError **error)
{
  Inspection *inspection = &tree->inspection;
  g_autoptr (Forest) forest
      = forest_new (inspection->stems, path, VIEW_ICICLE_LEVELS, view_icicle_row_free);
  Boxes boxes = { .forest = forest, .narrow = MAX (weight, 0) / 2000 };
  g_autoptr (GString) json = g_string_new ("{\"top\":");
  gboolean good;

  if (forest == NULL)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT, "not a path of a job");
      return NULL;
    }
  /* The paths of rows below a stem begin otherwise, so then all rows are read. */
  inspection->below = stems_count (inspection->stems) > 0 || strcmp (path, "/") == 0 ? NULL : path;
  good = command_inspect_rows (inspection, add_row, &boxes, NULL, error)
         && command_inspect_keeps (inspection, add_keep, &boxes, NULL, error);
  inspection->below = NULL;
  if (!good)
    return NULL;
  const ForestView *view = forest_view (forest);
  if (strcmp (path, "/") == 0 && view->last_root > 0)
    {
      g_autofree char *last = path_of_root (view->last_root);
      return draw_boxes (tree, last, weight, error);
    }
  g_autofree char *top = forest_path (forest, G_MAXSIZE);
  view_icicle_append (json, inspection->stems, view->tree, top, weight);
  g_string_append_c (json, '}');
  return g_string_free (g_steal_pointer (&json), FALSE);
}

char *
view_tree_boxes (ViewTree *tree, const char *path, double weight, GError **error)
{
  char *json = NULL;

  g_mutex_lock (&tree->mutex);
  if (tree->inspection.file != NULL)
    json = draw_boxes (tree, path, weight, error);
  else
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "nothing is published yet");
  g_mutex_unlock (&tree->mutex);
  return json;
}
