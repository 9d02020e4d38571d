/* SPDX-License-Identifier: BSD-3-Clause */
/* What waits for the scribe: kept states, and that a disk that stands still costs no memory by
 * time. Links coordinator, storage and value. */
#include "checkpoint.h"

#include "coordinator/inbox.h"

static const Row *
keep_at (Inbox *inbox, const char *path)
{
  return g_hash_table_lookup (inbox->keeps, path);
}

static void
test_the_state_that_stands_for_more_stays (void)
{
  g_autoptr (Inbox) inbox = inbox_new ();
  inbox_add_row (inbox, row_make_kept ("/0", 4, 16));
  inbox_add_row (inbox, row_make_kept ("/0", 3, 9));
  inbox_add_row (inbox, row_make_kept ("/1", 3, 9));
  inbox_add_row (inbox, row_make_kept ("/1", 4, 16));

  g_assert_false (inbox_is_empty (inbox));
  g_assert_cmpuint (keep_at (inbox, "/0")->children, ==, 4);
  g_assert_cmpuint (keep_at (inbox, "/1")->children, ==, 4);
  g_assert_cmpuint (inbox->bytes, ==, 16);
}

static void
test_what_could_not_be_written_goes_under_what_came_since (void)
{
  g_autoptr (Inbox) inbox = inbox_new ();
  Inbox *older = inbox_new ();
  Row *other = row_make_kept ("/2", 1, 1);
  memset (&other->digest, 7, sizeof other->digest);
  inbox_add_row (older, row_make_kept ("/0", 4, 16));
  inbox_add_row (older, row_make_kept ("/1", 4, 16));
  inbox_add_row (older, row_make_kept ("/2", 4, 16));
  inbox_add_row (inbox, row_make_kept ("/1", 5, 25));
  inbox_add_row (inbox, other);

  inbox_put_back (inbox, older);

  g_assert_cmpuint (keep_at (inbox, "/0")->children, ==, 4);
  g_assert_cmpuint (keep_at (inbox, "/1")->children, ==, 5);
  g_assert_cmpuint (keep_at (inbox, "/2")->children, ==, 1);
  g_assert_cmpuint (inbox->bytes, ==, 24);
}

static void
test_phases_do_not_pile_up (void)
{
  g_autoptr (Inbox) inbox = inbox_new ();
  guint most = 0;
  for (guint32 i = 0; i < 50000; i++)
    {
      g_autofree char *child = g_strdup_printf ("/0/%u/1", i);
      inbox_add_row (inbox, row_make (child, i, 1, 0));
      inbox_add_row (inbox, row_make_kept ("/0", i + 1, i));
      most = MAX (most, g_hash_table_size (inbox->rows));
    }

  g_assert_cmpuint (most, <=, 5000);
  g_assert_cmpuint (g_hash_table_size (inbox->keeps), ==, 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/inbox/the-state-that-stands-for-more-stays",
                   test_the_state_that_stands_for_more_stays);
  g_test_add_func ("/inbox/what-could-not-be-written-goes-under-what-came-since",
                   test_what_could_not_be_written_goes_under_what_came_since);
  g_test_add_func ("/inbox/phases-do-not-pile-up", test_phases_do_not_pile_up);
  return g_test_run ();
}
