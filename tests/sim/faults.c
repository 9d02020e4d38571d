/* SPDX-License-Identifier: BSD-3-Clause */
/* Strikes the faults of a plan, and acts as the user of a run: starts processes, gives joiners an
 * address, and starts new processes when none is left that could go on. */
#include "config.h"

#include "sim-private.h"
#include "story.h"

#include <string.h>

/* A run that was lost or suspended is resumed after this time. */
#define RESUME_AFTER_US SIM_SECOND
#define LIVES_MAX 6

guint
sim_n_alive (const Sim *sim)
{
  guint n = 0;

  for (guint i = 0; i < sim->n_processes; i++)
    n += sim->processes[i]->alive;
  return n;
}

gboolean
sim_lives (const Sim *sim)
{
  for (guint i = sim->n_processes; i > 0; i--)
    if (sim->processes[i - 1]->alive)
      return TRUE;
  return FALSE;
}

static gboolean
has_members (const Sim *sim)
{
  return sim->n_members > 0;
}

static void
put_off (Sim *sim, guint64 until_us)
{
  sim->looked_united = sim->looked_united && until_us <= sim->last_fault_us;
  sim->last_fault_us = MAX (sim->last_fault_us, until_us);
  sim->deadline_us = MAX (sim->deadline_us, sim->last_fault_us + sim->plan->patience_us);
}

void
faults_schedule (Sim *sim)
{
  for (guint i = 0; i < sim->plan->n_faults; i++)
    {
      const Fault *fault = &sim->plan->faults[i];
      if (fault->kind == FAULT_POISON)
        {
          sim->poison = 1 + fault->count % sim->plan->tree->n;
          continue;
        }
      if (fault->at_message == 0 && sim->story == NULL)
        sim_expect (sim, fault->at_us, HAPPEN_FAULT, 0)->number = i;
      put_off (sim, fault->at_us + fault->for_us);
    }
}

void
faults_before (Sim *sim, const Happen *happen)
{
  if (happen->kind != HAPPEN_MESSAGE || sim->story != NULL)
    return;
  for (guint i = sim->next_message_fault; i < sim->plan->n_faults; i++)
    {
      const Fault *fault = &sim->plan->faults[i];
      if (fault->at_message > sim->outcome->deliveries + 1)
        break;
      sim->next_message_fault++;
      if (fault->at_message != 0)
        faults_strike (sim, fault);
    }
}

void
faults_start_process (Sim *sim, gboolean founder, gboolean late)
{
  NodeEvent event = { .kind = NODE_EVENT_TIMER };

  if (sim->n_processes == SIM_NODES_MAX)
    return;
  gboolean stranger
      = late && sim->plan->closed && rng_chance (&sim->world_rng, sim->plan->strangers);
  Process *process = process_start (sim, founder, stranger);
  sim->founded = sim->founded || founder;
  sim_say (sim, "p%u starts%s", process->number,
           founder    ? ", founder"
           : stranger ? ", a stranger"
                      : "");
  story_started (sim, process);
  sim_step (sim, process, &event);
  if (!founder)
    sim_expect (sim, sim->now_us + sim->plan->delay_us, HAPPEN_JOIN, process->number);
}

void
faults_start_life (Sim *sim, guint n)
{
  const Plan *plan = sim->plan;

  sim->outcome->lives++;
  sim->n_codes = 0;
  sim->n_poisoned = sim->n_words = 0;
  sim->outlived = 0;
  sim->unsaved = FALSE;
  sim->founded = sim->closing = FALSE;
  sim->asked_us = sim->closing_us = sim->lease_us = 0;
  sim->n_deaths = 0;
  sim->begun_at = sim->published.generation;
  sim->n_causes = 1;
  sim->calm = plan->even_delays && !plan->large && sim->now_us >= sim->last_fault_us
              && sim->next_message_fault == plan->n_faults && sim->poison == 0;
  for (guint32 i = 0; i < plan->tree->n; i++)
    {
      sim->restored[i] = plan->checkpoint && store_covers (&sim->published, i);
      sim->finished[i] = 0;
      sim->finished_by[i] = 0;
      sim->handed[i] = FALSE;
      sim->forgotten_us[i] = 0;
    }
  put_off (sim, sim->now_us);
  sim_expect (sim, sim->now_us, HAPPEN_START, SIM_NODES_MAX)->flag = TRUE;
  for (guint i = 1; i < n && !plan->solo; i++)
    sim_expect (sim, sim->now_us + rng_below (&sim->world_rng, plan->join_us + 1), HAPPEN_START,
                SIM_NODES_MAX);
}

static Process *
victim_of (Sim *sim, const Fault *fault)
{
  guint n = sim_n_alive (sim), k;

  if (n == 0)
    return NULL;
  k = fault->node % n;
  for (guint i = 0; i < sim->n_processes; i++)
    if (sim->processes[i]->alive && k-- == 0)
      return sim->processes[i];
  return NULL;
}

static void
resume_with (Sim *sim, guint n)
{
  for (guint i = 0; i < sim->n_processes; i++)
    process_end (sim, sim->processes[i], FAULT_CRASH);
  if (sim->resuming)
    return;
  sim->lives_left = sim->outcome->lives < LIVES_MAX && sim->n_processes + n <= SIM_NODES_MAX;
  if (!sim->lives_left)
    return;
  sim->resuming = TRUE;
  put_off (sim, sim->now_us + RESUME_AFTER_US);
  sim_expect (sim, sim->now_us + RESUME_AFTER_US, HAPPEN_RESUME, SIM_NODES_MAX)->number = n;
}

static void
part (Sim *sim, const Fault *fault, const Process *process)
{
  Fault another = *fault;

  another.node = fault->node + fault->count;
  const Process *other = victim_of (sim, &another);
  sim->apart_us[process->number][other->number] = sim->now_us + fault->for_us;
  if (!sim->plan->one_way)
    sim->apart_us[other->number][process->number] = sim->now_us + fault->for_us;
}

static void
wall_off (Sim *sim, const Fault *fault, const Process *process)
{
  guint site = links_site (sim, process);

  if (sim->plan->n_sites > 1)
    links_wall (sim, site,
                (site + fault->count % (sim->plan->n_sites - 1) + 1) % sim->plan->n_sites,
                sim->now_us + fault->for_us);
}

static void
save_now (Sim *sim, Process *process)
{
  NodeEvent event = { .kind = NODE_EVENT_SAVE, .number = 10 * SIM_SECOND };

  if (!process->member || sim->outcome->answered
      || (sim->asked && sim->processes[sim->asker]->alive))
    return;
  sim->asked = TRUE;
  sim->asker = process->number;
  sim->asked_us = sim->now_us;
  memcpy (sim->wanted, sim->finished, sizeof sim->wanted);
  sim_step (sim, process, &event);
}

/* (nullable) The process that counts as coordinator where there is a master. */
static Process *
head (Sim *sim)
{
  for (guint i = 0; i < sim->n_processes; i++)
    if (sim->processes[i]->alive && sim->processes[i]->scribe.work != NULL
        && !sim->processes[i]->scribe.retiring)
      return sim->processes[i];
  return NULL;
}

void
faults_suspend (Sim *sim, Process *process, guint count)
{
  NodeEvent event = { .kind = NODE_EVENT_SUSPEND };

  if (!process->member || sim->outcome->answered)
    return;
  sim->suspended = sim->closing = TRUE;
  sim->suspended_us = sim->closing_us = sim->now_us;
  sim->resume_count = MAX (count, 1);
  sim_step (sim, process, &event);
}

static void
leave (Sim *sim, const Fault *fault, Process *process)
{
  NodeEvent event = { .kind = NODE_EVENT_LEAVE, .number = fault->for_us };

  process->leaves = TRUE;
  process->leave_us = sim->now_us;
  process->by_signal = fault->count % 2 == 0;
  sim_step (sim, process, &event);
}

static void
crash_every (Sim *sim, const Fault *fault)
{
  for (guint i = 0; i < sim->n_processes; i++)
    if (i % fault->every - fault->node < fault->count && sim->processes[i]->alive)
      {
        sim->n_victims++;
        process_end (sim, sim->processes[i], fault->kind);
      }
}

static void
crash_all (Sim *sim, const Fault *fault)
{
  for (guint i = 0; i < sim->n_processes; i++)
    process_end (sim, sim->processes[i], FAULT_CRASH);
  keeper_all_gone (sim);
  resume_with (sim, MAX (fault->count, 1));
}

/* How many different victims a fault of this kind can have now, each for another node. */
static guint
n_victims (const Sim *sim, FaultKind kind)
{
  return kind == FAULT_HEAD || kind == FAULT_TOTAL || kind == FAULT_JOIN ? 1 : sim_n_alive (sim);
}

void
faults_strike (Sim *sim, const Fault *fault)
{
  Process *process = victim_of (sim, fault);

  sim->outcome->n_victims = n_victims (sim, fault->kind);
  if (process != NULL && fault->kind == FAULT_HEAD)
    process = head (sim);
  if (process == NULL)
    return;
  sim_say (sim, "fault %d strikes p%u", fault->kind, process->number);
  put_off (sim, sim->now_us + fault->for_us);
  if (fault->kind == FAULT_CRASH || fault->kind == FAULT_HEAD || fault->kind == FAULT_VANISH)
    check_crash (sim);
  figures_struck (sim);
  if (fault->every > 0)
    {
      crash_every (sim, fault);
      return;
    }
  switch (fault->kind)
    {
    case FAULT_CRASH:
    case FAULT_VANISH:
      process_end (sim, process, fault->kind);
      break;
    case FAULT_HEAD:
      process_end (sim, process, FAULT_CRASH);
      break;
    case FAULT_SLOW:
      process->slow_us = sim->now_us + fault->for_us;
      break;
    case FAULT_PAUSE:
      process->paused_us = MAX (process->paused_us, sim->now_us + fault->for_us);
      break;
    case FAULT_CLOG:
      process->clogged_us = sim->now_us + fault->for_us;
      break;
    case FAULT_APART:
      part (sim, fault, process);
      break;
    case FAULT_HALF:
      links_half_open (sim, process);
      break;
    case FAULT_RESET:
      links_reset (sim, process);
      break;
    case FAULT_JOIN:
      if (!sim->plan->solo)
        sim_expect (sim, sim->now_us, HAPPEN_START, SIM_NODES_MAX)->number = TRUE;
      break;
    case FAULT_TOTAL:
      crash_all (sim, fault);
      break;
    case FAULT_SAVE:
      save_now (sim, process);
      break;
    case FAULT_SUSPEND:
      faults_suspend (sim, process, fault->count);
      break;
    case FAULT_WALL:
      wall_off (sim, fault, process);
      break;
    case FAULT_LEAVE:
      leave (sim, fault, process);
      break;
    default:
      g_assert_not_reached ();
    }
}

/* A process that the job ends may be unable to send its crash report, or the report may be lost
 * with it. */
void
faults_poison (Sim *sim, Process *process)
{
  guint32 taken = model_taken (process->model, sim->poison - 1);
  ModelStats stats;

  model_stats (process->model, &stats);
  if (taken == MODEL_NO_JOB || (sim->plan->heavy && stats.busy < 2))
    return;
  put_off (sim, sim->now_us);
  sim->n_poisoned++;
  sim->outcome->poisoned++;
  check_poisoned (sim);
  sim_say (sim, "p%u is ended by '%s'", process->number,
           sim->plan->tree->jobs[sim->poison - 1].path);
  if (!sim->plan->heavy && (!sim->plan->mute || rng_chance (&sim->world_rng, 70)))
    {
      sim->n_words++;
      check_crash_report (sim, process);
      sim_step (sim, process,
                &(NodeEvent){ .kind = NODE_EVENT_CRASH_REPORT,
                              .path = sim->plan->tree->jobs[taken].path,
                              .text = "poison" });
    }
  if (process->alive)
    process_end (sim, process, sim->plan->sudden ? FAULT_CRASH : FAULT_NONE);
}

void
faults_look_after (Sim *sim)
{
  if (sim->resuming || !sim->founded || has_members (sim))
    return;
  if (sim->outcome->answered || sim->outcome->condemned
      || (sim->suspended && !sim->plan->checkpoint && sim->n_codes > 0))
    {
      /* The run is over: late joiners find no member. */
      for (guint i = 0; i < sim->n_processes; i++)
        process_end (sim, sim->processes[i], FAULT_CRASH);
      return;
    }
  resume_with (sim, sim->suspended ? sim->resume_count : sim->plan->n_nodes);
}
