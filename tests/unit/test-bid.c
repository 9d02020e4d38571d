/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of coordinator/bid.c, and of a scribe that moves to another place. T1-5, S5, S17: a bid is
 * a commit of realistic size at the same place as the checkpoint. Links coordinator, storage and
 * value. */
#include "checkpoint.h"

#include "coordinator/bid.h"
#include "coordinator/ledger.h"

#include <unistd.h>

/* A published checkpoint of two generations. */
static void
publish_twice (Place *place, Identity *identity)
{
  Scribe *scribe = place_scribe (place, HOUR_US, identity, NULL);

  g_assert_nonnull (scribe);
  for (guint i = 1; i <= 2; i++)
    {
      g_autofree char *path = g_strdup_printf ("/%u", i);
      save_one (scribe, row_make (path, i, 10, 0.1));
      scribe_finish (scribe);
      place_wait (place, &place->n_final, i);
    }
  scribe_free (scribe);
}

static guint64
file_bytes (const char *path)
{
  GStatBuf status;

  g_assert_cmpint (g_stat (path, &status), ==, 0);
  return (guint64)status.st_size;
}

/* A trial commit is as large as the checkpoint, within bounds. If there is no checkpoint of this
 * run it has the least size, whatever other file has the name. */
static void
test_a_bid_is_of_a_size (void)
{
  static const gsize sizes[] = { 0, 3 * BID_BYTES_MIN, 2 * BID_BYTES_MAX };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autoptr (Place) place = place_new ();
      Identity identity = identity_make ("run-1", "queens", "8"),
               later = identity_make ("run-2", "queens", "8");
      BidResult result;
      g_autofree char *text = g_strnfill (sizes[i], 'x');
      Scribe *scribe = place_scribe (place, HOUR_US, &identity, NULL);
      save_best (scribe, "large", text);
      save_one (scribe, row_make ("/0", 1, 10, 0.1));
      finish (place, scribe);
      scribe_free (scribe);
      g_assert_true (bid_make (place->target, &identity, &result, NULL));
      g_assert_cmpuint (result.generation, ==, place->generation);
      g_assert_cmpuint (result.bytes, ==,
                        CLAMP (file_bytes (place->target), BID_BYTES_MIN, BID_BYTES_MAX));
      g_assert_true (bid_make (place->target, &later, &result, NULL));
      g_assert_cmpuint (result.bytes, ==, BID_BYTES_MIN);
      identity_clear (&identity);
      identity_clear (&later);
    }
}

static void
test_a_bid_finds_what_was_published (void)
{
  g_autoptr (Place) place = place_new ();
  Identity identity = identity_make ("run-1", "queens", "8");
  BidResult result;

  publish_twice (place, &identity);
  g_autofree char *before = ask (place->target, "SELECT count(*) FROM result");
  g_assert_true (bid_make (place->target, &identity, &result, NULL));

  g_assert_cmpuint (result.generation, ==, place->generation);
  g_assert_cmpuint (result.commit_us, >, 0);
  g_assert_cmpuint (result.bytes, ==, MAX (file_bytes (place->target), BID_BYTES_MIN));
  g_assert_cmpuint (place_strangers (place), ==, 0);
  g_autofree char *after = ask (place->target, "SELECT count(*) FROM result");
  g_assert_cmpstr (before, ==, after);
  identity_clear (&identity);
}

/* A base and a delta of the run, which is later. */
static void
publish_pair (Place *place, const Identity *identity)
{
  LedgerConfig config = { .work_path = place->work,
                          .target = place->target,
                          .job_names = job_names,
                          .job_types = job_types,
                          .stems = place->stems,
                          .delta_from = 1000 };
  Identity own = *identity;
  own.run = g_strdup (identity->run);
  Ledger *ledger = ledger_new (&config, &own, NULL);

  g_assert_nonnull (ledger);
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (Inbox) inbox = inbox_new ();
      Publication made;
      for (guint k = 0; k < (i == 0 ? 3000 : 1); k++)
        {
          g_autofree char *path = g_strdup_printf ("/%u/%u", i, k);
          inbox_add_row (inbox, row_make (path, k, 1, 1e-6));
        }
      g_assert_true (ledger_write (ledger, inbox, NULL));
      g_assert_true (ledger_publish (ledger, FALSE, &made, NULL));
      g_assert_cmpint (made.is_delta, ==, i == 1);
    }
  ledger_free (ledger);
  g_free (own.run);
}

/* The generation is that of the delta, but only beside its base: without one its rows are lost. */
static void
test_a_delta_counts_beside_its_base (void)
{
  static const struct
  {
    gboolean has_base, has_delta;
    guint64 generation;
  } cases[] = { { TRUE, TRUE, 2 }, { TRUE, FALSE, 1 }, { FALSE, TRUE, 0 }, { FALSE, FALSE, 0 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (Place) place = place_new ();
      g_autofree char *delta = g_strconcat (place->target, "-delta", NULL);
      Identity identity = identity_make ("run-1", "queens", "8");
      BidResult result;

      publish_pair (place, &identity);
      if (!cases[i].has_base)
        g_assert_cmpint (g_unlink (place->target), ==, 0);
      if (!cases[i].has_delta)
        g_assert_cmpint (g_unlink (delta), ==, 0);
      g_assert_true (bid_make (place->target, &identity, &result, NULL));
      g_assert_cmpuint (result.generation, ==, cases[i].generation);
      identity_clear (&identity);
    }
}

static void
test_what_is_another_run_s_proves_nothing (void)
{
  g_autoptr (Place) place = place_new ();
  Identity identity = identity_make ("run-1", "queens", "8");
  Identity later = identity_make ("run-2", "queens", "8"),
           other = identity_make ("run-1", "q", "9");
  BidResult result;

  g_assert_true (bid_make (place->target, &identity, &result, NULL));
  g_assert_cmpuint (result.generation, ==, 0);
  publish_twice (place, &identity);
  g_assert_true (bid_make (place->target, &later, &result, NULL));
  g_assert_cmpuint (result.generation, ==, 0);
  g_assert_true (bid_make (place->target, &other, &result, NULL));
  g_assert_cmpuint (result.generation, ==, 0);
  g_assert_true (g_file_set_contents (place->target, "something else", -1, NULL));
  g_assert_true (bid_make (place->target, &identity, &result, NULL));
  g_assert_cmpuint (result.generation, ==, 0);
  identity_clear (&identity);
  identity_clear (&later);
  identity_clear (&other);
}

static void
test_who_cannot_write_there_says_why (void)
{
  g_autoptr (Place) place = place_new ();
  g_autofree char *target = g_strdup_printf ("%s-absent/run.ckpt", place->target);
  Identity identity = identity_make ("run-1", "queens", "8");
  g_autoptr (GError) error = NULL;
  BidResult result;

  g_assert_false (bid_make (target, &identity, &result, &error));
  g_assert_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_STORE);
  g_assert_nonnull (strstr (error->message, target));
  identity_clear (&identity);
}

static void
test_a_scribe_does_not_begin_at_another_place (void)
{
  g_autoptr (Place) place = place_new ();
  g_autoptr (Place) other = place_new ();
  Identity identity = identity_make ("run-1", "queens", "8");
  g_autoptr (GError) error = NULL;
  publish_twice (place, &identity);
  ScribeConfig config = { .work_path = other->work,
                          .target = other->target,
                          .interval_us = 1,
                          .least = place->generation,
                          .job_names = job_names,
                          .job_types = job_types,
                          .stems = other->stems,
                          .notify = place_notify,
                          .data = other };

  g_assert_null (scribe_new (&config, &identity, &error));
  g_assert_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_STORE);
  g_assert_false (g_file_test (other->target, G_FILE_TEST_EXISTS));
  g_clear_error (&error);
  config.target = place->target;
  config.least = place->generation + 1; /* one publication was lost before */
  g_assert_null (scribe_new (&config, &identity, &error));
  g_assert_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_STORE);
  config.least = place->generation;
  Scribe *scribe = scribe_new (&config, &identity, NULL);
  g_assert_nonnull (scribe);
  scribe_free (scribe);
  identity_clear (&identity);
}

static void
test_a_long_commit_of_much_is_not_slow (void)
{
  g_assert_cmpuint (bid_scale (700, BID_BYTES_MAX), ==, 700);
  g_assert_cmpuint (bid_scale (700, BID_BYTES_MIN), ==, 700);
  g_assert_cmpuint (bid_scale (7000, (guint64)BID_BYTES_MAX * 10), ==, 700);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/bid/finds-what-was-published", test_a_bid_finds_what_was_published);
  g_test_add_func ("/bid/is-of-a-size", test_a_bid_is_of_a_size);
  g_test_add_func ("/bid/a-delta-counts-beside-its-base", test_a_delta_counts_beside_its_base);
  g_test_add_func ("/bid/another-run-s-proves-nothing", test_what_is_another_run_s_proves_nothing);
  g_test_add_func ("/bid/who-cannot-write-there-says-why", test_who_cannot_write_there_says_why);
  g_test_add_func ("/bid/a-scribe-does-not-begin-at-another-place",
                   test_a_scribe_does_not_begin_at_another_place);
  g_test_add_func ("/bid/a-long-commit-of-much-is-not-slow",
                   test_a_long_commit_of_much_is_not_slow);
  return g_test_run ();
}
