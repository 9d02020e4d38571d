/* SPDX-License-Identifier: BSD-3-Clause */
/* See enumerate.h. */
#include "config.h"

#include "enumerate.h"

#include "swarm.h"

#include <string.h>

/* The runs in which a fault strikes at one message. The node of a fault means the living process
 * with that number modulo their number; some faults strike the same process whatever their node is.
 * So the runs of several nodes may be one run, which is made once. */
typedef struct
{
  guint n_victims; /* How many different victims there are; 0: not known yet. */
  guint32 tried;   /* A bit for each victim. */
} Strike;

typedef struct
{
  Plan plan;
  Strike first;
  guint64 lasts[SIM_NODES_MAX]; /* The deliveries after that, by victim. */
  GArray *seconds;              /* Of Strike, by message and by the victim of the first fault. */
  void (*before) (const Plan *plan);
  EnumerateResult *result;
} Work;

/* Runs the plan, whose last fault is `strike` at `node`. `lasts`: the deliveries, by the victim of
 * that fault. FALSE: it failed. */
static gboolean
try (Work *work, Strike *strike, guint node, guint64 *lasts)
{
  Outcome outcome;

  work->result->runs++;
  if (strike->n_victims > 0 && (strike->tried >> node % strike->n_victims & 1))
    return TRUE;
  if (work->before != NULL)
    work->before (&work->plan);
  sim_run (&work->plan, SIM_NOTHING, &outcome);
  work->result->steps += outcome.steps;
  strike->n_victims = MAX (outcome.n_victims, 1);
  strike->tried |= 1u << node % strike->n_victims;
  lasts[node % strike->n_victims] = outcome.deliveries;
  if (outcome.failure[0] == '\0')
    return TRUE;
  work->result->failed = TRUE;
  work->result->plan = work->plan;
  memcpy (work->result->failure, outcome.failure, sizeof outcome.failure);
  return FALSE;
}

static gboolean
try_seconds (Work *work, const Enumeration *what, guint64 first, guint victim)
{
  guint64 last = work->lasts[victim], lasts[SIM_NODES_MAX];

  if (work->seconds->len < (last + 1) * what->n_nodes)
    g_array_set_size (work->seconds, (guint)(last + 1) * what->n_nodes);
  for (guint64 second = first + work->result->runs % what->stride; second <= last;
       second += what->stride)
    for (guint node = 0; node + 1 < what->n_nodes; node++)
      {
        Strike *strike = &g_array_index (work->seconds, Strike, second * what->n_nodes + victim);
        work->plan.n_faults = 1;
        swarm_add_fault (&work->plan, what->second, node, second);
        if (!try (work, strike, node, lasts))
          return FALSE;
      }
  return TRUE;
}

/* Tries each node at message `first`, or one of `every` nodes. `n`: how many before. */
static gboolean
try_first (Work *work, const Enumeration *what, guint64 first, guint every, guint64 *n)
{
  work->first = (Strike){ 0 };
  g_array_set_size (work->seconds, 0);
  for (guint node = 0; node < what->n_nodes; node++)
    {
      if ((*n)++ % every != 0)
        continue;
      work->plan.n_faults = 0;
      swarm_add_fault (&work->plan, what->first, node, first);
      if (!try (work, &work->first, node, work->lasts))
        return FALSE;
      guint victim = node % work->first.n_victims;
      if (what->depth == ENUMERATE_PAIRS && !try_seconds (work, what, first, victim))
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
  Strike none = { 0 };
  guint64 n = 0;

  *result = (EnumerateResult){ 0 };
  work.seconds = g_array_new (FALSE, TRUE, sizeof (Strike));
  swarm_fixed_plan (what->n_jobs, what->n_nodes, what->checkpoint, what->phased, what->aborts,
                    &work.plan);
  work.plan.buddies = what->buddies;
  if (what->lasting)
    enumerate_make_lasting (&work.plan);
  gboolean well = try (&work, &none, 0, work.lasts);
  guint64 last = work.lasts[0];
  for (guint64 first = 1; well && first <= last; first++)
    well = try_first (&work, what, first, every, &n);
  g_array_unref (work.seconds);
  tree_free ((Tree *)work.plan.tree);
}
