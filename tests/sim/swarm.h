/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans: each seed draws its own mix of tree, nodes, links and faults (swarm testing). Also the
 * plans whose crash points are all tried. Pure. */
#pragma once

#include "sim.h"

/* Fills `plan`. `plan->tree` is new; the caller frees it. */
void swarm_plan (guint64 seed, Plan *plan);
/* A small, regular run without faults, to which the enumeration adds some. `phased`: each job has
 * phases of one child and keeps them. `aborts`: percent of jobs that do not want all their
 * children. */
void swarm_fixed_plan (guint n_jobs, guint n_nodes, gboolean checkpoint, gboolean phased,
                       guint aborts, Plan *plan);
/* No faults. Of many nodes one, drawn by the seed, has a path to the checkpoint that is twenty
 * times as fast (plan->fast). */
void swarm_lease_plan (guint64 seed, guint n_nodes, Plan *plan);
/* Three sites of `per_site` nodes without faults: both other sites reach only the first one;
 * `one_way`: the third also reaches the second; `open`: all sites reach each other. */
void swarm_sites_plan (guint64 seed, guint per_site, gboolean one_way, gboolean open, Plan *plan);
/* Many nodes of two seats, and a job that is too large for a node that also runs another job. */
void swarm_heavy_plan (guint64 seed, Plan *plan);
/* `n` sites in a row, each of which reaches only its neighbours. At both ends of a break in the
 * middle there is a process that reaches one of the other side. */
void swarm_row_of_sites (Plan *plan, guint n);
/* The same, with a wall between two neighbours that lasts `wall_us`, and jobs that last longer. */
void swarm_split_plan (guint64 seed, guint n_sites, guint64 wall_us, gboolean checkpoint,
                       Plan *plan);
/* This long after the last fault all processes must know each other. By then false alarms and dials
 * have ended; a process that was away for long is looked for rarely; and processes that lost their
 * ids together with all others go on after 30 s. */
guint64 swarm_united_after_us (const Plan *plan);
/* Adds a fault before the delivery of that message. If a resume follows, delays become even, so
 * that I7 holds. */
void swarm_add_fault (Plan *plan, FaultKind kind, guint node, guint64 message);
