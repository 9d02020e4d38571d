/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of a verb, read and checked by the tables of options (node/options.h), and what
 * else can be seen to be wrong before a process is started. One thread; starts nothing. */
#pragma once

#include "command.h"

#include "folder/folder.h"

#include "node/options.h"

/* What the words of a verb are that are no options. */
typedef enum
{
  ARGUMENTS_WORDS,   /* words, also behind `--` */
  ARGUMENTS_BEHIND,  /* words, and behind `--` a program */
  ARGUMENTS_PROGRAM, /* a program behind `--`, or from the first word on if there is no `--` */
  ARGUMENTS_FIRST,   /* a program from the first word on */
} ArgumentsShape;

/* What holds when --depth of inspect, or --within of leave or save, does not say it. */
#define ARGUMENTS_DEPTH 4
#define ARGUMENTS_LEAVE_WITHIN_S 5
#define ARGUMENTS_SAVE_WITHIN_S 10

typedef struct
{
  const char *verb, *usage, *summary; /* the latter two for its page of help */
  ArgumentsShape shape;
} ArgumentsVerb;

typedef struct
{
  Options own;                   /* what programs take, too; the first, as the tables want it */
  int nodes;                     /* 0: not said */
  double heartbeat_s, silence_s; /* both or none; 0: not said */
  gboolean tcp, live;
  double verify;   /* 0: not said */
  int steal;       /* of --steal, as FolderRun has it; -1: not said */
  gboolean closed; /* nobody joins later */
  gboolean dry;    /* nothing is to be started */
  char *name;      /* (nullable) */
  char *sites;     /* (nullable) the file of --sites */
  gboolean copy;   /* other hosts are sent the program */
  char *listen;    /* (nullable) a numeric address of this host */
  char *site;      /* (nullable) */
  double within_s; /* -1: not said */
  gboolean all, follow, json, prometheus, print, tree, whole, anyway;
  gboolean verify_all;               /* --verify of inspect */
  int depth;                         /* -1: not said */
  char *from, *html, *to, *why;      /* (nullable) */
  char *batch, *run, *script, *time; /* (nullable) of submit */
  int restarts, warning_s;
  char **words;   /* besides options, NULL-terminated */
  char **program; /* (nullable) PROGRAM and its arguments, as the shape says */
} Arguments;

void arguments_clear (Arguments *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Arguments, arguments_clear)

/* The options of a verb, in the order of its page of help. (transfer full; of const Option) */
GPtrArray *arguments_rows (const char *verb);
/* (transfer full) (nullable): the verbs that take the option `word`, as a list for people. */
char *arguments_takers (const char *word);
/* Reads argv. Its page is shown, and the process ends, when --help is there. FALSE: said on stderr,
 * exit code 2. */
gboolean arguments_read (Arguments *options, const ArgumentsVerb *verb, int argc, char **argv);
/* The same of a verb with one word at most. */
gboolean arguments_read_one (Arguments *options, const ArgumentsVerb *verb, int argc, char **argv);
/* What of `run` or `resume` does not fit together. FALSE: said on stderr. */
gboolean arguments_fit (Arguments *options, gboolean resumes);
/* … and does the plan of protection, with all options that stand before or behind the program?
 * `nodes` that the run begins with; 0: not known. */
gboolean arguments_fit_plan (const Arguments *options, gboolean resumes, guint nodes);
/* How many nodes the options say; 0: that stands elsewhere: in a file of sites or of a checkpoint,
 * or srun or mpirun has started them. */
guint arguments_nodes (const Arguments *options, gboolean resumes);
/* The absolute path, or the URI, that `text` names (place_check). NULL: said on stderr,
 * COMMAND_STORE. (transfer full) */
char *arguments_target (const char *text, gboolean insecure);
/* Whether a checkpoint can be made at such a target. Of a URI the first node will see. FALSE: said
 * on stderr. */
gboolean arguments_target_is_writable (const char *target);
/* The absolute path of PROGRAM, searched in PATH when it has no slash. NULL: said on stderr.
 * (transfer full) */
char *arguments_program (const char *word);
/* Whether the files of --stats and --trace, if any, can be made. FALSE: said on stderr. */
gboolean arguments_files_are_writable (const Arguments *options);
/* Whether files can be made in the folder of the plain path `file`; makes one and removes it.
 * `what` names it. */
gboolean arguments_place_is_writable (const char *what, const char *file);
/* Fills the tokens of the user's key for what the run is to start, so that its nodes may mark its
 * checkpoint and prove the rows (coordinator/mark.h). The key stays here. */
void arguments_sign (FolderRun *run);
