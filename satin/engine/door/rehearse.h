/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the innermost job that ends a process. Inlined code does not note which child runs, so a
 * crashed stack names only the deepest job that a slow function began. That job is pure: it is run
 * again, on a stack of its own to which nobody else has access, where every spawn, call and sync
 * takes the slow way, and mostly fails again, in a job that is known then. One rehearsal a process.
 */
#pragma once

#include "../engine.h"

/* How long a rehearsal may take. */
#define REHEARSE_MS 3000

typedef enum
{
  REHEARSE_RUNS,
  REHEARSE_FAILED, /* rehearse_stack stands still in the job that failed */
  REHEARSE_OVER    /* it did not fail, or takes too long */
} RehearseEnd;

/* Driver: begins with what runs on this stack, which stands still. FALSE: no memory or thread. */
gboolean rehearse_begin (Stack *of);
/* Driver, after that: config.wake is called when it is no longer REHEARSE_RUNS, but for a timeout. */
RehearseEnd rehearse_end (void);
Stack *rehearse_stack (void);
/* In a signal handler or while a thread ends, on that thread: does not return if this is the
 * rehearsal's stack. Async-signal-safe. */
void rehearse_stop_here (Stack *stack);
