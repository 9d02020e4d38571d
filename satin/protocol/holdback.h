/* SPDX-License-Identifier: BSD-3-Clause */
/* Results that are held back until the keeper has their rows (plan buddy, paper 002). Then a
 * result survives the death of both its holder and its lender. The holder's row goes to its keeper
 * when the job ends, without a scan; RESULT follows when the keeper confirms it, so it comes one
 * round trip later. After HOLDBACK_MAX_US it goes all the same: a keeper that stands still stops no
 * run. If the keeper is the lender itself, nothing waits: the result is the copy. Driver's
 * thread. */
#pragma once

#include "held.h"

#define HOLDBACK_MAX_US G_USEC_PER_SEC

typedef struct
{
  GQueue results; /* of HoldbackResult, oldest first */
} Holdback;

void holdback_init (Node *node);
void holdback_done (Node *node);
/* A finished job that is lent from another node. TRUE: held_send_result is called for it later, if
 * its lender wants it then. */
gboolean holdback_takes (Node *node, HeldJob *held);
/* The keeper has all up to this mark. */
void holdback_confirmed (Node *node, guint64 mark);
/* After each step: when nobody can confirm anything, nothing waits any more. */
void holdback_settle (Node *node);
guint64 holdback_due (Node *node);
void holdback_tick (Node *node);
/* (nullable, transfer none): as node_not_kept says. */
const char *holdback_missing (Node *node, Node *keeper);
