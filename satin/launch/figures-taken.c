/* SPDX-License-Identifier: BSD-3-Clause */
/* See figures-taken.h. A result contains the results whose paths lie below its own. A kept state
 * contains the results of the children that it stands for. Jobs more than 64 levels apart count as
 * not contained.
 * Tests: test-figures */
#include "figures-taken.h"

#include <string.h>

typedef struct
{
  const char *path; /* points into the report's text */
  guint64 children; /* 0: a result; else a kept state, which stands for so many children */
  double work_s;
  gboolean earlier; /* its author is no node of this life */
  gboolean counted;
} Taken;

static void
add_strings (GVariant *node, const char *key, GPtrArray *all)
{
  g_autoptr (GVariant) list = g_variant_lookup_value (node, key, G_VARIANT_TYPE ("av"));

  for (gsize i = 0; list != NULL && i < g_variant_n_children (list); i++)
    {
      g_autoptr (GVariant) box = g_variant_get_child_value (list, i);
      g_autoptr (GVariant) text = g_variant_get_variant (box);
      if (g_variant_is_of_type (text, G_VARIANT_TYPE_STRING))
        g_ptr_array_add (all, g_variant_dup_string (text, NULL));
    }
}

/* The names of all nodes of this life, as the nodes reported them or as a master saw them leave.
 * (transfer full) */
static GHashTable *
names_of (GPtrArray *nodes)
{
  g_autoptr (GPtrArray) all = g_ptr_array_new ();
  GHashTable *names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < nodes->len; i++)
    {
      g_autoptr (GVariant) told
          = g_variant_lookup_value (nodes->pdata[i], "departed", G_VARIANT_TYPE_VARDICT);
      GVariantIter iter;
      const char *name;

      add_strings (nodes->pdata[i], "names", all);
      if (told == NULL)
        continue;
      g_variant_iter_init (&iter, told);
      while (g_variant_iter_loop (&iter, "{&sv}", &name, NULL))
        g_ptr_array_add (all, g_strdup (name));
    }
  for (guint i = 0; i < all->len; i++)
    g_hash_table_add (names, all->pdata[i]);
  return names;
}

/* Parses "WORK_US CHILDREN AUTHOR PATH". Writes NULs into `text`; taken->path points into it. */
static gboolean
read_taken (char *text, GHashTable *names, Taken *taken)
{
  char *at, *author, *path;
  guint64 work_us = g_ascii_strtoull (text, &at, 10);

  taken->work_s = (double)work_us / G_USEC_PER_SEC;
  taken->children = g_ascii_strtoull (at, &at, 10);
  author = *at == ' ' ? at + 1 : NULL;
  path = author == NULL ? NULL : strchr (author, ' ');
  if (path == NULL)
    return FALSE;
  *path = '\0';
  taken->path = path + 1;
  taken->earlier = !g_hash_table_contains (names, author);
  taken->counted = FALSE;
  return TRUE;
}

/* Sorts a path before everything below it, and that before the path's next sibling, since '/' is
 * less than any digit. Of entries with one path, the one that contains the others comes first. */
static gint
compare (gconstpointer a, gconstpointer b)
{
  const Taken *x = a, *y = b;
  int order = strcmp (x->path, y->path);
  guint64 x_children = x->children - 1, y_children = y->children - 1; /* 0, a result, has most */

  if (order != 0)
    return order;
  if (x_children != y_children)
    return x_children > y_children ? -1 : 1;
  return (x->work_s < y->work_s) - (x->work_s > y->work_s);
}

static gboolean
is_at_or_below (const Taken *taken, const char *path)
{
  gsize size = strlen (path);

  return strncmp (taken->path, path, size) == 0
         && (taken->path[size] == '\0' || taken->path[size] == '/');
}

static gboolean
contains (const Taken *outer, const Taken *inner)
{
  const char *rest = inner->path + strlen (outer->path);

  return outer->children == 0 || *rest == '\0'
         || g_ascii_strtoull (rest + 1, NULL, 10) < outer->children;
}

static void
count (FiguresTaken *sums, GPtrArray *above, Taken *taken)
{
  Taken *within = NULL; /* the innermost entry of this life that contains `taken` */

  for (guint i = 0; i < above->len; i++)
    {
      Taken *outer = above->pdata[i];
      if (!outer->counted || !contains (outer, taken))
        continue;
      if (outer->earlier == taken->earlier)
        return;
      if (!outer->earlier)
        within = outer;
    }
  taken->counted = TRUE;
  *(taken->earlier ? &sums->restored_s : &sums->salvaged_s) += taken->work_s;
  if (within != NULL)
    sums->salvaged_s -= MIN (taken->work_s, within->work_s);
}

FiguresTaken
figures_taken (GPtrArray *nodes)
{
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GHashTable) names = names_of (nodes);
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (Taken));
  g_autoptr (GPtrArray) above = g_ptr_array_new ();
  FiguresTaken sums = { 0 };
  Taken taken;

  for (guint i = 0; i < nodes->len; i++)
    add_strings (nodes->pdata[i], "taken", texts);
  for (guint i = 0; i < texts->len; i++)
    if (read_taken (texts->pdata[i], names, &taken))
      g_array_append_val (all, taken);
  g_array_sort (all, compare);
  for (guint i = 0; i < all->len; i++)
    {
      Taken *one = &g_array_index (all, Taken, i);
      while (above->len > 0 && !is_at_or_below (one, ((Taken *)above->pdata[above->len - 1])->path))
        g_ptr_array_set_size (above, (gint)above->len - 1);
      count (&sums, above, one);
      g_ptr_array_add (above, one);
    }
  sums.salvaged_s = MAX (sums.salvaged_s, 0);
  return sums;
}
