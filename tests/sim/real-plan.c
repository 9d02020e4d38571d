/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans for the real engine and the real scribe: small trees, and faults that concern these two.
 * Replaces swarm_plan where cases.c draws from a seed. */
#include "config.h"

#include "real-plan.h"
#include "real.h"

#define LEASE_PERCENT 20

static const Tree *
draw_tree (Rng *rng)
{
  static const guint64 costs[] = { 200, 5000, 30000, 100000 };
  TreeShape shape = { .seed = rng_next (rng) };

  shape.n = (guint)(rng_chance (rng, 30) ? rng_between (rng, 1, 15) : rng_between (rng, 16, 60));
  shape.depth_bias = (guint)rng_below (rng, 80);
  shape.keeps = rng_chance (rng, 60) ? (guint)rng_between (rng, 20, 100) : 0;
  shape.aborts = rng_chance (rng, 50) ? (guint)rng_between (rng, 10, 70) : 0;
  shape.cost_max_us = (guint32)rng_one_of (rng, costs, G_N_ELEMENTS (costs));
  shape.roots = tree_draw_roots (shape.seed);
  return tree_new (&shape);
}

/* Each seed draws its own mix of these kinds. */
static void
draw_faults (Rng *rng, Plan *plan)
{
  static const FaultKind all[]
      = { FAULT_CRASH, FAULT_HEAD, FAULT_HEAD,  FAULT_LEAVE, FAULT_JOIN,   FAULT_RESET,
          FAULT_PAUSE, FAULT_SLOW, FAULT_TOTAL, FAULT_SAVE,  FAULT_SUSPEND };
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
                                 .at_us = plan->main_us + rng_below (rng, run_us) };
      if (kind == FAULT_PAUSE || kind == FAULT_SLOW)
        plan->faults[i].for_us = rng_below (rng, run_us);
    }
}

/* Jobs so long that rows are sent and published many times; coordinators die, or are slower than
 * another process. */
static void
draw_lease (Rng *rng, Plan *plan)
{
  TreeShape shape = { .seed = rng_next (rng),
                      .n = (guint)rng_between (rng, 25, 60),
                      .depth_bias = (guint)rng_below (rng, 60),
                      .keeps = rng_chance (rng, 60) ? (guint)rng_between (rng, 20, 100) : 0,
                      .aborts = rng_chance (rng, 30) ? 40 : 0,
                      .cost_max_us = 200000 };

  tree_free ((Tree *)plan->tree);
  plan->tree = tree_new (&shape);
  plan->checkpoint = TRUE;
  plan->n_nodes = (guint)rng_between (rng, 3, 4);
  plan->seats = (guint)rng_between (rng, 1, 2);
  plan->save_us = 5000;
  plan->publish_us = 50000;
  plan->settle_us = 5000;
  plan->commit_us = 10000;
  plan->fast = (guint)rng_below (rng, plan->n_nodes + 1);
  plan->delay_us = 200;
  plan->join_us = 1000;
  plan->main_us = 5000;
  guint64 run_us = plan->tree->work_us / plan->n_nodes / plan->seats;
  plan->n_faults = 2;
  plan->faults[0]
      = (Fault){ .kind = rng_chance (rng, 80) ? FAULT_HEAD : FAULT_SLOW,
                 .node = (guint)rng_below (rng, 4),
                 .at_us = plan->main_us + run_us / 4 + rng_below (rng, run_us / 4 + 1) };
  plan->faults[1]
      = (Fault){ .kind = rng_chance (rng, 60) ? FAULT_SUSPEND : FAULT_HEAD,
                 .count = 3,
                 .at_us = plan->faults[0].at_us + run_us / 4 + rng_below (rng, run_us / 4 + 1) };
  if (plan->faults[0].kind == FAULT_SLOW)
    plan->faults[0].for_us = run_us;
}

void
real_plan (guint64 seed, Plan *plan)
{
  static const guint64 delays[] = { 50, 200, 1000 };
  static const guint64 publishes[] = { 10000, 50000, 200000 };
  static const guint64 commits[] = { 100, 5000, 50000 };
  Rng own = { rng_mix (seed + 77) }, *rng = &own;

  *plan = (Plan){ .seed = seed,
                  .tree = draw_tree (rng),
                  .n_nodes = (guint)(rng_chance (rng, 90) ? rng_between (rng, 2, 4) : 1),
                  .seats = (guint)(rng_chance (rng, 80) ? rng_between (rng, 2, 3) : 1),
                  .stacks_extra = (guint)rng_below (rng, 5),
                  .late_mail = rng_chance (rng, 40),
                  .slow_node = rng_chance (rng, 20),
                  .swaps = TRUE,
                  .checkpoint = rng_chance (rng, 80),
                  .save_us = 5000, /* The protocol waits longer between scans. */
                  .publish_us = rng_one_of (rng, publishes, G_N_ELEMENTS (publishes)),
                  .commit_us = rng_one_of (rng, commits, G_N_ELEMENTS (commits)),
                  .even_delays = rng_chance (rng, 30),
                  .old_ports = rng_chance (rng, 30),
                  .sudden = rng_chance (rng, 50),
                  .large = rng_chance (rng, 30) ? 1 + (guint)rng_below (rng, 30) : 0,
                  .delay_us = rng_one_of (rng, delays, G_N_ELEMENTS (delays)),
                  .join_us = rng_chance (rng, 50) ? 0 : rng_below (rng, 20000),
                  .poll_us = REAL_POLL_US,
                  .tell_us = 20000 };
  plan->main_us = plan->join_us + (rng_chance (rng, 80) ? 20 * plan->delay_us : 0);
  plan->settle_us = rng_chance (rng, 80) ? 1 + rng_below (rng, 60 * plan->delay_us) : 0;
  if (rng_chance (rng, LEASE_PERCENT))
    draw_lease (rng, plan);
  else
    draw_faults (rng, plan);
  plan->patience_us = 16 * plan->tree->work_us + 120 * SIM_SECOND;
}
