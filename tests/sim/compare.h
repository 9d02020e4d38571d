/* SPDX-License-Identifier: BSD-3-Clause */
/* The same run with the same crashes under several plans of protection: what each executes, what
 * the nodes' ledgers say was lost, and what was. */
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
  guint64 runs, executed;        /* jobs, over all runs */
  guint64 lost_us, lost_true_us; /* as the ledgers say; as it was */
  guint64 work_us, answer_us;    /* done in all; what the answers stand for */
  char failure[400];             /* empty: all is well */
} CompareSum;

/* Crashes each node in turn at `points` moments of a run of `n_jobs` jobs on `n_nodes` nodes. */
void compare_run (guint n_jobs, guint n_nodes, guint points, CompareSum sums[COMPARE_PLANS]);
const char *compare_name (ComparePlan plan);
