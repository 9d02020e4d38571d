/* SPDX-License-Identifier: BSD-3-Clause */
/* The time that jobs take, and the part of it that stands in rows. The clock is read when a seat
 * starts or stops to run jobs, at a scan, and at both ends of a loan; never at a spawn. Work counts
 * for the job for which it was done: the work of thieves and of other nodes comes with their
 * results. Called by the owner unless said otherwise. */
#pragma once

#include "../deque/stack.h"

#include "loan.h"

/* Computing time. The part `risk_us` stands in no row of any scan. */
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

/* One line of the bill of an account, for a slot that a scan has met. Lines are in the order of the
 * slots. */
typedef struct
{
  SatinSlot_ *slot;
  BillKind kind;
  gboolean known;  /* a scan has met it before */
  double share;    /* its weight when the time since the last scan is divided */
  guint64 work_us; /* work in and below this slot, without the lines of slots below it */
  guint64 told_us; /* of a new line: the part of work_us that stood in rows before this scan */
  guint64 began_us, took_us; /* 0: not known, or it has not ended */
  Row *row;                  /* (nullable): to be filled in */
} Bill;

/* The stack starts to run a job, first or again; it stops. */
void clock_start (Stack *stack);
void clock_stop (Stack *stack);
/* TRUE: a job runs on the stack now. Any thread. */
gboolean clock_runs (const Stack *stack);
/* Time in jobs on this stack, up to now. Any thread. */
guint64 clock_work_us (const Stack *stack);
/* Work for the jobs on this stack, done here or elsewhere, that is not saved. Any thread. */
guint64 clock_risk_us (const Stack *stack);

/* Each job from elsewhere, at the bottom of a stack or above a job that waits, has an account in
 * its origin slot. clock_end_job returns the cost of the job. */
void clock_begin_job (Stack *stack, SatinSlot_ *origin);
Work clock_end_job (Stack *stack, SatinSlot_ *origin);

/* Any thread: adds the cost of a result that came from elsewhere for one of this stack's slots.
 * Before the slot becomes SLOT_DONE. */
void clock_give (Stack *stack, SatinSlot_ *slot, const Work *work);

/* Begins a scan. It bills each account on the stack then, bottom first. */
void clock_begin_scan (Stack *stack);
/* Divides the time of an account between its lines and fills their rows in. `lines`: of Bill, taken
 * over. `above`: the next account, NULL: none. Returns how much less is at risk once the rows are
 * saved. */
guint64 clock_bill (Stack *stack, Origin *origin, const Origin *above, GArray *lines);
/* After clock_bill: the part of a line's work, 0 to 1, that stood in no row before this scan. */
double clock_new_share (const Bill *line);
