/* SPDX-License-Identifier: BSD-3-Clause */
/* A job that two nodes run: one for a lender, the other as an orphan, since the lender was out of
 * its reach for a while. The orphan yields: it stops. The nodes that hold its finished parts offer
 * them like rows of a checkpoint, and the nodes that run jobs lent by it offer those. So the two
 * sides of a split become one tree. Driver's thread. */
#pragma once

#include "held.h"
#include "loans.h"

typedef struct
{
  GArray *jobs;    /* of YieldJob */
  GPtrArray *rows; /* of Row: finished parts, offered when the job has stopped */
} Yield;

void yield_init (Node *node);
/* Another node runs a job that is here, too. If it runs here for a lender, asks the other node to
 * yield, unless that node is the lender, which has only lent it on. */
void yield_ask (Node *node, const NodeId *holder, const MessageHold *hold);
void yield_on_runs (Node *node, const NodeId *from, const Message *message);
/* Finished parts, from a scan or from elsewhere. */
void yield_on_rows (Node *node, GPtrArray *rows);
void yield_on_result (Node *node, const LoanEntry *entry, const Result *result);
/* The engine has served this scan and all before it. */
void yield_on_served (Node *node, guint64 scan);
/* The job has stopped, or ended before it stopped: offers the jobs and rows below it, if they are
 * still wanted. */
void yield_ended (Node *node, const HeldJob *held);
/* Adds the rows that wait for jobs to stop: this node leaves, and the jobs have halted instead. */
void yield_collect (Node *node, GPtrArray *rows);
/* TRUE: the result of this path is offered when a job has stopped. */
gboolean yield_has (Node *node, const char *path);
/* TRUE: the slot is of a job that yields and is forgotten: its holder is to offer its job. */
gboolean yield_keeps (Node *node, const LoanEntry *entry);
void yield_check (Node *node);
