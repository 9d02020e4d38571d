/* SPDX-License-Identifier: BSD-3-Clause */
/* Last words: a thread that is about to end the process by what its job does stops in the signal
 * handler, so its stack stands still, and whoever drives says which job that is (rehearse.h finds
 * the innermost one). If nobody drives
 * any more (the fault may have hit a lock's owner) the process dies without a word after a second.
 * One thread speaks in a process; others that fail meanwhile wait with it. */
#pragma once

#include "../engine.h"

/* From now on the jobs of this process speak, and not those of processes that they fork. */
void words_begin (void);
/* On a worker's thread: it may not end from here on until it is said that it may. */
void words_watch_thread (gboolean watch);
/* In the signal handler, on the thread that failed; async-signal-safe. `cause`: text that stays.
 * `repeat`: the job may be rehearsed; not where a stack is full, which takes much memory, nor in
 * exit. Writes a backtrace to stderr. TRUE: the
 * process is to end with exit code 6. */
gboolean words_speak (const char *cause, gboolean repeat);
/* Driver: fills an event if a thread of this engine waits to be heard; once. */
gboolean words_hear (Engine *engine, EngineEvent *event);
