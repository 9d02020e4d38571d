/* SPDX-License-Identifier: BSD-3-Clause */
/* A share of the results that other nodes return, of jobs lent to them or adopted from them, and of
 * the rows that this node offers to itself, is computed a second time here before it is used: a
 * *repeat*. If both results are the same, the result counts as if it had just come. Until then its
 * holder keeps it, so any event meanwhile is handled as for a result that is still on its way. If
 * they differ, a machine computes wrong or the job's result depends on more than its arguments (law
 * 1), and the driver ends the run. Which results are chosen depends on their paths, and on how much
 * of their work the holder has told in rows. Parts of a repeat are not computed twice again,
 * wherever they run: Loan.again goes with them. verify-own.h checks the results that this node
 * computed itself. Driver's thread. */
#pragma once

#include "held.h"
#include "loans.h"

typedef struct
{
  GPtrArray *repeats; /* of Repeat */
  GPtrArray *seconds; /* of HeldJob: those with `again` */
} Verify;

void verify_init (Node *node);
void verify_done (Node *node);
/* Sets whether this held job is, or is part of, a second computation for another node. */
void verify_second (Node *node, HeldJob *held, gboolean is_second);
/* Does the job belong to one that is repeated here, or is computed a second time for others? */
gboolean verify_is_second (Node *node, const char *path);
/* Is the result of the job there to be computed twice? Then its loan keeps a copy of the job. */
gboolean verify_chooses (Node *node, const char *path);
/* A result came. TRUE: it is repeated, and comes to loans_accept later. */
gboolean verify_takes (Node *node, LoanEntry *entry, const Arrival *arrival);
/* This repeat (LENDER_REPEAT) has its result; the caller drops it. */
void verify_on_done (Node *node, const HeldJob *held);
/* … for this loan was given back and dropped; `robbed` as in held_on_unrun. Where there is
 * no room, perhaps since all wait for this very result, it is used as it came. */
void verify_on_unrun (Node *node, guint64 loan, gboolean robbed);
/* What came from that node (NULL: from all) is used now, as it came: the node leaves, or a round of
 * saving begins, to which a result that came earlier belongs. */
void verify_end (Node *node, const NodeId *from);
/* The slot does not wait for this result any more. */
void verify_forget (Node *node, const LoanEntry *entry);
void verify_check (Node *node);
