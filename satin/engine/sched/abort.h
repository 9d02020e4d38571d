/* SPDX-License-Identifier: BSD-3-Clause */
/* satin_abort: drops children, and makes stacks leave the loans that this aborts. */
#pragma once

#include "../engine.h"

/* For the claimer of a slot, or the owner of a private one: gives the slot a new state. FALSE: it
 * was aborted meanwhile, and the caller calls abort_answer. */
gboolean abort_change_state (SatinSlot_ *slot, guint32 state);
/* For the claimer, which has left an aborted slot of `victim`: drops the slot and wakes the
 * victim. */
void abort_answer (Stack *victim, SatinSlot_ *slot);

/* Owner. TRUE: this stack has to leave its newest loan, since that loan or one under it was
 * aborted. */
gboolean abort_is_due (Stack *stack);
/* Owner: if abort_is_due, leaves the newest loan and does not return (run_to_mark of worker-run.c
 * does). Sets the flags in `others` again before, so that they are served later. A parked stack
 * needs a seat first, so it only gets its flag again. */
void abort_serve (Stack *stack, SatinSlot_ *self, SatinSlot_ *top, guint32 others);
/* With engine->lock held: aborts a held job that runs, and asks all stacks to look. */
void abort_held (Engine *engine, Held *held);
/* TRUE: the calling thread runs an aborted job. */
gboolean abort_is_seen (void);
