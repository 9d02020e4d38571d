/* SPDX-License-Identifier: BSD-3-Clause */
/* See compare.h. */
#include "config.h"

#include "compare.h"

#include "swarm.h"

#include <string.h>

const char *
compare_name (ComparePlan plan)
{
  static const char *const names[COMPARE_PLANS] = { "naive", "orphan", "checkpoint" };

  return names[plan];
}

static void
add (CompareSum *sum, const Plan *plan)
{
  Outcome outcome;

  sim_run (plan, SIM_NOTHING, &outcome);
  sum->runs++;
  sum->executed += outcome.executed;
  sum->lost_us += outcome.lost_us;
  sum->lost_true_us += outcome.lost_true_us;
  sum->work_us += outcome.work_us;
  sum->answer_us += outcome.answer_us;
  if (outcome.failure[0] != '\0')
    memcpy (sum->failure, outcome.failure, sizeof sum->failure);
}

/* The jobs last so long that the run is saved several times. */
static void
make_plan (guint n_jobs, guint n_nodes, ComparePlan which, Plan *plan)
{
  TreeShape shape = { .seed = n_jobs, .n = n_jobs, .balanced = TRUE, .cost_max_us = 200000 };

  swarm_fixed_plan (n_jobs, n_nodes, which == COMPARE_CHECKPOINT, FALSE, 0, plan);
  tree_free ((Tree *)plan->tree);
  plan->tree = tree_new (&shape);
  plan->naive = which == COMPARE_NAIVE;
  plan->tell_us = 20000;
  plan->publish_us = 50000;
  plan->patience_us = 60 * SIM_SECOND;
}

void
compare_run (guint n_jobs, guint n_nodes, guint points, CompareSum sums[COMPARE_PLANS])
{
  memset (sums, 0, COMPARE_PLANS * sizeof *sums);
  for (ComparePlan which = 0; which < COMPARE_PLANS; which++)
    {
      Plan plan;

      make_plan (n_jobs, n_nodes, which, &plan);
      for (guint i = 1; i <= points; i++)
        for (guint node = 0; node < n_nodes; node++)
          {
            plan.n_faults = 1;
            plan.faults[0] = (Fault){ .kind = FAULT_CRASH,
                                      .node = node,
                                      .at_us = plan.tree->work_us / n_nodes * i / (points + 1) };
            add (&sums[which], &plan);
          }
      tree_free ((Tree *)plan.tree);
    }
}
