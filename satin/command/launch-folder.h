/* SPDX-License-Identifier: BSD-3-Clause */
/* The run's folder as the launcher makes it, and what it shows of it. Launcher's thread. */
#pragma once

#include "launch.h"

/* (transfer full) (nullable): the path of a new folder with all that a node must find there: its
 * credential, the sites, the copy of the checkpoint. NULL: said on stderr, and none is left. */
char *launch_folder_make (FolderRun *run, const LaunchWish *wish);
/* Copies what the run left in `file` to `fd`. FALSE: it cannot be written. */
gboolean launch_folder_copy_out (const char *path, const char *file, int fd);
