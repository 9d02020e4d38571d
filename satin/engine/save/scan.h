/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the frontier off a stack. */
#pragma once

#include "../engine.h"

typedef enum
{
  SCAN_NEW,   /* what was not yet reported, as far as the budget reaches */
  SCAN_WHOLE, /* all, up to ENGINE_SCAN_ROWS_MAX */
  SCAN_LAST,  /* what was not yet reported; nothing runs any more, so it may cost */
  SCAN_LEAVE  /* the same, of all: nobody else has it */
} ScanKind;

/* Owner: raises ENGINE_ROWS with the finished children of unfinished jobs, and counts the scan as
 * served. `self` runs, its children end at `top`. */
void scan_stack (Stack *stack, SatinSlot_ *self, SatinSlot_ *top, ScanKind kind);
