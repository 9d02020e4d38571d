/* SPDX-License-Identifier: BSD-3-Clause */
/* What all verbs of the `satin` command share: their entry points and the reading of options; the
 * exit codes and the words on stderr are of command-words.h. One thread. Knows nothing of what a
 * verb does. */
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
/* Parses the options of `verb`, which stand before the first other word. FALSE: said on stderr. */
gboolean command_parse (GOptionContext *context, const char *verb, int *argc, char ***argv);
/* The same with options before, between and behind the other words, which go to `words` (out,
 * transfer full). */
gboolean command_parse_words (GOptionContext *context, const char *verb, int argc, char **argv,
                              char ***words);
/* The same with one word at most, which goes to `word` (out, nullable, transfer full). */
gboolean command_parse_one (GOptionContext *context, const char *verb, int argc, char **argv,
                            char **word);
