/* SPDX-License-Identifier: BSD-3-Clause */
/* A stronger bound of a partly placed instance, by dual ascent (Hahn and Grant 1998), and its
 * branching (Hahn, Grant and Hall 1998). Whole numbers of 16 bits: every machine finds the same.
 * Plain memory that the caller gives, one thread. Must not know jobs. */
#pragma once

#include "level.h"
#include "small.h"

#define DUAL_MAX SMALL_MAX /* facilities that are left */

/* What is left is to place m facilities on m locations. To have facility a at location b costs
 * leader[a][b]; to have k at l as well costs what their pair has; and `bound` costs whatever is
 * done. What costs too much stands at SMALL_BARRED and is out. Costs are counted in parts of a
 * cost, or, when they are large, in several at once: in 2^-shift. */
typedef struct
{
  int m, width;
  int shift;
  gint64 base;      /* the bound is base, in costs, */
  gint64 risen;     /* and this, in parts */
  gboolean turned;  /* pairs of facilities i < k: a row is a location of k, not of i */
  Small *leader;    /* m rows of width */
  Small *pair;      /* for each two facilities, m rows of width: of one's location to the other's */
  guint8 *facility; /* whose row it is, and column, in the instance */
  guint8 *location;
} Dual;

/* How many Small a dual of m takes. */
#define DUAL_PAIRS(m) ((m) * ((m)-1) / 2 * (m)*SMALL_WIDTH (m))
#define DUAL_WORDS(m) (DUAL_PAIRS (m) + (m)*SMALL_WIDTH (m) + SMALL_WIDTH (m))

/* Lays the arrays of a dual of m into `memory`, DUAL_WORDS (m) long. */
void dual_lay (Dual *dual, int m, Small *memory);
/* What is left of a level; the dual is laid for its m. FALSE: all of it costs more than `most`. In
 * all that follows `most` may become less, never more. */
gboolean dual_first (Dual *dual, const Level *level, const Qap *qap, gint64 most);
/* What is left of `from` when its facility a is placed at its location b, which is not out. The
 * dual is laid for one less. */
void dual_place (Dual *dual, const Dual *from, int a, int b, gint64 most);
/* No placing that costs so many parts more than the bound, or more than that, costs less. */
gint64 dual_cost (const Dual *dual, int more);

/* One round of the ascent, over all pairs. FALSE: all that is left costs more than `most`. */
gboolean dual_rise (Dual *dual, gint64 most);
/* Looks where each facility at each location leads to, without a round there, and bars what costs
 * more than `most`. Fills child (m x m): what that costs at least, in parts above the bound.
 * FALSE: all that is left costs more than `most`. */
gboolean dual_probe (Dual *dual, gint64 most, Small *child);
/* Like level_branch, by the child of a probe. Returns how many are in `chosen`, which has room for
 * m. */
int dual_branch (const Dual *dual, const Small *child, const gboolean *skip_facility,
                 const gboolean *skip_location, LevelChild *chosen);

/* For the two files of a dual ------------------------------------------------------------------ */

/* Pairs of two facilities, i < k. */
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

/* In parts: how far the bound may rise. Less than nothing: nowhere. */
static inline int
dual_slack (const Dual *dual, gint64 most)
{
  gint64 room = most - dual->base;

  if (room < 0)
    return -1;
  room = dual->shift >= 0 ? room << dual->shift : room >> -dual->shift;
  return (int)MAX (room - dual->risen, -1);
}
