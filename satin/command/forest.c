/* SPDX-License-Identifier: BSD-3-Clause */
/* See forest.h. Rows come in the order of their paths' texts, so rows below one child mostly follow
 * each other. A child is therefore searched in the last place only; children are sorted and united
 * at the end. */
#include "forest.h"

#include <string.h>

struct Forest
{
  Stems *stems;
  GArray *top; /* of guint32: the numbers of the top job's path, from its root */
  GArray *numbers;
  guint depth;
  GDestroyNotify row_free;
  gboolean is_sorted;
  ForestView view;
};

static Tree *
tree_new (guint32 number)
{
  Tree *tree = g_new0 (Tree, 1);
  tree->number = number;
  return tree;
}

static void
tree_free (Tree *tree, GDestroyNotify row_free)
{
  for (guint i = 0; tree->children != NULL && i < tree->children->len; i++)
    tree_free (tree->children->pdata[i], row_free);
  g_clear_pointer (&tree->children, g_ptr_array_unref);
  if (tree->row != NULL)
    row_free (tree->row);
  g_free (tree);
}

Forest *
forest_new (Stems *stems, const char *path, guint depth, GDestroyNotify row_free)
{
  g_autoptr (GArray) top = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint32 root;
  if (!path_read (stems, path, &root, top))
    return NULL;
  g_assert (depth <= FOREST_DEPTH_MAX);
  Forest *forest = g_new0 (Forest, 1);
  forest->stems = stems;
  forest->view.root = root;
  forest->top = g_steal_pointer (&top);
  forest->numbers = g_array_new (FALSE, FALSE, sizeof (guint32));
  forest->depth = depth;
  forest->row_free = row_free;
  forest->view.tree = tree_new (0);
  return forest;
}

void
forest_free (Forest *forest)
{
  if (forest == NULL)
    return;
  tree_free (forest->view.tree, forest->row_free);
  if (forest->view.above != NULL)
    forest->row_free (forest->view.above);
  g_array_unref (forest->top);
  g_array_unref (forest->numbers);
  g_free (forest);
}

static guint32
at (const GArray *numbers, gsize i)
{
  return g_array_index (numbers, guint32, i);
}

static Tree *
enter_child (Tree *tree, guint32 number)
{
  if (tree->children == NULL)
    tree->children = g_ptr_array_new ();
  Tree *last = tree->children->len > 0 ? tree->children->pdata[tree->children->len - 1] : NULL;
  if (last != NULL && last->number == number)
    return last;
  Tree *child = tree_new (number);
  g_ptr_array_add (tree->children, child);
  return child;
}

static ForestPlace
enter (Forest *forest, double work_s, double weight, ForestRow row, gpointer data)
{
  Tree *tree = forest->view.tree;
  gsize top = forest->top->len, depth = forest->numbers->len - top;
  for (gsize i = 0;; i++)
    {
      tree->rows++;
      tree->work_s += work_s;
      tree->weight += weight;
      if (i == depth || i == forest->depth)
        break;
      tree = enter_child (tree, at (forest->numbers, top + i));
    }
  forest->is_sorted = FALSE;
  if (depth > forest->depth)
    return FOREST_COUNTED;
  tree->is_saved = TRUE;
  if (tree->row == NULL)
    tree->row = row ((guint)depth, data);
  return FOREST_SHOWN;
}

/* How many numbers forest->numbers and the top job's path have in common. */
static gsize
common_length (const Forest *forest)
{
  gsize common = 0, most = MIN (forest->numbers->len, forest->top->len);
  while (common < most && at (forest->numbers, common) == at (forest->top, common))
    common++;
  return common;
}

/* Children are spawned in the order of their numbers, so a greater number proves that the smaller
 * ones exist. */
static void
learn_from_outside (Forest *forest, gsize common)
{
  gsize known = common;
  if (common < forest->top->len && common < forest->numbers->len
      && at (forest->numbers, common) > at (forest->top, common))
    known++;
  forest->view.depth_known = MAX (forest->view.depth_known, known);
}

/* Reads a path into forest->numbers. */
static ForestPlace
read_path (Forest *forest, const char *path)
{
  guint32 root;
  g_array_set_size (forest->numbers, 0);
  if (!path_to_numbers (forest->stems, path, &root, forest->numbers))
    return FOREST_UNKNOWN;
  forest->view.last_root = MAX (forest->view.last_root, root);
  return root == forest->view.root ? FOREST_SHOWN : FOREST_OUTSIDE;
}

ForestPlace
forest_add (Forest *forest, const char *path, double work_s, double weight, ForestRow row,
            gpointer data)
{
  ForestPlace place = read_path (forest, path);
  if (place != FOREST_SHOWN)
    return place;
  gsize n = forest->numbers->len, common = common_length (forest);
  learn_from_outside (forest, common);
  if (common == forest->top->len)
    return enter (forest, work_s, weight, row, data);
  if (common < n)
    return FOREST_OUTSIDE;
  if (forest->view.above == NULL)
    {
      forest->view.above = row (0, data);
      forest->view.above_depth = n;
    }
  return FOREST_SHOWN;
}

void
forest_add_keep (Forest *forest, const char *path, guint32 children)
{
  if (read_path (forest, path) != FOREST_SHOWN)
    return;
  gsize n = forest->numbers->len, common = common_length (forest);
  learn_from_outside (forest, common);
  if (common == forest->top->len)
    {
      Tree *tree = forest->view.tree;
      for (gsize i = common; i < n && i - common < forest->depth; i++)
        tree = enter_child (tree, at (forest->numbers, i));
      if (n - common <= forest->depth)
        tree->kept = MAX (tree->kept, children);
      forest->is_sorted = FALSE;
    }
  else if (common == n && at (forest->top, n) < children)
    {
      forest->view.kept_depth = n + 1;
      forest->view.depth_known = MAX (forest->view.depth_known, n + 1);
    }
}

static gint
compare_number (gconstpointer a, gconstpointer b)
{
  const Tree *x = *(Tree *const *)a, *y = *(Tree *const *)b;
  return (x->number > y->number) - (x->number < y->number);
}

static void
unite (Forest *forest, Tree *into, Tree *other)
{
  into->is_saved = into->is_saved || other->is_saved;
  into->rows += other->rows;
  into->work_s += other->work_s;
  into->weight += other->weight;
  into->kept = MAX (into->kept, other->kept);
  if (into->row == NULL)
    into->row = g_steal_pointer (&other->row);
  if (into->children == NULL)
    into->children = g_steal_pointer (&other->children);
  else if (other->children != NULL)
    g_ptr_array_extend_and_steal (into->children, g_steal_pointer (&other->children));
  tree_free (other, forest->row_free);
}

static void
sort (Forest *forest, Tree *tree)
{
  GPtrArray *children = tree->children;
  if (children == NULL)
    return;
  g_ptr_array_sort (children, compare_number);
  guint n = 0;
  for (guint i = 0; i < children->len; i++)
    {
      Tree *child = children->pdata[i], *last = n > 0 ? children->pdata[n - 1] : NULL;
      if (last != NULL && last->number == child->number)
        unite (forest, last, child);
      else
        children->pdata[n++] = child;
    }
  g_ptr_array_set_size (children, (gint)n);
  for (guint i = 0; i < n; i++)
    sort (forest, children->pdata[i]);
}

const ForestView *
forest_view (Forest *forest)
{
  if (!forest->is_sorted)
    sort (forest, forest->view.tree);
  forest->is_sorted = TRUE;
  return &forest->view;
}

char *
forest_path (Forest *forest, gsize depth)
{
  g_autofree char *root = path_of_root (forest->view.root);
  return path_extend (forest->stems, root, (const guint32 *)(void *)forest->top->data,
                      MIN (depth, forest->top->len));
}

gboolean
tree_gap_before (const Tree *tree, guint i, guint32 *from, guint32 *to)
{
  const Tree *child = tree->children->pdata[i];
  const Tree *before = i > 0 ? tree->children->pdata[i - 1] : NULL;
  guint32 first = MAX (tree->kept, before != NULL ? before->number + 1 : 0);
  if (first >= child->number)
    return FALSE;
  *from = first;
  *to = child->number - 1;
  return TRUE;
}

guint64
tree_missing (const Tree *tree)
{
  guint64 missing = 0;
  guint32 from, to;
  for (guint i = 0; tree->children != NULL && i < tree->children->len; i++)
    {
      if (tree_gap_before (tree, i, &from, &to))
        missing += (guint64)(to - from) + 1;
      missing += tree_missing (tree->children->pdata[i]);
    }
  return missing;
}
