/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures the processor time of a computation, for limits that the load of the machine cannot
 * break. */
#pragma once

#include <time.h>

/* The seconds of processor time that all threads of this process have used so far. */
static inline double
processor_s (void)
{
  struct timespec used;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &used);
  return (double)used.tv_sec + (double)used.tv_nsec * 1e-9;
}
