/* SPDX-License-Identifier: BSD-3-Clause */
/* The ledger without a thread: what a failed commit leaves, when there is something to publish, and
 * whether that is a base or a delta. */
#include "checkpoint.h"

#include "coordinator/ledger-private.h"

static Ledger *
begin (Place *place, gboolean is_unmarked)
{
  LedgerConfig config = { .work_path = place->work,
                          .target = place->target,
                          .job_names = job_names,
                          .job_types = job_types,
                          .stems = place->stems,
                          .delta_from = 1000, /* a base of any size may have a delta */
                          .is_unmarked = is_unmarked };
  Identity identity = identity_make ("run-1", "app", "1");
  GError *error = NULL;
  Ledger *ledger = ledger_new (&config, &identity, &error);

  g_assert_no_error (error);
  identity_clear (&identity);
  return ledger;
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

static Publication
publish (Ledger *ledger, gboolean final)
{
  Publication made;
  GError *error = NULL;

  g_assert_true (ledger_publish (ledger, final, &made, &error));
  g_assert_no_error (error);
  g_assert_false (ledger_has_changed (ledger, FALSE));
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
  g_free (other->target);
  other->target = g_strdup (place->target);
  g_autoptr (Ledger) second = begin (other, FALSE);
  g_assert_true (put (second, 3000, 1));
  g_assert_true (publish (second, FALSE).is_delta);
  g_assert_true (put (first, 3001, 1));
  Publication united = publish (first, FALSE);
  g_assert_false (united.is_delta);
  g_assert_cmpuint (united.generation, >, made.generation + 1);
  assert_answer (place->target, "SELECT count(*) FROM result", "3002");
  g_assert_cmpuint (ledger_stats (first).rows, ==, 3002);
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
  return g_test_run ();
}
