/* SPDX-License-Identifier: BSD-3-Clause */
/* Which files' rows are used (coordinator/proof.c). Links coordinator, storage and value. */
#include "checkpoint.h"

#include "coordinator/inbox.h"
#include "coordinator/ledger.h"
#include "coordinator/merge.h"
#include "coordinator/pair.h"
#include "coordinator/proof.h"

#include "storage/rowsum.h"
#include "storage/tables.h"

#define BASE_BYTES (128 * 1024) /* the smallest base that may have a delta */

static void
be (const char *token)
{
  proof_set_rules (&(ProofRules){ .token = token });
}

static void
be_trusting (const char *token)
{
  proof_set_rules (&(ProofRules){ .token = token, .trusts = TRUE });
}

/* NULL with the reason if the file is refused. */
static Ledger *
begin (Place *place, const char *run, gboolean goes_on, GError **error)
{
  Identity identity = identity_make (run, "app", "8");
  LedgerConfig config = { .work_path = place->work,
                          .target = place->target,
                          .job_names = job_names,
                          .job_types = job_types,
                          .goes_on = goes_on,
                          .delta_from = BASE_BYTES,
                          .stems = place->stems };
  Ledger *ledger = ledger_new (&config, &identity, error);
  identity_clear (&identity);
  return ledger;
}

/* Takes `row`. */
static gboolean
put (Ledger *ledger, Row *row, gboolean is_large, GError **error)
{
  Inbox *inbox = inbox_new ();
  Publication made;
  g_autoptr (GBytes) large = g_bytes_new_take (g_malloc0 (2 * BASE_BYTES), 2 * BASE_BYTES);
  inbox_add_row (inbox, row);
  if (is_large)
    inbox_add_value (inbox->constants, "const/large", "ay", large);
  gboolean good
      = ledger_write (ledger, inbox, error) && ledger_publish (ledger, FALSE, &made, error);
  inbox_free (inbox);
  return good;
}

/* A base with the row /0 and a delta with the row /1. */
static void
make_pair (Place *place, const char *run)
{
  g_autoptr (GError) error = NULL;
  Ledger *ledger = begin (place, run, FALSE, &error);
  (void)(ledger != NULL && put (ledger, row_make ("/0", 1, 1, 0.1), TRUE, &error)
         && put (ledger, row_make ("/1", 2, 1, 0.1), FALSE, &error));
  g_assert_no_error (error);
  ledger_free (ledger);
}

/* Changes a file as a forger would who has no key but can make each checksum. */
static void
forge (const char *path, const char *text)
{
  Identity identity = identity_make ("", "app", "8");
  char hex[DIGEST_HEX_LENGTH + 1];
  g_autoptr (GError) error = NULL;
  digest_to_hex (&identity.identity, hex);
  g_autoptr (Sql) sql = sql_adopt (path, hex, &error);
  g_assert_no_error (error);
  g_assert_true (sql_run (sql, text, &error));
  identity_clear (&identity);
}

#define FORGED_ROW \
  "INSERT INTO result SELECT '/9', node, job, digest, value, work_s, saved, weight, json," \
  " args, began, took_ms," \
  " row_sum ('result', '/9', node, job, digest, value, work_s, saved, weight, json," \
  " args, began, took_ms) FROM result " \
  "LIMIT 1"

static SqlOrigin
assert_paths (const char *target, const char *expected, guint64 damaged)
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
  g_assert_cmpuint (file->audit->tables[INVENTORY_RESULT].damaged, ==, damaged);
  return file->origin;
}

static void
assert_refused (Place *place, const char *run)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) before = contents (place->target);
  g_assert_null (begin (place, run, FALSE, &error));
  g_assert_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_UNUSABLE);
  g_assert_nonnull (strstr (error->message, "--trust"));
  g_autoptr (GBytes) after = contents (place->target);
  g_assert_true (g_bytes_equal (before, after));
}

static void
test_rows_of_this_run_prove_themselves (void)
{
  g_autoptr (Place) place = place_new ();
  g_autoptr (GError) error = NULL;
  be ("me");
  make_pair (place, "run-1");

  g_assert_cmpint (assert_paths (place->target, "/0 /1 ", 0), ==, SQL_ORIGIN_OWN);
  Ledger *ledger = begin (place, "run-2", FALSE, &error);
  g_assert_no_error (error);
  g_assert_null (ledger_take_damage (ledger));
  g_assert_cmpuint (ledger_stats (ledger).rows, ==, 2);
  ledger_free (ledger);
}

#define LARGE_BYTES (5u * 1024 * 1024) /* the size of a file that is read ahead (ledger-ahead.c) \
                                        */

/* (transfer full): a row of the job "tour" that makes a file large. */
static Row *
large_row (const char *path)
{
  g_autoptr (GBytes) value = g_bytes_new_take (g_malloc0 (LARGE_BYTES), LARGE_BYTES);
  Digest digest = digest_of_string (path);
  return row_new (path, 1, &digest, 0.1, 1, value);
}

/* Rows that are added to a large file have proofs, too. */
static void
test_rows_beside_a_large_file_prove_themselves (void)
{
  g_autoptr (Place) place = place_new ();
  g_autoptr (GError) error = NULL;
  be ("me");
  for (guint i = 0; i < 3; i++)
    {
      Ledger *ledger = begin (place, "run-1", FALSE, &error);
      g_assert_no_error (error);
      g_autofree char *path = g_strdup_printf ("/%u", i);
      Row *row = i == 0 ? large_row (path) : row_make (path, 2, 1, 0.1);
      g_assert_true (put (ledger, row, FALSE, &error));
      ledger_free (ledger);
    }
  g_assert_cmpint (assert_paths (place->target, "/0 /1 /2 ", 0), ==, SQL_ORIGIN_OWN);
}

static void
test_a_forged_row_is_damage_in_base_and_delta (void)
{
  for (int in_delta = 0; in_delta < 2; in_delta++)
    {
      g_autoptr (Place) place = place_new ();
      g_autoptr (GError) error = NULL;
      be ("me");
      make_pair (place, "run-1");
      g_autofree char *delta = pair_delta_path (place->target);

      forge (in_delta ? delta : place->target, FORGED_ROW);
      g_assert_cmpint (assert_paths (place->target, "/0 /1 ", 1), ==, SQL_ORIGIN_OWN);
      Ledger *ledger = begin (place, "run-1", FALSE, &error);
      g_assert_no_error (error);
      g_autofree char *damage = ledger_take_damage (ledger);
      g_assert_nonnull (damage);
      g_assert_nonnull (strstr (damage, "1 of"));
      g_assert_cmpuint (ledger_stats (ledger).rows, ==, 2);
      ledger_free (ledger);
    }
}

static void
test_a_strangers_delta_beside_a_base_of_ours_is_not_read (void)
{
  g_autoptr (Place) mine = place_new (), theirs = place_new ();
  g_autofree char *delta = pair_delta_path (mine->target),
                  *other = pair_delta_path (theirs->target);
  be ("somebody");
  make_pair (theirs, "run-1");
  be ("me");
  make_pair (mine, "run-1");
  g_assert_cmpint (g_rename (other, delta), ==, 0);

  g_assert_cmpint (assert_paths (mine->target, "/0 ", 0), ==, SQL_ORIGIN_OWN);
}

static void
test_a_row_of_another_run_is_damage (void)
{
  g_autoptr (Place) one = place_new (), other = place_new ();
  be ("me");
  make_pair (one, "run-1");
  make_pair (other, "run-2");
  g_autofree char *delta = pair_delta_path (one->target);
  g_assert_cmpint (g_unlink (delta), ==, 0);
  g_autofree char *move = g_strdup_printf ("INSERT INTO run VALUES ('x', 1, 1); ATTACH '%s' AS b;"
                                           "DELETE FROM result;"
                                           "INSERT INTO result SELECT * FROM b.result",
                                           other->target);
  sqlite3 *db = NULL;
  g_assert_cmpint (sqlite3_open (one->target, &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (db, move, NULL, NULL, NULL), ==, SQLITE_OK);
  sqlite3_close (db);

  g_assert_cmpint (assert_paths (one->target, "", 1), ==, SQL_ORIGIN_OWN);
}

static void
test_a_strangers_file_is_used_by_trust_alone (void)
{
  g_autoptr (Place) place = place_new ();
  g_autoptr (GError) error = NULL;
  be ("somebody");
  make_pair (place, "run-1");

  be ("me");
  g_assert_cmpint (assert_paths (place->target, "/0 /1 ", 0), ==, SQL_ORIGIN_FOREIGN);
  assert_refused (place, "run-1");
  be_trusting ("me");
  Ledger *ledger = begin (place, "run-2", FALSE, &error);
  g_assert_no_error (error);
  g_autofree char *told = ledger_take_damage (ledger);
  g_assert_nonnull (strstr (told, "--trust"));
  ledger_free (ledger);
  ledger = begin (place, "run-2", TRUE, &error); /* takes over: the run was warned */
  g_assert_no_error (error);
  g_assert_null (ledger_take_damage (ledger));
  g_assert_true (put (ledger, row_make ("/2", 3, 1, 0.1), FALSE, &error));
  ledger_free (ledger);
  be ("me");
  g_assert_cmpint (assert_paths (place->target, "/0 /1 /2 ", 0), ==, SQL_ORIGIN_OWN);
}

/* The same of a large file, which is not taken over row by row if it is this user's. */
static void
test_rows_of_a_large_strangers_file_get_proofs (void)
{
  g_autoptr (Place) place = place_new ();
  g_autoptr (GError) error = NULL;
  for (guint life = 0; life < 2; life++)
    {
      life == 0 ? be ("somebody") : be_trusting ("me");
      Ledger *ledger = begin (place, "run-1", FALSE, &error);
      g_assert_no_error (error);
      g_assert_true (
          put (ledger, life == 0 ? large_row ("/0") : row_make ("/1", 2, 1, 0.1), FALSE, &error));
      ledger_free (ledger);
    }
  be ("me");
  g_assert_cmpint (assert_paths (place->target, "/0 /1 ", 0), ==, SQL_ORIGIN_OWN);
}

static void
test_to_take_the_proofs_away_makes_a_strangers_file (void)
{
  g_autoptr (Place) place = place_new ();
  be ("me");
  make_pair (place, "run-1");
  forge (place->target,
         "UPDATE run SET sum = row_sum ('run', key, value);"
         "UPDATE constant SET sum = row_sum ('constant', name, type, digest, value);"
         "UPDATE result SET sum = row_sum ('result', path, node, job, digest, value, work_s,"
         " saved, weight, json, args, began, took_ms)");
  g_autofree char *delta = pair_delta_path (place->target);
  g_assert_cmpint (g_unlink (delta), ==, 0);

  assert_refused (place, "run-1");
}

/* Another coordinator of the run takes over, or this one finds that somebody has put a file
 * there. */
static void
test_a_strangers_file_in_the_middle_of_a_run_is_left_alone (void)
{
  g_autoptr (Place) mine = place_new (), theirs = place_new ();
  g_autoptr (GError) error = NULL;
  be ("somebody");
  make_pair (theirs, "run-1");
  be ("me");
  Ledger *ledger = begin (mine, "run-1", FALSE, &error);
  g_assert_true (put (ledger, row_make ("/4", 1, 1, 0.1), FALSE, &error));
  g_assert_cmpint (g_rename (theirs->target, mine->target), ==, 0);
  g_autoptr (GBytes) before = contents (mine->target);

  g_assert_false (put (ledger, row_make ("/5", 2, 1, 0.1), FALSE, &error));
  g_assert_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_UNUSABLE);
  g_autoptr (GBytes) after = contents (mine->target);
  g_assert_true (g_bytes_equal (before, after));
  ledger_free (ledger);
}

/* Without a key only the run that works on a file can tell that the file is its own. */
static void
test_a_run_without_a_key_goes_on_with_its_own_file (void)
{
  g_autoptr (Place) place = place_new ();
  g_autoptr (GError) error = NULL;
  be (NULL);
  make_pair (place, "run-1");

  assert_refused (place, "run-1");
  Ledger *ledger = begin (place, "run-1", TRUE, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (ledger_stats (ledger).rows, ==, 2);
  ledger_free (ledger);
  g_assert_null (begin (place, "run-2", TRUE, &error));
}

/* In a split another coordinator of the run publishes there; or somebody puts the file of another
 * run there. */
static void
test_a_run_without_a_key_unites_with_its_own_file (void)
{
  static const char *const runs[] = { "run-1", "run-2" };
  for (gsize i = 0; i < G_N_ELEMENTS (runs); i++)
    {
      g_autoptr (Place) mine = place_new (), theirs = place_new ();
      g_autoptr (GError) error = NULL;
      be (NULL);
      make_pair (theirs, runs[i]);
      Ledger *ledger = begin (mine, "run-1", FALSE, &error);
      g_assert_no_error (error);
      g_assert_cmpint (g_rename (theirs->target, mine->target), ==, 0);
      g_assert_cmpint (put (ledger, row_make ("/5", 2, 1, 0.1), FALSE, &error), ==, i == 0);
      g_assert_cmpuint (ledger_stats (ledger).rows, ==, i == 0 ? 2 : 1);
      ledger_free (ledger);
    }
}

/* Damage destroyed both rows that name the run; a coordinator that works on the file knows the
 * run. */
static void
test_a_file_that_lost_its_run_is_known_to_that_run (void)
{
  g_autoptr (Place) place = place_new ();
  g_autoptr (GError) error = NULL;
  be ("me");
  make_pair (place, "run-1");
  g_autofree char *delta = pair_delta_path (place->target);
  g_assert_cmpint (g_unlink (delta), ==, 0);
  Ledger *ledger = begin (place, "run-1", FALSE, &error);
  forge (place->target,
         "DELETE FROM run WHERE key = 'id'; DELETE FROM constant WHERE name = 'run/id'");

  g_assert_true (put (ledger, row_make ("/2", 3, 1, 0.1), FALSE, &error));
  g_assert_no_error (error);
  ledger_free (ledger);
  g_assert_cmpint (assert_paths (place->target, "/0 /2 ", 0), ==, SQL_ORIGIN_OWN);
}

static gboolean
bears_mark (const Identity *found)
{
  return g_strcmp0 (found->program, "/usr/bin/prog") == 0;
}

static void
test_an_old_mark_is_asked_for_where_no_row_is_proved (void)
{
  g_autoptr (Place) place = place_new ();
  g_autoptr (GError) error = NULL;
  be (NULL);
  make_pair (place, "run-1");

  proof_set_rules (&(ProofRules){ .token = "me", .bears_old_mark = bears_mark });
  Ledger *ledger = begin (place, "run-1", FALSE, &error);
  g_assert_no_error (error);
  g_autofree char *told = ledger_take_damage (ledger);
  g_assert_nonnull (strstr (told, "older Satin"));
  g_assert_true (put (ledger, row_make ("/2", 3, 1, 0.1), FALSE, &error));
  ledger_free (ledger);
  g_assert_cmpint (assert_paths (place->target, "/0 /1 /2 ", 0), ==, SQL_ORIGIN_OWN);
}

static void
test_trust_writes_base_and_delta_anew (void)
{
  g_autoptr (Place) place = place_new ();
  g_autoptr (GError) error = NULL;
  g_auto (MergeTotals) totals = { 0 };
  be ("somebody");
  make_pair (place, "run-1");

  be_trusting ("me");
  g_assert_true (merge_trust (place->target, &totals, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (totals.united, ==, 2);
  g_autofree char *delta = pair_delta_path (place->target);
  g_assert_false (g_file_test (delta, G_FILE_TEST_EXISTS));
  be ("me");
  g_assert_cmpint (assert_paths (place->target, "/0 /1 ", 0), ==, SQL_ORIGIN_OWN);
  assert_answer (place->target, "SELECT kind FROM event WHERE kind IN ('merged', 'trusted')",
                 "trusted");
}

/* Both files of a merge must be this user's, or trusted. What comes of them is this user's, and the
 * warning names the file that was not. */
static void
test_a_merge_asks_whose_both_files_are (void)
{
  for (guint theirs = 0; theirs < 3; theirs++) /* 2: neither */
    {
      g_autoptr (Place) a = place_new (), b = place_new ();
      Place *places[] = { a, b };
      const char *const files[] = { a->target, b->target };
      g_autofree char *out = g_build_filename (a->folder, "work-out.ckpt", NULL);
      g_auto (MergeTotals) refused = { 0 }, totals = { 0 };
      g_autoptr (GError) error = NULL;

      for (guint i = 0; i < 2; i++)
        {
          be (theirs == i ? "somebody" : "me");
          make_pair (places[i], "run-1");
          g_autofree char *delta = pair_delta_path (places[i]->target);
          g_assert_cmpint (g_unlink (delta), ==, 0);
        }
      be ("me");
      if (theirs < 2)
        {
          g_assert_false (merge_files (out, files, &refused, &error));
          g_assert_nonnull (strstr (error->message, "--trust"));
          g_assert_nonnull (strstr (error->message, files[theirs]));
          g_assert_false (g_file_test (out, G_FILE_TEST_EXISTS));
          g_clear_error (&error);
          be_trusting ("me");
        }
      g_assert_true (merge_files (out, files, &totals, &error));
      g_assert_no_error (error);
      for (guint i = 0; i < 2; i++)
        g_assert_cmpint (totals.warning[i] != NULL, ==, theirs == i);
      be ("me");
      g_assert_cmpint (assert_paths (out, "/0 ", 0), ==, SQL_ORIGIN_OWN);
      assert_answer (out, "SELECT kind FROM event WHERE kind IN ('merged', 'trusted')", "merged");
    }
}

/* What the key of a file is made of, lost: the arguments, the run's id. */
static const char *const lost[]
    = { "DELETE FROM run WHERE key = 'argv'; DELETE FROM constant WHERE name = 'run/argv'",
        "DELETE FROM run WHERE key = 'id'; DELETE FROM constant WHERE name = 'run/id'" };

/* A file cannot become this user's if it has lost what its key is made of. */
static void
test_trust_needs_run_and_arguments (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (lost); i++)
    {
      g_autoptr (Place) place = place_new ();
      g_autoptr (GError) error = NULL;
      g_auto (MergeTotals) totals = { 0 };
      be ("somebody");
      make_pair (place, "run-1");
      g_autofree char *delta = pair_delta_path (place->target);
      g_assert_cmpint (g_unlink (delta), ==, 0);
      forge (place->target, lost[i]);
      g_autoptr (GBytes) before = contents (place->target);

      be_trusting ("me");
      g_assert_false (merge_trust (place->target, &totals, &error));
      g_assert_error (error, COORDINATOR_ERROR, COORDINATOR_ERROR_UNUSABLE);
      g_autoptr (GBytes) after = contents (place->target);
      g_assert_true (g_bytes_equal (before, after));
    }
}

/* The token of a program, as programs compute it from these arguments. */
static char *
token_of (char *const *argv)
{
  g_assert_nonnull (argv);
  return g_strdup ("me");
}

/* A base that has lost its arguments is recognised by those of its delta; the owner of both is the
 * same. */
static void
test_a_delta_knows_what_its_base_has_lost (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (lost); i++)
    {
      g_autoptr (Place) place = place_new ();
      g_autoptr (GError) error = NULL;
      g_auto (Pair) pair = { 0 };
      proof_set_rules (&(ProofRules){ .token_of = token_of });
      make_pair (place, "run-1");
      forge (place->target, lost[i]);
      g_assert_true (pair_open (&pair, place->target, NULL, 0, &error));
      g_assert_no_error (error);
      g_assert_cmpint (pair.base->origin, ==, SQL_ORIGIN_OWN);
      g_assert_true (pair.delta == NULL || pair.delta->origin == SQL_ORIGIN_OWN);
      g_assert_cmpint (pair.delta != NULL, ==,
                       i == 0); /* the run's id decides which delta belongs to it */
    }
}

/* The owner of a file, the message about it, and whether it is used. */
static void
test_what_is_used_and_said (void)
{
  for (guint trusts = 0; trusts < 2; trusts++)
    for (SqlOrigin origin = SQL_ORIGIN_OWN; origin <= SQL_ORIGIN_FOREIGN; origin++)
      {
        g_autoptr (GError) error = NULL;
        proof_set_rules (&(ProofRules){ .token = "me", .trusts = trusts });
        g_autofree char *warning = proof_warning (origin, "k.db");
        g_assert_cmpint (proof_allows (origin, "k.db", &error), ==,
                         origin != SQL_ORIGIN_FOREIGN || trusts);
        g_assert_cmpint (error != NULL, ==, origin == SQL_ORIGIN_FOREIGN && !trusts);
        g_assert_cmpint (warning != NULL, ==,
                         origin == SQL_ORIGIN_OLD || (origin == SQL_ORIGIN_FOREIGN && trusts));
        g_assert_true (warning == NULL || strstr (warning, "k.db") != NULL);
      }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, test) g_test_add_func ("/proof/" name, test)
  ADD ("rows-of-this-run-prove-themselves", test_rows_of_this_run_prove_themselves);
  ADD ("rows-beside-a-large-file-prove-themselves", test_rows_beside_a_large_file_prove_themselves);
  ADD ("a-forged-row-is-damage-in-base-and-delta", test_a_forged_row_is_damage_in_base_and_delta);
  ADD ("a-strangers-delta-beside-a-base-of-ours-is-not-read",
       test_a_strangers_delta_beside_a_base_of_ours_is_not_read);
  ADD ("a-row-of-another-run-is-damage", test_a_row_of_another_run_is_damage);
  ADD ("a-strangers-file-is-used-by-trust-alone", test_a_strangers_file_is_used_by_trust_alone);
  ADD ("rows-of-a-large-strangers-file-get-proofs", test_rows_of_a_large_strangers_file_get_proofs);
  ADD ("to-take-the-proofs-away-makes-a-strangers-file",
       test_to_take_the_proofs_away_makes_a_strangers_file);
  ADD ("a-strangers-file-in-the-middle-of-a-run-is-left-alone",
       test_a_strangers_file_in_the_middle_of_a_run_is_left_alone);
  ADD ("a-run-without-a-key-goes-on-with-its-own-file",
       test_a_run_without_a_key_goes_on_with_its_own_file);
  ADD ("a-run-without-a-key-unites-with-its-own-file",
       test_a_run_without_a_key_unites_with_its_own_file);
  ADD ("a-file-that-lost-its-run-is-known-to-that-run",
       test_a_file_that_lost_its_run_is_known_to_that_run);
  ADD ("an-old-mark-is-asked-for-where-no-row-is-proved",
       test_an_old_mark_is_asked_for_where_no_row_is_proved);
  ADD ("trust-writes-base-and-delta-anew", test_trust_writes_base_and_delta_anew);
  ADD ("a-delta-knows-what-its-base-has-lost", test_a_delta_knows_what_its_base_has_lost);
  ADD ("what-is-used-and-said", test_what_is_used_and_said);
  ADD ("a-merge-asks-whose-both-files-are", test_a_merge_asks_whose_both_files_are);
  ADD ("trust-needs-run-and-arguments", test_trust_needs_run_and_arguments);
  return g_test_run ();
}
