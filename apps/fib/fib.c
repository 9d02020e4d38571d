/* SPDX-License-Identifier: BSD-3-Clause */
/* Fibonacci numbers, computed the slow way: the smallest program that spawns. It measures the cost
 * of a spawn. */
#include <satin.h>

#include <inttypes.h>
#include <stdlib.h>

/* The result fits in 64 bits up to here. */
#define N_MAX 92

SATIN_JOB (fib, int64_t, (int32_t, n))
{
  if (n < 2)
    return n;

  int64_t x, y;
  satin_spawn (fib, &x, n - 1);
  satin_spawn (fib, &y, n - 2);
  satin_sync ();
  return x + y;
}

static int
fib_main (SatinRun *run, int argc, char **argv)
{
  char *end;
  long n;
  int64_t result;

  if (argc != 2)
    {
      fprintf (stderr, "fib: one number N is needed; usage: fib N\n");
      return 2;
    }
  n = strtol (argv[1], &end, 10);
  if (end == argv[1] || *end != '\0' || n < 0 || n > N_MAX)
    {
      fprintf (stderr, "fib: N must be a number from 0 to %d, not '%s'\n", N_MAX, argv[1]);
      return 2;
    }
  if (!satin_root (run, fib, &result, (int32_t)n))
    return satin_stopped (run);
  printf ("%" PRId64 "\n", result);
  return 0;
}

SATIN_APP ("fib", "N", fib_main)
