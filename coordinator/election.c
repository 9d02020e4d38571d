/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of terms, the winner of an election, and the watch over slow commits. Pure, without
 * state; any thread. Knows nothing of nodes, links, files and clocks. */
#include "election.h"

/* T1-5 of the paper's claims: so many commits in a row, each longer than the bid by this factor,
 * ask for a new election. */
#define SLOW_COMMITS_MAX 3
#define SLOW_FACTOR 3

int
term_compare (const Term *a, const Term *b)
{
  if (a->number != b->number)
    return a->number < b->number ? -1 : 1;
  return node_id_compare (&a->opener, &b->opener);
}

/* TRUE: bid `a` goes before bid `b`. */
static gboolean
bid_is_better (const Bid *a, const Bid *b)
{
  if (a->commit_us != b->commit_us)
    return a->commit_us < b->commit_us;
  return node_id_compare (&a->node, &b->node) < 0;
}

static gboolean
is_tie (guint64 best_us, guint64 favourite_us)
{
  return favourite_us <= ELECTION_TIE_US
         || (favourite_us - ELECTION_TIE_US) / ELECTION_TIE_FACTOR <= best_us;
}

/* §3.2 of the paper: "the processor whose write took the shortest time is elected". */
gboolean
election_winner (const Bid *bids, gsize n, const NodeId *favourite, NodeId *winner)
{
  g_assert (bids != NULL || n == 0);
  g_assert (favourite != NULL && winner != NULL);

  const Bid *best = NULL, *favoured = NULL;
  for (gsize i = 0; i < n; i++)
    {
      if (!bids[i].same_place)
        continue;
      if (best == NULL || bid_is_better (&bids[i], best))
        best = &bids[i];
      if (node_id_equal (&bids[i].node, favourite))
        favoured = &bids[i];
    }
  if (best == NULL)
    return FALSE;
  if (favoured != NULL && is_tie (best->commit_us, favoured->commit_us))
    best = favoured;
  *winner = best->node;
  return TRUE;
}

/* A bid of 0 is no measure: a lone master does not bid. The count starts again after TRUE, so that
 * a slow place causes one request in three commits. */
gboolean
election_watch_commit (ElectionWatch *watch, guint64 commit_us)
{
  g_assert (watch != NULL);

  gboolean is_slow = watch->bid_us > 0 && commit_us / SLOW_FACTOR >= watch->bid_us
                     && commit_us > watch->bid_us * SLOW_FACTOR;
  if (!is_slow)
    {
      watch->slow_in_row = 0;
      return FALSE;
    }
  if (++watch->slow_in_row < SLOW_COMMITS_MAX)
    return FALSE;
  watch->slow_in_row = 0;
  return TRUE;
}
