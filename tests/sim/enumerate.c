/* SPDX-License-Identifier: BSD-3-Clause */
/* See enumerate.h. */
#include "config.h"

#include "enumerate.h"

#include "swarm.h"

#include <string.h>

typedef struct
{
  Plan plan;
  guint64 deliveries; /* Deliveries in the last run. */
  void (*before) (const Plan *plan);
  EnumerateResult *result;
} Work;

static gboolean
try (Work *work)
{
  Outcome outcome;

  if (work->before != NULL)
    work->before (&work->plan);
  sim_run (&work->plan, SIM_NOTHING, &outcome);
  work->result->runs++;
  work->result->steps += outcome.steps;
  work->deliveries = outcome.deliveries;
  if (outcome.failure[0] == '\0')
    return TRUE;
  work->result->failed = TRUE;
  work->result->plan = work->plan;
  memcpy (work->result->failure, outcome.failure, sizeof outcome.failure);
  return FALSE;
}

static gboolean
try_seconds (Work *work, const Enumeration *what, guint64 first)
{
  guint64 last = work->deliveries;

  for (guint64 second = first + work->result->runs % what->stride; second <= last;
       second += what->stride)
    for (guint node = 0; node + 1 < what->n_nodes; node++)
      {
        work->plan.n_faults = 1;
        swarm_add_fault (&work->plan, what->second, node, second);
        if (!try (work))
          return FALSE;
      }
  return TRUE;
}

void
enumerate_make_lasting (Plan *plan)
{
  const Tree *tree = plan->tree;
  TreeShape shape = { .seed = tree->n,
                      .n = tree->n,
                      .balanced = TRUE,
                      .phased = tree->jobs[0].n_phases > 1,
                      .aborts = plan->aborts,
                      .cost_max_us = plan->buddies ? 40000 : 200000 };

  tree_free ((Tree *)tree);
  plan->tree = tree_new (&shape);
  plan->lasting = plan->even_delays = TRUE;
  plan->tell_us = 20000;
  plan->publish_us = 50000;
  plan->copy_us = 5000;
  plan->patience_us = 60 * SIM_SECOND;
}

void
enumerate_all (const Enumeration *what, guint every, void (*before) (const Plan *plan),
               EnumerateResult *result)
{
  Work work = { .before = before, .result = result };
  gboolean well;

  *result = (EnumerateResult){ 0 };
  swarm_fixed_plan (what->n_jobs, what->n_nodes, what->checkpoint, what->phased, what->aborts,
                    &work.plan);
  work.plan.buddies = what->buddies;
  if (what->lasting)
    enumerate_make_lasting (&work.plan);
  well = try (&work);
  guint64 last = work.deliveries, n = 0;
  for (guint64 first = 1; well && first <= last; first++)
    for (guint node = 0; well && node < what->n_nodes; node++)
      {
        if (n++ % every != 0)
          continue;
        work.plan.n_faults = 0;
        swarm_add_fault (&work.plan, what->first, node, first);
        well = try (&work);
        if (well && what->depth == ENUMERATE_PAIRS)
          well = try_seconds (&work, what, first);
      }
  tree_free ((Tree *)work.plan.tree);
}
