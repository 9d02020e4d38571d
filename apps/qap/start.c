/* SPDX-License-Identifier: BSD-3-Clause */
/* The first placing, by robust tabu search (Taillard 1991), the unit of all costs, and symmetries.
 * One thread. Knows nothing of jobs and bounds. */
#include "config.h"

#include "start.h"

#include <string.h>

/* Iterations of the tabu search for each facility, unless iterations are expensive. */
#define TURNS 400
#define WORK_MAX ((gint64)400000000)
/* Steps of the search for symmetries. */
#define STEPS_MAX 1000000

gint64
start_cost (const Qap *qap, const guint8 *location)
{
  gint64 cost = 0;

  for (int i = 0; i < qap->n; i++)
    for (int k = 0; k < qap->n; k++)
      cost += (gint64)qap->flow[i * qap->n + k] * qap->distance[location[i] * qap->n + location[k]];
  return cost;
}

/* The change of the cost when facilities r and s swap places. */
static gint64
exchange_cost (const Qap *qap, const guint8 *location, int r, int s)
{
  int n = qap->n;
  const gint32 *f = qap->flow, *d = qap->distance;
  int x = location[r], y = location[s];
  gint64 cost = (gint64)(f[r * n + r] - f[s * n + s]) * (d[y * n + y] - d[x * n + x])
                + (gint64)(f[r * n + s] - f[s * n + r]) * (d[y * n + x] - d[x * n + y]);

  for (int k = 0; k < n; k++)
    {
      int z = location[k];

      if (k == r || k == s)
        continue;
      cost += (gint64)(f[k * n + r] - f[k * n + s]) * (d[z * n + y] - d[z * n + x])
              + (gint64)(f[r * n + k] - f[s * n + k]) * (d[y * n + z] - d[x * n + z]);
    }
  return cost;
}

/* The next pseudorandom number below `limit`, the same on every machine. */
static guint
draw (guint64 *row, guint limit)
{
  *row = *row * G_GUINT64_CONSTANT (6364136223846793005) + G_GUINT64_CONSTANT (1442695040888963407);
  return (guint)((*row >> 33) % limit);
}

typedef struct
{
  const Qap *qap;
  guint8 location[QAP_MAX];
  gint64 cost;
  int until[QAP_MAX][QAP_MAX]; /* facility i does not return to location j before that iteration */
  guint64 row;
} Tabu;

/* The best exchange that is allowed, or that leads below `best`. */
static void
choose_exchange (const Tabu *tabu, int turn, gint64 best, int *chosen_r, int *chosen_s,
                 gint64 *change)
{
  int n = tabu->qap->n;

  *change = G_MAXINT64;
  for (int r = 0; r < n; r++)
    for (int s = r + 1; s < n; s++)
      {
        gint64 cost = exchange_cost (tabu->qap, tabu->location, r, s);
        gboolean barred
            = tabu->until[r][tabu->location[s]] > turn && tabu->until[s][tabu->location[r]] > turn;

        if (cost < *change && (!barred || tabu->cost + cost < best))
          {
            *change = cost;
            *chosen_r = r;
            *chosen_s = s;
          }
      }
}

gint64
start_search (const Qap *qap, guint8 *location)
{
  int n = qap->n;
  gint64 turns = MIN ((gint64)TURNS * n, WORK_MAX / ((gint64)n * n * n)), best;
  g_autofree Tabu *tabu = g_new0 (Tabu, 1);

  tabu->qap = qap;
  tabu->row = 1;
  for (int i = 0; i < n; i++)
    tabu->location[i] = (guint8)i;
  best = tabu->cost = start_cost (qap, tabu->location);
  memcpy (location, tabu->location, (gsize)n);
  for (int turn = 1; n > 1 && turn <= turns; turn++)
    {
      int r = 0, s = 0;
      gint64 change;
      guint8 place;

      choose_exchange (tabu, turn, best, &r, &s, &change);
      if (r == s)
        continue;
      place = tabu->location[r];
      tabu->until[r][place] = turn + n + (int)draw (&tabu->row, (guint)n);
      tabu->until[s][tabu->location[s]] = turn + n + (int)draw (&tabu->row, (guint)n);
      tabu->location[r] = tabu->location[s];
      tabu->location[s] = place;
      tabu->cost += change;
      if (tabu->cost < best)
        {
          best = tabu->cost;
          memcpy (location, tabu->location, (gsize)n);
        }
    }
  return best;
}

/* ---- unit ---- */

static gint64
greatest_divisor (gint64 a, gint64 b)
{
  while (b != 0)
    {
      gint64 rest = a % b;

      a = b;
      b = rest;
    }
  return ABS (a);
}

/* The greatest number that divides every contribution of a matrix: the sums of two mirrored
 * elements, if the other matrix is symmetric, and the diagonal. */
static gint64
unit_of (int n, const gint32 *matrix, const gint32 *other)
{
  gint64 unit = 0;
  gboolean symmetric = TRUE;

  for (int i = 0; i < n; i++)
    for (int k = 0; k < i; k++)
      symmetric = symmetric && other[i * n + k] == other[k * n + i];
  for (int i = 0; i < n; i++)
    for (int k = 0; k <= i; k++)
      {
        gint64 there = matrix[i * n + k], back = matrix[k * n + i];

        unit = greatest_divisor (unit, symmetric && i != k ? there + back : there);
        unit = greatest_divisor (unit, symmetric && i != k ? 0 : back);
      }
  return MAX (unit, 1);
}

gint64
start_unit (const Qap *qap)
{
  return MAX (unit_of (qap->n, qap->flow, qap->distance),
              unit_of (qap->n, qap->distance, qap->flow));
}

/* ---- symmetries ---- */

typedef struct
{
  int n;
  const gint32 *matrix;
  guint most;
  int steps;
  guint8 to[QAP_MAX];
  gboolean used[QAP_MAX];
  GByteArray *found;
} Symmetry;

/* TRUE: i may be mapped to `to`; the numbers before i are mapped already. */
static gboolean
fits (const Symmetry *symmetry, int i, int to)
{
  int n = symmetry->n;
  const gint32 *matrix = symmetry->matrix;

  if (symmetry->used[to] || matrix[i * n + i] != matrix[to * n + to])
    return FALSE;
  for (int k = 0; k < i; k++)
    if (matrix[i * n + k] != matrix[to * n + symmetry->to[k]]
        || matrix[k * n + i] != matrix[symmetry->to[k] * n + to])
      return FALSE;
  return TRUE;
}

static void
extend (Symmetry *symmetry, int i)
{
  gboolean moves = FALSE;

  for (int k = 0; k < i; k++)
    moves = moves || symmetry->to[k] != k;
  if (i == symmetry->n)
    {
      if (moves)
        g_byte_array_append (symmetry->found, symmetry->to, (guint)symmetry->n);
      return;
    }
  for (int to = 0; to < symmetry->n; to++)
    {
      if (symmetry->found->len >= symmetry->most * (guint)symmetry->n
          || ++symmetry->steps > STEPS_MAX)
        return;
      if (!fits (symmetry, i, to))
        continue;
      symmetry->to[i] = (guint8)to;
      symmetry->used[to] = TRUE;
      extend (symmetry, i + 1);
      symmetry->used[to] = FALSE;
    }
}

GByteArray *
start_symmetries (int n, const gint32 *matrix, guint most)
{
  Symmetry symmetry = { .n = n, .matrix = matrix, .most = most, .found = g_byte_array_new () };

  extend (&symmetry, 0);
  return symmetry.found;
}
