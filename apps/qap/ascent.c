/* SPDX-License-Identifier: BSD-3-Clause */
/* The dual ascent. One thread. Knows nothing of jobs and of the instance.
 *
 * x[i][j] is 1 if facility i is at location j. The cost of a placing is the bound, plus a leader
 * for each x[i][j] of 1, plus a pair for each two of them. All of these are 0 or more, so the bound
 * is a lower bound. The following moves do not change the cost of any placing:
 *  - x[i][j] of 1 implies one pair with each other facility k. So what is added to all pairs of
 *    (i, j) with k may be subtracted from the leader, and likewise for each other location.
 *  - The same holds between the leaders of a facility, or of a location, and the bound.
 * A round distributes the leaders to the pairs, each of which two leaders share. Then it collects,
 * for each leader, the cost of the assignment problem over its pairs; finally it collects, for the
 * bound, the cost of the assignment problem over the leaders. */
#include "config.h"

#include "dual.h"

#include <string.h>

/* Begins a table of all locations but j. Leaves its numbers as they are, since clearing them takes
 * long. */
static inline void
table_begin (SmallTable *table, int m, int rows, int j)
{
  table->rows = rows;
  table->width = SMALL_WIDTH (m);
  table->columns = (m == SMALL_MAX ? G_MAXUINT32 : (1u << m) - 1) & ~(j < m ? 1u << j : 0);
}

/* Collects from the leaders for the bound, and bars leaders that cost too much. FALSE: everything
 * does. */
static gboolean
lead (Dual *dual, gint64 most)
{
  int m = dual->m, w = dual->width, slack = dual_slack (dual, most), sum;
  SmallTable table;

  table_begin (&table, m, m, m);
  for (int i = 0; i < m; i++)
    memcpy (table.cost[i], dual->leader + i * w, (gsize)w * sizeof (Small));
  if (slack < 0 || (sum = small_assign (&table, slack)) < 0)
    return FALSE;
  dual->risen += sum;
  for (int i = 0; i < m; i++)
    for (int j = 0; j < w; j++)
      dual->leader[i * w + j] = table.cost[i][j] > slack - sum ? SMALL_BARRED : table.cost[i][j];
  return TRUE;
}

static inline Small
bound_by (Small cost)
{
  return MIN (cost, (Small)SMALL_BARRED);
}

/* Distributes the leaders to their pairs, equally over the other facilities; remainders stay. */
static void
spread (Dual *dual)
{
  int m = dual->m, w = dual->width;
  Small share[DUAL_MAX][DUAL_MAX];

  if (m == 1)
    return;
  for (int i = 0; i < m; i++)
    for (int j = 0; j < w; j++)
      {
        Small *leader = dual->leader + i * w + j;

        share[i][j] = *leader == SMALL_BARRED ? 0 : (Small)(*leader / (m - 1));
        *leader = (Small)(*leader - share[i][j] * (m - 1));
      }
  for (int i = 0; i < m; i++)
    for (int k = i + 1; k < m; k++)
      for (int j = 0; j < m; j++)
        {
          Small *row = dual_pairs (dual, i, k) + j * w, own = share[dual->turned ? k : i][j];
          const Small *other = share[dual->turned ? i : k];

          for (int v = 0; v < w; v += SMALL_LANES)
            for (int x = 0; x < SMALL_LANES; x++)
              row[v + x] = bound_by ((Small)(row[v + x] + own + other[v + x]));
        }
}

/* The data of a sweep for facility i: its pairs, with its locations as rows, and the leaders of
 * each of the m - 1 others. */
typedef struct
{
  Dual *dual;
  int i, slack;
  Small *pairs[DUAL_MAX];
  const Small *other[DUAL_MAX];
  /* -1: the sweep comes to the other facility later, and half of each pair is left to it; 0:
   * nothing is. */
  Small later[DUAL_MAX];
  Small *child; /* of a probe */
} Sight;

static inline Small
kept_of (Small pair, Small later)
{
  return (Small)((pair - (pair >> 1)) & later);
}

static inline void
take (Small *restrict row, const Small *restrict pairs, Small later, int width)
{
  for (int v = 0; v < width; v += SMALL_LANES)
    for (int x = 0; x < SMALL_LANES; x++)
      row[v + x] = (Small)(pairs[v + x] - kept_of (pairs[v + x], later));
}

/* Bars pairs that cost more than `most` together with the other facility's leader. */
static inline void
put_back (Small *restrict pairs, const Small *restrict row, Small later,
          const Small *restrict other, Small most, int width)
{
  for (int v = 0; v < width; v += SMALL_LANES)
    for (int x = 0; x < SMALL_LANES; x++)
      {
        Small cost = bound_by ((Small)(kept_of (pairs[v + x], later) + row[v + x]));

        pairs[v + x] = (Small)(cost + other[v + x]) > most ? (Small)SMALL_BARRED : cost;
      }
}

static inline void
add_up (Small *restrict row, const Small *restrict pairs, const Small *restrict other, int width)
{
  for (int v = 0; v < width; v += SMALL_LANES)
    for (int x = 0; x < SMALL_LANES; x++)
      row[v + x] = bound_by ((Small)(pairs[v + x] + other[v + x]));
}

static void
bar (const Sight *sight, int j)
{
  const Dual *dual = sight->dual;

  dual->leader[sight->i * dual->width + j] = SMALL_BARRED;
  for (int k = 0; k < dual->m - 1; k++)
    dual_fill (sight->pairs[k] + j * dual->width, 0, dual->width);
}

/* Collects from the pairs of (i, j) for its leader, and bars pairs that cost too much. */
static void
collect (const Sight *sight, int j)
{
  const Dual *dual = sight->dual;
  int m = dual->m, w = dual->width, sum;
  Small *leader = dual->leader + sight->i * w + j;
  SmallTable table;

  table_begin (&table, m, m - 1, j);
  for (int k = 0; k < m - 1; k++)
    take (table.cost[k], sight->pairs[k] + j * w, sight->later[k], w);
  sum = small_assign (&table, sight->slack - *leader);
  if (sum < 0)
    {
      bar (sight, j);
      return;
    }
  *leader = (Small)(*leader + sum);
  for (int k = 0; k < m - 1; k++)
    put_back (sight->pairs[k] + j * w, table.cost[k], sight->later[k], sight->other[k],
              (Small)(sight->slack - *leader), w);
}

/* The consequences of x[i][j] of 1: the leaders, with the pairs of (i, j), form an assignment
 * problem. */
static void
probe (const Sight *sight, int j)
{
  const Dual *dual = sight->dual;
  int m = dual->m, w = dual->width, sum;
  Small leader = dual->leader[sight->i * w + j];
  SmallTable table;

  table_begin (&table, m, m - 1, j);
  for (int k = 0; k < m - 1; k++)
    add_up (table.cost[k], sight->pairs[k] + j * w, sight->other[k], w);
  sum = small_assign (&table, sight->slack - leader);
  if (sum < 0)
    bar (sight, j);
  else
    sight->child[sight->i * m + j] = (Small)(leader + sum);
}

/* Transposes the pairs of two facilities. */
static void
turn (Small *pairs, int m, int width)
{
  for (int j = 0; j < m; j++)
    for (int l = j + 1; l < m; l++)
      {
        Small value = pairs[j * width + l];

        pairs[j * width + l] = pairs[l * width + j];
        pairs[l * width + j] = value;
      }
}

/* Applies `step` to everything that is not barred. Goes through the facilities alternately up and
 * down. So a pair has the form that its first facility needs, and is transposed for the other. */
static void
sweep (Dual *dual, gint64 most, void (*step) (const Sight *sight, int j), Small *child)
{
  int m = dual->m;
  Sight sight = { .dual = dual, .slack = dual_slack (dual, most), .child = child };

  for (int turns = 0; turns < m; turns++)
    {
      int i = sight.i = dual->turned ? m - 1 - turns : turns;

      for (int k = 0, at = 0; k < m; k++)
        if (k != i)
          {
            sight.pairs[at] = k < i ? dual_pairs (dual, k, i) : dual_pairs (dual, i, k);
            sight.other[at] = dual->leader + k * dual->width;
            sight.later[at++] = (k > i) != dual->turned ? -1 : 0;
          }
      for (int j = 0; j < m; j++)
        {
          if (child != NULL)
            child[i * m + j] = SMALL_BARRED;
          if (dual->leader[i * dual->width + j] == SMALL_BARRED)
            bar (&sight, j);
          else
            step (&sight, j);
        }
      for (int k = 0; k < m - 1; k++)
        if (sight.later[k] != 0)
          turn (sight.pairs[k], m, dual->width);
    }
  dual->turned = !dual->turned;
}

gboolean
dual_rise (Dual *dual, gint64 most)
{
  if (!lead (dual, most))
    return FALSE;
  spread (dual);
  sweep (dual, most, collect, NULL);
  return lead (dual, most);
}

gboolean
dual_probe (Dual *dual, gint64 most, Small *child)
{
  int m = dual->m;
  gint64 before;

  if (!lead (dual, most))
    return FALSE;
  before = dual->risen;
  sweep (dual, most, probe, child);
  if (!lead (dual, most))
    return FALSE;
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++)
      {
        Small leader = dual->leader[i * dual->width + j];
        int above = child[i * m + j] - (int)(dual->risen - before);

        child[i * m + j] = leader == SMALL_BARRED ? leader : (Small)MAX (above, leader);
      }
  return TRUE;
}
