/* SPDX-License-Identifier: BSD-3-Clause */
/* `satin replay`: this process runs one job of a checkpoint again, alone, and ends with that job.
 * The checkpoint is read, never written. The process gets its orders from its environment, so a
 * debugger that restarts the program passes them on. */
#pragma once

#include "options.h"

#include "engine/exchange.h"

#define RUN_REPLAY_ENV "SATIN_REPLAY" /* the job's path, as path_read takes it */
#define RUN_REPLAY_ENV_CHECKPOINT "SATIN_REPLAY_CHECKPOINT"
#define RUN_REPLAY_ENV_MENDED "SATIN_REPLAY_MENDED" /* set: as --mended */
#define RUN_REPLAY_ENV_TRUST "SATIN_REPLAY_TRUST"   /* set: as --trust */

typedef struct RunReplay RunReplay;

/* Reads the environment and fills in `options`. Removes the variables, so that processes started by
 * jobs do not get them. (nullable): this process is no replay. The RunReplay lives as long as the
 * process. Main thread. */
RunReplay *run_replay_new (Options *options);
/* Makes a temporary folder, and copies a checkpoint at a URI into it: *target becomes that path.
 * FALSE: COORDINATOR_ERROR, it cannot be read, or there is no room. Main thread. */
gboolean run_replay_open (RunReplay *replay, char **target, GError **error);
/* The temporary folder, removed with this process. (transfer none) */
const char *run_replay_folder (const RunReplay *replay);
/* To be called before any job runs: the engine shall run only the job. FALSE: COORDINATOR_ERROR,
 * the path is not one. Any thread. */
gboolean run_replay_begin (RunReplay *replay, Engine *engine, Stems *stems, GError **error);
/* The rows that may be used (transfer full): all but the row of the job itself and of those above
 * and below it. A kept state of a job above may be used if it stands only for earlier children.
 * Driver's thread, after run_replay_begin. */
GPtrArray *run_replay_filter (RunReplay *replay, GPtrArray *rows);
/* SIGINT, SIGTERM and SIGHUP end the process as they usually do, but first remove the temporary
 * folder. A debugger sees them first. */
void run_replay_watch_signals (RunReplay *replay, GMainContext *context);
/* The process ends: removes the temporary folder. `replay` (nullable). Any thread. */
void run_replay_forget (RunReplay *replay);
