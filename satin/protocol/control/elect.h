/* SPDX-License-Identifier: BSD-3-Clause */
/* Elections of the coordinator, led by the master: when the lease is vacant, some time after nodes
 * have joined, and when the holder of the lease has become slow or fails. The master asks all
 * members, a few at a time. A bid is the time of a real commit at the checkpoint's place. It names
 * the generation that the bidder found there, which proves that it is the same place: everything
 * that was acknowledged stands in it. During an election only saving waits. Driver's thread. */
#pragma once

#include "../members/member.h"
#include "../node.h"

#define ELECT_PATIENCE_US (10 * G_USEC_PER_SEC)  /* with one bidder */
#define ELECT_LAST_US (60 * G_USEC_PER_SEC)      /* … with the own bid, when main is finished */
#define ELECT_SETTLE_US (2 * G_USEC_PER_SEC)     /* after a node joined */
#define ELECT_PAUSE_US (60 * G_USEC_PER_SEC)     /* between elections while the lease is held */
#define ELECT_RETRY_US (2 * G_USEC_PER_SEC)      /* while nobody can write there; doubles … */
#define ELECT_RETRY_MAX_US (60 * G_USEC_PER_SEC) /* … up to this */
#define ELECT_START_US (5 * G_USEC_PER_SEC)      /* a run that nobody can save by then ends */
#define ELECT_FAIR_US (50 * 1000)                /* no bid is held to less than this */

typedef enum
{
  CANDIDATE_WAITS,
  CANDIDATE_ASKED,
  CANDIDATE_HEARD
} CandidateState;

typedef struct
{
  Bid bid;
  CandidateState state;
  guint64 asked_us, found; /* the generation that stands at its place */
  char *trouble;           /* why it cannot bid; NULL: it can, or has not said */
  gboolean silent;         /* … which it has not said itself: it may be able to */
} Candidate;

typedef struct
{
  /* at the master */
  gboolean open; /* one is on */
  guint64 election, proof;
  GPtrArray *candidates;    /* of Candidate; of the last one, when none is open */
  guint64 at_us;            /* the next one; CORE_NEVER: none is foreseen */
  gboolean waits_for_place; /* it is due, but nothing stands there by which the place is known */
  guint64 ended_us, vacant_us;
  guint failures;
  char *refusal; /* why the last one could not take over */
  /* at a bidder */
  gboolean bidding;
  guint64 bid_at_us; /* since then */
  NodeId asker;      /* of the election … */
  guint64 asked;
  guint64 found; /* the generation that its own last bid found; 0: it has not bid */
  ElectionWatch watch;
} Elect;

void elect_init (Node *node);
void elect_done (Node *node);

/* This node is master and has just given itself the lease; it is master no more. */
void elect_promoted (Node *node);
void elect_deposed (Node *node);
/* The master's roster has changed: members came or left. */
void elect_roster_changed (Node *node, gboolean joined);
/* Something stands at the checkpoint's place now. */
void elect_place_known (Node *node);
/* The coordinator: a publication, and how long its commit took; 0: it has failed. */
void elect_watch (Node *node, guint64 commit_us);
/* The coordinator wants an election; `resigns`: it cannot hold its lease. */
void elect_ask (Node *node, gboolean resigns, const char *why);

/* The session with this member has begun: it was asked when there was none. */
void elect_greet (Node *node, const NodeId *to);
void elect_on_bid_event (Node *node, const NodeEvent *event);
void elect_on_trial (Node *node, const NodeId *from, const Message *message);
void elect_on_bid (Node *node, const NodeId *from, const Message *message);
void elect_on_elect (Node *node, const NodeId *from, const Message *message);

/* This node's own bid is under way, and not for so long that nothing is to be hoped of it. */
gboolean elect_may_bid (Node *node);

/* Some member was not heard in the last election, or not yet in this one, so nobody knows that it
 * cannot write. */
gboolean elect_missed_some (Node *node);

guint64 elect_due (Node *node);
void elect_tick (Node *node);
