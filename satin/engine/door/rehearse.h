/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the innermost job that ends a process. Inlined code does not note which child runs, so a
 * crashed stack shows only the deepest job that a slow function began. Jobs are pure: so that job
 * runs again on a stack of its own, which no other thread uses and where every spawn, call and sync
 * takes the slow path. Mostly it fails again, and then the innermost job is known. One rehearsal in
 * a process. */
#pragma once

#include "../engine.h"

/* Limit of a rehearsal. */
#define REHEARSE_MS 3000

typedef enum
{
  REHEARSE_RUNS,
  REHEARSE_FAILED, /* the thread of rehearse_stack has stopped in the job that failed */
  REHEARSE_OVER    /* it did not fail, or takes too long */
} RehearseEnd;

/* Driver: runs the job again that runs on this stack, whose thread has stopped. FALSE: no memory or
 * thread. */
gboolean rehearse_begin (Stack *of);
/* Driver, after that. When the result is no longer REHEARSE_RUNS, config.wake is called, except
 * after a timeout. */
RehearseEnd rehearse_end (void);
Stack *rehearse_stack (void);
/* In a signal handler or while a thread ends, on that thread: does not return if this is the
 * rehearsal's stack. Async-signal-safe. */
void rehearse_stop_here (Stack *stack);
