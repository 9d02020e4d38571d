/* SPDX-License-Identifier: BSD-3-Clause */
/* What `make check` asks of the simulator, in TAP; in a build with a planted bug, that it is found.
 */
#pragma once

#include "compare.h"

/* The comparison of the plans of protection. */
#define COMPARE_JOBS 127
#define COMPARE_NODES 4
#define COMPARE_POINTS 50

/* The process's exit code. */
int gate (void);
