/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of a run in this process share: run.c (main ()), run-words.c and look.c (the
 * first look at the checkpoint). Main thread only. */
#pragma once

#include "capture.h"
#include "driver.h"
#include "folder.h"
#include "options.h"

#include <satin.h>

struct SatinRun
{
  const SatinApp *app;
  const SatinJob *const *jobs; /* NULL-terminated: all of the program */
  Options options;
  FolderRun folder_run; /* node process: what the launcher wrote */
  char *folder;         /* the run's folder; NULL: none */
  char *socket_path;
  WireRun wire_run;
  Identity identity;
  Restore restore; /* founder and solo: what stood at the checkpoint's place */
  DriverConfig config;
  Driver *driver;
  pid_t pid;
  gboolean node_process;
  gboolean begins_trace; /* this process begins the file of --trace */
  gboolean kept_inputs; /* a resume: inputs and constants are the checkpoint's, files are not looked
                           at */
  gboolean in_main, root_done, finished;
  guint32 roots;    /* main has asked for so many */
  gint in_root;     /* atomic: satin_root waits */
  gboolean deposed; /* main waited in vain for the root, since another is master */
  int stop_code;
  Capture out, err;
  GPtrArray *inputs;  /* of GBytes: borrowed by main until the run ends */
  GPtrArray *results; /* of Kept: what main borrows of the roots' results */
};

/* One sentence, the documented exit code, nothing left behind. */
void run_leave (SatinRun *run, int code, const char *sentence);

/* Fills run->identity but for the run's id, its name and its options. Ends the process when the
 * build of the program cannot be told. */
void run_identity_fill (SatinRun *run);

/* The founder looks at the checkpoint before anything runs, and refuses what it cannot go on from:
 * see there for the sentences. A place that cannot be reached from here may be passed on to another
 * node (`config.founder` is FALSE then). May show the answer that stands there, and end the
 * process. */
void look_at_checkpoint (SatinRun *run);
/* --new: what stands there is set aside. Of node processes the launcher has done it, once for all.
 */
void look_begin_anew (SatinRun *run);
/* An input that a damaged checkpoint may have lost: see restore_input_is_sound. */
void look_refuse_lost_input (SatinRun *run, const char *path, GBytes *bytes);
