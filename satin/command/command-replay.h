/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of `satin replay` share: it runs one job (command-replay.c), or a share of all
 * saved ones (command-replay-verify.c). One thread. */
#pragma once

#include "arguments.h"
#include "path.h"

#include "folder/folder.h"

#include "storage/sql.h"

/* Reads the stems of a checkpoint. FALSE: it cannot be read. */
gboolean command_replay_stems (Sql *file, Stems *stems, GError **error);
/* The path in numbers only, since the program does not know the stems before it has read the rows.
 * NULL: `path` is none, or its stem is unknown. (transfer full) (nullable) */
char *command_replay_numbers (Stems *stems, const char *path);
/* Why there is probably no job at `path`, which is in numbers only; NULL: there may be one.
 * (transfer full) (nullable) */
char *command_replay_unlikely (Sql *file, const char *path);
/* The environment of this process, with the variables of node/run-replay.h. (transfer full) */
char **command_replay_environment (const Arguments *wish, const char *target, const char *path);
/* Computes the share wish->verify of the saved results at `target` again, one process after the
 * other, until one differs. `line`: the command line of the program, run in run->folder. Returns
 * the exit code. */
int command_replay_verify (const Arguments *wish, const FolderRun *run, char **line,
                           const char *target);
