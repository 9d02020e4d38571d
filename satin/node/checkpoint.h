/* SPDX-License-Identifier: BSD-3-Clause */
/* Before a run begins at a checkpoint's place: finds out whether another run uses it, and renames
 * the file there. Blocks on the disk and on sockets. Any thread. */
#pragma once

#include "coordinator/restore.h"

/* A sentence if nodes of a live run use the checkpoint that `restore` was read from; else NULL.
 * (transfer full) (nullable) Asks at the addresses that the file names, three at a time, for three
 * seconds in all. Prints on stderr which of them are on other hosts. */
char *checkpoint_in_use (const Restore *restore, const char *checkpoint);
/* Renames the checkpoint to a name beside it that has the time; never removes or replaces a file.
 * *moved (out, transfer full, nullable): the new name; NULL: there was no file. Damaged checkpoints
 * and those of other runs are renamed, too. FALSE: COORDINATOR_ERROR, and nothing was done: the
 * file is no Satin checkpoint, is in use, or cannot be renamed. */
gboolean checkpoint_set_aside (const char *checkpoint, char **moved, GError **error);
