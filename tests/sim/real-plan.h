/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "sim.h"

/* Fills `plan`. `plan->tree` is new; the caller frees it. */
void real_plan (guint64 seed, Plan *plan);
