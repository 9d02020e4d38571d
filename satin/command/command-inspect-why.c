/* SPDX-License-Identifier: BSD-3-Clause */
/* `satin inspect --why PATH`: all that the checkpoint has about one job. If there is no row for the
 * path, a sentence says why. One thread. Tests: inspect.sh. */
#include "command-inspect.h"
#include "forest.h"

#include "coordinator/readable.h"

#include <string.h>

/* At most so many missing jobs, nodes and events are named; the rest is counted. */
#define SHOWN_MAX 10

typedef struct
{
  char *path, *job, *type, *node, *value, *args; /* args (nullable) */
  gsize size;
  double work_s, weight;
  gint64 saved, began, took_ms;
} WhyRow;

typedef struct
{
  Inspection *inspection;
  Forest *forest;
  const char *path;  /* of the job, as in the file */
  GHashTable *nodes; /* id -> RestoreNode: rows and work of each node at and below the job */
  GPtrArray *events; /* of texts: events of the job, and of jobs above and below it */
} Why;

static void
why_row_free (gpointer data)
{
  WhyRow *row = data;

  g_free (row->path);
  g_free (row->job);
  g_free (row->type);
  g_free (row->node);
  g_free (row->value);
  g_free (row->args);
  g_free (row);
}

/* Of rows below the job, only the sums are shown. */
static gpointer
why_row (guint level, gpointer data)
{
  const Result *result = data;
  if (level > 0)
    return NULL;
  WhyRow *row = g_new0 (WhyRow, 1);

  row->path = g_strdup (result->path);
  row->job = g_strdup (result->job);
  row->type = g_strdup (result->type);
  row->node = g_strdup (result->node);
  row->value = readable_short (result->type, result->value);
  row->size = g_bytes_get_size (result->value);
  row->work_s = result->work_s;
  row->weight = result->weight;
  row->saved = result->saved;
  row->args = result->args != NULL ? readable_json (result->args, result->args_size) : NULL;
  row->began = result->began;
  row->took_ms = result->took_ms;
  return row;
}

static gboolean
add_row (const Result *result, gpointer data, GError **error)
{
  Why *why = data;
  ForestPlace place = forest_add (why->forest, result->path, result->work_s, result->weight,
                                  why_row, (gpointer)result);

  (void)error;
  if (place == FOREST_SHOWN || place == FOREST_COUNTED)
    {
      RestoreNode *node = g_hash_table_lookup (why->nodes, result->node);

      if (node == NULL)
        {
          node = g_new0 (RestoreNode, 1);
          g_hash_table_insert (why->nodes, g_strdup (result->node), node);
        }
      node->rows++;
      node->work_s += result->work_s;
    }
  return TRUE;
}

static gboolean
add_keep (const Keep *keep, gpointer data, GError **error)
{
  (void)error;
  forest_add_keep (((Why *)data)->forest, keep->path, keep->children);
  return TRUE;
}

static gboolean
add_event (const TablesEvent *event, gpointer data, GError **error)
{
  Why *why = data;
  Stems *stems = why->inspection->stems;

  (void)error;
  if (event->path == NULL
      || !(strcmp (event->path, why->path) == 0 || path_is_below (stems, event->path, why->path)
           || path_is_below (stems, why->path, event->path)))
    return TRUE;
  g_autofree char *time = command_inspect_time (event->at);
  GString *text = g_string_new (time);
  g_string_append_printf (text, "  %s of %s", event->kind, command_inspect_path (event->path));
  if (event->node != NULL)
    g_string_append_printf (text, ", node %s", event->node);
  if (event->work_s > 0)
    g_string_append_printf (text, ", %.2f s of work", event->work_s);
  if (event->detail != NULL)
    g_string_append_printf (text, ": %s", event->detail);
  g_ptr_array_add (why->events, g_string_free (text, FALSE));
  return TRUE;
}

static void
print_events (const GPtrArray *events)
{
  guint first = events->len > SHOWN_MAX ? events->len - SHOWN_MAX : 0;

  if (events->len == 0)
    g_print ("ledger    no event tells of it\n");
  for (guint i = first; i < events->len; i++)
    g_print ("%-9s %s\n", i == first ? "ledger" : "", (const char *)events->pdata[i]);
  if (first > 0)
    g_print ("%-9s and %u earlier events\n", "", first);
}

typedef struct
{
  const char *id;
  gboolean found;
} NodeWanted;

static gboolean
print_node (const TablesNode *node, gpointer data, GError **error)
{
  NodeWanted *wanted = data;
  g_autofree char *joined = command_inspect_time (node->joined);
  g_autofree char *left = command_inspect_time (node->left);

  (void)error;
  if (strcmp (node->id, wanted->id) != 0)
    return TRUE;
  wanted->found = TRUE;
  g_print ("node      %s on %s (site %s), joined %s", node->id,
           node->name != NULL ? node->name : "?", node->site != NULL ? node->site : "?", joined);
  if (node->left > 0)
    g_print (", left %s (%s)", left, node->cause != NULL ? node->cause : "cause unknown");
  g_print ("\n");
  return TRUE;
}

static gboolean
print_row (const Why *why, const WhyRow *row, GError **error)
{
  g_autofree char *time = command_inspect_time (row->saved);
  g_autofree char *began = command_inspect_time (row->began);
  NodeWanted wanted = { .id = row->node };

  g_print ("job       %s\n", row->job);
  g_print ("args      %s\n", row->args != NULL ? row->args : "not saved");
  g_print ("value     %s (type %s, %" G_GSIZE_FORMAT " bytes)\n", row->value, row->type, row->size);
  if (!tables_each_node (why->inspection->file, print_node, &wanted, error))
    return FALSE;
  if (!wanted.found)
    g_print ("node      %s, of which nothing else is known\n",
             row->node[0] != '\0' ? row->node : "unknown");
  if (row->began > 0)
    g_print ("began     %s, took %.3f s\n", began, (double)row->took_ms / 1000);
  g_print ("saved     %s\n", time);
  g_print ("cost      %.3f s of work, with all that was below\n", row->work_s);
  g_print ("share     %.4f %% of the whole tree\n", row->weight * 100);
  return TRUE;
}

static gint
by_work (gconstpointer a, gconstpointer b, gpointer nodes)
{
  const RestoreNode *one = g_hash_table_lookup (nodes, a), *other = g_hash_table_lookup (nodes, b);

  if (one->work_s != other->work_s)
    return one->work_s > other->work_s ? -1 : 1;
  return g_strcmp0 (a, b);
}

/* Those that computed most come first. */
static void
print_sums (const Why *why, const Tree *tree)
{
  g_autoptr (GList) ids = g_hash_table_get_keys (why->nodes);
  guint n = 0;

  g_print ("cost      %.3f s of work saved below it\n", tree->work_s);
  g_print ("share     %.4f %% of the whole tree saved below it\n", tree->weight * 100);
  ids = g_list_sort_with_data (ids, by_work, why->nodes);
  for (GList *at = ids; at != NULL && n < SHOWN_MAX; at = at->next)
    {
      const RestoreNode *node = g_hash_table_lookup (why->nodes, at->data);

      g_print ("%-9s %s computed %" G_GUINT64_FORMAT " of them, %.3f s\n", n++ == 0 ? "nodes" : "",
               (const char *)at->data, node->rows, node->work_s);
    }
  if (g_hash_table_size (why->nodes) > SHOWN_MAX)
    g_print ("%-9s and %u more nodes\n", "", g_hash_table_size (why->nodes) - SHOWN_MAX);
}

/* Prints the missing jobs, depth first. */
static void
print_gaps (Stems *stems, const Tree *tree, const char *path, guint *shown)
{
  guint32 from, to;

  for (guint i = 0; tree->children != NULL && i < tree->children->len && *shown < SHOWN_MAX; i++)
    {
      const Tree *child = tree->children->pdata[i];
      g_autofree char *child_path = path_child (stems, path, child->number);

      if (tree_gap_before (tree, i, &from, &to))
        {
          g_autofree char *first = path_child (stems, path, from);

          g_print ("          %s", first);
          if (to > from)
            g_print (" and the %u after it", to - from);
          g_print ("\n");
          (*shown)++;
        }
      print_gaps (stems, child, child_path, shown);
    }
}

static void
print_missing (const Why *why, const Tree *tree)
{
  guint64 missing = tree_missing (tree);
  guint shown = 0;

  if (missing == 0)
    g_print ("missing   no job before the last saved one; later ones may be missing\n");
  else
    {
      g_print ("missing   %" G_GUINT64_FORMAT " jobs have nothing saved; later ones may be missing"
               " too\n",
               missing);
      print_gaps (why->inspection->stems, tree, why->path, &shown);
      if (shown == SHOWN_MAX)
        g_print ("          …\n");
    }
}

static void
print_nothing (const Why *why, const ForestView *view, const char *name)
{
  gboolean begun = view->root <= view->last_root; /* roots come one after the other */
  g_autofree char *known
      = begun ? forest_path (why->forest, view->depth_known) : path_of_root (view->last_root);

  if (strcmp (known, why->path) == 0 && why->path[0] != '\0')
    g_print (
        "%s is missing: it was spawned, but neither it nor anything below it is saved; a resume"
        " does it\n",
        name);
  else if (why->inspection->restore.rows == 0)
    g_print ("%s is not saved: no result is saved yet\n", name);
  else
    g_print ("%s is not known: nothing is saved at, above or below it; the nearest job that is"
             " known is %s\n",
             name, command_inspect_path (known));
}

/* Prints the kept state of the job itself, or of the job above whose state stands for it. */
static gboolean
print_keep (const Keep *keep, gpointer data, GError **error)
{
  const Why *why = data;
  const ForestView *view = forest_view (why->forest);
  g_autofree char *above
      = view->kept_depth > 0 ? forest_path (why->forest, view->kept_depth - 1) : NULL;

  (void)error;
  if (strcmp (keep->path, why->path) != 0 && g_strcmp0 (keep->path, above) != 0)
    return TRUE;
  g_autofree char *text = readable_short (keep->type, keep->value);
  g_autofree char *args = keep->args != NULL ? readable_json (keep->args, keep->args_size) : NULL;
  g_print ("state     of %s after %u children: %s\n", command_inspect_path (keep->path),
           keep->children, text);
  g_print ("args      %s\n", args != NULL ? args : "not saved");
  return TRUE;
}

static gboolean
print_why (Why *why, GError **error)
{
  const ForestView *view = forest_view (why->forest);
  const char *name = command_inspect_path (why->path);
  gboolean good = TRUE;

  if (view->tree->is_saved)
    {
      g_print ("%s is saved; what was below it is not needed any more\n", name);
      good = print_row (why, view->tree->row, error);
    }
  else if (view->above != NULL)
    {
      const WhyRow *above = view->above;

      g_print ("%s lies below %s, which is saved; its own result went into that one\n", name,
               command_inspect_path (above->path));
      good = print_row (why, above, error);
    }
  else if (view->kept_depth > 0)
    {
      g_autofree char *above = forest_path (why->forest, view->kept_depth - 1);

      g_print ("%s is done: the state that %s has kept stands for it too\n", name,
               command_inspect_path (above));
    }
  else if (view->tree->rows > 0 || view->tree->kept > 0 || view->tree->children != NULL)
    {
      g_print ("%s is not finished; %" G_GUINT64_FORMAT " results are saved below it\n", name,
               view->tree->rows);
      print_sums (why, view->tree);
      print_missing (why, view->tree);
    }
  else
    print_nothing (why, view, name);
  if (!good || !command_inspect_keeps (why->inspection, print_keep, why, NULL, error)
      || !tables_each_event (why->inspection->file, add_event, why, error))
    return FALSE;
  print_events (why->events);
  return TRUE;
}

int
command_inspect_why (Inspection *inspection, const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Forest) forest = forest_new (inspection->stems, path, FOREST_DEPTH_MAX, why_row_free);
  g_autoptr (GHashTable) nodes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_autoptr (GPtrArray) events = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *text = NULL;
  Why why = { .inspection = inspection, .forest = forest, .nodes = nodes, .events = events };

  if (forest == NULL)
    return command_usage ("inspect ", "'%s' is not a path of a job, like / or /0/3/1", path);
  why.path = text = forest_path (forest, G_MAXSIZE);
  if (!command_inspect_rows (inspection, add_row, &why, NULL, &error)
      || !command_inspect_keeps (inspection, add_keep, &why, NULL, &error)
      || !print_why (&why, &error))
    return command_inspect_failed (inspection->target, error);
  return COMMAND_DONE;
}
