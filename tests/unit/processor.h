/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures the processor time of a computation, for limits that the load of the machine cannot
 * break. */
#pragma once

#include <time.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PROCESSOR_SLOWER 5 /* what a sanitizer makes of a computation */
#else
#define PROCESSOR_SLOWER 1
#endif

/* The seconds of processor time that all threads of this process have used so far, or would have
 * used without a sanitizer. */
static inline double
processor_s (void)
{
  struct timespec used;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &used);
  return ((double)used.tv_sec + (double)used.tv_nsec * 1e-9) / PROCESSOR_SLOWER;
}
