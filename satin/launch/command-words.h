/* SPDX-License-Identifier: BSD-3-Clause */
/* Exit codes and messages of the launcher and of all verbs. One thread. */
#pragma once

#include <glib.h>

/* The exit codes of a run and of the command, as the manual lists them. */
typedef enum
{
  COMMAND_DONE = 0,
  COMMAND_ERROR = 1,
  COMMAND_USAGE = 2,
  COMMAND_UNUSABLE = 3,  /* the checkpoint is damaged, too new, or of another program or user */
  COMMAND_STORE = 4,     /* the checkpoint's place cannot be read or written */
  COMMAND_IN_USE = 5,    /* another run has the checkpoint */
  COMMAND_JOB = 6,       /* a job failed */
  COMMAND_CANCELLED = 7, /* by `satin cancel`, without an answer */
  COMMAND_SUSPENDED = 75
} CommandCode;

/* Prints one sentence on stderr, with `satin: ` before it and a line end after it. */
void command_say (const char *format, ...) G_GNUC_PRINTF (1, 2);
/* `word` as a shell reads it: quoted only if it must be, with escapes ($'...') for bytes that do
 * not print. (transfer full) */
char *command_quote (const char *word);
/* Appends the words of `words` (nullable) up to its NULL, each as command_quote writes it with a
 * space before it. */
void command_append_words (GString *line, char *const *words);
/* Shows the live line: on a terminal it overwrites the one before, else it is a line of its own.
 * NULL wipes it away. */
void command_show (const char *line, gboolean terminal);
/* As command_say, with a hint at `satin VERB--help`: `verb` is "" or ends with a space. Returns
 * COMMAND_USAGE. */
int command_usage (const char *verb, const char *format, ...) G_GNUC_PRINTF (2, 3);
