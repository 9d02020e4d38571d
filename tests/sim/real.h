/* SPDX-License-Identifier: BSD-3-Clause */
/* What real-engine.c (model.h, by the engine itself), real-job.c (the job that it runs) and
 * real-scribe.c (the scribe and the storage themselves) share. sim-real is the simulator with these
 * in place of model.c and scribe.c. */
#pragma once

#include "model.h"
#include "threads.h"

#include "exchange.h"

#define REAL_POLL_US 2000 /* a job that computes for long polls so often */

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
  guint32 taken[TREE_JOBS_MAX]; /* it runs as part of this held job, counted from 1; 0: not */
};

extern const SatinJob *const real_jobs[];

/* Arguments and digests become those that the engine makes. */
void real_fit_tree (Engine *engine, const Tree *tree);
