/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels with the task groups of oneTBB. BENCH_WORKERS is the number of threads. */
#include "bench.h"

#include <cstdlib>
#include <oneapi/tbb.h>

static int64_t
fib (int32_t n)
{
  int64_t x, y;

  if (n < 2)
    return n;
  tbb::task_group group;
  group.run ([&x, n] { x = fib (n - 1); });
  group.run ([&y, n] { y = fib (n - 2); });
  group.wait ();
  return x + y;
}

static int64_t
nqueens (int32_t n, int32_t row, Board board)
{
  int64_t counts[16], total = 0;
  int children = 0;

  if (row == n)
    return 1;
  tbb::task_group group;
  for (int32_t column = 0; column < n; column++)
    if (board_is_free (&board, row, column))
      {
        Board child = board;
        int64_t *count = &counts[children++];

        child.at[row] = (uint8_t)column;
        group.run ([=] { *count = nqueens (n, row + 1, child); });
      }
  group.wait ();
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
  tbb::task_group group;
  for (int i = 0; i < n; i++)
    {
      UtsNode child = uts_child (tree, &node, i);

      group.run ([=] { parts[i] = uts (tree, child); });
    }
  group.wait ();
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
  tbb::task_group group;
  group.run ([&x, left, epsilon] { x = integrate (left, epsilon); });
  group.run ([&y, right, epsilon] { y = integrate (right, epsilon); });
  group.wait ();
  return x + y;
}

static void
compute (const BenchWork *work, char *result)
{
  const char *workers = getenv ("BENCH_WORKERS");
  size_t n = workers != NULL ? strtoul (workers, NULL, 10) : 1;
  tbb::global_control threads (tbb::global_control::max_allowed_parallelism, n);
  tbb::global_control stack (tbb::global_control::thread_stack_size, (size_t)1 << 28);

  if (strcmp (work->kernel, "fib") == 0)
    bench_show_number (result, fib (work->n));
  else if (strcmp (work->kernel, "nqueens") == 0)
    bench_show_number (result, nqueens (work->n, 0, Board ()));
  else if (strcmp (work->kernel, "uts") == 0)
    {
      UtsCounts counts = uts (&work->tree, uts_root (&work->tree));

      bench_show_counts (result, &counts);
    }
  else if (strcmp (work->kernel, "sum") == 0)
    bench_show_number (result, tbb::parallel_reduce (
                                   tbb::blocked_range<int64_t> (0, work->n, SUM_GRAIN), (int64_t)0,
                                   [] (const tbb::blocked_range<int64_t> &range, int64_t before) {
                                     return sum_add (before,
                                                     sum_piece (range.begin (), range.end ()));
                                   },
                                   sum_add));
  else if (strcmp (work->kernel, "integrate") == 0)
    bench_show_double (result, integrate (bench_piece (), work->epsilon));
}

int
main (int argc, char **argv)
{
  return bench_main (argc, argv, compute);
}
