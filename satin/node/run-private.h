/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of a run in this process share: run.c, run-open.c, run-answer.c,
 * satin-root.c, satin-main.c (SATIN_APP's main), satin-open.c (a main of its own), and look.c (the
 * first look at the checkpoint). The thread that opened the run only. */
#pragma once

#include "capture.h"
#include "driver.h"
#include "options.h"

#include "folder/folder.h"

#include <satin.h>

/* Whose this process is. */
typedef enum
{
  RUN_OF_APP,  /* SATIN_APP defined main (): signals, descriptors and the end are Satin's */
  RUN_OF_NODE, /* `satin run` started a program with a main of its own: until its exit it is the
                  run's, which takes what the program has not taken itself */
  RUN_EMBEDDED /* a program with a main of its own, alone: nothing of the process is Satin's */
} RunOwner;

/* One that main has asked for, so that it can be asked for again. */
typedef struct
{
  guint32 job;
  GBytes *args; /* owned */
} RunRoot;

/* What main borrows of a root's result. */
typedef struct
{
  const SatinType *type;
  void *value;
} RunKept;

struct SatinRun
{
  RunOwner owner;
  const SatinApp *app;
  SatinApp own_app;            /* of a main of its own: `app` */
  char *own_name;              /* … */
  const SatinJob *const *jobs; /* NULL-terminated: all of the program */
  Options options;
  FolderRun folder_run; /* node process: what the launcher wrote */
  char *folder;         /* the run's folder; NULL: none */
  char *socket_path;
  WireRun wire_run;
  Identity identity;
  Restore restore; /* founder and solo: what stood at the checkpoint's place */
  DriverConfig config;
  Driver *driver;
  pid_t pid;
  gboolean node_process;
  gboolean begins_trace; /* this process begins the file of --trace */
  gboolean kept_inputs; /* a resume: inputs and constants are the checkpoint's, files are not looked
                           at */
  gboolean in_main, root_done, finished;
  gboolean over;    /* the answer stood in the checkpoint: stop_code, and nothing is to be done */
  guint32 roots;    /* main has asked for so many */
  GArray *asked;    /* of RunRoot: these, where a main waits until its node is master again … */
  GHashTable *said; /* … and what it published and read before: name -> GBytes */
  gboolean stopped; /* no more roots: stop_code */
  gboolean in_use;  /* by a driver that could not be freed: it stays for good */
  gint in_root;     /* atomic: satin_root waits */
  gboolean deposed; /* main waited in vain for the root, since another is master */
  int stop_code;
  Capture out, err;
  GPtrArray *inputs;  /* of GBytes: borrowed by main until the run ends */
  GPtrArray *results; /* of RunKept: what main borrows of the roots' results */
};

/* Sets a SATIN_ERROR, whose code is the exit code that satin(1) documents; FALSE. */
gboolean run_error (GError **error, int code, const char *format, ...) G_GNUC_PRINTF (3, 4);
/* A word of satin.h cannot do what it says. The process ends with this code and sentence; in one
 * that is not Satin's every satin_root returns FALSE from now on. */
void run_give_up (SatinRun *run, int code, const char *sentence);
/* The same, with nothing left behind; does not return. RUN_OF_APP and RUN_OF_NODE. */
void run_leave (SatinRun *run, int code, const char *sentence) G_GNUC_NORETURN;

void run_kept_free (void *kept);
/* One run at a time: FALSE, one is open in this process, or no other can be. Any thread. */
gboolean run_take_place (GError **error);
/* … and this one is not any more. `run` (nullable): it could not even begin. */
void run_give_place (const SatinRun *run);
/* Of no run yet. `layout`: of the program's satin.h. NULL: it is not this library's. */
SatinRun *run_new (RunOwner owner, uint32_t layout, GError **error);
/* Everything that it owns, unless it is still `in_use`. */
void run_free (SatinRun *run);
/* Reads the command line. FALSE: 2, or 4 for a checkpoint's place that is none. */
gboolean run_open_options (SatinRun *run, int argc, char **argv, GError **error);
/* The jobs get their numbers. FALSE: two have one name. */
gboolean run_open_jobs (SatinRun *run, GError **error);
/* Until this process is a node; or `over` is TRUE. FALSE: it cannot be one. A run that others wait
 * for has been told, and nothing is left behind but `run`, to be freed by who made it. */
gboolean run_open (SatinRun *run, GError **error);
/* satin_reason's sentence. (transfer full) (nullable) */
void run_set_reason (char *sentence);
const char *run_get_reason (void);
/* No more roots: with this code and sentence. FALSE. */
gboolean run_stop (SatinRun *run, int code, const char *sentence);
/* What the driver says of an end with this code, unless there is a sentence or the code is 0. */
void run_explain (const SatinRun *run, int code);
/* What this process has of the run ends: sockets, threads, folder. Then run_free. */
void run_close (SatinRun *run);
/* The signal is Satin's to take in this process. */
gboolean run_may_take (const SatinRun *run, int number);
/* The node was deposed, and its main goes on where it was: waits until it is master again and has
 * the results of all roots but the last; then as driver_root of the last. */
DriverNews run_ask_again (SatinRun *run, GBytes **value);

/* main begins: from now on what it prints is held back where it is an answer. */
void run_answer_begin (SatinRun *run);
/* main has ended with `main_code`: gives what it printed to the run as its answer. TRUE: the run is
 * over, with *code. FALSE: another node is master, and this main's answer is none. */
gboolean run_answer_end (SatinRun *run, int main_code, int *code);
/* exit () while satin_root waits in another thread: whoever sees 0 takes it for an answer. */
gboolean run_answer_is_in_vain (SatinRun *run, int status);

/* Fills run->identity but for the run's id, its name and its options. FALSE: the build of the
 * program cannot be told. */
gboolean run_identity_fill (SatinRun *run, GError **error);

/* The founder looks at the checkpoint before anything runs, and refuses what it cannot go on from:
 * see there for the sentences. A place that cannot be reached from here may be passed on to another
 * node (`config.founder` is FALSE then). Shows the answer that stands there (`over`), unless the
 * process is not Satin's. */
gboolean look_at_checkpoint (SatinRun *run, GError **error);
/* --new: what stands there is set aside. Of node processes the launcher has done it, once for all.
 */
gboolean look_begin_anew (SatinRun *run, GError **error);
/* An input that a damaged checkpoint may have lost: see restore_input_is_sound. FALSE: it may. */
gboolean look_at_input (SatinRun *run, const char *path, GBytes *bytes, GError **error);
