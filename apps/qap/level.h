/* SPDX-License-Identifier: BSD-3-Clause */
/* A quadratic assignment with some facilities placed: its lower bound (Gilmore 1962, Lawler 1963)
 * and its branching. All arithmetic is on integers, so every machine computes the same. The caller
 * provides the memory. One thread. Knows nothing of jobs. */
#pragma once

#include <glib.h>

#define QAP_MAX 128

/* The cost of a placing p is the sum over all i and k of flow[i n + k] distance[p(i) n + p(k)]. */
typedef struct
{
  int n;
  const gint32 *flow, *distance;
} Qap;

typedef struct
{
  guint8 facility, location;
  gint64 bound; /* no placing with this facility at this location costs less */
} LevelChild;

/* The remaining problem when some facilities are placed: m facilities and m locations. Row a of a
 * matrix is facility[a], column b is location[b]. */
typedef struct
{
  int m;
  gint64 placed; /* the cost of the placed facilities among themselves */
  gint64 bound;
  guint8 *facility, *location;
  gint64 *linear;  /* m x m: the cost of a facility at a location by itself and with the placed
                    * ones */
  gint64 *reduced; /* m x m: by how much the bound grows if a facility is put there */
  /* Flows from each facility to the other remaining ones, the least first, and distances from each
   * location, the greatest first; and where they lead. Rows of m, of which m - 1 are used. */
  gint32 *flow, *distance;
  guint8 *flow_to, *distance_to;
  LevelChild *child; /* the least bound last */
  int n_children;
} Level;

/* The number of gint64 in a level of m. */
#define LEVEL_WORDS(m) (3 * (m) * (m) + ((m) * (m) + 3) / 4 + ((m) + 3) / 4 + 2 * (m))

/* Places the arrays of a level of m in `memory`, which has LEVEL_WORDS (m). */
void level_lay (Level *level, int m, gint64 *memory);
/* No facility is placed; level_lay was called for n. */
void level_first (Level *level, const Qap *qap);
/* The remaining problem of `from` with this facility placed, too; level_lay was called for one
 * less. */
void level_place (Level *level, const Level *from, const Qap *qap, int facility, int location);
/* Fills bound and reduced. FALSE: the bound is above `most`, and was not computed further. */
gboolean level_bound (Level *level, gint64 most);
/* After level_bound: fills the children. All placings of cost `most` or less are below them: they
 * branch on one facility with many locations, or on one location with many facilities. Children
 * with a flag in skip (indexed by number, NULL: none) are equivalent to others and left out. */
void level_branch (Level *level, gint64 most, const gboolean *skip_facility,
                   const gboolean *skip_location);
