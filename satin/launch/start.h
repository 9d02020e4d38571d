/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts one node process. The child writes its own process number into the name of its log; it
 * allocates nothing before exec, so this process may have other threads. */
#pragma once

#include "folder/folder.h"

#include <sys/types.h>

typedef struct
{
  gboolean founder;
  int workers;      /* 0: as the run says */
  const char *site; /* (nullable) */
} StartWish;

/* A node of `run`, whose folder is `path`, in a session of its own with nothing on stdin and all
 * its words in node-PID.log. -1: the program or the working directory is no good; no process is
 * left. */
pid_t start_node (const FolderRun *run, const char *path, const StartWish *wish, GError **error);
/* The same for what leads to another host: *to and *from (out) are pipes to its standard input and
 * from its standard output; what it says on stderr is the log. */
pid_t start_far (char **argv, const char *path, int *to, int *from, GError **error);
/* kill -9 to a child that is not yet reaped, and to what it has started, as the shell of a site's
 * command does. */
void start_kill (pid_t pid);
