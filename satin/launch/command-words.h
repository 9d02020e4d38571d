/* SPDX-License-Identifier: BSD-3-Clause */
/* The exit codes, and the words on stderr, of the launcher and of all verbs. One thread. */
#pragma once

#include <glib.h>

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
