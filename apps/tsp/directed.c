/* SPDX-License-Identifier: BSD-3-Clause */
/* The special parts for distances that depend on the direction. Pure. Knows nothing of jobs. */
#include "config.h"

#include "directed.h"

#include "../assign.h"
#include "start.h"

#include <string.h>

/* The cost of a city following itself: more than any sum of distances, but sums of it fit. */
#define NEVER ((gint64)1 << 50)
#define PENALTY_MAX (1 << 29)
/* Kicks for each city, unless kicks are expensive. */
#define KICKS_PER_CITY 50
#define WORK_MAX 100000000

G_STATIC_ASSERT (DIRECTED_CITIES_MAX <= ASSIGN_MAX);

void
directed_double (int n, const gint32 *distance, gint32 *doubled)
{
  for (int i = 0; i < 4 * n * n; i++)
    doubled[i] = BOUND_NO_EDGE;
  for (int a = 0; a < n; a++)
    for (int b = 0; b < n; b++)
      {
        gint32 length = a == b ? 0 : distance[a * n + b];

        doubled[a * 2 * n + n + b] = length;
        doubled[(n + b) * 2 * n + a] = length;
      }
}

void
directed_decide (int n, BoundDecision *decisions)
{
  for (int a = 0; a < n; a++)
    decisions[a] = (BoundDecision){ (guint8)a, (guint8)(n + a), TRUE };
}

void
directed_tour (int n, const guint8 *doubled, guint8 *tour)
{
  /* Tours in which city 0 is followed by its other half run backwards. */
  gboolean back = doubled[1] == n;
  guint8 city[DIRECTED_CITIES_MAX];
  int count = 0;

  for (int i = 0; i < 2 * n; i++)
    if (doubled[i] < n)
      city[count++] = doubled[i];
  for (int i = 0; i < n; i++)
    tour[i] = city[back ? (n - i) % n : i];
}

void
directed_penalties (int n, const gint32 *distance, int scale, gint32 *penalty)
{
  g_autofree gint64 *cost = g_new (gint64, n * n);
  gint64 from[DIRECTED_CITIES_MAX];

#define COST(a, b) ((a) == (b) ? NEVER : (gint64)distance[(a)*n + (b)])
  for (int a = 0; a < n; a++)
    for (int b = 0; b < n; b++)
      cost[a * n + b] = COST (a, b);
  assign (n, cost, G_MAXINT64);
  /* A reduced cost is the cost less a part for its row and a part for its column. The part of
   * column 0 is counted with the rows, which changes no other sum. */
  for (int a = 0; a < n; a++)
    from[a] = COST (a, 0) - cost[a * n];
  for (int b = 0; b < n; b++)
    {
      gint64 to = COST (0, b) - cost[b] - from[0];

      penalty[b] = (gint32)CLAMP (-from[b] * scale, -PENALTY_MAX, PENALTY_MAX);
      penalty[n + b] = (gint32)CLAMP (-to * scale, -PENALTY_MAX, PENALTY_MAX);
    }
#undef COST
}

/* ---- the first tour ---- */

/* The gain when the sections p + 1 … q and q + 1 … r of a tour swap places, p < q < r. */
static gint64
exchange_gain (int n, const gint32 *distance, const guint8 *tour, int p, int q, int r)
{
  int after = tour[r + 1 == n ? 0 : r + 1];

  return (gint64)distance[tour[p] * n + tour[p + 1]] + distance[tour[q] * n + tour[q + 1]]
         + distance[tour[r] * n + after] - distance[tour[p] * n + tour[q + 1]]
         - distance[tour[r] * n + tour[p + 1]] - distance[tour[q] * n + after];
}

static void
exchange_ways (guint8 *tour, int p, int q, int r)
{
  guint8 way[DIRECTED_CITIES_MAX];
  gsize first = (gsize)(q - p), second = (gsize)(r - q);

  memcpy (way, tour + p + 1, first);
  memmove (tour + p + 1, tour + q + 1, second);
  memcpy (tour + p + 1 + second, way, first);
}

/* Exchanges of three arcs without reversals, until none shortens the tour. */
static void
descend (int n, const gint32 *distance, guint8 *tour)
{
  gboolean found = TRUE;

  while (found)
    {
      found = FALSE;
      for (int p = 0; p < n - 2; p++)
        for (int q = p + 1; q < n - 1; q++)
          for (int r = q + 1; r < n; r++)
            if (exchange_gain (n, distance, tour, p, q, r) > 0)
              {
                exchange_ways (tour, p, q, r);
                found = TRUE;
              }
    }
}

static void
walk_to_nearest (int n, const gint32 *distance, int from, guint8 *tour)
{
  for (int i = 0; i < n; i++)
    tour[i] = (guint8)((from + i) % n);
  for (int i = 1; i < n - 1; i++)
    {
      int nearest = i;
      guint8 swap = tour[i];

      for (int k = i + 1; k < n; k++)
        if (distance[tour[i - 1] * n + tour[k]] < distance[tour[i - 1] * n + tour[nearest]])
          nearest = k;
      tour[i] = tour[nearest];
      tour[nearest] = swap;
    }
}

/* Pseudorandom numbers, the same on every machine. */
static int
draw (guint32 *seed, int below)
{
  *seed = *seed * 1664525u + 1013904223u;
  return (int)((*seed >> 8) % (guint)below);
}

static void
kick (int n, guint8 *tour, guint32 *seed)
{
  for (int i = 0; i < 2; i++)
    {
      int p = draw (seed, n - 2);
      int q = p + 1 + draw (seed, n - 2 - p);
      int r = q + 1 + draw (seed, n - 1 - q);

      exchange_ways (tour, p, q, r);
    }
}

gint64
directed_start (int n, const gint32 *distance, guint8 *tour)
{
  guint8 next[DIRECTED_CITIES_MAX];
  gint64 best = G_MAXINT64;
  int kicks = n < 4 ? 0 : MIN (KICKS_PER_CITY * n, WORK_MAX / (n * n * n));
  guint32 seed = 1;

  for (int i = 0; i < n + kicks; i++)
    {
      gint64 length;

      if (i < n)
        walk_to_nearest (n, distance, i, next);
      else
        {
          memcpy (next, tour, (gsize)n);
          kick (n, next, &seed);
        }
      descend (n, distance, next);
      length = start_length (n, distance, next);
      if (length < best || (length == best && i >= n))
        {
          best = length;
          memcpy (tour, next, (gsize)n);
        }
    }
  return best;
}
