/* SPDX-License-Identifier: BSD-3-Clause */
/* What `make check` demands of the real engine and the real scribe. */
#include "config.h"

#include "gate.h"

#include "cases.h"

#include <stdio.h>

/* `make check-long` sets SATIN_LONG. */
#define CHECK_SEEDS (g_getenv ("SATIN_LONG") != NULL ? 1000 : 200)
#define CHECK_TWICE 20
#define PLANT_SEEDS 3000

static gboolean
report (int number, gboolean well, const char *name)
{
  printf ("%sok %d - %s\n", well ? "" : "not ", number, name);
  return well;
}

/* These seeds pass without the bug. */
static int
plant_is_caught (void)
{
  Outcome sum = { 0 };
  gboolean found = !cases_run_seeds (1, PLANT_SEEDS, &sum);

  printf ("1..1\n");
  (void)report (1, found, "the planted bug is found");
  return !found;
}

/* TRUE: both runs of each seed are the same, so threads take turns in the same order each time. */
static gboolean
same_twice (guint64 from, guint64 n)
{
  for (guint64 seed = from; seed < from + n; seed++)
    {
      Outcome one, other;
      cases_run_seed (seed, SIM_HASH, &one);
      cases_run_seed (seed, SIM_HASH, &other);
      if (one.hash == other.hash && one.steps == other.steps)
        continue;
      printf ("# I11: seed %" G_GUINT64_FORMAT " differs from itself\n", seed);
      return FALSE;
    }
  return TRUE;
}

/* TRUE: the cases in which only the real engine and scribe can fail have happened often enough. */
static gboolean
covers (const Outcome *sum)
{
  printf ("# %" G_GUINT64_FORMAT " kept phases recalled, %" G_GUINT64_FORMAT
          " whole scans, %" G_GUINT64_FORMAT " children aborted, %" G_GUINT64_FORMAT
          " leapfrogs, %" G_GUINT64_FORMAT " coordinators, %" G_GUINT64_FORMAT " losses of power\n",
          sum->recalled, sum->wholes, sum->forgotten, sum->leapfrogs, sum->elected,
          sum->power_lost);
  return sum->recalled > 0 && sum->wholes > 10 && sum->forgotten > 10 && sum->leapfrogs > 10
         && sum->elected > (guint64)CHECK_SEEDS / 2 && sum->power_lost > 0;
}

int
gate (void)
{
  Outcome sum = { 0 };
  gboolean well;

  if (cases_plant () != NULL)
    return plant_is_caught ();
  printf ("1..3\n");
  well = report (1, cases_run_seeds (1, CHECK_SEEDS, &sum), "random mixes of faults");
  well = report (2, covers (&sum), "with all that is looked for") && well;
  well = report (3, same_twice (1, CHECK_TWICE), "a seed is the same run each time") && well;
  return !well;
}
