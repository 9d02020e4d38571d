/* SPDX-License-Identifier: BSD-3-Clause */
/* What real-engine.c (model.h, by the engine itself), real-job.c (the job that it runs) and
 * real-scribe.c (the scribe and the storage themselves) share. sim-real is the simulator with these
 * in place of model.c and scribe.c. */
#pragma once

#include "model.h"
#include "threads.h"

#include "exchange.h"

#define REAL_POLL_US 10000 /* a job that computes for long polls so often */

/* Somebody known to hold something. */
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
  EngineEvent next;             /* out of the mailbox */
  gboolean has_next, told;      /* told: the mailbox is to be read */
  gboolean leaving;             /* engine_halt was said so */
  gboolean over;                /* what the jobs do counts no more */
  GArray *known;                /* of RealKnown: what the engine was told and not told to forget */
  gboolean done[TREE_JOBS_MAX]; /* its result lies in a slot here */
  guint64 orders;
  guint64 dropped[TREE_JOBS_MAX]; /* since this order it is aborted here; 0: it is not … */
  guint32 dropper[TREE_JOBS_MAX]; /* … by a job that runs as part of this held one */
  guint32 taken[TREE_JOBS_MAX];   /* it runs as part of this held job, counted from 1; 0: not */
};

extern const SatinJob *const real_jobs[];

/* A job begins on top of one that waits. */
void real_note_leapfrog (Model *model);
/* Rows of a scan that began at this order are raised: none is of what was aborted before. */
void real_check_rows (Model *model, guint64 began, GPtrArray *rows);
/* Arguments and digests become those that the engine makes. */
void real_fit_tree (Engine *engine, const Tree *tree);
