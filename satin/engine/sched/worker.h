/* SPDX-License-Identifier: BSD-3-Clause */
/* The thread of a stack: looks for work when it is empty, and runs what it finds. */
#pragma once

#include "../engine.h"

/* With engine->lock held: a new stack with its thread, counted in engine->stacks, without a seat
 * yet; `beyond` as in Stack. NULL: no memory or threads, and it is noted in
 * engine->seats.refused_us. */
Stack *worker_new (Engine *engine, gboolean beyond);
/* The same for a stack that is `gone`: a thread for it again. Waits for the end of the one that it
 * had. FALSE: none is to be had now. */
gboolean worker_again (Stack *stack);
/* Whether that wait would be over at once. engine->lock is held. */
gboolean worker_has_ended (Stack *stack);

/* The stack of the calling thread, NULL: not a thread of an engine. */
Stack *worker_here (void);

/* Runs a claimed slot of another stack on top of this one, from `top` on, and returns its result
 * there, unless another node holds it: then the slot waits for that. `below`: the job that waits
 * under it, NULL on an empty stack. */
void worker_run_stolen (Stack *stack, Stack *victim, SatinSlot_ *slot, SatinSlot_ *top,
                        SatinSlot_ *below);
/* The same for a held job, on an empty stack; the driver is told, quietly. */
void worker_run_held (Stack *stack, Held *held);
/* Claims a slot; its state is not changed yet. NULL: none now. A victim that runs a job and has
 * nothing public is asked for more, with back-off. */
SatinSlot_ *worker_claim (Stack *thief, Stack *victim);

/* Claims a slot that came back, of any stack; its state says STOLEN by `claimer` then. */
gboolean worker_claim_back (Engine *engine, guint32 claimer, Stack **victim, SatinSlot_ **slot);

/* Wakes the stack if it sleeps in a wait for this finished slot. NULL: in any wait, since something
 * came back or is asked of the stack. */
void worker_wake (Stack *stack, const SatinSlot_ *slot);
/* A claimed or lent slot of `stack` comes back: it is ready for whoever claims it first, or dropped
 * if it was aborted meanwhile. */
void worker_give_back (Stack *stack, SatinSlot_ *slot);

/* Writes the origin slot and a copy of the job in `slot` at `top`; returns the copy. */
SatinSlot_ *worker_place (SatinSlot_ *top, const Origin *origin, SatinSlot_ *slot);
/* A thread on the C stack of `stack`. FALSE: none is to be had. */
gboolean worker_begin_thread (Stack *stack, void *(*body) (void *stack));
/* First on that thread: it is the stack's from now on. */
void worker_begin_here (Stack *stack);

/* Ends this thread's work in the middle of everything: back to the thread's first function. */
void worker_leave (Stack *stack, SatinSlot_ *self, SatinSlot_ *top) G_GNUC_NORETURN;
/* Serves a halt: scans (`whole`: all rows are asked for), tells, serves later scans until the
 * engine ends, leaves. `self` NULL: the stack is empty. */
void worker_halt (Stack *stack, SatinSlot_ *self, SatinSlot_ *top, gboolean whole) G_GNUC_NORETURN;
