/* SPDX-License-Identifier: BSD-3-Clause */
/* What `make check` demands of the simulator, in TAP. A build with a planted bug must find the
 * bug. */
#pragma once

#include "compare.h"

/* Parameters of the comparison of the plans of protection. */
#define COMPARE_JOBS 127
#define COMPARE_NODES 4
#define COMPARE_POINTS 50

/* Returns the exit code of the process. */
int gate (void);
