/* SPDX-License-Identifier: BSD-3-Clause */
/* A program whose jobs are in no list, for laws.sh. */
#include <satin.h>

#include <stdio.h>

SATIN_JOB (helper, int64_t, (int32_t, n))
{
  return n;
}

/* A job that is never spawned; it is registered, too. */
SATIN_JOB (idle, int64_t, (int32_t, n))
{
  return n;
}

SATIN_JOB (root, int64_t, (int32_t, n))
{
  int64_t a, b;

  satin_spawn (helper, &a, n);
  satin_spawn (helper, &b, n);
  satin_sync ();
  return a + b;
}

static int
numbered_main (SatinRun *run, int argc, char **argv)
{
  int64_t sum;

  (void)argc, (void)argv;
  if (!satin_root (run, root, &sum, 21))
    return satin_stopped (run);
  printf ("%d\n", (int)sum);
  return 0;
}

SATIN_APP ("numbered", "", numbered_main)
