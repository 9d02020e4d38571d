/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs of many nodes: their plan, and what they cost as a text for people. */
#pragma once

#include "sim.h"

typedef enum
{
  SCALE_ONE,  /* the last process */
  SCALE_HALF, /* the second half of all processes */
  SCALE_SITE, /* all processes of the last site */
  SCALE_KILLS
} ScaleKill;

typedef struct
{
  guint64 seed;
  guint n_nodes, n_sites;
  guint64 round_trip_us; /* between two sites; in a site it is SCALE_NEAR_US */
  guint leaf_us, n_leaves;
  guint64 cost_us; /* of each message at either end */
  gboolean kills[SCALE_KILLS];
} Scale;

#define SCALE_NEAR_US 100
#define SCALE_SITES_MAX SIM_SITES_MAX

/* A run in which somebody is killed at half of the time that it takes without that. */
typedef struct
{
  Outcome outcome;
  guint n_victims;
  double seconds, expected_s; /* if the second half took longer only because fewer are left */
} ScaleStruck;

typedef struct
{
  Outcome calm; /* nobody is killed */
  double ideal_s, calm_s;
  ScaleStruck struck[SCALE_KILLS]; /* those that are asked for */
} ScaleResult;

/* FALSE: one failed; its Outcome says why. */
gboolean scale_run (const Scale *scale, ScaleResult *result);
void scale_print (const Scale *scale, const ScaleResult *result);
/* NAME VALUE, one a line. */
void scale_print_figures (const Scale *scale, const ScaleResult *result);
