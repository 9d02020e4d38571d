/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared bytes in the checkpoint: they stay as long as a row speaks of them, and come with each
 * such row. And the last batch of a run, which sweeps them and does not wait for the disk. Links
 * coordinator, storage and value. */
#include "checkpoint.h"

#include "coordinator/ledger-private.h"
#include "coordinator/scribe-private.h"

#include "record.h"
#include "satin.h"
#include "shared.h"

SATIN_RECORD (Names, (SatinShared, one), (SatinShared, other))

#define COUNT "SELECT count(*) FROM constant WHERE name LIKE 'share/%'"

/* Shared bytes whose content depends on `salt`. */
static SatinShared
share (int salt, gsize size)
{
  guint8 *data = g_malloc (size);
  for (gsize i = 0; i < size; i++)
    data[i] = (guint8)(i * 31 + (gsize)(i % 2 == 0 ? salt : salt >> 8));
  g_autoptr (GBytes) bytes = g_bytes_new_take (data, size);
  return shared_add (shared_store_here (), bytes);
}

static const SatinType type_shared
    = { "SatinShared", sizeof (SatinShared), SATIN_KIND_SHARED, 0, NULL };

/* A kept state that refers to these bytes. Takes the share. */
static Row *
kept_row (const char *path, guint32 children, SatinShared shared)
{
  g_autofree char *what = g_strconcat ("kept at ", path, NULL);
  Digest digest = digest_of_string (what);
  g_autoptr (GBytes) value = record_encode (&type_shared, &shared);
  Row *row = row_new_kept (path, children, 0, &digest, 0, SATIN_SHARED_SIGNATURE, value);
  row->shares = shared_list_new ();
  g_ptr_array_add (row->shares, shared);
  return row;
}

/* The same with two shares, which it takes. */
static Row *
kept_pair (const char *path, SatinShared one, SatinShared other)
{
  const Names names = { one, other };
  g_autofree char *what = g_strconcat ("kept at ", path, NULL);
  g_autofree char *type = record_signature (&satin_type_Names);
  Digest digest = digest_of_string (what);
  g_autoptr (GBytes) value = record_encode (&satin_type_Names, &names);
  Row *row = row_new_kept (path, 2, 0, &digest, 0, type, value);
  row->shares = shared_list_new ();
  g_ptr_array_add (row->shares, one);
  g_ptr_array_add (row->shares, other);
  return row;
}

/* Drops all references to shared bytes in this process, and all bytes. */
static void
forget_all (Place *place)
{
  g_ptr_array_set_size (place->rows, 0);
  shared_store_set_memory (shared_store_here (), 0);
  shared_store_set_memory (shared_store_here (), SHARED_MEMORY_DEFAULT);
}

static void
load (Place *place)
{
  Scribe *scribe = start (place, HOUR_US, "run-1");
  guint before = place->n_restored_final;
  scribe_load (scribe, NULL);
  place_wait (place, &place->n_restored_final, before + 1);
  scribe_free (scribe);
}

static void
test_comes_back (void)
{
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = start (place, HOUR_US, "run-1");
  save_one (scribe, kept_row ("/0", 3, share (1, 100000)));
  save_one (scribe, kept_row ("/1", 2, share (1, 100000)));
  save_one (scribe, kept_row ("/2", 2, share (2, 10)));
  finish (place, scribe);
  scribe_free (scribe);
  assert_answer (place->target, COUNT, "2");
  forget_all (place);

  load (place);
  g_assert_cmpuint (place->rows->len, ==, 3);
  for (guint i = 0; i < 3; i++)
    {
      const Row *row = place->rows->pdata[i];
      g_assert_cmpuint (row->shares->len, ==, 1);
      g_autoptr (GBytes) bytes = shared_bytes (row->shares->pdata[0]);
      g_assert_nonnull (bytes);
      g_assert_cmpuint (g_bytes_get_size (bytes), ==, strcmp (row->path, "/2") == 0 ? 10 : 100000);
    }
  forget_all (place);
}

/* All shared bytes of a row are written with it; a row with missing bytes is not written. */
static void
test_all_or_none (void)
{
  static const Digest unknown = { { 7 } };
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = start (place, HOUR_US, "run-1");
  save_one (scribe, kept_pair ("/0", share (1, 1000), share (2, 2000)));
  save_one (scribe,
            kept_pair ("/1", shared_enter (shared_store_here (), &unknown, 5), share (3, 10)));
  finish (place, scribe);
  scribe_free (scribe);
  assert_answer (place->target, "SELECT group_concat(path) FROM keep", "/0");
  assert_answer (place->target, COUNT, "2");
  forget_all (place);

  load (place);
  g_assert_cmpuint (place->rows->len, ==, 1);
  const Row *row = place->rows->pdata[0];
  g_assert_cmpuint (row->shares->len, ==, 2);
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GBytes) bytes = shared_bytes (row->shares->pdata[i]);
      g_assert_nonnull (bytes);
      g_assert_cmpuint (g_bytes_get_size (bytes), ==, i == 0 ? 1000 : 2000);
    }
  forget_all (place);
}

/* A reference says how many bytes it is to. A program that believes it must not get fewer, so a row
 * whose reference says another number is left out. */
static void
test_lengths_agree (void)
{
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = start (place, HOUR_US, "run-1");
  Row *wrong = kept_row ("/1", 2, share (2, 1000));
  gsize size;
  g_autofree guint8 *value = g_bytes_unref_to_data (g_steal_pointer (&wrong->value), &size);
  g_autoptr (GArray) found = NULL;
  value[sizeof (Digest)]++; /* the length follows the digest */
  wrong->value = g_bytes_new (value, size);
  found = record_find_shared (SATIN_SHARED_SIGNATURE, wrong->value);
  g_assert_cmpuint (g_array_index (found, RecordShared, 0).length, ==, 1001);
  save_one (scribe, kept_row ("/0", 2, share (1, 1000)));
  save_one (scribe, wrong);
  finish (place, scribe);
  scribe_free (scribe);
  assert_answer (place->target, COUNT, "2");
  forget_all (place);

  load (place);
  g_assert_cmpuint (place->rows->len, ==, 1);
  g_assert_cmpstr (((const Row *)place->rows->pdata[0])->path, ==, "/0");
  forget_all (place);
}

/* Publishes what was saved. If a sweep was slow, the next does not wait for long. */
static void
finish_and_sweep (Place *place, Scribe *scribe)
{
  finish (place, scribe);
  scribe->ledger->sweep_us = 0;
}

/* A later state of the same job replaces the first, and bytes to which only the first referred are
 * removed; bytes of other rows stay. */
static void
test_goes (void)
{
  g_autoptr (Place) place = place_new ();
  Scribe *scribe = start (place, HOUR_US, "run-1");
  save_one (scribe, kept_row ("/0", 1, share (1, 1000)));
  save_one (scribe, kept_row ("/1", 1, share (2, 1000)));
  finish_and_sweep (place, scribe);
  assert_answer (place->target, COUNT, "2");
  save_one (scribe, kept_row ("/0", 2, share (2, 1000)));
  finish_and_sweep (place, scribe);
  assert_answer (place->target, COUNT, "1");
  save_one (scribe, row_make ("/0", 7, 10, 0.5));
  finish_and_sweep (place, scribe);
  assert_answer (place->target, COUNT, "1");
  save_one (scribe, row_make ("", 7, 10, 1));
  finish_and_sweep (place, scribe);
  assert_answer (place->target, COUNT, "0");
  scribe_free (scribe);
  forget_all (place);
}

/* Writes `row`, which it takes, and the end of the run if `is_end`; returns the number of shares
 * that are left. */
static gint64
write_one (Ledger *ledger, Row *row, gboolean is_end)
{
  Inbox *inbox = inbox_new ();
  g_autoptr (GBytes) answer = g_bytes_new_static ("7\n", 2);
  g_autoptr (GError) error = NULL;
  gboolean has_row;
  inbox_add_row (inbox, row);
  if (is_end)
    inbox_answer (inbox, answer, 0);
  g_assert_true (ledger_write (ledger, inbox, &error));
  g_assert_no_error (error);
  inbox_free (inbox);
  sqlite3_stmt *statement = sql_ready (ledger->sql, COUNT, NULL);
  g_assert_true (sql_next (ledger->sql, statement, &has_row, NULL) && has_row);
  gint64 n = sqlite3_column_int64 (statement, 0);
  sqlite3_reset (statement);
  return n;
}

/* A ledger without a target. */
static Ledger *
begin (Place *place)
{
  g_autoptr (GError) error = NULL;
  Identity identity = identity_make ("run-1", "app", "8");
  LedgerConfig config = { .work_path = place->work,
                          .target = "",
                          .job_names = job_names,
                          .job_types = job_types,
                          .stems = place->stems };
  Ledger *ledger = ledger_new (&config, &identity, &error);
  g_assert_no_error (error);
  identity_clear (&identity);
  return ledger;
}

/* A batch counts only if the disk has it, so that errors are met before. After the last batch of a
 * run, which is published at once, nobody reads the work file. */
static void
test_only_the_last_batch_does_not_wait (void)
{
  g_autoptr (Place) place = place_new ();
  g_autoptr (GBytes) answer = g_bytes_new_static ("7\n", 2);
  Ledger *ledger = begin (place);
  for (guint i = 0; i < 5; i++)
    {
      Inbox *inbox = inbox_new ();
      gboolean is_last = i == 3;
      if (i == 2)
        inbox_answer (inbox, answer, 0); /* the nodes may have more rows */
      if (is_last)
        inbox->present = g_array_new (FALSE, FALSE, sizeof (NodeId));
      g_assert_true (i == 0 || ledger_write (ledger, inbox, NULL));
      inbox_free (inbox);
      sqlite3_stmt *statement = sql_ready (ledger->sql, "PRAGMA synchronous", NULL);
      gboolean has_row;
      g_assert_true (sql_next (ledger->sql, statement, &has_row, NULL) && has_row);
      g_assert_cmpint (sqlite3_column_int (statement, 0), ==, is_last ? 0 : 1);
      sqlite3_reset (statement);
    }
  ledger_free (ledger);
}

/* Many rows make a sweep slow, and a rest follows before the next; the sweep at the end does not
 * wait for that. */
static void
test_end_does_not_rest (void)
{
  g_autoptr (Place) place = place_new ();
  Ledger *ledger = begin (place);
  g_assert_cmpint (write_one (ledger, kept_row ("/0", 1, share (1, 1000)), FALSE), ==, 1);
  ledger->sweep_us = G_MAXINT64; /* as after a slow sweep */
  g_assert_cmpint (write_one (ledger, row_make ("/0", 7, 10, 0.5), FALSE), ==, 1);
  g_assert_cmpint (write_one (ledger, row_make ("", 7, 10, 1), TRUE), ==, 0);
  ledger_free (ledger);
  forget_all (place);
}

/* Rows whose shared bytes are missing are not offered, and are complete again once they are saved
 * again. */
static void
test_lost (void)
{
  g_autoptr (Place) place = place_new ();
  sqlite3 *db = NULL;
  Scribe *scribe = start (place, HOUR_US, "run-1");
  save_one (scribe, kept_row ("/0", 1, share (1, 1000)));
  save_one (scribe, kept_row ("/1", 1, share (2, 1000)));
  finish (place, scribe);
  scribe_free (scribe);
  forget_all (place);
  SatinShared first = share (1, 1000);
  char hex[DIGEST_HEX_LENGTH + 1];
  digest_to_hex (shared_digest (first), hex);
  shared_unref (first);
  forget_all (place);
  g_assert_cmpint (sqlite3_open (place->target, &db), ==, SQLITE_OK);
  g_autofree char *text = g_strdup_printf ("DELETE FROM constant WHERE name = 'share/%s'", hex);
  g_assert_cmpint (sqlite3_exec (db, text, NULL, NULL, NULL), ==, SQLITE_OK);
  sqlite3_close (db);

  load (place);
  g_assert_cmpuint (place->rows->len, ==, 1);
  g_assert_cmpstr (((const Row *)place->rows->pdata[0])->path, ==, "/1");
  forget_all (place);
  scribe = start (place, HOUR_US, "run-1");
  save_one (scribe, kept_row ("/0", 1, share (1, 1000)));
  finish (place, scribe);
  scribe_free (scribe);
  forget_all (place);
  load (place);
  g_assert_cmpuint (place->rows->len, ==, 2);
  forget_all (place);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ledger-shares/comes-back", test_comes_back);
  g_test_add_func ("/ledger-shares/all-or-none", test_all_or_none);
  g_test_add_func ("/ledger-shares/lengths-agree", test_lengths_agree);
  g_test_add_func ("/ledger-shares/goes", test_goes);
  g_test_add_func ("/ledger-shares/end-does-not-rest", test_end_does_not_rest);
  g_test_add_func ("/ledger-shares/only-the-last-batch-does-not-wait",
                   test_only_the_last_batch_does_not_wait);
  g_test_add_func ("/ledger-shares/lost", test_lost);
  return g_test_run ();
}
