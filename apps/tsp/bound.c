/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns 1-trees, penalties, and what follows from decisions. One thread per Bound; one is made per
 * job. Must not know jobs, files or the best tour.
 *
 * M. Held and R. M. Karp, "The traveling-salesman problem and minimum spanning trees", parts I and
 * II: a 1-tree is a spanning tree and one more edge at one of its leaves. Every tour is a 1-tree,
 * and a penalty on each city shifts all tours by the same amount, so the least penalised 1-tree
 * bounds all tours for any penalties. */
#include "config.h"

#include "bound.h"

#include <string.h>

#define SCALE_MAX 1024
#define PENALTY_MAX (1 << 29)
#define NO_CITY (-1)

enum
{
  EDGE_FREE,
  EDGE_IN,
  EDGE_OUT
};

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

  /* Decisions. Taken edges form paths; `end` is the other end of the path that ends in a city. */
  guint8 *edge;
  int *n_left; /* edges at a city that are not out */
  int *n_in;   /* edges at a city that are in */
  int *end;
  int in_total;
  int *queue; /* cities whose counts changed */
  int queue_length;
  gboolean *queued;

  /* Edges that are not out, by city; rebuilt when decisions changed. */
  Neighbour *neighbours;
  int *n_neighbours;
  gboolean stale;

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
  bound->edge = g_new (guint8, square (bound));
  bound->n_left = g_new (int, n);
  bound->n_in = g_new (int, n);
  bound->end = g_new (int, n);
  bound->queue = g_new (int, n);
  bound->queued = g_new0 (gboolean, n);
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
  g_free (bound->edge);
  g_free (bound->n_left);
  g_free (bound->n_in);
  g_free (bound->end);
  g_free (bound->queue);
  g_free (bound->queued);
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

static guint8 *
edge_at (const Bound *bound, int a, int b)
{
  return &bound->edge[a * bound->n + b];
}

static void
set_edge (Bound *bound, int a, int b, guint8 state)
{
  *edge_at (bound, a, b) = state;
  *edge_at (bound, b, a) = state;
  bound->stale = TRUE;
}

static void
enqueue (Bound *bound, int city)
{
  if (bound->queued[city])
    return;
  bound->queued[city] = TRUE;
  bound->queue[bound->queue_length++] = city;
}

static gboolean
rule_out (Bound *bound, int a, int b)
{
  if (*edge_at (bound, a, b) != EDGE_FREE)
    return *edge_at (bound, a, b) == EDGE_OUT;
  set_edge (bound, a, b, EDGE_OUT);
  if (--bound->n_left[a] < 2 || --bound->n_left[b] < 2)
    return FALSE;
  enqueue (bound, a);
  enqueue (bound, b);
  return TRUE;
}

static gboolean
take (Bound *bound, int a, int b)
{
  int x = bound->end[a], y = bound->end[b];

  if (*edge_at (bound, a, b) != EDGE_FREE)
    return *edge_at (bound, a, b) == EDGE_IN;
  if (bound->n_in[a] == 2 || bound->n_in[b] == 2)
    return FALSE;
  /* A path that closes must be the whole tour. */
  if (x == b && bound->in_total != bound->n - 1)
    return FALSE;
  set_edge (bound, a, b, EDGE_IN);
  bound->n_in[a]++;
  bound->n_in[b]++;
  bound->in_total++;
  enqueue (bound, a);
  enqueue (bound, b);
  if (x == b)
    return TRUE;
  bound->end[x] = y;
  bound->end[y] = x;
  return bound->in_total == bound->n - 1 || *edge_at (bound, x, y) == EDGE_IN
         || rule_out (bound, x, y);
}

/* A city with two edges in loses all others; a city with two edges left keeps them. */
static gboolean
settle_city (Bound *bound, int city)
{
  for (int to = 0; to < bound->n; to++)
    {
      if (*edge_at (bound, city, to) != EDGE_FREE)
        continue;
      if (bound->n_in[city] == 2 ? !rule_out (bound, city, to)
                                 : bound->n_left[city] == 2 && !take (bound, city, to))
        return FALSE;
    }
  return TRUE;
}

static gboolean
settle (Bound *bound)
{
  gboolean possible = TRUE;

  while (bound->queue_length > 0)
    {
      int city = bound->queue[--bound->queue_length];

      bound->queued[city] = FALSE;
      possible = possible && settle_city (bound, city);
    }
  return possible;
}

gboolean
bound_decide (Bound *bound, BoundDecision decision)
{
  gboolean possible = decision.in ? take (bound, decision.a, decision.b)
                                  : rule_out (bound, decision.a, decision.b);

  /* The queue is emptied in any case, for the next start. */
  return settle (bound) && possible;
}

gboolean
bound_start (Bound *bound, const BoundDecision *decisions, int n_decisions)
{
  int n = bound->n;
  gboolean possible = TRUE;

  bound->in_total = 0;
  bound->stale = TRUE;
  for (int a = 0; a < n; a++)
    {
      bound->n_left[a] = 0;
      bound->n_in[a] = 0;
      bound->end[a] = a;
      for (int b = 0; b < n; b++)
        {
          gboolean out = a == b || bound->distance[a * n + b] == BOUND_NO_EDGE;

          bound->edge[a * n + b] = out ? EDGE_OUT : EDGE_FREE;
          bound->n_left[a] += !out;
        }
      if (bound->n_left[a] < 2)
        possible = FALSE;
      else if (bound->n_left[a] == 2)
        enqueue (bound, a);
    }
  possible = settle (bound) && possible;
  for (int i = 0; possible && i < n_decisions; i++)
    possible = bound_decide (bound, decisions[i]);
  return possible;
}

gboolean
bound_is_out (const Bound *bound, int a, int b)
{
  return *edge_at (bound, a, b) == EDGE_OUT;
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
        if (*edge_at (bound, a, b) != EDGE_OUT)
          bound->neighbours[a * n + count++]
              = (Neighbour){ b, bound->distance[a * n + b] * bound->scale };
      bound->n_neighbours[a] = count;
    }
  bound->stale = FALSE;
}

static gint32
penalised (const Bound *bound, int a, int b)
{
  return bound->distance[a * bound->n + b] * bound->scale + bound->penalty[a] + bound->penalty[b];
}

/* Prim's tree over all cities, taken edges first. FALSE: the edges left do not connect them. */
static gboolean
grow_tree (Bound *bound)
{
  int n = bound->n;
  int *rest = bound->order; /* order[i...] are the cities outside the tree */
  gint64 length = 0;

  for (int i = 0; i < n; i++)
    {
      rest[i] = i;
      bound->key[i] = G_MAXINT32;
      bound->parent[i] = NO_CITY;
    }
  memset (bound->degree, 0, (gsize)n * sizeof *bound->degree);
  for (int i = 0;; i++)
    {
      int city = rest[i];
      int nearest = i + 1;

      bound->key[city] = G_MININT32;
      if (bound->parent[city] != NO_CITY)
        {
          length += penalised (bound, city, bound->parent[city]);
          bound->degree[city]++;
          bound->degree[bound->parent[city]]++;
        }
      if (i == n - 1)
        break;
      for (int k = 0; k < bound->n_neighbours[city]; k++)
        {
          Neighbour to = bound->neighbours[city * n + k];
          gint32 cost = to.cost + bound->penalty[city] + bound->penalty[to.city];

          /* A city in the tree has the least key of all and is never reached again. */
          if (cost < bound->key[to.city])
            {
              bound->key[to.city] = cost;
              bound->parent[to.city] = city;
            }
        }
      if (bound->n_in[city] > 0)
        for (int k = 0; k < bound->n_neighbours[city]; k++)
          {
            int to = bound->neighbours[city * n + k].city;

            if (*edge_at (bound, city, to) == EDGE_IN && bound->key[to] != G_MININT32)
              {
                bound->key[to] = G_MININT32 + 1;
                bound->parent[to] = city;
              }
          }
      for (int k = i + 2; k < n; k++)
        if (bound->key[rest[k]] < bound->key[rest[nearest]])
          nearest = k;
      if (bound->key[rest[nearest]] == G_MAXINT32)
        return FALSE;
      city = rest[nearest];
      rest[nearest] = rest[i + 1];
      rest[i + 1] = city;
    }
  bound->length = length;
  return TRUE;
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
  if (bound->stale)
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

      if (*edge_at (bound, low, up) == EDGE_FREE)
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

        if (b < a || *edge_at (bound, a, b) != EDGE_FREE || in_tree (bound, a, b))
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

      if (up != NO_CITY && *edge_at (bound, a, up) == EDGE_FREE
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

      if (up == NO_CITY || *edge_at (bound, a, up) != EDGE_FREE)
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
