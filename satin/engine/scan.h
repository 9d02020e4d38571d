/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the frontier off a stack. */
#pragma once

#include "engine.h"

/* Owner: raises ENGINE_ROWS with the finished children of unfinished jobs, and counts the scan as
 * served. `self` runs, its children end at `top`. */
void scan_stack (Stack *stack, SatinSlot_ *self, SatinSlot_ *top, gboolean whole);
