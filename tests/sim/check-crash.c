/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks what a crash may destroy: jobs that are safe when one process crashes are never executed
 * again, and keepers have the rows that they confirmed (I18, I27, I28, I30). Checks change nothing.
 */
#include "config.h"

#include "sim-private.h"

#define COPY_DELAYS 20
/* A copy of a result arrives just after a scan has begun and is removed by the next scan. */
#define TRIMMED_SCANS 2
/* The time in delays after which a message has come, also over a new link. */
#define DROP_DELAYS 100
/* Scans after which a result has been acknowledged: one may be under way when it arrives. */
#define OWED_SCANS 3
/* The time until a member that crashed is missed, and another one is chosen in its place. */
#define OWED_SECONDS 2
/* Looking for all results costs time, so it is not done after every step. */
#define OWED_EVERY 32

/* TRUE: the plan has one crash and no other fault, and messages arrive in the order in which they
 * were sent. */
gboolean
check_one_crash (const Sim *sim)
{
  const Plan *plan = sim->plan;
  FaultKind kind = plan->faults[0].kind;

  return plan->n_faults == 1 && (kind == FAULT_CRASH || kind == FAULT_HEAD || kind == FAULT_VANISH)
         && plan->even_delays && !plan->swings && plan->large == 0;
}

static gboolean
is_covered_by_file (const Sim *sim)
{
  const Plan *plan = sim->plan;

  return plan->checkpoint && plan->unable == 0 && plan->elsewhere == 0
         && (plan->swaps || sim->outcome->races == 0);
}

/* The time from the end of a job until its row is in two places: a scan begins, each stack serves
 * it at its next sync, the rows are sent and confirmed. */
static guint64
copied_after_us (const Sim *sim)
{
  const Plan *plan = sim->plan;

  return plan->copy_us + plan->tree->longest_us + plan->scan_us
         + COPY_DELAYS * (plan->delay_us + plan->wan_us);
}

static void
cover_by_buddies (Sim *sim)
{
  guint64 after_us = copied_after_us (sim);

  if (sim->n_members < 2 || sim->now_us < sim->outcome->figures.joined_us + after_us)
    return;
  for (guint32 i = 0; i < sim->plan->tree->n; i++)
    if (sim->finished_us[i] > 0 && sim->now_us > sim->finished_us[i] + after_us)
      sim->safe[i] = TRUE;
}

void
check_kept (Sim *sim, Process *process)
{
  NodeId keeper = node_keeper (process->node);

  for (guint i = 0; sim->plan->buddies >= SIM_RING && i < sim->n_processes; i++)
    {
      Process *other = sim->processes[i];
      NodeId id = other->alive ? node_self (other->node) : NODE_ID_NONE;
      if (!other->alive || node_id_is_none (&id) || !node_id_equal (&id, &keeper))
        continue;
      const char *path = node_not_kept (process->node, other->node);
      if (path != NULL)
        sim_fail (sim, "I27: p%u takes it that p%u keeps its result of '%s', which it does not",
                  process->number, other->number, path);
    }
}

/* I30: a keeper forgets rows of a member that has another keeper now. */
void
check_dropped (Sim *sim, Process *process)
{
  static const guint32 kinds = 1u << FAULT_JOIN | 1u << FAULT_LEAVE | 1u << FAULT_SAVE
                               | 1u << FAULT_CRASH | 1u << FAULT_RESET;

  for (guint i = 0; sim->plan->buddies && check_has_only (sim, kinds) && i < sim->n_processes; i++)
    {
      Process *ward = sim->processes[i];
      guint64 *since_us = &process->vain_us[i];
      if (!ward->alive || !ward->member || !node_keeps_in_vain (process->node, ward->node))
        *since_us = 0;
      else if (*since_us == 0)
        *since_us = MAX (sim->now_us, 1);
      else if (sim->now_us > *since_us + SIM_SECOND + DROP_DELAYS * sim->plan->delay_us)
        sim_fail (sim, "I30: p%u has had rows of p%u for %" G_GUINT64_FORMAT " us in vain",
                  process->number, i, sim->now_us - *since_us);
    }
}

/* I31: a lender that has a result acknowledges it, and its holder drops it then. */
void
check_owed (Sim *sim, Process *process)
{
  static const guint32 kinds = 1u << FAULT_JOIN | 1u << FAULT_SAVE | 1u << FAULT_RESET
                               | 1u << FAULT_CRASH | 1u << FAULT_LEAVE;
  const Plan *plan = sim->plan;

  if (sim->outcome->steps % OWED_EVERY != 0 || !check_has_only (sim, kinds)
      || plan->buddies == SIM_CUT || plan->verify > 0 || sim->closing)
    return;
  guint64 most_us = OWED_SCANS * copied_after_us (sim) * (plan->slow_node ? SIM_SLOW_FACTOR : 1)
                    + NODE_HOLDBACK_US + OWED_SECONDS * SIM_SECOND + DROP_DELAYS * plan->delay_us;
  for (guint32 i = 0; i < plan->tree->n; i++)
    {
      guint64 *since_us = &process->owed_us[i];
      if (!node_owes_lender (process->node, plan->tree->jobs[i].path))
        *since_us = 0;
      else if (*since_us == 0)
        *since_us = MAX (sim->now_us, 1);
      else if (sim->now_us > *since_us + most_us)
        sim_fail (sim, "I31: p%u still has the result of '%s' after %" G_GUINT64_FORMAT " us",
                  process->number, plan->tree->jobs[i].path, sim->now_us - *since_us);
    }
}

/* I28: a copy of a result is removed when the lender's scan has trimmed it. */
void
check_trimmed (Sim *sim, const Process *process)
{
  guint64 came_us = node_oldest_copy_us (process->node);

  if (came_us == 0 || sim->last_fault_us > 0 || !sim->plan->even_delays || sim->plan->swings
      || sim->plan->large > 0 || sim->plan->copy_us == 0 || sim->plan->verify > 0
      || sim->now_us < sim->outcome->figures.joined_us + copied_after_us (sim))
    return;
  guint64 scan_us = copied_after_us (sim) * (sim->plan->slow_node ? SIM_SLOW_FACTOR : 1);
  if (sim->now_us > came_us + TRIMMED_SCANS * scan_us)
    sim_fail (sim, "I28: p%u has had a copy of a result for %" G_GUINT64_FORMAT " us",
              process->number, sim->now_us - came_us);
}

void
check_crash (Sim *sim)
{
  if (!check_one_crash (sim))
    return;
  if (is_covered_by_file (sim))
    store_cover_all (&sim->published, sim->safe);
  if (sim->plan->buddies && sim->plan->buddies != SIM_CUT && sim->plan->copy_us > 0)
    cover_by_buddies (sim);
}
