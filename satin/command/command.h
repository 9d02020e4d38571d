/* SPDX-License-Identifier: BSD-3-Clause */
/* The entry points of all verbs of the `satin` command; their exit codes and words on stderr are of
 * command-words.h, their options of arguments.h. One thread. Knows nothing of what a verb does. */
#pragma once

#include "launch/command-words.h"

#include <gio/gio.h>

/* Each verb gets its own argc and argv, argv[0] being the verb, and returns the exit code. */
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

/* The one of `names` (NULL-terminated) that somebody meant who wrote `word`. (nullable) */
const char *command_nearest (const char *word, const char *const *names);
