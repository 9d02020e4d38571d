/* SPDX-License-Identifier: BSD-3-Clause */
/* What runs on the stacks now, for people who ask (engine_look in exchange.h). Inlined code leaves
 * no trace that another thread may read. So the owner notes what it runs at its next sync, or in
 * its wait. Without a question this costs nothing. */
#pragma once

#include "../engine.h"

/* Owner: STACK_FLAG_LOOK was set, and `self` runs or waits. Notes that in taken.said. */
void look_serve (Stack *stack, SatinSlot_ *self);
