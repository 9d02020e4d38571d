/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans for the engine and the scribe themselves: small trees, and what goes wrong where these two
 * are concerned. Replaces swarm_plan where cases.c draws from a seed. */
#include "config.h"

#include "real-plan.h"
#include "real.h"

static guint64
one_of (Rng *rng, const guint64 *values, guint n)
{
  return values[rng_below (rng, n)];
}

static const Tree *
draw_tree (Rng *rng)
{
  static const guint64 costs[] = { 200, 2000, 10000, 30000 };
  TreeShape shape = { .seed = rng_next (rng) };

  shape.n = (guint)(rng_chance (rng, 50) ? rng_between (rng, 1, 15) : rng_between (rng, 16, 40));
  shape.depth_bias = (guint)rng_below (rng, 80);
  shape.keeps = rng_chance (rng, 50) ? (guint)rng_between (rng, 10, 100) : 0;
  shape.aborts = rng_chance (rng, 40) ? (guint)rng_between (rng, 10, 70) : 0;
  shape.cost_max_us = (guint32)one_of (rng, costs, G_N_ELEMENTS (costs));
  return tree_new (&shape);
}

/* Of these kinds each seed draws its own mix. */
static void
draw_faults (Rng *rng, Plan *plan)
{
  static const FaultKind all[] = { FAULT_CRASH, FAULT_HEAD,  FAULT_LEAVE, FAULT_JOIN,   FAULT_RESET,
                                   FAULT_PAUSE, FAULT_TOTAL, FAULT_SAVE,  FAULT_SUSPEND };
  FaultKind kinds[G_N_ELEMENTS (all)];
  guint n = 0;
  guint64 run_us = plan->main_us + plan->tree->work_us / plan->n_nodes + 20 * plan->delay_us;

  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    if (rng_chance (rng, 30))
      kinds[n++] = all[i];
  if (n == 0 || rng_chance (rng, 10))
    return;
  plan->n_faults = (guint)rng_between (rng, 1, rng_chance (rng, 70) ? 2 : 6);
  for (guint i = 0; i < plan->n_faults; i++)
    {
      FaultKind kind = kinds[rng_below (rng, n)];
      plan->faults[i] = (Fault){ .kind = kind,
                                 .node = (guint)rng_below (rng, 8),
                                 .count = (guint)rng_between (rng, 1, 4),
                                 .at_us = rng_below (rng, run_us + run_us / 2) };
      if (kind == FAULT_PAUSE)
        plan->faults[i].for_us = rng_below (rng, run_us);
    }
}

void
real_plan (guint64 seed, Plan *plan)
{
  static const guint64 delays[] = { 50, 200, 1000 };
  static const guint64 saves[] = { 2000, 10000, 50000 };
  static const guint64 commits[] = { 100, 5000, 50000 };
  Rng own = { rng_mix (seed + 77) }, *rng = &own;

  *plan = (Plan){ .seed = seed,
                  .tree = draw_tree (rng),
                  .n_nodes = (guint)rng_between (rng, 1, 4),
                  .seats = (guint)rng_between (rng, 1, 3),
                  .stacks_extra = (guint)rng_below (rng, 5),
                  .late_mail = rng_chance (rng, 40),
                  .slow_node = rng_chance (rng, 20),
                  .swaps = TRUE,
                  .checkpoint = rng_chance (rng, 70),
                  .save_us = one_of (rng, saves, G_N_ELEMENTS (saves)),
                  .publish_us = one_of (rng, saves, G_N_ELEMENTS (saves)),
                  .commit_us = one_of (rng, commits, G_N_ELEMENTS (commits)),
                  .even_delays = rng_chance (rng, 30),
                  .old_ports = rng_chance (rng, 30),
                  .sudden = rng_chance (rng, 50),
                  .large = rng_chance (rng, 30) ? 1 + (guint)rng_below (rng, 30) : 0,
                  .delay_us = one_of (rng, delays, G_N_ELEMENTS (delays)),
                  .join_us = rng_chance (rng, 50) ? 0 : rng_below (rng, 20000),
                  .poll_us = REAL_POLL_US,
                  .tell_us = 20000 };
  plan->main_us = plan->join_us + (rng_chance (rng, 80) ? 20 * plan->delay_us : 0);
  plan->settle_us = rng_chance (rng, 80) ? 1 + rng_below (rng, 60 * plan->delay_us) : 0;
  draw_faults (rng, plan);
  plan->patience_us = 16 * plan->tree->work_us + 120 * SIM_SECOND;
}
