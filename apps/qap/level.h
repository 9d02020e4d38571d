/* SPDX-License-Identifier: BSD-3-Clause */
/* A quadratic assignment with some facilities placed: its lower bound (Gilmore 1962, Lawler 1963)
 * and how to branch. All arithmetic is on whole numbers, so that every machine finds the same.
 * Plain memory that the caller gives, one thread. Must not know jobs. */
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

/* What is left when some facilities are placed: m facilities and m locations. Row a of a matrix is
 * the facility facility[a], column b the location location[b]. */
typedef struct
{
  int m;
  gint64 placed; /* what the placed ones cost among themselves */
  gint64 bound;
  guint8 *facility, *location;
  gint64 *linear;  /* m x m: what a facility at a location costs with itself and those placed */
  gint64 *reduced; /* m x m: how much more than the bound it costs to put a facility there */
  /* Flows from each facility to the others that are left, the least first, and distances from each
   * location, the greatest first; to whom they go. Rows of m, of which m - 1 are used. */
  gint32 *flow, *distance;
  guint8 *flow_to, *distance_to;
  LevelChild *child; /* the least bound last */
  int n_children;
} Level;

/* How many gint64 a level of m takes. */
#define LEVEL_WORDS(m) (3 * (m) * (m) + ((m) * (m) + 3) / 4 + ((m) + 3) / 4 + 2 * (m))

/* Lays the arrays of a level of m into `memory`, LEVEL_WORDS (m) long. */
void level_lay (Level *level, int m, gint64 *memory);
/* Nothing is placed yet; the level is laid for n. */
void level_first (Level *level, const Qap *qap);
/* What is left of `from` when this facility is placed too; the level is laid for one less. */
void level_place (Level *level, const Level *from, const Qap *qap, int facility, int location);
/* Fills bound and reduced. FALSE: the bound is above `most`, and stopped growing there. */
gboolean level_bound (Level *level, gint64 most);
/* After level_bound: fills the children. All placings of cost `most` or less lie below them: either
 * one facility goes to each of many locations, or one location gets each of many facilities. Those
 * with a flag in skip (indexed by number, NULL: none) are as good as others and left out. */
void level_branch (Level *level, gint64 most, const gboolean *skip_facility,
                   const gboolean *skip_location);
