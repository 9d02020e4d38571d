/* SPDX-License-Identifier: BSD-3-Clause */
/* Elects the node that writes the checkpoint. Pure: bids in, winner out; a small archive of its own
 * (libelection) that the protocol may use. The master is coordinator first, then the candidate
 * whose write took the shortest time. */
#pragma once

#include "node-id.h"

/* Terms are ordered; two are never equal, because a term contains the id of the node that opened
 * it. */
typedef struct
{
  guint32 number;
  NodeId opener;
} Term;

int term_compare (const Term *a, const Term *b);

typedef struct
{
  NodeId node;
  guint64 commit_us;   /* time that a commit of realistic size took at the place */
  gboolean same_place; /* the generation that it found there proves so */
} Bid;

/* So many members are asked at once: they share the bandwidth to the place. */
#define ELECTION_BIDS_MAX 8u

/* Two commits on one disk can differ by so much. */
#define ELECTION_TIE_FACTOR 2
#define ELECTION_TIE_US 20000

/* The winner among `n` bids: the shortest that proves the same place, then the eldest. A tie goes
 * to `favourite` (the holder of the lease, else the master), so that the lease does not move in
 * vain: its bid wins unless another one is more than twice and 20 ms shorter. FALSE: no node can
 * write there. */
gboolean election_winner (const Bid *bids, gsize n, const NodeId *favourite, NodeId *winner);
/* Ask for a new election? After three commits in a row above three times the winner's bid (T1-5).
 */
typedef struct
{
  guint64 bid_us;
  guint slow_in_row;
} ElectionWatch;
gboolean election_watch_commit (ElectionWatch *watch, guint64 commit_us);
