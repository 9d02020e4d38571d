/* SPDX-License-Identifier: BSD-3-Clause */
/* Crash reports. A job is about to end the process: its thread stops, in the signal handler if
 * there is one, so that its stack stands still. The driver finds out which job that is (rehearse.h:
 * the innermost one), and other nodes hear of it. Without a driver (the fault may have hit the
 * owner of a lock) the process ends after a second without a report. One thread of a process
 * reports; others that crash meanwhile wait with it. */
#pragma once

#include "../engine.h"

/* From now on the jobs of this process report; those of processes that they fork do not. */
void crashed_init (void);
/* On a worker's thread. TRUE: the end of this thread is a crash, until the call with FALSE. */
void crashed_watch_thread (gboolean watch);
/* In the signal handler, on the thread that crashed; async-signal-safe. `cause`: text that stays.
 * `repeat`: the job may be rehearsed. (Not after a full stack, which takes much memory, nor in
 * exit.) Writes a backtrace to stderr. TRUE: the process is to end with exit code 6. */
gboolean crashed_report (const char *cause, gboolean repeat);
/* Driver: fills an event if a thread of this engine has crashed and nobody has read its report. */
gboolean crashed_next_report (Engine *engine, EngineEvent *event);
