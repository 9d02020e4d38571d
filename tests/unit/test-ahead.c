/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of coordinator/ledger-ahead.c: a large file is taken over while its pages are checked, and
 * every damage is found as in a small file. Links coordinator, storage and value. */
#include "checkpoint.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Enough rows for more than the 4 MiB from which a file counts as large. */
#define N_ROWS 70000u
#define LARGE_BYTES (4 * 1024 * 1024)

static Scribe *
begin (Place *place)
{
  Identity identity = identity_make ("run-1", "app", "8");
  g_autoptr (GError) error = NULL;
  ScribeConfig config = { .work_path = place->work,
                          .target = place->target,
                          .interval_us = HOUR_US,
                          .job_names = job_names,
                          .job_types = job_types,
                          .stems = place->stems,
                          .loads = TRUE,
                          .notify = place_notify,
                          .data = place };
  Scribe *scribe = scribe_new (&config, &identity, &error);
  g_assert_no_error (error);
  identity_clear (&identity);
  return scribe;
}

static Place *
make_with (GBytes *answer)
{
  struct stat status;
  Place *place = place_new ();
  Scribe *scribe = begin (place);
  save_many (scribe, 0, N_ROWS);
  if (answer != NULL)
    scribe_answer (scribe, answer, 6);
  finish_all (place, scribe);
  g_assert_cmpint (stat (place->target, &status), ==, 0);
  g_assert_cmpint (status.st_size, >, LARGE_BYTES);
  return place;
}

static Place *
make (void)
{
  return make_with (NULL);
}

/* All rows are reported, kept, and in the next file. */
static void
test_sound (void)
{
  g_autoptr (Place) place = make ();
  Scribe *scribe = begin (place);
  g_assert_cmpuint (place->rows->len, ==, N_ROWS);
  ScribeStats stats;
  scribe_stats (scribe, &stats);
  g_assert_cmpuint (stats.rows, ==, N_ROWS);
  g_assert_cmpfloat (stats.done, >, 0.069);
  save_many (scribe, N_ROWS, 10);
  finish_all (place, scribe);
  g_ptr_array_set_size (place->rows, 0);
  scribe = begin (place);
  g_assert_cmpuint (place->rows->len, ==, N_ROWS + 10);
  g_assert_cmpuint (place->n_trouble, ==, 0);
  finish_all (place, scribe);
  g_assert_cmpuint (place_strangers (place), ==, 0);
}

/* The middle of the file has rows. */
static void
damage (Place *place)
{
  guint8 bytes[16];
  struct stat status;
  int fd = open (place->target, O_RDWR | O_CLOEXEC);
  g_assert_cmpint (fstat (fd, &status), ==, 0);
  /* Two pages: a single one would be restored from the spare pages. */
  for (off_t at = status.st_size / 2 + 1000, end = at + 40960; at <= end; at += 40960)
    {
      g_assert_cmpint (pread (fd, bytes, sizeof bytes, at), ==, sizeof bytes);
      for (guint i = 0; i < sizeof bytes; i++)
        bytes[i] ^= 0x55;
      g_assert_cmpint (pwrite (fd, bytes, sizeof bytes, at), ==, sizeof bytes);
    }
  (void)close (fd);
}

/* A look for a start does not read the whole file, so it does not report this damage. */
static void
test_damaged (void)
{
  g_autoptr (Place) place = make ();
  Restore restore;
  damage (place);
  g_assert_true (restore_look_for (place->target, NULL, NULL, &restore, NULL));
  g_assert_false (restore.finished);
  g_assert_null (restore.damage);
  restore_clear (&restore);
  Scribe *scribe = begin (place);
  ScribeStats stats;
  scribe_stats (scribe, &stats);
  g_assert_cmpuint (stats.rows, <, N_ROWS);
  g_assert_cmpuint (stats.rows, >, N_ROWS - 300);
  g_assert_cmpuint (place->rows->len, >=, stats.rows);
  finish_all (place, scribe);
  g_assert_cmpuint (place->n_trouble, ==, 1);
  g_assert_nonnull (strstr (place->trouble, " rows are missing"));
  g_assert_cmpuint (place_strangers (place), ==, 1); /* the damaged file, set aside */
}

/* Removed rows of a large file are noticed, although all remaining rows are sound. */
static void
test_rows_are_gone (void)
{
  g_autoptr (Place) place = make ();
  sqlite3 *db = NULL;
  g_assert_cmpint (sqlite3_open (place->target, &db), ==, SQLITE_OK);
  g_assert_cmpint (
      sqlite3_exec (db, "DELETE FROM result WHERE path LIKE '/3/%'; VACUUM", NULL, NULL, NULL), ==,
      SQLITE_OK);
  sqlite3_close (db);
  Scribe *scribe = begin (place);
  finish_all (place, scribe);
  g_assert_cmpuint (place->n_trouble, ==, 1);
  g_assert_nonnull (strstr (place->trouble, " rows are missing (100 of 70000 results)"));
  g_assert_cmpuint (place_strangers (place), ==, 1);
}

/* But an answer is used as it is: before it is believed, the whole file is read, as in a look for
 * people. */
static void
test_look (void)
{
  g_autoptr (GBytes) answer = g_bytes_new_static ("42\n", 3);
  g_autoptr (Place) place = make_with (answer);
  Restore restore;
  damage (place);
  for (gboolean for_start = FALSE; for_start <= TRUE; for_start++)
    {
      g_assert_true (for_start ? restore_look_for (place->target, NULL, NULL, &restore, NULL)
                               : restore_look (place->target, &restore, NULL));
      g_assert_true (restore.exists && restore.finished);
      g_assert_cmpint (restore.exit_code, ==, 6);
      g_assert_true (g_bytes_equal (restore.answer, answer));
      g_assert_cmpstr (restore.identity.run, ==, "run-1");
      g_assert_nonnull (restore.damage);
      restore_clear (&restore);
    }
}

/* A program that starts knows the identity of its rows, and finds them in a file that has lost it.
 */
static void
test_lost_identity (void)
{
  g_autoptr (Place) place = place_new ();
  g_autofree char *bytes = NULL;
  char *found;
  Identity identity = identity_make ("run-1", "app", "8");
  char hex[DIGEST_HEX_LENGTH + 1];
  Restore restore;
  gsize size;
  Scribe *scribe = begin (place);
  save_many (scribe, 0, 10);
  finish_all (place, scribe);
  digest_to_hex (&identity.identity, hex);
  g_assert_true (g_file_get_contents (place->target, &bytes, &size, NULL));
  memset (bytes, 0, 100);
  while ((found = memmem (bytes, size, hex, strlen (hex))) != NULL)
    memset (found, 'x', strlen (hex));
  memset (memmem (bytes, size, "satin spare page", 16), 0, 16); /* nothing is mended */
  g_assert_true (g_file_set_contents (place->target, bytes, (gssize)size, NULL));
  g_assert_false (restore_look (place->target, &restore, NULL));
  g_assert_true (restore_look_for (place->target, NULL, &identity, &restore, NULL));
  g_assert_cmpstr (restore.identity.run, ==, "run-1");
  g_assert_nonnull (restore.damage);
  restore_clear (&restore);
  identity_clear (&identity);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ahead/sound", test_sound);
  g_test_add_func ("/ahead/damaged", test_damaged);
  g_test_add_func ("/ahead/rows-are-gone", test_rows_are_gone);
  g_test_add_func ("/ahead/look", test_look);
  g_test_add_func ("/ahead/lost-identity", test_lost_identity);
  return g_test_run ();
}
