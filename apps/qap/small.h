/* SPDX-License-Identifier: BSD-3-Clause */
/* The assignment problem on small numbers and at most 32 rows, by vectors and masks of bits: where
 * it is solved millions of times. Plain memory, any thread. */
#pragma once

#include <glib.h>

#define SMALL_MAX 32
/* Rows are as wide as a multiple of this, so that loops over them become vectors. */
#define SMALL_LANES 16
#define SMALL_WIDTH(m) (((m) + SMALL_LANES - 1) / SMALL_LANES * SMALL_LANES)
/* What no sum that counts has in it. Sums that count are at most SMALL_SUM_MAX, so that even half
 * of SMALL_BARRED is more. */
#define SMALL_BARRED 16383
#define SMALL_SUM_MAX 8190

typedef gint16 Small;

/* As many rows as columns with a bit in `columns`. `width` numbers of each row are used, all from 0
 * to SMALL_BARRED, which stands in the columns without a bit. */
typedef struct
{
  int rows, width;
  guint32 columns;
  _Alignas(16) Small cost[SMALL_MAX][SMALL_MAX];
} SmallTable;

/* Returns the least sum of an assignment, each row to a column of its own, and leaves in `cost`
 * what each element of such a column costs more than its part: nowhere less than nothing. Where the
 * sum is above `most`, at most SMALL_SUM_MAX, it stops and returns -1, and the rest says nothing.
 */
int small_assign (SmallTable *table, int most);
