/* SPDX-License-Identifier: BSD-3-Clause */
/* The least 1-tree under penalties: a spanning tree of all cities and one more edge at one of its
 * leaves. Every tour is a 1-tree, so none is shorter. Plain memory, one thread. Must not know what
 * the penalties are for. */
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

  /* Edges that are not out, by city; made again when the choice changed. */
  Neighbour *neighbours;
  int *n_neighbours;

  /* What the last build found. */
  int *order;  /* cities as they joined the tree */
  int *parent; /* ONETREE_NO_CITY at the first */
  int *degree;
  gint32 *key;
  int leaf;      /* where the one edge more is */
  int leaf_to;   /* its other end */
  gint64 length; /* scaled, without the penalties */
} OneTree;

/* `distance` stays the caller's. */
void onetree_init (OneTree *tree, int n, const gint32 *distance, int scale);
void onetree_clear (OneTree *tree);
/* Builds the least 1-tree that holds all edges that are in and none that is out. FALSE: there is
 * none. */
gboolean onetree_build (OneTree *tree);
gboolean onetree_is_tour (const OneTree *tree);
gboolean onetree_contains (const OneTree *tree, int a, int b);

/* What an edge costs under the penalties. */
static inline gint32
onetree_cost (const OneTree *tree, int a, int b)
{
  return tree->distance[a * tree->n + b] * tree->scale + tree->penalty[a] + tree->penalty[b];
}
