/* SPDX-License-Identifier: BSD-3-Clause */
/* Page sizes: the size of published files, which can be salvaged with any page size; and the
 * numbers of nodes. */
#include "store.h"

#include "storage/layout.h"
#include "storage/names.h"
#include "storage/recover/guard.h"

#include <fcntl.h>
#include <unistd.h>

#define ROWS 300
#define TOLD_ROWS 1000

static void
put_sized (Fixture *f, guint number, gsize size)
{
  g_autofree guint8 *bytes = g_malloc (size);
  for (gsize i = 0; i < size; i++)
    bytes[i] = (guint8)((i + number) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15) >> 40);
  g_autoptr (GBytes) value = g_bytes_new (bytes, size);
  g_autofree char *path = g_strdup_printf ("/%u/%u", number % 7, number / 7);
  Result row = { .path = path,
                 .node = "1.1.00000001",
                 .job = "job",
                 .type = "ay",
                 .digest = bytes,
                 .digest_size = 16,
                 .value = value,
                 .work_s = 1,
                 .saved = 1700000000,
                 .weight = 0.0001 };
  g_assert_true (put_typed (f, row, NULL));
}

/* Published bytes. */
static guint64
publish_sized (Fixture *f, gsize least, gsize most)
{
  Published published;
  g_autoptr (GError) error = NULL;
  g_assert_true (results_begin (f->results, NULL));
  for (guint i = 0; i < ROWS; i++)
    put_sized (f, i, least + i * (most - least) / ROWS);
  g_assert_true (results_commit (f->results, NULL));
  g_assert_true (publish_copy (f->sql, f->target, "run-1", NULL, &published, &error));
  g_assert_no_error (error);
  (void)close (published.fd);
  return published.bytes;
}

static gint64
published_page_size (Fixture *f)
{
  g_autoptr (Sql) file = sql_open_frozen (f->target, NULL);
  return number_of (file, "PRAGMA page_size");
}

static void
renew (Fixture *f)
{
  tear_down (f, NULL);
  set_up (f, NULL);
}

static void
test_long_rows_take_little_more_than_their_values (Fixture *f, gconstpointer unused)
{
  static const struct
  {
    gsize least, most;
  } sizes[] = { { 4096, 4096 },   { 4200, 4200 },   { 5000, 5000 },   { 6144, 6144 },
                { 8192, 8192 },   { 10240, 10240 }, { 13000, 13000 }, { 16384, 16384 },
                { 20000, 20000 }, { 60000, 60000 }, { 100, 9000 },    { 2000, 20000 } };
  (void)unused;
  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      guint64 bytes = publish_sized (f, sizes[i].least, sizes[i].most);
      double values = ROWS * ((double)sizes[i].least + (double)sizes[i].most) / 2;
      g_test_message ("%" G_GSIZE_FORMAT " to %" G_GSIZE_FORMAT ": pages of %" G_GINT64_FORMAT
                      ", %.3f x values",
                      sizes[i].least, sizes[i].most, published_page_size (f),
                      (double)bytes / values);
      g_assert_cmpfloat ((double)bytes, <=, 1.2 * values);
      renew (f);
    }
}

static void
test_short_rows_have_common_pages (Fixture *f, gconstpointer unused)
{
  (void)unused;
  publish_sized (f, 16, 64);
  g_assert_cmpint (published_page_size (f), ==, SQL_PAGE_BYTES);
}

/* Rows with as much readable text as possible: a value and arguments whose JSON texts have so many
 * letters, and the longest times. */
static void
put_told (Fixture *f, gsize of_value, gsize of_args)
{
  g_autofree char *letters = g_strnfill (of_value, 'v'), *more = g_strnfill (of_args, 'a');
  g_autofree char *args = g_strdup_printf ("[\"%s\"]", more);
  g_autoptr (GVariant) record = g_variant_ref_sink (g_variant_new ("(s)", letters));
  g_autoptr (GBytes) value = g_variant_get_data_as_bytes (record);
  g_assert_true (results_begin (f->results, NULL));
  for (guint i = 0; i < TOLD_ROWS; i++)
    {
      guint8 digest[16] = { 1 };
      g_autofree char *path = g_strdup_printf ("/%u", 10000 + i);
      Result row = { .path = path,
                     .node = "1.1.00000001",
                     .job = "job",
                     .type = "(s)",
                     .digest = digest,
                     .digest_size = sizeof digest,
                     .value = value,
                     .work_s = 1.5,
                     .saved = 1700000000,
                     .weight = 0.0001,
                     .args = args,
                     .args_size = strlen (args),
                     .began = G_MAXINT64,
                     .took_ms = G_MAXINT64 };
      g_assert_true (put_typed (f, row, NULL));
    }
  g_assert_true (results_commit (f->results, NULL));
}

/* The bytes of the records of a table with these columns of `result`; negative: this SQLite cannot
 * tell. */
static gint64
bytes_of (Fixture *f, const char *columns)
{
  sqlite3 *db = NULL;
  g_autofree char *fill
      = g_strdup_printf ("ATTACH '%s' AS f; CREATE TABLE result (path TEXT PRIMARY KEY, %s) WITHOUT"
                         " ROWID; INSERT INTO result SELECT path, %s FROM f.result ORDER BY path",
                         f->work, columns, columns);
  gint64 bytes = -1;
  sqlite3_stmt *statement = NULL;
  g_assert_cmpint (sqlite3_open (":memory:", &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (db, fill, NULL, NULL, NULL), ==, SQLITE_OK);
  if (sqlite3_prepare_v2 (db, "SELECT sum(payload) FROM dbstat WHERE name = 'result'", -1,
                          &statement, NULL)
          == SQLITE_OK
      && sqlite3_step (statement) == SQLITE_ROW)
    bytes = sqlite3_column_int64 (statement, 0);
  sqlite3_finalize (statement);
  sqlite3_close (db);
  return bytes;
}

/* A row takes at most 64 bytes more than in format 2, whatever its texts are. */
static void
test_what_is_told_takes_64_bytes_at_most (Fixture *f, gconstpointer unused)
{
  static const struct
  {
    gsize of_value, of_args;
    gboolean has_json, has_args;
  } cases[] = { { 0, 0, TRUE, TRUE },     { 44, 0, TRUE, FALSE }, { 45, 44, FALSE, TRUE },
                { 45, 45, FALSE, FALSE }, { 20, 20, TRUE, TRUE }, { 20, 21, TRUE, FALSE },
                { 40, 0, TRUE, TRUE } };
  (void)unused;
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      put_told (f, cases[i].of_value, cases[i].of_args);
      g_assert_cmpint (number_of (f->sql, "SELECT count(json) FROM result"), ==,
                       cases[i].has_json ? TOLD_ROWS : 0);
      g_assert_cmpint (number_of (f->sql, "SELECT count(args) FROM result"), ==,
                       cases[i].has_args ? TOLD_ROWS : 0);
      gint64 before = bytes_of (f, "node, job, digest, value, work_s, saved, weight, sum");
      gint64 now
          = bytes_of (f, "node, job, digest, value, work_s, saved, weight, json, args, began,"
                         " took_ms, sum");
      g_test_message ("%.1f bytes a row more", (double)(now - before) / TOLD_ROWS);
      if (before < 0)
        g_test_skip ("this SQLite has no dbstat");
      else
        {
          g_assert_cmpint (now - before, >=, 16 * TOLD_ROWS);
          g_assert_cmpint (now - before, <=, 64 * TOLD_ROWS);
        }
      renew (f);
    }
}

static guint
rows_of (Fixture *f)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Sql) file = guard_open (f->target, IDENTITY, &error);
  ResultsTotals totals;
  g_assert_no_error (error);
  g_assert_true (results_count (file, &totals));
  return (guint)totals.rows;
}

/* Rows that continue on overflow pages are found without the page size in the header. */
static void
test_any_page_size_is_salvaged (Fixture *f, gconstpointer unused)
{
  static const gsize sizes[] = { 1500, 6144, 9000, 20000 };
  (void)unused;
  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      publish_sized (f, sizes[i], sizes[i]);
      g_assert_cmpuint (rows_of (f), ==, ROWS);
      int fd = open (f->target, O_WRONLY);
      g_assert_cmpint (pwrite (fd, "\x12\x34", 2, 16), ==, 2);
      (void)close (fd);
      g_assert_cmpuint (rows_of (f), ==, ROWS);
      renew (f);
    }
}

/* The estimate of the layout is close to what SQLite does. */
static void
test_layout_foretells_the_size (Fixture *f, gconstpointer unused)
{
  static const gsize sizes[] = { 300, 900, 1500, 6144, 20000 };
  (void)unused;
  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      guint64 bytes = publish_sized (f, sizes[i], sizes[i]);
      Layout layout = { .page_size = (guint32)published_page_size (f) };
      for (guint k = 0; k < ROWS; k++)
        layout_add (&layout, sizes[i] + 60);
      g_test_message ("%" G_GSIZE_FORMAT ": %" G_GUINT64_FORMAT
                      " bytes, foretold %" G_GUINT64_FORMAT,
                      sizes[i], bytes, layout_bytes (&layout));
      /* The margin is for the other tables, each of which has pages. */
      g_assert_cmpfloat ((double)bytes, <=,
                         1.05 * (double)layout_bytes (&layout) + 40.0 * layout.page_size);
      g_assert_cmpfloat ((double)bytes, >=, 0.95 * (double)layout_bytes (&layout));
      renew (f);
    }
}

/* A node keeps its number, whatever rows are removed meanwhile. */
static void
test_a_node_keeps_its_number (Fixture *f, gconstpointer unused)
{
  (void)unused;
  gint64 numbers[1000];
  g_autoptr (Names) names = names_new (f->sql, NULL);
  g_assert_true (results_begin (f->results, NULL));

  for (guint turn = 0; turn < 2; turn++)
    for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
      {
        gint64 number, again;
        g_autofree char *id = g_strdup_printf ("1.%u.00000001", i + 1);
        g_assert_true (names_number_node (names, id, &number, NULL));
        g_assert_true (names_number_node (names, id, &again, NULL));
        g_assert_cmpint (again, ==, number);
        if (turn == 0)
          numbers[i] = number;
        g_assert_cmpint (numbers[i], ==, number);
      }
  g_assert_true (results_commit (f->results, NULL));
  g_assert_cmpint (number_of (f->sql, "SELECT count (*) FROM node"), ==, G_N_ELEMENTS (numbers));
}

typedef struct
{
  guint n;
  char *node;
} Seen;

static gboolean
note_node (const Result *row, gpointer data, GError **error)
{
  Seen *seen = data;
  (void)error;
  seen->n++;
  g_free (seen->node);
  seen->node = g_strdup (row->node);
  return TRUE;
}

/* A row that names a node or a job is believed only with its checksum. Without its node a result is
 * of nobody, without its job it is of no use. */
static void
test_names_prove_themselves (Fixture *f, gconstpointer unused)
{
  static const struct
  {
    const char *change, *node; /* NULL: the result is not read */
  } cases[] = { { "SELECT 1", "1.1.00000001" },
                { "UPDATE node SET id = '9.9.00000009'", "" },
                { "UPDATE job SET type = 't'", NULL } };
  (void)unused;
  g_assert_true (put (f, "/0", 1, 1));
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      Seen seen = { 0 };
      guint64 bad = 0;
      g_assert_true (sql_run (f->sql, cases[i].change, NULL));
      g_assert_true (results_each (f->sql, &(ResultsQuery){ 0 }, note_node, &seen, &bad, NULL));
      g_assert_cmpuint (seen.n, ==, cases[i].node != NULL);
      g_assert_cmpuint (bad, ==, cases[i].node == NULL);
      g_assert_cmpstr (seen.node, ==, cases[i].node);
      g_free (seen.node);
    }
}

/* The numbers of jobs are three bytes of a checksum, so two of many jobs have the same. Then the
 * second gets another number, in this file and wherever it is read. */
static void
test_two_jobs_have_two_numbers (Fixture *f, gconstpointer unused)
{
  enum
  {
    N_JOBS = 20000 /* that many have some pairs with the same number */
  };
  (void)unused;
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  g_autoptr (Names) names = names_new (f->sql, NULL);
  g_assert_true (results_begin (f->results, NULL));
  for (guint i = 0; i < N_JOBS; i++)
    {
      gint64 number;
      g_autofree char *name = g_strdup_printf ("job-%u", i);
      g_assert_true (names_number_job (names, name, "x", &number, NULL));
      g_assert_true (g_hash_table_add (seen, g_memdup2 (&number, sizeof number)));
    }
  g_assert_true (results_commit (f->results, NULL));
  g_autoptr (Names) read = names_new (f->sql, NULL);
  for (guint i = 0; i < N_JOBS; i++)
    {
      gint64 number;
      const char *its_name = NULL, *its_type = NULL;
      g_autofree char *name = g_strdup_printf ("job-%u", i);
      g_assert_true (names_number_job (names, name, "x", &number, NULL));
      g_assert_true (names_job (read, number, &its_name, &its_type));
      g_assert_cmpstr (its_name, ==, name);
    }
}

int
main (int argc, char **argv)
{
  static const struct
  {
    const char *path;
    void (*test) (Fixture *, gconstpointer);
  } tests[] = {
    { "/layout/long-rows-take-little-more-than-their-values",
      test_long_rows_take_little_more_than_their_values },
    { "/layout/short-rows-have-common-pages", test_short_rows_have_common_pages },
    { "/layout/what-is-told-takes-64-bytes-at-most", test_what_is_told_takes_64_bytes_at_most },
    { "/layout/any-page-size-is-salvaged", test_any_page_size_is_salvaged },
    { "/layout/layout-foretells-the-size", test_layout_foretells_the_size },
    { "/layout/a-node-keeps-its-number", test_a_node_keeps_its_number },
    { "/layout/names-prove-themselves", test_names_prove_themselves },
    { "/layout/two-jobs-have-two-numbers", test_two_jobs_have_two_numbers },
  };
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add (tests[i].path, Fixture, NULL, set_up, tests[i].test, tear_down);
  return g_test_run ();
}
