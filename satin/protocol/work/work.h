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
/* Results that come and rows that go change what is at risk at once. The others hear of it when it
 * was so much, and such a share of all, since they were told: a loss is exact to that. */
#define WORK_MOVED_US (10 * 1000)
#define WORK_MOVED_SHARE 100
/* With more than WORK_ALL_MAX members they are told each so often for each member, or when more is
 * at risk than they reckon: what was told, and a clock that ran on for each seat. That there is
 * less can wait. */
#define WORK_PAUSE_US 2000
#define WORK_TAKEN_MAX 4096 /* of more results that were put to use only the sums are kept */

typedef struct
{
  WorkTold self;                  /* the engine's, as the driver told it */
  guint64 reported_us;            /* rows that went to the coordinator stand for so much … */
  guint64 published_us;           /* … and so much of it is published */
  guint64 unsent_us;              /* rows that could not go, or went to another coordinator */
  WorkTold told;                  /* what was told last, and so is reckoned with … */
  guint64 told_all_us;            /* … and when it was to all */
  guint64 moved_us;  /* by results that came and rows that went since the engine told */
  NodeId untold_by;  /* this member left last with jobs of which it had not told, … */
  guint64 untold_us; /* … and had done so much for them */
  GArray *departed;  /* of NodeDeparted: what members that left had done */
  GPtrArray *taken;  /* of NodeTaken: what of members that are gone was put to use from here */
  GArray *seen;      /* of NodeId: everybody who ever was a member, as far as is known here */
} Work;

void work_init (Node *node);
void work_done (Node *node);
/* The driver tells what the engine did (NODE_EVENT_WORK). */
void work_on_event (Node *node, const NodeEvent *event);
/* A result has brought so much that is at risk, or rows took it away. */
void work_moved (Node *node, guint64 risk_us);
void work_on_message (Node *node, const NodeId *from, const Message *message);
/* The session with this member has just begun. */
void work_greet (Node *node, const Member *member);
/* At risk in this node, besides what its engine says: if all nodes died, and if only this one
 * did. */
guint64 work_unpublished_us (Node *node);
guint64 work_alone_us (Node *node);
/* At risk now, going by what was told and a clock that ran on for `seats` since. */
guint64 work_risk_us (const WorkTold *told, guint64 now_us, guint32 seats);

/* Rows for so much work are on their way; went to nobody; the coordinator is another. */
void work_reported (Node *node, guint64 risk_us);
void work_not_sent (Node *node, guint64 risk_us);
void work_renew (Node *node);
void work_published (Node *node, guint64 reported_us);

/* A slot came back because its holder left: `told` by that holder. */
void work_lost (Node *node, const Member *holder, const char *path, const WorkTold *told);
/* … that got the job at `since_us` and had no time to tell, of this and as many in all. */
void work_lost_early (Node *node, const Member *holder, const char *path, guint64 since_us,
                      guint untold);
/* A master left while main's root ran there; this node goes on. */
void work_lost_root (Node *node, const Member *member);
/* An orphan is dropped (the knob drops_orphans). */
void work_dropped (Node *node, const HeldJob *held);
void work_joined (Node *node, const NodeId *id);
void work_departed (Node *node, const Member *member);
/* Is this row of an earlier life of the run? */
gboolean work_is_earlier (Node *node, const NodeId *computed_by);
/* What `author` computed is put to use in place of computing it again: a result, or a kept state
 * that stands for `children`. It is noted if `author` is gone. */
void work_taken (Node *node, const char *path, guint32 children, const NodeId *author,
                 guint64 work_us);
/* The same of a result of this node under a name that it lost. */
void work_regained (Node *node, const char *path, guint64 work_us);
