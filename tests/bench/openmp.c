/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels with the tasks of OpenMP. OMP_NUM_THREADS is the number of threads. */
#include "bench.h"

static int64_t
fib (int32_t n)
{
  int64_t x, y;

  if (n < 2)
    return n;
#pragma omp task shared(x)
  x = fib (n - 1);
#pragma omp task shared(y)
  y = fib (n - 2);
#pragma omp taskwait
  return x + y;
}

static int64_t
nqueens (int32_t n, int32_t row, Board board)
{
  int64_t counts[16], total = 0;
  int children = 0;

  if (row == n)
    return 1;
  for (int32_t column = 0; column < n; column++)
    if (board_is_free (&board, row, column))
      {
        Board child = board;
        int64_t *count = &counts[children++];

        child.at[row] = (uint8_t)column;
#pragma omp task firstprivate(child, count)
        *count = nqueens (n, row + 1, child);
      }
#pragma omp taskwait
  for (int i = 0; i < children; i++)
    total += counts[i];
  return total;
}

static UtsCounts
uts (const UtsTree *tree, UtsNode node)
{
  int n = uts_children (tree, &node);
  UtsCounts sum = { 1, n == 0, node.depth };

  if (n == 0)
    return sum;

  UtsCounts *parts = g_newa (UtsCounts, n);
  for (int i = 0; i < n; i++)
    {
      UtsNode child = uts_child (tree, &node, i);

#pragma omp task firstprivate(child, i)
      parts[i] = uts (tree, child);
    }
#pragma omp taskwait
  for (int i = 0; i < n; i++)
    uts_add (&sum, &parts[i]);
  return sum;
}

static double
integrate (Piece piece, double epsilon)
{
  Piece left, right;
  double value, x, y;

  if (piece_halve (&piece, epsilon, &left, &right, &value))
    return value;
#pragma omp task shared(x) firstprivate(left)
  x = integrate (left, epsilon);
#pragma omp task shared(y) firstprivate(right)
  y = integrate (right, epsilon);
#pragma omp taskwait
  return x + y;
}

/* The usual way: the runtime divides the range. */
static int64_t
sum (int64_t n)
{
  uint64_t all = 0;

#pragma omp parallel for schedule(dynamic) reduction(+ : all)
  for (int64_t from = 0; from < n; from += SUM_GRAIN)
    all += (uint64_t)sum_piece (from, MIN (from + SUM_GRAIN, n));
  return (int64_t)all;
}

static void
compute (const BenchWork *work, char *result)
{
  if (strcmp (work->kernel, "sum") == 0)
    {
      bench_show_number (result, sum (work->n));
      return;
    }
#pragma omp parallel
#pragma omp single
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
    else if (strcmp (work->kernel, "integrate") == 0)
      bench_show_double (result, integrate (bench_piece (), work->epsilon));
  }
}

int
main (int argc, char **argv)
{
  return bench_main (argc, argv, compute);
}
