/* SPDX-License-Identifier: BSD-3-Clause */
/* The assignment problem, solved by shortest augmenting paths (the Hungarian method). Does not know
 * what is assigned. */
#include "config.h"

#include "assign.h"

#define NOBODY (-1)

/* Subtracts the least element from each row and each column. Returns the sum of what was
 * subtracted. */
static gint64
reduce (int m, gint64 *cost)
{
  gint64 least[ASSIGN_MAX], sum = 0;

  for (int a = 0; a < m; a++)
    {
      gint64 *row = cost + a * m, low = row[0];

      for (int b = 1; b < m; b++)
        low = MIN (low, row[b]);
      sum += low;
      for (int b = 0; b < m; b++)
        {
          row[b] -= low;
          least[b] = a == 0 ? row[b] : MIN (least[b], row[b]);
        }
    }
  for (int b = 0; b < m; b++)
    sum += least[b];
  for (int a = 0; a < m; a++)
    for (int b = 0; b < m; b++)
      cost[a * m + b] -= least[b];
  return sum;
}

typedef struct
{
  int m;
  const gint64 *cost;
  gint64 row[ASSIGN_MAX], column[ASSIGN_MAX]; /* subtracted from rows and columns */
  int row_of[ASSIGN_MAX];                     /* the row to which a column is assigned */
} Assignment;

/* Assigns a column to this row, too, along a shortest augmenting path. Returns by how much the sum
 * grows; it may stop once this is above `most`. */
static gint64
add_row (Assignment *given, int row, gint64 most)
{
  int m = given->m, way[ASSIGN_MAX], open[ASSIGN_MAX], n_open = m, at = row, column = NOBODY;
  gint64 far[ASSIGN_MAX], sum = 0;

  for (int b = 0; b < m; b++)
    {
      far[b] = G_MAXINT64;
      open[b] = b;
    }
  /* open[n_open …]: the columns reached so far. */
  do
    {
      gint64 step = G_MAXINT64;
      int next = 0;

      for (int k = 0; k < n_open; k++)
        {
          int b = open[k];
          gint64 cost = given->cost[at * m + b] - given->row[at] - given->column[b];

          if (cost < far[b])
            {
              far[b] = cost;
              way[b] = column;
            }
          if (far[b] < step)
            {
              step = far[b];
              next = k;
            }
        }
      sum += step;
      if (sum > most)
        return sum;
      given->row[row] += step;
      for (int k = n_open; k < m; k++)
        {
          given->row[given->row_of[open[k]]] += step;
          given->column[open[k]] -= step;
        }
      for (int k = 0; k < n_open; k++)
        far[open[k]] -= step;
      column = open[next];
      open[next] = open[--n_open];
      open[n_open] = column;
      at = given->row_of[column];
    }
  while (at != NOBODY);
  while (column != NOBODY)
    {
      int before = way[column];

      given->row_of[column] = before == NOBODY ? row : given->row_of[before];
      column = before;
    }
  return sum;
}

/* The rest of `most` above a sum that may be negative. */
static gint64
left_of (gint64 most, gint64 sum)
{
  return sum < 0 && most > G_MAXINT64 + sum ? G_MAXINT64 : most - sum;
}

gint64
assign (int m, gint64 *cost, gint64 most)
{
  Assignment given;
  int waiting[ASSIGN_MAX], n_waiting = 0;
  gint64 sum = reduce (m, cost);

  if (sum > most)
    return sum;
  given.m = m;
  given.cost = cost;
  for (int b = 0; b < m; b++)
    {
      given.row_of[b] = NOBODY;
      given.row[b] = given.column[b] = 0;
    }
  for (int a = 0; a < m; a++)
    {
      int b = 0;

      while (b < m && (cost[a * m + b] != 0 || given.row_of[b] != NOBODY))
        b++;
      if (b < m)
        given.row_of[b] = a;
      else
        waiting[n_waiting++] = a;
    }
  for (int i = 0; i < n_waiting && sum <= most; i++)
    sum += add_row (&given, waiting[i], left_of (most, sum));
  if (sum <= most && n_waiting > 0)
    for (int a = 0; a < m; a++)
      for (int b = 0; b < m; b++)
        cost[a * m + b] -= given.row[a] + given.column[b];
  return sum;
}
