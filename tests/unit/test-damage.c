/* SPDX-License-Identifier: BSD-3-Clause */
/* Many damaged files, made by a seeded generator from sound checkpoints with small and with large
 * values: no row that is read is wrong, every loss is reported, and of each kind of damage at least
 * the promised share of the rows is kept. SEED=n repeats the files of that seed; SATIN_TEST_ALL=1
 * makes ten times as many. Links coordinator, storage and value. */
#include "checkpoint.h"

#include "host/whole.h"
#include "storage/results.h"
#include "storage/spare.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define N_SMALL 1000u
#define N_LARGE 26u
#define FILES_OF_A_KIND 5u
#define FILES_OF_A_LARGE_KIND 1u

/* A sound checkpoint and its content. */
typedef struct
{
  const char *name;
  guint n_rows;
  gsize extra;   /* the size of a value, roughly */
  double least;  /* the mean share of rows that is kept under each kind of damage except those by
                    SQL; 0: the kind says it */
  guint n_files; /* the number of files for each kind */
  guint one_of;  /* one kind of so many is tried; 0: all, as with SATIN_LONG */
  char *data;
  gsize size, page;
} Sample;

typedef struct
{
  char *data;
  gsize size;
  gsize end; /* rows that touch bytes from here on may be lost, rows before it may not */
} Image;

typedef struct
{
  const char *name;
  void (*harm) (GRand *rand, const Sample *sample,
                Image *image); /* (nullable): NULL: the damage is done by `sql` */
  const char *sql;
  double least;        /* the mean share of rows that is kept, … */
  gboolean is_partial; /* … of those that lie before image.end */
} Kind;

static guint
pick_page (GRand *rand, const Sample *sample)
{
  return (guint)g_rand_int_range (rand, 0, (gint32)(sample->size / sample->page));
}

static void
flip (GRand *rand, const Sample *sample, Image *image)
{
  image->data[g_rand_int_range (rand, 0, (gint32)sample->size)]
      ^= (char)(1 << g_rand_int_range (rand, 0, 8));
}

static void
zero_page (GRand *rand, const Sample *sample, Image *image)
{
  memset (image->data + pick_page (rand, sample) * sample->page, 0, sample->page);
}

static void
garble_page (GRand *rand, const Sample *sample, Image *image)
{
  char *page = image->data + pick_page (rand, sample) * sample->page;
  for (gsize i = 0; i < sample->page; i++)
    page[i] = (char)g_rand_int (rand);
}

static void
swap_pages (GRand *rand, const Sample *sample, Image *image)
{
  guint one = pick_page (rand, sample), other = pick_page (rand, sample);
  memcpy (image->data + one * sample->page, sample->data + other * sample->page, sample->page);
  memcpy (image->data + other * sample->page, sample->data + one * sample->page, sample->page);
}

static void
copy_page (GRand *rand, const Sample *sample, Image *image)
{
  guint from = pick_page (rand, sample), to = pick_page (rand, sample);
  memcpy (image->data + to * sample->page, sample->data + from * sample->page, sample->page);
}

static void
insert (GRand *rand, Image *image, gsize at, gsize bytes)
{
  image->data = g_realloc (image->data, image->size + bytes);
  memmove (image->data + at + bytes, image->data + at, image->size - at);
  for (gsize i = 0; i < bytes; i++)
    image->data[at + i] = (char)g_rand_int (rand);
  image->size += bytes;
}

static void
insert_byte (GRand *rand, const Sample *sample, Image *image)
{
  insert (rand, image, (gsize)g_rand_int_range (rand, 0, (gint32)sample->size), 1);
}

static void
remove_byte (GRand *rand, const Sample *sample, Image *image)
{
  gsize at = (gsize)g_rand_int_range (rand, 0, (gint32)sample->size);
  memmove (image->data + at, image->data + at + 1, --image->size - at);
}

static void
insert_page (GRand *rand, const Sample *sample, Image *image)
{
  insert (rand, image, pick_page (rand, sample) * sample->page, sample->page);
}

static void
cut (GRand *rand, const Sample *sample, Image *image)
{
  image->end = image->size = (gsize)((double)sample->size * g_rand_double_range (rand, 0.3, 0.99));
}

static void
cut_little (GRand *rand, const Sample *sample, Image *image)
{
  (void)rand;
  image->end = image->size = sample->size * 92 / 100;
}

static const Kind kinds[] = {
  { "a flipped bit", flip, NULL, 0.99, FALSE },
  { "a page of zeros", zero_page, NULL, 0.99, FALSE },
  { "a page of garbage", garble_page, NULL, 0.99, FALSE },
  { "two pages swapped", swap_pages, NULL, 0.99, FALSE },
  { "a page over another", copy_page, NULL, 0.99, FALSE },
  { "an inserted byte", insert_byte, NULL, 0.99, FALSE },
  { "a byte less", remove_byte, NULL, 0.99, FALSE },
  { "an inserted page", insert_page, NULL, 0.99, FALSE },
  { "a cut", cut, NULL, 0.9, TRUE },
  { "a cut to 92 %", cut_little, NULL, 0.9, TRUE },
  { "DELETE of results", NULL, "DELETE FROM result WHERE path LIKE '/0%'", 0, FALSE },
  { "DELETE of jobs", NULL, "DELETE FROM job", 1, FALSE },
  { "DELETE of the count", NULL, "DELETE FROM run WHERE key = 'rows'", 1, FALSE },
  { "UPDATE of a result", NULL, "UPDATE result SET value = x'00' WHERE path = '/1'", 0.95, FALSE },
};

static guint8
byte_of (guint row, gsize at)
{
  return (guint8)((row * 2654435761u + (guint)at * 40503u) >> 11);
}

/* Row `i` has the value (i, bytes made of i). */
static Row *
make_row (const Sample *sample, guint i)
{
  if (sample->extra == 0)
    {
      g_autofree char *path = g_strdup_printf ("/%u", i);
      return row_make (path, i, 1000, 0.5 / sample->n_rows);
    }
  g_autofree char *path = g_strdup_printf ("/%u", i);
  g_autofree char *what = g_strconcat ("job at ", path, NULL);
  Digest digest = digest_of_string (what);
  gsize size = 8 + sample->extra + 37 * i;
  guint8 *bytes = g_malloc (size);
  gint64 little = GINT64_TO_LE ((gint64)i);
  memcpy (bytes, &little, sizeof little);
  for (gsize k = 8; k < size; k++)
    bytes[k] = byte_of (i, k);
  g_autoptr (GBytes) value = g_bytes_new_take (bytes, size);
  Row *row = row_new (path, 1, &digest, 0.5 / sample->n_rows, 1000, value);
  row->node = (NodeId){ 1, 2, 3 };
  return row;
}

static void
sample_make (Sample *sample)
{
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = start (place, HOUR_US, "run-1");
  GPtrArray *rows = rows_new ();
  for (guint i = 0; i < sample->n_rows; i++)
    g_ptr_array_add (rows, make_row (sample, i));
  scribe_save (scribe, rows);
  finish (place, scribe);
  scribe_free (scribe);
  g_assert_true (g_file_get_contents (place->target, &sample->data, &sample->size, NULL));
  sample->page = (gsize)(guint8)sample->data[16] << 8 | (guint8)sample->data[17];
  sample->page = sample->page == 1 ? 65536 : sample->page;
  g_test_message ("%s: %u rows, %" G_GSIZE_FORMAT " bytes in pages of %" G_GSIZE_FORMAT,
                  sample->name, sample->n_rows, sample->size, sample->page);
}

typedef struct
{
  const Sample *sample;
  guint kept;
} Check;

/* Aborts if the sample does not have this row. */
static gboolean
check_row (const Result *row, gpointer data, GError **error)
{
  Check *check = data;
  guint i = (guint)atoi (row->path + 1);
  g_autoptr (Row) expected = make_row (check->sample, i);
  (void)error;
  g_assert_cmpuint (i, <, check->sample->n_rows);
  g_assert_cmpstr (row->path, ==, expected->path);
  g_assert_cmpmem (row->digest, row->digest_size, expected->digest.bytes,
                   sizeof expected->digest.bytes);
  g_assert_true (g_bytes_equal (row->value, expected->value));
  check->kept++;
  return TRUE;
}

/* The number of rows that readers get from the file; `is_said`: they are told that rows are
 * lost. */
static guint
read_file (Place *place, const Sample *sample, gboolean *is_said)
{
  Restore restore = { 0 };
  Check check = { .sample = sample };
  ResultsQuery all = { .job_names = job_names, .job_types = job_types };
  g_autoptr (GError) error = NULL;
  g_autoptr (Sql) file = restore_open (place->target, &error);
  *is_said = error != NULL;
  if (file == NULL)
    return 0;
  if (!restore_read (file, place->target, &restore, &error))
    {
      *is_said = TRUE;
      return 0;
    }
  g_assert_true (results_each (file, &all, check_row, &check, NULL, NULL));
  *is_said = restore.damage != NULL;
  g_assert_true (check.kept == sample->n_rows || *is_said);
  restore_clear (&restore);
  return check.kept;
}

/* TRUE if these bytes are in the sample and not wholly before `end`. */
static gboolean
lies_behind (const Sample *sample, gsize end, const void *bytes, gsize size)
{
  gsize from = end - size + 1;
  return memmem (sample->data + from, sample->size - from, bytes, size) != NULL;
}

/* The number of rows of the sample that lie before `end`, from the digest to the checksum. */
static guint
rows_before (Place *place, const Sample *sample, gsize end)
{
  guint n = 0;
  sqlite3 *db = NULL;
  sqlite3_stmt *statement = NULL;
  g_assert_true (g_file_set_contents (place->target, sample->data, (gssize)sample->size, NULL));
  g_assert_cmpint (sqlite3_open (place->target, &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_prepare_v2 (db, "SELECT digest, sum FROM result", -1, &statement, NULL),
                   ==, SQLITE_OK);
  while (sqlite3_step (statement) == SQLITE_ROW)
    {
      guint64 sum = GUINT64_TO_BE ((guint64)sqlite3_column_int64 (statement, 1));
      /* An old copy of a cell may be before it in a page that was split. */
      n += !lies_behind (sample, end, sqlite3_column_blob (statement, 0), 16)
           && !lies_behind (sample, end, &sum, sizeof sum);
    }
  sqlite3_finalize (statement);
  sqlite3_close (db);
  return n;
}

static void
harm_by_sql (Place *place, const Sample *sample, const char *text)
{
  sqlite3 *db = NULL;
  g_assert_true (g_file_set_contents (place->target, sample->data, (gssize)sample->size, NULL));
  g_assert_cmpint (sqlite3_open (place->target, &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (db, text, NULL, NULL, NULL), ==, SQLITE_OK);
  sqlite3_close (db);
}

/* The share of the rows that one file of this kind keeps. */
static double
try_one (Place *place, const Sample *sample, const Kind *kind, GRand *rand)
{
  gboolean is_said;
  guint all = sample->n_rows;
  if (kind->sql != NULL)
    harm_by_sql (place, sample, kind->sql);
  else
    {
      Image image = { g_memdup2 (sample->data, sample->size), sample->size, sample->size };
      kind->harm (rand, sample, &image);
      all = kind->is_partial ? rows_before (place, sample, image.end) : all;
      g_assert_true (g_file_set_contents (place->target, image.data, (gssize)image.size, NULL));
      g_free (image.data);
    }
  guint kept = read_file (place, sample, &is_said);
  g_assert_true ((kind->sql == NULL && !kind->is_partial) || is_said);
  return kept < all ? (double)kept / all : 1;
}

/* The mean of few files means little: if they kept too few rows, ten times as many files are
 * tried. */
static void
try_kind (const Sample *sample, const Kind *kind, GRand *rand)
{
  g_autoptr (Place) place = place_new ();
  double sum = 0, least = 1, wanted = MIN (kind->least, sample->least);
  guint few = kind->sql != NULL ? 1 : sample->n_files, many = kind->sql != NULL ? 1 : 10 * few;
  gboolean tries_all = g_strcmp0 (g_getenv ("SATIN_TEST_ALL"), "1") == 0;
  guint n = 0, until = tries_all ? many : few;
  while (n < until)
    {
      double share = try_one (place, sample, kind, rand);
      sum += share;
      least = MIN (least, share);
      n++;
      if (n == few && sum < wanted * n)
        until = many;
    }
  g_test_message ("%s, %s: mean %.2f %% of the rows kept, at least %.2f %%, in %u files",
                  sample->name, kind->name, 100 * sum / n, 100 * least, n);
  if (g_getenv ("SATIN_TEST_LOOK") == NULL)
    g_assert_cmpfloat (sum / n, >=, wanted);
}

static void
test_damage (gconstpointer data)
{
  Sample sample = *(const Sample *)data;
  const char *word = g_getenv ("SEED");
  guint32 seed = word != NULL ? (guint32)strtoul (word, NULL, 0) : g_random_int ();
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_test_message ("SEED=%u", seed);
  sample_make (&sample);
  guint every = g_getenv ("SATIN_LONG") != NULL ? 1 : MAX (sample.one_of, 1);
  for (gsize i = seed % every; i < G_N_ELEMENTS (kinds); i += every)
    try_kind (&sample, &kinds[i], rand);
  g_free (sample.data);
}

/* A writer checks its copy before publishing: no bit of the spare pages may be wrong, and none of
 * the pages that they protect. */
static void
test_a_copy_has_sound_spare_pages (void)
{
  static const char magic[] = "satin spare page";
  Sample sample = { .name = "copy", .n_rows = 100, .extra = 300 };
  int fd = memfd_create ("copy", MFD_CLOEXEC);

  sample_make (&sample);
  char *head = memmem (sample.data, sample.size, magic, strlen (magic));
  g_assert_nonnull (head);
  gsize from = (gsize)(head - sample.data), n_pages = from / sample.page - 1;
  gsize to = from + 32 + 8 * n_pages + sample.page;
  g_assert_cmpuint (to, <=, sample.size);
  g_assert_true (whole_write_at (fd, sample.data, sample.size, 0));
  g_assert_true (spare_is_whole (fd));
  for (gsize at = 4096; at < to; at += at < from ? 997 : 13)
    {
      char wrong = (char)(sample.data[at] ^ 1);
      if (at >= (n_pages * sample.page) && at < from)
        continue; /* SQLite itself checks its list of free pages */
      g_assert_true (whole_write_at (fd, &wrong, 1, at));
      g_assert_false (spare_is_whole (fd));
      g_assert_true (whole_write_at (fd, sample.data + at, 1, at));
    }
  g_assert_true (spare_is_whole (fd));
  (void)close (fd);
  g_free (sample.data);
}

int
main (int argc, char **argv)
{
  static const Sample samples[]
      = { { .name = "small values", .n_rows = N_SMALL, .least = 1, .n_files = FILES_OF_A_KIND },
          { .name = "middle values",
            .n_rows = 200,
            .extra = 900,
            .least = 1,
            .n_files = FILES_OF_A_KIND },
          { .name = "large values",
            .n_rows = N_LARGE,
            .extra = 6000,
            .least = 1,
            .n_files = FILES_OF_A_KIND },
          { .name = "vast values",
            .n_rows = N_LARGE,
            .extra = 170000,
            .least = 1,
            .n_files = FILES_OF_A_LARGE_KIND },
          { .name = "huge values",
            .n_rows = N_LARGE,
            .extra = 60000,
            .least = 1,
            .n_files = FILES_OF_A_LARGE_KIND },
          /* Without spare pages a lost page costs the row to which it belongs. */
          { .name = "boundless values",
            .n_rows = N_LARGE,
            .extra = 800000,
            .least = 0.9,
            .n_files = FILES_OF_A_LARGE_KIND,
            .one_of = 3 } };
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (samples); i++)
    {
      g_autofree char *name = g_strdup_printf ("/damage/%s", samples[i].name);
      g_strdelimit (name, " ", '-');
      g_test_add_data_func (name, &samples[i], test_damage);
    }
  g_test_add_func ("/damage/a-copy-has-sound-spare-pages", test_a_copy_has_sound_spare_pages);
  return g_test_run ();
}
