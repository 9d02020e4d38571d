/* SPDX-License-Identifier: BSD-3-Clause */
/* How much work was done where, and how much of it would have to be done again if it were lost now.
 * Each node tells the others now and then. So each node can say what is at risk, and a lender how
 * much work was lost with a holder that left. The cost of a departure goes to the coordinator as a
 * row of the ledger, and into the statistics. Driver's thread. */
#pragma once

#include "../members/member.h"
#include "../members/roster.h"
#include "../messages/message.h"
#include "../node.h"

typedef struct Member Member;
typedef struct HeldJob HeldJob;

#define WORK_ALL_MAX 16 /* with more members only the master, and lenders, are told */
#define WORK_ITEM 3     /* numbers in a message for each loan: loan, risk_us, busy */
/* Results that come and rows that go change the work at risk at once. The others reckon with the
 * last report and the time that passed for each seat; they are told when the work at risk differs
 * from that by more than this time, and this share of all. So a loss is exact to that. */
#define WORK_MOVED_US (10 * 1000)
#define WORK_MOVED_SHARE 100
/* An increase is told at once, a decrease at the earliest this time for each member after the last
 * report, and if nothing differs the work done is told after a second. */
#define WORK_PAUSE_US (10 * 1000)
#define WORK_LONG_US G_USEC_PER_SEC
#define WORK_TAKEN_MAX 4096 /* of more results that were put to use only the sums are kept */

typedef struct
{
  WorkTold self;        /* the engine's figures, as the driver reported them */
  guint64 reported_us;  /* the work of all rows that went to the coordinator … */
  guint64 published_us; /* … and the published part of it */
  guint64 unsent_us;    /* work of rows that could not be sent, or went to an earlier
                           coordinator */
  WorkTold told;        /* the last report to others, from which they extrapolate … */
  guint64 told_all_us;  /* … and when it last went to all */
  guint64 moved_us;  /* change by results that came and rows that went since the engine's report */
  NodeId untold_by;  /* the last member that left with jobs of which it had not reported, … */
  guint64 untold_us; /* … and the work that it had done for them */
  GArray *departed;  /* of NodeDeparted: the work of members that left */
  GPtrArray *taken;  /* of NodeTaken: results of members that are gone which this node put to use */
  GArray *seen;      /* of NodeId: all members ever, as far as this node knows */
} Work;

void work_init (Node *node);
/* The driver tells what the engine did (NODE_EVENT_WORK). */
void work_on_event (Node *node, const NodeEvent *event);
/* A result has added this much work at risk, or rows have removed it. */
void work_moved (Node *node, guint64 risk_us);
void work_on_message (Node *node, const NodeId *from, const Message *message);
/* The session with this member has just begun. */
void work_greet (Node *node, const Member *member);
/* Work at risk in this node besides its engine's figure: if all nodes died, and if only this one
 * did. */
guint64 work_unpublished_us (Node *node);
guint64 work_alone_us (Node *node);
/* Work at risk now, from the last report and the time that passed for `seats` since. */
guint64 work_risk_us (const WorkTold *told, guint64 now_us, guint32 seats);

/* Rows for this much work are on their way; could not be sent; there is a new coordinator. */
void work_reported (Node *node, guint64 risk_us);
void work_not_sent (Node *node, guint64 risk_us);
void work_renew (Node *node);
void work_published (Node *node, guint64 reported_us);

/* A slot came back because its holder left: `told` by that holder. */
void work_lost (Node *node, const Member *holder, const char *path, const WorkTold *told);
/* … that got the job at `since_us` and died before a report; `untold`: the number of such jobs. */
void work_lost_early (Node *node, const Member *holder, const char *path, guint64 since_us,
                      guint untold);
/* A master left while main's root ran there; this node goes on. */
void work_lost_root (Node *node, const Member *member);
/* An orphan is dropped (the knob drops_orphans). */
void work_dropped (Node *node, const HeldJob *held);
void work_joined (Node *node, const NodeId *id);
void work_departed (Node *node, const Member *member);
/* A result of `author` is used in place of computing it again, or a kept state that stands for
 * `children`. It is recorded if `author` is gone. */
void work_taken (Node *node, const char *path, guint32 children, const NodeId *author,
                 guint64 work_us);
/* The same for a result of this node under a name that it lost. */
void work_regained (Node *node, const char *path, guint64 work_us);
void work_check (Node *node);
