/* SPDX-License-Identifier: BSD-3-Clause */
/* A program from outside the tree, as the manual shows it. */
#include <satin.h>

#include <stdlib.h>

SATIN_JOB (sum, int64_t, (int32_t, low), (int32_t, high))
{
  if (high - low == 1)
    return low;

  int64_t x, y;
  satin_spawn (sum, &x, low, (low + high) / 2);
  satin_spawn (sum, &y, (low + high) / 2, high);
  satin_sync ();
  return x + y;
}

static int
sum_main (SatinRun *run, int argc, char **argv)
{
  int64_t result;

  if (argc != 2)
    {
      g_printerr ("usage: sum N\n");
      return 2;
    }
  if (!satin_root (run, sum, &result, 0, atoi (argv[1])))
    return satin_stopped (run);
  g_print ("%" G_GINT64_FORMAT "\n", result);
  return 0;
}

SATIN_APP ("sum", "N", sum_main)
