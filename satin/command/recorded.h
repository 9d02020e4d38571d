/* SPDX-License-Identifier: BSD-3-Clause */
/* How the run of a checkpoint was started, for verbs that start its program again. Nothing is
 * started that a file alone says: anybody may have written it. One thread; what is wrong is said on
 * stderr. */
#pragma once

#include "coordinator/restore.h"

#include "folder/folder.h"

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Restore, restore_clear)

/* `copy` (nullable): see restore_look_for. An exit code, 0: something stands there. */
int recorded_look (const char *target, const char *copy, Restore *restore);
/* Fills run->program and run->argv: what was `said` behind `--` (nullable: nothing), else what the
 * checkpoint recorded, if it bears this user's mark (*is_marked). `typed`: the command line of this
 * process, which is shown with what is missing. An exit code, 0: well. */
int recorded_command (FolderRun *run, char *const *said, const Restore *restore, const char *target,
                      char *const *typed, gboolean *is_marked);
/* The working folder that a marked checkpoint remembers, or the present one, since another host may
 * not have that. (transfer full) */
char *recorded_folder (const Identity *identity, gboolean is_marked);
