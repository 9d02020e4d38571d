/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts node processes. Between fork and exec the child allocates nothing, so this process may
 * have other threads. */
#pragma once

#include "folder/folder.h"

#include <sys/types.h>

typedef struct
{
  gboolean founder;
  int workers;      /* 0: run->workers */
  const char *site; /* (nullable) */
} StartWish;

/* Starts a node of `run`, whose folder is `path`: in a session of its own, with stdin from
 * /dev/null, stdout and stderr to node-PID.log. Returns its process number. -1: FOLDER_ERROR, since
 * the program or the working directory cannot be used; no process is left. */
pid_t start_node (const FolderRun *run, const char *path, const StartWish *wish, GError **error);
/* The same for a process that leads to another host: *to and *from (out) are pipes to its stdin and
 * from its stdout; its stderr is the log. */
pid_t start_far (char **argv, const char *path, int *to, int *from, GError **error);
/* Sends SIGKILL to a child that is not yet reaped, and to its process group, such as the processes
 * that the shell of a site's command started. */
void start_kill (pid_t pid);
