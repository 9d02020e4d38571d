/* SPDX-License-Identifier: BSD-3-Clause */
/* The assignment problem on small numbers (the Hungarian method): an alternating tree over the
 * zeros of a table, with one bit mask per row. Does not know what is assigned.
 *
 * Loops over SMALL_LANES numbers have no branches, so the compiler vectorizes them. */
#include "config.h"

#include "small.h"

#define NOBODY (-1)

typedef struct
{
  SmallTable *table;
  int most, sum;
  guint32 zeros[SMALL_MAX]; /* of each row */
  gint8 row_of[SMALL_MAX], column_of[SMALL_MAX];
} Matching;

static inline guint32
zeros_of (const Small *row, int width)
{
  static const guint16 bit[SMALL_LANES]
      = { 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768 };
  guint32 zeros = 0;

  for (int v = 0; v < width; v += SMALL_LANES)
    {
      guint16 sum = 0;

      for (int x = 0; x < SMALL_LANES; x++)
        sum = (guint16)(sum + ((guint16) - (row[v + x] == 0) & bit[x]));
      zeros |= (guint32)sum << v;
    }
  return zeros;
}

static inline int
least_of (const Small *row, int width)
{
  Small least = SMALL_BARRED;

  for (int v = 0; v < width; v += SMALL_LANES)
    for (int x = 0; x < SMALL_LANES; x++)
      least = MIN (least, row[v + x]);
  return least;
}

static inline void
lower (Small *row, const Small *by, int width)
{
  for (int v = 0; v < width; v += SMALL_LANES)
    for (int x = 0; x < SMALL_LANES; x++)
      row[v + x] = (Small)(row[v + x] - by[v + x]);
}

/* Fills `least` with the least number of each column in these rows. */
static inline void
columns_least (const SmallTable *table, guint32 rows, Small *restrict least)
{
  for (int v = 0; v < table->width; v += SMALL_LANES)
    for (int x = 0; x < SMALL_LANES; x++)
      least[v + x] = SMALL_BARRED;
  for (; rows != 0; rows &= rows - 1)
    {
      const Small *row = table->cost[__builtin_ctz (rows)];

      for (int v = 0; v < table->width; v += SMALL_LANES)
        for (int x = 0; x < SMALL_LANES; x++)
          least[v + x] = MIN (least[v + x], row[v + x]);
    }
}

/* Subtracts the least element from each column and each row. */
static gboolean
reduce (Matching *given)
{
  SmallTable *table = given->table;
  guint32 all = table->rows == SMALL_MAX ? G_MAXUINT32 : (1u << table->rows) - 1;
  Small least[SMALL_MAX];

  columns_least (table, all, least);
  for (int l = 0; l < table->width; l++)
    if ((table->columns >> l & 1) != 0)
      given->sum += least[l];
    else
      least[l] = 0;
  for (int k = 0; k < table->rows && given->sum <= given->most; k++)
    {
      Small *row = table->cost[k];

      lower (row, least, table->width);
      given->zeros[k] = zeros_of (row, table->width);
      if (given->zeros[k] == 0)
        {
          Small low = (Small)least_of (row, table->width);

          given->sum += low;
          for (int v = 0; v < table->width; v += SMALL_LANES)
            for (int x = 0; x < SMALL_LANES; x++)
              row[v + x] = (Small)(row[v + x] - low);
          given->zeros[k] = zeros_of (row, table->width);
        }
    }
  return given->sum <= given->most;
}

/* An alternating tree: the rows and columns that zeros connect to a row without a column. */
typedef struct
{
  guint32 rows, columns, open; /* open: columns in which a row of the tree has a zero */
  gint8 from[SMALL_MAX];       /* that row */
  Small within[SMALL_MAX];     /* -1 for columns of the tree, else 0 */
} Tree;

static inline void
open_columns (Tree *tree, guint32 zeros, int row)
{
  zeros &= ~tree->open;
  tree->open |= zeros;
  for (; zeros != 0; zeros &= zeros - 1)
    tree->from[__builtin_ctz (zeros)] = (gint8)row;
}

/* The tree cannot grow: subtracts from its rows, and adds to its columns, the least number that
 * makes a new zero. */
static gboolean
make_zero (Matching *given, Tree *tree)
{
  SmallTable *table = given->table;
  Small by[SMALL_MAX], back[SMALL_MAX], step;

  columns_least (table, tree->rows, by);
  for (int v = 0; v < table->width; v += SMALL_LANES)
    for (int x = 0; x < SMALL_LANES; x++)
      by[v + x] = (Small)(by[v + x] | (tree->within[v + x] & SMALL_BARRED));
  step = (Small)least_of (by, table->width);
  given->sum += step;
  if (given->sum > given->most)
    return FALSE;
  for (int v = 0; v < table->width; v += SMALL_LANES)
    for (int x = 0; x < SMALL_LANES; x++)
      {
        back[v + x] = (Small)(tree->within[v + x] & step);
        by[v + x] = (Small)(step - back[v + x]);
      }
  for (int k = 0; k < table->rows; k++)
    {
      Small *row = table->cost[k];

      if ((tree->rows >> k & 1) != 0)
        {
          lower (row, by, table->width);
          given->zeros[k] = zeros_of (row, table->width);
          open_columns (tree, given->zeros[k], k);
          continue;
        }
      for (int v = 0; v < table->width; v += SMALL_LANES)
        for (int x = 0; x < SMALL_LANES; x++)
          row[v + x] = MIN ((Small)(row[v + x] + back[v + x]), (Small)SMALL_BARRED);
      given->zeros[k] &= ~tree->columns;
    }
  return TRUE;
}

/* Assigns a column to this row, too. */
static gboolean
add_row (Matching *given, int row)
{
  Tree tree = { .rows = 1u << row };
  int column;

  open_columns (&tree, given->zeros[row], row);
  for (;;)
    {
      if ((tree.open & ~tree.columns) == 0 && !make_zero (given, &tree))
        return FALSE;
      column = __builtin_ctz (tree.open & ~tree.columns);
      tree.columns |= 1u << column;
      tree.within[column] = -1;
      if (given->row_of[column] == NOBODY)
        break;
      tree.rows |= 1u << given->row_of[column];
      open_columns (&tree, given->zeros[given->row_of[column]], given->row_of[column]);
    }
  for (int at = NOBODY; at != row;)
    {
      int before;

      at = tree.from[column];
      before = given->column_of[at];
      given->row_of[column] = (gint8)at;
      given->column_of[at] = (gint8)column;
      column = before;
    }
  return TRUE;
}

int
small_assign (SmallTable *table, int most)
{
  Matching given = { .table = table, .most = most };
  guint32 left = table->columns, waiting = 0;

  if (!reduce (&given))
    return -1;
  for (int l = 0; l < table->width; l++)
    given.row_of[l] = NOBODY;
  for (int k = 0; k < table->rows; k++)
    {
      guint32 zeros = given.zeros[k] & left;

      given.column_of[k] = NOBODY;
      if (zeros == 0)
        {
          waiting |= 1u << k;
          continue;
        }
      given.column_of[k] = (gint8)__builtin_ctz (zeros);
      given.row_of[given.column_of[k]] = (gint8)k;
      left &= ~(1u << given.column_of[k]);
    }
  for (; waiting != 0; waiting &= waiting - 1)
    if (!add_row (&given, __builtin_ctz (waiting)))
      return -1;
  return given.sum;
}
