/* SPDX-License-Identifier: BSD-3-Clause */
/* Address space for stacks: reserved large, committed as used, a guard of 1 MiB at both ends.
 * Whoever runs into a guard gets one clear sentence and the process ends with exit code 6. */
#pragma once

#include <glib.h>

#define MEMORY_REGIONS_MAX 16384

/* Reserves `bytes` (rounded up to pages) between two guards. `sentence` (static text) is what is
 * said when a guard is touched. NULL: no address space. Any thread. */
void *memory_reserve (gsize bytes, const char *sentence);
/* The sentence of a stack that is too small. */
#define MEMORY_FULL(what) what " is full: the recursion is too deep"
void memory_release (void *start, gsize bytes);

/* Installs the handler that recognises guards, and lets the thread speak before any fault, once per
 * process; every thread that runs on reserved memory calls memory_watch_thread first, and
 * memory_unwatch_thread before it ends. */
void memory_watch_thread (void);
/* Whose faults are: of a process that is Satin's, as at the start; where the program may have
 * handlers of its own, of none that it has one for; of a process that is another's, none. Then a
 * fault ends the process as if nobody had listened. Before there are threads of Satin's. */
typedef enum
{
  MEMORY_FAULTS_ALL,
  MEMORY_FAULTS_FREE,
  MEMORY_FAULTS_NONE
} MemoryFaults;
void memory_take_faults (MemoryFaults which);
/* The same for the thread of main and its stack, which the system made. Once, early. */
void memory_watch_main (void);
void memory_unwatch_thread (void);
/* malloc is to have a heap for each of so many threads and no more: it would make one for every
 * thread that ever waited beside them, and all of them have holes. What the environment says of it
 * holds. Once, before there are threads. */
void memory_limit_heaps (guint threads);
/* Pages that malloc has no use for go back to the system: for a quiet moment. FALSE: not now, since
 * that was done a few seconds ago. Any thread. */
gboolean memory_give_back (void);
/* What a thread says, in the handler, before it ends the process by a fault of its own; `repeat`: the
 * fault may be repeated to see where it comes from. TRUE: the process is to end with exit code 6, else by the signal. */
void memory_set_speaker (gboolean (*speak) (const char *cause, gboolean repeat));
