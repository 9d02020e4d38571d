/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of storage/: SQLite files that were made to do harm. Each is refused or read correctly,
 * within seconds and with little memory, and is not changed. */
#include "processor.h"
#include "store.h"

#include "storage/recover/guard.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ROWS 2000
#define MEMORY_KIB_MAX (400 * 1024)

/* Of a damaged file, for eight sizes of pages and each with some bytes in a chain. */
#define READINGS_MAX 60

static guint64 n_read; /* bytes, by our own code */

ssize_t
pread (int fd, void *to, size_t size, off_t at)
{
  ssize_t n = syscall (SYS_pread64, fd, to, size, at);
  n_read += n > 0 ? (guint64)n : 0;
  return n;
}

typedef struct
{
  guint8 *data;
  gsize size;
} Image;

static Image
make_image (Fixture *f)
{
  Image image;
  g_assert_true (results_begin (f->results, NULL));
  for (int i = 0; i < ROWS; i++)
    {
      g_autofree char *path = g_strdup_printf ("/0/%d", i);
      put (f, path, 1, 1);
    }
  g_assert_true (results_commit (f->results, NULL));
  publish (f);
  g_assert_true (g_file_get_contents (f->target, (char **)&image.data, &image.size, NULL));
  return image;
}

static gboolean
check_row (const Result *row, gpointer data, GError **error)
{
  (void)error;
  g_assert_true (g_str_has_prefix (row->path, "/0/"));
  g_assert_cmpfloat (row->work_s, ==, 1);
  (*(guint *)data)++;
  return TRUE;
}

static G_GNUC_UNUSED long
memory_kib (void)
{
  struct rusage usage;
  getrusage (RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

/* Returns the number of rows that are read from the file; 0 if it is refused. */
static guint
look (Fixture *f)
{
  g_autoptr (GError) error = NULL;
  ResultsQuery all = { 0 };
  guint n = 0;
  double began_s = processor_s ();
  g_autoptr (Sql) sql = guard_open (f->target, NULL, &error);
  if (sql == NULL)
    {
      g_assert_error (error, STORAGE_ERROR, STORAGE_ERROR_UNUSABLE);
      g_assert_null (strchr (error->message, '\n'));
    }
  else
    g_assert_true (results_each (sql, &all, check_row, &n, NULL, NULL));
  g_assert_cmpfloat (processor_s () - began_s, <, 60);
#ifndef __SANITIZE_ADDRESS__
  g_assert_cmpint (memory_kib (), <, MEMORY_KIB_MAX);
#endif
  return n;
}

static void
put_back (Fixture *f, const guint8 *data, gsize size)
{
  g_assert_true (g_file_set_contents (f->target, (const char *)data, (gssize)size, NULL));
}

static void
put_word (guint8 *at, guint32 word)
{
  word = GUINT32_TO_BE (word);
  memcpy (at, &word, sizeof word);
}

/* Every pointer of every inner page points to the page itself, to the first page, or beyond the
 * file. */
static void
test_trees_in_circles (Fixture *f, gconstpointer unused)
{
  Image image = make_image (f);
  (void)unused;
  for (guint kind = 0; kind < 3; kind++)
    {
      g_autofree guint8 *copy = g_memdup2 (image.data, image.size);
      guint n_inner = 0;
      for (gsize page = 4096; page + 4096 <= image.size; page += 4096)
        {
          guint32 self = (guint32)(page / 4096 + 1);
          guint32 to = kind == 0 ? self : kind == 1 ? 1 : G_MAXUINT32;
          guint8 *at = copy + page;
          guint cells = (guint)(at[3] << 8 | at[4]);
          if (at[0] != 2 && at[0] != 5)
            continue;
          n_inner++;
          put_word (at + 8, to);
          for (guint i = 0; i < cells; i++)
            put_word (at + (at[12 + 2 * i] << 8 | at[13 + 2 * i]), to);
        }
      g_assert_cmpuint (n_inner, >, 0);
      put_back (f, copy, image.size);
      g_assert_cmpuint (look (f), ==, ROWS);
    }
  g_free (image.data);
}

/* Wrong sizes and counts in the header. */
static void
test_headers_that_lie (Fixture *f, gconstpointer unused)
{
  static const struct
  {
    gsize at;
    guint32 word;
  } lies[] = { { 28, G_MAXUINT32 }, { 28, 1 }, { 28, 0 },          { 32, 3 },
               { 36, G_MAXUINT32 }, { 52, 7 }, { 56, 2 },          { 56, 9 },
               { 44, G_MAXUINT32 }, { 16, 0 }, { 16, 0x02000101 }, { 20, G_MAXUINT32 } };
  Image image = make_image (f);
  (void)unused;
  for (gsize i = 0; i < G_N_ELEMENTS (lies); i++)
    {
      g_autofree guint8 *copy = g_memdup2 (image.data, image.size);
      put_word (copy + lies[i].at, lies[i].word);
      put_back (f, copy, image.size);
      guint n = look (f);
      g_test_message ("word %u at %u: %u rows", lies[i].word, (guint)lies[i].at, n);
      g_assert_cmpuint (n, ==, ROWS);
    }
  g_free (image.data);
}

/* A checkpoint has the same bytes there in each file. With another one SQLite would read the file
 * in another way, so the file is not opened, and the rows are salvaged. */
static void
test_headers_of_another_kind (Fixture *f, gconstpointer unused)
{
  static const struct
  {
    gsize from, to;
  } spans[] = { { 18, 24 }, { 44, 48 }, { 52, 60 }, { 64, 68 }, { 72, 92 } };
  sqlite3 *db = NULL;
  Image image = make_image (f);
  (void)unused;
  g_assert_cmpint (sqlite3_open (f->target, &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (db, "VACUUM", NULL, NULL, NULL), ==, SQLITE_OK);
  sqlite3_close (db);
  g_free (image.data);
  g_assert_true (g_file_get_contents (f->target, (char **)&image.data, &image.size, NULL));
  g_autoptr (Sql) sound = guard_open (f->target, NULL, NULL);
  g_assert_false (sound->is_salvage);
  for (gsize i = 0; i < G_N_ELEMENTS (spans); i++)
    for (gsize at = spans[i].from; at < spans[i].to; at++)
      {
        g_autofree guint8 *copy = g_memdup2 (image.data, image.size);
        copy[at] ^= 1;
        put_back (f, copy, image.size);
        g_autoptr (Sql) sql = guard_open (f->target, NULL, NULL);
        g_assert_nonnull (sql);
        if (!sql->is_salvage)
          g_error ("byte %u", (guint)at);
      }
  image.data = g_realloc (image.data, image.size + 4096);
  memset (image.data + image.size, 0, 4096);
  put_back (f, image.data, image.size + 4096);
  g_autoptr (Sql) longer = guard_open (f->target, NULL, NULL);
  g_assert_true (longer->is_salvage);
  g_free (image.data);
}

#define PAGE 4096
#define CHAIN_PAGES 30u

/* Pages full of results, each of which claims to continue through all pages behind its own. A
 * result has a path of no bytes, a digest of 16, a value of all the rest and a sum of 16; so many
 * of its bytes lie in its own page that its pointer falls between two others. */
static void
forge_chains (guint8 *pages, guint32 first)
{
  static const guint8 head[]
      = { 17, 13, 8, 8, 44, 0, 0, 0, 0, 8, 8, 8, 0, 0, 8, 8, 44 }; /* the value's type: at 5 */
  for (guint32 i = 0; i < CHAIN_PAGES; i++)
    {
      guint8 *page = pages + (gsize)i * PAGE;
      guint64 payload = 500 + (guint64)(CHAIN_PAGES - 1 - i) * (PAGE - 4);
      guint64 type = 12 + 2 * (payload - sizeof head - 32);
      put_word (page, i + 1 < CHAIN_PAGES ? first + i + 1 : 0);
      for (guint at = 4; at + 1000 < PAGE && i + 1 < CHAIN_PAGES; at += 32)
        {
          memcpy (page + at, head, sizeof head);
          for (guint k = 0; k < 4; k++)
            page[at + 5 + k] = (guint8)(type >> 7 * (3 - k)) | (k < 3 ? 0x80 : 0);
          page[at + 8] &= 0x7f;
          put_word (page + at + 500, first + i + 1);
        }
    }
}

/* A file full of records that claim to continue for many pages costs some readings of its length
 * for each size that its pages may have, not one for each record. */
static void
test_chains_cost_what_the_file_is_long (Fixture *f, gconstpointer unused)
{
  Image image = make_image (f);
  gsize at = (image.size + PAGE - 1) / PAGE * PAGE, size = at + CHAIN_PAGES * PAGE;
  (void)unused;
  image.data = g_realloc (image.data, size);
  memset (image.data, 0, 100);
  memset (image.data + image.size, 0, size - image.size);
  forge_chains (image.data + at, (guint32)(at / PAGE) + 1);
  memset (memmem (image.data, size, "satin spare page", 16), 0, 16); /* nothing is mended */
  put_back (f, image.data, size);
  n_read = 0;
  g_assert_cmpuint (look (f), ==, ROWS);
  g_test_message ("%.1f readings", (double)n_read / (double)size);
  g_assert_cmpuint (n_read, <, READINGS_MAX * size);
  g_free (image.data);
}

/* A file without the identity of its rows, full of texts that may be it, is refused at once: only
 * some of the texts are tried. */
static void
test_texts_without_end (Fixture *f, gconstpointer unused)
{
  static const gsize text_bytes = 60000;
  Image image = make_image (f);
  g_autofree guint8 *copy = g_malloc (PAGE + text_bytes);
  guint8 *found = image.data;
  (void)unused;
  while ((found
          = memmem (found, (gsize)(image.data + image.size - found), IDENTITY, strlen (IDENTITY)))
         != NULL)
    memset (found, 'x', strlen (IDENTITY));
  memcpy (copy, image.data + PAGE, PAGE); /* with some rows */
  for (gsize i = 0; i < text_bytes; i++)
    copy[PAGE + i] = (guint8) "0123456789abcdef"[g_test_rand_int_range (0, 16)];
  put_back (f, copy, PAGE + text_bytes);
  double began_s = processor_s ();
  g_assert_cmpuint (look (f), ==, 0);
  g_assert_cmpfloat (processor_s () - began_s, <, 20);
  g_free (image.data);
}

/* A file with the header of a checkpoint is ours, in whatever state and of whatever format. */
static void
test_whose_header_it_is (Fixture *f, gconstpointer unused)
{
  static const struct
  {
    gsize at, size;
    guint32 word;
    gboolean is_ours;
  } files[] = { { 60, 4096, 99, TRUE },
                { 72, 100, 1, TRUE },
                { 72, 99, 1, FALSE },
                { 68, 4096, 7, FALSE },
                { 12, 4096, 7, FALSE } };
  Image image = make_image (f);
  (void)unused;
  g_assert_true (guard_is_ours (f->target));
  g_assert_false (guard_is_ours (f->folder));
  for (gsize i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autofree guint8 *copy = g_memdup2 (image.data, image.size);
      put_word (copy + files[i].at, files[i].word);
      put_back (f, copy, files[i].size);
      g_assert_cmpint (guard_is_ours (f->target), ==, files[i].is_ours);
    }
  g_assert_cmpint (g_unlink (f->target), ==, 0);
  g_assert_false (guard_is_ours (f->target));
  g_free (image.data);
}

#define FAR_AT (65 * 1024 * 1024)

/* In a file of another program nobody looks for rows of ours for long. In a checkpoint that has
 * lost all else, and in any file that begins with a row of ours, they are found wherever they are.
 */
static void
test_rows_far_behind (Fixture *f, gconstpointer unused)
{
  static const struct
  {
    guint8 application[4];
    gboolean begins; /* with our first pages */
    guint rows;
  } cases[] = { { { 0x53, 0x41, 0x54, 0x4e }, FALSE, ROWS },
                { { 7, 7, 7, 7 }, FALSE, 0 },
                { { 7, 7, 7, 7 }, TRUE, ROWS } };
  Image image = make_image (f);
  (void)unused;
  g_autofree guint8 *large = g_malloc0 (FAR_AT + image.size);
  memcpy (large + FAR_AT, image.data, image.size);
  memset (large + FAR_AT, 0, 100);
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      memcpy (large, image.data, cases[i].begins ? image.size / 2 : 100);
      memcpy (large + 68, cases[i].application, sizeof cases[i].application);
      put_back (f, large, FAR_AT + image.size);
      g_assert_cmpuint (look (f), ==, cases[i].rows);
    }
  g_free (image.data);
}

/* Schemas and values that would cost much time or memory, or run code, when SQLite reads the schema
 * or checks the file. */
static void
test_schemas_with_a_sting (Fixture *f, gconstpointer unused)
{
  static const char *const stings[] = {
    "CREATE TABLE x (a CHECK (length (randomblob (60000000)) > a)); INSERT INTO x VALUES (1)",
    "CREATE TABLE x (a, b AS (printf ('%.*c', 60000000, 'x'))); INSERT INTO x VALUES (1)",
    "CREATE TABLE x (a); INSERT INTO x VALUES (1); CREATE INDEX y ON x (hex (zeroblob (a * "
    "500000)))",
    "CREATE VIEW x AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n "
    "FROM c",
    "DROP VIEW progress; CREATE VIEW progress AS SELECT load_extension ('/tmp/x.so')",
    "CREATE TRIGGER t BEFORE DELETE ON result BEGIN SELECT writefile ('/tmp/x', 'x'); END",
    "CREATE TABLE blobs (a); INSERT INTO blobs VALUES (zeroblob (50000000))",
    "UPDATE result SET value = zeroblob (40000000) WHERE path = '/0/7'",
    "UPDATE result SET node = 'text', job = x'00', digest = 5, saved = NULL, weight = 'much'"
    " WHERE path = '/0/7'",
    "UPDATE run SET value = NULL WHERE key = 'id'; INSERT INTO run VALUES (NULL, NULL, NULL)",
    "INSERT INTO node VALUES (-5, NULL, 1, 2, 3, 4, 5, 6, 7); INSERT INTO job VALUES (7, 1, 2, 3)",
    "INSERT INTO event VALUES (9223372036854775807, 'x', 1, 2, 3, 4, 5, 6)",
  };
  Image image = make_image (f);
  (void)unused;
  for (gsize i = 0; i < G_N_ELEMENTS (stings); i++)
    {
      sqlite3 *db = NULL;
      put_back (f, image.data, image.size);
      g_assert_cmpint (sqlite3_open (f->target, &db), ==, SQLITE_OK);
      /* Some statements fail here, since SQLite refuses them by default. A forger's tool may allow
       * them. */
      (void)sqlite3_exec (db, stings[i], NULL, NULL, NULL);
      sqlite3_close (db);
      guint n = look (f);
      g_assert_cmpuint (n, >=, ROWS - 1);
      g_assert_cmpuint (n, <=, ROWS);
    }
  g_free (image.data);
}

/* Before its first query SQLite needs time that grows with the square of the schema's length. So a
 * long schema is refused, and the rows are salvaged. */
static void
test_schemas_without_end (Fixture *f, gconstpointer unused)
{
  Image image = make_image (f);
  GError *error = NULL;
  sqlite3 *db = NULL;
  (void)unused;
  g_assert_cmpint (sqlite3_open (f->target, &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (db,
                                 "PRAGMA writable_schema=1;"
                                 "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c"
                                 " LIMIT 5000) INSERT INTO sqlite_schema (type, name, tbl_name,"
                                 " rootpage, sql) SELECT 'view', 'v' || n, 'v' || n, 0,"
                                 " 'CREATE VIEW v' || n || ' AS SELECT 1' FROM c",
                                 NULL, NULL, NULL),
                   ==, SQLITE_OK);
  sqlite3_close (db);
  g_assert_null (sql_open_frozen (f->target, &error));
  g_assert_error (error, STORAGE_ERROR, STORAGE_ERROR_UNUSABLE);
  g_assert_cmpstr (error->message, ==, "its schema has more objects than a Satin checkpoint");
  g_clear_error (&error);
  g_assert_cmpuint (look (f), ==, ROWS);
  g_free (image.data);
}

/* Rows with random values of all types, also as checksum, are never read as rows. */
static void
test_cells_of_any_kind (Fixture *f, gconstpointer unused)
{
  static const char *const values[] = { "NULL",    "-1", "9223372036854775807", "1e300", "'text'",
                                        "x'0102'", "''", "zeroblob(5000)" };
  Image image = make_image (f);
  (void)unused;
  for (int i = 0; i < 20; i++)
    {
      sqlite3 *db = NULL;
      put_back (f, image.data, image.size);
      g_assert_cmpint (sqlite3_open (f->target, &db), ==, SQLITE_OK);
      for (int k = 0; k < 20; k++)
        {
          g_autoptr (GString) text = g_string_new ("INSERT INTO result VALUES ('/9/");
          g_string_append_printf (text, "%d'", k);
          for (int column = 0; column < 12; column++)
            g_string_append_printf (text, ", %s",
                                    values[g_test_rand_int_range (0, G_N_ELEMENTS (values))]);
          g_string_append (text, ")");
          g_assert_cmpint (sqlite3_exec (db, text->str, NULL, NULL, NULL), ==, SQLITE_OK);
        }
      sqlite3_close (db);
      g_assert_cmpuint (look (f), ==, ROWS);
    }
  g_free (image.data);
}

int
main (int argc, char **argv)
{
  static const NamedTest tests[] = {
    { "/hostile/trees-in-circles", test_trees_in_circles },
    { "/hostile/headers-that-lie", test_headers_that_lie },
    { "/hostile/headers-of-another-kind", test_headers_of_another_kind },
    { "/hostile/chains-cost-what-the-file-is-long", test_chains_cost_what_the_file_is_long },
    { "/hostile/texts-without-end", test_texts_without_end },
    { "/hostile/whose-header-it-is", test_whose_header_it_is },
    { "/hostile/rows-far-behind", test_rows_far_behind },
    { "/hostile/schemas-with-a-sting", test_schemas_with_a_sting },
    { "/hostile/schemas-without-end", test_schemas_without_end },
    { "/hostile/cells-of-any-kind", test_cells_of_any_kind },
  };
  return run_tests (argc, argv, tests, G_N_ELEMENTS (tests));
}
