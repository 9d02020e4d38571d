/* SPDX-License-Identifier: BSD-3-Clause */
/* A program whose job calls a function in another file. Usage: leaf N. */
#include <satin.h>

long leaf (void);

SATIN_JOB (sum, int64_t, (int32_t, n))
{
  int64_t rest = 0;

  if (n == 0)
    return 0;
  satin_spawn (sum, &rest, n - 1);
  satin_sync ();
  return rest + leaf ();
}

static int
leaf_main (SatinRun *run, int argc, char **argv)
{
  int64_t result;

  if (argc != 2)
    return 2;
  if (!satin_root (run, sum, &result, (int32_t)g_ascii_strtoll (argv[1], NULL, 10)))
    return satin_stopped (run);
  g_print ("%" G_GINT64_FORMAT "\n", result);
  return 0;
}

SATIN_APP ("leaf", "N", leaf_main)
