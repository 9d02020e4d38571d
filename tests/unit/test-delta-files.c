/* SPDX-License-Identifier: BSD-3-Clause */
/* Deltas that are invalid, damaged, or of an unusual page size. Links coordinator, storage and
 * value. */
#include "delta.h"

/* A user may have given another file this name. */
static void
test_what_is_no_delta_is_left_alone (void)
{
  for (guint kind = 0; kind < 3; kind++)
    {
      g_autoptr (Place) place = place_new (), other = place_new ();
      g_autofree char *delta = delta_of (place);
      if (kind == 0)
        g_assert_true (g_file_set_contents (delta, "somebody else's", -1, NULL));
      else if (kind == 1)
        g_assert_cmpint (g_mkdir (delta, 0700), ==, 0);
      else
        {
          Scribe *theirs = start (other, HOUR_US, "run-7");
          save_one (theirs, row_make ("/9999", 1, 1, 0.5));
          finish (other, theirs);
          scribe_free (theirs);
          g_assert_cmpint (rename (other->target, delta), ==, 0);
        }
      goffset size = size_of (delta);
      Scribe *scribe = begin (place, 1000);
      save_many (scribe, 0, BASE_ROWS);
      wait_published (place, scribe);
      save_many (scribe, BASE_ROWS, 90);
      wait_published (place, scribe);
      finish (place, scribe);
      g_autofree char *all = g_strdup_printf ("%u", BASE_ROWS + 90);
      assert_answer (place->target, "SELECT count(*) FROM result", all);
      g_assert_cmpint (size_of (delta), ==, size);
      assert_rows (place->target, BASE_ROWS + 90);
      scribe_free (scribe);
    }
}

static void
test_a_delta_is_no_checkpoint (void)
{
  g_autoptr (Place) place = place_new ();
  g_autofree char *delta = delta_of (place);
  g_autoptr (GError) error = NULL;
  g_auto (Restore) restore = { 0 };
  leave_as_killed (place, begin_with_delta (place, 90));
  g_assert_false (restore_look (delta, &restore, &error));
  g_assert_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_UNUSABLE);
  g_assert_nonnull (strstr (error->message, place->target));
}

static void
test_a_damaged_delta_is_kept_aside (void)
{
  g_autoptr (Place) place = place_new ();
  g_autofree char *delta = delta_of (place), *bytes = NULL;
  gsize size;
  leave_as_killed (place, begin_with_delta (place, 900));
  g_assert_true (g_file_get_contents (delta, &bytes, &size, NULL));
  memset (bytes + size / 2, 'x', 8192); /* a single page would be restored from the spare pages */
  g_assert_true (g_file_set_contents (delta, bytes, (gssize)size, NULL));

  g_auto (Restore) restore = { 0 };
  g_assert_true (restore_look (place->target, &restore, NULL));
  g_assert_nonnull (restore.damage);
  g_assert_cmpuint (restore.rows, >, BASE_ROWS);
  g_assert_cmpuint (restore.rows, <, BASE_ROWS + 900);
  Scribe *scribe = begin (place, HOUR_US);
  finish (place, scribe);
  scribe_free (scribe);
  g_assert_cmpint (size_of (delta), ==, -1);
  g_assert_cmpuint (place_strangers (place), ==, 1);
  g_assert_nonnull (strstr (place->trouble, "-delta' is damaged"));
  assert_rows (place->target, restore.rows);
}

/* Base and delta each record how many rows they had. */
static void
test_rows_that_are_gone_are_missed (void)
{
  static const struct
  {
    gboolean is_delta;
    const char *change, *words;
  } losses[] = { { FALSE, "DELETE FROM result WHERE path LIKE '/3/%'", "(100 of 9090 results)" },
                 { TRUE, "DELETE FROM result WHERE path LIKE '/90/4%'", "(11 of 9090 results)" },
                 { TRUE, "DELETE FROM constant WHERE name = 'run/rows'", "(0 of 9090 results)" },
                 { TRUE,
                   "DELETE FROM run WHERE key = 'rows';"
                   "DELETE FROM constant WHERE name = 'run/rows'",
                   "the count of rows is lost" } };
  for (gsize i = 0; i < G_N_ELEMENTS (losses); i++)
    {
      g_autoptr (Place) place = place_new ();
      g_autofree char *delta = delta_of (place);
      sqlite3 *db = NULL;
      leave_as_killed (place, begin_with_delta (place, 90));
      assert_rows (place->target, BASE_ROWS + 90);
      g_assert_cmpint (sqlite3_open (losses[i].is_delta ? delta : place->target, &db), ==,
                       SQLITE_OK);
      g_assert_cmpint (sqlite3_exec (db, losses[i].change, NULL, NULL, NULL), ==, SQLITE_OK);
      sqlite3_close (db);

      g_auto (Restore) restore = { 0 };
      g_assert_true (restore_look (place->target, &restore, NULL));
      g_assert_nonnull (strstr (restore.damage, losses[i].words));
      Scribe *scribe = begin (place, HOUR_US);
      finish (place, scribe);
      scribe_free (scribe);
      g_assert_nonnull (strstr (place->trouble, "is damaged: "));
      g_assert_cmpuint (place_strangers (place), ==, 1);
      assert_rows (place->target, restore.rows);
    }
}

static void
save_large (Scribe *scribe, guint first, guint n, gsize bytes)
{
  GPtrArray *rows = rows_new ();
  for (guint i = first; i < first + n; i++)
    {
      g_autofree char *path = g_strdup_printf ("/%u/%u", i / 100, i % 100);
      Row *row = row_make (path, i, 1000, 1e-6);
      guint8 *value = g_malloc (bytes);
      for (gsize k = 0; k < bytes; k++)
        value[k] = (guint8)((k * 2654435761u + i) >> 9);
      g_bytes_unref (row->value);
      row->value = g_bytes_new_take (value, bytes);
      row->job = 1;
      g_ptr_array_add (rows, row);
    }
  scribe_save (scribe, rows);
}

/* The size of pages is chosen by the length of rows, and a private file has its own size. */
static void
test_files_of_any_pages_are_united (void)
{
  static const gsize lengths[] = { 20, 300, 1200, 5000 };

  for (guint i = 0; i < G_N_ELEMENTS (lengths); i++)
    {
      g_autoptr (Place) place = place_new ();
      g_auto (Restore) restore = { 0 };
      g_autoptr (GError) error = NULL;
      Scribe *scribe = begin (place, 1000);
      guint n = (guint)(1500000 / (lengths[i] + 100));
      save_large (scribe, 0, n, lengths[i]);
      wait_published (place, scribe);
      save_large (scribe, n, 50, lengths[i]);
      wait_published (place, scribe);
      leave_as_killed (place, scribe);

      g_autofree char *delta = delta_of (place);
      g_assert_cmpint (size_of (delta), >, 0);
      assert_rows (place->target, n + 50);
      g_assert_true (restore_look_for (place->target, NULL, NULL, &restore, &error));
      g_assert_no_error (error);
      g_assert_cmpstr (restore.identity.run, ==, "run-1");
      g_assert_cmpuint (restore.generation, >=, 2);
      g_assert_null (restore.damage);
      scribe = begin (place, HOUR_US);
      finish (place, scribe);
      scribe_free (scribe);
      g_assert_cmpint (size_of (delta), ==, -1);
      assert_rows (place->target, n + 50);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/delta-files/pages", test_files_of_any_pages_are_united);
  g_test_add_func ("/delta-files/left-alone", test_what_is_no_delta_is_left_alone);
  g_test_add_func ("/delta-files/no-checkpoint", test_a_delta_is_no_checkpoint);
  g_test_add_func ("/delta-files/damaged", test_a_damaged_delta_is_kept_aside);
  g_test_add_func ("/delta-files/rows-that-are-gone", test_rows_that_are_gone_are_missed);
  return g_test_run ();
}
