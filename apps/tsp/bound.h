/* SPDX-License-Identifier: BSD-3-Clause */
/* A lower bound for the length of every tour that obeys some decisions: the best 1-tree under node
 * penalties (Held and Karp 1970, 1971), improved by subgradient steps. All arithmetic is on
 * integers, so every machine finds the same bound and the same branch. Plain memory, one thread per
 * Bound. Knows nothing of jobs. */
#pragma once

#include <glib.h>

/* The distance of an edge that no wanted tour uses. */
#define BOUND_NO_EDGE G_MAXINT32
/* The greatest distance, so that a penalised one fits in 32 bits. */
#define BOUND_DISTANCE_MAX (1 << 29)
#define BOUND_CITIES_MIN 4

/* An edge that the tour must use, or must not. */
typedef struct
{
  guint8 a;
  guint8 b;
  gboolean in;
} BoundDecision;

typedef enum
{
  BOUND_CLOSED, /* no tour shorter than `upper` obeys the decisions */
  BOUND_TOUR,   /* the shortest tour that obeys them was found: bound_tour () */
  BOUND_OPEN    /* neither: branch */
} BoundOutcome;

/* The effort. The caller fixes every number; none depends on the clock. */
typedef struct
{
  int steps;         /* most 1-trees */
  int patience;      /* the step length is halved after so many steps without progress */
  int first_step;    /* in 1/1024 of the length that would close the gap */
  int smallest_step; /* gives up below this length */
} BoundEffort;

typedef struct Bound Bound;

/* The scale of penalties for these distances: parts of 1. */
int bound_scale (int n, const gint32 *distance);
/* `distance` is n * n and symmetric; it is borrowed and must outlive the Bound. Penalties mean the
 * same for all Bounds of one scale. */
Bound *bound_new (int n, const gint32 *distance, int scale);
void bound_free (Bound *bound);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Bound, bound_free)

/* Replaces all decisions by these. FALSE: no tour obeys them. */
gboolean bound_start (Bound *bound, const BoundDecision *decisions, int n_decisions);
/* Adds a decision and its consequences. FALSE: no tour obeys them. */
gboolean bound_decide (Bound *bound, BoundDecision decision);
/* The n penalties: the ascent begins with them, and leaves those of its best bound. */
gint32 *bound_penalties (Bound *bound);
/* Improves the bound. CLOSED: no tour shorter than `upper` is left. Steps are measured only against
 * `target` (a length that the caller hopes to reach), so `upper` never changes an open outcome. */
BoundOutcome bound_ascend (Bound *bound, gint64 upper, gint64 target, const BoundEffort *effort);
/* The best bound of the last ascent. */
gint64 bound_length (const Bound *bound);
/* After an open ascent: rules out the edges whose use raises the bound to `target`, and takes those
 * whose loss does. Returns their number; -1: no tour below `target` is left. */
int bound_reduce (Bound *bound, gint64 target);
/* After an open ascent: an undecided edge to branch on. */
BoundDecision bound_branch (Bound *bound);
/* After BOUND_TOUR: the n cities in order, from city 0 on, with the smaller neighbour second. */
void bound_tour (const Bound *bound, guint8 *tour);
/* TRUE: the decisions rule out the edge. */
gboolean bound_is_out (const Bound *bound, int a, int b);
