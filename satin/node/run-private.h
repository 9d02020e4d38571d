/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of a run in this process share: run.c, run-open.c, run-answer.c, run-words.c,
 * run-identity.c, satin-root.c, satin-main.c (SATIN_APP's main), satin-open.c (a program with its
 * own main), and look.c (the first look at the checkpoint). Only the thread that opened the run,
 * unless stated otherwise. */
#pragma once

#include "capture.h"
#include "driver.h"
#include "options.h"

#include "folder/folder.h"

#include <satin.h>

/* The owner of this process. */
typedef enum
{
  RUN_OF_APP,  /* SATIN_APP defined main (): signals, descriptors and the end of the process are
                  Satin's */
  RUN_OF_NODE, /* `satin run` started a program with its own main: until its exit it belongs to the
                  run, which takes the signals that the program has not taken */
  RUN_EMBEDDED /* a program with its own main, alone: nothing of the process is Satin's */
} RunOwner;

/* A root that main has asked for; it can be asked for again. */
typedef struct
{
  guint32 job;
  GBytes *args; /* owned */
} RunRoot;

/* A root's result, of which main borrows parts. */
typedef struct
{
  const SatinType *type;
  void *value;
} RunKept;

struct SatinRun
{
  RunOwner owner;
  const SatinApp *app;
  SatinApp own_app;            /* of a program with its own main: what `app` points to ... */
  char *own_name;              /* ... and its name */
  const SatinJob *const *jobs; /* NULL-terminated: all jobs of the program */
  Options options;
  FolderRun folder_run; /* node process: what the launcher wrote */
  char *folder;         /* the run's folder; NULL: none */
  char *socket_path;
  WireRun wire_run;
  Identity identity;
  Restore restore; /* founder and solo: what was at the checkpoint's place */
  DriverConfig config;
  Driver *driver;
  pid_t pid;
  gboolean node_process;
  gboolean begins_trace; /* this process creates the file of --trace */
  gboolean kept_inputs;  /* a resume or replay: the inputs are the checkpoint's, not compared with
                            files */
  gboolean in_main, root_done, finished;
  gboolean over;    /* the answer was in the checkpoint: stop_code is set, nothing is left to do */
  guint32 roots;    /* how many main has asked for */
  GArray *asked;    /* RUN_OF_NODE: of RunRoot: these ... */
  GHashTable *said; /* ... and what main published and read: name -> GBytes */
  gboolean stopped; /* satin_root returns FALSE from now on; stop_code is set */
  gboolean in_use;  /* a driver that could not be freed uses this: it stays for good */
  gint in_root;     /* atomic: a thread waits in satin_root */
  gboolean deposed; /* main's last root has no result, since another node is master */
  int stop_code;
  Capture out, err;
  GPtrArray *inputs;  /* of GBytes: main borrows them until the run ends */
  GPtrArray *results; /* of RunKept: main borrows parts of the roots' results */
};

/* Sets a SATIN_ERROR; its code is an exit code of satin(1). Returns FALSE. */
gboolean run_error (GError **error, int code, const char *format, ...) G_GNUC_PRINTF (3, 4);
/* A function of satin.h cannot do what it promises. Ends the process with this code and sentence.
 * In a process that is not Satin's, every satin_root returns FALSE from now on. */
void run_give_up (SatinRun *run, int code, const char *sentence);
/* To be called before a run is opened: one run at a time. FALSE: a run is open in this process, or
 * no other is possible. Any thread. */
gboolean run_take_place (GError **error);
/* To be called after run_take_place, when the run is closed. `run` (nullable): it could not be
 * made. Any thread. */
void run_give_place (const SatinRun *run);
/* (transfer full) `layout`: of the satin.h with which the program was compiled. NULL: it is not
 * this library's. */
SatinRun *run_new (RunOwner owner, uint32_t layout, GError **error);
/* Frees the run and all that it owns, unless it is `in_use`. */
void run_free (SatinRun *run);
/* Reads the command line. FALSE: code 2, or 4 if the checkpoint's place is not one. */
gboolean run_open_options (SatinRun *run, int argc, char **argv, GError **error);
/* Numbers the jobs. FALSE: two jobs have one name. */
gboolean run_open_jobs (SatinRun *run, GError **error);
/* Makes this process a node, or sets `over`. FALSE: this failed. If it is the founder, it has
 * written the end for the other nodes; the caller frees `run`. */
gboolean run_open (SatinRun *run, GError **error);
/* Sets the sentence of satin_reason. (transfer full) (nullable) */
void run_set_reason (char *sentence);
const char *run_get_reason (void);
/* satin_root returns FALSE from now on, with this code and sentence. Returns FALSE. */
gboolean run_stop (SatinRun *run, int code, const char *sentence);
/* If satin_reason has no sentence and the code is not 0: sets the driver's reason of the end. */
void run_explain (const SatinRun *run, int code);
/* Ends the process's part in the run: sockets, threads, folder. Call run_free after it. */
void run_close (SatinRun *run);
/* TRUE: Satin may handle this signal in this process. */
gboolean run_may_take (const SatinRun *run, int number);
/* The node was deposed, and its main goes on: waits until the node is master again, asks again for
 * all roots, and returns what driver_root returns for the last. *value (out, transfer full). */
DriverNews run_ask_again (SatinRun *run, GBytes **value);

/* main begins: holds back what it prints, if that is an answer. */
void run_answer_begin (SatinRun *run);
/* main has ended with `main_code`: gives what it printed to the run as its answer. TRUE: the run
 * has ended with *code. FALSE: another node is master, so what main printed is no answer. */
gboolean run_answer_end (SatinRun *run, int main_code, int *code);
/* exit (`status`) was called. TRUE, after a message: the status is 0, but a thread waits in
 * satin_root. The caller must not exit with 0, which would mean that there is an answer. */
gboolean run_answer_is_in_vain (SatinRun *run, int status);

/* Fills run->identity, except the run's id, name and options. FALSE: the build of the program is
 * unknown. */
gboolean run_identity_fill (SatinRun *run, GError **error);

/* The founder reads the checkpoint before anything runs. FALSE: the run cannot continue from it;
 * look.c has the sentences. If the place cannot be reached, another node may found the run (then
 * TRUE, and `config.founder` is FALSE). If the checkpoint has an answer, it is shown and `over` is
 * set, unless the process is not Satin's. */
gboolean look_at_checkpoint (SatinRun *run, GError **error);
/* --new: renames the file at the checkpoint's place. For node processes the launcher has done
 * that. */
gboolean look_begin_anew (SatinRun *run, GError **error);
/* FALSE: a damaged checkpoint may have lost this input, and it may have been another one
 * (restore_input_is_sound). */
gboolean look_at_input (SatinRun *run, const char *path, GBytes *bytes, GError **error);
