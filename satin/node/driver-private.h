/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the driver share: driver.c (the loop), driver-effects.c, driver-main.c,
 * driver-end.c, mesh.c (links), keeper.c (the scribe), orders.c, report.c, report-jobs.c (for
 * people). Driving thread only, unless stated otherwise. */
#pragma once

#include "driver.h"

#include "drive.h"
#include "driver-part.h"

#include "link/admission.h"
#include "link/listener.h"

#include <stdio.h>
#include <time.h>

typedef struct KeeperTerm KeeperTerm;

/* The connections of this node (mesh.c). */
typedef struct
{
  Listener *listener;
  GHashTable *links; /* number -> Wire */
  GHashTable *dials; /* number of the dial -> Wire that connects */
  guint64 last_link;
  GArray *sent;        /* of guint64: the links with bytes that mesh_flush will write */
  Admission admission; /* the connections that were accepted and have not proved that they are of
                          this run */
  GHashTable *hosts;   /* (nullable) the addresses of the members' hosts ... */
  gint64 hosts_us;     /* ... at that monotonic time */
} DriverMesh;

typedef struct
{
  guint64 lost_us; /* PART_LEFT: work that is lost with this node */
  const char *why; /* FOLDER_PARTED_...: why this node leaves or has left; NULL: it does not */
} DriverParting;

/* The rounds of `satin save` that are over, and how the last one ended. */
typedef struct
{
  guint64 rounds;
  gboolean failed;
  char *missing; /* (nullable) the nodes that did not save in time */
} DriverSaved;

struct Driver
{
  /* Set once; any thread reads them. */
  DriverConfig config;
  Poller *poller;
  GMainContext *context; /* the poller's */
  Stems *stems;
  Engine *engine;
  Timeline *timeline; /* NULL: no --trace */
  TimelineLane *lane; /* of the driver's thread */
  gint64 started_us;
  FILE *log;

  /* Of the driving thread only (drive.h). */
  GThread *thread;
  clockid_t clock; /* CPU clock of the thread, without what idle workers drive */
  Drive *drive;
  gboolean ready; /* atomic: driver_new is done and the thread runs */
  Node *node;
  GArray *effects; /* of NodeEffect: of the step that is being carried out */
  GQueue pending;  /* of DriverPending: events that effects of this step caused */
  gboolean stepping;
  gboolean tell;   /* the Node wants NODE_EVENT_WORK: what is at risk */
  gboolean missed; /* a member left, and report_stats has not written that yet */
  guint periods;   /* how many STATS_PERIOD_MS have passed */
  GArray *names;   /* of NodeId: all names of this process in the run */
  gboolean warned;
  gint64 departed_us; /* when a member left; 0: memory was given back since */
  DriverParting parting;
  gboolean end_is_taken; /* a client has fetched the end and its answer */
  gint64 asked_us; /* when a client last asked for the end, or the first time at which one could; 0:
                      not yet */
  guint openings;  /* threads that open the checkpoint and have not reported the outcome */
  GThread *retiring; /* (nullable) the thread that ends the previous scribe */
  guint join_tries;
  guint over;    /* how often in a row the run's end, or the loss of its folder, was seen without a
                    message of it */
  char *outside; /* (nullable) the last log entry of the Node before it was a member */
  DriverMesh mesh;
  char *checkpoint_run; /* (nullable) the run's id in the checkpoint */
  char *run_id;      /* a joiner's: the id that the founder wrote */
  Scribe *scribe;
  ScribeStats written; /* of the previous scribe */
  KeeperTerm *term;    /* the current time as coordinator; NULL: this node is not coordinator */
  guint terms;         /* how often this node was made coordinator */
  gboolean whole;      /* the scribe reports all rows, not only those that are asked for */
  double share_max;
  LeftPace pace; /* how many workers were busy at each `status` */
  DriverSaved saved;
  char *given;        /* (nullable) the checkpoint of `satin save --to` */
  gint64 ended_us;    /* when this process's part of the run ended */
  char *unpublished;  /* (nullable) why the last publication failed, and where the data is kept */
  char *unkept;       /* (nullable) why main's answer could not be kept */
  guint64 generation; /* the last published one that this node knows of */
  GQueue troubles;    /* the last messages of report_trouble ... */
  guint n_troubles;   /* ... and how many there were in all */

  /* Shared with main's thread, under `mutex`. */
  GMutex mutex;
  GCond cond;
  GHashTable *constants; /* name -> GBytes */
  guint masterships;     /* how often this process became master ... */
  guint mains;           /* ... and its value when main last began */
  gboolean master;
  DriverPart part;   /* written by the driving thread under the mutex; it alone reads it without */
  gboolean in_root;  /* main waits in satin_root, or satin_root told it to return */
  guint bidding;     /* threads that make a bid */
  guint restoring;   /* batches of rows from the scribe that the Node has not got yet */
  gboolean restores; /* the scribe may wait until there are fewer */
  int end_code;
  char *reason; /* (nullable) why the run ended so: for satin_reason */
  GBytes *result;
};

/* An event to step later, and what it points to, unless that is borrowed. All nullable. */
typedef struct
{
  NodeEvent event;
  GPtrArray *loans;
  char *path, *text;
} DriverPending;

/* Steps the Node with `event`, and carries out all effects. Must not be called from an effect. */
void driver_step (Driver *driver, const NodeEvent *event);
/* Carries out one effect; may take what it owns. */
void driver_carry_out (Driver *driver, NodeEffect *effect);
/* Calls `function (data)` on the driving thread soon. Any thread. */
void driver_post (Driver *driver, GSourceFunc function, gpointer data);
/* Calls `function (driver)` on the driving thread each `ms`, until it returns G_SOURCE_REMOVE. */
static inline void
driver_every (Driver *driver, guint ms, GSourceFunc function)
{
  g_autoptr (GSource) source = g_timeout_source_new (ms);
  g_source_set_callback (source, function, driver, NULL);
  g_source_attach (source, driver->context);
}
/* Writes one line to the log; a program alone prints it. */
void driver_say (Driver *driver, const char *format, ...) G_GNUC_PRINTF (2, 3);
/* Ends this process with a sentence for the user. An embedded process goes on; only the run
 * ends. */
void driver_fail (Driver *driver, int code, const char *sentence);
/* TRUE: the process must stay, since clients may fetch the end and its answer only here: the
 * launcher is gone. */
gboolean driver_serves_final_result (Driver *driver);
/* TRUE: the run has ended, or this process has left it. */
static inline gboolean
driver_has_ended (const Driver *driver)
{
  return driver_part_is_over (driver->part);
}
/* This process's part in the run ends; wakes main's thread. `sentence` (nullable): the reason. */
void driver_set_ended (Driver *driver, DriverPartEvent event, int code, const char *sentence);
/* Carries out NODE_EFFECT_END. */
void driver_end (Driver *driver, int code, gboolean finished, const char *sentence);
/* Carries out NODE_EFFECT_LEAVE. */
void driver_depart (Driver *driver, const NodeEffect *effect);
/* Writes a member's address into the run's folder again if somebody has removed it. */
void driver_show_address (Driver *driver);

/* Writes what mesh_send has queued, over all links. */
void mesh_flush (Driver *driver);
/* Begins to listen, unless the run has no sockets. FALSE: it cannot. */
gboolean mesh_open (Driver *driver, GError **error);
/* Closes all connections and stops listening. */
void mesh_close (Driver *driver);
/* The address at which others reach this node; NULL: none. (transfer none) */
const char *mesh_address (Driver *driver);
/* Begins to connect; NODE_EVENT_LINK_UP or _DIAL_FAILED tells how that ended. */
void mesh_dial (Driver *driver, guint64 dial, const char *address);
/* Carries out NODE_EFFECT_SEND: queues the parts for mesh_flush. */
void mesh_send (Driver *driver, const NodeEffect *effect);
/* How many sent bytes the kernel has not taken yet. */
gsize mesh_queued (Driver *driver, guint64 link);
/* Closes a link, if it is still open. */
void mesh_close_link (Driver *driver, guint64 link);
/* For a joiner: tries the addresses in the run's folder until this node is a member. */
void mesh_join (Driver *driver);
/* The run has refused this process: ends it. `build` (nullable): the run's build, if it differs;
 * NULL: the run is closed. */
void mesh_refused (Driver *driver, const char *build);

/* Carries out NODE_EFFECT_COORDINATOR: takes the checkpoint over, in a thread. */
void keeper_open (Driver *driver, const NodeEffect *effect);
/* Another node is coordinator: gives the checkpoint up. */
void keeper_retire (Driver *driver);
/* The process ends: closes the scribe, after it has written what is queued. */
void keeper_close (Driver *driver);
/* After keeper_close, once the driver's thread has ended: no news of a scribe can come any more. */
void keeper_free (Driver *driver);
/* Carries out NODE_EFFECT_BID, in a thread. */
void keeper_bid (Driver *driver);

/* If this node has no scribe, these functions do nothing, unless stated otherwise. */

/* Stores main's answer and exit code. */
void keeper_answer (Driver *driver, GBytes *answer, int code);
/* Stores `rows` (transfer full). `ticket`: number of this order. */
void keeper_save (Driver *driver, GPtrArray *rows, guint64 ticket);
/* Carries out NODE_EFFECT_EVENT: a row of the ledger. */
void keeper_event (Driver *driver, const NodeEffect *effect);
/* Carries out NODE_EFFECT_SALVAGE: the scribe reports the rows of the file at and below `path`. */
void keeper_salvage (Driver *driver, const char *path);
/* Carries out NODE_EFFECT_FINAL: the run ends, so all is published, with the nodes that are
 * present. keeper_publish does so without the nodes, and the run goes on; keeper_offer does so if
 * it is worth its cost. Without a scribe all three only step NODE_EVENT_PUBLISHED soon. */
void keeper_final (Driver *driver);
void keeper_publish (Driver *driver);
void keeper_offer (Driver *driver);
/* Stores the present value of BEST number `best`. */
void keeper_best (Driver *driver, guint best);
/* Stores a constant or an input. */
void keeper_constant (Driver *driver, const char *name, GBytes *bytes);

/* Writes the trace events that were collected. `last`: also those of jobs that still run. */
void report_timeline (Driver *driver, gboolean last);
/* A message for people to read now: to the log and, by the run's folder, to the launcher. */
void report_trouble (Driver *driver, const char *sentence);
/* The message of NODE_EFFECT_DIFFERS. (transfer full) */
char *report_difference (Driver *driver, const NodeEffect *effect);
/* ENGINE_CRASH_REPORT: a job ends this process; tells the other nodes and people, and lets the
 * process end. ENGINE_FAILED: a job called satin_fail; the run ends. */
void report_failed_job (Driver *driver, const EngineEvent *said);
/* Appends `,"NAME":VALUE` to a JSON object. */
void report_append_count (GString *json, const char *name, guint64 value);
/* CPU seconds by a clock of the kernel: of this process, or of the driver's thread. */
double report_cpu_s (clockid_t clock);
/* The reply to `satin status`. (transfer full) */
char *report_status (Driver *driver);
/* The replies to `satin jobs` (what the stacks of this node run), to `satin metrics` (figures), and
 * to `satin top` (both). (transfer full) */
char *report_jobs (Driver *driver);
char *report_figures (Driver *driver);
char *report_top (Driver *driver);
/* Writes node-PID.stats or, alone and `last`, the file of --stats. */
void report_stats (Driver *driver, gboolean last);
