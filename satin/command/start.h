/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts one node process. Call it before this process has a second thread: the child writes its
 * own process number into the name of its log. */
#pragma once

#include "net/folder.h"

#include <sys/types.h>

/* A node of `run`, whose folder is `path`, in a session of its own with nothing on stdin and all
 * its words in node-PID.log. -1: the program or the working directory is no good; no process is
 * left. */
pid_t start_node (const FolderRun *run, const char *path, gboolean founder, GError **error);
