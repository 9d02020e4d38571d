/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of coordinator/takeover.c, and of scribe_new if there is a file already. Links coordinator,
 * storage and value. */
#include "checkpoint.h"

#include "storage/recover/guard.h"

/* The file has the rows of both processes, and an event that it was taken over. */
static void
assert_all_is_in_the_file (Place *place)
{
  assert_answer (place->target, "SELECT count(*) FROM result", "3");
  assert_answer (place->target, "SELECT count(*) FROM stem", "3");
  assert_answer (place->target, "SELECT value FROM run WHERE key = 'answer'", "92\n");
  assert_answer (place->target, "SELECT value FROM run WHERE key = 'exit'", "0");
  assert_answer (place->target, "SELECT value FROM run WHERE key = 'id'", "run-1");
  assert_answer (place->target, "SELECT value FROM best WHERE name = 'term'", "7");
  g_autofree char *number = g_strdup_printf ("%" G_GUINT64_FORMAT, place->generation);
  assert_answer (place->target, "SELECT value FROM run WHERE key = 'generation'", number);
  assert_answer (place->target, "SELECT hex(value) FROM constant WHERE name NOT LIKE 'run/%'",
                 "000102");
  assert_answer (place->target, "SELECT hex(value) FROM best WHERE name = 'best'", "000102");
  assert_answer (place->target, "SELECT address FROM node", "unix:/somewhere");
  assert_answer (place->target, "SELECT cause FROM node", "gone at a take-over");
  assert_answer (place->target, "SELECT detail FROM event WHERE kind = 'taken over'",
                 "2 results, 0 bad rows left out");
  assert_answer (place->target, "SELECT count(*) || min(path LIKE '~%/0') FROM missing", "11");
}

static void
test_everything_is_taken_over (void)
{
  g_autoptr (Place) place = place_new ();
  g_autoptr (GBytes) bytes = g_bytes_new_static ("\0\1\2", 3);
  g_autoptr (GBytes) answer = g_bytes_new_static ("92\n", 3);
  NodeId one = { 1, 2, 3 }, other = { 1, 2, 4 };
  guint32 deep[200] = { 0 };
  Scribe *scribe = start (place, HOUR_US, "run-1");
  scribe_joined (scribe, &one, "host1", "here", "unix:/somewhere");
  scribe_constant (scribe, "const/matrix", "ay", bytes);
  scribe_best (scribe, "best", "ay", bytes, NULL);
  save_best (scribe, "term", "7");
  scribe_answer (scribe, answer, 0);
  save_one (scribe, row_make ("/0/1", -5, 1234567, 0.25));
  deep[199] = 1;
  g_autofree char *path = path_from_numbers (place->stems, deep, 200);
  Row *row = row_make (path, G_MININT64, 1, 0.125);
  row->node = other;
  save_one (scribe, row);
  finish (place, scribe);
  scribe_free (scribe);

  guint64 generation = place->generation;

  /* Plays another process: its table of stems is empty, its run id is new. */
  stems_free (place->stems);
  place->stems = stems_new ();
  Identity identity = identity_make ("run-2", "app", "8");
  scribe = place_scribe (place, HOUR_US, &identity, NULL);
  g_assert_nonnull (scribe);
  g_assert_cmpstr (identity.run, ==, "run-1");
  identity_clear (&identity);
  scribe_load (scribe, NULL);
  place_wait (place, &place->n_restored_final, 1);
  g_assert_cmpuint (place->rows->len, ==, 2);
  Row *first = g_ptr_array_index (place->rows, 0), *second = g_ptr_array_index (place->rows, 1);
  g_autoptr (Row) expected = row_make ("/0/1", -5, 1234567, 0.25);
  g_assert_cmpstr (first->path, ==, "/0/1");
  g_assert_true (g_bytes_equal (first->value, expected->value));
  g_assert_true (digest_equal (&first->digest, &expected->digest));
  g_assert_true (node_id_equal (&first->node, &one));
  g_assert_cmpuint (first->work_us, ==, 1234567);
  g_assert_cmpfloat (first->weight, ==, 0.25);
  g_assert_cmpstr (second->path, ==, path);
  g_assert_cmpuint (stems_count (place->stems), ==, 3);
  scribe_load (scribe, "/0");
  place_wait (place, &place->n_restored_final, 2);
  g_assert_cmpuint (place->rows->len, ==, 4); /* the second lies below, too */
  scribe_load (scribe, "/1");
  place_wait (place, &place->n_restored_final, 3);
  g_assert_cmpuint (place->rows->len, ==, 4);

  g_autoptr (GBytes) late = g_bytes_new_static ("93\n", 3);
  scribe_answer (scribe, late, 1);
  save_one (scribe, row_make ("/0/2", 6, 1, 0.125));
  finish (place, scribe);
  scribe_free (scribe);
  g_assert_cmpuint (place->generation, >, generation);
  assert_all_is_in_the_file (place);
}

static void
test_rows_that_do_not_prove_themselves_are_left_out (void)
{
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = start (place, HOUR_US, "run-1");
  for (int i = 0; i < 10; i++)
    {
      g_autofree char *path = g_strdup_printf ("/%d", i);
      save_one (scribe, row_make (path, i, 1, 0.1));
    }
  finish (place, scribe);
  scribe_free (scribe);
  sqlite3 *db = NULL;
  g_assert_cmpint (sqlite3_open (place->target, &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (db,
                                 "UPDATE result SET value = 99 WHERE path = '/3';"
                                 "UPDATE result SET path = '/00' WHERE path = '/4';"
                                 "UPDATE run SET value = 'x' WHERE key = 'version'",
                                 NULL, NULL, NULL),
                   ==, SQLITE_OK);
  sqlite3_close (db);

  scribe = start (place, HOUR_US, "run-1");
  finish (place, scribe);
  scribe_free (scribe);

  assert_answer (place->target, "SELECT group_concat(path) FROM result", "/0,/1,/2,/5,/6,/7,/8,/9");
  assert_answer (place->target, "SELECT detail FROM event WHERE kind = 'taken over'",
                 "8 results, 3 bad rows left out");
  g_assert_nonnull (strstr (place->trouble,
                            " rows are missing or damaged (2 of 10 results); the damaged file is "
                            "kept as '"));
}

/* Removed rows: the look, the start and the audit report them, and agree about the remaining rows.
 * The program's own table replaces the rows of `job`. */
static void
test_rows_that_are_gone_are_missed (void)
{
  static const struct
  {
    const char *change, *words;
    guint left;
  } losses[] = {
    { "DELETE FROM result WHERE path LIKE '/1%'", " rows are missing (11 of 30 results)", 19 },
    { "DELETE FROM job", " rows are missing (0 of 30 results)", 30 },
    { "DELETE FROM run WHERE key = 'rows'", " rows are missing (0 of 30 results)", 30 },
    { "DELETE FROM run WHERE key = 'rows'; DELETE FROM constant WHERE name = 'run/rows'",
      "the count of rows is lost (30 results are left)", 30 },
  };
  for (gsize i = 0; i < G_N_ELEMENTS (losses); i++)
    {
      g_autoptr (Place) place = place_new ();
      Scribe *scribe = start (place, HOUR_US, "run-1");
      for (int k = 0; k < 30; k++)
        {
          g_autofree char *path = g_strdup_printf ("/%d", k);
          save_one (scribe, row_make (path, k, 1, 0.01));
        }
      finish (place, scribe);
      scribe_free (scribe);
      g_assert_cmpuint (place->n_trouble, ==, 0);
      sqlite3 *db = NULL;
      g_assert_cmpint (sqlite3_open (place->target, &db), ==, SQLITE_OK);
      g_assert_cmpint (sqlite3_exec (db, losses[i].change, NULL, NULL, NULL), ==, SQLITE_OK);
      sqlite3_close (db);

      Restore restore;
      g_assert_true (restore_look (place->target, &restore, NULL));
      g_assert_cmpuint (restore.rows, ==, losses[i].left);
      g_assert_nonnull (strstr (restore.damage, losses[i].words));
      restore_clear (&restore);
      scribe = start (place, HOUR_US, "run-1");
      finish (place, scribe);
      scribe_free (scribe);
      g_autofree char *count = g_strdup_printf ("%u", losses[i].left);
      assert_answer (place->target, "SELECT count(*) FROM result", count);
      g_assert_nonnull (strstr (place->trouble, losses[i].words));
      g_assert_cmpuint (place_strangers (place), ==, 1);
      scribe = start (place, HOUR_US, "run-1"); /* from here on the file is whole */
      finish (place, scribe);
      scribe_free (scribe);
      g_assert_cmpuint (place->n_trouble, ==, 1);
    }
}

/* Whichever bit of the header is wrong, the run takes over the rows and continues to save. */
static void
test_a_wrong_header_stops_no_saving (void)
{
  g_autoptr (Place) place = place_new ();
  g_autofree char *data = NULL;
  gsize size;
  sqlite3 *db = NULL;
  Scribe *scribe = start (place, HOUR_US, "run-1");
  save_one (scribe, row_make ("/1", 1, 1, 0.1));
  finish (place, scribe);
  scribe_free (scribe);
  /* SQLite writes to the file, so that its spare pages repair nothing. */
  g_assert_cmpint (sqlite3_open (place->target, &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (db, "VACUUM", NULL, NULL, NULL), ==, SQLITE_OK);
  sqlite3_close (db);
  g_assert_true (g_file_get_contents (place->target, &data, &size, NULL));
  for (guint bit = 0; bit < 800; bit += bit / 8 == 59 ? 1 : 5)
    {
      g_autofree char *copy = g_memdup2 (data, size);
      copy[bit / 8] ^= (char)(1 << bit % 8);
      g_assert_true (g_file_set_contents (place->target, copy, (gssize)size, NULL));
      scribe = start (place, HOUR_US, "run-1");
      save_one (scribe, row_make ("/2", 1, 1, 0.1));
      finish (place, scribe);
      scribe_free (scribe);
      assert_answer (place->target, "SELECT group_concat(path) FROM result", "/1,/2");
      g_assert_true (place->trouble == NULL || strstr (place->trouble, "is damaged: ") != NULL);
    }
}

/* A path that is not canonical is refused, even with a right checksum: only a program with a bug,
 * or a forger, writes it. */
static void
test_paths_that_are_not_canonical_are_left_out (void)
{
  static const char *const paths[]
      = { "/00", "/01/2", "/1/", "0", "//0", "/4294967296", "/-1", "/0x" };
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = start (place, HOUR_US, "run-1");
  save_one (scribe, row_make ("/2", 1, 1, 0.5));
  finish (place, scribe);
  scribe_free (scribe);
  Identity identity = identity_make ("run-1", "app", "8");
  char hex[DIGEST_HEX_LENGTH + 1];
  digest_to_hex (&identity.identity, hex);
  identity_clear (&identity);
  g_autoptr (GError) error = NULL;
  g_autoptr (Sql) sql = guard_open (place->target, hex, &error);
  g_assert_no_error (error);
  sqlite3 *db = NULL;
  g_assert_cmpint (sqlite3_open (place->target, &db), ==, SQLITE_OK);
  for (gsize i = 0; i < G_N_ELEMENTS (paths); i++)
    {
      sqlite3_stmt *row = sql_ready (
          sql,
          "SELECT ?1, node, job, digest, value, work_s, saved, weight, json, args, began, took_ms,"
          " row_sum ('result', ?1, node, job, digest, value, work_s, saved, weight, json, args,"
          " began, took_ms)"
          " FROM result",
          &error);
      g_assert_no_error (error);
      sqlite3_bind_text (row, 1, paths[i], -1, SQLITE_STATIC);
      g_assert_cmpint (sqlite3_step (row), ==, SQLITE_ROW);
      sqlite3_stmt *put = NULL;
      g_assert_cmpint (sqlite3_prepare_v2 (
                           db, "INSERT INTO result VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                           -1, &put, NULL),
                       ==, SQLITE_OK);
      for (int k = 0; k < 13; k++)
        sqlite3_bind_value (put, k + 1, sqlite3_column_value (row, k));
      g_assert_cmpint (sqlite3_step (put), ==, SQLITE_DONE);
      sqlite3_finalize (put);
      sqlite3_reset (row);
    }
  sqlite3_close (db);

  scribe = start (place, HOUR_US, "run-1");
  finish (place, scribe);
  scribe_free (scribe);

  assert_answer (place->target, "SELECT group_concat(path) FROM result", "/2");
  assert_answer (place->target, "SELECT detail FROM event WHERE kind = 'taken over'",
                 "1 results, 8 bad rows left out");
}

/* T1-6: a new file is made with the undamaged results; the damaged file is kept. */
static void
test_a_damaged_file_is_salvaged_and_kept_aside (void)
{
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = start (place, HOUR_US, "run-1");
  for (int i = 0; i < 1000; i++)
    {
      g_autofree char *path = g_strdup_printf ("/0/%d", i);
      save_one (scribe, row_make (path, i, 1, 0.001));
    }
  finish (place, scribe);
  scribe_free (scribe);
  g_autofree char *data = NULL;
  gsize size;
  g_assert_true (g_file_get_contents (place->target, &data, &size, NULL));
  memset (data + size / 8192 * 4096, 0x55, 4096);
  memset (data, 0, 4096);
  g_assert_true (g_file_set_contents (place->target, data, (gssize)size, NULL));
  Restore restore;
  g_autoptr (GError) error = NULL;
  g_assert_true (restore_look (place->target, &restore, &error));
  g_assert_no_error (error);
  guint64 kept = restore.rows;
  g_assert_cmpuint (kept, >=, 900);
  g_assert_cmpuint (kept, <, 1000);
  g_autofree char *words
      = g_strdup_printf (" rows are missing (%u of 1000 results)", 1000 - (guint)kept);
  g_assert_true (g_str_has_suffix (restore.damage, words));
  g_assert_cmpstr (restore.identity.run, ==, "run-1");
  restore_clear (&restore);

  scribe = start (place, HOUR_US, "run-2");
  finish (place, scribe);
  scribe_free (scribe);

  g_autofree char *count = g_strdup_printf ("%u", (guint)kept);
  assert_answer (place->target, "SELECT count(*) FROM result", count);
  assert_answer (place->target, "SELECT value FROM run WHERE key = 'id'", "run-1");
  assert_answer (place->target, "PRAGMA integrity_check", "ok");
  g_assert_nonnull (strstr (place->trouble, words));
  g_autofree char *aside = g_strdup (strstr (place->trouble, "is kept as '") + 12);
  *strchr (aside, '\'') = '\0';
  g_autoptr (GBytes) is_kept = contents (aside);
  g_assert_cmpmem (g_bytes_get_data (is_kept, NULL), g_bytes_get_size (is_kept), data, size);
  g_assert_cmpuint (place_strangers (place), ==, 1);
  guint troubles = place->n_trouble;
  scribe = start (place, HOUR_US, "run-3");
  finish (place, scribe);
  scribe_free (scribe);
  g_assert_cmpuint (place->n_trouble, ==, troubles);
  g_assert_cmpuint (place_strangers (place), ==, 1);
}

static void
test_an_old_file_is_moved_and_never_deleted (void)
{
  g_autoptr (Place) place = place_new ();
  g_autoptr (GError) error = NULL;
  g_assert_null (restore_set_aside (place->target, &error));
  g_assert_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_STORE);
  g_clear_error (&error);
  for (int i = 0; i < 3; i++)
    {
      g_autofree char *text = g_strdup_printf ("number %d", i), *found = NULL;
      g_assert_true (g_file_set_contents (place->target, text, -1, NULL));
      g_autofree char *name = restore_set_aside (place->target, &error);
      g_assert_no_error (error);
      g_assert_true (g_str_has_prefix (name, place->target));
      g_assert_true (g_file_get_contents (name, &found, NULL, NULL));
      g_assert_cmpstr (found, ==, text);
      g_assert_false (g_file_test (place->target, G_FILE_TEST_EXISTS));
    }
  g_assert_cmpuint (place_strangers (place), ==, 3);
}

/* The row is of no use, and so is each stem whose stem is lost. A damaged stem is one more bad
 * row. */
static void
test_rows_whose_stems_are_lost_are_left_out (void)
{
  static const char *const harms[][2]
      = { { "DELETE FROM stem WHERE path LIKE '/%'", "1 results, 3 bad rows left out" },
          { "UPDATE stem SET sum = zeroblob (16) WHERE path LIKE '/%'",
            "1 results, 4 bad rows left out" } };
  for (guint i = 0; i < G_N_ELEMENTS (harms); i++)
    {
      g_autoptr (Place) place = place_new ();
      guint32 deep[200] = { 0 };
      Scribe *scribe = start (place, HOUR_US, "run-1");
      deep[199] = 1;
      g_autofree char *path = path_from_numbers (place->stems, deep, 200);
      save_one (scribe, row_make (path, 1, 1, 0.125));
      save_one (scribe, row_make ("/1", 1, 1, 0.5));
      finish_all (place, scribe);
      sqlite3 *db = NULL;
      g_assert_cmpint (sqlite3_open (place->target, &db), ==, SQLITE_OK);
      g_assert_cmpint (sqlite3_exec (db, harms[i][0], NULL, NULL, NULL), ==, SQLITE_OK);
      sqlite3_close (db);
      stems_free (place->stems);
      place->stems = stems_new ();

      scribe = start (place, HOUR_US, "run-1");
      finish_all (place, scribe);
      assert_answer (place->target, "SELECT group_concat(path) FROM result", "/1");
      assert_answer (place->target, "SELECT count(*) FROM stem", "0");
      assert_answer (place->target, "SELECT detail FROM event WHERE kind = 'taken over'",
                     harms[i][1]);
    }
}

static void
assert_start_fails (Place *place, const char *app, const char *argument, int code, const char *word)
{
  g_autoptr (GError) error = NULL;
  Identity identity = identity_make ("run-9", app, argument);

  g_assert_null (place_scribe (place, HOUR_US, &identity, &error));

  g_assert_error (error, COORDINATOR_ERROR, code);
  if (strstr (error->message, word) == NULL)
    g_error ("'%s' is not in: %s", word, error->message);
  g_test_message ("%s", error->message);
  identity_clear (&identity);
}

static void
test_what_is_not_ours_is_refused_untouched (void)
{
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = start (place, HOUR_US, "run-1");
  save_one (scribe, row_make ("/0", 1, 1, 0.5));
  finish (place, scribe);
  scribe_free (scribe);
  g_autoptr (GBytes) before = contents (place->target);

  assert_start_fails (place, "other", "8", COORDINATOR_ERROR_UNUSABLE, "of the program 'app'");
  assert_start_fails (place, "app", "9", COORDINATOR_ERROR_UNUSABLE,
                      "the arguments 8 'two words', these are 9");
  Identity identity = identity_make ("run-9", "app", "8");
  g_autoptr (GError) error = NULL;
  identity.schema = digest_of_string ("another schema");
  identity.identity = digest_of_string ("another identity");
  g_assert_null (place_scribe (place, HOUR_US, &identity, &error));
  g_assert_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_UNUSABLE);
  g_assert_nonnull (strstr (error->message, "job tables differ"));
  identity_clear (&identity);
  g_autoptr (GBytes) after = contents (place->target);
  g_assert_true (g_bytes_equal (before, after));

  g_assert_true (g_file_set_contents (place->target, "text", 4, NULL));
  assert_start_fails (place, "app", "8", COORDINATOR_ERROR_UNUSABLE, "not an SQLite file");
  g_autoptr (GBytes) text = contents (place->target);
  g_assert_cmpuint (g_bytes_get_size (text), ==, 4);
  g_assert_cmpuint (place_strangers (place), ==, 0);
}

static void
test_no_place_to_write_is_said_at_once (void)
{
  g_autoptr (Place) place = place_new ();
  g_assert_cmpint (g_mkdir (place->target, 0700), ==, 0);
  assert_start_fails (place, "app", "8", COORDINATOR_ERROR_STORE, "is a directory");
  g_free (place->target);
  place->target = g_build_filename (place->folder, "none", "run.ckpt", NULL);
  assert_start_fails (place, "app", "8", COORDINATOR_ERROR_STORE, "there is no folder");
  g_free (place->target);
  place->target = g_strdup ("/proc/self/run.ckpt");
  assert_start_fails (place, "app", "8", COORDINATOR_ERROR_STORE, "cannot write");
  g_free (place->target);
  place->target = g_build_filename (place->folder, "run.ckpt", "below", NULL);
  g_free (place->work);
  place->work = g_build_filename (place->folder, "none", "work", NULL);
  assert_start_fails (place, "app", "8", COORDINATOR_ERROR_STORE, "cannot create");
}

static void
test_two_coordinators_of_a_run_unite_their_rows (void)
{
  g_autoptr (Place) place = place_new ();
  Scribe *one = start (place, HOUR_US, "run-1");
  finish (place, one);
  g_free (place->work);
  place->work = g_build_filename (place->folder, "work2", NULL);
  Scribe *two = start (place, HOUR_US, "run-1");

  save_one (one, row_make ("/0", 1, 1, 0.25));
  finish (place, one);
  save_one (two, row_make ("/1", 2, 1, 0.25));
  finish (place, two);
  save_one (one, row_make ("/2", 3, 1, 0.25));
  finish (place, one);
  scribe_free (one);
  scribe_free (two);

  assert_answer (place->target, "SELECT group_concat(path) FROM result", "/0,/1,/2");
}

static void
test_kept_states_are_taken_over (void)
{
  g_autoptr (Place) place = place_new ();
  guint32 deep[100] = { 0 };
  g_autofree char *path = path_from_numbers (place->stems, deep, 100);
  Scribe *scribe = start (place, HOUR_US, "run-1");
  save_one (scribe, row_make ("/0/1", 7, 1, 0.25));
  save_one (scribe, row_make ("/0/2", 8, 1, 0.25));
  save_one (scribe, row_make_kept ("/0", 1, -8));
  save_one (scribe, row_make_kept ("/0", 2, -9));
  save_one (scribe, row_make_kept ("/0", 1, -8));
  save_one (scribe, row_make_kept ("/1", 400, 5));
  finish (place, scribe);
  assert_answer (place->target, "SELECT children || ' ' || value FROM keep WHERE path = '/0'",
                 "2 -9");
  assert_answer (place->target, "SELECT group_concat (path) FROM result", "/0/2");
  save_one (scribe, row_make_kept (path, 3, 6));
  save_one (scribe, row_make ("/1", 7, 1, 0.25));
  finish (place, scribe);
  scribe_free (scribe);
  stems_free (place->stems);
  place->stems = stems_new ();

  scribe = start (place, HOUR_US, "run-2");
  scribe_load (scribe, NULL);
  place_wait (place, &place->n_restored_final, 1);

  assert_answer (place->target, "SELECT group_concat (path) FROM keep WHERE path < '0'", "/0");
  g_assert_cmpuint (place->rows->len, ==, 3); /* rows inside a kept phase are not there any more */
  const Row *first = g_ptr_array_index (place->rows, 2);
  g_autoptr (Row) expected = row_make_kept ("/0", 2, -9);
  g_assert_cmpstr (first->path, ==, "/0");
  g_assert_cmpuint (first->children, ==, 2);
  g_assert_cmpstr (first->type, ==, "x");
  g_assert_true (digest_equal (&first->digest, &expected->digest));
  g_assert_true (g_bytes_equal (first->value, expected->value));
  scribe_free (scribe);
}

/* The next coordinator knows the kept states that it found: results of their phases are of no use,
 * and the result of their job replaces them. */
static void
test_kept_states_found_count (void)
{
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = start (place, HOUR_US, "run-1");
  save_one (scribe, row_make_kept ("/0", 2, -9));
  save_one (scribe, row_make_kept ("/1", 2, -9));
  finish_all (place, scribe);

  scribe = start (place, HOUR_US, "run-2");
  save_one (scribe, row_make ("/0/1", 7, 1, 0.1));
  save_one (scribe, row_make ("/0/2", 7, 1, 0.1));
  save_one (scribe, row_make ("/1", 7, 1, 0.1));
  finish_all (place, scribe);
  assert_answer (place->target, "SELECT group_concat (path) FROM keep", "/0");
  assert_answer (place->target, "SELECT group_concat (path) FROM result", "/0/2,/1");
  assert_rows (place->target, 2); /* and none is counted that is not there */
}

static void
test_of_two_kept_states_the_one_that_stands_for_more_stays (void)
{
  g_autoptr (Place) place = place_new ();
  Scribe *one = start (place, HOUR_US, "run-1");
  finish (place, one);
  g_autofree char *work = g_steal_pointer (&place->work);
  place->work = g_strconcat (work, "2", NULL);
  Scribe *two = start (place, HOUR_US, "run-1");
  save_one (one, row_make_kept ("/0", 5, 5));
  save_one (one, row_make_kept ("/1", 5, 5));
  finish (place, one);
  save_one (two, row_make ("/0/6/1", 2, 1, 0.25));
  save_one (two, row_make ("/0/4", 2, 1, 0.25));
  save_one (two, row_make_kept ("/0", 4, 4));
  save_one (two, row_make_kept ("/1", 6, 6));
  finish (place, two);
  scribe_free (one);
  scribe_free (two);

  assert_answer (place->target,
                 "SELECT group_concat (kept) FROM (SELECT path || '=' || children AS kept FROM "
                 "keep ORDER BY path)",
                 "/0=5,/1=6");
  assert_answer (place->target, "SELECT group_concat (path) FROM result", "/0/6/1");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/takeover/everything-is-taken-over", test_everything_is_taken_over);
  g_test_add_func ("/takeover/rows-that-do-not-prove-themselves-are-left-out",
                   test_rows_that_do_not_prove_themselves_are_left_out);
  g_test_add_func ("/takeover/rows-that-are-gone-are-missed", test_rows_that_are_gone_are_missed);
  g_test_add_func ("/takeover/a-wrong-header-stops-no-saving", test_a_wrong_header_stops_no_saving);
  g_test_add_func ("/takeover/paths-that-are-not-canonical-are-left-out",
                   test_paths_that_are_not_canonical_are_left_out);
  g_test_add_func ("/takeover/T1-6-a-damaged-file-is-salvaged-and-kept-aside",
                   test_a_damaged_file_is_salvaged_and_kept_aside);
  g_test_add_func ("/takeover/an-old-file-is-moved-and-never-deleted",
                   test_an_old_file_is_moved_and_never_deleted);
  g_test_add_func ("/takeover/what-is-not-ours-is-refused-untouched",
                   test_what_is_not_ours_is_refused_untouched);
  g_test_add_func ("/takeover/no-place-to-write-is-said-at-once",
                   test_no_place_to_write_is_said_at_once);
  g_test_add_func ("/takeover/two-coordinators-of-a-run-unite-their-rows",
                   test_two_coordinators_of_a_run_unite_their_rows);
  g_test_add_func ("/takeover/rows-whose-stems-are-lost-are-left-out",
                   test_rows_whose_stems_are_lost_are_left_out);
  g_test_add_func ("/takeover/kept-states-found-count", test_kept_states_found_count);
  g_test_add_func ("/takeover/kept-states-are-taken-over", test_kept_states_are_taken_over);
  g_test_add_func ("/takeover/of-two-kept-states-the-one-that-stands-for-more-stays",
                   test_of_two_kept_states_the_one_that_stands_for_more_stays);
  return g_test_run ();
}
