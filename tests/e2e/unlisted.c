/* SPDX-License-Identifier: BSD-3-Clause */
/* A program whose SATIN_APP lists one of its two jobs: laws.sh shows that it does not begin. */
#include <satin.h>

#include <stdio.h>

SATIN_JOB (helper, int64_t, (int32_t, n))
{
  return n;
}

/* Nobody spawns it, so it need not be listed. */
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
unlisted_main (SatinRun *run, int argc, char **argv)
{
  int64_t sum;

  (void)argc, (void)argv;
  puts ("main begins");
  if (!satin_root (run, root, &sum, 1))
    return satin_stopped (run);
  return 0;
}

SATIN_APP ("unlisted", "", unlisted_main, &root_job)
