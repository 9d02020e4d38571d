/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of the files in a run's folder. A rule of tests/tidy forbids these names elsewhere. */
#include "folder/folder-names.h"
#include "folder/folder.h"

#include <string.h>

/* Each name is in the table once, with a writer and a reader. */
static void
test_rows (void)
{
  guint n;
  const FolderName *rows = folder_names (&n);

  g_assert_cmpuint (n, >, 20);
  for (guint i = 0; i < n; i++)
    {
      g_assert_cmpstr (rows[i].name, !=, "");
      g_assert_cmpint (rows[i].writers, !=, FOLDER_BY_NOBODY);
      g_assert_cmpint (rows[i].readers, !=, FOLDER_BY_NOBODY);
      g_assert_cmpstr (rows[i].what, !=, "");
      for (guint k = 0; k < i; k++)
        g_assert_false (rows[i].kind == rows[k].kind && strcmp (rows[i].name, rows[k].name) == 0);
    }
}

static const char *
name_of (const char *file)
{
  const FolderName *row = folder_names_find (file);

  return row != NULL ? row->name : NULL;
}

static void
test_find (void)
{
  g_autofree char *stats = folder_node_file (12, FOLDER_NODE_STATS);

  g_assert_cmpstr (name_of ("end"), ==, "end");
  g_assert_cmpstr (name_of ("answer.code"), ==, "answer.code");
  g_assert_cmpstr (name_of ("founder"), ==, "founder");
  g_assert_cmpstr (name_of ("founder-0"), ==, "founder-");
  g_assert_cmpstr (name_of ("batch-abcdef"), ==, "batch-");
  g_assert_cmpstr (name_of (stats), ==, "stats");
  static const char *const none[]
      = { "",     "ende",          "founder-",      "batch-",      "stats",
          "node", "node-.stats",   "node-1.statsx", "node-1stats", "xend",
          ".end", "node-1x.stats", "node-1.",       "node-",       "../end" };
  for (guint i = 0; i < G_N_ELEMENTS (none); i++)
    g_assert_null (name_of (none[i]));
}

/* A node on another host may put only these files into the folder, for it may be hostile. */
static void
test_travel (void)
{
  static const char *const from_far[]
      = { "answer", "answer.code", "answer.err", "error", "end", "address", "stats", "trouble" };
  static const char *const from_founder[] = { "id", "build" };
  guint n, n_far = 0, n_founder = 0;
  const FolderName *rows = folder_names (&n);

  for (guint i = 0; i < n; i++)
    {
      gboolean far = FALSE, founder = FALSE;
      for (guint k = 0; k < G_N_ELEMENTS (from_far); k++)
        far = far || strcmp (rows[i].name, from_far[k]) == 0;
      for (guint k = 0; k < G_N_ELEMENTS (from_founder); k++)
        founder = founder || strcmp (rows[i].name, from_founder[k]) == 0;
      g_assert_cmpint (rows[i].travel == FOLDER_FROM_FAR, ==, far);
      g_assert_cmpint (rows[i].travel == FOLDER_FROM_FOUNDER, ==, founder);
      n_far += far;
      n_founder += founder;
    }
  g_assert_cmpuint (n_far, ==, G_N_ELEMENTS (from_far));
  g_assert_cmpuint (n_founder, ==, G_N_ELEMENTS (from_founder));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/folder-names/rows", test_rows);
  g_test_add_func ("/folder-names/find", test_find);
  g_test_add_func ("/folder-names/travel", test_travel);
  return g_test_run ();
}
