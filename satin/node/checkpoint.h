/* SPDX-License-Identifier: BSD-3-Clause */
/* A checkpoint's place before a run begins there: is somebody at work on it, and setting aside what
 * stands there. Blocks on the disk and on sockets; any thread. */
#pragma once

#include "coordinator/restore.h"

/* (transfer full) (nullable): a sentence when nodes of a live run work on the checkpoint that
 * `restore` was read from. Asks at the addresses that the file names: three at a time, for three
 * seconds in all. Says on stderr which of them are on other hosts. */
char *checkpoint_in_use (const Restore *restore, const char *checkpoint);
/* Gives the checkpoint another name beside it, with the time; never removes or replaces a file.
 * `moved` (transfer full) (nullable): that name; NULL: nothing stood there. Damaged checkpoints and
 * those of other runs are set aside too. FALSE, with COORDINATOR_ERROR, nothing done: what stands
 * there is no Satin checkpoint, is in use, or cannot be renamed. */
gboolean checkpoint_set_aside (const char *checkpoint, char **moved, GError **error);
