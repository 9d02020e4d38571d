/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the same computation with the same crashes under several plans of protection. Compares how
 * many jobs each executes, what the ledgers report as lost, and what was lost in fact. */
#pragma once

#include "sim.h"

typedef enum
{
  COMPARE_NAIVE,
  COMPARE_ORPHAN,
  COMPARE_CHECKPOINT,
  COMPARE_PLANS
} ComparePlan;

typedef struct
{
  guint64 runs, executed;        /* Executed jobs, summed over all runs. */
  guint64 lost_us, lost_true_us; /* Lost work: as the ledgers report it, and as it was. */
  guint64 work_us, answer_us;    /* Work in all, and the work that the answers stand for. */
  char failure[400];             /* Empty: no failure. */
} CompareSum;

/* Crashes each node in turn at `points` moments of a run of `n_jobs` jobs on `n_nodes` nodes. */
void compare_run (guint n_jobs, guint n_nodes, guint points, CompareSum sums[COMPARE_PLANS]);
const char *compare_name (ComparePlan plan);
