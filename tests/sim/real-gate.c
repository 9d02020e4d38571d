/* SPDX-License-Identifier: BSD-3-Clause */
/* What `make check` asks of the engine and the scribe themselves. */
#include "config.h"

#include "gate.h"

#include "cases.h"

#include <stdio.h>

#define CHECK_SEEDS 500
#define CHECK_TWICE 40

/* Threads take turns in the same order each time. */
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

static gboolean
report (int number, gboolean well, const char *name)
{
  printf ("%sok %d - %s\n", well ? "" : "not ", number, name);
  return well;
}

int
gate (void)
{
  Outcome sum = { 0 };
  gboolean well;

  printf ("1..2\n");
  well = report (1, cases_run_seeds (1, CHECK_SEEDS, &sum), "random mixes of faults");
  well = report (2, same_twice (1, CHECK_TWICE), "a seed is the same run each time") && well;
  return !well;
}
