/* SPDX-License-Identifier: BSD-3-Clause */
/* The entry points of all verbs of the `satin` command. command-words.h has exit codes and
 * messages, arguments.h the options. One thread. */
#pragma once

#include "launch/command-words.h"

#include <glib.h>

/* argv[0] is the verb. Each returns the exit code. */
int command_run (int argc, char **argv);
int command_resume (int argc, char **argv);
int command_replay (int argc, char **argv);
int command_suspend (int argc, char **argv);
int command_add (int argc, char **argv);
int command_leave (int argc, char **argv);
int command_status (int argc, char **argv);
int command_inspect (int argc, char **argv);
int command_cancel (int argc, char **argv);
int command_save (int argc, char **argv);
int command_wait (int argc, char **argv);
int command_log (int argc, char **argv);
int command_jobs (int argc, char **argv);
int command_top (int argc, char **argv);
int command_metrics (int argc, char **argv);
int command_complete (int argc, char **argv);
int command_merge (int argc, char **argv);
int command_trust (int argc, char **argv);
int command_view (int argc, char **argv);
int command_submit (int argc, char **argv);

/* The name of `names` (NULL-terminated) that is most like the mistyped `word`; NULL: none is like
 * it. (transfer none) (nullable) */
const char *command_nearest (const char *word, const char *const *names);
