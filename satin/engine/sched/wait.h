/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for a slot, and serving wishes between jobs. Owner threads. */
#pragma once

#include "../engine.h"

/* Serves the flags: `self` runs, `end` is the slot that it is about to run (never made public), its
 * children end at `top`. */
void wait_serve (Stack *stack, SatinSlot_ *self, SatinSlot_ *end, SatinSlot_ *top);
/* Returns when the thief has left `slot`, an aborted child of `self`. */
void wait_left (Stack *stack, SatinSlot_ *self, SatinSlot_ *slot, SatinSlot_ *top);
/* Returns when a child that satin_sync_next has not handed out has its result. */
void wait_any (Stack *stack, const Next *next);
/* Runs a private or claimed child of `self` on top of it. */
void wait_run_child (Stack *stack, SatinSlot_ *self, SatinSlot_ *slot, SatinSlot_ *top);
/* Returns when `slot`, a child of `self` and one of [first, top), has its result. */
void wait_for (Stack *stack, SatinSlot_ *self, SatinSlot_ *first, SatinSlot_ *slot,
               SatinSlot_ *top);
