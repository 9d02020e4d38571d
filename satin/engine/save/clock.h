/* SPDX-License-Identifier: BSD-3-Clause */
/* The time that jobs take, and which part of it rows stand for. The clock is read where a seat
 * begins or stops to run jobs, at a scan, and at both ends of a loan; never at a spawn. Work counts
 * with the job that it was done for: the work of thieves and other nodes comes with their results.
 * Owner threads unless said otherwise. */
#pragma once

#include "../deque/stack.h"

#include "loan.h"

/* Computing time. No row that left a scan stands for the part `risk_us` of it. */
typedef struct
{
  guint64 work_us, risk_us;
  guint64 began_us; /* when the job began, monotonic time; 0: not known */
} Work;

typedef enum
{
  BILL_DONE,  /* a finished child that was reported */
  BILL_BEGUN, /* a job that is not finished */
  BILL_KEPT   /* the finished phases of the job whose children follow */
} BillKind;

/* One line of the bill of an account: of a slot that a scan has met. In the order of the slots. */
typedef struct
{
  SatinSlot_ *slot;
  BillKind kind;
  gboolean known;  /* a scan has met it before */
  double share;    /* its weight, by which it shares in what was done since the last scan */
  guint64 work_us; /* in and below this slot, but for the lines that lie there */
  guint64 told_us; /* of it, what rows stood for before this scan; when it is new */
  guint64 began_us, took_us; /* 0: not known, it has not ended */
  Row *row;                  /* (nullable) to be filled in */
} Bill;

/* The stack begins (again) to run a job, stops to. */
void clock_start (Stack *stack);
void clock_stop (Stack *stack);
/* Is a job running on it now? Any thread. */
gboolean clock_runs (const Stack *stack);
/* Time in jobs on this stack, up to now. Any thread. */
guint64 clock_work_us (const Stack *stack);
/* What was done for the jobs on this stack, here or elsewhere, and is not saved. Any thread. */
guint64 clock_risk_us (const Stack *stack);

/* Each job from elsewhere, at the bottom of a stack or above a job that waits, has an account of
 * its own, in its origin slot. clock_end_job returns what the job cost. */
void clock_begin_job (Stack *stack, SatinSlot_ *origin);
Work clock_end_job (Stack *stack, SatinSlot_ *origin);

/* Any thread: the result for one of this stack's slots came from elsewhere and cost this. Before
 * the slot is SLOT_DONE. */
void clock_give (Stack *stack, SatinSlot_ *slot, const Work *work);

/* A scan begins. Then it bills each account on the stack, bottom first: `lines`, of Bill, taken
 * over. `above`: the next account, NULL: there is none. Fills the rows in. Returns how much less is
 * at risk once these are saved. */
void clock_begin_scan (Stack *stack);
guint64 clock_bill (Stack *stack, Origin *origin, const Origin *above, GArray *lines);
/* After clock_bill: the part of a line's work, 0 to 1, that no row stood for before this scan. */
double clock_new_share (const Bill *line);
