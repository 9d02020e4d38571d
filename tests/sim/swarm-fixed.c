/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans for one purpose each (see swarm.h). */
#include "config.h"

#include "swarm.h"

void
swarm_row_of_sites (Plan *plan, guint n)
{
  plan->n_sites = n;
  plan->far_hosts = TRUE;
  for (guint a = 0; a < n; a++)
    for (guint b = 0; b < n; b++)
      plan->ways[a][b] = a > b + 1 || b > a + 1 ? WAY_DROPS : WAY_OPEN;
}

void
swarm_fixed_plan (guint n_jobs, guint n_nodes, gboolean checkpoint, gboolean phased, guint aborts,
                  Plan *plan)
{
  TreeShape shape = { .seed = n_jobs,
                      .n = n_jobs,
                      .balanced = TRUE,
                      .phased = phased,
                      .aborts = aborts,
                      .shares = phased ? 40 : 0,
                      .cost_max_us = 5000 };

  *plan = (Plan){ .seed = n_jobs,
                  .tree = tree_new (&shape),
                  .aborts = aborts,
                  .n_nodes = n_nodes,
                  .seats = 1,
                  .stacks_extra = 2,
                  .checkpoint = checkpoint,
                  .delay_us = 300,
                  .drowsy_us = 900,
                  .save_us = 2000,
                  .copy_us = 2000,
                  .publish_us = 3000,
                  .settle_us = 4000,
                  .commit_us = 1000,
                  .swaps = TRUE,
                  .tell_us = 2000,
                  .patience_us = SIM_SECOND };
}

void
swarm_lease_plan (guint64 seed, guint n_nodes, Plan *plan)
{
  TreeShape shape = { .seed = seed, .n = TREE_JOBS_MAX, .cost_max_us = 400000 };

  *plan = (Plan){ .seed = seed,
                  .tree = tree_new (&shape),
                  .n_nodes = n_nodes,
                  .seats = 1,
                  .stacks_extra = 2,
                  .checkpoint = TRUE,
                  .delay_us = 300,
                  .join_us = SIM_SECOND / 10,
                  .settle_us = SIM_SECOND / 20,
                  .commit_us = SIM_SECOND / 2,
                  .fast = 1 + (guint)(rng_mix (seed) % n_nodes),
                  .save_us = SIM_SECOND / 10,
                  .publish_us = SIM_SECOND / 10,
                  .tell_us = SIM_SECOND / 10,
                  .patience_us = 120 * SIM_SECOND };
}

void
swarm_sites_plan (guint64 seed, guint per_site, gboolean one_way, gboolean open, Plan *plan)
{
  TreeShape shape
      = { .seed = seed, .n = TREE_JOBS_MAX, .balanced = TRUE, .cost_max_us = SIM_SECOND };
  Way way = seed % 2 == 0 ? WAY_REFUSES : WAY_DROPS;

  *plan = (Plan){ .seed = seed,
                  .tree = tree_new (&shape),
                  .n_nodes = 3 * per_site,
                  .seats = 1,
                  .stacks_extra = 2,
                  .far_hosts = TRUE,
                  .n_sites = 3,
                  .delay_us = 5000,
                  .join_us = SIM_SECOND / 10,
                  .save_us = SIM_SECOND,
                  .publish_us = SIM_SECOND,
                  .tell_us = SIM_SECOND / 10,
                  .patience_us = 120 * SIM_SECOND };
  for (guint a = 0; a < 3 && !open; a++)
    for (guint b = 0; b < 3; b++)
      if (a != b && b != 0 && !(one_way && a == 2 && b == 1))
        plan->ways[a][b] = way;
}

void
swarm_add_fault (Plan *plan, FaultKind kind, guint node, guint64 message)
{
  g_assert (plan->n_faults < SIM_FAULTS_MAX);
  plan->faults[plan->n_faults++] = (Fault){
    .kind = kind, .node = node, .count = 2, .at_message = message, .for_us = 10 * plan->delay_us
  };
  if (kind == FAULT_TOTAL || kind == FAULT_SUSPEND || kind == FAULT_LEAVE)
    plan->even_delays = TRUE;
  if (kind == FAULT_LEAVE)
    plan->faults[plan->n_faults - 1].for_us = 0;
  if (kind == FAULT_HALF)
    {
      plan->heartbeat_us = SIM_SECOND / 50;
      plan->silence_us = 6 * plan->heartbeat_us;
    }
  if (kind == FAULT_VANISH)
    plan->patience_us = 60 * SIM_SECOND; /* Silence is only believed after 28 s. */
}

void
swarm_split_plan (guint64 seed, guint n_sites, guint64 wall_us, gboolean checkpoint, Plan *plan)
{
  guint n_nodes = 2 * n_sites;
  /* A node's share of the work takes three times as long as the wall lasts. */
  guint64 cost_us = 6 * n_nodes * (wall_us + 200 * SIM_SECOND) / TREE_JOBS_MAX;
  TreeShape shape = { .seed = seed,
                      .n = TREE_JOBS_MAX,
                      .balanced = TRUE,
                      .cost_max_us = (guint32)MIN (cost_us, G_MAXUINT32) };

  *plan = (Plan){ .seed = seed,
                  .tree = tree_new (&shape),
                  .n_nodes = n_nodes,
                  .seats = 1,
                  .stacks_extra = 2,
                  .checkpoint = checkpoint,
                  .swaps = TRUE,
                  .delay_us = 5000,
                  .join_us = SIM_SECOND / 10,
                  .save_us = 10 * SIM_SECOND,
                  .publish_us = 10 * SIM_SECOND,
                  .tell_us = 5 * SIM_SECOND,
                  .n_faults = 1 };
  plan->patience_us = 16 * plan->tree->work_us + 120 * SIM_SECOND;
  swarm_row_of_sites (plan, n_sites);
  plan->faults[0] = (Fault){ .kind = FAULT_WALL,
                             .node = (guint)(seed % (n_sites - 1)),
                             .count = n_sites - 1, /* The next site. */
                             .at_us = plan->tree->work_us / n_nodes / 3,
                             .for_us = wall_us };
  plan->united_us = swarm_united_after_us (plan);
}

void
swarm_heavy_plan (guint64 seed, Plan *plan)
{
  TreeShape shape = { .seed = seed, .n = TREE_JOBS_MAX, .cost_max_us = SIM_SECOND };

  *plan = (Plan){ .seed = seed,
                  .tree = tree_new (&shape),
                  .n_nodes = 10,
                  .seats = 2,
                  .stacks_extra = 2,
                  .heavy = TRUE,
                  .delay_us = 1000,
                  .save_us = SIM_SECOND,
                  .publish_us = SIM_SECOND,
                  .tell_us = SIM_SECOND / 5,
                  .n_faults = 1 };
  plan->patience_us = 16 * plan->tree->work_us + 120 * SIM_SECOND;
  plan->faults[0] = (Fault){ .kind = FAULT_POISON, .count = 1 + (guint)(rng_mix (seed) % 30) };
}
