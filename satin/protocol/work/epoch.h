/* SPDX-License-Identifier: BSD-3-Clause */
/* Epochs of two colours (the knob `epochs`, paper 003). No member scans by itself: the coordinator
 * begins a round of saving (round.h) at each interval, after the last one has ended. Such a round
 * is an epoch. The paper's START is SCAN, the local checkpoint of a member is its scan,
 * FIN_LOC_CKPT is SCANNED, and FINISH is PUBLISHED.
 *
 * Each member has a colour, the lowest bit of the epoch's number, and records from its local
 * checkpoint to the end of the epoch. JOBS, RESULT and a leaver's COPY carry both bits of their
 * sender. From these and its own two bits the receiver finds the class of the message in the
 * paper's table (its Fig. 1):
 * - orphan: sent after the sender's checkpoint, and the receiver has not taken its own. The
 *   receiver takes it now, before it hears the message, and does not wait for START.
 * - in transit: sent before the sender's checkpoint, and the receiver has taken its own. A result
 *   is put into its slot, which may have been scanned. So the ACK waits until the epoch ends: the
 *   holder keeps unacknowledged results, and has this one in its own checkpoint. Rows that a
 *   leaving member hands over go to the coordinator at once.
 * - normal: any other message. The combination that the table calls impossible occurs if a member
 *   has not heard of an epoch yet, or a coordinator has died. It counts as normal: rows are true
 *   whenever they are written.
 *
 * Members count the results that they send to and get from each other. SCANNED has the sums,
 * and is repeated when a result in transit has come. The epoch is published when all members
 * have scanned and no result is in transit. If nobody asked for it and the scribe finds that
 * publishing is not worth its cost yet, it ends without: its rows are in a later publication.
 * Driver's thread. */
#pragma once

#include "../members/member.h"
#include "../node.h"

typedef enum
{
  EPOCH_NORMAL,
  EPOCH_IN_TRANSIT,
  EPOCH_ORPHAN,
  EPOCH_IMPOSSIBLE
} EpochClass;

/* The two bits. */
#define EPOCH_RED 1u       /* else white */
#define EPOCH_RECORDING 2u /* its local checkpoint is taken, and the epoch is open */
#define EPOCH_STATES 4u

/* Whether this node records; each state may become each other. */
typedef enum
{
  EPOCH_CLOSED, /* it does not */
  EPOCH_OPEN,
  EPOCH_EARLY /* an orphan message has begun the epoch, and START is still to come */
} EpochPhase;

typedef struct
{
  guint64 number; /* of the last epoch that this node has heard of */
  EpochPhase phase;
  guint64 scan;   /* the local checkpoint … */
  guint64 served; /* … and the last scan that the engine has served */
  guint64 exit;   /* the epoch that was open when this node began to leave; 0: none */
  GArray *peers;  /* of EpochPeer: members with which results were exchanged */
  /* where the epoch is led */
  GArray *counts;       /* of EpochCount: since its START */
  guint64 begun, ended; /* as coordinator */
} Epoch;

/* The class of a message in the paper's table. Pure. */
EpochClass epoch_class (guint32 sender, guint32 receiver);

void epoch_init (Node *node);
/* The bits of this node; 0 where the plan has none. */
guint32 epoch_colours (const Node *node);
/* JOBS, RESULT or a leaver's COPY came with these bits. TRUE: it was in transit. */
gboolean epoch_hears (Node *node, guint32 colours);
/* A result goes to its lender; a result came from its holder. */
void epoch_sends_result (Node *node, const NodeId *lender);
void epoch_got_result (Node *node, const NodeId *holder, gboolean in_transit);
/* This result was in transit. TRUE: it is acknowledged when the epoch ends. */
gboolean epoch_withholds (Node *node, const NodeId *holder, guint64 loan);
/* START: the number of the scan that is the local checkpoint. */
guint64 epoch_open (Node *node, guint64 number);
/* TRUE: results are saved before they are dropped, since the engine may have been scanned
 * already. */
gboolean epoch_saves_first (const Node *node);
void epoch_on_served (Node *node, guint64 scan);
/* This node begins to leave. If it has taken its checkpoint in the open epoch, epoch_holds is TRUE
 * until the end of that epoch, and the node waits. */
void epoch_on_exit (Node *node);
gboolean epoch_holds (const Node *node);
/* Adds this member's counts to its SCANNED; `ids` and `numbers` are new. */
void epoch_say_counts (Node *node, Message *scanned, GArray *ids, GArray *numbers);
void epoch_on_counts (Node *node, const NodeId *member, const Message *scanned);
/* The coordinator says that this epoch is over. */
void epoch_on_over (Node *node, guint64 number);

/* The message that says that the last epoch is over. */
Message epoch_over (const Node *node);
/* Coordinator: begins an epoch; TRUE: results are in transit; ends the epoch. */
void epoch_begin (Node *node);
gboolean epoch_in_transit (Node *node);
void epoch_end (Node *node);
/* There is a new coordinator: an epoch that the last one had begun does not count. */
void epoch_renew (Node *node);

void epoch_departed (Node *node, const NodeId *id);
/* This node lost its name. */
void epoch_reset (Node *node);
void epoch_check (Node *node);
