/* SPDX-License-Identifier: BSD-3-Clause */
/* The options that `satin run` and `satin resume` share, read and checked. One thread; starts
 * nothing. */
#pragma once

#include "command.h"

#include "folder/folder.h"

typedef struct
{
  int nodes, workers;            /* 0: not said */
  double interval_s;             /* 0: not said */
  double keep_s;                 /* with it; 0: the default (folder_interval_read) */
  double heartbeat_s, silence_s; /* both or none; 0: not said */
  gboolean tcp, live;
  PlanName protect;
  double verify;         /* 0: not said */
  int steal;             /* of --steal, as FolderRun has it; -1: not said */
  gboolean closed;       /* nobody joins later */
  gboolean anew;         /* what stands at `checkpoint` is set aside */
  gboolean dry;          /* nothing is to be started */
  gboolean mended;       /* rows of another build of the program are used */
  gboolean trust;        /* rows of another user are used */
  gboolean insecure;     /* URIs that are sent in clear are allowed */
  char *checkpoint;      /* (nullable) as it was said */
  char *name;            /* (nullable) */
  char *sites;           /* (nullable) the file of --sites */
  gboolean copy;         /* other hosts are sent the program */
  char *listen;          /* (nullable) a numeric address of this host */
  char *stats;           /* (nullable) absolute path */
  char *trace;           /* (nullable) absolute path */
  guint64 stack;         /* 0: not said */
  guint64 shared_memory; /* 0: not said */
  char **words;          /* what stood before `--` besides options, NULL-terminated */
  char **program;        /* (nullable) PROGRAM and its arguments after `--` */
} Arguments;

void arguments_clear (Arguments *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Arguments, arguments_clear)

/* Reads argv of `verb`; `parameters` and `summary` are for --help. FALSE: said on stderr, exit
 * code 2. */
gboolean arguments_read (Arguments *options, const char *const about[3], int argc, char **argv);
/* The absolute path, or the URI, that `text` names (place_check). NULL: said on stderr,
 * COMMAND_STORE. (transfer full) */
char *arguments_target (const char *text, gboolean insecure);
/* Whether a checkpoint can be made at such a target. Of a URI the first node will see. FALSE: said
 * on stderr. */
gboolean arguments_target_is_writable (const char *target);
/* The absolute path of PROGRAM, searched in PATH when it has no slash. NULL: said on stderr.
 * (transfer full) */
char *arguments_program (const char *word);
/* (transfer full) (nullable): cuts argv at the first `--`; what stands behind it, options of the
 * same name included, is not Satin's. */
char **arguments_cut_program (int *argc, char **argv);
/* Whether the files of --stats and --trace, if any, can be made. FALSE: said on stderr. */
gboolean arguments_files_are_writable (const Arguments *options);
/* Whether files can be made in the folder of the plain path `file`; makes one and removes it.
 * `what` names it. */
gboolean arguments_place_is_writable (const char *what, const char *file);
/* Fills the tokens of the user's key for what the run is to start, so that its nodes may mark its
 * checkpoint and prove the rows (coordinator/mark.h). The key stays here. */
void arguments_sign (FolderRun *run);
