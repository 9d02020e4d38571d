/* SPDX-License-Identifier: BSD-3-Clause */
/* One thread that owns the Node, the engine's door, the links and the scribe's news, and turns the
 * Node's effects into deeds. The only place that sees all rooms. main's thread talks to it by the
 * calls below, each of which says whether it waits. */
#pragma once

#include "run-replay.h"

#include "coordinator/restore.h"
#include "engine/exchange.h"
#include "protocol/node.h"

#include "folder/folder.h"

#include "link/listener.h"
#include "link/wire.h"

typedef struct Driver Driver;

typedef struct
{
  const SatinJob *const *jobs; /* NULL-terminated */
  Digest program;              /* of app, job table and arguments */
  Identity identity;           /* borrowed; for the checkpoint */
  WireRun run;                 /* borrowed; credential NULL: no sockets at all */
  const char *folder;          /* the run's folder; NULL: none */
  const char *socket_path;     /* where to listen; NULL: nowhere */
  const char *checkpoint;      /* absolute path; NULL: none */
  const char *stats;           /* solo: where the summary goes; NULL: nowhere */
  RunReplay *replay;           /* (nullable) borrowed: only its job runs; the checkpoint is read */
  const char *site;            /* NULL: the run has no sites */
  const char *trace;           /* absolute path of a file that was begun; NULL: none */
  gsize stack_bytes;           /* C stack of each thread that runs jobs; 0: the default */
  guint64 shared_memory;       /* for shared bytes that were fetched; 0: the default */
  double interval_s, keep_s;   /* see folder_interval_read; keep_s 0: the default */
  double heartbeat_s, silence_s; /* 0: the default; see folder.h */
  guint workers;
  gint64 spin_us;    /* how long an idle worker polls at most before it sleeps */
  ListenerPlace tcp; /* where to listen, and TCP only; address NULL: no TCP */
  gboolean founder, solo;
  gboolean embedded; /* solo, in a program with a main of its own: never ends the process */
  gboolean far;      /* its folder is its own: see relay.h */
  gboolean closed, invited, kept; /* see NodeConfig */
  NodeSteal steal;
  PlanName protect;
  double verify; /* this share of the work is done twice; 0: none */
} DriverConfig;

/* Starts engine and thread. NULL: not enough memory or threads, or no place to listen. */
Driver *driver_new (const DriverConfig *config, GError **error);
/* Ends the thread; what the scribe has queued is written. After a run that has not finished it
 * waits until each job that runs has come to its next sync or poll. FALSE: its
 * descriptors are somebody else's now, so it, and what the configuration lends, stay for good. */
gboolean driver_free (Driver *driver);

typedef enum
{
  DRIVER_MASTER,  /* call main */
  DRIVER_RESULT,  /* a root's result is there */
  DRIVER_DEPOSED, /* another node is master now */
  DRIVER_ENDED,   /* the run is over: code */
  DRIVER_FINISHED /* … by what main returned, which may be any code */
} DriverNews;

/* Waits until this process is master, or the run has ended (DRIVER_ENDED: *code). */
DriverNews driver_wait_master (Driver *driver, int *code);
/* Asks for the result of root number `root` of main, from 0, and waits: DRIVER_RESULT (*value,
 * transfer full), _DEPOSED, or _ENDED. */
DriverNews driver_root (Driver *driver, guint32 root, guint32 job, GBytes *args, GBytes **value,
                        int *code);
/* Tells the run that main returned, with what it wrote, and waits for its end (DRIVER_FINISHED, or
 * _ENDED when it was cancelled or suspended first) or for being deposed.
 * Of a main that was deposed before that nothing is told.
 * `keep`: the answer is worth keeping in the checkpoint. `said`: what main wrote to stderr
 * (nullable). */
DriverNews driver_finish (Driver *driver, int main_code, GBytes *answer, GBytes *said,
                          gboolean keep, int *code);

/* Constants and inputs by name ("const/…", "input/…"); any thread. driver_constant: (nullable,
 * transfer full). */
GBytes *driver_constant (Driver *driver, const char *name);
/* Keeps it here, and gives it to all nodes when `publish`. */
void driver_set_constant (Driver *driver, const char *name, GBytes *bytes, gboolean publish);
/* This process is master again, and main goes on where it was: gives all nodes what main had given
 * them. FALSE: another main has given them something else since. `said`: name -> GBytes. */
gboolean driver_publish_again (Driver *driver, GHashTable *said);
/* BEST values that a checkpoint kept. */
void driver_set_best (Driver *driver, const char *name, GBytes *value);
/* Asks the run to suspend; `within_us`: how long jobs that run are waited for, 0: the default. Any
 * thread. */
void driver_suspend (Driver *driver, guint64 within_us);
/* Solo: suspends at SIGINT, SIGTERM and SIGUSR1; quits the process at a SIGINT after that. A replay
 * ends by them. */
void driver_watch_signals (Driver *driver);
/* A node process: leaves the run at SIGTERM, or has it suspended when it is the last one. */
void driver_leave_at_signal (Driver *driver);
/* Somebody has closed all descriptors, those that wake the driver too: says so, and the process
 * ends with 6. */
void driver_end_if_deaf (Driver *driver);
/* Closes links, scribe and statistics, and ends the thread; jobs may still run. Then the process is
 * to exit. */
void driver_crash_report (Driver *driver);
gboolean driver_is_stopping (Driver *driver, int *code);
/* (transfer full) (nullable): why the run ended as it did, in one sentence. Any thread. */
char *driver_reason (Driver *driver);

/* (transfer full): the figures of a program alone that found its answer in the checkpoint, began at
 * `began_us` on the monotonic clock, and did nothing. Any thread. */
char *report_idle_stats (gint64 began_us, guint workers);
