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
  GPtrArray *seconds; /* of HeldJob: second computations for other nodes, or parts of them */
} Verify;

void verify_init (Node *node);
/* Whether this held job is, or is part of, a second computation for another node. */
gboolean verify_has (const Node *node, const HeldJob *held);
void verify_second (Node *node, HeldJob *held, gboolean is_second);
/* TRUE: the job is part of a repeat, or of a second computation for another node. */
gboolean verify_is_second (Node *node, const char *path);
/* TRUE: the result of the job at `path` is to be computed twice, so its loan keeps a copy of the
 * job. */
gboolean verify_chooses (Node *node, const char *path);
/* A result came. TRUE: the job is repeated, and the result goes to loans_accept later. */
gboolean verify_takes (Node *node, LoanEntry *entry, const Arrival *arrival);
/* This repeat (LENDER_REPEAT) has its result; the caller drops the repeat. */
void verify_on_done (Node *node, const HeldJob *held);
/* The repeat for this loan was given back and dropped; `robbed` as in held_on_unrun. If there is no
 * room, perhaps since all jobs wait for this very result, the result is used as it came. */
void verify_on_unrun (Node *node, guint64 loan, gboolean robbed);
/* Uses the results from that node (NULL: from all) now, as they came: the node leaves, or a round
 * of saving begins, to which earlier results belong. */
void verify_end (Node *node, const NodeId *from);
/* The slot no longer waits for this result. */
void verify_forget (Node *node, const LoanEntry *entry);
void verify_check (Node *node);
