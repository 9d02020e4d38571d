/* SPDX-License-Identifier: BSD-3-Clause */
/* satin_abort: forgetting children, and leaving a loan in the middle. */
#pragma once

#include "../engine.h"

/* The claimer of a slot, or the owner of a private one: gives it a new state. FALSE: it was aborted
 * meanwhile; abort_answer has to follow. */
gboolean abort_change_state (SatinSlot_ *slot, guint32 state);
/* The claimer, who is out of an aborted slot of `victim`'s: says so. */
void abort_answer (Stack *victim, SatinSlot_ *slot);

/* Owner: this stack has to leave its newest loan, since that or one under it was aborted. */
gboolean abort_is_due (Stack *stack);
/* Owner: does so, if it is due, and does not return (run_to_mark of worker.c does); `others` are
 * asked for again then. A parked stack is asked again, since it needs a seat first. */
void abort_serve (Stack *stack, SatinSlot_ *self, SatinSlot_ *top, guint32 others);
/* With engine->lock held: a held job that runs is to stop. */
void abort_held (Engine *engine, Held *held);
/* Is the calling thread in an aborted job? */
gboolean abort_is_seen (void);
