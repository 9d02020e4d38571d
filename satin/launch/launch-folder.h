/* SPDX-License-Identifier: BSD-3-Clause */
/* The run's folder as the launcher makes and reads it. Launcher's thread. */
#pragma once

#include "launch.h"

/* (transfer full) (nullable): the path of a new folder with all that a node must find there: its
 * credential, the sites, the copy of the checkpoint. NULL: said on stderr, and none is left. */
char *launch_folder_make (FolderRun *run, const LaunchWish *wish);
/* The run may have got a checkpoint since it was started. */
void launch_folder_refresh (FolderRun *run, const char *path);
/* Does any process live of which the folder at `path` has a file with this ending? */
gboolean launch_folder_lives (const char *path, const char *suffix);
/* After the end, until no member lives, 10 s at most: nodes that others started hold the checkpoint
 * until they are gone. */
void launch_folder_wait (const char *path);
