/* SPDX-License-Identifier: BSD-3-Clause */
/* How the run of a checkpoint was started, for verbs that start its program again. No program is
 * started only because a file names it, since anybody may have written the file. One thread.
 * Messages go to stderr. */
#pragma once

#include "coordinator/restore.h"

#include "folder/folder.h"

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Restore, restore_clear)

/* Reads what is at `target` into *restore. `copy` (nullable): see restore_look_for. Returns 0, or
 * an exit code after a message. */
int recorded_look (const char *target, const char *copy, Restore *restore);
/* Fills run->program and run->argv: from `said`, the words behind `--` (nullable), else from the
 * checkpoint if it bears this user's mark (*is_marked, out). `typed`: the command line of this
 * process; a message shows it with what is missing. Returns 0, or an exit code after a message. */
int recorded_command (FolderRun *run, char *const *said, const Restore *restore, const char *target,
                      char *const *typed, gboolean *is_marked);
/* May the rows of the checkpoint be used (proof_allows)? Without the recorded arguments the proof
 * cannot be checked here; the nodes check it. Returns 0, or an exit code after a message. */
int recorded_proof (const Restore *restore, const char *target);
/* The working folder that a marked checkpoint recorded, if it exists here; else the current one.
 * (transfer full) */
char *recorded_folder (const Identity *identity, gboolean is_marked);
