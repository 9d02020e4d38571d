/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of coordinator/scribe.c with ledger, inbox and takeover below it; links coordinator,
 * storage and value. */
#include "checkpoint.h"

#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define HOUR_US (G_GUINT64_CONSTANT (3600) * G_USEC_PER_SEC)

/* What bare SQLite answers about the published file: the text of the first column of the first row.
 */
static char *
ask (const char *path, const char *query)
{
  sqlite3 *db = NULL;
  sqlite3_stmt *statement = NULL;
  g_assert_cmpint (sqlite3_open_v2 (path, &db, SQLITE_OPEN_READONLY, NULL), ==, SQLITE_OK);
  if (sqlite3_prepare_v2 (db, query, -1, &statement, NULL) != SQLITE_OK)
    g_error ("%s: %s", query, sqlite3_errmsg (db));
  char *answer = NULL;
  if (sqlite3_step (statement) == SQLITE_ROW)
    answer = g_strdup ((const char *)sqlite3_column_text (statement, 0));
  sqlite3_finalize (statement);
  sqlite3_close (db);
  return answer;
}

static void
assert_answer (const char *path, const char *query, const char *expected)
{
  g_autofree char *answer = ask (path, query);
  g_assert_cmpstr (answer, ==, expected);
}

static void
finish (Place *place, Scribe *scribe)
{
  pthread_mutex_lock (&place->lock);
  guint before = place->n_final;
  pthread_mutex_unlock (&place->lock);
  scribe_finish (scribe);
  place_wait (place, &place->n_final, before + 1);
}

static Scribe *
start (Place *place, guint64 interval_us, const char *run)
{
  Identity identity = identity_make (run, "app", "8");
  g_autoptr (GError) error = NULL;
  Scribe *scribe = place_scribe (place, interval_us, &identity, &error);
  g_assert_no_error (error);
  g_assert_nonnull (scribe);
  identity_clear (&identity);
  return scribe;
}

static void
test_what_was_saved_stands_in_the_published_file (void)
{
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = start (place, HOUR_US, "run-1");
  NodeId one = { 1, 2, 3 }, two = { 1, 3, 4 };
  g_autoptr (GBytes) input = g_bytes_new_static ("four lines\n", 11);
  g_autoptr (GBytes) best = g_bytes_new_static ("\x2a\0\0\0\0\0\0\0", 8);

  scribe_joined (scribe, &one, "host1", "here", "unix:/somewhere");
  scribe_joined (scribe, &two, "host2", "there", "tcp:127.0.0.1:9");
  scribe_left (scribe, &two, "crashed");
  scribe_constant (scribe, "input/a.tsp", "ay", input);
  scribe_best (scribe, "length", "x", best);
  scribe_set (scribe, "term", "1");
  scribe_event (scribe, "crash", &two, "/0/1", "gone");
  save_one (scribe, row_make ("/0/1", 12345, 1500000, 0.25));
  finish (place, scribe);
  scribe_free (scribe);

  assert_answer (place->target, "SELECT value FROM result WHERE path = '/0/1'", "12345");
  assert_answer (place->target, "SELECT done FROM progress", "25.00 %");
  assert_answer (place->target, "SELECT path FROM largest", "/0/1");
  assert_answer (place->target, "SELECT name FROM who", "host1");
  assert_answer (place->target, "SELECT group_concat(path) FROM missing", "/0/0");
  assert_answer (place->target, "SELECT value FROM constant WHERE name = 'input/a.tsp'",
                 "four lines\n");
  assert_answer (place->target, "SELECT value FROM best", "42");
  assert_answer (place->target, "SELECT cause FROM node WHERE left IS NOT NULL", "crashed");
  assert_answer (place->target, "SELECT detail FROM event WHERE kind = 'crash'", "gone");
  assert_answer (place->target, "SELECT value FROM run WHERE key = 'term'", "1");
  assert_answer (place->target, "SELECT value FROM run WHERE key = 'argv'", "[b'8', b'two words']");
  assert_answer (place->target, "PRAGMA integrity_check", "ok");
  assert_answer (place->target, "PRAGMA application_id", "1396790350");
  g_assert_cmpuint (place_strangers (place), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/scribe/what-was-saved-stands-in-the-published-file",
                   test_what_was_saved_stands_in_the_published_file);
  return g_test_run ();
}
