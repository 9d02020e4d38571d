/* SPDX-License-Identifier: BSD-3-Clause */
/* `satin inspect --tree`: the saved part of the job tree, one job a line. One thread.
 * Tests: inspect.sh. */
#include "command-inspect.h"
#include "forest.h"

#include "coordinator/readable.h"

#include <string.h>

#define PATH_WIDTH 30

typedef struct
{
  char *job, *node, *value, *args; /* args (nullable) */
  gint64 saved;
} TreeRow;

static void
tree_row_free (gpointer data)
{
  TreeRow *row = data;

  g_free (row->job);
  g_free (row->node);
  g_free (row->value);
  g_free (row->args);
  g_free (row);
}

typedef struct
{
  Forest *forest;
  Stems *stems;
  guint depth; /* levels that are shown */
  const Result *row;
} TreeView;

static gpointer
tree_row (guint level, gpointer data)
{
  const TreeView *tree = data;
  const Result *result = tree->row;
  if (level > tree->depth)
    return NULL;
  TreeRow *row = g_new0 (TreeRow, 1);

  row->job = g_strdup (result->job);
  row->node = g_strdup (result->node);
  row->value = readable_short (result->type, result->value);
  row->args = result->args != NULL ? readable_json (result->args, result->args_size) : NULL;
  row->saved = result->saved;
  return row;
}

static gboolean
add_row (const Result *result, gpointer data, GError **error)
{
  TreeView *tree = data;

  (void)error;
  tree->row = result;
  forest_add (tree->forest, result->path, result->work_s, result->weight, tree_row, tree);
  return TRUE;
}

static gboolean
add_keep (const Keep *keep, gpointer data, GError **error)
{
  (void)error;
  forest_add_keep (((TreeView *)data)->forest, keep->path, keep->children);
  return TRUE;
}

static void
print_head (guint level, const char *path)
{
  g_autofree char *text
      = g_strdup_printf ("%*s%s", (int)(2 * level), "", command_inspect_path (path));

  g_print ("%-*s ", PATH_WIDTH, text);
}

static void
print_gap (Stems *stems, const char *path, guint level, guint32 from, guint32 to)
{
  g_autofree char *first = path_child (stems, path, from);

  print_head (level, first);
  if (from == to)
    g_print ("missing\n");
  else
    g_print ("missing, and the %u after it (to %u)\n", to - from, to);
}

static void
print_job (const Tree *tree, const char *path, guint level)
{
  const TreeRow *row = tree->row;
  guint64 missing;

  print_head (level, path);
  g_print ("%7.2f %% %10.2f s  ", tree->weight * 100, tree->work_s);
  if (row != NULL)
    {
      g_autofree char *time = command_inspect_time (row->saved);
      g_autofree char *value = command_inspect_short (row->value);
      g_autofree char *args = command_inspect_short (row->args != NULL ? row->args : "");

      g_print ("%s  %-12s  %s%s%s = %s\n", time, row->node, row->job, args[0] != '\0' ? " " : "",
               args, value);
      return;
    }
  missing = tree_missing (tree);
  g_print ("not finished: %" G_GUINT64_FORMAT " saved below", tree->rows);
  if (tree->kept > 0)
    g_print (", a state kept after %u children", tree->kept);
  if (missing > 0)
    g_print (", %" G_GUINT64_FORMAT " missing", missing);
  g_print ("\n");
}

static void
print_tree (const TreeView *view, const Tree *tree, const char *path, guint level)
{
  guint32 from, to;

  print_job (tree, path, level);
  if (level == view->depth)
    return;
  for (guint i = 0; tree->children != NULL && i < tree->children->len; i++)
    {
      const Tree *child = tree->children->pdata[i];
      g_autofree char *child_path = path_child (view->stems, path, child->number);

      if (tree_gap_before (tree, i, &from, &to))
        print_gap (view->stems, path, level + 1, from, to);
      print_tree (view, child, child_path, level + 1);
    }
}

/* Prints the tree of one root, or of a job. `last_root` (out, nullable): see ForestView. Returns
 * the exit code. */
static int
show_tree (Inspection *inspection, const char *path, guint depth, guint32 *last_root)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Forest) forest = forest_new (inspection->stems, path, FOREST_DEPTH_MAX, tree_row_free);
  TreeView tree = { .forest = forest, .stems = inspection->stems, .depth = depth };
  const ForestView *view;

  if (forest == NULL)
    return command_usage ("inspect ", "'%s' is not a path of a job, like / or /0/3/1", path);
  if (!command_inspect_rows (inspection, add_row, &tree, NULL, &error)
      || !command_inspect_keeps (inspection, add_keep, &tree, NULL, &error))
    return command_inspect_failed (inspection->target, error);
  view = forest_view (forest);
  if (last_root != NULL)
    *last_root = view->last_root;
  if (view->tree->rows == 0 && view->tree->kept == 0 && view->tree->children == NULL)
    {
      /* --why explains that nothing is saved. */
      command_inspect_why (inspection, path);
      return COMMAND_DONE;
    }
  g_autofree char *top = forest_path (forest, G_MAXSIZE);
  g_print ("%-*s %9s %12s  %-19s  %-12s  %s\n", PATH_WIDTH, "JOB", "SHARE", "WORK", "SAVED", "NODE",
           "VALUE");
  print_tree (&tree, view->tree, top, 0);
  return COMMAND_DONE;
}

int
command_inspect_tree (Inspection *inspection, const char *path, guint depth)
{
  guint32 last = 0;
  int code;

  if (path != NULL)
    return show_tree (inspection, path, depth, NULL);
  code = show_tree (inspection, "/", depth, &last);
  for (guint32 root = 1; root <= last && code == COMMAND_DONE; root++)
    {
      g_autofree char *one = path_of_root (root);

      code = show_tree (inspection, one, depth, NULL);
    }
  return code;
}
