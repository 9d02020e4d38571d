/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs many nodes; makes the plans of such runs, and prints what the runs cost. */
#pragma once

#include "sim.h"

typedef enum
{
  SCALE_ONE,  /* The last process. */
  SCALE_HALF, /* The second half of all processes. */
  SCALE_SITE, /* All processes of the last site. */
  SCALE_KILLS
} ScaleKill;

typedef struct
{
  guint64 seed;
  guint n_nodes, n_sites;
  guint64 round_trip_us; /* Between two sites; inside a site it is SCALE_NEAR_US. */
  guint leaf_us, n_leaves;
  guint64 cost_us; /* The cost of each message, at either end. */
  gboolean kills[SCALE_KILLS];
} Scale;

#define SCALE_NEAR_US 100
#define SCALE_SITES_MAX SIM_SITES_MAX

/* A run in which processes are killed at half of the time that the run takes without a fault. */
typedef struct
{
  Outcome outcome;
  guint n_victims;
  double seconds, expected_s; /* expected_s: if only the lost nodes make the second half longer. */
} ScaleStruck;

typedef struct
{
  Outcome calm; /* The run without a fault. */
  double ideal_s, calm_s;
  ScaleStruck struck[SCALE_KILLS]; /* The runs with the faults that were asked for. */
} ScaleResult;

/* FALSE: a run failed; its Outcome says why. */
gboolean scale_run (const Scale *scale, ScaleResult *result);
void scale_print (const Scale *scale, const ScaleResult *result);
/* Prints lines of the form "NAME VALUE". */
void scale_print_figures (const Scale *scale, const ScaleResult *result);
