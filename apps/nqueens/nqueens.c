/* SPDX-License-Identifier: BSD-3-Clause */
/* The number of ways to place N queens on an N x N board so that none attacks another. A job is a
 * board whose first rows are filled: three bit masks, passed by value. */
#include <satin.h>

#include <inttypes.h>
#include <stdlib.h>

/* The masks have 32 bits; the count for 27 is the greatest known and fits. */
#define N_MAX 27
/* So many last rows are counted inside one job. */
#define SERIAL_ROWS 10

/* The free places in the next row: not in the same column or diagonal as a queen. */
static uint32_t
free_places (uint32_t all, uint32_t columns, uint32_t left, uint32_t right)
{
  return all & ~(columns | left | right);
}

static int64_t
count_here (uint32_t all, uint32_t columns, uint32_t left, uint32_t right)
{
  int64_t count = 0;

  if (columns == all)
    return 1;
  for (uint32_t places = free_places (all, columns, left, right); places != 0; places &= places - 1)
    {
      uint32_t queen = places & -places;

      count += count_here (all, columns | queen, (left | queen) << 1, (right | queen) >> 1);
    }
  return count;
}

SATIN_JOB (queens, int64_t, (int32_t, rows), (uint32_t, all), (uint32_t, columns), (uint32_t, left),
           (uint32_t, right))
{
  int64_t counts[N_MAX];
  int64_t total = 0;
  int n = 0;

  if (rows <= SERIAL_ROWS)
    return count_here (all, columns, left, right);
  for (uint32_t places = free_places (all, columns, left, right); places != 0; places &= places - 1)
    {
      uint32_t queen = places & -places;

      satin_spawn (queens, &counts[n], rows - 1, all, columns | queen, (left | queen) << 1,
                   (right | queen) >> 1);
      n++;
    }
  satin_sync ();
  for (int i = 0; i < n; i++)
    total += counts[i];
  return total;
}

static int
nqueens_main (SatinRun *run, int argc, char **argv)
{
  char *end;
  long n;
  int64_t result;

  if (argc != 2)
    {
      fprintf (stderr, "nqueens: one number N is needed; usage: nqueens N\n");
      return 2;
    }
  n = strtol (argv[1], &end, 10);
  if (end == argv[1] || *end != '\0' || n < 1 || n > N_MAX)
    {
      fprintf (stderr, "nqueens: N must be a number from 1 to %d, not '%s'\n", N_MAX, argv[1]);
      return 2;
    }
  if (!satin_root (run, queens, &result, (int32_t)n, ((uint32_t)1 << n) - 1, 0, 0, 0))
    return satin_stopped (run);
  printf ("%" PRId64 "\n", result);
  return 0;
}

SATIN_APP ("nqueens", "N", nqueens_main)
