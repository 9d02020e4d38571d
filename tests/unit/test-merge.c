/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of coordinator/merge.c and storage/events.c; links coordinator, storage and value. */
#include "checkpoint.h"

#include "coordinator/merge.h"

/* Three places: those of two files and of the merged one. */
typedef struct
{
  Place *a, *b;
  char *out;
} Pair;

static Pair
pair_new (void)
{
  Pair pair = { .a = place_new (), .b = place_new () };
  pair.out = g_build_filename (pair.a->folder, "out.ckpt", NULL);
  return pair;
}

static void
pair_clear (Pair *pair)
{
  place_free (pair->a);
  place_free (pair->b);
  g_free (pair->out);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Pair, pair_clear)

static gboolean
merge (const Pair *pair, MergeTotals *totals, GError **error)
{
  const char *const files[] = { pair->a->target, pair->b->target };
  return merge_files (pair->out, files, totals, error);
}

/* A split run: B begins with a copy of A's file, so both have the same id. */
static void
fall_apart (const Pair *pair, Scribe **a, Scribe **b)
{
  g_autoptr (GBytes) bytes = NULL;
  *a = start (pair->a, HOUR_US, "run-1");
  save_one (*a, row_make ("/0", 1, 1000000, 0.1));
  scribe_event (*a, "common", NULL, NULL, 0, NULL);
  finish (pair->a, *a);
  bytes = contents (pair->a->target);
  g_assert_true (g_file_set_contents (pair->b->target, g_bytes_get_data (bytes, NULL),
                                      (gssize)g_bytes_get_size (bytes), NULL));
  *b = start (pair->b, HOUR_US, "another");
}

static void
end (const Pair *pair, Scribe *a, Scribe *b)
{
  finish (pair->a, a);
  finish (pair->b, b);
  scribe_free (a);
  scribe_free (b);
}

static void
test_both_sides_come_together (void)
{
  g_auto (Pair) pair = pair_new ();
  g_autoptr (GError) error = NULL;
  Scribe *a, *b;
  MergeTotals totals;
  fall_apart (&pair, &a, &b);
  save_one (a, row_make ("/1/0", 10, 1000000, 0.1));
  save_one (a, row_make ("/2/0", 20, 4000000, 0.1));
  scribe_event (a, "only a", NULL, "/1", 0, NULL);
  save_best (a, "color", "red");
  save_one (b, row_make ("/1/1", 11, 2000000, 0.1));
  save_one (b, row_make ("/2", 2, 3000000, 0.2));
  scribe_event (b, "only b", NULL, NULL, 0, NULL);
  end (&pair, a, b);

  g_assert_true (merge (&pair, &totals, &error));

  g_assert_no_error (error);
  assert_answer (pair.out, "PRAGMA integrity_check", "ok");
  assert_answer (pair.out,
                 "SELECT group_concat (path || '=' || value, ' ') FROM"
                 " (SELECT * FROM result ORDER BY path)",
                 "/0=1 /1/0=10 /1/1=11 /2=2");
  assert_answer (pair.out,
                 "SELECT group_concat (kind, ', ') FROM (SELECT kind FROM event"
                 " WHERE kind IN ('common', 'only a', 'only b', 'merged') ORDER BY kind)",
                 "common, merged, only a, only b");
  assert_answer (pair.out, "SELECT count (*) FROM run WHERE key = 'id' AND value = 'run-1'", "1");
  assert_answer (pair.out, "SELECT value FROM best WHERE name = 'color'", "red");
  assert_answer (pair.out, "SELECT value FROM run WHERE key = 'done'", "0.500000");
  g_assert_cmpuint (totals.rows[0], ==, 3);
  g_assert_cmpuint (totals.rows[1], ==, 3);
  g_assert_null (totals.damage[0]);
  g_assert_null (totals.damage[1]);
  g_assert_cmpuint (totals.united, ==, 4);
  g_assert_cmpfloat (ABS (totals.done - 0.5), <, 1e-6);
  Restore restore;
  g_assert_true (restore_look (pair.out, &restore, &error));
  g_assert_cmpuint (restore.rows, ==, 4);
  g_assert_cmpuint (restore.generation, ==, MAX (pair.a->generation, pair.b->generation) + 1);
  g_assert_cmpuint (restore.rows_bad, ==, 0);
  restore_clear (&restore);
  g_assert_cmpuint (place_strangers (pair.a), ==, 1); /* only out.ckpt */
}

/* Whichever file is named first, the result has the answer of one and the rows of the other, and a
 * generation that is later than both. */
static void
test_the_order_of_the_files_is_no_matter (void)
{
  g_auto (Pair) pair = pair_new ();
  Scribe *a, *b;
  MergeTotals totals, again;
  g_autofree char *other = g_build_filename (pair.a->folder, "work-other.ckpt", NULL);
  const char *const swapped[] = { pair.b->target, pair.a->target };
  static const char rows[] = "SELECT group_concat (path || value || weight) FROM"
                             " (SELECT * FROM result ORDER BY path)";
  static const char events[] = "SELECT group_concat (at || kind) FROM (SELECT * FROM event"
                               " WHERE kind <> 'merged' ORDER BY at, kind)";
  static const char later[] = "SELECT value FROM run WHERE key = 'generation'";
  fall_apart (&pair, &a, &b);
  save_one (a, row_make ("/1", 10, 1000000, 0.1));
  finish (pair.a, a);
  save_one (a, row_make ("/3/3", 10, 1000000, 0.1));
  save_one (b, row_make ("/1/4", 10, 3000000, 0.1));
  save_one (b, row_make ("/3", 10, 3000000, 0.1));
  finish (pair.b, b);
  for (guint i = 0; i < 9 && pair.a->generation <= pair.b->generation; i++)
    { /* b may have published once more than a, by itself */
      g_autofree char *color = g_strdup_printf ("%u", i);
      save_best (a, "color", color);
      finish (pair.a, a);
    }
  end (&pair, a, b);

  g_assert_true (merge (&pair, &totals, NULL));
  g_assert_true (merge_files (other, swapped, &again, NULL));

  g_assert_cmpuint (totals.united, ==, 3);
  g_assert_cmpuint (again.united, ==, 3);
  g_autofree char *wanted_rows = ask (pair.out, rows);
  g_autofree char *wanted_events = ask (pair.out, events);
  g_autofree char *wanted_later
      = g_strdup_printf ("%" G_GUINT64_FORMAT, MAX (pair.a->generation, pair.b->generation) + 1);
  g_assert_cmpuint (pair.a->generation, >, pair.b->generation);
  assert_answer (other, rows, wanted_rows);
  assert_answer (other, events, wanted_events);
  assert_answer (pair.out, later, wanted_later);
  assert_answer (other, later, wanted_later);
}

/* Each figure is of the file that it stands beside, whichever of the two is the newer one. What
 * both have comes from the newer one. */
static void
test_figures_are_of_their_file (void)
{
  for (guint newer = 0; newer < 2; newer++)
    {
      g_auto (Pair) pair = pair_new ();
      Scribe *a, *b;
      g_auto (MergeTotals) totals = { 0 };
      sqlite3 *db = NULL;
      fall_apart (&pair, &a, &b);
      save_one (a, row_make ("/1/0", 10, 1000000, 0.1));
      save_best (a, "color", "a");
      save_best (b, "color", "b");
      for (guint i = 2; i < 7; i++)
        {
          g_autofree char *path = g_strdup_printf ("/%u", i);
          save_one (b, row_make (path, i, 1000000, 0.1));
        }
      for (guint i = 0; i < 3; i++) /* each publication is a generation */
        {
          save_one (newer == 0 ? a : b, row_make (i == 0   ? "/7"
                                                  : i == 1 ? "/8"
                                                           : "/9",
                                                  1, 1, 0.01));
          finish (newer == 0 ? pair.a : pair.b, newer == 0 ? a : b);
        }
      end (&pair, a, b);
      g_assert_cmpint (sqlite3_open (pair.b->target, &db), ==, SQLITE_OK);
      g_assert_cmpint (
          sqlite3_exec (db, "UPDATE result SET value = 99 WHERE path = '/3'", NULL, NULL, NULL), ==,
          SQLITE_OK);
      sqlite3_close (db);

      g_assert_true (merge (&pair, &totals, NULL));

      g_assert_cmpuint (totals.rows[0], ==, newer == 0 ? 5 : 2);
      g_assert_cmpuint (totals.rows[1], ==, newer == 0 ? 5 : 8);
      g_assert_cmpuint (totals.united, ==, 9);
      g_assert_null (totals.damage[0]);
      g_assert_nonnull (totals.damage[1]);
      g_assert_nonnull (
          strstr (totals.damage[1], newer == 0 ? "(1 of 6 results)" : "(1 of 9 results)"));
      assert_answer (pair.out, "SELECT value FROM best WHERE name = 'color'",
                     newer == 0 ? "a" : "b");
    }
}

/* The message names the file that has lost its run. */
static void
test_the_file_without_a_run_is_named (void)
{
  for (guint lost = 0; lost < 2; lost++)
    {
      g_auto (Pair) pair = pair_new ();
      Scribe *a, *b;
      MergeTotals totals;
      g_autoptr (GError) error = NULL;
      sqlite3 *db = NULL;
      const char *target = lost == 0 ? pair.a->target : pair.b->target;
      fall_apart (&pair, &a, &b);
      end (&pair, a, b);
      g_assert_cmpint (sqlite3_open (target, &db), ==, SQLITE_OK);
      g_assert_cmpint (sqlite3_exec (db,
                                     "DELETE FROM run WHERE key = 'id';"
                                     "DELETE FROM constant WHERE name = 'run/id'",
                                     NULL, NULL, NULL),
                       ==, SQLITE_OK);
      sqlite3_close (db);
      g_autofree char *words = g_strdup_printf ("'%s' has lost which run it is of", target);

      g_assert_false (merge (&pair, &totals, &error));

      if (strstr (error->message, words) == NULL)
        g_error ("'%s' is not in: %s", words, error->message);
    }
}

/* The clock decides: the row that was saved later stays, whichever file it is in. */
static void
test_of_two_digests_the_newer_row_stays (void)
{
  for (guint newer = 0; newer < 2; newer++)
    {
      g_auto (Pair) pair = pair_new ();
      Scribe *a, *b;
      MergeTotals totals;
      fall_apart (&pair, &a, &b);
      Row *rows[] = { row_make ("/5", 100, 1, 0.1), row_make ("/5", 200, 1, 0.1) };
      rows[1]->digest = digest_of_string ("something else");
      save_one (newer == 0 ? b : a, rows[0]);
      finish (newer == 0 ? pair.b : pair.a, newer == 0 ? b : a);
      gint64 begin = g_get_real_time () / G_USEC_PER_SEC;
      while (g_get_real_time () / G_USEC_PER_SEC == begin)
        g_usleep (10000); /* the file's clock counts seconds */
      save_one (newer == 0 ? a : b, rows[1]);
      end (&pair, a, b);

      g_assert_true (merge (&pair, &totals, NULL));

      assert_answer (pair.out, "SELECT value FROM result WHERE path = '/5'", "200");
    }
}

static void
assert_refused (const Pair *pair, int code, const char *word)
{
  g_autoptr (GError) error = NULL;
  MergeTotals totals;
  g_assert_false (merge (pair, &totals, &error));
  g_assert_cmpint (error->domain, ==, COORDINATOR_ERROR);
  g_assert_cmpint (error->code, ==, code);
  if (strstr (error->message, word) == NULL)
    g_error ("'%s' is not in: %s", word, error->message);
}

static void
test_what_cannot_be_merged_is_refused (void)
{
  g_auto (Pair) pair = pair_new ();
  Scribe *a = start (pair.a, HOUR_US, "run-1");
  finish (pair.a, a);
  scribe_free (a);

  assert_refused (&pair, 4, "there is no checkpoint");
  Scribe *b = start (pair.b, HOUR_US, "run-2");
  finish (pair.b, b);
  scribe_free (b);
  assert_refused (&pair, 3, "only files of one run");
  g_unlink (pair.b->target);
  Identity identity = identity_make ("run-1", "app", "9");
  b = place_scribe (pair.b, HOUR_US, &identity, NULL);
  identity_clear (&identity);
  finish (pair.b, b);
  scribe_free (b);
  assert_refused (&pair, 3, "arguments");
  g_assert_true (g_file_set_contents (pair.b->target, "text", 4, NULL));
  assert_refused (&pair, 3, "not a Satin checkpoint");
  g_assert_false (g_file_test (pair.out, G_FILE_TEST_EXISTS));

  g_autoptr (GBytes) bytes = contents (pair.a->target);
  g_assert_true (g_file_set_contents (pair.b->target, g_bytes_get_data (bytes, NULL),
                                      (gssize)g_bytes_get_size (bytes), NULL));
  g_assert_true (g_file_set_contents (pair.out, "mine", 4, NULL));
  assert_refused (&pair, 4, "it exists");
  g_autoptr (GBytes) mine = contents (pair.out);
  g_assert_cmpuint (g_bytes_get_size (mine), ==, 4);
  g_unlink (pair.out);
  g_assert_cmpint (symlink ("nowhere", pair.out), ==, 0);
  assert_refused (&pair, 4, "it exists");
}

/* Merging the same file again and again duplicates no event, and the newest stay. */
/* B continues with the file as another build, which the user has allowed. */
static void
test_files_of_two_builds_are_not_merged (void)
{
  g_auto (Pair) pair = pair_new ();
  g_autoptr (GBytes) bytes = NULL;
  Identity first = identity_make ("run-1", "app", "8"), second = identity_make ("x", "app", "8");
  first.build = g_strdup ("version 1");
  second.build = g_strdup ("version 2");
  second.mended = TRUE;
  Scribe *a = place_scribe (pair.a, HOUR_US, &first, NULL);
  save_one (a, row_make ("/0", 1, 1000000, 0.1));
  finish (pair.a, a);
  bytes = contents (pair.a->target);
  g_assert_true (g_file_set_contents (pair.b->target, g_bytes_get_data (bytes, NULL),
                                      (gssize)g_bytes_get_size (bytes), NULL));
  Scribe *b = place_scribe (pair.b, HOUR_US, &second, NULL);
  g_assert_nonnull (b);
  end (&pair, a, b);
  assert_refused (&pair, 3, "only files of one build");
  identity_clear (&first);
  identity_clear (&second);
}

static void
test_events_unite_once (void)
{
  g_auto (Pair) pair = pair_new ();
  Scribe *a, *b;
  MergeTotals totals;
  fall_apart (&pair, &a, &b);
  for (guint i = 0; i < 3; i++)
    scribe_event (a, "twin", NULL, NULL, 0, NULL); /* the same text three times is three events */
  /* An event that a node reported to both is one event, whatever the clocks of the two were. */
  NodeId node = { 1, 2, 3 };
  scribe_told (a, "requeued", &node, "/0", 50, "gone", 0);
  scribe_told (b, "requeued", &node, "/0", 50, "gone", 60 * G_USEC_PER_SEC);
  scribe_told (a, "left", &node, NULL, 0, "gone", 0);
  scribe_told (b, "left", &node, NULL, 0, "silent", 60 * G_USEC_PER_SEC);
  finish (pair.a, a);
  scribe_event (b, "twin", NULL, NULL, 0, NULL);
  end (&pair, a, b);
  g_assert_true (merge (&pair, &totals, NULL));
  g_autofree char *count = ask (pair.out, "SELECT count (*) FROM event WHERE kind <> 'merged'");
  g_autofree char *out = g_steal_pointer (&pair.out);
  g_free (pair.a->target);
  pair.a->target = g_strdup (out);
  pair.out = g_build_filename (pair.a->folder, "work-again.ckpt", NULL);

  g_assert_true (merge (&pair, &totals, NULL));

  assert_answer (pair.out, "SELECT count (*) FROM event WHERE kind <> 'merged'", count);
  assert_answer (pair.out, "SELECT count (*) FROM event WHERE kind = 'common'", "1");
  assert_answer (pair.out,
                 "SELECT group_concat (kind || n) FROM (SELECT kind, count (*) AS n FROM event"
                 " WHERE node IS NOT NULL GROUP BY kind ORDER BY kind)",
                 "joined1,left1,requeued1");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/merge/both-sides-come-together", test_both_sides_come_together);
  g_test_add_func ("/merge/the-order-of-the-files-is-no-matter",
                   test_the_order_of_the_files_is_no_matter);
  g_test_add_func ("/merge/of-two-digests-the-newer-row-stays",
                   test_of_two_digests_the_newer_row_stays);
  g_test_add_func ("/merge/what-cannot-be-merged-is-refused",
                   test_what_cannot_be_merged_is_refused);
  g_test_add_func ("/merge/files-of-two-builds-are-not-merged",
                   test_files_of_two_builds_are_not_merged);
  g_test_add_func ("/merge/figures-are-of-their-file", test_figures_are_of_their_file);
  g_test_add_func ("/merge/the-file-without-a-run-is-named", test_the_file_without_a_run_is_named);
  g_test_add_func ("/merge/events-unite-once", test_events_unite_once);
  return g_test_run ();
}
