/* SPDX-License-Identifier: BSD-3-Clause */
/* A stronger bound for a partly placed instance, by dual ascent (Hahn and Grant 1998), with its
 * branching (Hahn, Grant and Hall 1998). Integers of 16 bits, so every machine computes the same.
 * The caller provides the memory. One thread. Knows nothing of jobs. */
#pragma once

#include "level.h"
#include "small.h"

#define DUAL_MAX SMALL_MAX /* most facilities left */

/* The remaining problem: place m facilities at m locations. Facility a at location b costs
 * leader[a][b]; with k at l as well, their pair is added; `bound` is always added. Costs that are
 * too high are SMALL_BARRED and excluded. Costs are counted in units of 2^-shift: in parts of 1, or
 * in larger units if they are large. */
typedef struct
{
  int m, width;
  int shift;
  gint64 base;      /* the bound is base, in costs, … */
  gint64 risen;     /* … and this, in units */
  gboolean turned;  /* in pairs of facilities i < k the rows are locations of k, not of i */
  Small *leader;    /* m rows of width */
  Small *pair;      /* for each two facilities m rows of width: from locations of one to those of
                     * the other */
  guint8 *facility; /* the facilities of the rows, and the locations of the columns, in the
                     * instance */
  guint8 *location;
} Dual;

/* The number of Smalls in a dual of m. */
#define DUAL_PAIRS(m) ((m) * ((m)-1) / 2 * (m)*SMALL_WIDTH (m))
#define DUAL_WORDS(m) (DUAL_PAIRS (m) + (m)*SMALL_WIDTH (m) + SMALL_WIDTH (m))

/* Places the arrays of a dual of m in `memory`, which has DUAL_WORDS (m). */
void dual_lay (Dual *dual, int m, Small *memory);
/* The remaining problem of a level; dual_lay was called for its m. FALSE: everything costs more
 * than `most`. In later calls `most` may only decrease. */
gboolean dual_first (Dual *dual, const Level *level, const Qap *qap, gint64 most);
/* The remaining problem of `from` when its facility a is at its location b, which is not barred.
 * dual_lay was called for one facility less. */
void dual_place (Dual *dual, const Dual *from, int a, int b, gint64 most);
/* A lower bound for placings that cost at least `more` units above the bound. */
gint64 dual_cost (const Dual *dual, int more);

/* One round of the ascent, over all pairs. FALSE: everything left costs more than `most`. */
gboolean dual_rise (Dual *dual, gint64 most);
/* Finds the consequences of each facility at each location, without a round there, and bars what
 * costs more than `most`. Fills child (m x m): the least cost, in units above the bound. FALSE:
 * everything left costs more than `most`. */
gboolean dual_probe (Dual *dual, gint64 most, Small *child);
/* As level_branch, with the result of a probe. Returns the number of children in `chosen`, which
 * has room for m. */
int dual_branch (const Dual *dual, const Small *child, const gboolean *skip_facility,
                 const gboolean *skip_location, LevelChild *chosen);

/* ---- for the two files of a dual ---- */

/* The pairs of two facilities, i < k. */
static inline Small *
dual_pairs (const Dual *dual, int i, int k)
{
  return dual->pair + (i * (2 * dual->m - i - 1) / 2 + k - i - 1) * dual->m * dual->width;
}

static inline void
dual_fill (Small *row, int from, int to)
{
  for (int l = from; l < to; l++)
    row[l] = SMALL_BARRED;
}

/* By how many units the bound may rise. Negative: not at all. */
static inline int
dual_slack (const Dual *dual, gint64 most)
{
  gint64 room = most - dual->base;

  if (room < 0)
    return -1;
  room = dual->shift >= 0 ? room << dual->shift : room >> -dual->shift;
  return (int)MAX (room - dual->risen, -1);
}
