/* SPDX-License-Identifier: BSD-3-Clause */
/* An iterated simulation: each lane is one job of very many phases, each of which has two small
 * jobs and is kept. main prints on stderr how many phases this process computed and its peak
 * memory. */
#include <satin.h>

#include <stdlib.h>
#include <string.h>

#define LANES_MAX 16

SATIN_RECORD (Lane, (int32_t, step), (uint64_t, sum), (uint64_t, last))

static uint64_t computed; /* atomic: phases that this process computed */

static uint64_t
mix (uint64_t a, uint64_t b)
{
  a = (a ^ b) * UINT64_C (0x9e3779b97f4a7c15);
  return a ^ a >> 29;
}

SATIN_JOB (cell, uint64_t, (int32_t, spins), (uint64_t, seed))
{
  for (int32_t i = 0; i < spins; i++)
    seed = mix (seed, (uint64_t)i);
  return seed;
}

SATIN_JOB (lane, uint64_t, (int32_t, number), (int32_t, phases), (int32_t, spins))
{
  SATIN_KEEPS (Lane);
  Lane now = { 0, mix ((uint64_t)number, 1), 0 };
  uint64_t left, right;

  satin_recall (&now);
  while (now.step < phases)
    {
      satin_spawn (cell, &left, spins, now.sum);
      satin_spawn (cell, &right, spins, now.last);
      satin_sync ();
      now.last = now.sum;
      now.sum = mix (now.sum + left, right);
      now.step++;
      satin_keep (&now);
      __atomic_fetch_add (&computed, 1, __ATOMIC_RELAXED);
    }
  return now.sum;
}

SATIN_JOB (lanes, uint64_t, (int32_t, n), (int32_t, phases), (int32_t, spins))
{
  uint64_t result[LANES_MAX], sum = 0;

  if (n == 1)
    return satin_call (lane, 0, phases, spins);
  for (int32_t i = 0; i < n; i++)
    satin_spawn (lane, &result[i], i, phases, spins);
  satin_sync ();
  for (int32_t i = 0; i < n; i++)
    sum = mix (sum, result[i]);
  return sum;
}

static void
tell_memory (void)
{
  char line[256];
  FILE *status = fopen ("/proc/self/status", "r");

  while (status != NULL && fgets (line, sizeof line, status) != NULL)
    if (strncmp (line, "VmHWM:", 6) == 0)
      fprintf (stderr, "kib %ld\n", strtol (line + 6, NULL, 10));
  if (status != NULL)
    fclose (status);
}

static int
phases_main (SatinRun *run, int argc, char **argv)
{
  uint64_t result;

  if (argc != 4 || atoi (argv[1]) < 1 || atoi (argv[1]) > LANES_MAX)
    return 2;
  if (!satin_root (run, lanes, &result, atoi (argv[1]), atoi (argv[2]), atoi (argv[3])))
    return satin_stopped (run);
  fprintf (stderr, "computed %" G_GUINT64_FORMAT "\n",
           (guint64)__atomic_load_n (&computed, __ATOMIC_RELAXED));
  tell_memory ();
  g_print ("%016" G_GINT64_MODIFIER "x\n", (guint64)result);
  return 0;
}

SATIN_APP ("phases", "LANES PHASES SPINS", phases_main, &lanes_job, &lane_job, &cell_job)
