/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by real-engine.c (model.h implemented with the real engine), real-job.c (the jobs that it
 * runs) and real-keeper.c (the real scribe and storage). sim-real is the simulator with these in
 * place of model.c and keeper.c. */
#pragma once

#include "model.h"
#include "threads.h"

#include "exchange.h"

#define REAL_POLL_US 10000 /* A job that computes for long polls at this interval. */

/* A node that is known to hold a job. */
typedef struct
{
  guint32 job;
  gboolean kept;
  NodeId holder;
  guint32 finished;
} RealKnown;

struct Model
{
  ModelConfig config;
  Threads *threads;
  Engine *engine;
  EngineEvent next;             /* Taken out of the mailbox. */
  gboolean has_next, told;      /* told: the mailbox is to be read. */
  gboolean leaving;             /* engine_halt was called with `leaving`. */
  gboolean over;                /* The run is over: what jobs do counts no more. */
  GArray *known;                /* Of RealKnown: what the engine was told and not told to forget. */
  gboolean done[TREE_JOBS_MAX]; /* The job's result is in a slot here. */
  guint64 orders;
  guint64 dropped[TREE_JOBS_MAX]; /* Aborted here since this order; 0: not aborted. */
  guint32 dropper[TREE_JOBS_MAX]; /* The held job, as part of which ran the job that aborted it. */
  guint32 taken[TREE_JOBS_MAX];   /* The held job as part of which it runs, from 1; 0: none. */
};

extern const SatinJob *const real_jobs[];

/* Notes that a job begins on top of one that waits. */
void real_note_leapfrog (Model *model);
/* Checks the rows of a scan that began at order `began`: none belongs to a job that was aborted
 * before. */
void real_check_rows (Model *model, guint64 began, GPtrArray *rows);
/* Sets arguments and digests to those that the engine makes. */
void real_fit_tree (Engine *engine, const Tree *tree);
