/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the driver share: driver.c (the loop), driver-effects.c, driver-end.c,
 * mesh.c (links), keeper.c (the scribe), report.c (figures for people). */
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
  GHashTable *dials; /* number -> Wire under way */
  guint64 last_link;
  GArray *sent;        /* of guint64: the links over which something waits for mesh_flush */
  Admission admission; /* of Wire: accepted, not proved */
  GHashTable *hosts;   /* (nullable) addresses of hosts of members … */
  gint64 hosts_us;     /* … as they were then */
} DriverMesh;

typedef struct
{
  guint64 lost_us; /* PART_LEFT: the run goes on without this work, too */
  const char *why; /* FOLDER_PARTED_…, also while it has not left yet; NULL: it takes part */
} DriverParting;

/* Rounds of saving that are over, and how the last one ended. */
typedef struct
{
  guint64 rounds;
  gboolean failed;
  char *missing; /* (nullable) the nodes that did not come to it in time */
} DriverSaved;

struct Driver
{
  /* Set once, read by all. */
  DriverConfig config;
  Poller *poller;
  GMainContext *context; /* the poller's */
  Stems *stems;
  Engine *engine;
  Timeline *timeline; /* NULL: nothing is noted */
  TimelineLane *lane; /* the driver's thread's */
  gint64 started_us;
  FILE *log;

  /* Of the driving thread only: see drive.h. */
  GThread *thread;
  clockid_t clock; /* the thread's; what idle workers drive is not in it */
  Drive *drive;
  gboolean ready; /* atomic: driver_new is done and the thread runs */
  Node *node;
  GArray *effects; /* of NodeEffect: of the step under way */
  GQueue pending;  /* of DriverPending: events raised while effects were carried out */
  gboolean stepping;
  gboolean tell;   /* the Node wants to hear what is at risk */
  gboolean missed; /* a member left, and the figures do not say so yet */
  guint periods;   /* STATS_PERIOD_MS: so many have passed */
  GArray *names;   /* of NodeId: all that this process has had in the run */
  gboolean warned;
  gint64 departed_us; /* a member left; 0: none since memory was given back */
  DriverParting parting;
  gboolean end_is_taken; /* by somebody who asked for it */
  gint64 asked_us;       /* when somebody asked for it last, or could begin to; 0: nobody can yet */
  guint openings;        /* threads that open the checkpoint and have not said how that went */
  GThread *retiring;     /* (nullable) ends the scribe that was */
  guint join_tries;
  guint over;    /* how often in a row the run was found to be over without this node */
  char *outside; /* (nullable) what the Node noted last before it was a member */
  DriverMesh mesh;
  Identity identity; /* the scribe's copy of config's; `run` becomes the checkpoint's */
  char *run_id;      /* joiners: as the founder said */
  Scribe *scribe;
  ScribeStats written;    /* by the scribe that was */
  KeeperTerm *term;       /* this time as coordinator; NULL: this node is not coordinator */
  guint terms;            /* how often it was made coordinator */
  gboolean whole;         /* the scribe tells all rows, not only those that are asked for */
  double share_max;
  LeftPace pace; /* how many workers were busy when people asked */
  DriverSaved saved;
  char *given;        /* (nullable) the checkpoint, when the run got it late */
  gint64 ended_us;    /* when this process's part of the run ended */
  char *unpublished;  /* (nullable) why the last publication asked for failed, and what is kept */
  char *unkept;       /* (nullable) what became of the answer that main gave here */
  guint64 generation; /* last published, as far as this node knows */
  GQueue troubles;    /* the last sentences of report_trouble … */
  guint n_troubles;   /* … and how many there were */

  /* Shared with main's thread, under `mutex`. */
  GMutex mutex;
  GCond cond;
  GHashTable *constants; /* name -> GBytes */
  guint masterships;     /* how often this process became master … */
  guint mains;           /* … when main began last */
  gboolean master;
  DriverPart part;   /* moved by the driving thread, which alone reads it without the mutex */
  gboolean in_root;  /* main waits in satin_root, or was told there to return */
  guint bidding;     /* threads that make a bid */
  guint restoring;   /* batches of rows from the scribe that were not stepped yet */
  gboolean restores; /* it may wait until they are */
  int end_code;
  char *reason; /* (nullable) why it ended so: for satin_reason */
  GBytes *result;
};

/* What the event points to, if it is not borrowed from elsewhere. All nullable. */
typedef struct
{
  NodeEvent event;
  GPtrArray *loans;
  char *path, *text;
} DriverPending;

/* One step of the Node, and all its effects. */
void driver_step (Driver *driver, const NodeEvent *event);
void driver_carry_out (Driver *driver, NodeEffect *effect);
/* Runs `function (data)` in the driver's thread, soon. */
void driver_post (Driver *driver, GSourceFunc function, gpointer data);
/* One line for the log. */
void driver_say (Driver *driver, const char *format, ...) G_GNUC_PRINTF (2, 3);
/* Ends this process with a sentence for the user. A embedded one goes on: it is the run that ends.
 */
void driver_fail (Driver *driver, int code, const char *sentence);
/* The end and its answer are here and nowhere else: the launcher is gone, and somebody may ask for
 * them. */
gboolean driver_bequeaths (Driver *driver);
/* TRUE: the run has ended, or this process has left it. */
static inline gboolean
driver_has_ended (const Driver *driver)
{
  return driver_part_is_over (driver->part);
}
/* `sentence` (nullable): why it ended so. */
void driver_set_ended (Driver *driver, DriverPartEvent event, int code, const char *sentence);
/* NODE_EFFECT_END. */
void driver_end (Driver *driver, int code, gboolean finished, const char *sentence);
/* NODE_EFFECT_LEAVE. */
void driver_depart (Driver *driver, const NodeEffect *effect);
/* Tells the Node what the engine did. */
void driver_tell_work (Driver *driver);
/* A member's address is in the run's folder again if somebody has removed it. */
void driver_show_address (Driver *driver);

/* Writes what mesh_send has queued. */
void mesh_flush (Driver *driver);
gboolean mesh_open (Driver *driver, GError **error);
void mesh_close (Driver *driver);
const char *mesh_address (Driver *driver);
void mesh_dial (Driver *driver, guint64 dial, const char *address);
void mesh_send (Driver *driver, const NodeEffect *effect);
/* Bytes that were sent and are not with the kernel. */
gsize mesh_queued (Driver *driver, guint64 link);
void mesh_close_link (Driver *driver, guint64 link);
/* Joiners: tries the addresses in the run's folder until this node is a member. */
void mesh_join (Driver *driver);
/* The run is closed, and this process not wanted: ends it. */
void mesh_refused (Driver *driver, const char *build);

/* NODE_EFFECT_COORDINATOR. */
void keeper_open (Driver *driver, const NodeEffect *effect);
/* Another node is coordinator. */
void keeper_retire (Driver *driver);
/* The process ends. */
void keeper_close (Driver *driver);
/* After keeper_close, when the driver's thread has ended too: no news can come any more. */
void keeper_free (Driver *driver);
/* NODE_EFFECT_BID. */
void keeper_bid (Driver *driver);
void keeper_answer (Driver *driver, GBytes *answer, int code);
/* (transfer full): rows. `ticket`: the number of this order. */
void keeper_save (Driver *driver, GPtrArray *rows, guint64 ticket);
void keeper_event (Driver *driver, const NodeEffect *effect);
/* A node left: what the file holds of the departed is made known again. */
void keeper_salvage (Driver *driver, const char *path);
/* This life of the run ends. */
void keeper_final (Driver *driver);
void keeper_publish (Driver *driver);
void keeper_best (Driver *driver, guint best);
void keeper_constant (Driver *driver, const char *name, GBytes *bytes);

/* Writes down what was noted for --trace; `last`: the jobs are told to go. */
void report_timeline (Driver *driver, gboolean last);
/* What people should know now: goes to the log, and to the launcher by the run's folder. */
void report_trouble (Driver *driver, const char *sentence);
/* (transfer full): what NODE_EFFECT_DIFFERS says, for people. */
char *report_difference (Driver *driver, const NodeEffect *effect);
/* A job ends this process: tells the others and people, and lets it go. */
/* ENGINE_CRASH_REPORT, ENGINE_FAILED. */
void report_failed_job (Driver *driver, const EngineEvent *said);
/* (transfer full): the reply to `satin status`. */
char *report_status (Driver *driver);
/* (transfer full): the reply to `satin jobs`: what the stacks of this node run, and to what `satin
 * top` and `metrics` ask: its statistics and how many seats are busy. */
char *report_jobs (Driver *driver);
char *report_figures (Driver *driver);
char *report_top (Driver *driver);
/* Writes node-PID.stats, or the solo summary. */
void report_stats (Driver *driver, gboolean last);
