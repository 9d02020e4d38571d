/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of satin/command/forest.c. Links that file and the value room. */
#include "command/forest.h"

#include <string.h>

static gpointer
name_row (guint level, gpointer data)
{
  (void)level;
  return g_strdup (data);
}

static void
add (Forest *forest, const char *path, ForestPlace wanted)
{
  g_assert_cmpint (forest_add (forest, path, 2.0, 0.125, name_row, (gpointer)path), ==, wanted);
}

static const Tree *
child (const Tree *tree, guint i)
{
  g_assert_nonnull (tree->children);
  g_assert_cmpuint (i, <, tree->children->len);
  return tree->children->pdata[i];
}

static void
test_rows_make_a_tree_by_numbers (void)
{
  g_autoptr (Stems) stems = stems_new ();
  g_autoptr (Forest) forest = forest_new (stems, "/", 9, g_free);

  /* In the order of the path texts, as when they are read from a file. */
  add (forest, "/1/0", FOREST_SHOWN);
  add (forest, "/10", FOREST_SHOWN);
  add (forest, "/2/1/0", FOREST_SHOWN);
  add (forest, "/2/1/3", FOREST_SHOWN);

  const Tree *tree = forest_view (forest)->tree;
  g_assert_cmpuint (tree->rows, ==, 4);
  g_assert_cmpfloat (tree->work_s, ==, 8.0);
  g_assert_cmpfloat (tree->weight, ==, 0.5);
  g_assert_false (tree->is_saved);
  g_assert_cmpuint (tree->children->len, ==, 3);
  g_assert_cmpuint (child (tree, 0)->number, ==, 1);
  g_assert_cmpuint (child (tree, 1)->number, ==, 2);
  g_assert_cmpuint (child (tree, 2)->number, ==, 10);
  g_assert_true (child (tree, 2)->is_saved);
  g_assert_cmpstr (child (tree, 2)->row, ==, "/10");
  g_assert_cmpuint (child (tree, 1)->rows, ==, 2);
  g_assert_cmpuint (child (child (child (tree, 1), 0), 1)->number, ==, 3);
}

static void
test_each_root_is_a_forest (void)
{
  g_autoptr (Stems) stems = stems_new ();
  g_autoptr (Forest) first = forest_new (stems, "/", 9, g_free);
  g_autoptr (Forest) third = forest_new (stems, "2:", 9, g_free);

  add (first, "", FOREST_SHOWN);
  add (first, "2:/1", FOREST_OUTSIDE);
  add (third, "", FOREST_OUTSIDE);
  add (third, "2:/1", FOREST_SHOWN);
  g_assert_cmpuint (forest_view (first)->last_root, ==, 2);
  g_assert_cmpuint (forest_view (first)->tree->rows, ==, 1);
  g_assert_cmpuint (child (forest_view (third)->tree, 0)->number, ==, 1);
  g_autofree char *top = forest_path (third, G_MAXSIZE);
  g_assert_cmpstr (top, ==, "2:");
}

static void
test_gaps_are_what_is_missing (void)
{
  g_autoptr (Stems) stems = stems_new ();
  g_autoptr (Forest) forest = forest_new (stems, "/", 9, g_free);
  guint32 from, to;
  add (forest, "/1", FOREST_SHOWN);
  add (forest, "/2", FOREST_SHOWN);
  add (forest, "/4294967295/1", FOREST_SHOWN);

  const Tree *tree = forest_view (forest)->tree;

  g_assert_true (tree_gap_before (tree, 0, &from, &to));
  g_assert_cmpuint (from, ==, 0);
  g_assert_cmpuint (to, ==, 0);
  g_assert_false (tree_gap_before (tree, 1, &from, &to));
  g_assert_true (tree_gap_before (tree, 2, &from, &to));
  g_assert_cmpuint (from, ==, 3);
  g_assert_cmpuint (to, ==, G_MAXUINT32 - 1);
  g_assert_cmpuint (tree_missing (tree), ==, 1 + (guint64)G_MAXUINT32 - 3 + 1);
}

static void
test_what_lies_deeper_is_only_counted (void)
{
  g_autoptr (Stems) stems = stems_new ();
  g_autoptr (Forest) forest = forest_new (stems, "/3", 1, g_free);

  add (forest, "/3/0", FOREST_SHOWN);
  add (forest, "/3/1/0", FOREST_COUNTED);
  add (forest, "/3/1/1/7", FOREST_COUNTED);
  add (forest, "/4", FOREST_OUTSIDE);

  const Tree *tree = forest_view (forest)->tree;
  g_assert_cmpuint (tree->rows, ==, 3);
  g_assert_cmpuint (tree->children->len, ==, 2);
  g_assert_cmpuint (child (tree, 1)->rows, ==, 2);
  g_assert_false (child (tree, 1)->is_saved);
  g_assert_null (child (tree, 1)->children);
}

static void
test_a_row_above_is_found (void)
{
  g_autoptr (Stems) stems = stems_new ();
  g_autoptr (Forest) forest = forest_new (stems, "/3/1/4", 1, g_free);

  add (forest, "/2", FOREST_OUTSIDE);
  add (forest, "/3/1", FOREST_SHOWN);

  const ForestView *view = forest_view (forest);
  g_assert_cmpstr (view->above, ==, "/3/1");
  g_assert_cmpuint (view->above_depth, ==, 2);
  g_assert_cmpuint (view->tree->rows, ==, 0);
  g_autofree char *above = forest_path (forest, 1);
  g_assert_cmpstr (above, ==, "/3");
}

/* What the file shows of a path without a row: the number of levels of the path whose jobs were
 * spawned, since a later sibling was. */
static void
test_neighbours_tell_what_existed (void)
{
  static const struct
  {
    const char *path, *row;
    gsize known;
  } cases[] = {
    { "/3", "/4", 1 },       /* a later sibling: spawned */
    { "/3", "/2", 0 },       /* an earlier sibling proves nothing */
    { "/3/0", "/4/7", 1 },   /* its parent was spawned */
    { "/3/0", "/3/1/1", 2 }, /* a job below a later sibling */
    { "/3/9", "/3/1/1", 1 }, { "/5/5/5", "/6", 1 }, { "/0", "/0/1", 1 },
  };
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (Stems) stems = stems_new ();
      g_autoptr (Forest) forest = forest_new (stems, cases[i].path, 1, g_free);

      forest_add (forest, cases[i].row, 1, 1, name_row, (gpointer)cases[i].row);

      g_assert_cmpuint (forest_view (forest)->depth_known, ==, cases[i].known);
    }
}

static void
test_deep_paths_join_through_their_stems (void)
{
  g_autoptr (Stems) stems = stems_new ();
  g_autoptr (GArray) numbers = g_array_new (FALSE, TRUE, sizeof (guint32));
  g_autoptr (GString) plain = g_string_new (NULL);
  for (guint i = 0; i < 130; i++)
    {
      guint32 number = i % 3;
      g_array_append_val (numbers, number);
      g_string_append_printf (plain, "/%u", number);
    }
  const guint32 *data = (const guint32 *)(void *)numbers->data;
  g_autofree char *row = path_from_numbers (stems, data, 130);
  g_autofree char *near_top = path_from_numbers (stems, data, 60);
  g_assert_cmpint (row[0], ==, '~');

  g_autoptr (Forest) below = forest_new (stems, near_top, 100, g_free);
  g_autoptr (Forest) by_numbers = forest_new (stems, plain->str, 1, g_free);
  g_autoptr (Forest) by_text = forest_new (stems, row, 1, g_free);
  add (below, row, FOREST_SHOWN);
  add (by_numbers, row, FOREST_SHOWN);
  add (by_text, row, FOREST_SHOWN);

  g_assert_cmpuint (forest_view (below)->tree->rows, ==, 1);
  g_assert_true (forest_view (by_numbers)->tree->is_saved);
  g_assert_true (forest_view (by_text)->tree->is_saved);
  g_autofree char *again = forest_path (by_numbers, 1000);
  g_assert_cmpstr (again, ==, row);
}

/* The rows of one child may be at two places in the file. They make one child in the tree. */
static void
test_a_child_that_comes_twice_is_one (void)
{
  g_autoptr (Stems) stems = stems_new ();
  g_autoptr (Forest) forest = forest_new (stems, "/", 9, g_free);

  add (forest, "/0/1", FOREST_SHOWN);
  add (forest, "/1", FOREST_SHOWN);
  add (forest, "/0/0", FOREST_SHOWN);

  const Tree *tree = forest_view (forest)->tree;
  g_assert_cmpuint (tree->children->len, ==, 2);
  g_assert_cmpuint (child (tree, 0)->rows, ==, 2);
  g_assert_cmpuint (child (child (tree, 0), 0)->number, ==, 0);
  g_assert_cmpuint (child (child (tree, 0), 1)->number, ==, 1);
  g_assert_cmpuint (tree_missing (tree), ==, 0);
}

/* A kept state replaces its job's first children: they are not missing. */
static void
test_kept_states_stand_for_children (void)
{
  g_autoptr (Stems) stems = stems_new ();
  g_autoptr (Forest) root = forest_new (stems, "/", 9, g_free);
  g_autoptr (Forest) inside = forest_new (stems, "/2/3/1", 9, g_free);
  g_autoptr (Forest) outside = forest_new (stems, "/2/5", 9, g_free);
  guint32 from, to;
  Forest *forests[] = { root, inside, outside };
  for (gsize i = 0; i < G_N_ELEMENTS (forests); i++)
    {
      forest_add (forests[i], "/2/8", 1, 1, name_row, (gpointer) "/2/8");
      forest_add_keep (forests[i], "/2", 5);
      forest_add_keep (forests[i], "/4", 1);
    }

  const Tree *tree = forest_view (root)->tree;
  g_assert_cmpuint (tree->children->len, ==, 2);
  g_assert_cmpuint (child (tree, 0)->kept, ==, 5);
  g_assert_cmpuint (child (tree, 1)->kept, ==, 1);
  g_assert_cmpuint (child (tree, 1)->rows, ==, 0);
  g_assert_true (tree_gap_before (child (tree, 0), 0, &from, &to));
  g_assert_cmpuint (from, ==, 5);
  g_assert_cmpuint (to, ==, 7);
  g_assert_cmpuint (tree_missing (tree), ==, 2 + 3 + 1);
  g_assert_cmpuint (forest_view (inside)->kept_depth, ==, 2);
  g_assert_cmpuint (forest_view (outside)->kept_depth, ==, 0);
  g_assert_cmpuint (forest_view (outside)->depth_known, ==, 2);
}

static void
show (const Tree *tree, GString *text)
{
  g_string_append_printf (text, "%u:%" G_GUINT64_FORMAT ",%g,%g,%u,%d,%d(", tree->number,
                          (guint64)tree->rows, tree->work_s, tree->weight, tree->kept,
                          tree->is_saved, tree->row != NULL);
  for (guint i = 0; tree->children != NULL && i < tree->children->len; i++)
    show (tree->children->pdata[i], text);
  g_string_append_c (text, ')');
}

/* The tree does not depend on the order of the rows and kept states. */
static void
test_the_order_does_not_matter (void)
{
  static const char *const paths[]
      = { "/1", "/1/2", "/1/2/0", "/2", "/10", "/10/3", "/2/1/1", "/0" };
  g_autoptr (GRand) rand = g_rand_new_with_seed (11);
  g_autoptr (Stems) stems = stems_new ();
  g_autofree char *first = NULL;
  guint order[2 * G_N_ELEMENTS (paths)];

  for (guint i = 0; i < G_N_ELEMENTS (order); i++)
    order[i] = i;
  for (guint round = 0; round < 200; round++)
    {
      g_autoptr (Forest) forest = forest_new (stems, "/", 9, g_free);
      g_autoptr (GString) text = g_string_new (NULL);
      for (guint i = 0; i < G_N_ELEMENTS (order); i++)
        {
          guint which = order[i] / 2;
          if (order[i] % 2 == 0)
            forest_add (forest, paths[which], which + 1, 0.25, name_row, (gpointer)paths[which]);
          else
            forest_add_keep (forest, paths[which], which % 3 + 1);
        }
      show (forest_view (forest)->tree, text);
      if (first == NULL)
        first = g_strdup (text->str);
      g_assert_cmpstr (text->str, ==, first);
      for (guint i = G_N_ELEMENTS (order) - 1; i > 0; i--)
        {
          guint j = g_rand_int (rand) % (i + 1), other = order[i];
          order[i] = order[j];
          order[j] = other;
        }
    }
}

static void
test_only_paths_are_paths (void)
{
  static const char *const wrong[]
      = { "", "0", "x", "//", "/0/", "/00", "/-1", "/4294967296", "/0/x", "~0123456789abcdef/0" };
  g_autoptr (Stems) stems = stems_new ();

  for (gsize i = 1; i < G_N_ELEMENTS (wrong); i++)
    g_assert_null (forest_new (stems, wrong[i], 1, g_free));

  g_autoptr (Forest) root = forest_new (stems, wrong[0], 1, g_free);
  g_assert_nonnull (root);
  add (root, "~0123456789abcdef/0", FOREST_UNKNOWN);
  add (root, "/00", FOREST_UNKNOWN);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/forest/rows-make-a-tree-by-numbers", test_rows_make_a_tree_by_numbers);
  g_test_add_func ("/forest/each-root-is-one", test_each_root_is_a_forest);
  g_test_add_func ("/forest/gaps-are-what-is-missing", test_gaps_are_what_is_missing);
  g_test_add_func ("/forest/the-order-does-not-matter", test_the_order_does_not_matter);
  g_test_add_func ("/forest/what-lies-deeper-is-only-counted",
                   test_what_lies_deeper_is_only_counted);
  g_test_add_func ("/forest/a-row-above-is-found", test_a_row_above_is_found);
  g_test_add_func ("/forest/neighbours-tell-what-existed", test_neighbours_tell_what_existed);
  g_test_add_func ("/forest/deep-paths-join-through-their-stems",
                   test_deep_paths_join_through_their_stems);
  g_test_add_func ("/forest/a-child-that-comes-twice-is-one", test_a_child_that_comes_twice_is_one);
  g_test_add_func ("/forest/kept-states-stand-for-children", test_kept_states_stand_for_children);
  g_test_add_func ("/forest/only-paths-are-paths", test_only_paths_are_paths);
  return g_test_run ();
}
