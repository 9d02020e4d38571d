/* SPDX-License-Identifier: BSD-3-Clause */
/* The threads of the real engine and the real scribe in virtual time. The program that links
 * threads.c has the calls of pthread and GLib that make threads, lock, wait and tell the time
 * replaced (Makefile.inc: --wrap). Each thread is a thread of the system, but one runs at a time:
 * the simulator's own thread ("main") lets one run, which hands back when it waits, sleeps or ends.
 * So the order of all that happens follows from the agenda and the seed. A thread may also hand
 * back before it takes a lock; then others come between. Nothing here knows engines or scribes. */
#pragma once

#include <glib.h>

/* The threads of one simulated process. */
typedef struct Threads Threads;

typedef struct
{
  guint64 seed;
  guint pauses; /* of a thousand times that a lock is taken: others may run before */
  const guint64 *now_us;
  /* Call threads_run (ticket) then. */
  void (*wake) (gpointer data, guint32 ticket, guint64 at_us);
  gpointer data;
} ThreadsConfig;

Threads *threads_new (const ThreadsConfig *config);
/* All of them have ended, or end now: see threads_end. */
void threads_free (Threads *threads);
/* Main: what is called from now on is of this process, as are threads that it makes. */
void threads_enter (Threads *threads);
/* Main: runs the thread until it waits, if this is still what it waits for. */
void threads_run (Threads *threads, guint32 ticket);
/* Main: nobody is to be waited for any more: when main waits for one of these threads all of them
 * run, and their own time passes. */
void threads_end (Threads *threads);
/* Main, then: lets one run. FALSE: all have ended. */
gboolean threads_let_next_run (Threads *threads);
gboolean threads_is_ending (const Threads *threads);
/* ThreadsConfig.data. */
gpointer threads_data (const Threads *threads);
/* A thread, not main: returns so much later. */
void threads_sleep (guint64 us);
/* Does this thread let others run before it takes a lock, as by chance it does? */
void threads_set_pauses (gboolean pauses);
/* Is this a thread of a simulated process? Of which (NULL: main, outside of all)? */
gboolean threads_is_one (void);
Threads *threads_here (void);
/* What the machine's clock says. */
gint64 threads_real_time (void);
