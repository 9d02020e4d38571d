/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels in plain C, with which the others are compared. */
#include "bench.h"

static int64_t
fib (int32_t n)
{
  if (n < 2)
    return n;
  return fib (n - 1) + fib (n - 2);
}

static int64_t
nqueens (int32_t n, int32_t row, Board board)
{
  int64_t total = 0;

  if (row == n)
    return 1;
  for (int32_t column = 0; column < n; column++)
    if (board_is_free (&board, row, column))
      {
        Board child = board;

        child.at[row] = (uint8_t)column;
        total += nqueens (n, row + 1, child);
      }
  return total;
}

static UtsCounts
uts (const UtsTree *tree, UtsNode node)
{
  int n = uts_children (tree, &node);
  UtsCounts sum = { 1, n == 0, node.depth };

  for (int i = 0; i < n; i++)
    {
      UtsCounts part = uts (tree, uts_child (tree, &node, i));

      uts_add (&sum, &part);
    }
  return sum;
}

static double
integrate (Piece piece, double epsilon)
{
  Piece left, right;
  double value;

  if (piece_halve (&piece, epsilon, &left, &right, &value))
    return value;
  return integrate (left, epsilon) + integrate (right, epsilon);
}

static void
compute (const BenchWork *work, char *result)
{
  if (strcmp (work->kernel, "fib") == 0)
    bench_show_number (result, fib (work->n));
  else if (strcmp (work->kernel, "nqueens") == 0)
    bench_show_number (result, nqueens (work->n, 0, (Board){ { 0 } }));
  else if (strcmp (work->kernel, "uts") == 0)
    {
      UtsCounts counts = uts (&work->tree, uts_root (&work->tree));

      bench_show_counts (result, &counts);
    }
  else if (strcmp (work->kernel, "sum") == 0)
    bench_show_number (result, sum_piece (0, work->n));
  else if (strcmp (work->kernel, "integrate") == 0)
    bench_show_double (result, integrate (bench_piece (), work->epsilon));
}

int
main (int argc, char **argv)
{
  return bench_main (argc, argv, compute);
}
