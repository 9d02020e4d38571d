/* SPDX-License-Identifier: BSD-3-Clause */
/* Address space for stacks: reserved large, committed as used, with a guard of 1 MiB at both ends.
 * A thread that touches a guard prints one clear sentence, and the process ends with exit code 6.
 */
#pragma once

#include <glib.h>

#define MEMORY_REGIONS_MAX 16384

/* Reserves `bytes` (rounded up to pages) between two guards. `sentence` (static text) is printed
 * when a thread touches a guard. NULL: no address space. Any thread. */
void *memory_reserve (gsize bytes, const char *sentence);
/* The sentence for a stack that is too small. */
#define MEMORY_FULL(what) what " is full: the recursion is too deep"
void memory_release (void *start, gsize bytes);

/* Gives the thread a signal stack, and installs (once in a process) the handler that recognises
 * guards and reports crashes. Every thread that runs on reserved memory calls this first, and
 * memory_unwatch_thread before it ends. */
void memory_watch_thread (void);
/* The faults that the handler takes: all (the default); those for which the program has no handler
 * of its own; or none, in a process that is not Satin's: then a fault ends the process without a
 * report. Call memory_take_faults before Satin has threads. */
typedef enum
{
  MEMORY_FAULTS_ALL,
  MEMORY_FAULTS_FREE,
  MEMORY_FAULTS_NONE
} MemoryFaults;
void memory_take_faults (MemoryFaults which);
/* memory_watch_thread for the thread of main, whose stack the system has made. Once, early. */
void memory_watch_main (void);
void memory_unwatch_thread (void);
/* Limits malloc to one heap for each of so many threads. Else it makes one for every thread that
 * ever waited for another heap, and each has holes. A limit in the environment wins. Once, before
 * there are threads. */
void memory_limit_heaps (guint threads);
/* Gives free pages of malloc back to the system; to be called in a quiet moment. FALSE: not now,
 * since that was done a few seconds ago. Any thread. */
gboolean memory_give_back (void);
/* `report` is called in the handler, on the thread whose fault is about to end the process.
 * `repeat`: the fault may be repeated to find its place. TRUE: the process ends with exit code 6,
 * else by the signal. */
void memory_set_report (gboolean (*report) (const char *cause, gboolean repeat));
