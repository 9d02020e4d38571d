/* SPDX-License-Identifier: BSD-3-Clause */
/* The driver owns the Node, the links and the news of the scribe, calls the engine, and carries out
 * the Node's effects. One thread at a time drives: its own, or an idle worker (drive.h). Only this
 * room sees all other rooms. main's thread uses the functions below; each says whether it waits. */
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
  Digest program;              /* digest of the app's name, job table and arguments */
  Identity identity;           /* borrowed; for the checkpoint */
  WireRun run;                 /* borrowed; credential NULL: no sockets */
  const char *folder;          /* the run's folder; NULL: none */
  const char *socket_path;     /* where to listen; NULL: nowhere */
  const char *checkpoint;      /* absolute path; NULL: none */
  const char *stats;           /* solo: where the summary goes; NULL: nowhere */
  RunReplay *replay; /* (nullable) borrowed: only this job runs; the checkpoint is only read */
  const char *site;            /* NULL: the run has no sites */
  const char *trace;           /* absolute path of a trace file that exists; NULL: none */
  gsize stack_bytes;           /* C stack of each thread that runs jobs; 0: the default */
  guint64 shared_memory;       /* bytes of memory for fetched shared bytes; 0: the default */
  double interval_s, keep_s;   /* see folder_interval_read; keep_s 0: the default */
  double heartbeat_s, silence_s; /* 0: the default; see folder.h */
  guint workers;
  gint64 spin_us;    /* how long an idle worker polls at most before it sleeps */
  ListenerPlace tcp; /* where to listen, and TCP only; address NULL: no TCP */
  gboolean founder, solo;
  gboolean embedded; /* solo, in a program with a main of its own: never ends the process */
  gboolean far;      /* on another host than the launcher: its folder is its own (relay.h) */
  gboolean closed, invited; /* see NodeConfig */
  gboolean kept;            /* see NODE_CHECKPOINT_KEPT */
  NodeSteal steal;
  PlanName protect;
  double verify; /* the share of the work that is done twice; 0: none */
} DriverConfig;

/* Starts the engine and the driver's thread. (transfer full) NULL: not enough memory, threads or
 * descriptors, or no address to listen at. */
Driver *driver_new (const DriverConfig *config, GError **error);
/* Ends the thread, after the scribe has written what is queued. If the run has not finished, waits
 * until each running job comes to its next sync or poll. FALSE: the program has closed the driver's
 * descriptors, so the driver, and all that the configuration lent it, must stay for good. */
gboolean driver_free (Driver *driver);

typedef enum
{
  DRIVER_MASTER,  /* this process is master: call main */
  DRIVER_RESULT,  /* the root's result has come */
  DRIVER_DEPOSED, /* another node is master now */
  DRIVER_ENDED,   /* the run has ended with *code */
  DRIVER_FINISHED /* the run has ended with what main returned, which may be any code */
} DriverNews;

/* Waits until this process is master (DRIVER_MASTER), or the run has ended (DRIVER_ENDED,
 * *code). */
DriverNews driver_wait_master (Driver *driver, int *code);
/* Asks for the result of main's root number `root`, from 0, and waits: DRIVER_RESULT with *value
 * (transfer full), DRIVER_DEPOSED, or DRIVER_ENDED with *code. `job`: index in the job table. */
DriverNews driver_root (Driver *driver, guint32 root, guint32 job, GBytes *args, GBytes **value,
                        int *code);
/* Tells the run that main returned, and what main wrote. Waits for the end of the run:
 * DRIVER_FINISHED with *code; DRIVER_ENDED if the run was cancelled or suspended first;
 * DRIVER_DEPOSED. A main that was deposed before this call tells nothing. `keep`: the checkpoint
 * keeps the answer. `said`: what main wrote to stderr (nullable). */
DriverNews driver_finish (Driver *driver, int main_code, GBytes *answer, GBytes *said,
                          gboolean keep, int *code);

/* A constant or an input by its name ("const/...", "input/..."); NULL: it is not known. Any thread.
 * (transfer full) (nullable) */
GBytes *driver_constant (Driver *driver, const char *name);
/* Stores it here and, if `publish`, sends it to all nodes. Does not wait. Any thread. */
void driver_set_constant (Driver *driver, const char *name, GBytes *bytes, gboolean publish);
/* This process is master again, and its main goes on: publishes again what main had published.
 * `said`: name -> GBytes. FALSE: another main has published something else since. Does not wait. */
gboolean driver_publish_again (Driver *driver, GHashTable *said);
/* Sets a BEST value that the checkpoint kept. Does not wait. */
void driver_set_best (Driver *driver, const char *name, GBytes *value);
/* Asks the run to suspend. `within_us`: how long running jobs are waited for; 0: the default. Does
 * not wait. Any thread. */
void driver_suspend (Driver *driver, guint64 within_us);
/* For a program alone: SIGINT, SIGTERM, SIGUSR1 and, unless it is ignored, SIGHUP suspend the run.
 * A SIGINT after that ends the process. A replay ends at such signals. */
void driver_watch_signals (Driver *driver);
/* For a node process: SIGTERM makes the node leave the run, or suspends the run if the node is the
 * last one. */
void driver_leave_at_signal (Driver *driver);
/* If the program has closed the descriptors that wake the driver: prints this, and ends the process
 * with 6. An embedded run ends instead, with 6. */
void driver_end_if_deaf (Driver *driver);
/* Closes the links and the scribe, writes the statistics, and ends the driver's thread; waits for
 * that. Jobs may still run, so the process must exit then. (driver_free does the same first.) */
void driver_stop (Driver *driver);
/* TRUE: the run has ended with *code (out), or this process has left it. Any thread. */
gboolean driver_is_stopping (Driver *driver, int *code);
/* Why the run ended as it did, in one sentence. (transfer full) (nullable) Any thread. */
char *driver_reason (Driver *driver);

/* The figures, as JSON, of a program alone that found its answer in the checkpoint and did nothing.
 * `began_us`: monotonic time. (transfer full) Any thread. */
char *report_idle_stats (gint64 began_us, guint workers);
