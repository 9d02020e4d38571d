/* SPDX-License-Identifier: BSD-3-Clause */
/* Saved results that fit no job. They show that a job does not spawn the same children each time
 * (the second law in satin.h). They cost time but never make an answer wrong, so nobody would
 * notice them. */
#pragma once

#include "../engine.h"

/* Owner: `job` has just returned, was not aborted, and its children began at `base`. Counts the
 * results known at its path that are of another job, and those at or below children that it did not
 * spawn. Raises ENGINE_UNMATCHED for the first. */
void stray_look (Stack *stack, SatinSlot_ *job, SatinSlot_ *base);
