/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the frontier of a stack. */
#pragma once

#include "../engine.h"

typedef enum
{
  SCAN_NEW,   /* rows that were not reported, as far as the budget reaches */
  SCAN_WHOLE, /* all rows, up to ENGINE_SCAN_ROWS_MAX */
  SCAN_LAST,  /* all rows that were not reported: nothing runs any more, so the cost is no matter */
  SCAN_LEAVE  /* all rows, since the node leaves and no other node may have them */
} ScanKind;

/* Owner: raises ENGINE_ROWS with the finished children of unfinished jobs, and marks the scan as
 * served. `self` runs; its children end at `top`. */
void scan_stack (Stack *stack, SatinSlot_ *self, SatinSlot_ *top, ScanKind kind);
