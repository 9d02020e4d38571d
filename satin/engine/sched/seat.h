/* SPDX-License-Identifier: BSD-3-Clause */
/* Seats, the permits to run jobs (Go's P). Each stack has a thread, which runs while the stack has
 * a seat. A stack that waits is parked: it gives its seat away. When its wait is over it queues for
 * a seat, and gets one before stacks that look for new work. The caller holds engine->lock unless a
 * comment says otherwise. */
#pragma once

#include "../engine.h"

/* Gives free seats to stacks that can go on, then up to `thieves` to empty ones, which look for
 * work; makes a stack if there is none and the limit allows it. `idler_first`: the worker that
 * drives, which has just put a job into the inbox, takes it itself. */
void seat_dispatch (Engine *engine, guint thieves, gboolean idler_first);
/* The worker that is in config.idle returns. */
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
/* The stack that runs the stolen `slot` of `stack`. NULL: none, or it does not run. */
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

/* Jobs that no worker has begun go back to their lenders. */
void seat_return_inbox (Engine *engine);

/* Sets these flags of a stack, and wakes it if it sleeps in a wait. */
void seat_ask (Stack *stack, guint32 flags);
/* (no lock) The owner of `from` stores the result of a job that ended there in a slot of `to`
 * between these two calls. If `from` owes a scan or a halt, `to` owes it from now on, even if it
 * has served it already: else the result would be in the rows of neither. TRUE: the lock is held
 * until seat_end_return, which gets this as `locked`. */
gboolean seat_begin_return (Stack *from, Stack *to);
void seat_end_return (Stack *from, Stack *to, gboolean locked);
/* Before the stacks are asked for a scan or a halt: waits until results that are being stored are
 * in their slots. */
void seat_wait_for_returns (Engine *engine);
/* This stack has served all scans, or has no job. Does nothing if it was asked again meanwhile. */
void seat_scan_served (Stack *stack);
/* Raises ENGINE_SCANNED if all stacks have served more scans than the last such event said. A stack
 * that is asked again before another one has served delays only the later scans. */
void seat_count_scans (Engine *engine);
/* The stack is HALTED from now on. Raises ENGINE_HALTED if no stack owes a halt any more. */
void seat_halt_served (Stack *stack);
