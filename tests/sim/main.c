/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of the simulator. Without arguments it is a test of `make check` in TAP. A build
 * with a planted bug then looks for that bug and fails if it does not find it. */
#include "config.h"

#include "cases.h"
#include "gate.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Compares the plans of protection, and the ledgers with the true losses. */
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

static gint64 option_seeds, option_from = 1, option_seed = -1, option_walls = -1, option_split = -1,
                            option_heavy = -1;
static gboolean option_real;
static gboolean option_singles, option_pairs, option_keep_going, option_compare, option_hashes;
static int option_processes, option_jobs = 15, option_nodes = 3, option_stride = 1, option_aborts;
static gboolean option_checkpoint, option_phased, option_lasting, option_buddies, option_ring,
    option_theft, option_mirror, option_cut;
static char *option_case, *option_first, *option_second;

static const GOptionEntry options[] = {
  { "real", 0, 0, G_OPTION_ARG_NONE, &option_real,
    "With the engine and the scribe themselves in place of their models (sim-real)", NULL },
  { "seeds", 0, 0, G_OPTION_ARG_INT64, &option_seeds, "Run this many seeds", "N" },
  { "from", 0, 0, G_OPTION_ARG_INT64, &option_from, "The first of them", "SEED" },
  { "keep-going", 0, 0, G_OPTION_ARG_NONE, &option_keep_going, "Go on after a failing seed", NULL },
  { "hashes", 0, 0, G_OPTION_ARG_NONE, &option_hashes,
    "Print the hash of each seed's steps and how it went, to compare two builds", NULL },
  { "processes", 0, 0, G_OPTION_ARG_INT, &option_processes,
    "… in so many processes (one for each "
    "processor)",
    "N" },
  { "seed", 0, 0, G_OPTION_ARG_INT64, &option_seed, "Run one seed and print every step", "SEED" },
  { "walls", 0, 0, G_OPTION_ARG_INT64, &option_walls,
    "Run one tree among sites that do not reach each other and print every step", "SEED" },
  { "split", 0, 0, G_OPTION_ARG_INT64, &option_split,
    "Run a split that lasts so many seconds and print every step", "SECONDS" },
  { "heavy", 0, 0, G_OPTION_ARG_INT64, &option_heavy,
    "Run one tree with a job that is too large beside others and print every step", "SEED" },
  { "case", 0, 0, G_OPTION_ARG_STRING, &option_case, "Run one enumerated case and print every step",
    "JOBS/NODES[/checkpoint][/phased][/lasting][/buddies|/ring|/theft|/mirror|/cut][/"
    "abortsPERCENT],"
    "FAULT:NODE@MESSAGE…" },
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
  { "buddies", 0, 0, G_OPTION_ARG_NONE, &option_buddies, "… with rows at buddies", NULL },
  { "ring", 0, 0, G_OPTION_ARG_NONE, &option_ring, "… as plan buddy has it", NULL },
  { "strict", 0, 0, G_OPTION_ARG_NONE, &option_theft, "… as plan theft has it", NULL },
  { "mirror", 0, 0, G_OPTION_ARG_NONE, &option_mirror, "… as plan mirror has it", NULL },
  { "cut", 0, 0, G_OPTION_ARG_NONE, &option_cut, "… with epochs, as plan cut has it", NULL },
  { "lasting", 0, 0, G_OPTION_ARG_NONE, &option_lasting,
    "… whose jobs last so long that the run is saved many times", NULL },
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
                       .buddies = option_mirror    ? SIM_MIRROR
                                  : option_cut     ? SIM_CUT
                                  : option_theft   ? SIM_THEFT
                                  : option_ring    ? SIM_RING
                                  : option_buddies ? SIM_BUDDIES
                                                   : SIM_NO_BUDDIES,
                       .lasting = option_lasting,
                       .depth = option_pairs ? ENUMERATE_PAIRS : ENUMERATE_SINGLES,
                       .first = cases_fault (option_first != NULL ? option_first : "crash"),
                       .second = cases_fault (option_second != NULL ? option_second : "crash"),
                       .stride = (guint)MAX (option_stride, 1),
                       .aborts = (guint)CLAMP (option_aborts, 0, 100) };
  EnumerateResult result;
  gint64 start_us = g_get_monotonic_time ();
  gboolean well = cases_enumerate (&what, 1, &result);

  printf ("%s: %" G_GUINT64_FORMAT " runs, %" G_GUINT64_FORMAT " steps, %.1f s\n",
          well ? "all well" : "FAILED", result.runs, result.steps, cases_seconds (start_us));
  return !well;
}

typedef struct
{
  Outcome sum;
  guint64 n_bad;
} Share;

static gboolean
run_one (guint64 seed, Outcome *sum)
{
  Outcome outcome;
  gboolean well = cases_run_seed (seed, option_hashes ? SIM_HASH : SIM_NOTHING, &outcome);

  if (option_hashes)
    printf ("%" G_GUINT64_FORMAT " hash %016" G_GINT64_MODIFIER "x steps %" G_GUINT64_FORMAT
            " end %" G_GUINT64_FORMAT " messages %" G_GUINT64_FORMAT " executed %" G_GUINT64_FORMAT
            " lives %" G_GUINT64_FORMAT "\n",
            seed, outcome.hash, outcome.steps, outcome.end_us, outcome.messages, outcome.executed,
            outcome.lives);
  if (!well)
    printf ("# seed %" G_GUINT64_FORMAT ": %s\n", seed, outcome.failure);
  cases_add (sum, &outcome);
  return well;
}

/* Runs every `step`-th seed, starting with the `first`. */
static void
run_share (guint64 first, guint64 step, Share *share)
{
  guint64 end = (guint64)(option_from + option_seeds);

  for (guint64 seed = (guint64)option_from + first; seed < end; seed += step)
    if (!run_one (seed, &share->sum))
      {
        fflush (stdout);
        share->n_bad++;
        if (!option_keep_going)
          break;
      }
}

/* One process for each processor: a failed assertion ends only one of them. */
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
      cases_add (&all->sum, &share.sum);
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
      all.n_bad, option_seeds, option_from, cases_seconds (start_us), sum.steps, sum.executed,
      sum.steals_remote, sum.lost, sum.adopted, sum.recalled, sum.forgotten, sum.lives, sum.elected,
      sum.moved, sum.races, sum.condemned, sum.routed, sum.fetched, sum.refused);
#ifdef SIM_REAL
  printf ("%" G_GUINT64_FORMAT " leapfrogs, %" G_GUINT64_FORMAT " whole scans, %" G_GUINT64_FORMAT
          " losses of power\n",
          sum.leapfrogs, sum.wholes, sum.power_lost);
#endif
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

  cases_run_seed ((guint64)option_seed, SIM_LINE, &outcome);
  return print_outcome (&outcome);
}

static int
command_walls (void)
{
  Outcome outcome;
  Plan plan;

  swarm_sites_plan ((guint64)option_walls, 2, option_walls % 3 == 0, FALSE, &plan);
  sim_run (&plan, SIM_LINE, &outcome);
  tree_free ((Tree *)plan.tree);
  return print_outcome (&outcome);
}

static int
command_heavy (void)
{
  Outcome outcome;
  Plan plan;

  swarm_heavy_plan ((guint64)option_heavy, &plan);
  sim_run (&plan, SIM_LINE, &outcome);
  tree_free ((Tree *)plan.tree);
  return print_outcome (&outcome);
}

static int
command_split (void)
{
  Outcome outcome;
  Plan plan;

  swarm_split_plan ((guint64)option_jobs, option_nodes > 3 ? 4 : 2,
                    (guint64)option_split * SIM_SECOND, option_checkpoint, &plan);
  sim_run (&plan, SIM_LINE, &outcome);
  tree_free ((Tree *)plan.tree);
  printf ("%u masters deposed, looked at %" G_GUINT64_FORMAT " times\n", outcome.deposed,
          outcome.united);
  return print_outcome (&outcome);
}

static int
command_case (void)
{
  Outcome outcome;
  Plan plan;

  if (!cases_read (option_case, &plan))
    {
      fprintf (stderr, "not a case: '%s'\n", option_case);
      return 2;
    }
  cases_note (&plan);
  sim_run (&plan, SIM_LINE, &outcome);
  tree_free ((Tree *)plan.tree);
  return print_outcome (&outcome);
}

#ifndef SIM_REAL
/* Executes the program beside this one: it links rooms that this one must not link, or has larger
 * limits. Returns only if it cannot be started. */
static void
become (const char *program, char **argv)
{
  g_autofree char *self = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *folder = self != NULL ? g_path_get_dirname (self) : g_strdup (".");
  g_autofree char *path = g_build_filename (folder, program, NULL);

  (void)execv (path, argv);
  fprintf (stderr, "cannot start %s: %s\n", program, g_strerror (errno));
}

/* TRUE: the option is given. sim-scale and sim-theft have options of their own. */
static gboolean
asks_for (char **argv, const char *option)
{
  gsize n = strlen (option);

  for (; *argv != NULL; argv++)
    if (strncmp (*argv, option, n) == 0 && ((*argv)[n] == '\0' || (*argv)[n] == '='))
      return TRUE;
  return FALSE;
}
#endif

int
main (int argc, char **argv)
{
  g_autofree char **words = g_memdup2 (argv, ((gsize)argc + 1) * sizeof *argv);
  g_autoptr (GOptionContext) context = g_option_context_new ("- Satin's protocol in virtual time");
  g_autoptr (GError) error = NULL;

  (void)setvbuf (stdout, NULL, _IOLBF, 0); /* Several processes write whole lines into one pipe. */
  signal (SIGABRT, cases_say_and_die);
  signal (SIGSEGV, cases_say_and_die);
  signal (SIGTRAP, cases_say_and_die);
#ifndef SIM_REAL
  if (asks_for (argv, "--scale") || asks_for (argv, "--theft"))
    {
      become (asks_for (argv, "--theft") ? "sim-theft" : "sim-scale", argv);
      return 2;
    }
  g_option_context_set_description (context, "sim --scale NODES runs many nodes: see sim --scale=1 "
                                             "--help\nsim --theft prints what each crash at each "
                                             "step of a steal costs");
#endif
  g_option_context_add_main_entries (context, options, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error))
    {
      fprintf (stderr, "%s\n", error->message);
      return 2;
    }
#ifndef SIM_REAL
  if (option_real)
    {
      become ("sim-real", words);
      return 2;
    }
#endif
  if (option_compare)
    return command_compare ();
  if (option_case != NULL)
    return command_case ();
  if (option_seed >= 0)
    return command_seed ();
  if (option_walls >= 0)
    return command_walls ();
  if (option_heavy >= 0)
    return command_heavy ();
  if (option_split >= 0)
    return command_split ();
  if (option_seeds > 0)
    return command_seeds ();
  if (option_singles || option_pairs)
    return command_enumerate ();
  return gate ();
}
