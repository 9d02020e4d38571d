/* SPDX-License-Identifier: BSD-3-Clause */
/* One job runs again alone (engine_replay). Its path is entered among the known ones, with a digest
 * that no job has: so the jobs above it are watched, and their children take the slow way, where
 * these functions are called. Owner threads. */
#pragma once

#include "trace.h"

/* `self` syncs its children in [first, end). If the job or one above it is among them and has not
 * begun, it runs now; those behind it do not run at all. Does not return then. */
void replay_run (Stack *stack, SatinSlot_ *self, SatinSlot_ *first, SatinSlot_ *end,
                 SatinSlot_ *top);
/* `job` is about to run: says so if it is the one. */
void replay_begin (Stack *stack, SatinSlot_ *job);
/* `job` has returned. Does not return if it was the one, or one above it, which then did not spawn
 * what leads there. */
void replay_end (Stack *stack, SatinSlot_ *job);
