/* SPDX-License-Identifier: BSD-3-Clause */
/* Whatever is done to a checkpoint, large or small, the work file with which a coordinator begins
 * is whole (coordinator/ledger.c, ledger-ahead.c). Runs a table of kinds of harm. Links
 * coordinator, storage and value. */
#include "checkpoint.h"

#include "storage/inventory.h"
#include "storage/recover/guard.h"
#include "storage/results.h"
#include "storage/rowsum.h"
#include "storage/schema.h"
#include "storage/tables.h"

#include <stdio.h>

#define LARGE_BYTES (4 * 1024 * 1024) /* a longer file counts as large */

static Scribe *
begin_with (Place *place, void (*notify) (const ScribeNews *news, void *data))
{
  Identity identity = identity_make ("run-1", "app", "8");
  ScribeConfig config = place_config (place, HOUR_US);
  g_autoptr (GError) error = NULL;
  config.loads = TRUE;
  config.notify = notify;
  Scribe *scribe = scribe_new (&config, &identity, &error);
  g_assert_no_error (error);
  identity_clear (&identity);
  return scribe;
}

static Scribe *
begin (Place *place)
{
  return begin_with (place, place_notify);
}

#define N_WIDE 260u             /* rows, more than a scribe reports at a time, … */
#define WIDE_BYTES (17u * 1024) /* … with values of this size they make a large file; … */
#define NARROW_BYTES 16u        /* … and with this size a small file */
#define N_MORE 400u             /* small rows, which fill some pages */
#define PAGE_AT(number, page) (((number)-1) * (page))

/* (transfer full): a row of the job "tour"; its value depends on its path. */
static Row *
wide_row (guint number, gsize size)
{
  g_autofree char *path = g_strdup_printf ("/%u/%u", number / 100, number % 100);
  g_autofree guint8 *bytes = g_malloc (size);
  memset (bytes, (int)(0x80 + number % 100), size);
  memcpy (bytes, &number, sizeof number);
  Digest digest = digest_of_string (path);
  g_autoptr (GBytes) value = g_bytes_new (bytes, size);
  return row_new (path, 1, &digest, 1e-4, 1000, value);
}

static void
run_sql (const char *path, const char *text)
{
  sqlite3 *db = NULL;
  g_assert_cmpint (sqlite3_open (path, &db), ==, SQLITE_OK);
  if (sqlite3_exec (db, text, NULL, NULL, NULL) != SQLITE_OK)
    g_error ("%s: %s", text, sqlite3_errmsg (db));
  sqlite3_close (db);
}

/* (transfer full): a place with a checkpoint of N_WIDE rows; the large one has no spare pages. */
static Place *
make_wide (gsize size)
{
  Place *place = place_new ();
  Scribe *scribe = begin (place);
  GPtrArray *rows = rows_new ();
  for (guint i = 0; i < N_WIDE; i++)
    g_ptr_array_add (rows, wide_row (i, size));
  scribe_save (scribe, rows);
  finish_all (place, scribe);
  if (size == WIDE_BYTES)
    run_sql (place->target, "VACUUM");
  return place;
}

static gboolean
count_proved (const Result *row, gpointer data, GError **error)
{
  Tally *tally = data;
  (void)error;
  tally->rows++;
  tally->sums += row->sum;
  return path_is_canonical (row->path) && row->digest_size == sizeof (Digest);
}

/* Checks that the file is whole: SQLite finds no fault in its pages, each row has the right
 * checksum, and no row is missing or superfluous. Returns the number of results. */
static guint64
assert_whole (const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Sql) sql = sql_open_frozen (path, &error);
  ResultsQuery all = { .is_strict = TRUE };
  Tally tally = { 0 };
  guint64 bad = 0;
  Identity identity = identity_make ("run-1", "app", "8");
  char hex[DIGEST_HEX_LENGTH + 1];
  g_assert_no_error (error);
  g_assert_true (schema_check (sql, NULL));
  g_assert_true (guard_check (path, &error));
  digest_to_hex (&identity.identity, hex);
  rowsum_identify (sql, hex);
  g_assert_true (results_each (sql, &all, count_proved, &tally, NULL, &error));
  g_assert_true (tables_count_bad (sql, &bad, NULL));
  g_assert_cmpuint (bad, ==, 0);
  g_assert_true (inventory_agrees (sql, 0, INVENTORY_TABLES - 1, &tally));
  identity_clear (&identity);
  return tally.rows;
}

/* Adds a row that has the right checksum, but that no scribe writes. */
static void
put_row (const char *file, const char *path, gsize digest_size, gboolean is_moved)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) value = g_bytes_new ("12345678", 8);
  Identity identity = identity_make ("run-1", "app", "8");
  char hex[DIGEST_HEX_LENGTH + 1];
  gboolean written = FALSE;
  Result row = { .path = path,
                 .node = "",
                 .job = "queens",
                 .type = "x",
                 .digest = (const guint8 *)"0123456789abcdef",
                 .digest_size = digest_size,
                 .value = value,
                 .saved = 1700000000 };
  digest_to_hex (&identity.identity, hex);
  g_autoptr (Sql) sql = sql_adopt (file, hex, &error);
  g_assert_no_error (error);
  g_autoptr (Results) results = results_new (sql, &error);
  g_assert_true (results_begin (results, &error));
  g_assert_true (results_put (results, &row, &written, &error));
  g_assert_true (written);
  g_assert_true (results_commit (results, &error));
  if (is_moved)
    g_assert_true (
        sql_run (sql,
                 "BEGIN; UPDATE result SET path = '/1/5/1', sum = row_sum ('result',"
                 " '/1/5/1', node, job, digest, value, work_s, saved, weight, json, args,"
                 " began, took_ms) WHERE path = '/9/7'",
                 &error)
        && inventory_renew (sql, &error) && sql_run (sql, "COMMIT", &error));
  g_autofree char *journal = g_strconcat (file, "-journal", NULL);
  (void)g_unlink (journal);
  g_clear_pointer (&results, results_free);
  g_clear_pointer (&sql, sql_free);
  run_sql (file, "VACUUM"); /* leaves no page free */
  identity_clear (&identity);
}

/* The bytes of a file, to be changed. */
typedef struct
{
  guint8 *bytes;
  gsize size, page;
} Image;

static guint32
read_big (const guint8 *at)
{
  return (guint32)at[0] << 24 | (guint32)at[1] << 16 | (guint32)at[2] << 8 | at[3];
}

static void
write_big (guint8 *at, gsize number)
{
  for (guint i = 0; i < 4; i++)
    at[i] = (guint8)(number >> (24 - 8 * i));
}

/* Adds a page at the file's end that begins the list of free pages and claims to list `n_leaves`
 * pages. */
static void
add_free_page (Image *image, guint32 n_free, guint32 n_leaves, guint32 leaf)
{
  image->bytes = g_realloc (image->bytes, image->size + image->page);
  guint8 *trunk = image->bytes + image->size;
  memset (trunk, 0, image->page);
  image->size += image->page;
  write_big (trunk, read_big (image->bytes + 32));
  write_big (trunk + 4, n_leaves);
  write_big (trunk + 8, leaf);
  write_big (image->bytes + 28, image->size / image->page);
  write_big (image->bytes + 32, image->size / image->page);
  write_big (image->bytes + 36, read_big (image->bytes + 36) + n_free);
}

static void
add_sound_free_page (Image *image)
{
  add_free_page (image, 1, 0, 0);
}

static void
add_free_page_of_too_many (Image *image)
{
  add_free_page (image, 1, 0x7fffffff, 0);
}

/* Lists a page that a table uses as free: the next row would overwrite it. */
static void
free_a_used_page (Image *image)
{
  add_free_page (image, 2, 1, 2);
}

static void
count_more_free_pages (Image *image)
{
  add_free_page (image, 4, 0, 0);
}

/* Puts a page that a table uses into the list of spare pages. */
static void
free_a_used_page_of_spare (Image *image)
{
  guint32 trunk = read_big (image->bytes + 32);
  if (trunk > 0)
    write_big (image->bytes + PAGE_AT (trunk, image->page) + 8, 2);
}

/* Adds a page at the file's end to which nothing refers. */
static void
add_unused_page (Image *image)
{
  image->bytes = g_realloc (image->bytes, image->size + image->page);
  memset (image->bytes + image->size, 0, image->page);
  image->size += image->page;
  write_big (image->bytes + 28, image->size / image->page);
}

/* Changes a byte of the first page of a table or index, in a part that is not needed to read the
 * rows. */
static void
spoil_page (Image *image, const char *path, const char *object, guint at)
{
  g_autofree char *query
      = g_strdup_printf ("SELECT rootpage FROM sqlite_schema WHERE name = '%s'", object);
  g_autofree char *number = ask (path, query);
  image->bytes[PAGE_AT ((gsize)g_ascii_strtoull (number, NULL, 10), image->page) + at] ^= 0x55;
}

typedef struct
{
  const char *name, *sql;        /* `sql` (nullable), … */
  void (*change) (Image *image); /* … `change` (nullable) … */
  const char *object; /* … and `object` (nullable) change the file: of this object's … */
  guint at;           /* … first page this byte is changed */
  const char *path;   /* (nullable): a row with this path is added, … */
  gsize digest_size;  /* … with a digest of so many bytes, … */
  gboolean is_moved;  /* … and then moved below another row */
  guint64 rows;       /* the number of rows that remain */
  gboolean is_silent; /* no trouble is reported, … */
  gboolean is_open;   /* … or some may be: that depends on SQLite */
  gboolean is_small;  /* only done to the small file, since a search of the large one takes long */
} Harm;

#define CELLS \
  "node, job, digest, value, work_s, saved, weight, json, args, began, took_ms, sum FROM result" \
  " WHERE path = '/1/5'"

static const Harm harms[] = {
  { .name = "nothing", .rows = N_WIDE, .is_silent = TRUE },
  { .name = "free page", .change = add_sound_free_page, .rows = N_WIDE, .is_open = TRUE },
  { .name = "free page of too many",
    .change = add_free_page_of_too_many,
    .rows = N_WIDE,
    .is_open = TRUE },
  { .name = "used page is free", .change = free_a_used_page, .rows = N_WIDE, .is_open = TRUE },
  { .name = "more free pages",
    .change = count_more_free_pages,
    .rows = N_WIDE,
    .is_open = TRUE,
    .is_small = TRUE },
  { .name = "used page is spare",
    .change = free_a_used_page_of_spare,
    .rows = N_WIDE,
    .is_open = TRUE,
    .is_small = TRUE },
  { .name = "page of nothing",
    .change = add_unused_page,
    .rows = N_WIDE,
    .is_open = TRUE,
    .is_small = TRUE },
  { .name = "space in a page of events", .object = "event", .at = 7, .rows = N_WIDE },
  { .name = "index of stems",
    .object = "sqlite_autoindex_stem_1",
    .at = 5,
    .rows = N_WIDE,
    .is_small = TRUE },
  { .name = "index of kept states",
    .object = "sqlite_autoindex_keep_1",
    .at = 0,
    .rows = N_WIDE,
    .is_small = TRUE },
  { .name = "row beside", .sql = "INSERT INTO result SELECT '/1/5555', " CELLS, .rows = N_WIDE },
  { .name = "row behind", .sql = "INSERT INTO result SELECT '/9/0', " CELLS, .rows = N_WIDE },
  { .name = "row below", .sql = "INSERT INTO result SELECT '/1/5/1', " CELLS, .rows = N_WIDE },
  { .name = "row is gone", .sql = "DELETE FROM result WHERE path = '/1/5'", .rows = N_WIDE - 1 },
  { .name = "value",
    .sql = "UPDATE result SET value = x'00' WHERE path = '/1/5'",
    .rows = N_WIDE - 1,
    .is_small = TRUE },
  { .name = "work",
    .sql = "UPDATE result SET work_s = 9 WHERE path = '/1/5'",
    .rows = N_WIDE - 1,
    .is_small = TRUE },
  { .name = "two values",
    .sql = "UPDATE result SET value = (SELECT value FROM result WHERE path = '/1/6')"
           " WHERE path = '/1/5'",
    .rows = N_WIDE - 1,
    .is_small = TRUE },
  { .name = "path",
    .sql = "UPDATE result SET path = '/1/005' WHERE path = '/1/5'",
    .rows = N_WIDE - 1,
    .is_small = TRUE },
  { .name = "path of no job", .path = "/9/007", .digest_size = 16, .rows = N_WIDE },
  { .name = "short digest", .path = "/9/7", .digest_size = 15, .rows = N_WIDE },
  { .name = "proved row below",
    .path = "/9/7",
    .digest_size = 16,
    .is_moved = TRUE,
    .rows = N_WIDE,
    .is_open = TRUE },
  { .name = "event", .sql = "UPDATE event SET detail = 'other'", .rows = N_WIDE },
  { .name = "events are gone", .sql = "DELETE FROM event", .rows = N_WIDE, .is_small = TRUE },
};

static void
do_harm (const Harm *harm, const char *path)
{
  g_autofree char *data = NULL;
  Image image;
  if (harm->sql != NULL)
    run_sql (path, harm->sql);
  if (harm->path != NULL)
    put_row (path, harm->path, harm->digest_size, harm->is_moved);
  if (harm->change == NULL && harm->object == NULL)
    return;
  g_assert_true (g_file_get_contents (path, &data, &image.size, NULL));
  image.bytes = (guint8 *)g_steal_pointer (&data);
  image.page = (gsize)image.bytes[16] << 8 | image.bytes[17];
  image.page = image.page == 1 ? 65536 : image.page;
  if (harm->change != NULL)
    harm->change (&image);
  if (harm->object != NULL)
    spoil_page (&image, path, harm->object, harm->at);
  g_assert_true (g_file_set_contents (path, (char *)image.bytes, (gssize)image.size, NULL));
  g_free (image.bytes);
}

/* Checks that the reported rows are as they were saved. */
static void
assert_told (const Place *place, gsize size, gboolean is_moved)
{
  for (guint i = 0; i < place->rows->len; i++)
    {
      const Row *row = g_ptr_array_index (place->rows, i);
      guint a, b;
      if (is_moved && strcmp (row->path, "/1/5/1") == 0)
        continue;
      g_assert_cmpint (sscanf (row->path, "/%u/%u", &a, &b), ==, 2);
      Row *wanted = wide_row (a * 100 + b, size);
      g_assert_cmpstr (row->path, ==, wanted->path);
      g_assert_true (g_bytes_equal (row->value, wanted->value));
      g_assert_cmpuint (row->job, ==, wanted->job);
      g_assert_true (digest_equal (&row->digest, &wanted->digest));
      row_free (wanted);
    }
}

/* After any harm to a checkpoint, the new work file is whole, has the right rows and no others, and
 * accepts more rows; and so is the next publication. A damaged checkpoint is set aside. */
static void
harm_one (const Harm *harm, GBytes *file, gsize row_bytes)
{
  g_autoptr (Place) place = place_new ();
  ScribeStats stats;
  gsize size;
  const char *data = g_bytes_get_data (file, &size);
  g_assert_true (g_file_set_contents (place->target, data, (gssize)size, NULL));
  do_harm (harm, place->target);
  Scribe *scribe = begin (place);
  scribe_stats (scribe, &stats);
  g_assert_cmpuint (stats.rows, ==, harm->rows);
  g_assert_cmpuint (assert_whole (place->work), ==, harm->rows);
  g_assert_cmpuint (place->rows->len, >=, harm->rows);
  assert_told (place, row_bytes, harm->is_moved);
  save_many (scribe, N_WIDE, N_MORE);
  finish_all (place, scribe);
  g_assert_cmpuint (assert_whole (place->target), ==, harm->rows + N_MORE);
  g_assert_cmpuint (place->n_trouble, ==, place_strangers (place));
  if (!harm->is_open)
    g_assert_cmpuint (place->n_trouble, ==, harm->is_silent ? 0 : 1);
}

/* A large file with a kept state: the state is reported, too. */
static void
test_kept (void)
{
  g_autoptr (Place) place = make_wide (WIDE_BYTES);
  guint n_kept = 0;
  Scribe *scribe = begin (place);
  save_one (scribe, row_make_kept ("/8/1", 3, 5));
  finish_all (place, scribe);
  g_ptr_array_set_size (place->rows, 0);
  scribe = begin (place);
  for (guint i = 0; i < place->rows->len; i++)
    n_kept += ((const Row *)g_ptr_array_index (place->rows, i))->children == 3;
  g_assert_cmpuint (n_kept, ==, 1);
  finish_all (place, scribe);
  assert_answer (place->target, "SELECT count(*) FROM keep", "1");
}

/* While the checkpoint is read another file replaces it: the scribe begins with the new one. */
static GBytes *newer; /* (nullable) the bytes of the other file */

static void
replace_once (const ScribeNews *news, void *data)
{
  Place *place = data;
  gsize size;
  if (newer != NULL && news->kind == SCRIBE_RESTORED)
    {
      const char *bytes = g_bytes_get_data (newer, &size);
      g_assert_true (g_file_set_contents (place->target, bytes, (gssize)size, NULL));
      newer = NULL;
    }
  place_notify (news, data);
}

static void
test_changed_meanwhile (void)
{
  g_autoptr (Place) place = make_wide (WIDE_BYTES), other = place_new ();
  g_autoptr (GBytes) before = contents (place->target);
  ScribeStats stats;
  Scribe *scribe = begin (place);
  save_many (scribe, N_WIDE, 10);
  finish_all (place, scribe);
  g_autoptr (GBytes) after = contents (place->target);
  gsize size;
  const char *bytes = g_bytes_get_data (before, &size);
  g_assert_true (g_file_set_contents (other->target, bytes, (gssize)size, NULL));
  newer = after;
  scribe = begin_with (other, replace_once);
  g_assert_null (newer);
  scribe_stats (scribe, &stats);
  g_assert_cmpuint (stats.rows, ==, N_WIDE + 10);
  g_assert_cmpuint (assert_whole (other->work), ==, N_WIDE + 10);
  finish_all (other, scribe);
  g_assert_cmpuint (other->n_trouble, ==, 0);
}

static void
test_any_harm (gconstpointer row_bytes)
{
  gsize size = GPOINTER_TO_SIZE (row_bytes);
  g_autoptr (Place) sound = make_wide (size);
  g_autoptr (GBytes) file = contents (sound->target);
  g_assert_true ((g_bytes_get_size (file) > LARGE_BYTES) == (size == WIDE_BYTES));
  for (guint i = 0; i < G_N_ELEMENTS (harms); i++)
    {
      if (harms[i].is_small && size == WIDE_BYTES)
        continue;
      g_test_message ("%s", harms[i].name);
      harm_one (&harms[i], file, size);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/harm/kept", test_kept);
  g_test_add_func ("/harm/changed-meanwhile", test_changed_meanwhile);
  g_test_add_data_func ("/harm/large", GSIZE_TO_POINTER (WIDE_BYTES), test_any_harm);
  g_test_add_data_func ("/harm/small", GSIZE_TO_POINTER (NARROW_BYTES), test_any_harm);
  return g_test_run ();
}
