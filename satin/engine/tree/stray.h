/* SPDX-License-Identifier: BSD-3-Clause */
/* Saved results that fit no job: a sign that a job does not spawn the same children each time (the
 * second law). They cost time, not truth, and nobody would notice. */
#pragma once

#include "../engine.h"

/* Owner: `job` has just returned, it was not aborted, and its children began at `base`. Counts the
 * results known at its path that are of another job, and those below children that it did not
 * spawn; raises ENGINE_UNMATCHED for the first. */
void stray_look (Stack *stack, SatinSlot_ *job, SatinSlot_ *base);
