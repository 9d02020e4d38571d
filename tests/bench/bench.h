/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the benchmark's programs: the command line, the clock, the line that they print, and
 * the work of one node of each kernel. Every runtime does the same work with the same functions;
 * only starting a child and waiting for it differ.
 *
 * Usage: PROGRAM KERNEL ARGUMENT prints one line: seconds, result, and the peak resident memory in
 * KiB. */
#pragma once

#include "integrate/simpson.h"
#include "uts/tree.h"

G_BEGIN_DECLS

typedef struct
{
  const char *kernel; /* "fib", "nqueens", "uts", "integrate", "sum" */
  int32_t n;          /* of fib, nqueens and sum */
  UtsTree tree;
  double epsilon; /* of integrate */
} BenchWork;

#define BENCH_RESULT_MAX 128

/* Reads KERNEL ARGUMENT. If they are unknown, ends the program with a message and exit code 2. */
BenchWork bench_work (const char *kernel, const char *argument);

/* Seconds of the monotonic clock. */
double bench_now (void);

void bench_show_number (char *result, int64_t number);
void bench_show_counts (char *result, const UtsCounts *counts);
void bench_show_double (char *result, double value);

/* Prints the line. */
void bench_print (double seconds, const char *result);

/* main () of the programs without Satin: `compute` writes its result to `result` (BENCH_RESULT_MAX
 * bytes). It runs on a C stack deep enough for every tree. With --twice it runs in two processes at
 * once, and the time lasts until both are done. */
int bench_main (int argc, char **argv, void (*compute) (const BenchWork *work, char *result));

/* The interval of `integrate`. */
static inline Piece
bench_piece (void)
{
  return piece_new (0, 250000, integrand (0), integrand (250000));
}

/* The kernel `sum`: a loop whose items take a nanosecond or two. */
#define SUM_GRAIN 1000

static inline int64_t
sum_piece (int64_t from, int64_t to)
{
  uint64_t sum = 0;

  for (int64_t k = from; k < to; k++)
    {
      uint64_t x = (uint64_t)k * 0x9e3779b97f4a7c15u;

      sum += x ^ x >> 29;
    }
  return (int64_t)sum;
}

/* Wraps around on overflow. */
static inline int64_t
sum_add (int64_t a, int64_t b)
{
  return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* The column of the queen in each row of a chess board. */
SATIN_RECORD (Board, (uint8_t, at, 16))

static inline gboolean
board_is_free (const Board *board, int row, int column)
{
  for (int i = 0; i < row; i++)
    {
      int other = board->at[i];

      if (other == column || other == column - (row - i) || other == column + (row - i))
        return FALSE;
    }
  return TRUE;
}

G_END_DECLS
