/* SPDX-License-Identifier: BSD-3-Clause */
/* What `satin inspect` and the page of `satin view` show of checkpoints whose every row is known:
 * inspect-shown.txt has the texts as a whole, so each figure that people see stands there. */
#include "captured.h"
#include "known-checkpoint.h"

#include "command/command-inspect.h"
#include "command/view-tree.h"

#include "coordinator/mark.h"

#include <locale.h>
#include <sqlite3.h>

#define LEFT_OUT "..."

/* (transfer full): what the command prints, then its messages, and its exit code if that is not 0.
 * FILE stands for the file's path, COUNTS for the text in which the file counts its own rows, since
 * that has checksums. */
static char *
inspected (const Fixture *f, const char *options)
{
  g_autofree char *line = g_strdup_printf ("inspect %s %s", f->target, options);
  g_auto (GStrv) argv = g_strsplit (g_strchomp (line), " ", -1);
  g_autoptr (GRegex) counts = g_regex_new ("\"rows\":\"[^\"]*\"", 0, 0, NULL);
  Captured err = captured_begin (STDERR_FILENO), out = captured_begin (STDOUT_FILENO);
  int code = command_inspect ((int)g_strv_length (argv), argv);
  g_autofree char *text = captured_end (&out), *messages = captured_end (&err);
  g_autofree char *exit_code
      = code != COMMAND_DONE ? g_strdup_printf ("exit code %d\n", code) : g_strdup ("");
  g_autofree char *all = g_strconcat (text, messages, exit_code, NULL);
  g_auto (GStrv) parts = g_strsplit (all, f->target, -1);
  g_autofree char *named = g_strjoinv ("FILE", parts);

  return g_regex_replace_literal (counts, named, -1, 0, "\"rows\":\"COUNTS\"", 0, NULL);
}

/* (transfer full): what the page of `satin view` gets: facts and state, the ledger, or the boxes of
 * the job PATH that has a SHARE. READ stands for the time at which the file was read. */
static char *
viewed (const Fixture *f, const char *what)
{
  g_autoptr (ViewTree) tree = view_tree_new (f->target);
  g_auto (GStrv) words = g_strsplit (what, " ", -1);
  g_autoptr (GRegex) time = g_regex_new ("\"read\":[0-9]+", 0, 0, NULL);
  gboolean is_new;
  double done;

  g_assert_true (view_tree_read (tree, &is_new, NULL));
  g_assert_true (is_new);
  g_assert_true (view_tree_read (tree, &is_new, NULL));
  g_assert_false (is_new);
  g_autofree char *facts = view_tree_facts (tree), *state = view_tree_state (tree, &done);
  g_autofree char *name = view_tree_name (tree);
  g_autofree char *json
      = strcmp (words[0], "ledger") == 0 ? view_tree_ledger (tree, NULL)
        : strcmp (words[0], "boxes") == 0
            ? view_tree_boxes (tree, words[1], g_ascii_strtod (words[2], NULL), NULL)
            : g_strdup_printf ("%s: %s, %g, {%s}", name, state, done, facts);
  g_autofree char *line = g_strconcat (json, "\n", NULL);
  return g_regex_replace_literal (time, line, -1, 0, "\"read\":READ", 0, NULL);
}

/* TRUE: `text` consists of `wanted`, in which LEFT_OUT stands for any text. */
static gboolean
is_like (const char *text, const char *wanted)
{
  g_auto (GStrv) parts = g_strsplit (wanted, LEFT_OUT, -1);
  const char *at = text;

  if (!g_str_has_prefix (text, parts[0]))
    return FALSE;
  for (guint i = 0; parts[i] != NULL; i++)
    {
      const char *found = strstr (at, parts[i]);
      if (found == NULL)
        return FALSE;
      at = found + strlen (parts[i]);
    }
  return *at == '\0'
         || (parts[1] != NULL && g_str_has_suffix (at, parts[g_strv_length (parts) - 1]));
}

/* Each section of the text file that is about this checkpoint. */
static void
check_all (const Fixture *f, const char *name)
{
  const char *source = g_getenv ("SATIN_SOURCE");
  g_autofree char *all = NULL;

  if (source == NULL)
    {
      g_test_skip ("SATIN_SOURCE is not set");
      return;
    }
  g_autofree char *path = g_build_filename (source, "tests/unit/inspect-shown.txt", NULL);
  g_assert_true (g_file_get_contents (path, &all, NULL, NULL));
  g_auto (GStrv) sections = g_strsplit (all, "\n$ ", -1);
  guint n = 0;
  for (guint i = 1; sections[i] != NULL; i++)
    {
      char *wanted = strchr (sections[i], '\n');
      g_assert_nonnull (wanted);
      *wanted++ = '\0';
      if (!g_str_has_prefix (sections[i], name))
        continue;
      const char *options = sections[i] + strlen (name);
      options += *options == ' ';
      g_autofree char *text = g_str_has_prefix (options, "view ")
                                  ? viewed (f, options + strlen ("view "))
                                  : inspected (f, options);
      if (!is_like (text, wanted))
        g_error ("inspect %s shows:\n%s", sections[i], text);
      n++;
    }
  g_assert_cmpuint (n, >, 0);
}

static void
each_figure_of_a_checkpoint_is_shown (Fixture *f, gconstpointer unused)
{
  (void)unused;
  write_small (f);
  check_all (f, "small");
}

/* What has no room is counted; each root is a tree of its own; paths with stems are read. */
static void
a_large_checkpoint_is_shown_in_part (Fixture *f, gconstpointer unused)
{
  (void)unused;
  write_large (f);
  check_all (f, "large");
}

static void
change (const Fixture *f, const char *statements)
{
  sqlite3 *db = NULL;

  g_assert_cmpint (sqlite3_open (f->target, &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (db, statements, NULL, NULL, NULL), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_close (db), ==, SQLITE_OK);
}

/* A row whose checksum is wrong counts as missing, in each figure. */
static void
damaged_rows_are_counted (Fixture *f, gconstpointer unused)
{
  (void)unused;
  write_small (f);
  change (f, "UPDATE result SET value = value + 1 WHERE path = '/2/4';"
             "UPDATE keep SET children = 5;"
             "DELETE FROM result WHERE path = '/9'");
  check_all (f, "damaged");
}

/* A result whose stem is lost is useless. What the file does not count may be missing. */
static void
rows_of_no_use_are_counted (Fixture *f, gconstpointer unused)
{
  (void)unused;
  write_large (f);
  change (f, "DELETE FROM stem");
  check_all (f, "stemless");
}

/* Anybody can make checksums, also of rows that no node writes. */
static void
rows_at_no_path_are_counted (Fixture *f, gconstpointer unused)
{
  (void)unused;
  g_assert_true (results_begin (f->results, NULL));
  put_result (f, "/0", ONE, 1.5, 1.0 / 16, NULL);
  put_result (f, "/01", ONE, 1, 1.0 / 16, NULL);
  put_result (f, "/1/", ONE, 1, 1.0 / 16, NULL);
  put_state (f, "/2x", 3);
  put_state (f, "/3", 3);
  results_meet_stem (f->results, "0123456789abcdef", "/7/1");
  put_result (f, "~0123456789abcdef/0", ONE, 1, 1.0 / 16, NULL);
  g_assert_true (results_commit (f->results, NULL));
  publish (f);
  check_all (f, "pathless");
}

static void
a_lost_count_is_told (Fixture *f, gconstpointer unused)
{
  (void)unused;
  write_small (f);
  change (f, "DELETE FROM run WHERE key = 'rows'; DELETE FROM constant WHERE name = 'run/rows'");
  check_all (f, "uncounted");
}

/* All rows are found, but not by SQLite. */
static void
a_file_that_sqlite_cannot_read_is_damaged (Fixture *f, gconstpointer unused)
{
  static const guint8 zeros[16];
  FILE *file;

  (void)unused;
  write_small (f);
  file = fopen (f->target, "r+");
  g_assert_cmpuint (fwrite (zeros, sizeof zeros, 1, file), ==, 1);
  g_assert_cmpint (fclose (file), ==, 0);
  check_all (f, "headless");
}

/* Of many events the newest are shown, and the others are counted. Of many publications some are
 * shown, with the last one. */
static void
the_newest_events_are_shown (Fixture *f, gconstpointer unused)
{
  g_autoptr (ViewTree) tree = view_tree_new (f->target);

  (void)unused;
  write_small (f);
  g_assert_true (results_begin (f->results, NULL));
  g_assert_true (sql_run (f->sql, "DELETE FROM event", NULL));
  for (gint64 i = 0; i < VIEW_TREE_EVENTS_MAX + 5; i++)
    g_assert_true (
        tables_put_event (f->sql, &(TablesEvent){ .at = 1000 + i, .kind = "crash" }, 1000, NULL));
  for (gint64 i = 0; i < VIEW_TREE_MOMENTS_MAX + 60; i++)
    {
      const TablesEvent event
          = { .at = 2000 + i, .kind = "published", .detail = "generation 7, 50.00 % done before" };
      g_assert_true (tables_put_event (f->sql, &event, 1000, NULL));
    }
  g_assert_true (results_commit (f->results, NULL));
  publish (f);
  g_assert_true (view_tree_read (tree, NULL, NULL));
  g_autofree char *json = view_tree_ledger (tree, NULL);
  g_assert_nonnull (strstr (json, "\"older\":5,\"events\":[{\"at\":1005,"));
  g_assert_nonnull (strstr (json, "[2299,0.5]],\"lost_jobs\""));
  g_assert_nonnull (strstr (json, "{\"at\":1154,\"kind\":\"crash\"}]"));
}

static gboolean
is_new_now (ViewTree *tree)
{
  gboolean is_new = FALSE;

  g_assert_true (view_tree_read (tree, &is_new, NULL));
  return is_new;
}

/* The page follows the file and its delta, and keeps what it has while there is no file to read. */
static void
the_page_follows_the_file (Fixture *f, gconstpointer unused)
{
  g_autofree char *delta = g_strconcat (f->target, "-delta", NULL);
  g_autofree char *elsewhere = g_strconcat (f->target, "-elsewhere", NULL);
  g_autoptr (ViewTree) tree = view_tree_new (f->target);
  gboolean is_new = TRUE;
  double done;

  (void)unused;
  g_assert_false (view_tree_read (tree, &is_new, NULL));
  g_assert_false (is_new);
  g_assert_null (view_tree_ledger (tree, NULL));
  write_small (f);
  g_assert_true (is_new_now (tree));
  g_assert_false (is_new_now (tree));
  for (guint i = 0; i < 2; i++)
    {
      g_assert_true (g_file_set_contents (delta, i == 0 ? "a" : "ab", -1, NULL));
      g_assert_true (is_new_now (tree));
      g_assert_false (is_new_now (tree));
    }
  g_assert_cmpint (g_unlink (delta), ==, 0);
  g_assert_true (is_new_now (tree));
  g_assert_cmpint (g_rename (f->target, elsewhere), ==, 0);
  g_assert_false (view_tree_read (tree, &is_new, NULL));
  g_assert_false (is_new);
  g_autofree char *state = view_tree_state (tree, &done);
  g_assert_cmpfloat (done, >, 0);
  g_assert_cmpint (g_rename (elsewhere, f->target), ==, 0);
  publish (f);
  g_assert_true (is_new_now (tree));
}

int
main (int argc, char **argv)
{
  static const NamedTest tests[]
      = { { "/inspect/each-figure", each_figure_of_a_checkpoint_is_shown },
          { "/inspect/page-follows-file", the_page_follows_the_file },
          { "/inspect/newest-events", the_newest_events_are_shown },
          { "/inspect/large", a_large_checkpoint_is_shown_in_part },
          { "/inspect/damaged", damaged_rows_are_counted },
          { "/inspect/no-use", rows_of_no_use_are_counted },
          { "/inspect/no-path", rows_at_no_path_are_counted },
          { "/inspect/no-count", a_lost_count_is_told },
          { "/inspect/no-header", a_file_that_sqlite_cannot_read_is_damaged } };

  g_setenv ("TZ", "UTC", TRUE);
  setlocale (LC_CTYPE, "C.UTF-8");
  mark_prove_files (FALSE);
  return run_tests (argc, argv, tests, G_N_ELEMENTS (tests));
}
