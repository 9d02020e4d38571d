/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of time: if nothing goes wrong, no wait ends by a time limit, and nothing takes longer
 * than the steps that it waits for (README lists the numbers). Checks change nothing. */
#include "config.h"

#include "sim-private.h"

#define LARGE_DELAYS 20 /* links.c: a large message takes up to this many delays more. */
#define SLOW_DELAYS 6   /* Any other message takes at most this many delays. */
#define STEP_US 400     /* The time until a mailbox is read. */
#define REDIAL_US 20000 /* alive.h: the interval at which a new member is dialled again. */
#define HOPS 10         /* Messages of the longest conversation that a wait may need. */
#define OPENING_US 3000 /* The time that a scribe needs to take over. */

gboolean
check_has_only (const Sim *sim, guint32 kinds)
{
  for (guint i = 0; i < sim->plan->n_faults; i++)
    if (!(kinds & (1u << sim->plan->faults[i].kind)))
      return FALSE;
  return sim->plan->unable == 0 && sim->plan->elsewhere == 0 && !sim->plan->swings;
}

/* The longest time that a node computes before it looks for requests. */
static guint64
longest_us (const Sim *sim)
{
  return sim->plan->tree->longest_us * (sim->plan->slow_node ? SIM_SLOW_FACTOR : 1);
}

/* TRUE: nothing goes wrong in this plan. */
static gboolean
is_undisturbed (const Sim *sim)
{
  static const guint32 kinds
      = 1u << FAULT_JOIN | 1u << FAULT_SAVE | 1u << FAULT_SUSPEND | 1u << FAULT_LEAVE;

  for (guint i = 0; i < sim->plan->n_faults; i++)
    if (sim->plan->faults[i].kind == FAULT_LEAVE && sim->plan->faults[i].for_us > 0)
      return FALSE; /* The user gave the leave a shorter limit. */
  return check_has_only (sim, kinds) && sim->plan->n_sites == 0 && !sim->left_early;
}

/* ---- no time limit ends a wait ---- */

void
check_expired (Sim *sim, const Process *process, const NodeStats *stats)
{
  const Plan *plan = sim->plan;

  if (stats->expired > 0 && is_undisturbed (sim)
      && longest_us (sim) + plan->scan_us + 2 * plan->commit_us
                 + 100 * (plan->delay_us + plan->wan_us)
             < 2 * SIM_SECOND) /* Otherwise the scan may take nearly as long as a time limit. */
    sim_fail (sim, "I24: at p%u a time limit ended %" G_GUINT64_FORMAT " waits, and nothing failed",
              process->number, stats->expired);
}

/* ---- nothing takes longer than the steps that it waits for ---- */

/* The time for a message and its effect at the receiver. */
static guint64
hop_us (const Sim *sim)
{
  const Plan *plan = sim->plan;

  return (SLOW_DELAYS + (plan->large > 0 ? LARGE_DELAYS : 0)) * plan->delay_us + plan->wan_us
         + STEP_US;
}

/* The time until both the running job and the engine have looked for requests. */
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
  if (!process->member || !is_undisturbed (sim))
    return;
  guint64 look = look_us (sim), hops = HOPS * hop_us (sim) + REDIAL_US;
  guint64 publish = sim->plan->commit_us + OPENING_US; /* A publication may be under way. */
  guint64 round = 2 * look                        /* A job ends, then its seat runs a new one. */
                  + (has_leaves (sim) ? look : 0) /* All scan again for a leaver. */
                  + 2 * publish + hops;
  guint64 epoch = sim->plan->buddies == SIM_CUT ? round : 0; /* An epoch may be open. */

  if (sim->closing_us > 0) /* Until then a leaver stays. */
    check_time (sim, process, "the end of the run", MAX (sim->closing_us, sim->lease_us),
                look + 3 * publish + hops); /* … and the time of a round. */
  else if (process->leaves)
    check_time (sim, process, "its leave", process->leave_us, look + hops + epoch);
  else if (sim->asked_us > 0 && process->number == sim->asker && sim->plan->checkpoint)
    check_time (sim, process, "a round of saving", MAX (sim->asked_us, sim->lease_us),
                round + epoch);
}
