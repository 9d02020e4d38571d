/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of guard_open_front, and of reads from a file whose pages are not all checked yet: either
 * the rows or guard_check find what is wrong. Links storage alone. */
#include "store.h"

#include "storage/inventory.h"
#include "storage/recover/guard.h"
#include "storage/rowsum.h"
#include "storage/schema.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* So many rows need more than the 4 MiB from which guard_open_front proves only small tables. */
#define N_LARGE 60000u
#define N_TRIES 600u /* ten times as many with SATIN_TEST_ALL=1 */

static void
put_rows (Fixture *f, guint n, gsize size)
{
  guint8 digest[16] = { 1 };
  g_assert_true (results_begin (f->results, NULL));
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *path = g_strdup_printf ("/%u/%u", i % 7, i);
      g_autofree guint8 *bytes = g_malloc0 (size + i % 5 + 1);
      memset (bytes, (int)(0x80 + i % 100), size);
      memcpy (digest, &i, sizeof i);
      g_autoptr (GBytes) value = g_bytes_new (bytes, size + i % 5);
      Result row = { .path = path,
                     .node = i % 2 != 0 ? "1.1.00000001" : "",
                     .job = i % 3 != 0 ? "job" : "other",
                     .type = "ay",
                     .digest = digest,
                     .digest_size = sizeof digest,
                     .value = value,
                     .work_s = i * 0.001,
                     .saved = 1700000000 + i,
                     .weight = i % 2 };
      (void)put_typed (f, row, NULL);
    }
  g_assert_true (results_commit (f->results, NULL));
}

typedef struct
{
  GString *text; /* all columns of all rows, … */
  GString *last; /* … and the path of the last row */
  Tally tally;
} Rows;

static gboolean
add_row (const Result *row, gpointer data, GError **error)
{
  Rows *rows = data;
  gsize size;
  const guint8 *value = g_bytes_get_data (row->value, &size);
  (void)error;
  if (!results_follows (rows->text->len > 0 ? rows->last->str : NULL, row->path))
    return FALSE;
  g_string_assign (rows->last, row->path);
  rows->tally.rows++;
  rows->tally.sums += row->sum;
  g_string_append_printf (rows->text, "%s %s %s %s %u %zu %u %g %" G_GINT64_FORMAT " %g\n",
                          row->path, row->node, row->job, row->type,
                          row->digest[0] + 256u * row->digest[1], size,
                          size > 0 ? value[size / 2] : 0, row->work_s, row->saved, row->weight);
  return TRUE;
}

/* (transfer full) (nullable): all rows, if the file passes all checks of a new coordinator. SQLite
 * does not notice missing pages to which no tree leads; the inventory shows that their rows are
 * missing. */
static char *
rows_of (const char *path)
{
  g_autoptr (Sql) sql = sql_open_frozen (path, NULL);
  g_autoptr (GString) text = g_string_new (NULL), last = g_string_new (NULL);
  Rows rows = { .text = text, .last = last };
  ResultsQuery all = { .is_strict = TRUE };
  guint64 bad = 0;
  if (sql == NULL || !schema_check (sql, NULL))
    return NULL;
  rowsum_identify (sql, IDENTITY);
  gboolean good = results_each (sql, &all, add_row, &rows, NULL, NULL) && guard_check (path, NULL)
                  && tables_count_bad (sql, &bad, NULL) && bad == 0
                  && inventory_agrees (sql, 0, INVENTORY_TABLES - 1, &rows.tally);
  return good ? g_strdup (text->str) : NULL;
}

static guint8 *
contents_of (const char *path, gsize *size)
{
  char *contents;
  g_assert_true (g_file_get_contents (path, &contents, size, NULL));
  return (guint8 *)contents;
}

/* Changes a few bytes, mostly in the part of a page that describes its cells; sometimes replaces a
 * page by another. */
static void
spoil (GRand *rand, guint8 *bytes, gsize size, gsize page_size)
{
  gsize page = (gsize)g_rand_int_range (rand, 0, (gint32)(size / page_size)) * page_size;
  gsize within = g_rand_boolean (rand) ? 24 : page_size;
  for (gint32 n = g_rand_int_range (rand, 1, 4); n > 0; n--)
    {
      gsize at = page + (gsize)g_rand_int_range (rand, 0, (gint32)within);
      if (page == 0 && g_rand_boolean (rand))
        at = 100 + at % (page_size - 100);
      bytes[at] = (guint8)(g_rand_boolean (rand) ? g_rand_int_range (rand, 0, 256)
                                                 : bytes[at] + g_rand_int_range (rand, -3, 4));
    }
  if (g_rand_int_range (rand, 0, 8) == 0) /* a page is replaced by another one */
    memcpy (bytes + page, bytes + (size / page_size / 2) * page_size, page_size);
}

static void
write_file (const char *path, const guint8 *bytes, gsize size)
{
  int fd = open (path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  g_assert_cmpint (write (fd, bytes, size), ==, (ssize_t)size);
  (void)close (fd);
}

/* With any bytes changed, either a check fails, or all rows are there and unchanged. */
static void
test_spoilt (Fixture *f, gconstpointer unused)
{
  gsize size, page_size;
  guint n_sound = 0, n_spoilt = 0,
        n_tries = g_getenv ("SATIN_TEST_ALL") != NULL ? 10 * N_TRIES : N_TRIES;
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  (void)unused;
  put_rows (f, 1500, 10);
  put_rows (f, 1600, 9);
  publish (f);
  g_autofree guint8 *whole = contents_of (f->target, &size);
  g_autofree char *before = rows_of (f->target);
  g_autofree char *path = g_build_filename (f->folder, "spoilt", NULL);
  g_assert_nonnull (before);
  page_size = (gsize)whole[16] << 8 | whole[17];
  for (guint i = 0; i < n_tries; i++)
    {
      g_autofree guint8 *bytes = g_memdup2 (whole, size);
      spoil (rand, bytes, size, page_size);
      write_file (path, bytes, size);
      g_autofree char *after = rows_of (path);
      n_spoilt += after == NULL;
      n_sound += after != NULL;
      if (after != NULL)
        g_assert_true (strcmp (after, before) == 0);
    }
  g_test_message ("%u sound, %u not", n_sound, n_spoilt);
  g_assert_cmpuint (n_sound, >, n_tries / 10);
  g_assert_cmpuint (n_spoilt, >, n_tries / 2);
}

static gboolean
count_row (const Result *row, gpointer data, GError **error)
{
  (void)row, (void)error;
  *(guint *)data += 1;
  return TRUE;
}

/* A strict read ends with an error at the first damaged row; another read leaves the row out and
 * counts it. */
static void
test_strict (Fixture *f, gconstpointer unused)
{
  ResultsQuery all = { 0 }, strict = { .is_strict = TRUE };
  g_autoptr (GError) error = NULL;
  guint64 bad = 0;
  guint n = 0;
  (void)unused;
  put_rows (f, 100, 10);
  publish (f);
  sqlite3 *db;
  g_assert_cmpint (sqlite3_open (f->target, &db), ==, SQLITE_OK);
  g_assert_cmpint (
      sqlite3_exec (db, "UPDATE result SET saved = 5 WHERE path = '/3/3'", NULL, NULL, NULL), ==,
      SQLITE_OK);
  sqlite3_close (db);
  g_autoptr (Sql) sql = guard_open (f->target, NULL, NULL);
  g_assert_nonnull (sql);
  g_assert_true (results_each (sql, &all, count_row, &n, &bad, NULL));
  g_assert_cmpuint (n, ==, 99);
  g_assert_cmpuint (bad, ==, 1);
  n = 0;
  g_assert_false (results_each (sql, &strict, count_row, &n, NULL, &error));
  g_assert_error (error, STORAGE_ERROR, STORAGE_ERROR_UNUSABLE);
  g_assert_cmpuint (n, >, 0);
  g_assert_cmpuint (n, <, 99);
}

static guint
count (Sql *sql)
{
  ResultsQuery all = { 0 };
  guint n = 0;
  guint64 bad = 0;
  return results_each (sql, &all, count_row, &n, &bad, NULL) && bad == 0 ? n : 0;
}

/* Of a large file guard_open_front proves only the small tables; guard_check finds a damaged
 * row. */
static void
test_large (Fixture *f, gconstpointer unused)
{
  gsize size;
  (void)unused;
  put_rows (f, 100, 10);
  publish (f);
  g_autoptr (Sql) small = guard_open_front (f->target, NULL, FALSE, NULL);
  g_assert_nonnull (small);
  g_assert_false (small->is_front);

  put_rows (f, N_LARGE, 40);
  publish (f);
  g_autofree guint8 *bytes = contents_of (f->target, &size);
  memset (bytes + size / 2, 0x55, 2000);
  write_file (f->target, bytes, size);
  g_autoptr (Sql) front = guard_open_front (f->target, NULL, TRUE, NULL);
  g_assert_nonnull (front);
  g_assert_true (front->is_front);
  g_autofree char *id = tables_get_string (front, "id", NULL);
  g_assert_cmpstr (id, ==, "run-1");
  g_assert_cmpuint (count (front), <, N_LARGE);
  g_assert_false (guard_check (f->target, NULL));
  g_autoptr (Sql) whole = guard_open_own (f->target, NULL, NULL);
  g_assert_nonnull (whole);
  g_assert_true (whole->is_salvage);
}

/* The end of the file is missing. */
static void
test_shorter (Fixture *f, gconstpointer unused)
{
  gsize size;
  (void)unused;
  put_rows (f, N_LARGE, 40);
  publish (f);
  g_autofree guint8 *bytes = contents_of (f->target, &size);
  g_assert_cmpint (truncate (f->target, (off_t)(size - 128 * 1024)), ==, 0);
  g_autoptr (Sql) front = guard_open_front (f->target, NULL, TRUE, NULL);
  g_assert_nonnull (front);
  g_assert_false (front->is_front && guard_check (f->target, NULL));
  g_autoptr (Sql) whole = guard_open_own (f->target, NULL, NULL);
  g_assert_nonnull (whole);
  g_assert_true (whole->is_salvage);
  g_assert_cmpuint (count (whole), >, N_LARGE / 2);
}

/* The format of a checksum: before the bytes of a value their number, in groups of seven bits. */
static void
test_lengths_are_summed (Fixture *f, gconstpointer unused)
{
  static const gsize sizes[] = { 0, 1, 127, 128, 129, 16383, 16384, 2097151, 2097152 };
  g_autofree guint8 *data = g_malloc0 (sizes[G_N_ELEMENTS (sizes) - 1]);
  (void)unused;
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      guint8 head[8] = { 'b' };
      guint n = 1;
      gsize rest = sizes[i];
      Rowsum sum = rowsum_begin (f->sql), bare = sum;
      for (; rest > 127; rest >>= 7)
        head[n++] = (guint8)(rest | 128);
      head[n++] = (guint8)rest;
      rowsum_add_blob (&sum, data, sizes[i]);
      rowsum_add_bare (&bare, head, n);
      rowsum_add_bare (&bare, data, sizes[i]);
      g_assert_cmphex (rowsum_end (&sum).sum, ==, rowsum_end (&bare).sum);
    }
}

/* The place of the first page of a table or index. */
static off_t
root_of (const char *path, const char *name)
{
  sqlite3 *db = NULL;
  sqlite3_stmt *statement = NULL;
  g_autofree char *query = g_strdup_printf (
      "SELECT (rootpage - 1) * page_size FROM sqlite_schema, pragma_page_size WHERE name = '%s'",
      name);
  g_assert_cmpint (sqlite3_open (path, &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_prepare_v2 (db, query, -1, &statement, NULL), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_step (statement), ==, SQLITE_ROW);
  off_t at = sqlite3_column_int64 (statement, 0);
  sqlite3_finalize (statement);
  sqlite3_close (db);
  return at;
}

/* Leaves the greatest key out of an index, as a writer would who knows the file's format. */
static void
shorten_index (const char *path, const char *index)
{
  guint8 count[2];
  off_t at = root_of (path, index) + 3; /* the number of entries */
  int fd = open (path, O_RDWR | O_CLOEXEC);
  g_assert_cmpint (pread (fd, count, sizeof count, at), ==, sizeof count);
  g_assert_cmpuint (count[1], >, 0);
  count[1]--;
  g_assert_cmpint (pwrite (fd, count, sizeof count, at), ==, sizeof count);
  g_assert_true (g_close (fd, NULL));
}

/* Indexes are not proved, so a file that becomes a work file gets new ones: a row that the old
 * index left out is found. */
static void
test_indexes_are_made_anew (Fixture *f, gconstpointer unused)
{
  (void)unused;
  g_assert_true (tables_set (f->sql, "zzz", "old", NULL));
  publish (f);
  shorten_index (f->target, "sqlite_autoindex_run_1");
  for (guint way = 0; way < 2; way++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *path = g_build_filename (f->folder, "adopted", NULL);
      int fd = open (f->target, O_RDONLY | O_CLOEXEC);
      g_autoptr (Sql) from = sql_open_frozen (f->target, &error);
      g_autoptr (Sql) sql = way == 0 ? sql_create_from (path, fd, IDENTITY, &error)
                                     : sql_create (path, IDENTITY, &error);
      g_assert_no_error (error);
      g_assert_true (way == 0 || sql_copy (sql, from, &error));
      g_assert_no_error (error);
      g_assert_true (tables_set (sql, "zzz", "new", &error));
      g_assert_cmpint (number_of (sql, "SELECT count(*) FROM run NOT INDEXED WHERE key = 'zzz'"),
                       ==, 1);
      g_assert_true (g_close (fd, NULL));
    }
}

static void
put_small_tables (Fixture *f)
{
  g_autoptr (GBytes) value = g_bytes_new_static ("\x07\0\0\0\0\0\0\0", 8);
  TablesValue best = { "shortest", "x", NULL, value }, constant = best;
  TablesNode node = { .id = "1.2.00000002", .name = "a", .site = "s", .address = "", .joined = 5 };
  constant.digest = "00112233445566778899aabbccddeeff";
  g_assert_true (results_begin (f->results, NULL));
  g_assert_true (tables_put_best (f->sql, &best, NULL));
  g_assert_true (tables_put_constant (f->sql, &constant, NULL));
  g_assert_true (tables_put_node (f->sql, &node, NULL));
  g_assert_true (results_commit (f->results, NULL));
}

/* If rows of a small table are missing, changed or too many, all of the file is checked at once. */
static void
test_damaged_front (Fixture *f, gconstpointer unused)
{
  static const char *const harms[] = {
    "UPDATE run SET value = 'other' WHERE key = 'id'",
    "DELETE FROM run WHERE key = 'id'",
    "INSERT INTO run VALUES ('more', 'x', 5)",
    "UPDATE node SET host = 'b' WHERE id = '1.2.00000002'",
    "DELETE FROM node WHERE id = '1.2.00000002'",
    "INSERT INTO node (id, sum) VALUES ('1.9.00000009', 5)",
    "UPDATE job SET name = 'b' WHERE name = 'other'",
    "DELETE FROM job WHERE name = 'other'",
    "INSERT INTO job VALUES (9, 'c', 'x', 5)",
    "UPDATE constant SET value = 8 WHERE name = 'shortest'",
    "DELETE FROM constant WHERE name = 'shortest'",
    "INSERT INTO constant VALUES ('more', 'x', 'y', 'z', 5)",
    "UPDATE best SET value = 8",
    "DELETE FROM best",
    "INSERT INTO best VALUES ('more', 'x', 'y', 'z', 5)",
    "CREATE TABLE more (a)",
  };
  gsize size;
  (void)unused;
  put_small_tables (f);
  put_rows (f, N_LARGE, 40);
  publish (f);
  g_autofree guint8 *bytes = contents_of (f->target, &size);
  for (guint i = 0; i <= G_N_ELEMENTS (harms); i++)
    {
      const char *harm = i > 0 ? harms[i - 1] : "SELECT 1"; /* no harm */
      sqlite3 *db;
      write_file (f->target, bytes, size);
      g_assert_cmpint (sqlite3_open (f->target, &db), ==, SQLITE_OK);
      if (sqlite3_exec (db, harm, NULL, NULL, NULL) != SQLITE_OK)
        g_error ("%s: %s", harm, sqlite3_errmsg (db));
      sqlite3_close (db);
      g_autoptr (Sql) sql = guard_open_front (f->target, NULL, FALSE, NULL);
      g_test_message ("%s", harm);
      g_assert_nonnull (sql);
      g_assert_cmpint (sql->is_front, ==, i == 0);
      if (i < 2)
        g_assert_cmpuint (count (sql), >=, N_LARGE);
    }
}

/* The same if a page of a small table is not sound, though all of its rows can be read: here it
 * counts its unused bytes wrongly. */
static void
test_unsound_front (Fixture *f, gconstpointer unused)
{
  static const char *const tables[] = { "run", "node", "job", "constant", "best" };
  gsize size;
  (void)unused;
  put_small_tables (f);
  put_rows (f, N_LARGE, 40);
  publish (f);
  g_autofree guint8 *bytes = contents_of (f->target, &size);
  for (guint i = 0; i < G_N_ELEMENTS (tables); i++)
    {
      guint8 *unused_bytes = bytes + root_of (f->target, tables[i]) + 7;
      *unused_bytes += 1;
      write_file (f->target, bytes, size);
      *unused_bytes -= 1;
      g_autoptr (Sql) sql = guard_open_front (f->target, NULL, FALSE, NULL);
      g_test_message ("%s", tables[i]);
      g_assert_nonnull (sql);
      g_assert_false (sql->is_front);
    }
}

int
main (int argc, char **argv)
{
  static const NamedTest tests[] = {
    { "/front/indexes-are-made-anew", test_indexes_are_made_anew },
    { "/front/lengths-are-summed", test_lengths_are_summed },
    { "/front/spoilt", test_spoilt },
    { "/front/strict", test_strict },
    { "/front/large", test_large },
    { "/front/shorter", test_shorter },
    { "/front/damaged", test_damaged_front },
    { "/front/unsound", test_unsound_front },
  };
  return run_tests (argc, argv, tests, G_N_ELEMENTS (tests));
}
