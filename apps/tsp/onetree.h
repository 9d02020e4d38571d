/* SPDX-License-Identifier: BSD-3-Clause */
/* The least 1-tree under penalties: a spanning tree of all cities with one more edge at one of its
 * leaves. Every tour is a 1-tree, so none is shorter. Plain memory, one thread. Does not know the
 * purpose of penalties. */
#pragma once

#include "choice.h"

#define ONETREE_NO_CITY (-1)

typedef struct
{
  gint32 city;
  gint32 cost; /* scaled, without penalties */
} Neighbour;

typedef struct
{
  int n;
  int scale; /* penalties and costs are counted in 1/scale of a distance */
  const gint32 *distance;
  Choice choice;
  gint32 *penalty;

  /* Edges that are not out, by city; renewed when the choice has changed. */
  Neighbour *neighbours;
  int *n_neighbours;

  /* The result of the last build. */
  int *order;  /* cities in the order in which they joined */
  int *parent; /* ONETREE_NO_CITY at the first */
  int *degree;
  gint32 *key;
  int leaf;      /* the city with the additional edge */
  int leaf_to;   /* the other end of that edge */
  gint64 length; /* scaled, without the penalties */
} OneTree;

/* `distance` is borrowed. */
void onetree_init (OneTree *tree, int n, const gint32 *distance, int scale);
void onetree_clear (OneTree *tree);
/* Builds the least 1-tree with all edges that are in and none that is out. FALSE: there is none. */
gboolean onetree_build (OneTree *tree);
gboolean onetree_is_tour (const OneTree *tree);
gboolean onetree_contains (const OneTree *tree, int a, int b);

/* The cost of an edge under the penalties. */
static inline gint32
onetree_cost (const OneTree *tree, int a, int b)
{
  return tree->distance[a * tree->n + b] * tree->scale + tree->penalty[a] + tree->penalty[b];
}
