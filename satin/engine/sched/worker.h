/* SPDX-License-Identifier: BSD-3-Clause */
/* The thread of a stack. It looks for work while the stack is empty, and runs what it finds. */
#pragma once

#include "../engine.h"

/* With engine->lock held: makes a stack, starts its thread and counts the stack in
 * engine->n_stacks. The caller gives it a seat. `beyond`: see StackSeat. NULL: the system has no
 * memory or thread; the time of that is in engine->seats.refused_us. */
Stack *worker_new (Engine *engine, gboolean beyond);
/* With engine->lock held: waits for the end of the old thread of a stack that is `gone`, and starts
 * a new one. FALSE: the system has no thread now. */
gboolean worker_again (Stack *stack);
/* With engine->lock held. TRUE: that old thread has ended, so worker_again need not wait. */
gboolean worker_has_ended (Stack *stack);

/* The stack of the calling thread. NULL: the thread belongs to no engine. */
Stack *worker_here (void);

/* Runs the job in `slot` of `victim`, which this stack has claimed, from `top` on, and stores its
 * result in the slot. If another node holds the job, the slot waits for that node instead. `below`:
 * the job that waits under it; NULL: the stack is empty. */
void worker_run_stolen (Stack *stack, Stack *victim, SatinSlot_ *slot, SatinSlot_ *top,
                        SatinSlot_ *below);
/* Runs a held job on an empty stack, and raises ENGINE_DONE or ENGINE_UNRUN quietly. */
void worker_run_held (Stack *stack, Held *held);
/* Claims the oldest ready public slot of `victim`; its state is still READY. NULL: none now. If the
 * victim runs a job and has no such slot, it is asked to make jobs public, with pauses that
 * grow. */
SatinSlot_ *worker_claim (Stack *thief, Stack *victim);

/* Claims a slot of any stack whose job came back unrun. Its state is STOLEN by `claimer` then.
 * FALSE: there is none. */
gboolean worker_claim_back (Engine *engine, guint32 claimer, Stack **victim, SatinSlot_ **slot);

/* Wakes the stack if it sleeps in a wait for `slot`, whose new state the caller has stored. `slot`
 * NULL: wakes it from any wait, since a job came back or the stack was asked for something. */
void worker_wake (Stack *stack, const SatinSlot_ *slot);
/* The job in a claimed or lent slot of `stack` comes back unrun, and any stack or the driver may
 * claim it. If it was aborted meanwhile, the slot is dropped. */
void worker_give_back (Stack *stack, SatinSlot_ *slot);

/* Writes the origin slot and a copy of the job in `slot` at `top`; returns the copy. */
SatinSlot_ *worker_place (SatinSlot_ *top, const Origin *origin, SatinSlot_ *slot);
/* Starts a thread on the C stack of `stack`. FALSE: the system has none. */
gboolean worker_begin_thread (Stack *stack, void *(*body) (void *stack));
/* The first call on that thread, which belongs to the stack from now on. */
void worker_begin_here (Stack *stack);

/* Leaves all jobs of this stack at once: jumps to the thread's first function, which ends. */
void worker_leave (Stack *stack, SatinSlot_ *self, SatinSlot_ *top) G_GNUC_NORETURN;
/* Serves a halt: scans the stack (`whole`: all rows), notes that it has halted, serves later scans
 * until the engine ends, then leaves. `self` NULL: nothing can be scanned. */
void worker_halt (Stack *stack, SatinSlot_ *self, SatinSlot_ *top, gboolean whole) G_GNUC_NORETURN;
