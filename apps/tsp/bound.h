/* SPDX-License-Identifier: BSD-3-Clause */
/* A lower bound for the length of every tour that obeys some decisions: the best 1-tree under node
 * penalties (Held and Karp 1970, 1971), improved by subgradient steps. All arithmetic is on
 * integers, so that every machine finds the same bound and the same branch. Plain memory, one
 * thread per Bound. Must not know jobs. */
#pragma once

#include <glib.h>

/* A distance with this value is an edge that no wanted tour uses. */
#define BOUND_NO_EDGE G_MAXINT32
/* The greatest distance, so that a penalised one fits 32 bits. */
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
  BOUND_TOUR,   /* the shortest tour that obeys them is known: bound_tour () */
  BOUND_OPEN    /* neither: branch */
} BoundOutcome;

/* How hard to try. Every number is fixed by the caller, none by the clock. */
typedef struct
{
  int steps;         /* at most so many 1-trees */
  int patience;      /* halve the step length after so many steps without progress */
  int first_step;    /* in 1/1024 of the length that would close the gap */
  int smallest_step; /* give up below this one */
} BoundEffort;

typedef struct Bound Bound;

/* How finely penalties are counted for these distances, in parts of 1. */
int bound_scale (int n, const gint32 *distance);
/* `distance` is n * n, symmetric, and stays the caller's; it must live as long as the Bound.
 * Penalties mean the same to all Bounds of one scale. */
Bound *bound_new (int n, const gint32 *distance, int scale);
void bound_free (Bound *bound);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Bound, bound_free)

/* Forgets all decisions and takes these. FALSE: no tour obeys them. */
gboolean bound_start (Bound *bound, const BoundDecision *decisions, int n_decisions);
/* Adds one decision and all that follows from it. FALSE: no tour obeys them. */
gboolean bound_decide (Bound *bound, BoundDecision decision);
/* The penalties, n of them: where the ascent begins, and where it found its best bound. */
gint32 *bound_penalties (Bound *bound);
/* Improves the bound. Closes when no tour below `upper` is left. Steps are measured against
 * `target` alone (a length that the caller hopes to reach), so that `upper` never changes what an
 * open outcome looks like. */
BoundOutcome bound_ascend (Bound *bound, gint64 upper, gint64 target, const BoundEffort *effort);
/* The best bound of the last ascent. */
gint64 bound_length (const Bound *bound);
/* After an open ascent: rules out the edges whose use brings the bound to `target`, and takes those
 * whose loss does. Returns how many; -1: no tour below `target` is left. */
int bound_reduce (Bound *bound, gint64 target);
/* After an open ascent: an undecided edge to branch on. */
BoundDecision bound_branch (Bound *bound);
/* After BOUND_TOUR: the cities in order, n of them, from city 0 on, the smaller neighbour second.
 */
void bound_tour (const Bound *bound, guint8 *tour);
/* TRUE: the edge is ruled out by what was decided. */
gboolean bound_is_out (const Bound *bound, int a, int b);
