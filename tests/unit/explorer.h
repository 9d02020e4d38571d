/* SPDX-License-Identifier: BSD-3-Clause */
/* Tries every interleaving of two threads. The threads are coroutines that may switch before each
 * atomic access (steps.h). A depth-first search tries every choice. A state is the memory together
 * with all that each thread has read; a state that was met before is not searched again. The
 * interleavings are sequentially consistent: weaker orders are left to ThreadSanitizer. */
#pragma once

#include <glib.h>

enum
{
  OWNER,
  THIEF
};

typedef struct
{
  void (*begin) (void);            /* Before each run: resets the memory. */
  void (*body[2]) (void);          /* The function of each thread; it ends with explorer_finish. */
  guint64 (*state) (guint64 key);  /* The key with all shared memory mixed in. */
  const char *(*check_end) (void); /* Called after both have finished; NULL: all is right. */
} ExplorerWorld;

/* NULL if all interleavings are right; otherwise the error of the last run. `preempted_max`: it
 * tries only those in which a thread that could go on has to stop at most so many times; 0: all. */
const char *explorer_explore (const ExplorerWorld *world, guint preempted_max, guint64 *n_runs,
                              guint *n_states);

static inline guint64
explorer_mix (guint64 hash, guint64 value)
{
  hash = (hash ^ value) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
  return hash ^ (hash >> 29);
}
/* The running thread; -1: none. */
int explorer_running (void);
gboolean explorer_has_finished (int thread);

/* The functions below are for the running thread. */

void explorer_finish (void) G_GNUC_NORETURN;
/* Records an error; the run goes on. */
void explorer_fail (const char *what);
guint64 explorer_steps_of_other (void);
/* A mark of all that this thread has read so far. explorer_forget drops what it has read since that
 * mark; the thread must be at the same point of its code as then. */
guint64 explorer_history (void);
void explorer_forget (guint64 history);
/* This thread has nothing to do until the other thread has made a step after `seen`. */
void explorer_block (guint64 seen);
