/* SPDX-License-Identifier: BSD-3-Clause */
/* A job that breaks the second law: it spawns as many children as FEWER in the environment says. */
#include <satin.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LEAVES 60

/* Sleeps, ten times as long until the file named by LAWS_GO exists. */
static void
rest (gulong us)
{
  const char *go = getenv ("LAWS_GO");

  g_usleep (go != NULL && access (go, F_OK) != 0 ? 10 * us : us);
}

SATIN_JOB (nap, int64_t, (int32_t, number))
{
  rest (30000);
  return number;
}

SATIN_JOB (root, int64_t, (int32_t, unused))
{
  const char *leaves = getenv ("FEWER");
  int n = leaves != NULL ? atoi (leaves) : LEAVES;
  int64_t one[LEAVES] = { 0 }, sum = unused;

  for (int i = 0; i < n; i++)
    satin_spawn (nap, &one[i], i);
  satin_sync ();
  for (int i = 0; i < n; i++)
    sum += one[i];
  return sum;
}

static int
fewer_main (SatinRun *run, int argc, char **argv)
{
  int64_t sum;

  (void)argc, (void)argv;
  if (!satin_root (run, root, &sum, 0))
    return satin_stopped (run);
  printf ("%d\n", (int)sum);
  return 0;
}

SATIN_APP ("fewer", "", fewer_main)
