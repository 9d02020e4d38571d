/* SPDX-License-Identifier: BSD-3-Clause */
/* What runs on the stacks now, for people who ask (engine_look in exchange.h). A stack's inlined
 * code leaves no trace that another thread may read, so its owner says at its next sync or in its
 * wait what it runs. Without a question this costs nothing. */
#pragma once

#include "../engine.h"

/* Owner: STACK_FLAG_LOOK was set, and `self` runs or waits. Notes that in stack->taken.said. */
void look_serve (Stack *stack, SatinSlot_ *self);
