/* SPDX-License-Identifier: BSD-3-Clause */
/* Which delta belongs to which base (coordinator/pair.c). Links coordinator, storage and value. */
#include "checkpoint.h"

#include "coordinator/inbox.h"
#include "coordinator/ledger.h"
#include "coordinator/pair.h"

#define BASE_BYTES (128 * 1024) /* the least that has a delta */

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
static void
put (Ledger *ledger, Row *row, gboolean is_large)
{
  Inbox *inbox = inbox_new ();
  Publication made;
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) large = g_bytes_new_take (g_malloc0 (2 * BASE_BYTES), 2 * BASE_BYTES);
  inbox_add_row (inbox, row);
  if (is_large)
    inbox_add_value (inbox->constants, "const/large", "ay", large);
  (void)(ledger_write (ledger, inbox, &error) && ledger_publish (ledger, FALSE, &made, &error));
  g_assert_no_error (error);
  inbox_free (inbox);
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

/* All that readers find, by their paths. */
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

/* Two runs of one program with the same arguments: each has its own results. */
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
  put (ledger, row_make ("/4", 4, 1, 0.1), FALSE);
  put (ledger, row_make ("/5", 5, 1, 0.1), FALSE);
  ledger_free (ledger);
  g_autoptr (GBytes) after = contents (delta);
  g_assert_true (g_bytes_equal (before, after));
  assert_paths (one->target, "/0 /4 /5 ");
}

/* A delta that a death left behind beside a newer base of its run says nothing new. */
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

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pair/a-delta-of-another-run-is-not-read",
                   test_a_delta_of_another_run_is_not_read);
  g_test_add_func ("/pair/an-old-delta-of-the-same-run-adds-what-it-has",
                   test_an_old_delta_of_the_same_run_adds_what_it_has);
  return g_test_run ();
}
