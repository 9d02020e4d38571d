/* SPDX-License-Identifier: BSD-3-Clause */
/* 1-trees and penalties. One thread per Bound; a job makes one. Knows nothing of jobs, files and
 * the best tour.
 *
 * M. Held and R. M. Karp, "The traveling-salesman problem and minimum spanning trees", parts I and
 * II: a 1-tree is a spanning tree with one more edge at one of its leaves. Every tour is a 1-tree,
 * and a penalty on each city changes the lengths of all tours by the same amount. So the least
 * penalised 1-tree is a lower bound of all tours, for any penalties. */
#include "config.h"

#include "bound.h"

#include "onetree.h"

#include <string.h>

#define SCALE_MAX 1024
#define PENALTY_MAX (1 << 29)

struct Bound
{
  OneTree tree;
  gint32 *best_penalty;
  int *last_degree;
  gint64 best_length; /* scaled */
};

int
bound_scale (int n, const gint32 *distance)
{
  gint32 greatest = 1;

  for (int i = 0; i < n * n; i++)
    if (distance[i] != BOUND_NO_EDGE)
      greatest = MAX (greatest, ABS (distance[i]));
  g_assert (greatest <= BOUND_DISTANCE_MAX);
  return MIN (SCALE_MAX, BOUND_DISTANCE_MAX / greatest);
}

Bound *
bound_new (int n, const gint32 *distance, int scale)
{
  Bound *bound = g_new0 (Bound, 1);

  g_assert (n >= BOUND_CITIES_MIN);
  onetree_init (&bound->tree, n, distance, scale);
  bound->best_penalty = g_new0 (gint32, n);
  bound->last_degree = g_new0 (int, n);
  return bound;
}

void
bound_free (Bound *bound)
{
  if (bound == NULL)
    return;
  onetree_clear (&bound->tree);
  g_free (bound->best_penalty);
  g_free (bound->last_degree);
  g_free (bound);
}

/* ---- decisions ---- */

gboolean
bound_decide (Bound *bound, BoundDecision decision)
{
  return choice_make (&bound->tree.choice, decision.a, decision.b, decision.in);
}

gboolean
bound_start (Bound *bound, const BoundDecision *decisions, int n_decisions)
{
  gboolean possible = choice_start (&bound->tree.choice, bound->tree.distance, BOUND_NO_EDGE);

  for (int i = 0; possible && i < n_decisions; i++)
    possible = bound_decide (bound, decisions[i]);
  return possible;
}

gboolean
bound_is_out (const Bound *bound, int a, int b)
{
  return choice_edge (&bound->tree.choice, a, b) == EDGE_OUT;
}

/* ---- ascent ---- */

/* One step along the mean of this subgradient and the last one, which zigzags less (Volgenant and
 * Jonker 1982). */
static void
step (Bound *bound, gint64 gap, int step_1024, gboolean first)
{
  gint64 norm = 0;

  for (int a = 0; a < bound->tree.n; a++)
    {
      int d = bound->tree.degree[a] - 2;

      if (first)
        bound->last_degree[a] = d;
      norm += d * d;
    }
  for (int a = 0; a < bound->tree.n; a++)
    {
      int d = bound->tree.degree[a] - 2;
      gint64 direction = 7 * d + 3 * bound->last_degree[a];
      gint64 penalty
          = bound->tree.penalty[a] + direction * gap / norm * step_1024 / (10 * (gint64)1024);

      bound->tree.penalty[a] = (gint32)CLAMP (penalty, -PENALTY_MAX, PENALTY_MAX);
      bound->last_degree[a] = d;
    }
}

BoundOutcome
bound_ascend (Bound *bound, gint64 upper, gint64 target, const BoundEffort *effort)
{
  int step_1024 = effort->first_step;
  int idle = 0;

  bound->best_length = G_MININT64;
  memcpy (bound->best_penalty, bound->tree.penalty,
          (gsize)bound->tree.n * sizeof *bound->tree.penalty);
  for (int i = 0; i < effort->steps && step_1024 >= effort->smallest_step; i++)
    {
      gint64 gap;

      if (!onetree_build (&bound->tree) || bound->tree.length > (upper - 1) * bound->tree.scale)
        return BOUND_CLOSED;
      if (onetree_is_tour (&bound->tree))
        return BOUND_TOUR;
      if (bound->tree.length > bound->best_length)
        {
          bound->best_length = bound->tree.length;
          memcpy (bound->best_penalty, bound->tree.penalty,
                  (gsize)bound->tree.n * sizeof *bound->tree.penalty);
          idle = 0;
        }
      else if (++idle >= effort->patience)
        {
          step_1024 /= 2;
          idle = 0;
        }
      gap = target * bound->tree.scale - bound->tree.length;
      step (bound, MAX (gap, bound->tree.scale), step_1024, i == 0);
    }
  memcpy (bound->tree.penalty, bound->best_penalty,
          (gsize)bound->tree.n * sizeof *bound->tree.penalty);
  onetree_build (&bound->tree);
  return BOUND_OPEN;
}

gint32 *
bound_penalties (Bound *bound)
{
  return bound->tree.penalty;
}

gint64
bound_length (const Bound *bound)
{
  gint64 length = bound->best_length;

  return length >= 0 ? (length + bound->tree.scale - 1) / bound->tree.scale
                     : -(-length / bound->tree.scale);
}

/* ---- exchanges ---- */

/* For computing the cost of one exchange of edges in the 1-tree of an open ascent. */
typedef struct
{
  Bound *bound;
  gint64 *cover; /* the cheapest edge that could replace the edge from a city to its parent */
  gint64 third;  /* the cheapest edge at the leaf outside the 1-tree */
  int *place;    /* of a city in the order */
} Exchange;

#define NO_COST (G_MAXINT64 / 4)

/* By how much the 1-tree grows if it must use the free edge (a, b). Records the edge at all edges
 * that it could replace. */
static gint64
exchange_in (Exchange *exchange, int a, int b)
{
  Bound *bound = exchange->bound;
  gint64 cost = onetree_cost (&bound->tree, a, b);
  gint64 greatest = -NO_COST;

  if (a == bound->tree.leaf || b == bound->tree.leaf)
    {
      exchange->third = MIN (exchange->third, cost);
      return cost - onetree_cost (&bound->tree, bound->tree.leaf, bound->tree.leaf_to);
    }
  while (a != b)
    {
      int low = exchange->place[a] > exchange->place[b] ? a : b;
      int up = bound->tree.parent[low];

      if (choice_edge (&bound->tree.choice, low, up) == EDGE_FREE)
        greatest = MAX (greatest, onetree_cost (&bound->tree, low, up));
      exchange->cover[low] = MIN (exchange->cover[low], cost);
      if (low == a)
        a = up;
      else
        b = up;
    }
  return cost - greatest;
}

/* By how much the 1-tree grows without its edge from `city` to its parent. */
static gint64
exchange_out (const Exchange *exchange, int city)
{
  Bound *bound = exchange->bound;
  int up = bound->tree.parent[city];
  gboolean at_leaf = city == bound->tree.leaf || up == bound->tree.leaf;

  return (at_leaf ? exchange->third : exchange->cover[city])
         - onetree_cost (&bound->tree, city, up);
}

static void
exchange_init (Exchange *exchange, Bound *bound)
{
  exchange->bound = bound;
  exchange->cover = g_new (gint64, bound->tree.n);
  exchange->place = g_new (int, bound->tree.n);
  exchange->third = NO_COST;
  for (int i = 0; i < bound->tree.n; i++)
    {
      exchange->cover[i] = NO_COST;
      exchange->place[bound->tree.order[i]] = i;
    }
}

static void
exchange_clear (Exchange *exchange)
{
  g_free (exchange->cover);
  g_free (exchange->place);
}

/* Tests every free edge outside the 1-tree, and rules out those that raise the bound above
 * `most`. */
static int
try_all_in (Exchange *exchange, gint64 most, BoundDecision *found)
{
  Bound *bound = exchange->bound;
  int n_found = 0;

  for (int a = 0; a < bound->tree.n; a++)
    for (int k = 0; k < bound->tree.n_neighbours[a]; k++)
      {
        int b = bound->tree.neighbours[a * bound->tree.n + k].city;

        if (b < a || choice_edge (&bound->tree.choice, a, b) != EDGE_FREE
            || onetree_contains (&bound->tree, a, b))
          continue;
        if (bound->best_length + exchange_in (exchange, a, b) > most)
          found[n_found++] = (BoundDecision){ (guint8)a, (guint8)b, FALSE };
      }
  return n_found;
}

int
bound_reduce (Bound *bound, gint64 target)
{
  gint64 most = (target - 1) * bound->tree.scale;
  g_autofree BoundDecision *found = g_new (BoundDecision, (gsize)(bound->tree.n * bound->tree.n));
  Exchange exchange;
  gboolean possible = TRUE;
  int n_found;

  exchange_init (&exchange, bound);
  n_found = try_all_in (&exchange, most, found);
  for (int a = 0; a < bound->tree.n; a++)
    {
      int up = bound->tree.parent[a];

      if (up != ONETREE_NO_CITY && choice_edge (&bound->tree.choice, a, up) == EDGE_FREE
          && bound->best_length + exchange_out (&exchange, a) > most)
        found[n_found++] = (BoundDecision){ (guint8)a, (guint8)up, TRUE };
    }
  exchange_clear (&exchange);
  for (int i = 0; possible && i < n_found; i++)
    possible = bound_decide (bound, found[i]);
  return possible ? n_found : -1;
}

BoundDecision
bound_branch (Bound *bound)
{
  g_autofree BoundDecision *found = g_new (BoundDecision, (gsize)(bound->tree.n * bound->tree.n));
  BoundDecision branch = { 0, 0, FALSE };
  gint64 most = -NO_COST;
  Exchange exchange;

  exchange_init (&exchange, bound);
  try_all_in (&exchange, NO_COST, found);
  for (int a = 0; a < bound->tree.n; a++)
    {
      int up = bound->tree.parent[a];

      if (up == ONETREE_NO_CITY || choice_edge (&bound->tree.choice, a, up) != EDGE_FREE)
        continue;
      if (bound->tree.degree[a] < 3 && bound->tree.degree[up] < 3)
        continue;
      if (exchange_out (&exchange, a) > most)
        {
          most = exchange_out (&exchange, a);
          branch = (BoundDecision){ (guint8)a, (guint8)up, FALSE };
        }
    }
  exchange_clear (&exchange);
  g_assert (branch.a != branch.b);
  return branch;
}

void
bound_tour (const Bound *bound, guint8 *tour)
{
  int n = bound->tree.n;
  int last = ONETREE_NO_CITY;
  int city = 0;

  for (int i = 0; i < n; i++)
    {
      int next = ONETREE_NO_CITY;

      tour[i] = (guint8)city;
      for (int to = n - 1; to >= 0; to--)
        if (to != last && onetree_contains (&bound->tree, city, to))
          next = to;
      last = city;
      city = next;
    }
}
