/* SPDX-License-Identifier: BSD-3-Clause */
/* The assignment problem on small numbers with at most 32 rows, by vectors and bit masks, for
 * solving it millions of times. Plain memory, any thread. */
#pragma once

#include <glib.h>

#define SMALL_MAX 32
/* The width of rows is a multiple of this, so that loops over them are vectorized. */
#define SMALL_LANES 16
#define SMALL_WIDTH(m) (((m) + SMALL_LANES - 1) / SMALL_LANES * SMALL_LANES)
/* A value that no valid sum contains. Valid sums are at most SMALL_SUM_MAX, which is less than half
 * of SMALL_BARRED. */
#define SMALL_BARRED 16383
#define SMALL_SUM_MAX 8190

typedef gint16 Small;

/* As many rows as columns with a bit in `columns`. `width` numbers of each row are used, all from 0
 * to SMALL_BARRED, which is the value in columns without a bit. */
typedef struct
{
  int rows, width;
  guint32 columns;
  _Alignas(16) Small cost[SMALL_MAX][SMALL_MAX];
} SmallTable;

/* Returns the least sum of an assignment, each row to a column of its own. `cost` then has the
 * reduced costs of those columns: 0 or more. If the sum is above `most`, which is at most
 * SMALL_SUM_MAX, it stops and returns -1; then `cost` is meaningless. */
int small_assign (SmallTable *table, int most);
