/* SPDX-License-Identifier: BSD-3-Clause */
#include "gate.h"

#include "cases.h"
#include "plants.h"

#include "coordinator/election.h"

#include <math.h>
#include <stdio.h>

/* The amounts that `make check` tries; `make check-long` sets SATIN_LONG. */
#define LONG (g_getenv ("SATIN_LONG") != NULL)
#define CHECK_SEEDS (LONG ? 10000 : 1000)
#define CHECK_TWICE 100
#define PLANT_SEEDS 60000
#define COARSE 16 /* One crash point of this many is tried first: most bugs show there. */
#define LEDGER_WITHIN 0.01
#define SPLIT_AGAIN_PERCENT 25 /* Splits by two trees of their own would be 100. */

/* The network is split for a while: both sides go on and are united afterwards. */
static gboolean
split_heals (Plan *plan, Outcome *outcome, guint64 *jobs)
{
  sim_run (plan, SIM_NOTHING, outcome);
  *jobs += plan->tree->n;
  tree_free ((Tree *)plan->tree);
  return outcome->failure[0] == '\0' && outcome->united > 0 && outcome->deposed == 1;
}

#define ROWS 8

/* The middle of a row of four sites breaks, and the eldest member beyond the break, which is master
 * there, dies. Neither master reaches the other side, but other members do. */
static gboolean
rows_heal (void)
{
  for (guint64 seed = 1; seed <= 3 * ROWS; seed += 3)
    {
      Plan plan;
      Outcome outcome;
      guint64 jobs = 0;

      swarm_split_plan (seed, 4, 120 * SIM_SECOND, FALSE, &plan);
      plan.faults[1] = (Fault){ .kind = FAULT_CRASH,
                                .node = 2,
                                .at_us = plan.faults[0].at_us + 60 * SIM_SECOND };
      plan.n_faults = 2;
      if (split_heals (&plan, &outcome, &jobs))
        continue;
      printf ("# row %" G_GUINT64_FORMAT ": %u masters deposed, looked at %" G_GUINT64_FORMAT
              " times %s\n",
              seed, outcome.deposed, outcome.united, outcome.failure);
      return FALSE;
    }
  return TRUE;
}

/* Seeds that once found a bug. */
static gboolean
kept_seeds_go_well (guint64 *runs)
{
  static const guint64 seeds[]
      = { 700014181,  700078791,  700115300,  700200175,  700329303,  700489297,  700659615,
          700778486,  701243822,  701490901,  701870596,  702143509,  703557098,  720009155,
          730490067,  730994127,  730995071,  731089552,  733249279,  734380628,  734616186,
          750322884,  750584332,  753159951,  753369531,  754100601,  754198127,  754972887,
          770899969,  760003101,  780145431,  782597648,  791244157,  800827793,  821072811,
          830267920,  901683474,  901761328,  911206961,  911774824,  912199580,  930109182,
          1003082683, 1003278627, 1012006508, 1012359984, 1021205267, 1023784216, 1041582079,
          1051694763, 7003256,    8008188,    8016874,    8007783,    42519,      7921,
          54475,      92006,      65518,      2024563,    2054956,    2058491,    113305,
          343036,     22,         121,        398,        1271,       1414,       2855,
          12020,      50072382,   15501,      3946,       3336,       5164834,    62028975,
          63027636,   2772,       79003928,   79200669,   62033048,   77007233,   908633,
          103349,     101433,     510197,     1225,       52085,      3586 };
  Outcome sum = { 0 };

  for (guint i = 0; i < G_N_ELEMENTS (seeds); i++, (*runs)++)
    if (!cases_run_seeds (seeds[i], 1, &sum))
      return FALSE;
  return TRUE;
}

/* Tries the case that showed the bug last, then kept seeds, splits, points of faults and other
 * seeds. All of them pass without the bug, so a failure is due to it. */
static int
plant_is_caught (void)
{
  static const Enumeration searches[]
      = { { 15, 3, FALSE, ENUMERATE_SINGLES, FAULT_CRASH, FAULT_NONE, 1, FALSE, 0, FALSE, FALSE },
          { 15, 3, FALSE, ENUMERATE_SINGLES, FAULT_RESET, FAULT_NONE, 1, FALSE, 0, FALSE, FALSE },
          { 15, 3, TRUE, ENUMERATE_SINGLES, FAULT_SAVE, FAULT_NONE, 1, FALSE, 0, FALSE, FALSE },
          { 22, 3, TRUE, ENUMERATE_SINGLES, FAULT_SAVE, FAULT_NONE, 1, FALSE, 0, FALSE, FALSE },
          { 31, 4, TRUE, ENUMERATE_SINGLES, FAULT_SAVE, FAULT_NONE, 1, FALSE, 0, FALSE, SIM_CUT },
          { 63, 3, FALSE, ENUMERATE_SINGLES, FAULT_CRASH, FAULT_NONE, 1, FALSE, 0, TRUE, TRUE },
          { 31, 4, FALSE, ENUMERATE_SINGLES, FAULT_CRASH, FAULT_NONE, 1, FALSE, 0, TRUE,
            SIM_MIRROR },
          { 31, 3, FALSE, ENUMERATE_SINGLES, FAULT_CRASH, FAULT_NONE, 1, FALSE, 50, FALSE, FALSE },
          { 31, 4, FALSE, ENUMERATE_SINGLES, FAULT_LEAVE, FAULT_NONE, 1, FALSE, 0, FALSE, FALSE },
          { 31, 2, TRUE, ENUMERATE_SINGLES, FAULT_SAVE, FAULT_NONE, 1, FALSE, 0, TRUE, FALSE },
          { 31, 4, TRUE, ENUMERATE_SINGLES, FAULT_SAVE, FAULT_NONE, 1, FALSE, 0, FALSE, FALSE },
          { 31, 3, TRUE, ENUMERATE_SINGLES, FAULT_CRASH, FAULT_NONE, 1, FALSE, 0, TRUE, FALSE },
          { 7, 3, TRUE, ENUMERATE_PAIRS, FAULT_SAVE, FAULT_SAVE, 5, FALSE, 0, FALSE, FALSE } };
  EnumerateResult result;
  Outcome outcome = { 0 };
  gboolean well = TRUE;
  guint64 runs = 0;

  printf ("1..1\n");
  well = plants_go_well (cases_plant (), &runs) && kept_seeds_go_well (&runs) && rows_heal ();
  for (guint every = COARSE; well && every > 0; every = every == COARSE ? 1 : 0)
    for (guint i = 0; well && i < G_N_ELEMENTS (searches); i++)
      well = cases_enumerate (&searches[i], every, &result);
  well = well && cases_run_seeds (1, PLANT_SEEDS, &outcome);
  printf ("%sok 1 - the planted bug %s is caught: %s\n", well ? "not " : "", cases_plant (),
          cases_running ());
  return well;
}

static gboolean
report (guint number, gboolean well, const char *what, guint64 runs, gint64 start_us)
{
  printf ("%sok %u - %s (%" G_GUINT64_FORMAT " runs, %.1f s)\n", well ? "" : "not ", number, what,
          runs, cases_seconds (start_us));
  fflush (stdout);
  return well;
}

static gboolean
same_twice (guint64 from, guint64 n)
{
  for (guint64 seed = from; seed < from + n; seed++)
    {
      Outcome first, second;
      cases_run_seed (seed, SIM_HASH, &first);
      cases_run_seed (seed, SIM_HASH, &second);
      if (first.hash != second.hash || first.steps != second.steps)
        {
          printf ("# I11: seed %" G_GUINT64_FORMAT " differs from itself\n", seed);
          return FALSE;
        }
    }
  return TRUE;
}

/* One node of many has a fast path to the store: it always is coordinator in the end. */
static gboolean
the_fast_one_wins (guint n_nodes, guint64 n)
{
  for (guint64 seed = 1; seed <= n; seed++)
    {
      Plan plan;
      Outcome outcome;
      swarm_lease_plan (seed, n_nodes, &plan);
      sim_run (&plan, SIM_NOTHING, &outcome);
      tree_free ((Tree *)plan.tree);
      if (outcome.failure[0] == '\0' && outcome.coordinator == plan.fast
          && outcome.bids_most == MIN (n_nodes, ELECTION_BIDS_MAX))
        continue;
      printf ("# seed %" G_GUINT64_FORMAT
              ": process %u is coordinator, not %u; %u bids at once %s\n",
              seed, outcome.coordinator, plan.fast, outcome.bids_most, outcome.failure);
      return FALSE;
    }
  return TRUE;
}

/* Runs the same tree twice: on sites that all reach each other, and on sites that do not. Every
 * node works, jobs go directly from lender to thief, and hardly any time is lost. */
static gboolean
routes_carry_work (guint64 n)
{
  guint64 n_routed = 0;

  for (guint64 seed = 1; seed <= n; seed++)
    {
      gboolean one_way = seed % 3 == 0;
      Plan plan;
      Outcome open, walled;
      swarm_sites_plan (seed, 2, FALSE, TRUE, &plan);
      sim_run (&plan, SIM_NOTHING, &open);
      tree_free ((Tree *)plan.tree);
      swarm_sites_plan (seed, 2, one_way, FALSE, &plan);
      sim_run (&plan, SIM_NOTHING, &walled);
      tree_free ((Tree *)plan.tree);
      n_routed += walled.routed;
      if (open.failure[0] == '\0' && walled.failure[0] == '\0' && walled.n_idle == 0
          && (!one_way || walled.routed == 0)
          && walled.end_us <= open.end_us + open.end_us / 10 + SIM_SECOND)
        continue;
      printf ("# seed %" G_GUINT64_FORMAT
              ": %.3f s behind walls, %.3f s without; %" G_GUINT64_FORMAT
              " jobs went through others, %u nodes did nothing %s%s\n",
              seed, (double)walled.end_us / 1e6, (double)open.end_us / 1e6, walled.routed,
              walled.n_idle, open.failure, walled.failure);
      return FALSE;
    }
  if (n_routed < n)
    printf ("# %" G_GUINT64_FORMAT " jobs went through others\n", n_routed);
  return n_routed >= n;
}

static gboolean
splits_heal (guint64 seed, guint64 *runs)
{
  static const guint64 spans_s[] = { 40, 120, 900, 3600 };
  guint n = LONG ? G_N_ELEMENTS (spans_s) : G_N_ELEMENTS (spans_s) - 1;
  guint64 executed = 0, jobs = 0;

  for (guint i = 0; i < 4 * n; i++)
    {
      Plan plan;
      Outcome outcome;
      swarm_split_plan (seed + i, i % 2 == 0 ? 2 : 4, spans_s[i / 4] * SIM_SECOND, i % 4 > 1,
                        &plan);
      gboolean well = split_heals (&plan, &outcome, &jobs);
      executed += outcome.executed;
      (*runs)++;
      if (well)
        continue;
      printf ("# split %u of %" G_GUINT64_FORMAT
              " s: %u masters deposed, looked at %" G_GUINT64_FORMAT " times %s\n",
              i, spans_s[i / 4], outcome.deposed, outcome.united, outcome.failure);
      return FALSE;
    }
  printf ("# %" G_GUINT64_FORMAT " jobs executed of %" G_GUINT64_FORMAT "\n", executed, jobs);
  return executed <= jobs + jobs * SPLIT_AGAIN_PERCENT / 100;
}

/* A job that ends every process except one that runs nothing else: it is given to such a process,
 * and the run ends well. */
static gboolean
heavy_jobs_run_alone (guint64 n)
{
  guint alone = 0, answered = 0;

  for (guint64 seed = 1; seed <= n; seed++)
    {
      Plan plan;
      Outcome outcome;
      swarm_heavy_plan (seed, &plan);
      sim_run (&plan, SIM_NOTHING, &outcome);
      tree_free ((Tree *)plan.tree);
      alone += outcome.alone;
      answered += outcome.answered;
      if (outcome.failure[0] == '\0')
        continue;
      printf ("# seed %" G_GUINT64_FORMAT ": %s\n", seed, outcome.failure);
      return FALSE;
    }
  printf ("# %u of %" G_GUINT64_FORMAT " runs ended, %u jobs were given to run alone\n", answered,
          n, alone);
  return alone > 0;
}

/* The enumerations. A short check leaves out some of their first points: most bugs show at many of
 * them. */
static const struct
{
  guint every; /* The short check tries one point of this many; it has no factor in common with the
                * number of nodes, so that each node gets its turn. */
  const char *name;
  Enumeration what;
} tries[] = {
  { 1,
    "every single crash, 7 jobs",
    { 7, 3, FALSE, ENUMERATE_SINGLES, FAULT_CRASH, FAULT_NONE, 1, FALSE, 0, FALSE, FALSE } },
  { 1,
    "every single crash, 15 jobs",
    { 15, 3, FALSE, ENUMERATE_SINGLES, FAULT_CRASH, FAULT_NONE, 1, FALSE, 0, FALSE, FALSE } },
  { 1,
    "every single crash, 15 jobs, checkpoint",
    { 15, 3, TRUE, ENUMERATE_SINGLES, FAULT_CRASH, FAULT_NONE, 1, FALSE, 0, FALSE, FALSE } },
  { 1,
    "every half-open link, 15 jobs",
    { 15, 3, FALSE, ENUMERATE_SINGLES, FAULT_HALF, FAULT_NONE, 1, FALSE, 0, FALSE, FALSE } },
  { 1,
    "every link reset, 15 jobs",
    { 15, 3, FALSE, ENUMERATE_SINGLES, FAULT_RESET, FAULT_NONE, 1, FALSE, 0, FALSE, FALSE } },
  { 1,
    "every loss of all, 15 jobs, checkpoint",
    { 15, 3, TRUE, ENUMERATE_SINGLES, FAULT_TOTAL, FAULT_NONE, 1, FALSE, 0, FALSE, FALSE } },
  { 1,
    "every round of saving, 15 jobs, checkpoint",
    { 15, 3, TRUE, ENUMERATE_SINGLES, FAULT_SAVE, FAULT_NONE, 1, FALSE, 0, FALSE, FALSE } },
  { 5,
    "every crash of the coordinator, 31 jobs",
    { 31, 4, TRUE, ENUMERATE_SINGLES, FAULT_HEAD, FAULT_NONE, 1, FALSE, 0, FALSE, FALSE } },
  { 7,
    "pairs of crashes of the coordinator, 7 jobs",
    { 7, 3, TRUE, ENUMERATE_PAIRS, FAULT_HEAD, FAULT_HEAD, 11, FALSE, 0, FALSE, FALSE } },
  { 7,
    "pairs of a suspend and a crash of the coordinator, 7 jobs",
    { 7, 3, TRUE, ENUMERATE_PAIRS, FAULT_SUSPEND, FAULT_HEAD, 11, FALSE, 0, FALSE, FALSE } },
  { 1,
    "every suspend, 15 jobs, checkpoint",
    { 15, 3, TRUE, ENUMERATE_SINGLES, FAULT_SUSPEND, FAULT_NONE, 1, FALSE, 0, FALSE, FALSE } },
  { 3,
    "every leave, 31 jobs",
    { 31, 4, FALSE, ENUMERATE_SINGLES, FAULT_LEAVE, FAULT_NONE, 1, FALSE, 0, FALSE, FALSE } },
  { 1,
    "every leave, 15 jobs with phases and aborts, checkpoint",
    { 15, 3, TRUE, ENUMERATE_SINGLES, FAULT_LEAVE, FAULT_NONE, 1, TRUE, 50, FALSE, FALSE } },
  { 4,
    "pairs of leaves, 15 jobs",
    { 15, 3, FALSE, ENUMERATE_PAIRS, FAULT_LEAVE, FAULT_LEAVE, 13, FALSE, 0, FALSE, FALSE } },
  { 7,
    "pairs of a leave and a crash, 7 jobs, checkpoint",
    { 7, 3, TRUE, ENUMERATE_PAIRS, FAULT_LEAVE, FAULT_CRASH, 11, FALSE, 0, FALSE, FALSE } },
  { 7,
    "pairs of a leave and a link reset, 7 jobs",
    { 7, 3, FALSE, ENUMERATE_PAIRS, FAULT_LEAVE, FAULT_RESET, 7, FALSE, 0, FALSE, FALSE } },
  { 8,
    "every pair of crashes, 7 jobs",
    { 7, 3, FALSE, ENUMERATE_PAIRS, FAULT_CRASH, FAULT_CRASH, 1, FALSE, 0, FALSE, FALSE } },
  { 1,
    "every single crash, 15 jobs with phases, checkpoint",
    { 15, 3, TRUE, ENUMERATE_SINGLES, FAULT_CRASH, FAULT_NONE, 1, TRUE, 0, FALSE, FALSE } },
  { 1,
    "every loss of all, 15 jobs with phases, checkpoint",
    { 15, 3, TRUE, ENUMERATE_SINGLES, FAULT_TOTAL, FAULT_NONE, 1, TRUE, 0, FALSE, FALSE } },
  { 1,
    "every suspend, 15 jobs with phases, checkpoint",
    { 15, 3, TRUE, ENUMERATE_SINGLES, FAULT_SUSPEND, FAULT_NONE, 1, TRUE, 0, FALSE, FALSE } },
  { 4,
    "pairs of crashes, 15 jobs with phases, checkpoint",
    { 15, 3, TRUE, ENUMERATE_PAIRS, FAULT_CRASH, FAULT_CRASH, 13, TRUE, 0, FALSE, FALSE } },
  { 7,
    "pairs of crashes, 15 jobs, checkpoint",
    { 15, 3, TRUE, ENUMERATE_PAIRS, FAULT_CRASH, FAULT_CRASH, 13, FALSE, 0, FALSE, FALSE } },
  { 4,
    "pairs of a crash and the loss of all, 7 jobs, checkpoint",
    { 7, 3, TRUE, ENUMERATE_PAIRS, FAULT_CRASH, FAULT_TOTAL, 13, FALSE, 0, FALSE, FALSE } },
  { 13,
    "pairs of a round of saving and a crash, 7 jobs, checkpoint",
    { 7, 3, TRUE, ENUMERATE_PAIRS, FAULT_SAVE, FAULT_CRASH, 5, FALSE, 0, FALSE, FALSE } },
  { 13,
    "pairs of a round of saving and a leave, 7 jobs, checkpoint: what was finished is saved",
    { 7, 3, TRUE, ENUMERATE_PAIRS, FAULT_SAVE, FAULT_LEAVE, 5, FALSE, 0, FALSE, FALSE } },
  { 23,
    "pairs of two rounds of saving, 7 jobs, checkpoint and buddies: the same",
    { 7, 3, TRUE, ENUMERATE_PAIRS, FAULT_SAVE, FAULT_SAVE, 5, FALSE, 0, FALSE, TRUE } },
  { 5,
    "pairs of a crash and a link reset, 15 jobs",
    { 15, 3, FALSE, ENUMERATE_PAIRS, FAULT_CRASH, FAULT_RESET, 13, FALSE, 0, FALSE, FALSE } },
  { 1,
    "every single crash, 31 jobs with aborts",
    { 31, 3, FALSE, ENUMERATE_SINGLES, FAULT_CRASH, FAULT_NONE, 1, FALSE, 50, FALSE, FALSE } },
  { 2,
    "every link reset, 31 jobs with aborts",
    { 31, 3, FALSE, ENUMERATE_SINGLES, FAULT_RESET, FAULT_NONE, 1, FALSE, 50, FALSE, FALSE } },
  { 1,
    "every loss of all, 15 jobs with aborts, checkpoint",
    { 15, 3, TRUE, ENUMERATE_SINGLES, FAULT_TOTAL, FAULT_NONE, 1, FALSE, 50, FALSE, FALSE } },
  { 1,
    "every loss of all, 15 jobs with phases and aborts, checkpoint",
    { 15, 3, TRUE, ENUMERATE_SINGLES, FAULT_TOTAL, FAULT_NONE, 1, TRUE, 50, FALSE, FALSE } },
  { 2,
    "every suspend, 31 jobs with aborts, checkpoint",
    { 31, 3, TRUE, ENUMERATE_SINGLES, FAULT_SUSPEND, FAULT_NONE, 1, FALSE, 50, FALSE, FALSE } },
  { 8,
    "pairs of a crash and a link reset, 15 jobs with aborts, checkpoint",
    { 15, 3, TRUE, ENUMERATE_PAIRS, FAULT_CRASH, FAULT_RESET, 13, FALSE, 60, FALSE, FALSE } },
  { 2,
    "every single crash, 31 jobs that last, checkpoint: what it covered is not executed again",
    { 31, 3, TRUE, ENUMERATE_SINGLES, FAULT_CRASH, FAULT_NONE, 1, FALSE, 0, TRUE, FALSE } },
  { 9,
    "every crash of the coordinator, 31 jobs that last: the same",
    { 31, 4, TRUE, ENUMERATE_SINGLES, FAULT_HEAD, FAULT_NONE, 1, FALSE, 0, TRUE, FALSE } },
  { 7,
    "every single crash, 31 jobs with phases that last, checkpoint: the same",
    { 31, 4, TRUE, ENUMERATE_SINGLES, FAULT_CRASH, FAULT_NONE, 1, TRUE, 0, TRUE, FALSE } },
  { 7,
    "every single crash, 31 jobs with aborts that last, checkpoint: the same",
    { 31, 4, TRUE, ENUMERATE_SINGLES, FAULT_CRASH, FAULT_NONE, 1, FALSE, 50, TRUE, FALSE } },
  { 1,
    "every single crash, 15 jobs, buddies",
    { 15, 3, FALSE, ENUMERATE_SINGLES, FAULT_CRASH, FAULT_NONE, 1, FALSE, 0, FALSE, TRUE } },
  { 13,
    "pairs of crashes, 15 jobs with phases, checkpoint and buddies",
    { 15, 3, TRUE, ENUMERATE_PAIRS, FAULT_CRASH, FAULT_CRASH, 13, TRUE, 0, FALSE, TRUE } },
  { 15,
    "pairs of a leave and a crash, 15 jobs, buddies",
    { 15, 4, FALSE, ENUMERATE_PAIRS, FAULT_LEAVE, FAULT_CRASH, 37, FALSE, 0, FALSE, TRUE } },
  { 4,
    "every single crash, 63 jobs that last, buddies: what two nodes had is not executed again",
    { 63, 3, FALSE, ENUMERATE_SINGLES, FAULT_CRASH, FAULT_NONE, 1, FALSE, 0, TRUE, TRUE } },
  { 2,
    "every single crash, 31 jobs with phases that last, buddies: the same",
    { 31, 3, FALSE, ENUMERATE_SINGLES, FAULT_CRASH, FAULT_NONE, 1, TRUE, 0, TRUE, TRUE } },
  { 7,
    "every single crash, 31 jobs with aborts that last, checkpoint and buddies: the same",
    { 31, 4, TRUE, ENUMERATE_SINGLES, FAULT_CRASH, FAULT_NONE, 1, FALSE, 50, TRUE, TRUE } },
  { 7,
    "every single crash, 31 jobs that last, plan buddy: what two nodes had is not executed again",
    { 31, 4, FALSE, ENUMERATE_SINGLES, FAULT_CRASH, FAULT_NONE, 1, FALSE, 0, TRUE, SIM_RING } },
  { 7,
    "every single crash, 31 jobs that last, plan theft: the same",
    { 31, 4, FALSE, ENUMERATE_SINGLES, FAULT_CRASH, FAULT_NONE, 1, FALSE, 0, TRUE, SIM_THEFT } },
  { 9,
    "pairs of a leave and a crash, 15 jobs with aborts, plan theft",
    { 15, 4, FALSE, ENUMERATE_PAIRS, FAULT_LEAVE, FAULT_CRASH, 61, FALSE, 50, FALSE, SIM_THEFT } },
  { 7,
    "every single crash, 31 jobs that last, plan mirror: what two nodes had is not executed again",
    { 31, 4, FALSE, ENUMERATE_SINGLES, FAULT_CRASH, FAULT_NONE, 1, FALSE, 0, TRUE, SIM_MIRROR } },
  { 9,
    "pairs of a leave and a crash, 15 jobs with aborts, plan mirror",
    { 15, 4, FALSE, ENUMERATE_PAIRS, FAULT_LEAVE, FAULT_CRASH, 61, FALSE, 50, FALSE, SIM_MIRROR } },
  { 23,
    "pairs of crashes, 15 jobs with phases, plan mirror and a checkpoint",
    { 15, 4, TRUE, ENUMERATE_PAIRS, FAULT_CRASH, FAULT_CRASH, 61, TRUE, 0, FALSE, SIM_MIRROR } },
  { 5,
    "every round of saving, 31 jobs, plan cut: what was finished is saved",
    { 31, 4, TRUE, ENUMERATE_SINGLES, FAULT_SAVE, FAULT_NONE, 1, FALSE, 0, FALSE, SIM_CUT } },
  { 5,
    "every single crash, 31 jobs that last, plan cut: what was published is not executed again",
    { 31, 4, TRUE, ENUMERATE_SINGLES, FAULT_CRASH, FAULT_NONE, 1, FALSE, 0, TRUE, SIM_CUT } },
  { 21,
    "pairs of a round of saving and a leave, 15 jobs, plan cut",
    { 15, 4, TRUE, ENUMERATE_PAIRS, FAULT_SAVE, FAULT_LEAVE, 61, FALSE, 0, FALSE, SIM_CUT } },
  { 23,
    "pairs of a round of saving and a join, 15 jobs, plan cut",
    { 15, 4, TRUE, ENUMERATE_PAIRS, FAULT_SAVE, FAULT_JOIN, 61, FALSE, 0, FALSE, SIM_CUT } },
  { 11,
    "pairs of a round of saving and a crash of the coordinator, 15 jobs with phases, plan cut",
    { 15, 4, TRUE, ENUMERATE_PAIRS, FAULT_SAVE, FAULT_HEAD, 61, TRUE, 0, FALSE, SIM_CUT } },
  { 39,
    "pairs of crashes, 15 jobs, plan buddy and a checkpoint",
    { 15, 4, TRUE, ENUMERATE_PAIRS, FAULT_CRASH, FAULT_CRASH, 61, FALSE, 0, FALSE, SIM_RING } },
};

/* Each plan preserves more of the work after a crash than the plan before it. */
static gboolean
plans_are_ordered (const CompareSum sums[COMPARE_PLANS])
{
  gboolean well = sums[COMPARE_NAIVE].executed > sums[COMPARE_ORPHAN].executed
                  && sums[COMPARE_ORPHAN].executed >= sums[COMPARE_CHECKPOINT].executed;

  for (ComparePlan plan = 0; plan < COMPARE_PLANS; plan++)
    {
      printf ("# %s: %" G_GUINT64_FORMAT " jobs executed in %" G_GUINT64_FORMAT " runs of %d\n",
              compare_name (plan), sums[plan].executed, sums[plan].runs, COMPARE_JOBS);
      if (sums[plan].failure[0] != '\0')
        printf ("# %s\n", sums[plan].failure);
      well = well && sums[plan].failure[0] == '\0';
    }
  return well;
}

/* Compares the losses that the ledgers report with the true losses. Orphans that the naive plan
 * drops run on in vain, so its loss cannot be checked in this way. */
static gboolean
ledgers_are_right (const CompareSum sums[COMPARE_PLANS])
{
  gboolean well = TRUE;

  for (ComparePlan plan = COMPARE_ORPHAN; plan < COMPARE_PLANS; plan++)
    {
      double said = (double)sums[plan].lost_us, was = (double)sums[plan].lost_true_us;

      printf ("# %s: lost %.3f s, by the ledger %.3f s\n", compare_name (plan), was / 1e6,
              said / 1e6);
      well = well && was > 0 && fabs (said - was) <= LEDGER_WITHIN * was;
    }
  return well;
}

int
gate (void)
{
  guint number = 0, n_bad = 0;

  if (cases_plant () != NULL)
    return plant_is_caught ();
  printf ("1..%d\n", (int)G_N_ELEMENTS (tries) + 12);
  for (guint i = 0; i < G_N_ELEMENTS (tries); i++)
    {
      EnumerateResult result;
      gint64 start_us = g_get_monotonic_time ();
      gboolean well = cases_enumerate (&tries[i].what, LONG ? 1 : tries[i].every, &result);
      n_bad += !report (++number, well, tries[i].name, result.runs, start_us);
    }
  Outcome sum = { 0 };
  gint64 start_us = g_get_monotonic_time ();
  gboolean well = cases_run_seeds (1, CHECK_SEEDS, &sum);
  n_bad += !report (++number, well, "random mixes of faults", CHECK_SEEDS, start_us);
  guint64 kept = 0;
  start_us = g_get_monotonic_time ();
  well = kept_seeds_go_well (&kept);
  n_bad += !report (++number, well, "seeds that have found something", kept, start_us);
  guint64 shows = 0;
  start_us = g_get_monotonic_time ();
  well = plants_go_well (NULL, &shows);
  n_bad += !report (++number, well, "cases that show planted bugs, without them", shows, start_us);
  start_us = g_get_monotonic_time ();
  n_bad += !report (++number, same_twice (1, CHECK_TWICE), "a seed is the same run each time",
                    2 * CHECK_TWICE, start_us);
  start_us = g_get_monotonic_time ();
  n_bad += !report (++number, the_fast_one_wins (8, 20),
                    "of 8 nodes the one with the fast path to the store is elected", 20, start_us);
  start_us = g_get_monotonic_time ();
  n_bad += !report (++number, the_fast_one_wins (14, 20),
                    "of 14 nodes too, and never more than 8 bid at once", 20, start_us);
  start_us = g_get_monotonic_time ();
  n_bad += !report (++number, routes_carry_work (30),
                    "sites that do not reach each other share their work", 60, start_us);
  guint64 splits = 0;
  start_us = g_get_monotonic_time ();
  well = splits_heal (1, &splits);
  n_bad += !report (++number, well, "after a split all are one again", splits, start_us);
  start_us = g_get_monotonic_time ();
  n_bad += !report (++number, rows_heal (), "also where only those in the middle reach each other",
                    ROWS, start_us);
  start_us = g_get_monotonic_time ();
  n_bad += !report (++number, heavy_jobs_run_alone (60), "suspicious jobs run alone", 60, start_us);
  CompareSum sums[COMPARE_PLANS];
  start_us = g_get_monotonic_time ();
  compare_run (COMPARE_JOBS, COMPARE_NODES, COMPARE_POINTS, sums);
  n_bad += !report (++number, plans_are_ordered (sums),
                    "under the same crashes naive executes more jobs than orphan, orphan no fewer"
                    " than checkpoint",
                    COMPARE_PLANS * sums[0].runs, start_us);
  n_bad += !report (++number, ledgers_are_right (sums), "the ledgers say what the crashes cost",
                    COMPARE_PLANS * sums[0].runs, start_us);
  return n_bad > 0;
}
