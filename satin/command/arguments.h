/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and checks the command line of a verb by the tables of options (node/options.h), and makes
 * all other checks that are possible before a process is started. One thread; starts nothing.
 * Messages go to stderr. */
#pragma once

#include "command.h"

#include "folder/folder.h"

#include "node/options.h"

/* The words of a verb that are no options. */
typedef enum
{
  ARGUMENTS_WORDS,   /* words, before and behind `--` */
  ARGUMENTS_BEHIND,  /* words, and a program behind `--` */
  ARGUMENTS_PROGRAM, /* a program behind `--`, or from the first word on if there is no `--` */
  ARGUMENTS_FIRST,   /* a program from the first word on */
} ArgumentsShape;

/* The defaults of --depth of inspect, and of --within of leave and of save. */
#define ARGUMENTS_DEPTH 4
#define ARGUMENTS_LEAVE_WITHIN_S 5
#define ARGUMENTS_SAVE_WITHIN_S 10

typedef struct
{
  const char *verb, *usage, *summary; /* usage and summary: for the help */
  ArgumentsShape shape;
} ArgumentsVerb;

typedef struct
{
  Options own; /* the options of programs; must be the first member, as the tables require */
  int nodes;   /* 0: not given */
  double heartbeat_s, silence_s; /* both or none; 0: not given */
  gboolean tcp, live;
  double verify;   /* 0: not given */
  int steal;       /* --steal, as in FolderRun; -1: not given */
  gboolean closed; /* --closed: no nodes may be added */
  gboolean dry;    /* --dry-run: start nothing */
  char *name;      /* (nullable) */
  char *sites;     /* (nullable) the file of --sites */
  gboolean copy;   /* --copy: send the program to other hosts */
  char *listen;    /* (nullable) a numeric address of this host */
  char *site;      /* (nullable) */
  double within_s; /* -1: not given */
  gboolean all, follow, json, prometheus, print, tree, whole, anyway;
  gboolean verify_all;               /* --verify of inspect */
  int depth;                         /* -1: not given */
  char *from, *html, *to, *why;      /* (nullable) */
  char *batch, *run, *script, *time; /* (nullable) of submit */
  int restarts, warning_s;
  char **words;   /* the words that are no options, NULL-terminated */
  char **program; /* (nullable) PROGRAM and its arguments */
} Arguments;

void arguments_clear (Arguments *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Arguments, arguments_clear)

/* The options of a verb, in the order of its help. (transfer full; of const Option) */
GPtrArray *arguments_rows (const char *verb);
/* The verbs that take the option `word`, as a list for people; NULL: none. (transfer full)
 * (nullable) */
char *arguments_takers (const char *word);
/* Reads argv into *options (out; clear it in any case). With --help, prints the help and ends the
 * process. FALSE: a message was printed; the exit code is 2. */
gboolean arguments_read (Arguments *options, const ArgumentsVerb *verb, int argc, char **argv);
/* The same for a verb that takes at most one word. */
gboolean arguments_read_one (Arguments *options, const ArgumentsVerb *verb, int argc, char **argv);
/* The same for a verb that takes exactly one run. */
gboolean arguments_read_run (Arguments *options, const ArgumentsVerb *verb, int argc, char **argv);
/* FALSE: options of `run` or `resume` conflict; this was printed. Also derives --tcp, --heartbeat
 * and --silence from other options. */
gboolean arguments_fit (Arguments *options, gboolean resumes);
/* FALSE: the plan of protection conflicts with other options; this was printed. To be called when
 * the options behind the program were read, too. `nodes`: that the run begins with; 0: not known
 * yet. */
gboolean arguments_fit_plan (const Arguments *options, gboolean resumes, guint nodes);
/* The number of nodes by the options; 0: a file of sites, the checkpoint, srun or mpirun determines
 * it. */
guint arguments_nodes (const Arguments *options, gboolean resumes);
/* The absolute path or URI that `text` means (place_check). NULL: a message was printed; the exit
 * code is COMMAND_STORE. (transfer full) */
char *arguments_target (const char *text, gboolean insecure);
/* TRUE: a checkpoint can be made at `target`. A URI is not checked; the first node does that.
 * FALSE: a message was printed. */
gboolean arguments_target_is_writable (const char *target);
/* The absolute path of PROGRAM, searched in PATH if it has no slash. NULL: a message was printed.
 * (transfer full) */
char *arguments_program (const char *word);
/* TRUE: the files of --stats and --trace, if given, can be made. FALSE: a message was printed. */
gboolean arguments_files_are_writable (const Arguments *options);
/* Fills run->token and run->rows_token, made with the user's key for this program and arguments.
 * With them the nodes mark the checkpoint and prove its rows (coordinator/mark.h); the key stays
 * here. */
void arguments_sign (FolderRun *run);
