/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that are held back until the keeper has answered.
 *
 * A result (plans buddy and theft, paper 002): the holder's row goes to its keeper when the job
 * ends, without a scan; RESULT follows when the keeper confirms it, so it comes one round trip
 * later. Then a result survives the death of both its holder and its lender.
 *
 * A theft (plan theft, paper 000): thief and victim have their keepers confirm all that was sent
 * so far before STEAL and before JOBS. That of the thief is empty, as its stack is; a job that is
 * taken needs no row: slot and holder have it. What the lender no longer awaits when JOBS goes is
 * left out.
 *
 * After NODE_HOLDBACK_US all goes all the same: a keeper that stands still stops no run. If the
 * keeper is the receiver itself, nothing waits: the message is the copy. Driver's thread. */
#pragma once

#include "held.h"

typedef struct
{
  GQueue waiting; /* of HoldbackItem, oldest first */
} Holdback;

void holdback_init (Node *node);
void holdback_done (Node *node);
/* A finished job that is lent from another node. TRUE: held_send_result is called for it later, if
 * its lender wants it then. */
gboolean holdback_takes (Node *node, HeldJob *held);
/* STEAL, JOBS, or NONE, which does not overtake JOBS to the same thief: now or later. `to` is a
 * member. */
void holdback_send (Node *node, const NodeId *from, const Message *message);
/* The keeper has all up to this mark. */
void holdback_confirmed (Node *node, guint64 mark);
/* After each step: when nobody can confirm anything, nothing waits any more. */
void holdback_settle (Node *node);
guint64 holdback_due (Node *node);
void holdback_tick (Node *node);
/* (nullable, transfer none): as node_not_kept says. */
const char *holdback_missing (Node *node, Node *keeper);
