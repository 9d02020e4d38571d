/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of storage/recover/walk.c: it reads what SQLite reads, and what it takes for sound SQLite
 * finds sound. Links storage alone. */
#include "store.h"

#include "storage/recover/guard.h"
#include "storage/recover/walk.h"
#include "storage/rowsum.h"
#include "storage/schema.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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
  GString *text; /* everything of all rows, … */
  GString *last; /* … and the last one's path */
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
  g_string_append_printf (rows->text, "%s %s %s %s %u %zu %u %g %" G_GINT64_FORMAT " %g\n",
                          row->path, row->node, row->job, row->type,
                          row->digest[0] + 256u * row->digest[1], size,
                          size > 0 ? value[size / 2] : 0, row->work_s, row->saved, row->weight);
  return TRUE;
}

/* (transfer full) (nullable): all rows, if all are in order, and the other tables' too. */
static char *
rows_of (const char *path, gboolean walks)
{
  g_autoptr (Sql) sql = sql_open_frozen (path, NULL);
  g_autoptr (GString) text = g_string_new (NULL), last = g_string_new (NULL);
  Rows rows = { text, last };
  ResultsQuery all = { 0 };
  guint64 bad = 0;
  if (sql == NULL || !schema_check (sql, NULL))
    return NULL;
  rowsum_identify (sql, IDENTITY);
  gboolean good = walks ? results_walk (sql, path, walk_file, add_row, &rows)
                        : results_each (sql, &all, add_row, &rows, &bad, NULL);
  good = good && tables_count_bad (sql, &bad, NULL) && bad == 0;
  return good ? g_strdup (text->str) : NULL;
}

static void
assert_same (Fixture *f)
{
  publish (f);
  g_autofree char *by_sqlite = rows_of (f->target, FALSE), *walked = rows_of (f->target, TRUE);
  g_assert_nonnull (by_sqlite);
  g_assert_true (g_strcmp0 (walked, by_sqlite) == 0);
}

static void
test_same (Fixture *f, gconstpointer unused)
{
  (void)unused;
  assert_same (f);
  put_rows (f, 1, 3);
  assert_same (f);
  put_rows (f, 20000, 3); /* three levels of pages */
  assert_same (f);
}

/* Rows that go on in other pages, with pages of each size that we choose. */
static void
test_long (Fixture *f, gconstpointer unused)
{
  static const gsize sizes[] = { 5000, 700, 0, 100000, 1200, 20000 };
  (void)unused;
  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_assert_true (results_begin (f->results, NULL));
      g_assert_true (sql_run (f->sql, "DELETE FROM result", NULL));
      g_assert_true (results_commit (f->results, NULL));
      put_rows (f, 300, sizes[i]);
      assert_same (f);
    }
}

static guint8 *
contents_of (const char *path, gsize *size)
{
  char *contents;
  g_assert_true (g_file_get_contents (path, &contents, size, NULL));
  return (guint8 *)contents;
}

/* A few wrong bytes, mostly where pages tell of their cells. */
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
  if (g_rand_int_range (rand, 0, 8) == 0) /* a page in another's place */
    memcpy (bytes + page, bytes + (size / page_size / 2) * page_size, page_size);
}

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
  g_autofree char *before = rows_of (f->target, TRUE);
  g_autofree char *path = g_build_filename (f->folder, "spoilt", NULL);
  g_assert_nonnull (before);
  page_size = (gsize)whole[16] << 8 | whole[17];
  for (guint i = 0; i < n_tries; i++)
    {
      g_autofree guint8 *bytes = g_memdup2 (whole, size);
      spoil (rand, bytes, size, page_size);
      int fd = open (path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
      g_assert_cmpint (write (fd, bytes, size), ==, (ssize_t)size);
      (void)close (fd);
      g_autofree char *walked = rows_of (path, TRUE);
      n_spoilt += walked == NULL;
      if (walked == NULL)
        continue;
      n_sound++;
      g_assert_true (strcmp (walked, before) == 0);
      GError *error = NULL;
      if (!guard_check (path, &error))
        g_error ("try %u: %s", i, error->message);
    }
  g_test_message ("%u sound, %u not", n_sound, n_spoilt);
  g_assert_cmpuint (n_sound, >, n_tries / 10);
  g_assert_cmpuint (n_spoilt, >, n_tries / 2);
}

/* A store's header may say pages of a few bytes: no byte behind such a page is read. */
static void
test_tiny_pages (Fixture *f, gconstpointer unused)
{
  static const guint8 inner[] = { 5, 0, 0, 0, 1 };
  gsize room = (gsize)sysconf (_SC_PAGESIZE);
  guint8 *bytes = mmap (NULL, 2 * room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  (void)f, (void)unused;
  g_assert_true (bytes != MAP_FAILED);
  g_assert_cmpint (mprotect (bytes + room, room, PROT_NONE), ==, 0);
  for (gsize size = 1; size < 16; size++)
    {
      memcpy (bytes + room - size, inner, MIN (size, sizeof inner));
      g_assert_cmpuint (record_first_below (bytes + room - size, size), ==, 0);
    }
  g_assert_cmpint (munmap (bytes, 2 * room), ==, 0);
}

int
main (int argc, char **argv)
{
  static const NamedTest tests[] = {
    { "/walk/same", test_same },
    { "/walk/long", test_long },
    { "/walk/spoilt", test_spoilt },
    { "/walk/tiny-pages", test_tiny_pages },
  };
  return run_tests (argc, argv, tests, G_N_ELEMENTS (tests));
}
