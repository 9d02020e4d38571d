/* SPDX-License-Identifier: BSD-3-Clause */
/* How the launcher makes, reads and leaves the run's folder. Launcher's thread. */
#pragma once

#include "launch.h"

/* Makes the folder of `run` with all files that a node reads at its start: the run's file, the
 * credential, the key, the sites, the copy of the checkpoint. If the name is taken and
 * wish->any_name is set, run->name becomes another one. Returns the path (transfer full). NULL: the
 * reason was printed on stderr, and no folder is left. */
char *launch_folder_make (FolderRun *run, const LaunchWish *wish);
/* Reads run->checkpoint from the folder if it is NULL, since `satin save --to` may have given the
 * run one. */
void launch_folder_refresh (FolderRun *run, const char *path);
/* TRUE: the folder at `path` has a file with this suffix (FOLDER_NODE_...) of a process that
 * lives. */
gboolean launch_folder_lives (const char *path, const char *suffix);
/* After the end: waits until no member lives, at most 10 s. Nodes that `satin add` started use the
 * checkpoint until they exit. */
void launch_folder_wait (const char *path);
