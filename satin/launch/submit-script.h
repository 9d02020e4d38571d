/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the batch script of `satin submit`: one Slurm job that suspends its run before its time is
 * over, and requeues itself. Pure. */
#pragma once

#include <glib.h>

#define SUBMIT_RESTARTS_DEFAULT 1000
#define SUBMIT_WARNING_DEFAULT_S 120
/* The second line of each script begins with this. */
#define SUBMIT_SIGN "# Written by `satin submit`"

typedef struct
{
  const char *satin;      /* absolute path of the command */
  const char *program;    /* absolute path */
  char **arguments;       /* of the program, NULL-terminated */
  const char *folder;     /* absolute; the run works there */
  const char *name;       /* the job's name; letters, digits, '.', '_', '-' */
  const char *checkpoint; /* (nullable) a place; NULL: NAME-JOB.satin in the folder */
  gboolean insecure;      /* --insecure of `satin run` */
  char **run_options;     /* more options of `satin run`, NULL-terminated */
  const char *sbatch;     /* (nullable) options of sbatch, one line */
  const char *time;       /* (nullable) as Slurm takes it; NULL: the partition's limit */
  int nodes, workers;     /* workers 0: not given */
  int restarts;           /* at most */
  int warning_s;          /* Slurm signals so many seconds before the end of the time */
} SubmitScript;

/* The text of the script. (transfer full) */
char *submit_script_write (const SubmitScript *script);
/* A time limit as Slurm writes it, in seconds: minutes, minutes:seconds, hours:minutes:seconds,
 * days-hours, days-hours:minutes or days-hours:minutes:seconds. 0: `time` has none of these forms,
 * or is longer than 366 days. */
gint64 submit_script_seconds (const char *time);
/* `word` as a name of the job and its files: at most 64 bytes, with '_' for each character that
 * does not fit. (transfer full) */
char *submit_script_name (const char *word);
