/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests of what a death leaves behind: with SATIN_CRASH_AT=POINT[:N] in the environment the
 * process kills itself when it comes to that point for the N-th time (the first). The names of the
 * points stand in storage/README. Any thread. */
#pragma once

void crash_point (const char *name);
