/* SPDX-License-Identifier: BSD-3-Clause */
/* `satin replay`: this process runs one job of a checkpoint again, alone, and ends with it. The
 * checkpoint is read and never written. What the process is told stands in its environment, so a
 * debugger that starts the program again passes it on. */
#pragma once

#include "options.h"

#include "engine/exchange.h"

#define RUN_REPLAY_ENV "SATIN_REPLAY" /* the job's path, in numbers alone (path_read) */
#define RUN_REPLAY_ENV_CHECKPOINT "SATIN_REPLAY_CHECKPOINT"
#define RUN_REPLAY_ENV_MENDED "SATIN_REPLAY_MENDED" /* set: as --mended */
#define RUN_REPLAY_ENV_TRUST "SATIN_REPLAY_TRUST"   /* set: as --trust */

typedef struct RunReplay RunReplay;

/* (nullable) What the environment asks for, which jobs that start processes do not pass on; fills
 * in `options`. It lives as long as the process. Main thread. */
RunReplay *run_replay_new (Options *options);
/* The checkpoint is at hand: *target becomes a path on this machine. FALSE: it cannot be read, or
 * there is no room for it; COORDINATOR_ERROR. Main thread. */
gboolean run_replay_open (RunReplay *replay, char **target, GError **error);
/* For files that go with this process. */
const char *run_replay_folder (const RunReplay *replay);
/* Before any job runs: the engine is to run the job only. FALSE: its path is none. Any thread. */
gboolean run_replay_begin (RunReplay *replay, Engine *engine, Stems *stems, GError **error);
/* (transfer full) Those of these rows that may be used: all but the job's own, and what lies above
 * and below it. A state that a job above it has kept may be, if it stands for earlier children.
 * Driver's thread, after run_replay_begin. */
GPtrArray *run_replay_filter (RunReplay *replay, GPtrArray *rows);
/* SIGINT, SIGTERM and SIGHUP end the process as they would have, after what was made for it has
 * gone. A debugger sees them first. */
void run_replay_watch_signals (RunReplay *replay, GMainContext *context);
/* The process ends: what was made for the job goes. `replay` (nullable). Any thread. */
void run_replay_forget (RunReplay *replay);
