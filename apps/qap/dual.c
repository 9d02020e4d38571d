/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a dual from the instance, or from the dual with one facility more; and branches. One
 * thread. Knows nothing of jobs, and not how the bound rises. */
#include "config.h"

#include "../assign.h"
#include "choice.h"
#include "dual.h"

#include <string.h>

#define SHIFT_MAX 12

static inline Small
cut (gint64 cost)
{
  return (Small)MIN (cost, SMALL_BARRED);
}

static inline Small
parts_of (int shift, gint64 cost)
{
  return cut (shift < 0 ? cost >> -shift : MIN (cost, SMALL_BARRED) << shift);
}

gint64
dual_cost (const Dual *dual, int more)
{
  gint64 risen = dual->risen + more;

  if (dual->shift < 0)
    return dual->base + (risen << -dual->shift);
  return dual->base + ((risen + (1 << dual->shift) - 1) >> dual->shift);
}

void
dual_lay (Dual *dual, int m, Small *memory)
{
  dual->m = m;
  dual->width = SMALL_WIDTH (m);
  dual->pair = memory;
  dual->leader = dual->pair + DUAL_PAIRS (m);
  dual->facility = (guint8 *)(dual->leader + m * dual->width);
  dual->location = dual->facility + m;
}

/* ---- the first bound ---- */

/* Solves the assignment problem of (i, j) as Gilmore and Lawler do: each flow is counted at the
 * facility where it begins. Adds the rest to the pairs. Returns the sum. */
static gint64
first_assign (const Level *level, const Qap *qap, int i, int j, gint64 *pairs)
{
  int m = level->m, n = qap->n;
  gint64 cost[DUAL_MAX * DUAL_MAX], sum = 0;

  for (int k = 0, at = 0; k < m; k++)
    for (int l = 0; l < m && k != i; l++)
      if (l != j)
        cost[at++] = (gint64)qap->flow[level->facility[i] * n + level->facility[k]]
                     * qap->distance[level->location[j] * n + level->location[l]];
  if (m > 1)
    sum = assign (m - 1, cost, G_MAXINT64);
  for (int k = 0, at = 0; k < m; k++)
    for (int l = 0; l < m && k != i; l++)
      if (l != j)
        pairs[i < k ? ((i * m + j) * m + k) * m + l : ((k * m + l) * m + i) * m + j] += cost[at++];
  return sum;
}

gboolean
dual_first (Dual *dual, const Level *level, const Qap *qap, gint64 most)
{
  int m = level->m, w = dual->width;
  gint64 leader[DUAL_MAX * DUAL_MAX], slack;
  g_autofree gint64 *pairs = g_new0 (gint64, m * m * m * m);

  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++)
      leader[i * m + j] = level->linear[i * m + j] + first_assign (level, qap, i, j, pairs);
  dual->base = level->placed + assign (m, leader, most - level->placed);
  slack = most - dual->base;
  if (slack < 0)
    return FALSE;
  dual->shift = 0;
  dual->risen = 0;
  dual->turned = FALSE;
  while (slack >> -dual->shift > SMALL_SUM_MAX)
    dual->shift--;
  while (dual->shift >= 0 && dual->shift < SHIFT_MAX && slack << (dual->shift + 1) <= SMALL_SUM_MAX)
    dual->shift++;
  for (int i = 0; i < m; i++)
    {
      dual_fill (dual->leader + i * w, m, w);
      for (int j = 0; j < m; j++)
        dual->leader[i * w + j] = parts_of (dual->shift, leader[i * m + j]);
      for (int k = i + 1; k < m; k++)
        for (int j = 0; j < m; j++)
          {
            Small *row = dual_pairs (dual, i, k) + j * w;

            for (int l = 0; l < m; l++)
              row[l] = parts_of (dual->shift, pairs[((i * m + j) * m + k) * m + l]);
            row[j] = SMALL_BARRED;
            dual_fill (row, m, w);
          }
    }
  memcpy (dual->facility, level->facility, (gsize)m);
  memcpy (dual->location, level->location, (gsize)m);
  return TRUE;
}

/* Copies numbers without the one at `gone`. Numbers above `most` are barred; the others are counted
 * in units that are finer by 2^finer. */
static inline void
copy_row (Small *to, int width, const Small *from, int m, int gone, Small most, int finer)
{
  memcpy (to, from, (gsize)gone * sizeof (Small));
  memcpy (to + gone, from + gone + 1, (gsize)(m - 1 - gone) * sizeof (Small));
  dual_fill (to, m - 1, width);
  for (int v = 0; v < width; v += SMALL_LANES)
    for (int x = 0; x < SMALL_LANES; x++)
      to[v + x] = to[v + x] > most ? (Small)SMALL_BARRED : (Small)((guint16)to[v + x] << finer);
}

void
dual_place (Dual *dual, const Dual *from, int a, int b, gint64 most)
{
  int m = from->m, w = from->width, slack, finer = 0;

  dual->shift = from->shift;
  dual->base = from->base;
  dual->risen = from->risen + from->leader[a * w + b];
  dual->turned = from->turned;
  slack = MAX (dual_slack (dual, most), 0);
  while (dual->shift < SHIFT_MAX && slack << (finer + 1) <= SMALL_SUM_MAX)
    {
      finer++;
      dual->shift++;
    }
  dual->risen <<= finer;
  for (int i = 0, row = 0; i < m; i++)
    {
      const Small *pairs = i < a ? dual_pairs (from, i, a) : dual_pairs (from, a, i);
      gboolean by_row = (i > a) != from->turned;
      Small leader[DUAL_MAX];

      if (i == a)
        continue;
      for (int j = 0; j < m; j++)
        leader[j] = cut (from->leader[i * w + j] + pairs[by_row ? b * w + j : j * w + b]);
      copy_row (dual->leader + row * dual->width, dual->width, leader, m, b, (Small)slack, finer);
      for (int k = i + 1, next = row + 1; k < m; k++)
        {
          const Small *old = dual_pairs (from, i, k);
          Small *new = dual_pairs (dual, row, next);

          if (k == a)
            continue;
          for (int j = 0; j < m; j++, old += w)
            if (j != b)
              {
                copy_row (new, dual->width, old, m, b, (Small)slack, finer);
                new += dual->width;
              }
          next++;
        }
      dual->facility[row] = from->facility[i];
      row++;
    }
  memcpy (dual->location, from->location, (gsize)b);
  memcpy (dual->location + b, from->location + b + 1, (gsize)(m - 1 - b));
}

int
dual_branch (const Dual *dual, const Small *child, const gboolean *skip_facility,
             const gboolean *skip_location, LevelChild *chosen)
{
  gint64 reduced[DUAL_MAX * DUAL_MAX];
  Choice choice = { dual->m,        reduced,       SMALL_BARRED - 1, dual->facility,
                    dual->location, skip_facility, skip_location };
  int count;

  for (int at = 0; at < dual->m * dual->m; at++)
    reduced[at] = child[at];
  count = choice_make (&choice, chosen);
  for (int k = 0; k < count; k++)
    chosen[k].bound = dual_cost (dual, (int)chosen[k].bound);
  return count;
}
