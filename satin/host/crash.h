/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests of what a crash leaves behind. With SATIN_CRASH_AT=POINT[:N] in the environment the
 * process kills itself when it reaches that point for the N-th time (default 1). storage/README
 * lists the points. Any thread. */
#pragma once

void crash_point (const char *name);
