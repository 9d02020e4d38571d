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

/*  state   the candidate                                           may become
 *  WAITS   is to be asked                                          ASKED, HEARD
 *  ASKED   may still bid                                           HEARD, SILENT
 *  HEARD   has bid, or is known to be unable
 *  SILENT  has not said so itself that it cannot: it may be able
 * An election is open as long as a candidate waits or is asked. */
typedef enum
{
  CANDIDATE_WAITS,
  CANDIDATE_ASKED,
  CANDIDATE_HEARD,
  CANDIDATE_SILENT
} CandidateState;

typedef struct
{
  Bid bid;
  CandidateState state;
  guint64 asked_us, found; /* the generation that it found at the place */
  char *trouble;           /* why it cannot bid; NULL: it can, or has not answered */
} Candidate;

typedef struct
{
  /* at the master */
  guint64 election, proof;
  GPtrArray *candidates;    /* of Candidate: of the election that is open, or of the last one, if
                               the lease is vacant */
  guint64 at_us;            /* the time of the next election; CORE_NEVER: none */
  guint64 ended_us, vacant_us;
  guint failures;
  char *refusal; /* why the last coordinator could not take over */
  /* at a bidder */
  guint64 bid_at_us; /* since when it bids; 0: it does not */
  NodeId asker;      /* the master that leads the election … */
  guint64 asked;
  guint64 found; /* the generation that its last bid found; 0: it has not bid */
  ElectionWatch watch;
} Elect;

void elect_init (Node *node);

/* This node is master and has just granted itself the lease; it is no longer master. */
void elect_promoted (Node *node);
void elect_deposed (Node *node);
/* The master's roster has changed: members came or left. */
void elect_roster_changed (Node *node, gboolean joined);
/* The first publication stands at the checkpoint's place, by which bidders recognise it. */
void elect_place_known (Node *node);
/* The coordinator: a publication, and how long its commit took; 0: it has failed. */
void elect_watch (Node *node, guint64 commit_us);
/* The coordinator wants an election; `resigns`: it cannot hold its lease. */
void elect_ask (Node *node, gboolean resigns, const char *why);

/* The session with this member has begun: it gets the TRIAL that was due before. */
void elect_greet (Node *node, const NodeId *to);
void elect_on_bid_event (Node *node, const NodeEvent *event);
void elect_on_trial (Node *node, const NodeId *from, const Message *message);
void elect_on_bid (Node *node, const NodeId *from, const Message *message);

/* This node's own bid is under way, and has not taken so long that it will hardly succeed. */
gboolean elect_may_bid (Node *node);

/* Some member did not answer in the last election, or not yet in this one, so it may be able to
 * write. */
gboolean elect_missed_some (Node *node);

guint64 elect_due (Node *node);
void elect_tick (Node *node);
void elect_check (Node *node);
