/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "sim.h"

/* `plan->tree` is new and to be freed by the caller. */
void real_plan (guint64 seed, Plan *plan);
