/* SPDX-License-Identifier: BSD-3-Clause */
/* Tries every crash point of a small run: before the delivery of each message, each node in turn;
 * and every pair of such crashes. The second one counts the messages of the run that the first has
 * changed. */
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
  FaultKind first, second; /* what strikes: FAULT_CRASH, FAULT_RESET, FAULT_TOTAL … */
  guint stride;     /* of pairs: every how manieth second point, from a place that moves; 1: all */
  gboolean phased;  /* each job has phases of one child and keeps them */
  guint aborts;     /* percent of jobs that do not want all their children */
  gboolean lasting; /* jobs so long that the run is saved many times, and even delays */
  SimBuddies buddies;
} Enumeration;

typedef struct
{
  guint64 runs, steps;
  gboolean failed;
  Plan plan; /* the failing one; its tree is freed */
  char failure[400];
} EnumerateResult;

/* Makes the jobs of a fixed plan last so long that the run is saved many times, and all delays the
 * same, so that I18 holds. */
void enumerate_make_lasting (Plan *plan);
/* Stops at the first failure. `every`: only every so manieth first point, node by node; 1: all.
 * `before` (nullable) is told of each plan before it runs. */
void enumerate_all (const Enumeration *what, guint every, void (*before) (const Plan *plan),
                    EnumerateResult *result);
