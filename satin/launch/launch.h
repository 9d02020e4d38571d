/* SPDX-License-Identifier: BSD-3-Clause */
/* The launcher: makes the run's folder, starts the nodes, watches them until the run has ended,
 * shows the answer once, cleans up. One thread with a main loop. The run survives its death. It
 * takes no part in the run and must not know checkpoints, jobs or messages. */
#pragma once

#include "folder/folder.h"

typedef struct
{
  const char *stats; /* (nullable) the file of --stats */
  const char *copy;  /* (nullable) a local copy of the checkpoint at a URI (restore_look_for): it
                        moves into the run's folder, so that no node downloads it again */
  gboolean live;     /* show the live line even if stderr is not a terminal */
  gboolean any_name; /* if run->name is taken, choose another */
  const GPtrArray
      *sites; /* (nullable) of Site: where the nodes start; else run->nodes of them start here */
  const char *sites_text; /* (nullable) their text, for `add` */
  gboolean send_program;  /* to nodes on other hosts */
} LaunchWish;

/* Runs `run` to its end. Returns the exit code of the run; errors were printed on stderr. */
int launch_run (FolderRun *run, const LaunchWish *wish);
