/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows that are reported while a checkpoint is taken over: all that prove themselves, once each,
 * and no other. Links coordinator, storage and value. */
#include "checkpoint.h"

#include <stdlib.h>

#define FROM_BYTES 200000
#define N_ROWS 5000u

static Scribe *
begin (Place *place, guint64 interval_us, gboolean loads)
{
  Identity identity = identity_make ("run-1", "app", "8");
  g_autoptr (GError) error = NULL;
  ScribeConfig config = { .work_path = place->work,
                          .target = place->target,
                          .interval_us = interval_us,
                          .delta_from = FROM_BYTES,
                          .job_names = job_names,
                          .job_types = job_types,
                          .stems = place->stems,
                          .loads = loads,
                          .notify = place_notify,
                          .data = place };
  Scribe *scribe = scribe_new (&config, &identity, &error);
  g_assert_no_error (error);
  identity_clear (&identity);
  return scribe;
}

/* Publishes rows whose values tell their paths. */
static void
publish_rows (Place *place, Scribe *scribe, guint first, guint n)
{
  static guint64 ticket;
  GPtrArray *rows = rows_new ();
  for (guint i = first; i < first + n; i++)
    {
      g_autofree char *path = g_strdup_printf ("/%u/%u", i / 100, i % 100);
      g_ptr_array_add (rows, row_make (path, i, 1000, 1e-6));
    }
  scribe_save (scribe, rows);
  scribe_ticket (scribe, ++ticket);
  pthread_mutex_lock (&place->lock);
  while (place->ticket < ticket)
    pthread_cond_wait (&place->wake, &place->lock);
  pthread_mutex_unlock (&place->lock);
}

/* The number of reported rows whose values tell their paths; all must. */
static guint
told (const Place *place)
{
  for (guint i = 0; i < place->rows->len; i++)
    {
      const Row *row = g_ptr_array_index (place->rows, i);
      gint64 number = 0;
      char *end;
      guint64 high = strtoul (row->path + 1, &end, 10);
      g_assert_cmpuint (g_bytes_get_size (row->value), ==, sizeof number);
      memcpy (&number, g_bytes_get_data (row->value, NULL), sizeof number);
      g_assert_cmpint (GINT64_FROM_LE (number), ==,
                       (gint64)(high * 100 + strtoul (end + 1, NULL, 10)));
    }
  return place->rows->len;
}

/* A request for rows that were already reported is answered only with the end; later all rows are
 * reported again. */
static void
assert_told_once (Place *place, Scribe *scribe, guint n)
{
  g_assert_cmpuint (told (place), ==, n);
  g_assert_cmpuint (place->n_restored_final, ==, 0);
  scribe_load (scribe, NULL);
  place_wait (place, &place->n_restored_final, 1);
  g_assert_cmpuint (place->rows->len, ==, n);
  scribe_load (scribe, NULL);
  place_wait (place, &place->n_restored_final, 2);
  g_assert_cmpuint (place->rows->len, ==, 2 * n);
}

static void
test_base_and_delta (void)
{
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = begin (place, 1000, FALSE);
  publish_rows (place, scribe, 0, N_ROWS);
  publish_rows (place, scribe, N_ROWS, 50);
  scribe_free (scribe);
  g_autofree char *delta = g_strconcat (place->target, "-delta", NULL);
  g_assert_true (g_file_test (delta, G_FILE_TEST_EXISTS));

  scribe = begin (place, HOUR_US, TRUE);
  assert_told_once (place, scribe, N_ROWS + 50);
  scribe_free (scribe);
}

static void
test_nothing_there (void)
{
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = begin (place, HOUR_US, TRUE);
  assert_told_once (place, scribe, 0);
  scribe_free (scribe);
}

static void
make_base (Place *place)
{
  Scribe *scribe = begin (place, 1000, FALSE);
  publish_rows (place, scribe, 0, N_ROWS);
  scribe_free (scribe);
}

static void
test_a_row_that_does_not_prove_itself (void)
{
  g_autoptr (Place) place = place_new ();
  make_base (place);
  sqlite3 *db = NULL;
  g_assert_cmpint (sqlite3_open (place->target, &db), ==, SQLITE_OK);
  g_assert_cmpint (
      sqlite3_exec (db, "UPDATE result SET value = 77 WHERE path = '/9/9'", NULL, NULL, NULL), ==,
      SQLITE_OK);
  sqlite3_close (db);

  /* Rows that were reported until then are reported again, row by row: rows are facts. */
  Scribe *scribe = begin (place, HOUR_US, TRUE);
  g_assert_cmpuint (told (place), >=, N_ROWS - 1);
  for (guint i = 0; i < place->rows->len; i++)
    g_assert_cmpstr (((const Row *)g_ptr_array_index (place->rows, i))->path, !=, "/9/9");
  scribe_free (scribe);
}

static void
test_a_file_with_destroyed_pages (void)
{
  g_autoptr (Place) place = place_new ();
  g_autofree char *data = NULL;
  gsize size;
  make_base (place);
  g_assert_true (g_file_get_contents (place->target, &data, &size, NULL));
  memset (data + size / 8192 * 4096, 0x55,
          8192); /* a single page would be restored from the spare pages */
  g_assert_true (g_file_set_contents (place->target, data, (gssize)size, NULL));

  Scribe *scribe = begin (place, HOUR_US, TRUE);
  guint n = told (place);
  g_assert_cmpuint (n, >, N_ROWS / 2);
  g_assert_cmpuint (n, <, N_ROWS);
  g_ptr_array_set_size (place->rows, 0);
  scribe_load (scribe, NULL);
  scribe_load (scribe, NULL);
  place_wait (place, &place->n_restored_final, 2);
  g_assert_cmpuint (told (place), ==, n);
  scribe_free (scribe);
}

static void
test_deep_rows_and_kept_states (void)
{
  g_autoptr (Place) place = place_new ();
  guint32 deep[200] = { 0 };
  Scribe *scribe = begin (place, HOUR_US, FALSE);
  g_autofree char *path = path_from_numbers (place->stems, deep, 200);
  save_one (scribe, row_make (path, 1, 1, 0.125));
  save_one (scribe, row_make_kept ("/1", 3, 5));
  finish (place, scribe);
  scribe_free (scribe);

  scribe = begin (place, HOUR_US, TRUE);
  g_assert_cmpuint (place->rows->len, ==, 2);
  const Row *row = g_ptr_array_index (place->rows, 0), *kept = g_ptr_array_index (place->rows, 1);
  g_assert_cmpstr (row->path, ==, path);
  g_assert_true (node_id_equal (&row->node, &(NodeId){ 1, 2, 3 }));
  g_assert_cmpstr (kept->path, ==, "/1");
  g_assert_cmpuint (kept->children, ==, 3);
  scribe_free (scribe);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/told/base-and-delta", test_base_and_delta);
  g_test_add_func ("/told/nothing-there", test_nothing_there);
  g_test_add_func ("/told/a-row-that-does-not-prove-itself", test_a_row_that_does_not_prove_itself);
  g_test_add_func ("/told/destroyed-pages", test_a_file_with_destroyed_pages);
  g_test_add_func ("/told/deep-rows-and-kept-states", test_deep_rows_and_kept_states);
  return g_test_run ();
}
