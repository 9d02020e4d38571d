/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of results at the keepers of their lenders (the knob `mirrors`, paper 004).
 *
 * The paper sends each object to its receiver and to the receiver's backup. Here the objects are
 * JOBS and RESULT. A job is not sent twice: its lender's slot is the copy that the split keeps in
 * section 6 of the paper, and the job runs again from there. A result goes to its lender and, as
 * a COPY for that lender, to the lender's keeper (buddy.h). No message waits for that copy. So a
 * result in a slot survives its lender's death at any moment, not only after the next scan.
 *
 * Two rules:
 * 1. A holder drops a result when its lender has acknowledged it and the lender's keeper has the
 *    copy. So two nodes have a result at any time. If the keeper dies or changes before, its
 *    successor gets the copy.
 * 2. A lender's scan trims: once the rows of a scan stand at the keeper, a COPY names the last
 * result of each holder that this scan, or one before it, has seen in a slot. A holder numbers its
 *    results for one lender in the order in which it sends them. The numbers go with RESULT and
 *    with COPY, so a copy that arrives after that is dropped, too.
 *
 * A keeper offers its copies when their lender dies. It also offers them when their holder dies,
 * since the holder's RESULT may be lost. Copies that are offered twice are one row (archive.h).
 *
 * Known limit: a node that is not a lender's keeper by its own roster confirms a copy and drops it.
 * Then, as in the other plans, the lender's next scan protects the result. Driver's thread. */
#pragma once

#include "archive.h"
#include "buddy.h"
#include "held.h"

typedef struct
{
  GPtrArray *copies; /* keeper: of MirrorCopy, in the order in which they came */
  GArray *trimmed;   /* keeper: of MirrorTrim: only a newer copy is kept */
  GArray *peers;     /* of MirrorPeer: each member with which results were exchanged, once */
  GQueue puts;       /* lender: of MirrorPut: results that the keeper may have no row of yet */
  guint64 rosters;   /* number of the roster for which the lenders' keepers were looked up */
  gsize bytes;       /* that `copies` take up */
} Mirror;

void mirror_init (Node *node);
/* Sends the copy, before RESULT goes to the lender (LENDER_NODE). Returns the result's number, 0 if
 * the plan sends no copies. */
guint64 mirror_send (Node *node, HeldJob *held);
/* The same for a row of the archive, which stays there. */
guint64 mirror_send_row (Node *node, const NodeId *lender, guint64 loan, const char *path,
                         const ArchiveRow *row);
/* The lender has acknowledged the result. TRUE: the keeper has not confirmed the copy, so the held
 * job is dropped when it does. */
gboolean mirror_retains (Node *node, HeldJob *held);
/* TRUE: this node's keeper may have a copy of the last results that this dead holder sent here, and
 * is not the member in `pair`; then sets `pair`. */
gboolean mirror_may_have (Node *node, const Member *holder, BuddyPair *pair);
/* A result came, and is in its slot or is not wanted; `number` as in RESULT. */
void mirror_on_result (Node *node, const NodeId *holder, guint64 number);
/* All rows up to this scan have gone to the keeper. */
void mirror_on_served (Node *node, guint64 scan);
/* This node has another keeper. */
void mirror_keeper_changed (Node *node);
void mirror_on_copy (Node *node, const NodeId *from, const Message *message);
/* The keeper has all that was sent to it up to this mark. */
void mirror_on_copied (Node *node, const NodeId *from, guint64 mark);
/* A lender's rows here stand for all results of this holder up to this one. */
void mirror_trim (Node *node, const NodeId *ward, const NodeId *holder, guint64 number);
/* Bytes of memory that the copies here take up. */
gsize mirror_kept_bytes (Node *node);
/* This node is no longer the keeper of that member. */
void mirror_forget (Node *node, const NodeId *ward);
/* A member leaves the roster. Called before buddy_departed answers the nodes that wait for its
 * rows. */
void mirror_departed (Node *node, const NodeId *id);
/* The keepers of lenders may have changed. */
void mirror_lookup (Node *node);
/* After each step. */
void mirror_settle (Node *node);
/* This node lost its name. */
void mirror_reset (Node *node);
void mirror_check (Node *node);
/* For tests: TRUE: this node has a copy of this result for that lender; when its oldest copy came,
 * 0: it has none. */
gboolean mirror_has (Node *node, const NodeId *ward, const char *path);
guint64 mirror_oldest_us (Node *node);
