/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds 1-trees by Prim's algorithm. One thread. Does not know the purpose of penalties. */
#include "config.h"

#include "onetree.h"

/* A city's key is the cost of its cheapest edge to the tree, or one of these. */
#define KEY_JOINED G_MININT32
#define KEY_IN (G_MININT32 + 1)
#define KEY_UNREACHED G_MAXINT32

void
onetree_init (OneTree *tree, int n, const gint32 *distance, int scale)
{
  tree->n = n;
  tree->scale = scale;
  tree->distance = distance;
  choice_init (&tree->choice, n);
  tree->penalty = g_new0 (gint32, n);
  tree->neighbours = g_new (Neighbour, n * n);
  tree->n_neighbours = g_new (int, n);
  tree->order = g_new (int, n);
  tree->parent = g_new (int, n);
  tree->degree = g_new (int, n);
  tree->key = g_new (gint32, n);
}

void
onetree_clear (OneTree *tree)
{
  choice_clear (&tree->choice);
  g_free (tree->penalty);
  g_free (tree->neighbours);
  g_free (tree->n_neighbours);
  g_free (tree->order);
  g_free (tree->parent);
  g_free (tree->degree);
  g_free (tree->key);
}

static void
list_neighbours (OneTree *tree)
{
  int n = tree->n;

  for (int a = 0; a < n; a++)
    {
      int count = 0;

      for (int b = 0; b < n; b++)
        if (choice_edge (&tree->choice, a, b) != EDGE_OUT)
          tree->neighbours[a * n + count++]
              = (Neighbour){ b, tree->distance[a * n + b] * tree->scale };
      tree->n_neighbours[a] = count;
    }
  tree->choice.changed = FALSE;
}

/* Adds the city to the tree, by its cheapest edge. */
static void
join_tree (OneTree *tree, int city)
{
  int up = tree->parent[city];

  tree->key[city] = KEY_JOINED;
  if (up == ONETREE_NO_CITY)
    return;
  tree->length += onetree_cost (tree, city, up);
  tree->degree[city]++;
  tree->degree[up]++;
}

/* Updates the keys by the edges from this city, which has just joined, to cities outside. Edges
 * that are in come first. */
static void
reach_out (OneTree *tree, int city)
{
  const Neighbour *neighbours = &tree->neighbours[city * tree->n];
  int count = tree->n_neighbours[city];

  for (int k = 0; k < count; k++)
    {
      int to = neighbours[k].city;
      gint32 cost = neighbours[k].cost + tree->penalty[city] + tree->penalty[to];

      /* The key of a city in the tree is the least of all, so it is never replaced. */
      if (cost < tree->key[to])
        {
          tree->key[to] = cost;
          tree->parent[to] = city;
        }
    }
  for (int k = 0; tree->choice.n_in[city] > 0 && k < count; k++)
    {
      int to = neighbours[k].city;

      if (tree->key[to] != KEY_JOINED && choice_edge (&tree->choice, city, to) == EDGE_IN)
        {
          tree->key[to] = KEY_IN;
          tree->parent[to] = city;
        }
    }
}

/* Prim's tree over all cities. FALSE: the remaining edges do not connect them. */
static gboolean
grow_tree (OneTree *tree)
{
  int n = tree->n;
  int *order = tree->order; /* order[i + 1...] are the cities outside the tree */

  tree->length = 0;
  for (int i = 0; i < n; i++)
    {
      order[i] = i;
      tree->key[i] = KEY_UNREACHED;
      tree->parent[i] = ONETREE_NO_CITY;
      tree->degree[i] = 0;
    }
  for (int i = 0;; i++)
    {
      int nearest = i + 1;
      int swap;

      join_tree (tree, order[i]);
      if (i == n - 1)
        return TRUE;
      reach_out (tree, order[i]);
      for (int k = i + 2; k < n; k++)
        if (tree->key[order[k]] < tree->key[order[nearest]])
          nearest = k;
      if (tree->key[order[nearest]] == KEY_UNREACHED)
        return FALSE;
      swap = order[nearest];
      order[nearest] = order[i + 1];
      order[i + 1] = swap;
    }
}

/* Adds the second edge at the leaf where it costs most, for the greatest of all 1-trees over this
 * tree. */
static void
close_tree (OneTree *tree)
{
  int n = tree->n;
  gint32 most = G_MININT32;

  for (int a = 0; a < n; a++)
    {
      gint32 least = G_MAXINT32;
      int least_to = ONETREE_NO_CITY;

      if (tree->degree[a] != 1)
        continue;
      for (int k = 0; k < tree->n_neighbours[a]; k++)
        {
          Neighbour to = tree->neighbours[a * n + k];
          gint32 cost = to.cost + tree->penalty[a] + tree->penalty[to.city];

          if (cost < least && tree->parent[a] != to.city && tree->parent[to.city] != a)
            {
              least = cost;
              least_to = to.city;
            }
        }
      if (least_to != ONETREE_NO_CITY && least > most)
        {
          most = least;
          tree->leaf = a;
          tree->leaf_to = least_to;
        }
    }
  tree->degree[tree->leaf]++;
  tree->degree[tree->leaf_to]++;
  tree->length += most;
  for (int a = 0; a < n; a++)
    tree->length -= 2 * (gint64)tree->penalty[a];
}

gboolean
onetree_build (OneTree *tree)
{
  if (tree->choice.changed)
    list_neighbours (tree);
  if (!grow_tree (tree))
    return FALSE;
  close_tree (tree);
  return TRUE;
}

gboolean
onetree_is_tour (const OneTree *tree)
{
  for (int a = 0; a < tree->n; a++)
    if (tree->degree[a] != 2)
      return FALSE;
  return TRUE;
}

gboolean
onetree_contains (const OneTree *tree, int a, int b)
{
  return tree->parent[a] == b || tree->parent[b] == a || (a == tree->leaf && b == tree->leaf_to)
         || (b == tree->leaf && a == tree->leaf_to);
}
