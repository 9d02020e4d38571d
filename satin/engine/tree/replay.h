/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs one job again alone (engine_replay): the wanted job. Its path is entered as known, with a
 * digest that no job has. So the jobs above it are watched, and their children take the slow path,
 * which calls these functions. Owner threads. */
#pragma once

#include "trace.h"

/* `self` syncs its children in [first, end). If the wanted job or a job above it is among them and
 * has not begun, it runs now, the children behind it never run, and this does not return. */
void replay_run (Stack *stack, SatinSlot_ *self, SatinSlot_ *first, SatinSlot_ *end,
                 SatinSlot_ *top);
/* `job` is about to run. If it is the wanted job, calls EngineReplay.begins. */
void replay_begin (Stack *stack, SatinSlot_ *job);
/* `job` has returned. If it is the wanted job, or one above it that did not spawn the child that
 * leads there, calls EngineReplay.ended or .missed and does not return. */
void replay_end (Stack *stack, SatinSlot_ *job);
