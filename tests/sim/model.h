/* SPDX-License-Identifier: BSD-3-Clause */
/* A model of the engine (engine/exchange.h) in virtual time and one thread: seats, stacks, kept
 * results, loans, known paths, and the waiting rule of the real one. It runs the jobs of a Tree and
 * knows what each must give, so whatever is put into a wrong place is found where it happens. Must
 * not know nodes (an id is a key), links or faults. */
#pragma once

#include "node.h"
#include "tree.h"

typedef struct Model Model;

#define MODEL_NO_STACK G_MAXUINT

typedef struct
{
  const Tree *tree;
  Stems *stems;
  SharedStore *shared; /* borrowed: of this node */
  guint seats;
  guint stacks_max;  /* beside the one that may always start the root; at least `seats` */
  guint slowness;    /* factor on every cost */
  guint64 drowsy_us; /* a seat takes up to so long to begin a job of another node */
  guint64
      scan_us; /* scans are served, and halts carried out, up to so long after being asked for */
  gboolean has_best;
  gboolean twice; /* tells finished jobs, which may be computed twice */
  gboolean terse; /* does not say that no seat is idle any more */
  guint shy;      /* percent: how often engine_lend finds only private jobs */
  guint64 seed;
  /* Step me with model_wake (stack) then; with model_settle when it is MODEL_NO_STACK. */
  void (*wake) (gpointer data, guint stack, guint64 at_us);
  void (*started) (gpointer data, guint32 job, gboolean from_elsewhere);
  void (*finished) (gpointer data, guint32 job);
  void (*recalled) (gpointer data, guint32 job, guint32 children);
  void (*forgotten) (gpointer data, guint32 job);
  void (*fail) (gpointer data, const char *what, guint32 job);
  gpointer data;
} ModelConfig;

/* What the engine says; each becomes the NodeEvent of that kind. */
typedef struct
{
  NodeEventKind kind;
  guint64 held, loan, work_us, risk_us;
  guint32 count, job;
  gboolean kept; /* ADOPT: of what the job has kept */
  guint64 number;
  NodeId node;
  GBytes *bytes;
  GPtrArray *rows;
  GPtrArray *shares; /* DONE: of SatinShared (nullable) */
  Digest digest;     /* WANT */
} ModelEvent;

void model_event_clear (ModelEvent *event);

Model *model_new (const ModelConfig *config);
void model_free (Model *model);

/* Every call below carries the time; model_settle ends a series of calls: it gives seats to what
 * can run. */
void model_settle (Model *model, guint64 now_us);
void model_wake (Model *model, guint64 now_us, guint stack);
gboolean model_has_event (const Model *model);
/* FALSE: nothing more to say. */
gboolean model_next_event (Model *model, ModelEvent *event);

void model_lend (Model *model, guint count, GPtrArray *loans);
/* Says SHARED once, as soon as there is something to lend for so many thieves. */
void model_share (Model *model, guint thieves);
void model_run (Model *model, guint64 held, const Loan *loan);
void model_unrun (Model *model, guint64 held);
void model_put (Model *model, guint64 loan, GBytes *value, guint64 work_us, guint64 risk_us);
void model_back (Model *model, guint64 loan);
void model_known (Model *model, const char *path, const Digest *digest, const NodeId *holder,
                  guint32 finished);
void model_forget (Model *model, const char *path, const NodeId *holder);
void model_scan (Model *model, gboolean whole);
/* `leaving`: all rows are told, and what has not started comes back. */
void model_halt (Model *model, gboolean leaving);
/* The one BEST value is the greatest result that is a multiple of MODEL_BEST_EVERY. FALSE: no job
 * gives this one. */
gboolean model_improve (Model *model, GBytes *value);
#define MODEL_BEST_EVERY 4

/* Sizes now. */
typedef struct
{
  guint waits;  /* slots whose result will come from elsewhere */
  guint stacks; /* in use */
  guint busy;   /* seats on which a job computes */
  guint inbox, known;
  guint64 fetches; /* of shared bytes that a job waited for, so far */
} ModelStats;
void model_stats (const Model *model, ModelStats *stats);
/* Every result that lies in a slot here. */
void model_each_result (const Model *model, void (*each) (gpointer data, guint32 job),
                        gpointer data);
/* What NODE_EVENT_WORK says, exactly. `progress` (nullable): of NodeProgress, is filled. */
void model_work (const Model *model, guint64 now_us, NodeEvent *event, GArray *progress);
/* The job that the stack took from elsewhere on which this one runs; MODEL_NO_JOB: it runs nowhere
 * here. */
guint32 model_taken (const Model *model, guint32 job);
#define MODEL_NO_JOB G_MAXUINT32
/* TRUE: a slot here has the result of this job or of one that it is below, or somebody is known who
 * has. */
gboolean model_has_result (const Model *model, guint32 job);
/* TRUE: somebody is known to hold exactly this job. */
gboolean model_knows_job (const Model *model, guint32 job);
void model_each_holder (const Model *model, void (*each) (gpointer data, const NodeId *holder),
                        gpointer data);
void model_check_invariants (const Model *model);
/* One line per stack, for the log of a run that stands still. */
void model_print (const Model *model);
