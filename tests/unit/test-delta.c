/* SPDX-License-Identifier: BSD-3-Clause */
/* A large checkpoint at a path: base and delta, by coordinator/ledger-target.c and pair.c over
 * storage/changes.c. test-delta-files tests damaged, foreign and unusual files. Links coordinator,
 * storage and value. */
#include "delta.h"

#include "coordinator/bid.h"
#include "coordinator/merge.h"

#include "storage/changes.h"
#include "storage/results.h"
#include "storage/tables.h"

#include <signal.h>
#include <sys/wait.h>

static void
test_what_came_since_goes_into_a_delta (void)
{
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = begin_with_delta (place, 90);
  g_autofree char *delta = delta_of (place);
  ScribeStats stats;
  scribe_stats (scribe, &stats);

  g_assert_cmpint (size_of (place->target), >, FROM_BYTES);
  g_assert_cmpint (size_of (delta), >, 0);
  g_assert_cmpint (size_of (delta), <, size_of (place->target) / 4);
  g_assert_cmpuint (stats.bytes, ==, (guint64)size_of (delta));
  assert_answer (delta, "PRAGMA integrity_check", "ok");
  assert_answer (delta, "SELECT count(*) FROM result", "90");
  assert_answer (place->target, "PRAGMA integrity_check", "ok");
  assert_rows (place->target, BASE_ROWS + 90);

  finish (place, scribe);
  scribe_free (scribe);
  g_assert_cmpint (size_of (delta), ==, -1);
  g_autofree char *all = g_strdup_printf ("%u", BASE_ROWS + 90);
  assert_answer (place->target, "SELECT count(*) FROM result", all);
  assert_answer (place->target, "SELECT count(*) FROM run WHERE key = 'delta'", "0");
  g_assert_cmpuint (place_strangers (place), ==, 0);
}

static void
test_a_small_one_has_none (void)
{
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = begin (place, 1000);
  g_autofree char *delta = delta_of (place);
  for (guint i = 0; i < 5; i++)
    {
      save_many (scribe, i * 10, 10);
      wait_published (place, scribe);
      g_assert_cmpint (size_of (delta), ==, -1);
    }
  scribe_free (scribe);
  assert_answer (place->target, "SELECT count(*) FROM result", "50");
}

/* Everything that a delta contains besides rows; the coordinator that takes it over has all of
 * it. */
static void
test_a_delta_carries_everything (void)
{
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = begin (place, 1000);
  NodeId one = { 1, 2, 3 }, two = { 1, 3, 4 };
  guint32 deep[200] = { 0 };
  g_autoptr (GBytes) first = g_bytes_new_static ("first", 5);
  g_autoptr (GBytes) second = g_bytes_new_static ("second", 6);
  g_autoptr (GBytes) answer = g_bytes_new_static ("92\n", 3);
  scribe_joined (scribe, &one, "host1", "here", "unix:/a");
  scribe_best (scribe, "best", "ay", first, NULL);
  scribe_constant (scribe, "const/a", "ay", first);
  save_one (scribe, row_make_kept ("/500", 3, 33));
  save_many (scribe, 0, BASE_ROWS);
  wait_published (place, scribe);

  scribe_joined (scribe, &two, "host2", "there", "unix:/b");
  scribe_told (scribe, "left", &one, NULL, 0, "crashed", 0);
  scribe_best (scribe, "best", "ay", second, NULL);
  scribe_constant (scribe, "const/b", "ay", second);
  scribe_event (scribe, "crash", &one, "/0/1", 1500000, "gone");
  save_best (scribe, "term", "7");
  scribe_answer (scribe, answer, 3);
  save_one (scribe, row_make_kept ("/500", 5, 55));
  save_one (scribe, row_make ("/0", 7, 1, 0.25)); /* replaces a hundred rows */
  deep[199] = 1;
  deep[0] = 600;
  g_autofree char *far = path_from_numbers (place->stems, deep, 200);
  save_one (scribe, row_make (far, 1, 1, 1e-6));
  wait_published (place, scribe);
  leave_as_killed (place, scribe);
  g_autofree char *delta = delta_of (place);
  g_assert_cmpint (size_of (delta), >, 0);
  assert_answer (delta, "SELECT group_concat(name) FROM constant WHERE name NOT LIKE 'run/%'",
                 "const/b");
  assert_answer (place->target, "SELECT count(*) FROM result WHERE path = '/0'", "0");

  g_autoptr (GError) error = NULL;
  g_auto (Restore) restore = { 0 };
  g_assert_true (restore_look (place->target, &restore, &error));
  g_assert_no_error (error);
  g_assert_true (restore.finished);
  g_assert_cmpint (restore.exit_code, ==, 3);
  g_assert_cmpuint (restore.constants->len, ==, 2);
  g_assert_cmpuint (g_strv_length (restore.addresses), ==, 1);
  g_assert_cmpstr (restore.addresses[0], ==, "unix:/b");
  RestoreConstant *best = g_ptr_array_index (restore.bests, 0);
  g_assert_true (g_bytes_equal (best->value, second));
  g_assert_cmpuint (restore.rows, ==, BASE_ROWS - 100 + 2);

  stems_free (place->stems);
  place->stems = stems_new ();
  scribe = begin (place, HOUR_US);
  finish (place, scribe);
  scribe_free (scribe);
  g_assert_cmpint (size_of (delta), ==, -1);
  assert_answer (place->target, "SELECT children FROM keep", "5");
  assert_answer (place->target, "SELECT value FROM result WHERE path = '/0'", "7");
  assert_answer (place->target, "SELECT count(*) FROM result WHERE path LIKE '~%'", "1");
  assert_answer (place->target, "SELECT cause FROM node WHERE host = 'host1'", "crashed");
  assert_answer (place->target, "SELECT value FROM best WHERE name = 'term'", "7");
  assert_answer (place->target, "SELECT detail FROM event WHERE kind = 'crash'", "gone");
  assert_answer (place->target, "PRAGMA integrity_check", "ok");
}

/* A coordinator that takes over a base unchanged continues with deltas to it. */
static void
test_a_take_over_needs_no_new_base (void)
{
  g_autoptr (Place) place = place_new ();
  g_autofree char *delta = delta_of (place);
  Scribe *scribe = begin_with_delta (place, 90);
  leave_as_killed (place, scribe);
  struct stat before, after;
  g_assert_cmpint (stat (place->target, &before), ==, 0);

  scribe = begin (place, 1000);
  save_many (scribe, BASE_ROWS + 90, 10);
  wait_published (place, scribe);
  g_assert_cmpint (stat (place->target, &after), ==, 0);
  g_assert_cmpint (before.st_ino, ==, after.st_ino);
  leave_as_killed (place, scribe);
  assert_answer (delta, "SELECT count(*) >= 90 FROM result", "1");
  scribe = begin (place, HOUR_US);
  scribe_load (scribe, NULL);
  place_wait (place, &place->n_restored_final, 1);
  g_assert_cmpuint (place->rows->len, >=, BASE_ROWS + 90);
  scribe_free (scribe);
}

static void
test_a_delta_that_grows_becomes_a_base (void)
{
  g_autoptr (Place) place = place_new ();
  g_autofree char *delta = delta_of (place);
  Scribe *scribe = begin_with_delta (place, 90);
  guint n_rows = BASE_ROWS + 90;
  goffset base = size_of (place->target), largest = 0;
  while (size_of (place->target) == base && n_rows < 3 * BASE_ROWS)
    {
      largest = MAX (largest, size_of (delta));
      save_many (scribe, n_rows, 300);
      wait_published (place, scribe);
      n_rows += 300;
    }
  g_assert_cmpint (size_of (place->target), >, base);
  g_assert_cmpint (largest, >, FROM_BYTES / 2);
  g_assert_cmpint (largest, <=, MAX ((goffset)FROM_BYTES, base / 4) + 65536);
  g_assert_cmpint (size_of (delta), ==, -1);
  leave_as_killed (place, scribe);
  assert_rows (place->target, n_rows);
}

static void
test_a_death_between_base_and_delta_does_no_harm (void)
{
  g_autoptr (Place) place = place_new ();
  g_autofree char *delta = delta_of (place);
  g_autofree char *kept = g_strconcat (place->target, ".kept", NULL);
  Scribe *scribe = begin_with_delta (place, 90);
  g_assert_cmpint (link (delta, kept), ==, 0);
  save_one (scribe, row_make ("/0", 7, 1, 0.25));
  save_best (scribe, "term", "9");
  finish (place, scribe);
  scribe_free (scribe);
  g_assert_cmpint (size_of (delta), ==, -1);
  g_assert_cmpint (rename (kept, delta), ==, 0); /* restores the delta */

  assert_rows (place->target, BASE_ROWS - 100 + 90 + 1);
  scribe = begin (place, HOUR_US);
  finish (place, scribe);
  scribe_free (scribe);
  g_assert_cmpint (size_of (delta), ==, -1);
  assert_answer (place->target, "SELECT value FROM best WHERE name = 'term'", "9");
  assert_answer (place->target, "SELECT value FROM result WHERE path = '/0'", "7");
}

static void
test_two_coordinators_unite_their_deltas (void)
{
  g_autoptr (Place) place = place_new (), other = place_new ();
  Scribe *one = begin_with_delta (place, 90);
  g_free (other->target);
  other->target = g_strdup (place->target);
  Scribe *two = begin (other, 1000);
  for (guint i = 0; i < 10; i++)
    {
      save_many (one, 20000 + 10 * i, 10);
      save_many (two, 30000 + 10 * i, 10);
      wait_published (i % 2 ? place : other, i % 2 ? one : two);
      wait_published (i % 2 ? other : place, i % 2 ? two : one);
    }
  finish (place, one);
  scribe_free (one);
  finish (other, two);
  scribe_free (two);
  assert_rows (place->target, BASE_ROWS + 90 + 200);
  g_autofree char *delta = delta_of (place);
  g_assert_cmpint (size_of (delta), ==, -1);
}

static void
test_it_is_copied_merged_and_set_aside_as_one (void)
{
  g_autoptr (Place) place = place_new ();
  g_autofree char *delta = delta_of (place), *copy = g_strconcat (place->target, ".copy", NULL);
  g_autofree char *merged = g_strconcat (place->target, ".merged", NULL);
  g_autoptr (GError) error = NULL;
  leave_as_killed (place, begin_with_delta (place, 90));
  Identity identity = identity_make ("run-1", "app", "8");
  BidResult bid;
  MergeTotals totals;
  guint64 generation = place->generation;
  g_assert_true (bid_make (place->target, &identity, &bid, &error));
  g_assert_cmpuint (bid.generation, ==, generation);
  identity_clear (&identity);
  g_assert_true (restore_copy (place->target, copy, &error));
  assert_rows (copy, BASE_ROWS + 90);
  g_assert_true (
      merge_files (merged, (const char *const[]){ place->target, copy }, &totals, &error));
  g_assert_no_error (error);
  assert_rows (merged, BASE_ROWS + 90);

  g_autofree char *aside = restore_set_aside (place->target, &error);
  g_assert_no_error (error);
  g_assert_cmpint (size_of (place->target), ==, -1);
  g_assert_cmpint (size_of (delta), ==, -1);
  assert_rows (aside, BASE_ROWS + 90);
}

/* The bytes of the files that are published for the first time, with 1 % new rows. */
static void
test_one_percent_costs_little (void)
{
  g_autoptr (Place) place = place_new ();
  g_autofree char *delta = delta_of (place);
  guint n = 20 * BASE_ROWS;
  Scribe *scribe = begin (place, 1000);
  save_many (scribe, 0, n);
  wait_published (place, scribe);
  finish (place, scribe);
  save_many (scribe, n, n / 100);
  wait_published (place, scribe);
  double share = (double)size_of (delta) / (double)size_of (place->target);
  leave_as_killed (place, scribe);
  g_test_message ("1 %% new rows: %.2f %% of the bytes", 100 * share);
  g_assert_cmpfloat (share, >, 0.005);
  g_assert_cmpfloat (share, <, 0.02);
}

/* This program as a child, for the test below: continues the checkpoint in `folder` and dies at the
 * point that the environment names. */
static int
go_on_until_death (const char *folder)
{
  g_autoptr (Place) place = place_new ();
  g_assert_cmpint (g_rmdir (place->folder), ==, 0);
  g_free (place->target);
  g_free (place->work);
  place->target = g_build_filename (folder, "run.ckpt", NULL);
  place->work = g_build_filename (folder, "work", NULL);
  Scribe *scribe = begin (place, 1000);
  for (guint i = 0; i < 400; i++)
    {
      save_many (scribe, BASE_ROWS + 90 + i * 450, 450);
      wait_published (place, scribe);
      if (i % 20 == 19)
        finish (place, scribe);
    }
  scribe_free (scribe);
  return 0;
}

static void
die_at (const Place *place, const char *point)
{
  char *argv[] = { "/proc/self/exe", "die", place->folder, NULL };
  g_auto (GStrv) environment = g_environ_setenv (g_get_environ (), "SATIN_CRASH_AT", point, TRUE);
  g_autoptr (GError) error = NULL;
  int status;
  argv[0] = g_file_read_link (argv[0], NULL);
  g_assert_true (g_spawn_sync (NULL, argv, environment, G_SPAWN_DEFAULT, NULL, NULL, NULL, NULL,
                               &status, &error));
  g_assert_no_error (error);
  g_free (argv[0]);
  g_test_message ("%s", point);
  g_assert_true (WIFSIGNALED (status) && WTERMSIG (status) == SIGKILL);
}

static void
test_death_at_every_step_of_a_delta (void)
{
  static const char *const points[]
      = { "delta",  "delta-published", "fold",   "folded",   "delta-published:9",
          "fold:2", "copy:7",          "sync:8", "rename:9", "published:6" };
  for (guint i = 0; i < G_N_ELEMENTS (points); i++)
    {
      g_autoptr (Place) place = place_new ();
      leave_as_killed (place, begin_with_delta (place, 90));
      die_at (place, points[i]);
      g_auto (Restore) restore = { 0 };
      g_autoptr (GError) error = NULL;
      g_assert_true (restore_look (place->target, &restore, &error));
      g_assert_no_error (error);
      g_assert_null (restore.damage);
      g_assert_cmpuint (restore.rows, >=, BASE_ROWS + 90);
      g_assert_cmpuint ((restore.rows - BASE_ROWS) % 90, ==, 0); /* whole batches */
      Scribe *scribe = begin (place, HOUR_US);
      finish (place, scribe);
      scribe_free (scribe);
      assert_rows (place->target, restore.rows);
      g_assert_cmpuint (place_strangers (place), ==, 0);
    }
}

int
main (int argc, char **argv)
{
  if (argc == 3 && strcmp (argv[1], "die") == 0)
    return go_on_until_death (argv[2]);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/delta/what-came-since", test_what_came_since_goes_into_a_delta);
  g_test_add_func ("/delta/small", test_a_small_one_has_none);
  g_test_add_func ("/delta/everything", test_a_delta_carries_everything);
  g_test_add_func ("/delta/take-over", test_a_take_over_needs_no_new_base);
  g_test_add_func ("/delta/grows", test_a_delta_that_grows_becomes_a_base);
  g_test_add_func ("/delta/death-between", test_a_death_between_base_and_delta_does_no_harm);
  g_test_add_func ("/delta/two", test_two_coordinators_unite_their_deltas);
  g_test_add_func ("/delta/as-one", test_it_is_copied_merged_and_set_aside_as_one);
  g_test_add_func ("/delta/one-percent", test_one_percent_costs_little);
  g_test_add_func ("/delta/death", test_death_at_every_step_of_a_delta);
  return g_test_run ();
}
