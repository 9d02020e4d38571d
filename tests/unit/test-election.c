/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of coordinator/election.c; links libelection and value only. */
#include "coordinator/election.h"

static const NodeId eldest = { 1, 1, 7 }, second = { 1, 2, 3 }, third = { 2, 1, 9 };

static void
test_terms_are_ordered_by_number_then_by_opener (void)
{
  Term early = { 1, { 9, 9, 9 } }, late = { 2, { 1, 1, 1 } }, rival = { 2, { 1, 1, 2 } };

  g_assert_cmpint (term_compare (&early, &late), <, 0);
  g_assert_cmpint (term_compare (&late, &early), >, 0);
  g_assert_cmpint (term_compare (&late, &rival), <, 0);
  g_assert_cmpint (term_compare (&late, &late), ==, 0);
}

static void
test_the_shortest_bid_wins (void)
{
  Bid bids[] = { { eldest, 900000, TRUE }, { second, 200000, TRUE }, { third, 400000, TRUE } };
  NodeId winner = NODE_ID_NONE;

  g_assert_true (election_winner (bids, G_N_ELEMENTS (bids), &eldest, &winner));
  g_assert_true (node_id_equal (&winner, &second));
}

static void
test_a_bid_at_another_place_does_not_count (void)
{
  Bid bids[] = { { second, 1, FALSE }, { third, 400, TRUE } };
  NodeId winner = NODE_ID_NONE;

  g_assert_true (election_winner (bids, G_N_ELEMENTS (bids), &eldest, &winner));
  g_assert_true (node_id_equal (&winner, &third));
}

static void
test_a_tie_goes_to_the_favourite_then_to_the_eldest (void)
{
  Bid bids[] = { { third, 5, TRUE }, { eldest, 5, TRUE }, { second, 5, TRUE } };
  NodeId winner = NODE_ID_NONE;

  g_assert_true (election_winner (bids, 3, &second, &winner));
  g_assert_true (node_id_equal (&winner, &second));
  g_assert_true (election_winner (bids, 2, &second, &winner));
  g_assert_true (node_id_equal (&winner, &eldest));
}

/* Random delays of a disk do not move the lease; a place that is far away does. */
static void
test_the_favourite_stays_unless_another_is_clearly_faster (void)
{
  Bid bids[] = { { eldest, 100, TRUE }, { second, 20000, TRUE } };
  NodeId winner = NODE_ID_NONE;

  g_assert_true (election_winner (bids, 2, &second, &winner));
  g_assert_true (node_id_equal (&winner, &second));
  bids[1].commit_us = 20202; /* just above twice the shortest plus 20 ms */
  g_assert_true (election_winner (bids, 2, &second, &winner));
  g_assert_true (node_id_equal (&winner, &eldest));
  bids[0].commit_us = 400000;
  bids[1].commit_us = 821000;
  g_assert_true (election_winner (bids, 2, &second, &winner));
  g_assert_true (node_id_equal (&winner, &eldest));
  bids[1].commit_us = 819999;
  g_assert_true (election_winner (bids, 2, &second, &winner));
  g_assert_true (node_id_equal (&winner, &second));
  bids[1].same_place = FALSE;
  g_assert_true (election_winner (bids, 2, &second, &winner));
  g_assert_true (node_id_equal (&winner, &eldest));
}

static void
test_without_a_bid_nobody_is_elected (void)
{
  Bid elsewhere = { second, 5, FALSE };
  NodeId winner = third;

  g_assert_false (election_winner (NULL, 0, &eldest, &winner));
  g_assert_false (election_winner (&elsewhere, 1, &eldest, &winner));
  g_assert_true (node_id_equal (&winner, &third));
}

static void
test_three_slow_commits_in_a_row_ask_for_a_new_election (void)
{
  ElectionWatch watch = { .bid_us = 100 };

  g_assert_false (election_watch_commit (&watch, 301));
  g_assert_false (election_watch_commit (&watch, 301));
  g_assert_false (election_watch_commit (&watch, 300));
  g_assert_false (election_watch_commit (&watch, 301));
  g_assert_false (election_watch_commit (&watch, G_MAXUINT64));
  g_assert_true (election_watch_commit (&watch, 301));
  g_assert_false (election_watch_commit (&watch, 301));
}

static void
test_a_winner_without_a_bid_is_never_slow (void)
{
  ElectionWatch lone = { 0 }, huge = { .bid_us = G_MAXUINT64 };

  for (int i = 0; i < 5; i++)
    {
      g_assert_false (election_watch_commit (&lone, G_MAXUINT64));
      g_assert_false (election_watch_commit (&huge, G_MAXUINT64));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/election/terms-are-ordered-by-number-then-by-opener",
                   test_terms_are_ordered_by_number_then_by_opener);
  g_test_add_func ("/election/the-shortest-bid-wins", test_the_shortest_bid_wins);
  g_test_add_func ("/election/a-bid-at-another-place-does-not-count",
                   test_a_bid_at_another_place_does_not_count);
  g_test_add_func ("/election/a-tie-goes-to-the-favourite-then-to-the-eldest",
                   test_a_tie_goes_to_the_favourite_then_to_the_eldest);
  g_test_add_func ("/election/the-favourite-stays-unless-another-is-clearly-faster",
                   test_the_favourite_stays_unless_another_is_clearly_faster);
  g_test_add_func ("/election/without-a-bid-nobody-is-elected",
                   test_without_a_bid_nobody_is_elected);
  g_test_add_func ("/election/three-slow-commits-in-a-row-ask-for-a-new-election",
                   test_three_slow_commits_in_a_row_ask_for_a_new_election);
  g_test_add_func ("/election/a-winner-without-a-bid-is-never-slow",
                   test_a_winner_without_a_bid_is_never_slow);
  return g_test_run ();
}
