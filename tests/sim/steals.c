/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares ways to steal on two distant sites, and measures what idle nodes send. Its trees are
 * larger than those of the other tests, so its files are compiled with other limits
 * (Makefile.inc). */
#include "config.h"

#include "sim.h"

#include <stdio.h>
#include <string.h>

#define NODES 16 /* Half of them at each site. */
#define LEAF_US 5000
#define WAN_US 25000 /* One way: 50 ms for a request and its answer. */
#define SEEDS 5
/* Of the races that FASTER concerns: the ratio of 5 seeds was between 1.29 and 1.40. */
#define FAR_SEEDS 15
#define FASTER 1.3
#define LONG_NODES 8 /* Then the slow start and end matter less. */
#define WITHIN_ONE_SITE 1.10
#define IDLE_NODES 16
#define IDLE_US (120 * SIM_SECOND)
#define IDLE_FRAMES_PER_S 5.0
#define MAIN_US SIM_SECOND /* All have joined by then. */

static const char *const names[] = { "crs", "rs", "mw" };

static Plan
new_plan (guint64 seed, const Tree *tree, guint n_nodes)
{
  return (Plan){ .seed = seed,
                 .tree = tree,
                 .n_nodes = n_nodes,
                 .seats = 1,
                 .stacks_extra = 3,
                 .delay_us = 100,
                 .main_us = MAIN_US,
                 .tell_us = SIM_SECOND,
                 .patience_us = 100 * SIM_SECOND };
}

typedef struct
{
  NodeSteal steal;
  guint64 wan_us;
  guint n_nodes;
  gboolean balanced; /* The tree is balanced. */
  guint seeds;
} Race;

/* Returns the mean time from main's start to the end over all seeds, in seconds; 0: a run failed,
 * and its failure has been printed. */
static double
race (Race how)
{
  TreeShape shape = { .seed = 1,
                      .n = TREE_JOBS_MAX,
                      .balanced = how.balanced,
                      .depth_bias = 20,
                      .cost_max_us = 2 * LEAF_US };
  g_autoptr (Tree) tree = tree_new (&shape);
  double sum_s = 0;

  for (guint64 seed = 1; seed <= how.seeds; seed++)
    {
      Plan plan = new_plan (seed, tree, how.n_nodes);
      Outcome outcome;

      plan.steal = how.steal;
      plan.wan_us = how.wan_us;
      sim_run (&plan, SIM_NOTHING, &outcome);
      if (outcome.failure[0] != '\0')
        {
          printf ("# %s, seed %" G_GUINT64_FORMAT ": %s\n", names[how.steal], seed,
                  outcome.failure);
          return 0;
        }
      sum_s += (double)(outcome.end_us - MAIN_US) / SIM_SECOND;
    }
  printf ("# %s, %u nodes, %.0f ms between the sites: %.3f s; the work shared out: %.3f s\n",
          names[how.steal], how.n_nodes, (double)how.wan_us / 1000, sum_s / how.seeds,
          (double)tree->work_us / SIM_SECOND / how.n_nodes);
  return sum_s / how.seeds;
}

/* Counts what each process sends while the first process works for `busy_us`. */
static gboolean
count_sent (guint64 busy_us, Outcome *outcome)
{
  TreeShape shape = { .seed = 1, .n = 1, .cost_max_us = (guint32)busy_us };
  g_autoptr (Tree) tree = tree_new (&shape);
  Plan plan = new_plan (1, tree, IDLE_NODES);

  sim_run (&plan, SIM_NOTHING, outcome);
  if (outcome->failure[0] != '\0')
    printf ("# %s\n", outcome->failure);
  return outcome->failure[0] == '\0';
}

/* Returns the messages per second of the idle node that sends most. Both runs have the same begin
 * and end, so the difference contains neither. */
static double
idle_frames (void)
{
  Outcome brief, lasting;
  guint64 most = 0;

  if (!count_sent (IDLE_US / 2, &brief) || !count_sent (IDLE_US, &lasting))
    return G_MAXDOUBLE;
  for (guint i = 1; i < IDLE_NODES; i++)
    most = MAX (most, lasting.sent[i] - MIN (brief.sent[i], lasting.sent[i]));
  double span_s = (double)(lasting.end_us - brief.end_us) / SIM_SECOND;
  printf ("# %u nodes, %.0f s: %.2f frames a second each at most\n", IDLE_NODES, span_s,
          (double)most / span_s);
  return (double)most / span_s;
}

static int
report (int number, gboolean well, const char *name)
{
  printf ("%sok %d - %s\n", well ? "" : "not ", number, name);
  return !well;
}

int
main (void)
{
  double crs_s = race ((Race){ NODE_STEAL_CRS, WAN_US, NODES, FALSE, FAR_SEEDS });
  double rs_s = race ((Race){ NODE_STEAL_RS, WAN_US, NODES, FALSE, FAR_SEEDS });
  double mw_s = race ((Race){ NODE_STEAL_MW, WAN_US, NODES, FALSE, SEEDS });
  double far_s = race ((Race){ NODE_STEAL_CRS, WAN_US, LONG_NODES, TRUE, SEEDS });
  double near_s = race ((Race){ NODE_STEAL_RS, 0, LONG_NODES, TRUE, SEEDS });
  int bad = 0;

  printf ("1..4\n");
  bad += report (1, crs_s > 0 && rs_s >= FASTER * crs_s,
                 "cluster-aware stealing is faster over a long way");
  bad += report (2, far_s > 0 && near_s > 0 && far_s <= WITHIN_ONE_SITE * near_s,
                 "and nearly as fast as without that way");
  bad += report (3, mw_s > 0, "a master and its workers come to an end too");
  bad += report (4, idle_frames () < IDLE_FRAMES_PER_S, "idle nodes are quiet");
  return bad > 0;
}
