/* SPDX-License-Identifier: BSD-3-Clause */
/* Slots whose job or data is outside of this process: each has state SLOT_AWAY, a loan number and
 * one Pending. A Pending ends in one of three ways: completed, returned or cancelled. The function
 * that takes it out of the engine's tables decides which, and only that function may touch the slot
 * then. */
#pragma once

#include "../engine.h"
#include "../save/clock.h"

typedef enum
{
  PENDING_LENT,   /* by engine_lend: the borrower runs it */
  PENDING_RUNS,   /* adopted: a holder runs it */
  PENDING_RESULT, /* adopted: a holder has the result, so that it comes soon */
  PENDING_KEPT,   /* the slot is KIND_KEPT: a recall waits for what a holder has kept */
  PENDING_SHARED  /* the slot is KIND_FETCH: a job waits for shared bytes */
} PendingKind;

typedef struct
{
  guint64 number;
  PendingKind kind;
  Stack *stack;
  SatinSlot_ *slot;
  char *path;       /* owned; NULL: shared bytes */
  guint64 since_us; /* when it was lent; 0: it was not */
} Pending;

void pending_free (gpointer pending);

/* A claimed or private slot is away from now on, under a new loan number, which is returned. 0: it
 * was aborted meanwhile, and this has ended it. Takes over pending->path. `adopt`: an event, raised
 * quietly with the number before any thread can see that the slot is away; NULL: the slot is lent.
 * Any thread. */
guint64 pending_begin (Engine *engine, const Pending *pending, const EngineEvent *adopt);

/* engine_put. */
gboolean pending_complete (Engine *engine, guint64 loan, GBytes *value, Work work);
/* engine_back. */
gboolean pending_return (Engine *engine, guint64 loan);
/* Owner: ends the wait of a slot that is not wanted, and tells the driver. FALSE: another thread
 * has just completed or returned it. */
gboolean pending_cancel (Engine *engine, SatinSlot_ *slot);

/* engine_awaits. */
gboolean pending_is_awaited (Engine *engine, guint64 loan);
/* The loan number of the slot; 0: it is not away. Any thread. */
guint64 pending_number (Engine *engine, SatinSlot_ *slot);
