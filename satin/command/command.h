/* SPDX-License-Identifier: BSD-3-Clause */
/* What all verbs of the `satin` command share: their entry points, the exit codes, the words on
 * stderr. One thread. Knows nothing of what a verb does. */
#pragma once

#include <gio/gio.h>

/* The exit codes of a run and of the command, as the manual lists them. */
typedef enum
{
  COMMAND_DONE = 0,
  COMMAND_ERROR = 1,
  COMMAND_USAGE = 2,
  COMMAND_UNUSABLE = 3,  /* the checkpoint is not of this program, foreign, or too new */
  COMMAND_STORE = 4,     /* the checkpoint's place cannot be read or written */
  COMMAND_IN_USE = 5,    /* another run has the checkpoint */
  COMMAND_JOB = 6,       /* a job failed */
  COMMAND_CANCELLED = 7, /* ended by `satin cancel`, without an answer */
  COMMAND_SUSPENDED = 75
} CommandCode;

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

/* One sentence on stderr, `satin: ` before it and a line end after it. */
void command_say (const char *format, ...) G_GNUC_PRINTF (1, 2);
/* `word` as a shell takes it back: in quotes only where it must be, with escapes ($'…') for what
 * does not print. (transfer full) */
char *command_quote (const char *word);
/* Shows the live line: on a terminal over the one before, else as a line of its own. NULL wipes it
 * away. */
void command_show (const char *line, gboolean terminal);
/* The same as command_say, with a hint at `satin VERB --help`; returns COMMAND_USAGE. */
int command_usage (const char *verb, const char *format, ...) G_GNUC_PRINTF (2, 3);
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
