/* SPDX-License-Identifier: BSD-3-Clause */
/* An unbounded plane of cells. Only parts with live cells are stored: words of 64 adjacent cells,
 * sorted by row and then column. Pure. */
#pragma once

#include <glib.h>

typedef struct
{
  gint32 row, column; /* the first cell is in column 64 times this */
  guint64 cells;      /* not 0; the lowest bit is the first cell */
} Word;

/* Bit n: a cell with n live neighbours is born (birth), or survives (survival). */
typedef struct
{
  guint birth, survival;
} Rule;

/* The words in bytes, as they are sent: little-endian. (transfer full) */
GBytes *plane_to_bytes (const GArray *words);
GArray *plane_from_bytes (GBytes *bytes);

/* The number of words in the bytes, and one of them. */
gsize plane_length (GBytes *bytes);
Word plane_word (GBytes *bytes, gsize i);

/* The number of live cells. */
guint64 plane_population (GBytes *bytes);

/* The next generation of the rows from `from` up to, but without, `to`. Words in other rows are
 * only read. (transfer full) */
GArray *plane_step (const GArray *words, Rule rule, gint64 from, gint64 to);
