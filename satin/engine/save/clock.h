/* SPDX-License-Identifier: BSD-3-Clause */
/* The time that jobs take, and which of it rows stand for. The clock is read where a seat begins or
 * stops to run jobs, at a scan, and at both ends of a loan; never at a spawn. Work counts with the
 * job that it was done for, wherever it was done: what thieves and other nodes spent comes with
 * their results. Owner threads unless said otherwise. */
#pragma once

#include "../deque/stack.h"

#include "loan.h"

/* Computing time. `risk_us` is the part of it that no row which left a scan stands for. */
typedef struct
{
  guint64 work_us, risk_us;
  guint64 began_us; /* when the job began, monotonic time; 0: not known */
} Work;

/* The stack begins (again) to run a job, stops to. */
void clock_start (Stack *stack);
void clock_stop (Stack *stack);
/* Is a job running on it now? Any thread. */
gboolean clock_runs (const Stack *stack);
/* Time in jobs on this stack, up to now. Any thread. */
guint64 clock_work_us (const Stack *stack);
/* What was done for the jobs on this stack, here or elsewhere, and is not saved. Any thread. */
guint64 clock_risk_us (const Stack *stack);

/* Each job from elsewhere, at the bottom of a stack or above one that waits, has an account of its
 * own, in its origin slot. It begins; it is over: what it cost. */
void clock_begin_job (Stack *stack, SatinSlot_ *origin);
Work clock_end_job (Stack *stack, SatinSlot_ *origin);

/* Any thread: the result for one of this stack's slots came from elsewhere and cost this. Returns
 * the state for the slot, which tells the next scan. */
guint32 clock_give (Stack *stack, SatinSlot_ *slot, const Work *work);
/* About what clock_give was told, never more; 0 for a slot that was run here. */
guint64 clock_given_us (guint32 state);

/* Divides what was done since the last scan, fills the rows in and keeps the lines for the next
 * scan. `lines`: of Bill; taken over. `origins`: of the accounts, bottom first. Returns how much
 * less is at risk once the rows are saved. */
guint64 clock_bill (Stack *stack, GArray *lines, const GPtrArray *origins);
/* After clock_bill: the part of a line's work, 0 to 1, that no row stood for before this scan. */
double clock_new_share (const Bill *line);
