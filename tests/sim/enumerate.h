/* SPDX-License-Identifier: BSD-3-Clause */
/* Tries every crash point of a small run: before the delivery of each message, each node in turn,
 * and every pair of such crashes. The second crash of a pair counts the messages of the run that
 * the first one has changed. */
#pragma once

#include "sim.h"

typedef enum
{
  ENUMERATE_SINGLES,
  ENUMERATE_PAIRS
} EnumerateDepth;

typedef struct
{
  guint n_jobs, n_nodes;
  gboolean checkpoint;
  EnumerateDepth depth;
  FaultKind first, second; /* The faults: FAULT_CRASH, FAULT_RESET, FAULT_TOTAL … */
  guint stride;            /* Of the pairs, each `stride`-th second point is tried; 1: all. */
  gboolean phased;         /* Each job has phases of one child and keeps them. */
  guint aborts;            /* Percent of jobs that do not want all their children. */
  gboolean lasting;        /* Long jobs, so the run is saved many times; all delays are equal. */
  SimBuddies buddies;
} Enumeration;

typedef struct
{
  guint64 runs;  /* Those that equal an earlier one count, too, but are not made again. */
  guint64 steps; /* Of the runs that were made. */
  gboolean failed;
  Plan plan; /* The failing plan; its tree has been freed. */
  char failure[400];
} EnumerateResult;

/* Makes the jobs of a fixed plan last so long that the run is saved many times, and makes all
 * delays equal, so that I18 holds. */
void enumerate_make_lasting (Plan *plan);
/* Stops at the first failure. `every`: every that many first points one is tried, node by node; 1:
 * all. `before` (nullable) is called with each plan before it runs. */
void enumerate_all (const Enumeration *what, guint every, void (*before) (const Plan *plan),
                    EnumerateResult *result);
