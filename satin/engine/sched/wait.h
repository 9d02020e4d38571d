/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits for slots, and serves the flags of a stack. Owner threads. */
#pragma once

#include "../engine.h"

/* Serves the flags. `self` runs, its children end at `top`, and the stack is about to run `end`: no
 * slot from there up becomes public. */
void wait_serve (Stack *stack, SatinSlot_ *self, SatinSlot_ *end, SatinSlot_ *top);
/* Returns when the thief has left `slot`, an aborted child of `self` or of a job under it. */
void wait_left (Stack *stack, SatinSlot_ *self, SatinSlot_ *slot, SatinSlot_ *top);
/* Returns when a child that satin_sync_next has not handed out is finished. */
void wait_any (Stack *stack, const Next *next);
/* Runs `slot`, a private or claimed child of `self`. Its frame begins at `top`. */
void wait_run_child (Stack *stack, SatinSlot_ *self, SatinSlot_ *slot, SatinSlot_ *top);
/* Returns when `slot`, a child of `self`, is finished. Meanwhile it runs those of the children in
 * [first, top) that come back. */
void wait_for (Stack *stack, SatinSlot_ *self, SatinSlot_ *first, SatinSlot_ *slot,
               SatinSlot_ *top);
