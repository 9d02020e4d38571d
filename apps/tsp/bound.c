/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns 1-trees and penalties. One thread per Bound; one is made per
 * job. Must not know jobs, files or the best tour.
 *
 * M. Held and R. M. Karp, "The traveling-salesman problem and minimum spanning trees", parts I and
 * II: a 1-tree is a spanning tree and one more edge at one of its leaves. Every tour is a 1-tree,
 * and a penalty on each city shifts all tours by the same amount, so the least penalised 1-tree
 * bounds all tours for any penalties. */
#include "config.h"

#include "bound.h"

#include "choice.h"

#include <string.h>

#define SCALE_MAX 1024
#define PENALTY_MAX (1 << 29)
#define NO_CITY (-1)

/* What a city's key says besides the cost of its cheapest edge to the tree. */
#define KEY_JOINED G_MININT32
#define KEY_IN (G_MININT32 + 1)
#define KEY_UNREACHED G_MAXINT32

typedef struct
{
  gint32 city;
  gint32 cost; /* scaled, without penalties */
} Neighbour;

struct Bound
{
  int n;
  int scale; /* penalties and costs are counted in 1/scale of a distance */
  const gint32 *distance;

  Choice choice;

  /* Edges that are not out, by city; rebuilt when the choice changed. */
  Neighbour *neighbours;
  int *n_neighbours;

  /* The 1-tree of the present penalties. */
  gint32 *penalty;
  gint32 *best_penalty;
  int *order;  /* cities as they joined the tree */
  int *parent; /* NO_CITY at the first */
  int *degree;
  int *last_degree;
  gint32 *key;
  int leaf;           /* where the one edge more is */
  int leaf_to;        /* its other end */
  gint64 length;      /* scaled */
  gint64 best_length; /* scaled */
};

static gsize
square (const Bound *bound)
{
  return (gsize)bound->n * (gsize)bound->n;
}

Bound *
bound_new (int n, const gint32 *distance)
{
  Bound *bound = g_new0 (Bound, 1);
  gint32 greatest = 1;

  g_assert (n >= BOUND_CITIES_MIN);
  bound->n = n;
  bound->distance = distance;
  for (gsize i = 0; i < square (bound); i++)
    if (distance[i] != BOUND_NO_EDGE)
      greatest = MAX (greatest, ABS (distance[i]));
  g_assert (greatest <= BOUND_DISTANCE_MAX);
  bound->scale = MIN (SCALE_MAX, BOUND_DISTANCE_MAX / greatest);
  choice_init (&bound->choice, n);
  bound->neighbours = g_new (Neighbour, square (bound));
  bound->n_neighbours = g_new (int, n);
  bound->penalty = g_new0 (gint32, n);
  bound->best_penalty = g_new0 (gint32, n);
  bound->order = g_new (int, n);
  bound->parent = g_new (int, n);
  bound->degree = g_new (int, n);
  bound->last_degree = g_new (int, n);
  bound->key = g_new (gint32, n);
  return bound;
}

void
bound_free (Bound *bound)
{
  if (bound == NULL)
    return;
  choice_clear (&bound->choice);
  g_free (bound->neighbours);
  g_free (bound->n_neighbours);
  g_free (bound->penalty);
  g_free (bound->best_penalty);
  g_free (bound->order);
  g_free (bound->parent);
  g_free (bound->degree);
  g_free (bound->last_degree);
  g_free (bound->key);
  g_free (bound);
}

/* Decisions ---------------------------------------------------------------------------------- */

gboolean
bound_decide (Bound *bound, BoundDecision decision)
{
  return choice_make (&bound->choice, decision.a, decision.b, decision.in);
}

gboolean
bound_start (Bound *bound, const BoundDecision *decisions, int n_decisions)
{
  gboolean possible = choice_start (&bound->choice, bound->distance, BOUND_NO_EDGE);

  for (int i = 0; possible && i < n_decisions; i++)
    possible = bound_decide (bound, decisions[i]);
  return possible;
}

gboolean
bound_is_out (const Bound *bound, int a, int b)
{
  return choice_edge (&bound->choice, a, b) == EDGE_OUT;
}

/* 1-trees ------------------------------------------------------------------------------------ */

static void
list_neighbours (Bound *bound)
{
  int n = bound->n;

  for (int a = 0; a < n; a++)
    {
      int count = 0;

      for (int b = 0; b < n; b++)
        if (choice_edge (&bound->choice, a, b) != EDGE_OUT)
          bound->neighbours[a * n + count++]
              = (Neighbour){ b, bound->distance[a * n + b] * bound->scale };
      bound->n_neighbours[a] = count;
    }
  bound->choice.changed = FALSE;
}

static gint32
penalised (const Bound *bound, int a, int b)
{
  return bound->distance[a * bound->n + b] * bound->scale + bound->penalty[a] + bound->penalty[b];
}

/* The city joins the tree, by its cheapest edge to it. */
static void
join_tree (Bound *bound, int city)
{
  int up = bound->parent[city];

  bound->key[city] = KEY_JOINED;
  if (up == NO_CITY)
    return;
  bound->length += penalised (bound, city, up);
  bound->degree[city]++;
  bound->degree[up]++;
}

/* Enters the edges from this city, which just joined, to those outside; edges that are in come
 * before all others. */
static void
reach_out (Bound *bound, int city)
{
  const Neighbour *neighbours = &bound->neighbours[city * bound->n];
  int count = bound->n_neighbours[city];

  for (int k = 0; k < count; k++)
    {
      int to = neighbours[k].city;
      gint32 cost = neighbours[k].cost + bound->penalty[city] + bound->penalty[to];

      /* A city in the tree has the least key of all and is never reached again. */
      if (cost < bound->key[to])
        {
          bound->key[to] = cost;
          bound->parent[to] = city;
        }
    }
  for (int k = 0; bound->choice.n_in[city] > 0 && k < count; k++)
    {
      int to = neighbours[k].city;

      if (bound->key[to] != KEY_JOINED && choice_edge (&bound->choice, city, to) == EDGE_IN)
        {
          bound->key[to] = KEY_IN;
          bound->parent[to] = city;
        }
    }
}

/* Prim's tree over all cities. FALSE: the edges left do not connect them. */
static gboolean
grow_tree (Bound *bound)
{
  int n = bound->n;
  int *order = bound->order; /* order[i + 1...] are the cities outside the tree */

  bound->length = 0;
  for (int i = 0; i < n; i++)
    {
      order[i] = i;
      bound->key[i] = KEY_UNREACHED;
      bound->parent[i] = NO_CITY;
      bound->degree[i] = 0;
    }
  for (int i = 0;; i++)
    {
      int nearest = i + 1;
      int swap;

      join_tree (bound, order[i]);
      if (i == n - 1)
        return TRUE;
      reach_out (bound, order[i]);
      for (int k = i + 2; k < n; k++)
        if (bound->key[order[k]] < bound->key[order[nearest]])
          nearest = k;
      if (bound->key[order[nearest]] == KEY_UNREACHED)
        return FALSE;
      swap = order[nearest];
      order[nearest] = order[i + 1];
      order[i + 1] = swap;
    }
}

/* Adds the second edge at the leaf where it costs most: the strongest of all 1-trees over this
 * tree. */
static void
close_tree (Bound *bound)
{
  int n = bound->n;
  gint32 most = G_MININT32;

  for (int a = 0; a < n; a++)
    {
      gint32 least = G_MAXINT32;
      int least_to = NO_CITY;

      if (bound->degree[a] != 1)
        continue;
      for (int k = 0; k < bound->n_neighbours[a]; k++)
        {
          Neighbour to = bound->neighbours[a * n + k];
          gint32 cost = to.cost + bound->penalty[a] + bound->penalty[to.city];

          if (cost < least && bound->parent[a] != to.city && bound->parent[to.city] != a)
            {
              least = cost;
              least_to = to.city;
            }
        }
      if (least_to != NO_CITY && least > most)
        {
          most = least;
          bound->leaf = a;
          bound->leaf_to = least_to;
        }
    }
  bound->degree[bound->leaf]++;
  bound->degree[bound->leaf_to]++;
  bound->length += most;
  for (int a = 0; a < n; a++)
    bound->length -= 2 * (gint64)bound->penalty[a];
}

static gboolean
build_tree (Bound *bound)
{
  if (bound->choice.changed)
    list_neighbours (bound);
  if (!grow_tree (bound))
    return FALSE;
  close_tree (bound);
  return TRUE;
}

/* Ascent ------------------------------------------------------------------------------------- */

static gboolean
is_tour (const Bound *bound)
{
  for (int a = 0; a < bound->n; a++)
    if (bound->degree[a] != 2)
      return FALSE;
  return TRUE;
}

/* One step along a mean of this subgradient and the last one, which zigzags less (Volgenant and
 * Jonker 1982). */
static void
step (Bound *bound, gint64 gap, int step_1024, gboolean first)
{
  gint64 norm = 0;

  for (int a = 0; a < bound->n; a++)
    {
      int d = bound->degree[a] - 2;

      if (first)
        bound->last_degree[a] = d;
      norm += d * d;
    }
  for (int a = 0; a < bound->n; a++)
    {
      int d = bound->degree[a] - 2;
      gint64 direction = 7 * d + 3 * bound->last_degree[a];
      gint64 penalty = bound->penalty[a] + direction * gap / norm * step_1024 / (10 * (gint64)1024);

      bound->penalty[a] = (gint32)CLAMP (penalty, -PENALTY_MAX, PENALTY_MAX);
      bound->last_degree[a] = d;
    }
}

BoundOutcome
bound_ascend (Bound *bound, gint64 upper, gint64 target, const BoundEffort *effort)
{
  int step_1024 = effort->first_step;
  int idle = 0;

  bound->best_length = G_MININT64;
  memcpy (bound->best_penalty, bound->penalty, (gsize)bound->n * sizeof *bound->penalty);
  for (int i = 0; i < effort->steps && step_1024 >= effort->smallest_step; i++)
    {
      gint64 gap;

      if (!build_tree (bound) || bound->length > (upper - 1) * bound->scale)
        return BOUND_CLOSED;
      if (is_tour (bound))
        return BOUND_TOUR;
      if (bound->length > bound->best_length)
        {
          bound->best_length = bound->length;
          memcpy (bound->best_penalty, bound->penalty, (gsize)bound->n * sizeof *bound->penalty);
          idle = 0;
        }
      else if (++idle >= effort->patience)
        {
          step_1024 /= 2;
          idle = 0;
        }
      gap = target * bound->scale - bound->length;
      step (bound, MAX (gap, bound->scale), step_1024, i == 0);
    }
  memcpy (bound->penalty, bound->best_penalty, (gsize)bound->n * sizeof *bound->penalty);
  build_tree (bound);
  return BOUND_OPEN;
}

gint32 *
bound_penalties (Bound *bound)
{
  return bound->penalty;
}

gint64
bound_length (const Bound *bound)
{
  gint64 length = bound->best_length;

  return length >= 0 ? (length + bound->scale - 1) / bound->scale : -(-length / bound->scale);
}

/* Exchanges ---------------------------------------------------------------------------------- */

/* What one exchange of edges costs, at the 1-tree that an open ascent leaves behind. */
typedef struct
{
  Bound *bound;
  gint64 *cover; /* the cheapest edge that could replace the one from a city to its parent */
  gint64 third;  /* the cheapest edge at the leaf that is not in the 1-tree */
  int *place;    /* of a city in the order */
} Exchange;

#define NO_COST (G_MAXINT64 / 4)

static gboolean
in_tree (const Bound *bound, int a, int b)
{
  return bound->parent[a] == b || bound->parent[b] == a || (a == bound->leaf && b == bound->leaf_to)
         || (b == bound->leaf && a == bound->leaf_to);
}

/* How much longer the 1-tree gets when it must use the free edge (a, b). Notes the edge at all that
 * it could replace. */
static gint64
exchange_in (Exchange *exchange, int a, int b)
{
  Bound *bound = exchange->bound;
  gint64 cost = penalised (bound, a, b);
  gint64 greatest = -NO_COST;

  if (a == bound->leaf || b == bound->leaf)
    {
      exchange->third = MIN (exchange->third, cost);
      return cost - penalised (bound, bound->leaf, bound->leaf_to);
    }
  while (a != b)
    {
      int low = exchange->place[a] > exchange->place[b] ? a : b;
      int up = bound->parent[low];

      if (choice_edge (&bound->choice, low, up) == EDGE_FREE)
        greatest = MAX (greatest, penalised (bound, low, up));
      exchange->cover[low] = MIN (exchange->cover[low], cost);
      if (low == a)
        a = up;
      else
        b = up;
    }
  return cost - greatest;
}

/* How much longer the 1-tree gets without its edge from `city` to its parent. */
static gint64
exchange_out (const Exchange *exchange, int city)
{
  Bound *bound = exchange->bound;
  int up = bound->parent[city];
  gboolean at_leaf = city == bound->leaf || up == bound->leaf;

  return (at_leaf ? exchange->third : exchange->cover[city]) - penalised (bound, city, up);
}

static void
exchange_init (Exchange *exchange, Bound *bound)
{
  exchange->bound = bound;
  exchange->cover = g_new (gint64, bound->n);
  exchange->place = g_new (int, bound->n);
  exchange->third = NO_COST;
  for (int i = 0; i < bound->n; i++)
    {
      exchange->cover[i] = NO_COST;
      exchange->place[bound->order[i]] = i;
    }
}

static void
exchange_clear (Exchange *exchange)
{
  g_free (exchange->cover);
  g_free (exchange->place);
}

/* Looks at every free edge outside the 1-tree, and rules out the ones that bring the bound above
 * `most`. */
static int
try_all_in (Exchange *exchange, gint64 most, BoundDecision *found)
{
  Bound *bound = exchange->bound;
  int n_found = 0;

  for (int a = 0; a < bound->n; a++)
    for (int k = 0; k < bound->n_neighbours[a]; k++)
      {
        int b = bound->neighbours[a * bound->n + k].city;

        if (b < a || choice_edge (&bound->choice, a, b) != EDGE_FREE || in_tree (bound, a, b))
          continue;
        if (bound->best_length + exchange_in (exchange, a, b) > most)
          found[n_found++] = (BoundDecision){ (guint8)a, (guint8)b, FALSE };
      }
  return n_found;
}

int
bound_reduce (Bound *bound, gint64 target)
{
  gint64 most = (target - 1) * bound->scale;
  g_autofree BoundDecision *found = g_new (BoundDecision, square (bound));
  Exchange exchange;
  gboolean possible = TRUE;
  int n_found;

  exchange_init (&exchange, bound);
  n_found = try_all_in (&exchange, most, found);
  for (int a = 0; a < bound->n; a++)
    {
      int up = bound->parent[a];

      if (up != NO_CITY && choice_edge (&bound->choice, a, up) == EDGE_FREE
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
  g_autofree BoundDecision *found = g_new (BoundDecision, square (bound));
  BoundDecision branch = { 0, 0, FALSE };
  gint64 most = -NO_COST;
  Exchange exchange;

  exchange_init (&exchange, bound);
  try_all_in (&exchange, NO_COST, found);
  for (int a = 0; a < bound->n; a++)
    {
      int up = bound->parent[a];

      if (up == NO_CITY || choice_edge (&bound->choice, a, up) != EDGE_FREE)
        continue;
      if (bound->degree[a] < 3 && bound->degree[up] < 3)
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
  int n = bound->n;
  int last = NO_CITY;
  int city = 0;

  for (int i = 0; i < n; i++)
    {
      int next = NO_CITY;

      tour[i] = (guint8)city;
      for (int to = n - 1; to >= 0; to--)
        if (to != last && in_tree (bound, city, to))
          next = to;
      last = city;
      city = next;
    }
}
