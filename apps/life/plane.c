/* SPDX-License-Identifier: BSD-3-Clause */
#include "plane.h"

#include <string.h>

GBytes *
plane_to_bytes (const GArray *words)
{
  Word *packed = g_new (Word, words->len);

  for (guint i = 0; i < words->len; i++)
    {
      Word word = g_array_index (words, Word, i);

      packed[i] = (Word){ GINT32_TO_LE (word.row), GINT32_TO_LE (word.column),
                          GUINT64_TO_LE (word.cells) };
    }
  return g_bytes_new_take (packed, words->len * sizeof (Word));
}

gsize
plane_length (GBytes *bytes)
{
  return g_bytes_get_size (bytes) / sizeof (Word);
}

Word
plane_word (GBytes *bytes, gsize i)
{
  Word word;

  /* The bytes may be unaligned. */
  memcpy (&word, (const char *)g_bytes_get_data (bytes, NULL) + i * sizeof word, sizeof word);
  return (Word){ GINT32_FROM_LE (word.row), GINT32_FROM_LE (word.column),
                 GUINT64_FROM_LE (word.cells) };
}

GArray *
plane_from_bytes (GBytes *bytes)
{
  gsize n = plane_length (bytes);
  GArray *words = g_array_sized_new (FALSE, FALSE, sizeof (Word), (guint)n);

  for (gsize i = 0; i < n; i++)
    {
      Word word = plane_word (bytes, i);

      g_array_append_val (words, word);
    }
  return words;
}

guint64
plane_population (GBytes *bytes)
{
  guint64 population = 0;

  for (gsize i = 0; i < plane_length (bytes); i++)
    population += (guint64)__builtin_popcountll (plane_word (bytes, i).cells);
  return population;
}

/* Three adjacent words of a row. */
typedef struct
{
  guint64 west, middle, east;
} Three;

static inline guint64
most_of (guint64 a, guint64 b, guint64 c)
{
  return (a & b) | (c & (a | b));
}

/* The next generation of 64 cells: counts neighbours in binary, with one word for each digit, and
 * applies the rule. */
static guint64
next_of (const Three three[3], Rule rule)
{
  guint64 ones[3], twos[3], one, two, four, eight, carry, a, b, next = 0;

  for (int i = 0; i < 3; i++)
    {
      guint64 west = three[i].middle << 1 | three[i].west >> 63;
      guint64 east = three[i].middle >> 1 | three[i].east << 63;
      guint64 middle = i == 1 ? 0 : three[i].middle;

      ones[i] = west ^ middle ^ east;
      twos[i] = most_of (west, middle, east);
    }
  one = ones[0] ^ ones[1] ^ ones[2];
  carry = most_of (ones[0], ones[1], ones[2]);
  a = twos[0] ^ twos[1];
  b = twos[2] ^ carry;
  two = a ^ b;
  four = (twos[0] & twos[1]) ^ (twos[2] & carry) ^ (a & b);
  eight = most_of (twos[0] & twos[1], twos[2] & carry, a & b);
  for (guint n = 0; n <= 8; n++)
    {
      guint64 have = ((n & 1) != 0 ? one : ~one) & ((n & 2) != 0 ? two : ~two)
                     & ((n & 4) != 0 ? four : ~four) & ((n & 8) != 0 ? eight : ~eight);

      if ((rule.birth >> n & 1) != 0)
        next |= have & ~three[1].middle;
      if ((rule.survival >> n & 1) != 0)
        next |= have & three[1].middle;
    }
  return next;
}

/* Words of one row. */
typedef struct
{
  const Word *at, *end;
} Row;

/* The words of row `row`, which begin at `at` if there are any. */
static Row
row_at (const Word *at, const Word *end, gint64 row)
{
  Row words = { at, at };

  while (words.end < end && words.end->row == row)
    words.end++;
  return words;
}

/* The three words around `column`; none of the row's words is before these. */
static Three
three_at (const Row *row, gint64 column)
{
  Three three = { 0, 0, 0 };

  for (const Word *at = row->at; at < row->end && at->column <= column + 1; at++)
    *(at->column < column    ? &three.west
      : at->column == column ? &three.middle
                             : &three.east)
        = at->cells;
  return three;
}

/* The next generation of a row, from the rows above, here and below. */
static void
step_row (GArray *to, gint32 row, Row rows[3], Rule rule)
{
  gint64 column = G_MININT32; /* before all possible columns */

  for (;;)
    {
      gint64 first = G_MAXINT64;
      Three three[3];
      Word word;

      for (int i = 0; i < 3; i++)
        {
          while (rows[i].at < rows[i].end && rows[i].at->column < column - 1)
            rows[i].at++;
          if (rows[i].at < rows[i].end)
            first = MIN (first, rows[i].at->column);
        }
      if (first == G_MAXINT64)
        return;
      column = MAX (column, first - 1);
      for (int i = 0; i < 3; i++)
        three[i] = three_at (&rows[i], column);
      word = (Word){ row, (gint32)column, next_of (three, rule) };
      if (word.cells != 0)
        g_array_append_val (to, word);
      column++;
    }
}

GArray *
plane_step (const GArray *words, Rule rule, gint64 from, gint64 to)
{
  const Word *at = (const Word *)words->data, *end = at + words->len;
  GArray *next = g_array_sized_new (FALSE, FALSE, sizeof (Word), words->len + 16);

  for (gint64 row = from; row < to; row++)
    {
      Row rows[3];

      while (at < end && at->row < row - 1)
        at++;
      if (at == end)
        break;
      row = MAX (row, (gint64)at->row - 1);
      if (row >= to)
        break;
      rows[0] = row_at (at, end, row - 1);
      rows[1] = row_at (rows[0].end, end, row);
      rows[2] = row_at (rows[1].end, end, row + 1);
      step_row (next, (gint32)row, rows, rule);
    }
  return next;
}
