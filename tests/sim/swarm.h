/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans: each seed draws its own mix of tree, nodes, links and faults (swarm testing); and the
 * plans of which every crash point is tried. Pure. */
#pragma once

#include "sim.h"

/* `plan->tree` is new and to be freed by the caller. */
void swarm_plan (guint64 seed, Plan *plan);
/* A small, regular run without faults, to which the enumeration adds some. `phased`: each job has
 * phases of one child and keeps them. `aborts`: percent of jobs that do not want all their
 * children. */
void swarm_fixed_plan (guint n_jobs, guint n_nodes, gboolean checkpoint, gboolean phased,
                       guint aborts, Plan *plan);
/* No faults; many nodes, of which one, drawn by the seed, has a path to the checkpoint that is
 * twenty times as fast (plan->fast). */
void swarm_lease_plan (guint64 seed, guint n_nodes, Plan *plan);
/* Three sites of `per_site` nodes: only the first is reached by both others, and, `one_way`, the
 * second by the third; else (`open`) by all. Nothing goes wrong. */
void swarm_sites_plan (guint64 seed, guint per_site, gboolean one_way, gboolean open, Plan *plan);
/* Many nodes of two seats, and a job that is too large for one that has another at work. */
void swarm_heavy_plan (guint64 seed, Plan *plan);
/* So many sites, of which each reaches only its neighbours: at both ends of a break in the middle
 * there is one that reaches one of the other side. */
void swarm_row_of_sites (Plan *plan, guint n);
/* The same, with a wall between two neighbours that stands for so long, and jobs for longer. */
void swarm_split_plan (guint64 seed, guint n_sites, guint64 wall_us, gboolean checkpoint,
                       Plan *plan);
/* So long after the last fault all are to know each other: false alarms are over, dials too, who
 * was away for long is looked for seldom, and those who lost their names with all others go on
 * after 30 s. */
guint64 swarm_united_after_us (const Plan *plan);
/* Adds a fault before the delivery of that message. Where a resume follows, delays become even, so
 * that I7 holds. */
void swarm_add_fault (Plan *plan, FaultKind kind, guint node, guint64 message);
