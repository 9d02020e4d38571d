/* SPDX-License-Identifier: BSD-3-Clause */
/* The local launcher: makes the run's folder, starts the nodes, watches them until the run has
 * ended, shows the answer once, cleans up. One thread and a main loop; its death ends nothing. It
 * takes no part in the run and must not know checkpoints, jobs or messages. */
#pragma once

#include "folder/folder.h"

typedef struct
{
  const char *stats; /* (nullable) file for the figures */
  const char *copy;  /* (nullable) of what stands at the checkpoint's URI (restore_look_for): the
                        run's folder takes it, so that nobody brings it again */
  gboolean live;     /* show the live line also when stderr is not a terminal */
  gboolean any_name; /* run->name is a wish: when it is taken, another is made up */
  const GPtrArray
      *sites; /* (nullable) of Site: where the nodes are; else run->nodes of them here */
  const char *sites_text; /* (nullable) as they were read: the run's folder keeps it for `add` */
  gboolean send_program;  /* to other hosts */
} LaunchWish;

/* Runs `run` to its end, and returns the exit code of the run. What went wrong was said on stderr.
 */
int launch_run (FolderRun *run, const LaunchWish *wish);
