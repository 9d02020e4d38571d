/* SPDX-License-Identifier: BSD-3-Clause */
/* Where nothing goes wrong nobody waits for a time limit, and nothing takes longer than what it
 * waits for (README lists the numbers). Looks, never acts. */
#include "config.h"

#include "sim-private.h"

#define LARGE_DELAYS 20 /* links.c: a large message takes so much longer */
#define SLOW_DELAYS 6   /* … and another one at most so long */
#define STEP_US 400     /* until mail is read */
#define REDIAL_US \
  20000                 /* alive.h: a member that had not heard that it was one is dialled again \
                         */
#define HOPS 10         /* the longest conversation that is waited for */
#define OPENING_US 3000 /* until a scribe has taken over */

gboolean
check_has_only (const Sim *sim, guint32 kinds)
{
  for (guint i = 0; i < sim->plan->n_faults; i++)
    if (!(kinds & (1u << sim->plan->faults[i].kind)))
      return FALSE;
  return sim->plan->unable == 0 && sim->plan->elsewhere == 0 && !sim->plan->swings;
}

/* The longest that a node computes between two looks at what it is asked for. */
static guint64
longest_us (const Sim *sim)
{
  const Tree *tree = sim->plan->tree;
  guint32 longest_us = 0;

  for (guint32 i = 0; i < tree->n; i++)
    for (guint32 phase = 0; phase <= tree->jobs[i].n_phases; phase++)
      longest_us = MAX (longest_us, tree->jobs[i].cost_us[phase]);
  return (guint64)longest_us * (sim->plan->slow_node ? SIM_SLOW_FACTOR : 1);
}

/* Nothing goes wrong. */
static gboolean
is_undisturbed (const Sim *sim)
{
  static const guint32 kinds
      = 1u << FAULT_JOIN | 1u << FAULT_SAVE | 1u << FAULT_SUSPEND | 1u << FAULT_LEAVE;

  for (guint i = 0; i < sim->plan->n_faults; i++)
    if (sim->plan->faults[i].kind == FAULT_LEAVE && sim->plan->faults[i].for_us > 0)
      return FALSE; /* people wait less */
  return check_has_only (sim, kinds) && sim->plan->n_sites == 0 && !sim->left_early;
}

/* ---- no limit ends a wait ---- */

void
check_expired (Sim *sim, const Process *process, const NodeStats *stats)
{
  const Plan *plan = sim->plan;

  if (stats->expired > 0 && is_undisturbed (sim)
      && longest_us (sim) + plan->scan_us + 2 * plan->commit_us
                 + 100 * (plan->delay_us + plan->wan_us)
             < 2 * SIM_SECOND) /* else it may take nearly as long as a limit */
    sim_fail (sim, "I24: at p%u a time limit ended %" G_GUINT64_FORMAT " waits, and nothing failed",
              process->number, stats->expired);
}

/* ---- nothing takes longer than what it waits for ---- */

/* A message, and what it causes at the other end. */
static guint64
hop_us (const Sim *sim)
{
  const Plan *plan = sim->plan;

  return (SLOW_DELAYS + (plan->large > 0 ? LARGE_DELAYS : 0)) * plan->delay_us + plan->wan_us
         + STEP_US;
}

/* Until the job that runs, and the engine, have come to look. */
static guint64
look_us (const Sim *sim)
{
  return longest_us (sim) + sim->plan->scan_us;
}

static gboolean
has_leaves (const Sim *sim)
{
  for (guint i = 0; i < sim->plan->n_faults; i++)
    if (sim->plan->faults[i].kind == FAULT_LEAVE)
      return TRUE;
  return FALSE;
}

static void
check_time (Sim *sim, const Process *process, const char *what, guint64 since_us, guint64 most_us)
{
  if (sim->now_us > since_us + most_us)
    sim_fail (sim,
              "I25: p%u waits for %s for %" G_GUINT64_FORMAT " us, not at most %" G_GUINT64_FORMAT,
              process->number, what, sim->now_us - since_us, most_us);
}

void
check_times (Sim *sim, const Process *process)
{
  guint64 look = look_us (sim), hops = HOPS * hop_us (sim) + REDIAL_US;
  guint64 publish = sim->plan->commit_us + OPENING_US; /* one may be under way */
  guint64 round = 2 * look /* a job ends; the stack with its slot runs one that has just begun */
                  + (has_leaves (sim) ? look : 0) /* a member that leaves has all scan again */
                  + 2 * publish + hops;
  guint64 epoch = sim->plan->buddies == SIM_CUT ? round : 0; /* one may be open */

  if (!process->member || !is_undisturbed (sim))
    return;
  if (sim->closing_us > 0) /* whoever leaves stays until then */
    check_time (sim, process, "the end of the run", MAX (sim->closing_us, sim->lease_us),
                look + 3 * publish + hops); /* … and a round's */
  else if (process->leaves)
    check_time (sim, process, "its leave", process->leave_us, look + hops + epoch);
  else if (sim->asked_us > 0 && process->number == sim->asker && sim->plan->checkpoint)
    check_time (sim, process, "a round of saving", MAX (sim->asked_us, sim->lease_us),
                round + epoch);
}
