/* SPDX-License-Identifier: BSD-3-Clause */
/* The bound of a partly placed instance, and its branching. One thread. Knows nothing of jobs.
 *
 * Facility a at location b costs, together with the other unplaced facilities, at least the product
 * of its flows and the distances from there, the least flow with the greatest distance. The
 * assignment problem over these costs is a lower bound of all placings. */
#include "config.h"

#include "../assign.h"
#include "choice.h"
#include "level.h"

#include <string.h>

void
level_lay (Level *level, int m, gint64 *memory)
{
  gsize square = (gsize)m * (gsize)m;

  level->m = m;
  level->linear = memory;
  level->reduced = level->linear + square;
  level->flow = (gint32 *)(level->reduced + square);
  level->distance = level->flow + square;
  level->child = (LevelChild *)(level->reduced + 2 * square);
  level->flow_to = (guint8 *)(level->child + m);
  level->distance_to = level->flow_to + square;
  level->facility = level->distance_to + square;
  level->location = level->facility + m;
  level->n_children = 0;
}

/* Row a of a matrix without its diagonal, sorted, the least first. */
static void
sort_row (int n, const gint32 *matrix, int a, gint32 *value, guint8 *to)
{
  int count = 0;

  for (int k = 0; k < n; k++)
    {
      int at = count;

      if (k == a)
        continue;
      for (; at > 0 && value[at - 1] > matrix[a * n + k]; at--)
        {
          value[at] = value[at - 1];
          to[at] = to[at - 1];
        }
      value[at] = matrix[a * n + k];
      to[at] = (guint8)k;
      count++;
    }
}

void
level_first (Level *level, const Qap *qap)
{
  int n = qap->n;

  level->placed = 0;
  for (int a = 0; a < n; a++)
    {
      level->facility[a] = level->location[a] = (guint8)a;
      for (int b = 0; b < n; b++)
        level->linear[a * n + b] = (gint64)qap->flow[a * n + a] * qap->distance[b * n + b];
      sort_row (n, qap->flow, a, level->flow + a * n, level->flow_to + a * n);
      sort_row (n, qap->distance, a, level->distance + a * n, level->distance_to + a * n);
      for (int low = a * n, high = low + n - 2; low < high; low++, high--)
        {
          gint32 value = level->distance[low];
          guint8 to = level->distance_to[low];

          level->distance[low] = level->distance[high];
          level->distance_to[low] = level->distance_to[high];
          level->distance[high] = value;
          level->distance_to[high] = to;
        }
    }
}

/* Copies a row of n sorted values without the one to `gone`. No branches: this is the inner
 * loop. */
static inline void
drop_value (int n, const gint32 *from, const guint8 *from_to, int gone, gint32 *value, guint8 *to)
{
  int count = 0;

  for (int k = 0; k < n; k++)
    {
      value[count] = from[k];
      to[count] = from_to[k];
      count += from_to[k] != gone;
    }
}

/* Copies all rows except the row of `gone`. Returns the place of `gone`. */
static int
drop_row (int m, const guint8 *name, int gone, const gint32 *from, const guint8 *from_to,
          guint8 *new_name, gint32 *value, guint8 *to)
{
  int at = 0, row = 0;

  for (int a = 0; a < m; a++)
    {
      if (name[a] == gone)
        {
          at = a;
          continue;
        }
      new_name[row] = name[a];
      drop_value (m - 1, from + a * m, from_to + a * m, gone, value + row * (m - 1),
                  to + row * (m - 1));
      row++;
    }
  return at;
}

void
level_place (Level *level, const Level *from, const Qap *qap, int facility, int location)
{
  int m = from->m, n = qap->n, i, j;

  i = drop_row (m, from->facility, facility, from->flow, from->flow_to, level->facility,
                level->flow, level->flow_to);
  j = drop_row (m, from->location, location, from->distance, from->distance_to, level->location,
                level->distance, level->distance_to);
  level->placed = from->placed + from->linear[i * m + j];
  for (int a = 0; a < m - 1; a++)
    {
      const gint64 *row = from->linear + (a + (a >= i)) * m;
      gint64 there = qap->flow[level->facility[a] * n + facility];
      gint64 back = qap->flow[facility * n + level->facility[a]];

      for (int b = 0; b < m - 1; b++)
        level->linear[a * (m - 1) + b] = row[b + (b >= j)]
                                         + there * qap->distance[level->location[b] * n + location]
                                         + back * qap->distance[location * n + level->location[b]];
    }
}

/* ---- bound and branch ---- */

gboolean
level_bound (Level *level, gint64 most)
{
  int m = level->m;

  for (int a = 0; a < m; a++)
    for (int b = 0; b < m; b++)
      {
        const gint32 *flow = level->flow + a * m, *distance = level->distance + b * m;
        gint64 sum = level->linear[a * m + b];

        for (int k = 0; k < m - 1; k++)
          sum += (gint64)flow[k] * distance[k];
        level->reduced[a * m + b] = sum;
      }
  level->bound = level->placed + assign (m, level->reduced, most - level->placed);
  return level->bound <= most;
}

void
level_branch (Level *level, gint64 most, const gboolean *skip_facility,
              const gboolean *skip_location)
{
  Choice choice = { level->m,        level->reduced, most - level->bound, level->facility,
                    level->location, skip_facility,  skip_location };

  level->n_children = choice_make (&choice, level->child);
  for (int k = 0; k < level->n_children; k++)
    level->child[k].bound += level->bound;
}
