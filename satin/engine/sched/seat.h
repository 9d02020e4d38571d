/* SPDX-License-Identifier: BSD-3-Clause */
/* Seats, the permits to run jobs (Go's P). Each stack has a thread, which runs while the stack has
 * a seat. A stack that waits is parked: it gives its seat away. When its wait is over it queues for
 * a seat, and gets one before stacks that look for new work. The caller holds engine->lock unless a
 * comment says otherwise. */
#pragma once

#include "../engine.h"

/* Gives free seats to stacks that can go on, then up to `thieves` seats to empty stacks, which look
 * for work. Makes a stack if none sleeps and the limit allows it. `idler_first`: the worker in
 * config.idle has put a job into the inbox and gets a seat first, to run that job. */
void seat_dispatch (Engine *engine, guint thieves, gboolean idler_first);
/* Asks the worker in config.idle to return from it. */
void seat_rouse (Engine *engine);
/* The stack, which has a seat and no job, gives the seat away and sleeps until it has one again.
 * FALSE: the engine ends or halts, or the stack's thread has to end. */
gboolean seat_sleep (Stack *stack);
/* The stack gives its seat away and is parked. */
void seat_leave (Stack *stack);
/* A parked stack queues for a seat (seat_want). While seat_is_wanted it sleeps on its condition,
 * then it calls seat_return. TRUE: it has its seat; FALSE: the engine ends or halts. */
void seat_want (Stack *stack);
gboolean seat_is_wanted (const Stack *stack);
gboolean seat_return (Stack *stack);
/* The stack that runs the job in the stolen `slot` of `stack`. NULL: none does, or it has no
 * seat. */
Stack *seat_thief_of (Stack *stack, SatinSlot_ *slot);
/* TRUE: a seat is free, no stack is ready for it, and the limit allows no further stack with
 * jobs. */
gboolean seat_is_idle_for_good (Engine *engine);
/* Sleeps on the stack's condition. TRUE: the time is over, and no thread woke the stack. */
gboolean seat_timed_wait (Stack *stack, glong ns);
/* (no lock) There is new public work: gives a free seat to a thief, and raises ENGINE_SHARED if it
 * is owed. */
void seat_poke (Engine *engine);

/* (no lock) engine_free was called. */
gboolean seat_engine_ends (Engine *engine);

/* (no lock) The stack begins to run its jobs, or stops: it is empty, parked or halted. */
void seat_begin_work (Stack *stack);
void seat_end_work (Stack *stack);

/* Returns the jobs in the inbox to their lenders. */
void seat_return_inbox (Engine *engine);

/* Sets these flags of a stack, and wakes it if it is parked, waits for a seat or is halted. */
void seat_ask (Stack *stack, guint32 flags);
/* (no lock) The owner of `from` stores the result of a job that ended there in a slot of `to`
 * between these two calls. If `from` owes a scan or a halt, `to` owes it from now on, even if it
 * has served it already: else the result would be in the rows of neither. TRUE: the lock is held
 * until seat_end_return, which gets this as `locked`. */
gboolean seat_begin_return (Stack *from, Stack *to);
void seat_end_return (Stack *from, Stack *to, gboolean locked);
/* Before the stacks are asked for a scan or a halt: counts the request, and waits until results
 * that are being stored are in their slots. */
void seat_wait_for_returns (Engine *engine);
/* Notes that this stack has served all scans, or has no job. Does nothing if it was asked again
 * meanwhile. */
void seat_scan_served (Stack *stack);
/* Raises ENGINE_SCANNED if all stacks have served more scans than the last such event said. A stack
 * that is asked again before another one has served delays only the later scans. */
void seat_count_scans (Engine *engine);
/* The stack is HALTED from now on. Raises ENGINE_HALTED if no stack owes a halt any more. */
void seat_halt_served (Stack *stack);
