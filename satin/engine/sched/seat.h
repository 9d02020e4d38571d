/* SPDX-License-Identifier: BSD-3-Clause */
/* Seats: the right to run. A stack is a thread; it runs when it has a seat. A stack that waits
 * gives its seat away (parked); when what it waits for has come it wants one again, and gets it
 * before anybody looks for new work. All calls but seat_poke are made with engine->lock held. */
#pragma once

#include "../engine.h"

/* Gives free seats to stacks that can go on, then up to `thieves` to empty ones, which look for
 * work; makes a stack if there is none and the limit allows it. `idler_first`: the worker that
 * drives, which has just put a job into the inbox, takes it itself. */
void seat_dispatch (Engine *engine, guint thieves, gboolean idler_first);
/* Whoever is in config.idle comes back. */
void seat_rouse (Engine *engine);
/* The stack, which has a seat and no job, sleeps until it has a seat again. FALSE: the engine ends
 * or halts, or the stack's thread is to end. */
gboolean seat_sleep (Stack *stack);
/* The stack gives its seat away and is parked. */
void seat_leave (Stack *stack);
/* A parked stack queues for a seat (seat_want). While seat_is_wanted it sleeps on its condition,
 * then it calls seat_return. TRUE: it has its seat; FALSE: the engine ends or halts. */
void seat_want (Stack *stack);
gboolean seat_is_wanted (const Stack *stack);
gboolean seat_return (Stack *stack);
/* (lock held) The stack that runs the stolen `slot` of `stack`. NULL: none, or it does not run. */
Stack *seat_thief_of (Stack *stack, SatinSlot_ *slot);
/* A seat is free and no stack is left, or may be made, to take it. */
gboolean seat_is_idle_for_good (Engine *engine);
/* Sleeps on the stack's condition. TRUE: the time is over and nobody woke it. */
gboolean seat_timed_wait (Stack *stack, glong ns);
/* (no lock) There is new public work: wakes a thief if a seat is free, and tells the driver if it
 * is owed. */
void seat_poke (Engine *engine);

/* (no lock) engine_free was called. */
gboolean seat_engine_ends (Engine *engine);

/* (no lock) The stack begins to work at, or stops working at, its jobs. */
void seat_begin_work (Stack *stack);
void seat_end_work (Stack *stack);

/* (lock held) What nobody has started goes back to its lender. */
void seat_return_inbox (Engine *engine);

/* (lock held) Asks a stack for this and sees that it looks, if it sleeps in a wait. */
void seat_ask (Stack *stack, guint32 flags);
/* Around the moment at which `from`, its owner, stores the result of a job that has ended there in
 * a slot of `to`. If the one owes a scan or a halt, the other does from now on, once more if it has
 * served: else what lay here when that was asked for would be in the rows of neither. Returns
 * TRUE, to be handed to seat_end_return: the lock is held until then. */
gboolean seat_begin_return (Stack *from, Stack *to);
void seat_end_return (Stack *from, Stack *to, gboolean locked);
/* (lock held) The stacks are about to be asked for a scan or a halt: what is being stored just now
 * is in its slot before. */
void seat_wait_for_returns (Engine *engine);
/* (lock held) This stack has served all scans, or has nothing to serve; not if it was asked once
 * more meanwhile. */
void seat_scan_served (Stack *stack);
/* (lock held) Raises ENGINE_SCANNED if all stacks have served more scans than was said. A stack
 * that is asked again and again while another computes for long holds up none but the last ones. */
void seat_count_scans (Engine *engine);
/* (lock held) The stack is HALTED from now on. Raises ENGINE_HALTED if no other one owes it. */
void seat_halt_served (Stack *stack);
