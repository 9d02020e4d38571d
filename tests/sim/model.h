/* SPDX-License-Identifier: BSD-3-Clause */
/* A model of the engine (engine/exchange.h) in virtual time and in one thread: seats, stacks, kept
 * results, loans, known paths, and the waiting rule of the real engine. It runs the jobs of a Tree
 * and knows every correct result, so a value in a wrong place is found where it happens. The model
 * must not know nodes (an id is only a key), links or faults. */
#pragma once

#include "node.h"
#include "tree.h"

typedef struct Model Model;

#define MODEL_NO_STACK G_MAXUINT

typedef struct
{
  const Tree *tree;
  Stems *stems;
  SharedStore *shared; /* Borrowed: the store of this node. */
  guint seats;
  guint stacks_max;  /* Without the stack that may always start the root; at least `seats`. */
  guint slowness;    /* A factor on every cost. */
  guint64 drowsy_us; /* Up to this long passes before a seat begins a job of another node. */
  guint64 scan_us;   /* The longest delay before a scan is served or a halt is carried out. */
  gboolean has_best;
  gboolean twice; /* It reports finished jobs, which may be computed twice. */
  gboolean terse; /* It does not report that no seat is idle any more. */
  guint shy;      /* Percent: how often engine_lend finds only private jobs. */
  guint64 seed;
  /* Asks for a call at that time: of model_wake (stack), or of model_settle if `stack` is
   * MODEL_NO_STACK. */
  void (*wake) (gpointer data, guint stack, guint64 at_us);
  void (*started) (gpointer data, guint32 job, gboolean from_elsewhere);
  void (*finished) (gpointer data, guint32 job);
  void (*recalled) (gpointer data, guint32 job, guint32 children);
  void (*forgotten) (gpointer data, guint32 job);
  void (*fail) (gpointer data, const char *what, guint32 job);
  gpointer data;
} ModelConfig;

/* What the engine reports; each kind becomes the NodeEvent of that kind. */
typedef struct
{
  NodeEventKind kind;
  guint64 held, loan, work_us, risk_us;
  guint32 count, job;
  gboolean kept; /* ADOPT: it asks for what the job has kept. */
  guint64 number;
  NodeId node;
  GBytes *bytes;
  GPtrArray *rows;
  GPtrArray *shares; /* DONE: of SatinShared (nullable). */
  Digest digest;     /* WANT. */
} ModelEvent;

static inline void
model_event_clear (ModelEvent *event)
{
  g_clear_pointer (&event->bytes, g_bytes_unref);
  g_clear_pointer (&event->rows, g_ptr_array_unref);
  g_clear_pointer (&event->shares, g_ptr_array_unref);
}

Model *model_new (const ModelConfig *config);
void model_free (Model *model);

/* Every call below passes the time. model_settle ends a series of calls: it gives seats to the
 * stacks that can run. */
void model_settle (Model *model, guint64 now_us);
void model_wake (Model *model, guint64 now_us, guint stack);
gboolean model_has_event (const Model *model);
/* FALSE: there is no further event. */
gboolean model_next_event (Model *model, ModelEvent *event);

void model_lend (Model *model, guint count, GPtrArray *loans);
/* Says SHARED once, as soon as there is something to lend for this many thieves. */
void model_share (Model *model, guint thieves);
void model_run (Model *model, guint64 held, const Loan *loan);
void model_unrun (Model *model, guint64 held);
void model_put (Model *model, guint64 loan, GBytes *value, guint64 work_us, guint64 risk_us);
void model_back (Model *model, guint64 loan);
void model_known (Model *model, const char *path, const Digest *digest, const NodeId *holder,
                  guint32 finished);
void model_forget (Model *model, const char *path, const NodeId *holder);
void model_scan (Model *model, gboolean whole);
/* `leaving`: all rows are reported, and jobs that have not started go back. */
void model_halt (Model *model, gboolean leaving);
/* The BEST value is the greatest result that is a multiple of MODEL_BEST_EVERY. FALSE: no job can
 * give this value. */
gboolean model_improve (Model *model, GBytes *value);
#define MODEL_BEST_EVERY 4

/* The present sizes. */
typedef struct
{
  guint waits;  /* Slots whose results will come from other nodes. */
  guint stacks; /* Stacks in use. */
  guint busy;   /* Seats on which a job computes. */
  guint inbox, known;
  guint64 fetches; /* Shared bytes that jobs had to wait for, so far. */
} ModelStats;
void model_stats (const Model *model, ModelStats *stats);
/* Calls `each` for every result in a slot. */
void model_each_result (const Model *model, void (*each) (gpointer data, guint32 job),
                        gpointer data);
/* The exact figures of NODE_EVENT_WORK. Fills `progress` (nullable; of NodeProgress). */
void model_work (const Model *model, guint64 now_us, NodeEvent *event, GArray *progress);
/* The job from another node on whose stack this job runs here; MODEL_NO_JOB: it does not run
 * here. */
guint32 model_taken (const Model *model, guint32 job);
#define MODEL_NO_JOB G_MAXUINT32
/* TRUE: a slot here has the result of this job or of an ancestor, or a node is known that has
 * it. */
gboolean model_has_result (const Model *model, guint32 job);
/* TRUE: a node is known that holds exactly this job. */
gboolean model_knows_job (const Model *model, guint32 job);
void model_each_holder (const Model *model, void (*each) (gpointer data, const NodeId *holder),
                        gpointer data);
void model_check_invariants (const Model *model);
/* Prints one line for each stack, for the log of a run that stands still. */
void model_print (const Model *model);
