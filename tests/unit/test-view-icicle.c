/* SPDX-License-Identifier: BSD-3-Clause */
/* The boxes of a job tree: where they are, how wide they are, and that their number is limited. */
#include "satin/command/view-icicle.h"
#include "text/json.h"

#include <math.h>
#include <string.h>

static gpointer
make_row (guint level, gpointer data)
{
  ViewIcicleRow *row = g_new0 (ViewIcicleRow, 1);

  (void)level;
  row->job = g_strdup ("job");
  row->node = g_strdup ("1.1");
  row->value = g_strdup (data);
  row->saved = 7;
  row->args = g_strdup ("[\"</script>\",1]");
  row->began = 5;
  row->took_s = 1.5;
  return row;
}

static void
add (Forest *forest, const char *path, double weight)
{
  g_assert_cmpint (forest_add (forest, path, 1, weight, make_row, (gpointer) "<b>"), !=,
                   FOREST_UNKNOWN);
}

static GVariant *
draw (Forest *forest, Stems *stems, double weight, gsize *size)
{
  g_autoptr (GString) json = g_string_new (NULL);
  g_autofree char *path = forest_path (forest, G_MAXSIZE);

  view_icicle_append (json, stems, forest_view (forest)->tree, path, weight);
  if (size != NULL)
    *size = json->len;
  GVariant *top = json_read (json->str);
  g_assert_nonnull (top);
  return top;
}

static GVariant *
below (GVariant *box, guint i)
{
  g_autoptr (GVariant) boxes = g_variant_lookup_value (box, "in", G_VARIANT_TYPE ("av"));
  GVariant *found = NULL;

  g_assert_nonnull (boxes);
  g_assert_cmpuint (i, <, g_variant_n_children (boxes));
  g_variant_get_child (boxes, i, "v", &found);
  return found;
}

static guint
count_below (GVariant *box)
{
  g_autoptr (GVariant) boxes = g_variant_lookup_value (box, "in", G_VARIANT_TYPE ("av"));

  return boxes != NULL ? (guint)g_variant_n_children (boxes) : 0;
}

static double
number (GVariant *box, const char *key)
{
  double value = NAN;

  g_variant_lookup (box, key, "d", &value);
  return value;
}

static void
assert_box (GVariant *top, guint i, const char *kind, double n, double width)
{
  g_autoptr (GVariant) box = below (top, i);
  const char *its = NULL;

  g_variant_lookup (box, "k", "&s", &its);
  g_assert_cmpstr (its, ==, kind);
  g_assert_cmpfloat (number (box, "n"), ==, n);
  g_assert_cmpfloat_with_epsilon (number (box, "w"), width, 1e-5);
}

/* Ten children: 1 and 3 are saved, 4 is saved in part; 0 and 2 are missing, 5 to 9 are not
 * known. */
static void
test_kinds (void)
{
  g_autoptr (Stems) stems = stems_new ();
  g_autoptr (Forest) forest = forest_new (stems, "/", 8, view_icicle_row_free);
  const char *path = NULL, *value = NULL, *args = NULL;

  add (forest, "/1", 0.1);
  add (forest, "/3", 0.1);
  add (forest, "/4/0", 0.05);
  g_autoptr (GVariant) top = draw (forest, stems, 1, NULL);
  g_assert_cmpuint (count_below (top), ==, 6);
  assert_box (top, 0, "missing", 0, 0.1);
  assert_box (top, 1, "saved", 1, 0.1);
  assert_box (top, 2, "missing", 2, 0.1);
  assert_box (top, 3, "saved", 3, 0.1);
  assert_box (top, 4, "work", 4, 0.1);
  assert_box (top, 5, "later", 5, 0.5);
  g_autoptr (GVariant) four = below (top, 4), three = below (top, 3);
  assert_box (four, 0, "saved", 0, 0.05);
  assert_box (four, 1, "later", 1, 0.05);
  g_assert_cmpfloat_with_epsilon (number (four, "s"), 0.05, 1e-9);
  g_variant_lookup (three, "p", "&s", &path);
  g_variant_lookup (three, "value", "&s", &value);
  g_assert_cmpstr (path, ==, "/3");
  g_assert_cmpstr (value, ==, "<b>");
  g_assert_cmpfloat (number (three, "at"), ==, 7);
  g_variant_lookup (three, "args", "&s", &args);
  g_assert_cmpstr (args, ==, "[\"</script>\",1]");
  g_assert_cmpfloat (number (three, "began"), ==, 5);
  g_assert_cmpfloat (number (three, "took_s"), ==, 1.5);
}

static void
test_kept (void)
{
  g_autoptr (Stems) stems = stems_new ();
  g_autoptr (Forest) forest = forest_new (stems, "/", 8, view_icicle_row_free);

  add (forest, "/6", 0.125);
  forest_add_keep (forest, "", 4);
  g_autoptr (GVariant) top = draw (forest, stems, 1, NULL);
  assert_box (top, 0, "kept", 0, 0.5);
  assert_box (top, 1, "missing", 4, 0.25);
  assert_box (top, 2, "saved", 6, 0.125);
  assert_box (top, 3, "later", 7, 0.125);
}

/* Contradictory shares do not make boxes wider than their parent. */
static void
test_fits (void)
{
  g_autoptr (Stems) stems = stems_new ();
  g_autoptr (Forest) forest = forest_new (stems, "/", 8, view_icicle_row_free);
  double sum = 0;

  add (forest, "/0", 0.5);
  add (forest, "/1", 0.5);
  add (forest, "/7", 0.5);
  g_autoptr (GVariant) top = draw (forest, stems, 1, NULL);
  for (guint i = 0; i < count_below (top); i++)
    {
      g_autoptr (GVariant) box = below (top, i);
      sum += number (box, "w");
    }
  g_assert_cmpfloat (sum, <=, number (top, "w") * 1.0001);
}

static void
test_nothing (void)
{
  g_autoptr (Stems) stems = stems_new ();
  g_autoptr (Forest) forest = forest_new (stems, "/", 8, view_icicle_row_free);
  g_autoptr (GVariant) top = draw (forest, stems, 1, NULL);

  g_assert_cmpuint (count_below (top), ==, 0);
  g_assert_cmpfloat (number (top, "w"), ==, 1);
}

static guint
count_all (GVariant *box, double *rows)
{
  guint n = 1;

  if (count_below (box) == 0)
    *rows += number (box, "rows");
  for (guint i = 0; i < count_below (box); i++)
    {
      g_autoptr (GVariant) one = below (box, i);
      n += count_all (one, rows);
    }
  return n;
}

/* 40,000 rows become a few hundred boxes, and every row counts in one of them. */
static void
test_is_bounded (void)
{
  g_autoptr (Stems) stems = stems_new ();
  g_autoptr (Forest) forest = forest_new (stems, "/", 8, view_icicle_row_free);
  double rows = 0;
  gsize size;

  for (guint i = 0; i < 200; i++)
    for (guint k = 0; k < 200; k++)
      {
        g_autofree char *path = g_strdup_printf ("/%u/%u", i, k);

        add (forest, path, 1 / 40000.0);
      }
  g_autoptr (GVariant) top = draw (forest, stems, 1, &size);
  g_assert_cmpuint (count_all (top, &rows), <=, VIEW_ICICLE_BOXES_MAX);
  g_assert_cmpfloat (rows, ==, 40000);
  g_assert_cmpuint (size, <, 100000);
}

/* Unfinished children without any saved one share their parent's width. */
static void
test_shares_of_unfinished (void)
{
  g_autoptr (Stems) stems = stems_new ();
  g_autoptr (Forest) forest = forest_new (stems, "/", 8, view_icicle_row_free);

  add (forest, "/1/0", 0.01);
  add (forest, "/3/0", 0.3);
  g_autoptr (GVariant) top = draw (forest, stems, 0.8, NULL);
  double fit = 0.8 / (3 * 0.2 + 0.3); /* /3 is wider than a quarter */
  assert_box (top, 0, "missing", 0, 0.2 * fit);
  assert_box (top, 1, "work", 1, 0.2 * fit);
  assert_box (top, 2, "missing", 2, 0.2 * fit);
  assert_box (top, 3, "work", 3, 0.3 * fit);
  g_assert_cmpuint (count_below (top), ==, 4);
}

/* The children of each box have all numbers from 0 on, each once, and fit into it; what is saved
 * below it is in them. A job's kept state stands for the children that it replaces. */
static void
check_below (GVariant *box, gboolean has_kept)
{
  double next = 0, width = 0, saved = 0, rows = 0;
  const char *kind = NULL;

  g_variant_lookup (box, "k", "&s", &kind);
  for (guint i = 0; i < count_below (box); i++)
    {
      g_autoptr (GVariant) child = below (box, i);
      double to = number (child, "to");

      g_assert_cmpfloat (number (child, "n"), ==, next);
      g_assert_cmpfloat (number (child, "w"), >, 0);
      next = (isnan (to) ? next : to) + 1;
      width += number (child, "w");
      saved += isnan (number (child, "s")) ? 0 : number (child, "s");
      rows += isnan (number (child, "rows")) ? 0 : number (child, "rows");
      check_below (child, has_kept);
    }
  if (next == 0)
    return;
  g_assert_cmpfloat (width, <=, number (box, "w") * 1.0001);
  if (has_kept || strcmp (kind, "saved") == 0)
    return; /* other rows may still be in the file, too */
  g_assert_cmpfloat (rows, ==, number (box, "rows"));
  g_assert_cmpfloat_with_epsilon (saved, number (box, "s"), 1e-4 * number (box, "w"));
}

static void
test_children_fill_their_parent (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);

  for (guint round = 0; round < 300; round++)
    {
      g_autoptr (Stems) stems = stems_new ();
      g_autoptr (Forest) forest = forest_new (stems, "/", 8, view_icicle_row_free);
      gboolean has_kept = round % 2 == 1;
      guint children = 1 + g_rand_int (rand) % (round % 5 == 0 ? 600 : 6);
      g_autoptr (GHashTable) paths = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

      for (guint i = 0; i < 1 + children / 2; i++)
        {
          g_autoptr (GString) path = g_string_new (NULL);
          double weight = g_rand_int (rand) % 4 == 0 ? 1e-4 : g_rand_double_range (rand, 0.5, 2);

          for (guint level = 1 + g_rand_int (rand) % 4; level > 0; level--, weight /= children)
            g_string_append_printf (path, "/%u", g_rand_int (rand) % children);
          if (has_kept && g_rand_boolean (rand))
            forest_add_keep (forest, path->str, 1 + g_rand_int (rand) % children);
          else if (g_hash_table_add (paths, g_strdup (path->str)))
            add (forest, path->str, weight);
        }
      g_autoptr (GVariant) top = draw (forest, stems, 1, NULL);
      check_below (top, has_kept);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/view-icicle/kinds", test_kinds);
  g_test_add_func ("/view-icicle/kept", test_kept);
  g_test_add_func ("/view-icicle/fits", test_fits);
  g_test_add_func ("/view-icicle/nothing", test_nothing);
  g_test_add_func ("/view-icicle/is-bounded", test_is_bounded);
  g_test_add_func ("/view-icicle/shares-of-unfinished", test_shares_of_unfinished);
  g_test_add_func ("/view-icicle/children-fill-their-parent", test_children_fill_their_parent);
  return g_test_run ();
}
