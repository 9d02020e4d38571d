/* SPDX-License-Identifier: BSD-3-Clause */
/* Which delta belongs to which base (coordinator/pair.c). Links coordinator, storage and value. */
#include "checkpoint.h"

#include "coordinator/inbox.h"
#include "coordinator/ledger.h"
#include "coordinator/pair.h"

#define BASE_BYTES (128 * 1024) /* the smallest base that may have a delta */

static Ledger *
begin (Place *place, const char *run)
{
  Identity identity = identity_make (run, "app", "8");
  g_autoptr (GError) error = NULL;
  LedgerConfig config = { .work_path = place->work,
                          .target = place->target,
                          .job_names = job_names,
                          .job_types = job_types,
                          .delta_from = BASE_BYTES,
                          .stems = place->stems };
  Ledger *ledger = ledger_new (&config, &identity, &error);
  g_assert_no_error (error);
  identity_clear (&identity);
  return ledger;
}

/* Takes `row`. */
static Publication
put_with (Ledger *ledger, Row *row, const char *best, gboolean is_large, gboolean final)
{
  Inbox *inbox = inbox_new ();
  Publication made;
  g_autoptr (GBytes) value = best != NULL ? g_bytes_new (best, strlen (best)) : NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) large = g_bytes_new_take (g_malloc0 (2 * BASE_BYTES), 2 * BASE_BYTES);
  inbox_add_row (inbox, row);
  if (is_large)
    inbox_add_value (inbox->constants, "const/large", "ay", large);
  if (best != NULL)
    inbox_add_value (inbox->bests, "length", "ay", value);
  (void)(ledger_write (ledger, inbox, &error) && ledger_publish (ledger, final, &made, &error));
  g_assert_no_error (error);
  inbox_free (inbox);
  return made;
}

static Publication
put (Ledger *ledger, Row *row, gboolean is_large)
{
  return put_with (ledger, row, NULL, is_large, FALSE);
}

/* A base with the row `base`, and a delta with the row `delta`. */
static void
make_pair (Place *place, const char *run, const char *base, const char *delta)
{
  Ledger *ledger = begin (place, run);
  put (ledger, row_make (base, 1, 1, 0.1), TRUE);
  put (ledger, row_make (delta, 2, 1, 0.1), FALSE);
  ledger_free (ledger);
}

/* Checks the paths of all rows that a reader finds. */
static void
assert_paths (const char *target, const char *expected)
{
  RestoreQuery all = { 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (Sql) file = restore_open (target, &error);
  g_assert_no_error (error);
  g_autoptr (GPtrArray) rows = restore_rows (file, &all, &error);
  g_assert_no_error (error);
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < rows->len; i++)
    g_string_append_printf (text, "%s ", ((RestoreRow *)rows->pdata[i])->path);
  g_assert_cmpstr (text->str, ==, expected);
}

/* Two runs of one program with the same arguments: each has its own results. A base beside the
 * delta of another run gets none, and does not say that it may. */
static void
test_a_delta_of_another_run_is_not_read (void)
{
  g_autoptr (Place) one = place_new (), other = place_new ();
  g_autofree char *delta = pair_delta_path (one->target), *theirs = pair_delta_path (other->target);
  make_pair (one, "run-1", "/0", "/1");
  make_pair (other, "run-2", "/2", "/3");
  assert_paths (one->target, "/0 /1 ");
  assert_paths (other->target, "/2 /3 ");
  g_assert_cmpint (g_rename (theirs, delta), ==, 0);
  g_autoptr (GBytes) before = contents (delta);
  assert_paths (one->target, "/0 ");

  Ledger *ledger = begin (one, "run-1");
  g_assert_false (put (ledger, row_make ("/4", 4, 1, 0.1), FALSE).may_get_delta);
  g_assert_false (put (ledger, row_make ("/5", 5, 1, 0.1), FALSE).is_delta);
  ledger_free (ledger);
  g_autoptr (GBytes) after = contents (delta);
  g_assert_true (g_bytes_equal (before, after));
  assert_paths (one->target, "/0 /4 /5 ");
}

/* A delta that a dead writer left beside a newer base of its run adds nothing new. */
static void
test_an_old_delta_of_the_same_run_adds_what_it_has (void)
{
  g_autoptr (Place) one = place_new ();
  g_autofree char *delta = pair_delta_path (one->target);
  make_pair (one, "run-1", "/0", "/1");
  g_autoptr (GBytes) old = contents (delta);
  Ledger *ledger = begin (one, "run-1");
  put (ledger, row_make ("/2", 3, 1, 0.1), FALSE);
  ledger_free (ledger);
  g_assert_true (g_file_set_contents (delta, g_bytes_get_data (old, NULL),
                                      (gssize)g_bytes_get_size (old), NULL));
  assert_paths (one->target, "/0 /1 ");
}

/* The best value and the generation that a reader finds. */
static void
assert_best (const char *target, const char *best, guint64 generation)
{
  g_autoptr (GError) error = NULL;
  Restore restore;
  g_assert_true (restore_look (target, &restore, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (restore.bests->len, ==, 1);
  const RestoreConstant *found = g_ptr_array_index (restore.bests, 0);
  g_assert_cmpmem (g_bytes_get_data (found->value, NULL), g_bytes_get_size (found->value), best,
                   strlen (best));
  g_assert_cmpuint (restore.generation, ==, generation);
  restore_clear (&restore);
}

/* Of two values of the same name the later one counts: a delta's, unless a crash left the delta
 * beside a base that was made after it. */
static void
test_the_later_value_counts (void)
{
  g_autoptr (Place) one = place_new ();
  g_autofree char *delta = pair_delta_path (one->target);
  Ledger *ledger = begin (one, "run-1");
  put_with (ledger, row_make ("/0", 1, 1, 0.1), "first", TRUE, FALSE);
  assert_best (one->target, "first", 1);
  put_with (ledger, row_make ("/1", 2, 1, 0.1), "second", FALSE, FALSE);
  assert_best (one->target, "second", 2);
  g_autoptr (GBytes) old = contents (delta);
  put_with (ledger, row_make ("/2", 3, 1, 0.1), "third", FALSE, TRUE);
  ledger_free (ledger);
  g_assert_false (g_file_test (delta, G_FILE_TEST_EXISTS));
  g_assert_true (g_file_set_contents (delta, g_bytes_get_data (old, NULL),
                                      (gssize)g_bytes_get_size (old), NULL));
  assert_best (one->target, "third", 3);
  assert_paths (one->target, "/0 /1 /2 ");

  ledger = begin (one, "run-1");
  put_with (ledger, row_make ("/3", 4, 1, 0.1), NULL, FALSE, TRUE);
  ledger_free (ledger);
  assert_best (one->target, "third", 4);
  assert_paths (one->target, "/0 /1 /2 /3 ");
}

/* Destroys the first page of a file, so that sound rows have to be searched for. */
static void
spoil (const char *path)
{
  FILE *file = fopen (path, "r+b");
  g_assert_nonnull (file);
  for (guint i = 0; i < 512; i++)
    g_assert_cmpint (fputc (0xff, file), !=, EOF);
  g_assert_cmpint (fclose (file), ==, 0);
}

/* Base, delta or both are damaged: the remaining rows are merged nevertheless, and the new file
 * records that it was salvaged. */
static void
test_what_is_left_of_both_is_united (void)
{
  for (guint damage = 0; damage < 4; damage++)
    {
      g_autoptr (Place) place = place_new ();
      g_autoptr (GError) error = NULL;
      g_auto (Pair) pair = { 0 };
      g_autofree char *delta = pair_delta_path (place->target);
      make_pair (place, "run-1", "/0", "/1");
      if (damage & 1)
        spoil (place->target);
      if (damage & 2)
        spoil (delta);
      g_assert_true (pair_open (&pair, place->target, NULL, 0, &error));
      g_assert_no_error (error);
      g_assert_cmpint (pair.base->is_salvage, ==, (damage & 1) != 0);
      g_assert_nonnull (pair.delta);
      g_assert_cmpint (pair.delta->is_salvage, ==, (damage & 2) != 0);
      g_autoptr (Sql) file = pair_unite (&pair, TRUE, &error);
      g_assert_no_error (error);
      g_assert_cmpint (file->is_salvage, ==, damage != 0);
      assert_paths (place->target, "/0 /1 ");
    }
}

/* A damaged delta may have lost the row that marks it as a delta. A whole file without that row is
 * no delta. */
static void
test_a_damaged_delta_need_not_say_what_it_is (void)
{
  for (guint damaged = 0; damaged < 2; damaged++)
    {
      g_autoptr (Place) place = place_new ();
      g_autofree char *delta = pair_delta_path (place->target);
      sqlite3 *db = NULL;
      make_pair (place, "run-1", "/0", "/1");
      g_assert_cmpint (sqlite3_open (delta, &db), ==, SQLITE_OK);
      g_assert_cmpint (
          sqlite3_exec (db,
                        "PRAGMA secure_delete = on; DELETE FROM run WHERE key = 'delta';"
                        "DELETE FROM constant WHERE name = 'run/delta'; VACUUM",
                        NULL, NULL, NULL),
          ==, SQLITE_OK);
      sqlite3_close (db);
      if (damaged)
        spoil (delta);
      assert_paths (place->target, damaged ? "/0 /1 " : "/0 ");
    }
}

/* Of a large base the small tables may be enough; a delta is checked whole, however large. */
static void
test_a_delta_is_checked_whole (void)
{
  g_autoptr (Place) place = place_new ();
  g_autofree char *delta = pair_delta_path (place->target);
  const char *const files[] = { place->target, delta };
  g_autoptr (GError) error = NULL;
  g_auto (Pair) pair = { 0 };
  make_pair (place, "run-1", "/0", "/1");
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      sqlite3 *db = NULL;
      g_assert_cmpint (sqlite3_open (files[i], &db), ==, SQLITE_OK);
      g_assert_cmpint (
          sqlite3_exec (db, "UPDATE result SET value = zeroblob (6000000)", NULL, NULL, NULL), ==,
          SQLITE_OK);
      sqlite3_close (db);
    }
  g_assert_true (pair_open (&pair, place->target, NULL, PAIR_FRONT, &error));
  g_assert_no_error (error);
  g_assert_true (pair.base->is_front);
  g_assert_nonnull (pair.delta);
  g_assert_false (pair.delta->is_front);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pair/a-delta-of-another-run-is-not-read",
                   test_a_delta_of_another_run_is_not_read);
  g_test_add_func ("/pair/an-old-delta-of-the-same-run-adds-what-it-has",
                   test_an_old_delta_of_the_same_run_adds_what_it_has);
  g_test_add_func ("/pair/the-later-value-counts", test_the_later_value_counts);
  g_test_add_func ("/pair/what-is-left-of-both-is-united", test_what_is_left_of_both_is_united);
  g_test_add_func ("/pair/a-damaged-delta-need-not-say-what-it-is",
                   test_a_damaged_delta_need_not_say_what_it_is);
  g_test_add_func ("/pair/a-delta-is-checked-whole", test_a_delta_is_checked_whole);
  return g_test_run ();
}
