/* SPDX-License-Identifier: BSD-3-Clause */
/* Suspicious jobs, whose holders died without a report (poison.h), when they come back. They do not
 * go to the engine, which might run them here, but to a node that is neither master nor coordinator
 * and is idle; that node takes no other job until it has finished. A job that waits long for such a
 * node goes to a busy one. If there is no such node at all, or that node gives the job back, the
 * job goes to the engine as usual, so that the run goes on. Driver's thread. */
#pragma once

#include "loans.h"

#define QUARANTINE_TRY_US (1 * G_USEC_PER_SEC)       /* between two looks for a place */
#define QUARANTINE_PATIENCE_US (60 * G_USEC_PER_SEC) /* … until a busy node will do */

typedef struct
{
  GPtrArray *jobs; /* of QuarantineJob: slots of the engine that wait for a place */
  guint64 at_us;   /* of the next look */
} Quarantine;

void quarantine_init (Node *node);
/* A slot comes back. TRUE: its job is suspicious, and waits here now; the caller drops the
 * entry. */
gboolean quarantine_takes (Node *node, LoanEntry *entry);
/* The engine no longer awaits the slot. */
void quarantine_aborted (Node *node, guint64 loan);
guint64 quarantine_due (Node *node);
void quarantine_tick (Node *node);
void quarantine_check (Node *node);
