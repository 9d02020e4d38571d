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
  /* Of a thousand times that a thread takes a lock, how often others may run before. */
  guint pauses;
  const guint64 *now_us; /* The virtual time. */
  /* Asks main for a call of threads_run (ticket) at that time. */
  void (*wake) (gpointer data, guint32 ticket, guint64 at_us);
  gpointer data;
} ThreadsConfig;

Threads *threads_new (const ThreadsConfig *config);
/* Frees the threads. All have ended, or threads_end was called. */
void threads_free (Threads *threads);
/* Main: calls from now on belong to this process, and so do the threads that they make. */
void threads_enter (Threads *threads);
/* Main: runs the thread of this ticket until it waits again. Does nothing if the thread no longer
 * waits for this ticket. */
void threads_run (Threads *threads, guint32 ticket);
/* Main: the process ends. From now on the virtual time of these threads passes without the agenda:
 * whenever main waits for one of them, the one that is due first runs. */
void threads_end (Threads *threads);
/* Main, after threads_end: runs the thread that is due first. FALSE: all have ended. */
gboolean threads_let_next_run (Threads *threads);
gboolean threads_is_ending (const Threads *threads);
/* ThreadsConfig.data. */
gpointer threads_data (const Threads *threads);
/* A thread, not main: waits for this virtual time. */
void threads_sleep (guint64 us);
/* FALSE: this thread never lets others run before it takes a lock. TRUE: it does at random. */
void threads_set_pauses (gboolean pauses);
/* TRUE: the caller is a thread of a simulated process, not main. */
gboolean threads_is_one (void);
/* (nullable) The process of the caller, or the one that main has entered. */
Threads *threads_here (void);
/* The time of the machine's clock, not virtual. */
gint64 threads_real_time (void);
