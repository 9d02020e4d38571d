/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that wait until the keeper has answered.
 *
 * A result (plans buddy and theft, paper 002): when the job ends, the holder sends the row to its
 * keeper, without a scan. RESULT follows when the keeper confirms the row, one round trip later.
 * Then the result survives the death of both its holder and its lender.
 *
 * A theft (plan theft, paper 000): before STEAL the thief, and before JOBS the victim, has its
 * keeper confirm everything that was sent so far. The thief has nothing to save, since its stack is
 * empty. A job that is taken needs no row: slot and holder have it. JOBS leaves out jobs that the
 * lender no longer awaits when it is sent.
 *
 * After NODE_HOLDBACK_US the message goes without the confirmation, so a keeper that stands still
 * stops no run. If the keeper is the receiver itself, the message does not wait: it is the copy.
 * Driver's thread. */
#pragma once

#include "held.h"

typedef struct
{
  GQueue waiting; /* of HoldbackItem, oldest first */
} Holdback;

void holdback_init (Node *node);
/* A finished job that another node lent. TRUE: held_send_result is called for it later, if its
 * lender still wants it. */
gboolean holdback_takes (Node *node, HeldJob *held);
/* Sends STEAL or JOBS, now or later; a refusal does not overtake jobs for the same thief. `to` is a
 * member. */
void holdback_send (Node *node, const NodeId *from, const Message *message);
/* The keeper has all rows up to this mark. */
void holdback_confirmed (Node *node, guint64 mark);
/* After each step: if no keeper can confirm, sends all waiting messages. */
void holdback_settle (Node *node);
guint64 holdback_due (Node *node);
void holdback_tick (Node *node);
void holdback_check (Node *node);
/* (nullable, transfer none): as node_not_kept says. */
const char *holdback_missing (Node *node, Node *keeper);
