/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of `satin replay` share: one job (command-replay.c), or a share of all saved ones
 * (command-replay-verify.c). One thread. */
#pragma once

#include "arguments.h"
#include "path.h"

#include "folder/folder.h"

#include "storage/sql.h"

/* Enters the stems of a checkpoint. FALSE: it cannot be read. */
gboolean command_replay_stems (Sql *file, Stems *stems, GError **error);
/* The path in numbers alone, since the program does not know the stems before it has the rows.
 * (transfer full) (nullable): it is none, or a stem is not known. */
char *command_replay_numbers (Stems *stems, const char *path);
/* (transfer full) (nullable): why there is hardly a job at `path`, in numbers alone, of which
 * neither a row nor an event tells. */
char *command_replay_unlikely (Sql *file, const char *path);
/* The environment of this process, and what the program is told. (transfer full) */
char **command_replay_environment (const Arguments *wish, const char *target, const char *path);
/* Computes wish->verify of the saved results of the checkpoint at `target` again, one process after
 * the other; the first that is not the same ends it. `line`: starts the program in run->folder.
 * Returns the exit code. */
int command_replay_verify (const Arguments *wish, const FolderRun *run, char **line,
                           const char *target);
