/* SPDX-License-Identifier: BSD-3-Clause */
/* What is away outside of this process: slots in state SLOT_AWAY, each under a loan number, with
 * one Pending each. It ends in one of three ways: completed, returned or cancelled. The function
 * that takes the Pending out of the engine's tables decides which. It alone may touch the slot
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

/* Claimed or private: the slot is away from now on, under a new loan number. Takes over
 * pending->path. `adopt`: raised quietly, with the number, before anybody can see the slot wait;
 * NULL: it was lent. 0: it was aborted meanwhile, and is done with. Any thread. */
guint64 pending_begin (Engine *engine, const Pending *pending, const EngineEvent *adopt);

/* engine_put. */
gboolean pending_complete (Engine *engine, guint64 loan, GBytes *value, Work work);
/* engine_back. */
gboolean pending_return (Engine *engine, guint64 loan);
/* Owner: the slot is forgotten: ends its wait and tells the driver so. FALSE: somebody took it just
 * now. */
gboolean pending_cancel (Engine *engine, SatinSlot_ *slot);

/* engine_awaits. */
gboolean pending_is_awaited (Engine *engine, guint64 loan);
/* The number under which the slot waits; 0: it does not. Any thread. */
guint64 pending_number (Engine *engine, SatinSlot_ *slot);
