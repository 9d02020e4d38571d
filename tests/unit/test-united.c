/* SPDX-License-Identifier: BSD-3-Clause */
/* Which rows of a file are taken over: every row whose checksum is right and that a node could have
 * written, and each is reported once (coordinator/takeover.c). */
#include "coordinator/takeover.h"

#include "digest.h"

#include "storage/rowsum.h"
#include "storage/tables.h"

#include <string.h>

#define IDENTITY "0123456789abcdef0123456789abcdef"

static const guint8 digest[sizeof (Digest) + 1];

static Result
result_of (const char *path, gsize digest_size, const char *type, GBytes *value)
{
  return (Result){ .path = path,
                   .node = "",
                   .job = "queens",
                   .type = type,
                   .digest = digest,
                   .digest_size = digest_size,
                   .value = value,
                   .saved = 1700000000,
                   .weight = 0.1 };
}

static Keep
keep_of (const char *path, gsize digest_size, const char *type, GBytes *value)
{
  return (Keep){ .path = path,
                 .children = 1,
                 .digest = digest,
                 .digest_size = digest_size,
                 .type = type,
                 .value = value };
}

/* A row of a node has a canonical path, a whole digest and a valid type. */
static const struct
{
  const char *path;
  gsize digest_size;
  const char *type;
  gboolean sound;
} kinds[] = {
  { "/0/3", sizeof (Digest), "x", TRUE },
  { "", sizeof (Digest), "(xay)", TRUE },
  { "1:/2", sizeof (Digest), "x", TRUE },
  { "/00", sizeof (Digest), "x", FALSE },
  { "0", sizeof (Digest), "x", FALSE },
  { "/0/", sizeof (Digest), "x", FALSE },
  { "/0", sizeof (Digest) - 1, "x", FALSE },
  { "/0", sizeof (Digest) + 1, "x", FALSE },
  { "/0", 0, "x", FALSE },
  { "/0", sizeof (Digest), "(x", FALSE },
  { "/0", sizeof (Digest), "", FALSE },
  { "/0", sizeof (Digest), "xx", FALSE },
};

static void
test_what_is_sound (void)
{
  g_autoptr (GBytes) value = g_bytes_new ("12345678", 8);

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      Result row = result_of (kinds[i].path, kinds[i].digest_size, kinds[i].type, value);
      Keep keep = keep_of (kinds[i].path, kinds[i].digest_size, kinds[i].type, value);

      g_assert_cmpint (takeover_row_is_sound (&row), ==, kinds[i].sound);
      g_assert_cmpint (takeover_keep_is_sound (&keep), ==, kinds[i].sound);
    }
}

typedef struct
{
  GString *rows, *keeps;
} Taken;

static gboolean
on_row (const Result *row, gpointer data, GError **error)
{
  (void)error;
  g_string_append_printf (((Taken *)data)->rows, "%s ", row->path);
  return TRUE;
}

static gboolean
on_keep (const Keep *keep, gpointer data, GError **error)
{
  (void)error;
  g_string_append_printf (((Taken *)data)->keeps, "%s ", keep->path);
  return TRUE;
}

/* A file in memory. */
static Sql *
file_new (Results **results)
{
  g_autoptr (GError) error = NULL;
  Sql *sql = sql_create_private (0, &error);

  g_assert_no_error (error);
  rowsum_identify (sql, IDENTITY);
  *results = results_new (sql, &error);
  g_assert_no_error (error);
  return sql;
}

/* Sound rows are taken and reported; others are counted as bad, and nobody hears of them. A stem
 * whose text is none is bad, too. */
static void
test_what_is_taken (void)
{
  g_autoptr (GBytes) value = g_bytes_new ("12345678", 8);
  g_autoptr (GError) error = NULL;
  g_autoptr (Stems) stems = stems_new ();
  Results *from_rows, *to_rows;
  gboolean written;
  Taken taken = { g_string_new (NULL), g_string_new (NULL) };
  Takeover takeover = { .each = on_row, .each_keep = on_keep, .data = &taken };
  const Result rows[] = { result_of ("/0", sizeof (Digest), "x", value),
                          result_of ("/01", sizeof (Digest), "x", value),
                          result_of ("/2", sizeof (Digest) - 1, "x", value),
                          result_of ("/3", sizeof (Digest), "x", value) };
  const Keep keeps[]
      = { keep_of ("/5", sizeof (Digest), "x", value), keep_of ("/06", sizeof (Digest), "x", value),
          keep_of ("/7", 3, "x", value) };

  Sql *from = file_new (&from_rows), *to = file_new (&to_rows);
  g_assert_true (results_begin (from_rows, &error));
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    g_assert_true (results_put (from_rows, &rows[i], &written, &error) && written);
  for (guint i = 0; i < G_N_ELEMENTS (keeps); i++)
    g_assert_true (results_put_keep (from_rows, &keeps[i], 0, &written, &error) && written);
  g_assert_true (sql_run (from,
                          "INSERT INTO stem SELECT 'fedcba9876543210', '/0/1',"
                          " row_sum ('stem', 'fedcba9876543210', '/0/1')",
                          &error));
  g_assert_no_error (error);
  g_assert_true (results_commit (from_rows, &error));

  g_assert_true (results_begin (to_rows, &error));
  g_assert_true (takeover_unite (to_rows, to, from, stems, &takeover, &error));
  g_assert_no_error (error);
  g_assert_true (results_commit (to_rows, &error));

  g_assert_cmpstr (taken.rows->str, ==, "/0 /3 ");
  g_assert_cmpstr (taken.keeps->str, ==, "/5 ");
  g_assert_cmpuint (takeover.rows, ==, 3);
  g_assert_cmpuint (takeover.bad, ==, 5); /* two rows, two kept states, a stem */
  g_assert_cmpuint (results_totals (to_rows).rows, ==, 2);
  g_assert_true (results_has_keeps (to_rows));
  g_string_free (taken.rows, TRUE);
  g_string_free (taken.keeps, TRUE);
  results_free (from_rows);
  results_free (to_rows);
  sql_free (from);
  sql_free (to);
}

/* TRUE: the file is copied as it is, after each of its rows was proved, in one of two ways. */
static gboolean
is_proved_whole (Sql *sql, gboolean ahead)
{
  g_autoptr (GError) error = NULL;
  Takeover takeover = { 0 };
  gboolean is_whole = FALSE;
  if (ahead)
    {
      ResultsTotals totals;
      return takeover_prove (sql, &totals, &takeover) && takeover_agrees (sql, &totals);
    }
  g_autoptr (Results) results = results_new (sql, &error);
  g_assert_no_error (error);
  g_assert_true (takeover_whole (results, sql, &is_whole, &takeover, &error));
  g_assert_no_error (error);
  return is_whole;
}

/* A file that has a row of no use is not copied as it is, whatever row comes before that. */
static void
test_only_sound_files_are_copied (void)
{
  g_autoptr (GBytes) value = g_bytes_new ("12345678", 8);
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    for (guint way = 0; way < 4; way++)
      {
        Results *results;
        g_autoptr (GError) error = NULL;
        gboolean written;
        Result row = result_of (kinds[i].path, kinds[i].digest_size, kinds[i].type, value);
        Result first = result_of ("/0/2", sizeof (Digest), kinds[i].type, value);
        Sql *sql = file_new (&results);
        g_assert_true (results_begin (results, &error));
        if (way >= 2 && strcmp (row.path, first.path) > 0)
          g_assert_true (results_put (results, &first, &written, &error));
        g_assert_true (results_put (results, &row, &written, &error));
        g_assert_true (results_commit (results, &error));
        results_free (results);
        g_assert_true (sql_run (sql, "DROP TABLE temp.stem_at", &error));
        g_assert_cmpint (is_proved_whole (sql, way % 2), ==, kinds[i].sound);
        sql_free (sql);
      }
}

/* Rows that are of no use are reported as damaged results, even if the audit found none. */
static void
test_what_is_left_out_is_said (void)
{
  g_autoptr (GError) error = NULL;
  Results *results;
  g_autoptr (GBytes) value = g_bytes_new ("12345678", 8);
  Result row = result_of ("/0", sizeof (Digest), "x", value);
  Sql *sql = file_new (&results);
  gboolean written;
  Audit audit;

  g_assert_true (results_begin (results, &error) && results_put (results, &row, &written, &error)
                 && results_commit (results, &error));
  g_assert_true (audit_file (sql, &audit, &error));
  g_assert_null (takeover_damage (sql, &audit, 0));
  sql->is_salvage = TRUE; /* only its rows were found: a file is damaged that has lost none, too */
  g_autofree char *of_salvage = takeover_damage (sql, &audit, 0);
  g_assert_nonnull (of_salvage);
  sql->is_salvage = FALSE;
  g_autofree char *words = takeover_damage (sql, &audit, 2);
  g_assert_nonnull (words);
  g_assert_nonnull (strstr (words, "(2 of "));
  g_assert_cmpuint (audit.tables[INVENTORY_RESULT].damaged, ==, 0);
  results_free (results);
  sql_free (sql);
}

/* A file says how many results it has, and which share of the tree they are: at most all of it,
 * even if rounded weights add up to more. */
static void
test_a_file_counts_itself (void)
{
  static const struct
  {
    double weight;
    const char *done;
  } cases[] = { { 0.25, "0.500000" }, { 0.50001, "1.000000" }, { 0, "0.000000" } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (Sql) sql = sql_create_private (0, NULL);
      g_autoptr (GBytes) value = g_bytes_new_static ("\7\0\0\0\0\0\0\0", 8);
      gboolean written;
      rowsum_identify (sql, IDENTITY);
      g_autoptr (Results) results = results_new (sql, NULL);
      g_assert_true (results_begin (results, NULL));
      for (guint k = 0; k < 2; k++)
        {
          Result row = result_of (k == 0 ? "/0" : "/1", sizeof (Digest), "x", value);
          row.weight = cases[i].weight;
          g_assert_true (results_put (results, &row, &written, NULL));
        }
      g_assert_true (takeover_number (sql, results, 7, NULL));
      g_assert_true (results_commit (results, NULL));
      g_autofree char *done = tables_get_string (sql, "done", NULL);
      g_autofree char *rows = tables_get_string (sql, "results", NULL);
      g_autofree char *generation = tables_get_string (sql, "generation", NULL);
      g_assert_cmpstr (done, ==, cases[i].done);
      g_assert_cmpstr (rows, ==, "2");
      g_assert_cmpstr (generation, ==, "7");
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/united/what-is-sound", test_what_is_sound);
  g_test_add_func ("/united/what-is-taken", test_what_is_taken);
  g_test_add_func ("/united/what-is-left-out-is-said", test_what_is_left_out_is_said);
  g_test_add_func ("/united/only-sound-files-are-copied", test_only_sound_files_are_copied);
  g_test_add_func ("/united/a-file-counts-itself", test_a_file_counts_itself);
  return g_test_run ();
}
