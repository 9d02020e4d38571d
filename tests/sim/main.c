/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulator's command line. Without arguments it is a test of `make check` in TAP; a build with
 * a planted bug then looks for that bug and fails when it finds nothing. */
#include "config.h"

#include "compare.h"
#include "enumerate.h"
#include "swarm.h"

#include "coordinator/election.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What `make check` tries. */
#define CHECK_SEEDS 3000
#define CHECK_TWICE 100
#define PLANT_SEEDS 20000
#define COMPARE_JOBS 127
#define COMPARE_NODES 4
#define COMPARE_POINTS 50
#define COMPARE_LEDGER_WITHIN 0.01

/* The case that runs now, for the handler of an assertion's abort. */
static char running[200];

static const char *const fault_names[]
    = { "none",  "crash", "vanish",  "pause", "clog", "apart", "half",   "reset", "join",
        "total", "save",  "suspend", "slow",  "head", "leave", "poison", "wall" };
G_STATIC_ASSERT (G_N_ELEMENTS (fault_names) == FAULT_KINDS);

/* FAULT_NONE: no such fault. */
static FaultKind
fault_named (const char *name)
{
  for (guint kind = 0; kind < FAULT_KINDS; kind++)
    if (g_str_equal (fault_names[kind], name))
      return (FaultKind)kind;
  return FAULT_NONE;
}

static void
note_case (const Plan *plan)
{
  gsize n = (gsize)g_snprintf (running, sizeof running, "--case %u/%u%s", plan->tree->n,
                               plan->n_nodes, plan->checkpoint ? "/checkpoint" : "");
  if (plan->tree->jobs[0].n_phases > 1)
    n += (gsize)g_snprintf (running + n, sizeof running - n, "/phased");

  if (plan->aborts > 0)
    n += (gsize)g_snprintf (running + n, sizeof running - n, "/aborts%u", plan->aborts);
  for (guint i = 0; i < plan->n_faults && n < sizeof running; i++)
    n += (gsize)g_snprintf (running + n, sizeof running - n, ",%s:%u@%" G_GUINT64_FORMAT,
                            fault_names[plan->faults[i].kind], plan->faults[i].node,
                            plan->faults[i].at_message);
}

static void
note_seed (guint64 seed)
{
  g_snprintf (running, sizeof running, "--seed %" G_GUINT64_FORMAT, seed);
}

/* An assertion of the protocol or the model failed: say where, as nothing else can. */
static void
say_and_die (int number)
{
  static const char before[] =
#ifdef SATIN_PLANT
      "ok 1 - the planted bug " SATIN_PLANT " is caught by an assertion: ";
#else
      "not ok - aborted: ";
#endif

  (void)!write (STDOUT_FILENO, before, sizeof before - 1);
  (void)!write (STDOUT_FILENO, running, strlen (running));
  (void)!write (STDOUT_FILENO, "\n", 1);
#ifdef SATIN_PLANT
  _exit (number == SIGABRT ? 0 : 1);
#endif
  signal (number, SIG_DFL);
  raise (number);
}

static gboolean
run_seed (guint64 seed, gboolean verbose, Outcome *outcome)
{
  Plan plan;

  note_seed (seed);
  swarm_plan (seed, &plan);
  sim_run (&plan, verbose, outcome);
  tree_free ((Tree *)plan.tree);
  return outcome->failure[0] == '\0';
}

static void
add_outcome (Outcome *sum, const Outcome *outcome)
{
  sum->steps += outcome->steps;
  sum->executed += outcome->executed;
  sum->adopted += outcome->adopted;
  sum->lost += outcome->lost;
  sum->recalled += outcome->recalled;
  sum->refused += outcome->refused;
  sum->forgotten += outcome->forgotten;
  sum->steals_remote += outcome->steals_remote;
  sum->lives += outcome->lives;
  sum->elected += outcome->elected;
  sum->moved += outcome->moved;
  sum->races += outcome->races;
  sum->condemned += outcome->condemned;
  sum->poisoned += outcome->poisoned;
  sum->fetched += outcome->fetched;
  sum->routed += outcome->routed;
}

/* FALSE: the first failure was printed. */
static gboolean
run_seeds (guint64 from, guint64 n, Outcome *sum)
{
  for (guint64 seed = from; seed < from + n; seed++)
    {
      Outcome outcome;
      if (!run_seed (seed, FALSE, &outcome))
        {
          printf ("# seed %" G_GUINT64_FORMAT ": %s\n", seed, outcome.failure);
          return FALSE;
        }
      add_outcome (sum, &outcome);
    }
  return TRUE;
}

static gboolean
run_enumeration (const Enumeration *what, EnumerateResult *result)
{
  enumerate_all (what, note_case, result);
  if (result->failed)
    printf ("# %s: %s\n", running, result->failure);
  return !result->failed;
}

static double
seconds_since (gint64 start_us)
{
  return (double)(g_get_monotonic_time () - start_us) / 1e6;
}

#ifdef SATIN_PLANT
/* Crash points first, then seeds, all of which go well without the bug: whatever fails, fails
 * because of it. */
static int
check (void)
{
  static const Enumeration singles[]
      = { { 15, 3, FALSE, ENUMERATE_SINGLES, FAULT_CRASH, FAULT_NONE, 1, FALSE, 0 },
          { 15, 3, FALSE, ENUMERATE_SINGLES, FAULT_RESET, FAULT_NONE, 1, FALSE, 0 },
          { 31, 3, FALSE, ENUMERATE_SINGLES, FAULT_CRASH, FAULT_NONE, 1, FALSE, 50 },
          { 31, 4, FALSE, ENUMERATE_SINGLES, FAULT_LEAVE, FAULT_NONE, 1, FALSE, 0 },
          { 15, 3, TRUE, ENUMERATE_SINGLES, FAULT_SAVE, FAULT_NONE, 1, FALSE, 0 } };
  EnumerateResult result;
  Outcome outcome = { 0 };
  gboolean well = TRUE;

  printf ("1..1\n");
  for (guint i = 0; well && i < G_N_ELEMENTS (singles); i++)
    well = run_enumeration (&singles[i], &result);
  if (well)
    well = run_seeds (1, PLANT_SEEDS, &outcome);
  printf ("%sok 1 - the planted bug " SATIN_PLANT " is caught: %s\n", well ? "not " : "", running);
  return well;
}
#else
static gboolean
report (guint number, gboolean well, const char *what, guint64 runs, gint64 start_us)
{
  printf ("%sok %u - %s (%" G_GUINT64_FORMAT " runs, %.1f s)\n", well ? "" : "not ", number, what,
          runs, seconds_since (start_us));
  fflush (stdout);
  return well;
}

static gboolean
same_twice (guint64 from, guint64 n)
{
  for (guint64 seed = from; seed < from + n; seed++)
    {
      Outcome first, second;
      run_seed (seed, FALSE, &first);
      run_seed (seed, FALSE, &second);
      if (first.hash != second.hash || first.steps != second.steps)
        {
          printf ("# I11: seed %" G_GUINT64_FORMAT " differs from itself\n", seed);
          return FALSE;
        }
    }
  return TRUE;
}

/* One node of many has the fast path to the store: it is coordinator in the end, each time. */
static gboolean
the_fast_one_wins (guint n_nodes, guint64 n)
{
  for (guint64 seed = 1; seed <= n; seed++)
    {
      Plan plan;
      Outcome outcome;
      swarm_office_plan (seed, n_nodes, &plan);
      sim_run (&plan, FALSE, &outcome);
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

/* The same tree, once among sites that all reach each other and once among such as do not: each
 * node works, jobs go straight from one to the other, and hardly any time is lost. */
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
      sim_run (&plan, FALSE, &open);
      tree_free ((Tree *)plan.tree);
      swarm_sites_plan (seed, 2, one_way, FALSE, &plan);
      sim_run (&plan, FALSE, &walled);
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

/* What is enumerated. */
static const struct
{
  const char *name;
  Enumeration what;
} tries[] = {
  { "every single crash, 7 jobs",
    { 7, 3, FALSE, ENUMERATE_SINGLES, FAULT_CRASH, FAULT_NONE, 1, FALSE, 0 } },
  { "every single crash, 15 jobs",
    { 15, 3, FALSE, ENUMERATE_SINGLES, FAULT_CRASH, FAULT_NONE, 1, FALSE, 0 } },
  { "every single crash, 15 jobs, checkpoint",
    { 15, 3, TRUE, ENUMERATE_SINGLES, FAULT_CRASH, FAULT_NONE, 1, FALSE, 0 } },
  { "every half-open link, 15 jobs",
    { 15, 3, FALSE, ENUMERATE_SINGLES, FAULT_HALF, FAULT_NONE, 1, FALSE, 0 } },
  { "every link reset, 15 jobs",
    { 15, 3, FALSE, ENUMERATE_SINGLES, FAULT_RESET, FAULT_NONE, 1, FALSE, 0 } },
  { "every loss of all, 15 jobs, checkpoint",
    { 15, 3, TRUE, ENUMERATE_SINGLES, FAULT_TOTAL, FAULT_NONE, 1, FALSE, 0 } },
  { "every round of saving, 15 jobs, checkpoint",
    { 15, 3, TRUE, ENUMERATE_SINGLES, FAULT_SAVE, FAULT_NONE, 1, FALSE, 0 } },
  { "every crash of the coordinator, 31 jobs",
    { 31, 4, TRUE, ENUMERATE_SINGLES, FAULT_HEAD, FAULT_NONE, 1, FALSE, 0 } },
  { "pairs of crashes of the coordinator, 7 jobs",
    { 7, 3, TRUE, ENUMERATE_PAIRS, FAULT_HEAD, FAULT_HEAD, 11, FALSE, 0 } },
  { "pairs of a suspend and a crash of the coordinator, 7 jobs",
    { 7, 3, TRUE, ENUMERATE_PAIRS, FAULT_SUSPEND, FAULT_HEAD, 11, FALSE, 0 } },
  { "every suspend, 15 jobs, checkpoint",
    { 15, 3, TRUE, ENUMERATE_SINGLES, FAULT_SUSPEND, FAULT_NONE, 1, FALSE, 0 } },
  { "every leave, 31 jobs",
    { 31, 4, FALSE, ENUMERATE_SINGLES, FAULT_LEAVE, FAULT_NONE, 1, FALSE, 0 } },
  { "every leave, 15 jobs with phases and aborts, checkpoint",
    { 15, 3, TRUE, ENUMERATE_SINGLES, FAULT_LEAVE, FAULT_NONE, 1, TRUE, 50 } },
  { "pairs of leaves, 15 jobs",
    { 15, 3, FALSE, ENUMERATE_PAIRS, FAULT_LEAVE, FAULT_LEAVE, 13, FALSE, 0 } },
  { "pairs of a leave and a crash, 7 jobs, checkpoint",
    { 7, 3, TRUE, ENUMERATE_PAIRS, FAULT_LEAVE, FAULT_CRASH, 11, FALSE, 0 } },
  { "pairs of a leave and a link reset, 7 jobs",
    { 7, 3, FALSE, ENUMERATE_PAIRS, FAULT_LEAVE, FAULT_RESET, 7, FALSE, 0 } },
  { "every pair of crashes, 7 jobs",
    { 7, 3, FALSE, ENUMERATE_PAIRS, FAULT_CRASH, FAULT_CRASH, 1, FALSE, 0 } },
  { "every single crash, 15 jobs with phases, checkpoint",
    { 15, 3, TRUE, ENUMERATE_SINGLES, FAULT_CRASH, FAULT_NONE, 1, TRUE, 0 } },
  { "every loss of all, 15 jobs with phases, checkpoint",
    { 15, 3, TRUE, ENUMERATE_SINGLES, FAULT_TOTAL, FAULT_NONE, 1, TRUE, 0 } },
  { "every suspend, 15 jobs with phases, checkpoint",
    { 15, 3, TRUE, ENUMERATE_SINGLES, FAULT_SUSPEND, FAULT_NONE, 1, TRUE, 0 } },
  { "pairs of crashes, 15 jobs with phases, checkpoint",
    { 15, 3, TRUE, ENUMERATE_PAIRS, FAULT_CRASH, FAULT_CRASH, 13, TRUE, 0 } },
  { "pairs of crashes, 15 jobs, checkpoint",
    { 15, 3, TRUE, ENUMERATE_PAIRS, FAULT_CRASH, FAULT_CRASH, 13, FALSE, 0 } },
  { "pairs of a crash and the loss of all, 7 jobs, checkpoint",
    { 7, 3, TRUE, ENUMERATE_PAIRS, FAULT_CRASH, FAULT_TOTAL, 13, FALSE, 0 } },
  { "pairs of a round of saving and a crash, 7 jobs, checkpoint",
    { 7, 3, TRUE, ENUMERATE_PAIRS, FAULT_SAVE, FAULT_CRASH, 5, FALSE, 0 } },
  { "pairs of a crash and a link reset, 15 jobs",
    { 15, 3, FALSE, ENUMERATE_PAIRS, FAULT_CRASH, FAULT_RESET, 13, FALSE, 0 } },
  { "every single crash, 31 jobs with aborts",
    { 31, 3, FALSE, ENUMERATE_SINGLES, FAULT_CRASH, FAULT_NONE, 1, FALSE, 50 } },
  { "every link reset, 31 jobs with aborts",
    { 31, 3, FALSE, ENUMERATE_SINGLES, FAULT_RESET, FAULT_NONE, 1, FALSE, 50 } },
  { "every loss of all, 15 jobs with aborts, checkpoint",
    { 15, 3, TRUE, ENUMERATE_SINGLES, FAULT_TOTAL, FAULT_NONE, 1, FALSE, 50 } },
  { "every loss of all, 15 jobs with phases and aborts, checkpoint",
    { 15, 3, TRUE, ENUMERATE_SINGLES, FAULT_TOTAL, FAULT_NONE, 1, TRUE, 50 } },
  { "every suspend, 31 jobs with aborts, checkpoint",
    { 31, 3, TRUE, ENUMERATE_SINGLES, FAULT_SUSPEND, FAULT_NONE, 1, FALSE, 50 } },
  { "pairs of a crash and a link reset, 15 jobs with aborts, checkpoint",
    { 15, 3, TRUE, ENUMERATE_PAIRS, FAULT_CRASH, FAULT_RESET, 13, FALSE, 60 } },
};

/* Each plan keeps more of what a crash leaves than the one before it. */
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

/* What the nodes' ledgers say was lost, against what was in the processes that died. Orphans that
 * the naive plan drops run on in vain, so its loss has no such oracle. */
static gboolean
ledgers_are_right (const CompareSum sums[COMPARE_PLANS])
{
  gboolean well = TRUE;

  for (ComparePlan plan = COMPARE_ORPHAN; plan < COMPARE_PLANS; plan++)
    {
      double said = (double)sums[plan].lost_us, was = (double)sums[plan].lost_true_us;

      printf ("# %s: lost %.3f s, by the ledger %.3f s\n", compare_name (plan), was / 1e6,
              said / 1e6);
      well = well && was > 0 && fabs (said - was) <= COMPARE_LEDGER_WITHIN * was;
    }
  return well;
}

static int
check (void)
{
  guint number = 0, n_bad = 0;

  printf ("1..%d\n", (int)G_N_ELEMENTS (tries) + 7);
  for (guint i = 0; i < G_N_ELEMENTS (tries); i++)
    {
      EnumerateResult result;
      gint64 start_us = g_get_monotonic_time ();
      gboolean well = run_enumeration (&tries[i].what, &result);
      n_bad += !report (++number, well, tries[i].name, result.runs, start_us);
    }
  Outcome sum = { 0 };
  gint64 start_us = g_get_monotonic_time ();
  gboolean well = run_seeds (1, CHECK_SEEDS, &sum);
  n_bad += !report (++number, well, "random mixes of faults", CHECK_SEEDS, start_us);
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
#endif

/* The plans of protection side by side, and the ledger against what happened. */
static int
command_compare (void)
{
  CompareSum sums[COMPARE_PLANS];

  compare_run (COMPARE_JOBS, COMPARE_NODES, COMPARE_POINTS, sums);
  for (ComparePlan plan = 0; plan < COMPARE_PLANS; plan++)
    printf ("%-10s %" G_GUINT64_FORMAT " runs, %.3f jobs executed in each; lost %.6f s, by the "
            "ledger %.6f s; done %.6f s, of it %.6f s in the answers%s%s\n",
            compare_name (plan), sums[plan].runs,
            (double)sums[plan].executed / (double)sums[plan].runs,
            (double)sums[plan].lost_true_us / 1e6, (double)sums[plan].lost_us / 1e6,
            (double)sums[plan].work_us / 1e6, (double)sums[plan].answer_us / 1e6,
            sums[plan].failure[0] != '\0' ? "; FAILED: " : "", sums[plan].failure);
  return 0;
}

static gint64 option_seeds, option_from = 1, option_seed = -1, option_walls = -1;
static gboolean option_singles, option_pairs, option_keep_going, option_compare;
static int option_processes, option_jobs = 15, option_nodes = 3, option_stride = 1, option_aborts;
static gboolean option_checkpoint, option_phased;
static char *option_case, *option_first, *option_second;

static const GOptionEntry options[] = {
  { "seeds", 0, 0, G_OPTION_ARG_INT64, &option_seeds, "Run this many seeds", "N" },
  { "from", 0, 0, G_OPTION_ARG_INT64, &option_from, "The first of them", "SEED" },
  { "keep-going", 0, 0, G_OPTION_ARG_NONE, &option_keep_going, "Go on after a failing seed", NULL },
  { "processes", 0, 0, G_OPTION_ARG_INT, &option_processes,
    "… in so many processes (one for each "
    "processor)",
    "N" },
  { "seed", 0, 0, G_OPTION_ARG_INT64, &option_seed, "Run one seed and print every step", "SEED" },
  { "walls", 0, 0, G_OPTION_ARG_INT64, &option_walls,
    "Run one tree among sites that do not reach each other and print every step", "SEED" },
  { "case", 0, 0, G_OPTION_ARG_STRING, &option_case, "Run one enumerated case and print every step",
    "JOBS/NODES[/checkpoint][/phased][/abortsPERCENT],FAULT:NODE@MESSAGE…" },
  { "compare", 0, 0, G_OPTION_ARG_NONE, &option_compare,
    "Compare the plans of protection under the same crashes", NULL },
  { "singles", 0, 0, G_OPTION_ARG_NONE, &option_singles, "Try every single crash", NULL },
  { "pairs", 0, 0, G_OPTION_ARG_NONE, &option_pairs, "Try every pair of crashes", NULL },
  { "first", 0, 0, G_OPTION_ARG_STRING, &option_first, "… of this fault instead", "FAULT" },
  { "second", 0, 0, G_OPTION_ARG_STRING, &option_second, "… and then this one", "FAULT" },
  { "jobs", 0, 0, G_OPTION_ARG_INT, &option_jobs, "… of a tree of N jobs", "N" },
  { "nodes", 0, 0, G_OPTION_ARG_INT, &option_nodes, "… on N nodes", "N" },
  { "checkpoint", 0, 0, G_OPTION_ARG_NONE, &option_checkpoint, "… with a checkpoint", NULL },
  { "phased", 0, 0, G_OPTION_ARG_NONE, &option_phased, "… whose jobs have phases and keep them",
    NULL },
  { "aborts", 0, 0, G_OPTION_ARG_INT, &option_aborts, "… whose jobs abort this often", "PERCENT" },
  { "stride", 0, 0, G_OPTION_ARG_INT, &option_stride, "… only every N-th pair", "N" },
  G_OPTION_ENTRY_NULL
};

static int
command_enumerate (void)
{
  Enumeration what = { .n_jobs = (guint)CLAMP (option_jobs, 1, TREE_JOBS_MAX),
                       .n_nodes = (guint)CLAMP (option_nodes, 1, 8),
                       .checkpoint = option_checkpoint,
                       .phased = option_phased,
                       .depth = option_pairs ? ENUMERATE_PAIRS : ENUMERATE_SINGLES,
                       .first = fault_named (option_first != NULL ? option_first : "crash"),
                       .second = fault_named (option_second != NULL ? option_second : "crash"),
                       .stride = (guint)MAX (option_stride, 1),
                       .aborts = (guint)CLAMP (option_aborts, 0, 100) };
  EnumerateResult result;
  gint64 start_us = g_get_monotonic_time ();
  gboolean well = run_enumeration (&what, &result);

  printf ("%s: %" G_GUINT64_FORMAT " runs, %" G_GUINT64_FORMAT " steps, %.1f s\n",
          well ? "all well" : "FAILED", result.runs, result.steps, seconds_since (start_us));
  return !well;
}

typedef struct
{
  Outcome sum;
  guint64 n_bad;
} Share;

/* Every `step`-th of the seeds, from the `first` on. */
static void
run_share (guint64 first, guint64 step, Share *share)
{
  guint64 end = (guint64)(option_from + option_seeds);

  for (guint64 seed = (guint64)option_from + first; seed < end; seed += step)
    if (!run_seeds (seed, 1, &share->sum))
      {
        fflush (stdout);
        share->n_bad++;
        if (!option_keep_going)
          break;
      }
}

/* A process of its own for each processor: a failed assertion ends only one. */
static void
run_shares (guint n, Share *all)
{
  g_autoptr (GArray) ends = g_array_new (FALSE, FALSE, sizeof (int));

  fflush (stdout);
  for (guint k = 0; k < n; k++)
    {
      int ways[2];
      g_assert (pipe (ways) == 0);
      if (fork () == 0)
        {
          Share share = { 0 };
          run_share (k, n, &share);
          fflush (stdout);
          _exit (write (ways[1], &share, sizeof share) != sizeof share);
        }
      close (ways[1]);
      g_array_append_val (ends, ways[0]);
    }
  for (guint k = 0; k < n; k++)
    {
      Share share = { .n_bad = 1 };
      if (read (g_array_index (ends, int, k), &share, sizeof share) != sizeof share)
        share = (Share){ .n_bad = 1 };
      add_outcome (&all->sum, &share.sum);
      all->n_bad += share.n_bad;
    }
}

static int
command_seeds (void)
{
  Share all = { 0 };
  gint64 start_us = g_get_monotonic_time ();
  guint processes = option_processes > 0 ? (guint)option_processes : g_get_num_processors ();

  if (processes > 1)
    run_shares (processes, &all);
  else
    run_share (0, 1, &all);
  const Outcome sum = all.sum;
  printf (
      "%" G_GUINT64_FORMAT " bad of %" G_GINT64_FORMAT " seeds from %" G_GINT64_FORMAT ", %.1f s; "
      "%" G_GUINT64_FORMAT " steps, %" G_GUINT64_FORMAT " jobs executed, %" G_GUINT64_FORMAT
      " stolen, %" G_GUINT64_FORMAT " lost, %" G_GUINT64_FORMAT " adopted, %" G_GUINT64_FORMAT
      " recalled, %" G_GUINT64_FORMAT " aborted, %" G_GUINT64_FORMAT " lives, %" G_GUINT64_FORMAT
      " coordinators, %" G_GUINT64_FORMAT " moved, %" G_GUINT64_FORMAT " races, %" G_GUINT64_FORMAT
      " given up, %" G_GUINT64_FORMAT " routed, %" G_GUINT64_FORMAT
      " fetches of shared bytes, %" G_GUINT64_FORMAT " strangers refused\n",
      all.n_bad, option_seeds, option_from, seconds_since (start_us), sum.steps, sum.executed,
      sum.steals_remote, sum.lost, sum.adopted, sum.recalled, sum.forgotten, sum.lives, sum.elected,
      sum.moved, sum.races, sum.condemned, sum.routed, sum.fetched, sum.refused);
  return all.n_bad > 0;
}

static int
print_outcome (const Outcome *outcome)
{
  printf ("%s%s; %.6f s, %" G_GUINT64_FORMAT " steps, %" G_GUINT64_FORMAT
          " messages, %" G_GUINT64_FORMAT " delivered, %" G_GUINT64_FORMAT
          " jobs executed, %" G_GUINT64_FORMAT " generations, %" G_GUINT64_FORMAT
          " lives, hash %016" G_GINT64_MODIFIER "x\n",
          outcome->failure[0] == '\0' ? "well" : "FAILED: ", outcome->failure,
          (double)outcome->end_us / 1e6, outcome->steps, outcome->messages, outcome->deliveries,
          outcome->executed, outcome->generations, outcome->lives, outcome->hash);
  return outcome->failure[0] != '\0';
}

static int
command_seed (void)
{
  Outcome outcome;

  run_seed ((guint64)option_seed, TRUE, &outcome);
  return print_outcome (&outcome);
}

static int
command_walls (void)
{
  Outcome outcome;
  Plan plan;

  swarm_sites_plan ((guint64)option_walls, 2, option_walls % 3 == 0, FALSE, &plan);
  sim_run (&plan, TRUE, &outcome);
  tree_free ((Tree *)plan.tree);
  return print_outcome (&outcome);
}

static void
add_fault (Plan *plan, const char *text)
{
  g_auto (GStrv) parts = g_strsplit_set (text, ":@", 3);

  if (g_strv_length (parts) == 3 && fault_named (parts[0]) != FAULT_NONE)
    swarm_add_fault (plan, fault_named (parts[0]), (guint)strtoul (parts[1], NULL, 10),
                     strtoull (parts[2], NULL, 10));
}

static int
command_case (void)
{
  g_auto (GStrv) parts = g_strsplit (option_case, ",", 0);
  unsigned n_jobs = 0, n_nodes = 0;
  const char *aborts;
  Outcome outcome;
  Plan plan;

  if (parts[0] == NULL || sscanf (parts[0], "%u/%u", &n_jobs, &n_nodes) != 2 || n_jobs < 1
      || n_jobs > TREE_JOBS_MAX)
    {
      fprintf (stderr, "not a case: '%s'\n", option_case);
      return 2;
    }
  aborts = strstr (parts[0], "/aborts");
  swarm_fixed_plan (
      n_jobs, n_nodes, strstr (parts[0], "checkpoint") != NULL, strstr (parts[0], "phased") != NULL,
      aborts != NULL ? (guint)strtoul (aborts + strlen ("/aborts"), NULL, 10) : 0, &plan);
  for (guint i = 1; parts[i] != NULL && plan.n_faults < SIM_FAULTS_MAX; i++)
    add_fault (&plan, parts[i]);
  note_case (&plan);
  sim_run (&plan, TRUE, &outcome);
  tree_free ((Tree *)plan.tree);
  return print_outcome (&outcome);
}

int
main (int argc, char **argv)
{
  g_autoptr (GOptionContext) context = g_option_context_new ("- Satin's protocol in virtual time");
  g_autoptr (GError) error = NULL;

  signal (SIGABRT, say_and_die);
  signal (SIGSEGV, say_and_die);
  signal (SIGTRAP, say_and_die);
  g_option_context_add_main_entries (context, options, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error))
    {
      fprintf (stderr, "%s\n", error->message);
      return 2;
    }
  if (option_compare)
    return command_compare ();
  if (option_case != NULL)
    return command_case ();
  if (option_seed >= 0)
    return command_seed ();
  if (option_walls >= 0)
    return command_walls ();
  if (option_seeds > 0)
    return command_seeds ();
  if (option_singles || option_pairs)
    return command_enumerate ();
  return check ();
}
