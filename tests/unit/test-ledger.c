/* SPDX-License-Identifier: BSD-3-Clause */
/* The ledger without a thread: what a failed commit leaves, when there is something to publish,
 * whether that is a base or a delta, and what a ledger tells of the file that it begins with. */
#include "checkpoint.h"

#include "coordinator/ledger-private.h"

#include "host/process.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

static LedgerConfig
config_of (Place *place)
{
  return (LedgerConfig){ .work_path = place->work,
                         .target = place->target,
                         .job_names = job_names,
                         .job_types = job_types,
                         .stems = place->stems,
                         .delta_from = 1000 }; /* a base of any size may have a delta */
}

/* (nullable) */
static Ledger *
begin_by (const LedgerConfig *config, GError **error)
{
  Identity identity = identity_make ("run-1", "app", "1");
  Ledger *ledger = ledger_new (config, &identity, error);

  identity_clear (&identity);
  return ledger;
}

static Ledger *
begin (Place *place, gboolean is_unmarked)
{
  LedgerConfig config = config_of (place);
  GError *error = NULL;

  config.is_unmarked = is_unmarked;
  Ledger *ledger = begin_by (&config, &error);
  g_assert_no_error (error);
  return ledger;
}

/* A ledger of another coordinator with the same target. */
static Ledger *
begin_beside (Place *other, const Place *place)
{
  g_free (other->target);
  other->target = g_strdup (place->target);
  return begin (other, FALSE);
}

/* Writes rows from number `from` up; FALSE if nothing was written. */
static gboolean
put (Ledger *ledger, guint from, guint n)
{
  g_autoptr (Inbox) inbox = inbox_new ();

  for (guint i = from; i < from + n; i++)
    {
      g_autofree char *path = g_strdup_printf ("/%u", i);
      inbox_add_row (inbox, row_make (path, i, 5, 0.001));
    }
  return ledger_write (ledger, inbox, NULL);
}

/* The four bytes that a store is asked for (PLACE_MARK_AT of place.h, which checkpoint.h excludes):
 * the generation, and a bit: there may be a delta. */
static guint32
mark_of (const char *path)
{
  g_autofree char *bytes = NULL;
  guint32 mark;
  gsize size;

  g_assert_true (g_file_get_contents (path, &bytes, &size, NULL));
  g_assert_cmpuint (size, >, 100);
  memcpy (&mark, bytes + 92, sizeof mark);
  return GUINT32_FROM_BE (mark);
}

static Publication
publish (Ledger *ledger, gboolean final)
{
  Publication made;
  GError *error = NULL;

  g_assert_true (ledger_publish (ledger, final, &made, &error));
  g_assert_no_error (error);
  g_assert_false (ledger_has_changed (ledger, FALSE));
  g_assert_cmpuint (made.generation, ==, ledger_stats (ledger).generation);
  guint32 mark = mark_of (made.is_delta ? ledger->delta : ledger->target);
  g_assert_cmpuint (mark & G_MAXINT32, ==, made.generation);
  g_assert_cmpint (mark > G_MAXINT32, ==, made.may_get_delta && !made.is_delta);
  return made;
}

static int
refuse (void *left)
{
  return *(int *)left > 0 && (*(int *)left)-- > 0;
}

/* The commits of the next `*left` transactions fail at their end. */
static void
refuse_commits (Ledger *ledger, int *left)
{
  (void)sqlite3_commit_hook (ledger->sql->db, refuse, left);
}

/* A batch that could not be written is written as a whole later, and reported once. */
static void
test_a_failed_commit_leaves_nothing (void)
{
  g_autoptr (Place) place = place_new ();
  g_autoptr (Ledger) ledger = begin (place, FALSE);
  int left = 1;
  LedgerStats before;

  g_assert_true (put (ledger, 0, 5));
  (void)publish (ledger, TRUE);
  before = ledger_stats (ledger);
  g_assert_cmpuint (before.saved_rows, ==, 5);
  refuse_commits (ledger, &left);
  g_assert_false (put (ledger, 5, 2));
  g_assert_cmpuint (ledger_stats (ledger).rows, ==, 5);
  g_assert_cmpuint (ledger_stats (ledger).saved_rows, ==, 5);
  g_assert_true (ledger_has_changed (ledger, FALSE)); /* the commit may have happened */
  g_assert_true (put (ledger, 5, 2));
  g_assert_cmpuint (ledger_stats (ledger).saved_rows, ==, 7);
  Publication made = publish (ledger, TRUE);
  g_assert_cmpuint (made.generation, ==, before.generation + 1);
  assert_answer (place->target, "SELECT count(*) FROM result", "7");
  assert_answer (place->target, "SELECT count(*) = count(DISTINCT generation) FROM history", "1");
  g_autofree char *last = g_strdup_printf ("%" G_GUINT64_FORMAT, made.generation);
  assert_answer (place->target, "SELECT max(generation) FROM history", last);
}

/* A file contains its own generation, also if writing the batch for it failed. */
static void
test_each_publication_says_its_number (void)
{
  g_autoptr (Place) place = place_new ();
  g_autoptr (Ledger) ledger = begin (place, FALSE);
  guint64 last = 0;
  int left = 0;

  refuse_commits (ledger, &left);
  g_assert_true (put (ledger, 0, 5));
  for (guint i = 0; i < 4; i++)
    {
      Publication made = publish (ledger, TRUE);
      g_autofree char *said = ask (place->target, "SELECT value FROM run WHERE key = 'generation'");

      g_assert_cmpuint (made.generation, >, last);
      last = made.generation;
      g_assert_cmpuint (g_ascii_strtoull (said, NULL, 10), ==, last);
      if (i % 2 == 0)
        {
          ledger_touch (ledger, FALSE); /* the publication was lost */
          continue;
        }
      left = 1;
      g_assert_false (put (ledger, 10 + i, 1));
    }
}

/* Written rows have to be published, whatever happens in between. */
static void
test_what_was_written_is_to_be_published (void)
{
  g_autoptr (Place) place = place_new ();
  g_autoptr (Ledger) ledger = begin (place, FALSE);

  (void)publish (ledger, TRUE);
  g_assert_true (put (ledger, 0, 0));
  g_assert_false (ledger_has_changed (ledger, FALSE));
  g_assert_true (put (ledger, 0, 5));
  g_assert_true (put (ledger, 0, 5)); /* these rows are known by now */
  g_assert_true (put (ledger, 0, 0));
  g_assert_true (put (ledger, 5, 1));
  g_assert_true (ledger_has_changed (ledger, FALSE));
  (void)publish (ledger, TRUE);
  /* The history has the publication once, however many writes it contains. */
  assert_answer (place->target, "SELECT count(*) FROM history", "1");
  g_assert_true (put (ledger, 6, 1));
  assert_answer (place->work, "SELECT max(detail) FROM event WHERE kind = 'published'",
                 "generation 3, 0.6000 % done before");
}

/* While a large base of this run is published, newer rows go into a delta beside it; at the end all
 * rows are in one file. */
static void
test_deltas (void)
{
  g_autoptr (Place) place = place_new ();
  Ledger *ledger = begin (place, FALSE);
  g_autofree char *delta = g_strconcat (place->target, "-delta", NULL);

  g_assert_true (put (ledger, 0, 3000));
  Publication base = publish (ledger, FALSE);
  g_assert_true (!base.is_delta && base.may_get_delta && !base.takes_delta);
  g_assert_true (put (ledger, 3000, 1));
  g_assert_true (publish (ledger, FALSE).is_delta);
  ledger_free (ledger);

  /* The next coordinator continues with both. */
  ledger = begin (place, FALSE);
  g_assert_cmpuint (ledger_stats (ledger).rows, ==, 3001);
  g_assert_true (put (ledger, 3001, 1));
  g_assert_true (publish (ledger, FALSE).is_delta);
  g_assert_true (ledger_has_changed (ledger, TRUE)); /* there is a delta */
  base = publish (ledger, TRUE);
  g_assert_true (!base.is_delta && base.takes_delta);
  g_assert_false (ledger_has_changed (ledger, TRUE));
  g_assert_false (g_file_test (delta, G_FILE_TEST_EXISTS));
  assert_answer (place->target, "SELECT count(*) FROM result", "3002");
  ledger_free (ledger);

  /* No reader would look for a delta of that base. */
  ledger = begin (place, TRUE);
  g_assert_true (put (ledger, 3002, 1));
  g_assert_false (publish (ledger, FALSE).is_delta);
  ledger_free (ledger);
}

/* Further deltas would soon cost more than a new base. */
static void
test_a_large_delta_is_a_base (void)
{
  g_autoptr (Place) place = place_new ();
  g_autoptr (Ledger) ledger = begin (place, FALSE);

  g_assert_true (put (ledger, 0, 3000));
  (void)publish (ledger, FALSE);
  g_assert_true (put (ledger, 3000, 1500));
  g_assert_false (publish (ledger, FALSE).is_delta);
  g_assert_true (put (ledger, 4500, 1));
  g_assert_true (publish (ledger, FALSE).is_delta);
}

/* Somebody restored an old copy: the next publication continues from the newest number. */
static void
test_numbers_do_not_go_back (void)
{
  g_autoptr (Place) place = place_new ();
  g_autoptr (Ledger) ledger = begin (place, FALSE);
  g_autofree char *old = NULL;
  gsize size;
  guint64 last = 0;

  g_assert_true (put (ledger, 0, 5));
  (void)publish (ledger, TRUE);
  g_assert_true (g_file_get_contents (place->target, &old, &size, NULL));
  for (guint i = 0; i < 3; i++)
    {
      g_assert_true (put (ledger, 5 + i, 1));
      last = publish (ledger, TRUE).generation;
    }
  g_assert_true (g_file_set_contents (place->target, old, (gssize)size, NULL));
  g_assert_true (put (ledger, 8, 1));
  g_assert_cmpuint (publish (ledger, TRUE).generation, ==, last + 1);
  assert_answer (place->target, "SELECT count(*) FROM result", "9");
}

/* A delta without its base is useless. */
static void
test_a_base_that_is_gone_is_made_again (void)
{
  g_autoptr (Place) place = place_new ();
  g_autoptr (Ledger) ledger = begin (place, FALSE);

  g_assert_true (put (ledger, 0, 3000));
  (void)publish (ledger, FALSE);
  g_assert_true (put (ledger, 3000, 1));
  g_assert_cmpint (g_unlink (place->target), ==, 0);
  g_assert_false (publish (ledger, FALSE).is_delta);
  assert_answer (place->target, "SELECT count(*) FROM result", "3001");
  ledger_touch (ledger, TRUE); /* the publication was lost */
  g_assert_true (ledger_has_changed (ledger, FALSE));
  g_assert_false (publish (ledger, FALSE).is_delta);
}

/* Two coordinators of one run: each publishes the rows of the other, too, in a base with a later
 * number. */
static void
test_what_another_published_is_united (void)
{
  g_autoptr (Place) place = place_new (), other = place_new ();
  g_autoptr (Ledger) first = begin (place, FALSE);

  g_assert_true (put (first, 0, 3000));
  Publication made = publish (first, FALSE);
  g_autoptr (Ledger) second = begin_beside (other, place);
  g_assert_true (put (second, 3000, 1));
  g_assert_true (publish (second, FALSE).is_delta);
  g_assert_true (put (first, 3001, 1));
  Publication united = publish (first, FALSE);
  g_assert_false (united.is_delta);
  g_assert_cmpuint (united.generation, >, made.generation + 1);
  assert_answer (place->target, "SELECT count(*) FROM result", "3002");
  g_assert_cmpuint (ledger_stats (first).rows, ==, 3002);
}

/* What another coordinator has published is not replaced before its rows are in the work file: if
 * that fails, the next publication begins with it again. */
static void
test_what_could_not_be_united_stays (void)
{
  for (gboolean is_base = FALSE; is_base <= TRUE; is_base++)
    {
      g_autoptr (Place) place = place_new (), other = place_new ();
      g_autoptr (Ledger) first = begin (place, FALSE);
      int left = 0;
      Publication made;

      g_assert_true (put (first, 0, 3000));
      (void)publish (first, FALSE);
      g_autoptr (Ledger) second = begin_beside (other, place);
      g_assert_true (put (second, 3000, 1));
      g_assert_cmpint (publish (second, is_base).is_delta, ==, !is_base);
      g_assert_true (put (first, 3001, 1));
      refuse_commits (first, &left);
      for (guint i = 0; i < 2; i++)
        {
          left = 1;
          g_assert_false (ledger_publish (first, FALSE, &made, NULL));
          g_assert_cmpuint (ledger_stats (first).rows, ==, 3001);
        }
      g_assert_false (publish (first, FALSE).is_delta);
      assert_answer (place->target, "SELECT count(*) FROM result", "3002");
    }
}

/* The last publication takes in the delta, whether it is still there or somebody has removed it. */
static void
test_the_last_takes_the_delta (void)
{
  for (gboolean is_gone = FALSE; is_gone <= TRUE; is_gone++)
    {
      g_autoptr (Place) place = place_new ();
      g_autoptr (Ledger) ledger = begin (place, FALSE);

      g_assert_true (put (ledger, 0, 3000));
      (void)publish (ledger, FALSE);
      g_assert_true (put (ledger, 3000, 1));
      g_assert_true (publish (ledger, FALSE).is_delta);
      if (is_gone)
        g_assert_cmpint (g_unlink (ledger->delta), ==, 0);
      g_assert_true (ledger_has_changed (ledger, TRUE));
      g_assert_true (publish (ledger, TRUE).takes_delta);
      g_assert_false (g_file_test (ledger->delta, G_FILE_TEST_EXISTS));
      g_assert_false (ledger_has_changed (ledger, TRUE));
      assert_answer (place->target, "SELECT count(*) FROM result", "3001");
    }
}

/* Something else has the delta's name: it stays, and no reader is told to look for a delta. */
static void
test_a_blocked_delta (void)
{
  g_autoptr (Place) place = place_new ();
  g_autofree char *delta = g_strconcat (place->target, "-delta", NULL);
  g_autofree char *text = NULL;

  g_assert_true (g_file_set_contents (delta, "somebody's", -1, NULL));
  g_autoptr (Ledger) ledger = begin (place, FALSE);
  for (guint i = 0; i < 3; i++)
    {
      g_assert_true (put (ledger, 3000 * i, i == 0 ? 3000 : 1));
      Publication made = publish (ledger, i == 2);
      g_assert_true (!made.is_delta && !made.may_get_delta && !made.takes_delta);
    }
  g_assert_true (g_file_get_contents (delta, &text, NULL, NULL));
  g_assert_cmpstr (text, ==, "somebody's");
}

typedef struct
{
  const char *folder;
  guint n; /* commits that found the folder locked */
} Others;

/* Another coordinator that would publish now. */
static int
try_lock (void *data)
{
  Others *others = data;
  int fd = open (others->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

  others->n += flock (fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  (void)close (fd);
  return 0;
}

/* Coordinators at one place publish one after the other. */
static void
test_nobody_else_publishes_meanwhile (void)
{
  g_autoptr (Place) place = place_new ();
  g_autoptr (Ledger) ledger = begin (place, FALSE);
  Others others = { .folder = place->folder };

  (void)publish (ledger, FALSE);
  (void)sqlite3_commit_hook (ledger->sql->db, try_lock, &others);
  ledger_touch (ledger, TRUE);
  (void)publish (ledger, FALSE); /* its number is committed first */
  g_assert_cmpuint (others.n, >, 0);
  others.n = 0;
  (void)try_lock (&others);
  g_assert_cmpuint (others.n, ==, 0);
}

/* A row that would harm the file, or that nobody could read, is left out. */
static void
test_rows_that_cannot_be_written (void)
{
  g_autoptr (Place) place = place_new ();
  g_autoptr (Ledger) ledger = begin (place, FALSE);
  g_autoptr (Inbox) inbox = inbox_new ();
  g_autoptr (GBytes) value = g_bytes_new_static ("\1\0\0\0\0\0\0\0", 8);
  Digest digest = digest_of_string ("a row");

  inbox_add_row (inbox, row_new ("/1", 1, &digest, 0.1, 1, value));
  inbox_add_row (inbox, row_new ("/2", G_N_ELEMENTS (job_names) - 1, &digest, 0.1, 1, value));
  inbox_add_row (inbox, row_new ("/03", 0, &digest, 0.1, 1, value));
  inbox_add_row (inbox, row_new_kept ("/4", 1, 0, &digest, 1, "x", value));
  inbox_add_row (inbox, row_new_kept ("/5", 1, 0, &digest, 1, "(", value));
  inbox_add_row (inbox, row_new_kept ("/06", 1, 0, &digest, 1, "x", value));
  g_assert_true (ledger_write (ledger, inbox, NULL));
  g_assert_cmpuint (ledger_stats (ledger).saved_rows, ==, 2);
  g_assert_cmpuint (ledger_stats (ledger).saves, ==, 1);
  assert_answer (place->work, "SELECT group_concat(path) FROM result", "/1");
  assert_answer (place->work, "SELECT group_concat(path) FROM keep", "/4");
}

/* A run has one answer: the first, with its exit code. */
static void
test_the_first_answer_counts (void)
{
  g_autoptr (Place) place = place_new ();
  g_autoptr (Ledger) ledger = begin (place, FALSE);

  for (int i = 1; i <= 2; i++)
    {
      g_autoptr (Inbox) inbox = inbox_new ();
      g_autoptr (GBytes) answer = g_bytes_new_static (i == 1 ? "first" : "other", 5);
      inbox_answer (inbox, answer, i);
      g_assert_true (ledger_write (ledger, inbox, NULL));
    }
  assert_answer (place->work, "SELECT value FROM run WHERE key = 'answer'", "first");
  assert_answer (place->work, "SELECT value FROM run WHERE key = 'exit'", "1");
}

/* ---- beginnings ---- */

/* A temporary file that a dead writer of `path` has left. (transfer full) */
static char *
leave_temporary (const char *path)
{
  g_autofree char *folder = g_path_get_dirname (path), *name = g_path_get_basename (path);
  char *left
      = g_strdup_printf ("%s/.%s.run-1.%s-2147483646-1-0.tmp", folder, name, process_host ());

  g_assert_true (g_file_set_contents (left, "x", 1, NULL));
  return left;
}

/* A ledger that may not write at its target does not begin. One that may removes what dead writers
 * have left there. */
static void
test_beginnings (void)
{
  g_autoptr (Place) place = place_new ();
  g_autofree char *delta = g_strconcat (place->target, "-delta", NULL);
  g_autofree char *nowhere = g_build_filename (place->folder, "none", "run.ckpt", NULL);
  g_autofree char *one = leave_temporary (place->target), *other = leave_temporary (delta);
  g_autoptr (GError) error = NULL;
  LedgerConfig config = config_of (place);

  config.target = nowhere;
  g_assert_null (begin_by (&config, &error));
  g_assert_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_STORE);
  g_assert_nonnull (strstr (error->message, "there is no folder"));
  g_autoptr (Ledger) ledger = begin (place, FALSE);
  g_assert_false (g_file_test (one, G_FILE_TEST_EXISTS));
  g_assert_false (g_file_test (other, G_FILE_TEST_EXISTS));
}

static void
change (const char *path, const char *text)
{
  sqlite3 *db = NULL;

  g_assert_cmpint (sqlite3_open (path, &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (db, text, NULL, NULL, NULL), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_changes (db), ==, 1);
  g_assert_cmpint (sqlite3_close (db), ==, SQLITE_OK);
}

/* A base of 3000 results, of which one is damaged, and a delta of three, of which one is. */
static void
leave_damaged_pair (Place *place)
{
  g_autofree char *delta = g_strconcat (place->target, "-delta", NULL);
  Ledger *ledger = begin (place, FALSE);

  g_assert_true (put (ledger, 0, 3000));
  (void)publish (ledger, FALSE);
  g_assert_true (put (ledger, 3000, 3));
  g_assert_true (publish (ledger, FALSE).is_delta);
  ledger_free (ledger);
  change (place->target, "UPDATE result SET work_s = 99 WHERE path = '/7'");
  change (delta, "UPDATE result SET work_s = 99 WHERE path = '/3001'");
}

/* Damage of base and delta is told of each file, with the number of rows, each of which counts
 * once. The history has the sum of both. */
static void
test_damage_of_both_files_is_told (void)
{
  g_autoptr (Place) place = place_new ();
  Restore restore;
  leave_damaged_pair (place);
  g_assert_true (restore_look (place->target, &restore, NULL));
  g_assert_cmpuint (restore.rows_bad, ==, 2);
  g_assert_cmpuint (restore.rows, ==, 3001);
  restore_clear (&restore);
  g_autoptr (Ledger) ledger = begin (place, FALSE);
  g_autofree char *damage = ledger_take_damage (ledger);
  g_test_message ("%s", damage);
  const char *base = strstr (damage, "run.ckpt' is damaged: 1 of "),
             *delta = strstr (damage, "run.ckpt-delta' is damaged: 1 of ");
  g_assert_true (base != NULL && delta != NULL && base < delta);
  g_assert_cmpint (strstr (base, "(1 of 3000 results)") < delta, ==, TRUE);
  g_assert_nonnull (strstr (delta, "(1 of 3 results)"));
  g_assert_null (ledger_take_damage (ledger));
  g_assert_cmpuint (ledger_stats (ledger).rows, ==, 3001);
  g_assert_cmpuint (place_strangers (place), ==, 3); /* the delta, and both damaged files */
  assert_answer (place->work, "SELECT detail FROM event WHERE kind = 'taken over'",
                 "3001 results, 2 bad rows left out");
}

/* A ledger that only reads changes nothing at its target, whatever stands there and is written. */
static void
test_a_reader_changes_nothing (void)
{
  g_autoptr (Place) place = place_new ();
  g_autofree char *left = NULL;
  g_autoptr (GError) error = NULL;
  LedgerConfig config = config_of (place);

  leave_damaged_pair (place);
  left = leave_temporary (place->target);
  g_autoptr (GBytes) before = contents (place->target);
  config.reads_only = TRUE;
  g_autoptr (Ledger) ledger = begin_by (&config, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (ledger_stats (ledger).rows, ==, 3001);
  g_autofree char *damage = ledger_take_damage (ledger);
  g_assert_nonnull (strstr (damage, place->target));
  g_assert_true (put (ledger, 4000, 5));
  g_assert_false (ledger_has_changed (ledger, TRUE));
  g_autoptr (GBytes) after = contents (place->target);
  g_assert_true (g_bytes_equal (before, after));
  g_assert_cmpuint (place_strangers (place), ==, 2); /* the delta, and what a writer has left */
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ledger/a-failed-commit-leaves-nothing", test_a_failed_commit_leaves_nothing);
  g_test_add_func ("/ledger/each-publication-says-its-number",
                   test_each_publication_says_its_number);
  g_test_add_func ("/ledger/what-was-written-is-to-be-published",
                   test_what_was_written_is_to_be_published);
  g_test_add_func ("/ledger/deltas", test_deltas);
  g_test_add_func ("/ledger/a-large-delta-is-a-base", test_a_large_delta_is_a_base);
  g_test_add_func ("/ledger/numbers-do-not-go-back", test_numbers_do_not_go_back);
  g_test_add_func ("/ledger/a-base-that-is-gone-is-made-again",
                   test_a_base_that_is_gone_is_made_again);
  g_test_add_func ("/ledger/what-another-published-is-united",
                   test_what_another_published_is_united);
  g_test_add_func ("/ledger/what-could-not-be-united-stays", test_what_could_not_be_united_stays);
  g_test_add_func ("/ledger/the-last-takes-the-delta", test_the_last_takes_the_delta);
  g_test_add_func ("/ledger/a-blocked-delta", test_a_blocked_delta);
  g_test_add_func ("/ledger/nobody-else-publishes-meanwhile", test_nobody_else_publishes_meanwhile);
  g_test_add_func ("/ledger/rows-that-cannot-be-written", test_rows_that_cannot_be_written);
  g_test_add_func ("/ledger/the-first-answer-counts", test_the_first_answer_counts);
  g_test_add_func ("/ledger/beginnings", test_beginnings);
  g_test_add_func ("/ledger/damage-of-both-files-is-told", test_damage_of_both_files_is_told);
  g_test_add_func ("/ledger/a-reader-changes-nothing", test_a_reader_changes_nothing);
  return g_test_run ();
}
