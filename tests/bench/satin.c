/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels with Satin. `fibcall` is fib with one spawn and one call. A third argument is the
 * number of milliseconds that main waits before the root starts, so that other nodes have joined
 * when the clock starts. */
#include "bench.h"

#include <unistd.h>

SATIN_CONST (UtsTree, tree)

SATIN_JOB (fib, int64_t, (int32_t, n))
{
  int64_t x, y;

  if (n < 2)
    return n;
  satin_spawn (fib, &x, n - 1);
  satin_spawn (fib, &y, n - 2);
  satin_sync ();
  return x + y;
}

SATIN_JOB (fibcall, int64_t, (int32_t, n))
{
  int64_t x, y;

  if (n < 2)
    return n;
  satin_spawn (fibcall, &x, n - 1);
  y = satin_call (fibcall, n - 2);
  satin_sync ();
  return x + y;
}

SATIN_JOB (nqueens, int64_t, (int32_t, n), (int32_t, row), (Board, board))
{
  int64_t counts[16], total = 0;
  int children = 0;

  if (row == n)
    return 1;
  for (int32_t column = 0; column < n; column++)
    if (board_is_free (&board, row, column))
      {
        Board child = board;

        child.at[row] = (uint8_t)column;
        satin_spawn (nqueens, &counts[children++], n, row + 1, child);
      }
  satin_sync ();
  for (int i = 0; i < children; i++)
    total += counts[i];
  return total;
}

SATIN_JOB (uts, UtsCounts, (UtsNode, node))
{
  const UtsTree *shape = satin_const (tree);
  int n = uts_children (shape, &node);
  UtsCounts sum = { 1, n == 0, node.depth };

  if (n == 0)
    return sum;

  UtsCounts *parts = g_newa (UtsCounts, n);
  for (int i = 0; i < n; i++)
    satin_spawn (uts, &parts[i], uts_child (shape, &node, i));
  satin_sync ();
  for (int i = 0; i < n; i++)
    uts_add (&sum, &parts[i]);
  return sum;
}

SATIN_JOB (integrate, double, (Piece, piece), (double, epsilon))
{
  Piece left, right;
  double value, x, y;

  if (piece_halve (&piece, epsilon, &left, &right, &value))
    return value;
  satin_spawn (integrate, &x, left, epsilon);
  satin_spawn (integrate, &y, right, epsilon);
  satin_sync ();
  return x + y;
}

SATIN_REDUCE (sum, int64_t, sum_add)
{
  return sum_piece (from, to);
}

/* The same loop as a recursion by hand, without SATIN_REDUCE. */
SATIN_JOB (sumhand, int64_t, (int64_t, from), (int64_t, to))
{
  int64_t x, y;

  if (to - from <= SUM_GRAIN)
    return sum_piece (from, to);
  satin_spawn (sumhand, &x, from, from + (to - from) / 2);
  satin_spawn (sumhand, &y, from + (to - from) / 2, to);
  satin_sync ();
  return sum_add (x, y);
}

/* FALSE if the run ended without a result. */
static gboolean
compute (SatinRun *run, const BenchWork *work, char *result)
{
  gboolean done = FALSE;
  int64_t number;
  UtsCounts counts;
  double value;

  if (strcmp (work->kernel, "uts") == 0)
    {
      if ((done = satin_root (run, uts, &counts, uts_root (&work->tree))))
        bench_show_counts (result, &counts);
      return done;
    }
  if (strcmp (work->kernel, "integrate") == 0)
    {
      if ((done = satin_root (run, integrate, &value, bench_piece (), work->epsilon)))
        bench_show_double (result, value);
      return done;
    }
  if (strcmp (work->kernel, "fib") == 0)
    done = satin_root (run, fib, &number, work->n);
  else if (strcmp (work->kernel, "fibcall") == 0)
    done = satin_root (run, fibcall, &number, work->n);
  else if (strcmp (work->kernel, "sum") == 0)
    done = satin_root (run, sum, &number, 0, work->n, SUM_GRAIN);
  else if (strcmp (work->kernel, "sumhand") == 0)
    done = satin_root (run, sumhand, &number, 0, work->n);
  else if (strcmp (work->kernel, "nqueens") == 0)
    done = satin_root (run, nqueens, &number, work->n, 0, (Board){ { 0 } });
  if (done)
    bench_show_number (result, number);
  return done;
}

static int
bench_satin (SatinRun *run, int argc, char **argv)
{
  char result[BENCH_RESULT_MAX] = "unknown";
  BenchWork work;
  double begin;

  if (argc != 3 && argc != 4)
    {
      fprintf (stderr, "usage: satin fib|fibcall|nqueens|uts|integrate ARGUMENT [MS]\n");
      return 2;
    }
  work = bench_work (argv[1], argv[2]);
  satin_publish (run, tree, &work.tree);
  if (argc == 4)
    usleep ((useconds_t)g_ascii_strtoull (argv[3], NULL, 10) * 1000);
  begin = bench_now ();
  if (!compute (run, &work, result))
    return satin_stopped (run);
  bench_print (bench_now () - begin, result);
  return 0;
}

SATIN_APP ("bench", "KERNEL ARGUMENT [MS]", bench_satin)
