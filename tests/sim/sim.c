/* SPDX-License-Identifier: BSD-3-Clause */
/* Virtual time: handles the events of the agenda in order, and steps the Nodes with all that
 * follows from each event. Every step is part of the hash. */
#include "config.h"

#include "sim-private.h"

#include "story.h"
#include "trace.h"

#include <stdio.h>
#include <string.h>

/* More steps at one moment than this, and for each node, mean an endless loop. */
#define STEPS_AT_ONCE_MAX 5000
#define STEPS_AT_ONCE_OF_EACH 100

void
sim_fail (Sim *sim, const char *format, ...)
{
  va_list list;

  if (sim->outcome->failure[0] != '\0')
    return;
  va_start (list, format);
  g_vsnprintf (sim->outcome->failure, sizeof sim->outcome->failure, format, list);
  va_end (list);
  sim_say (sim, "FAILED: %s", sim->outcome->failure);
}

void
sim_say (Sim *sim, const char *format, ...)
{
  va_list list;

  if (sim->makes != SIM_LINE)
    return;
  printf ("# %11.6f ", (double)sim->now_us / SIM_SECOND);
  va_start (list, format);
  vprintf (format, list);
  va_end (list);
  printf ("\n");
}

Happen *
sim_expect (Sim *sim, guint64 at_us, HappenKind kind, guint node)
{
  Happen happen
      = { .at_us = MAX (at_us, sim->now_us), .order = sim->order++, .kind = kind, .node = node };

  return agenda_add (&sim->agenda, &happen);
}

static void
mix (Sim *sim, guint64 value)
{
  sim->outcome->hash = rng_mix (sim->outcome->hash * 31 + value);
}

static void
note_event (Sim *sim, const Process *process, const NodeEvent *event)
{
  story_event (sim, process, event);
  if (sim->makes == SIM_NOTHING)
    return;
  mix (sim, sim->now_us * SIM_NODES_MAX + process->number);
  mix (sim, trace_hash_event (event));
  if (sim->makes == SIM_LINE)
    trace_print_event (sim->now_us, process->number, event);
}

static void
note_effect (Sim *sim, const Process *process, const NodeEffect *effect)
{
  story_effect (sim, process, effect);
  if (sim->makes == SIM_NOTHING)
    return;
  mix (sim, trace_hash_effect (effect));
  if (sim->makes == SIM_LINE)
    trace_print_effect (sim->now_us, process->number, effect);
}

static void
step_once (Sim *sim, Process *process, const NodeEvent *event)
{
  g_assert (sim->effects->len == 0); /* The events that the effects cause are stepped after them. */
  sim->outcome->steps++;
  note_event (sim, process, event);
  sim->heard = event->kind == NODE_EVENT_MESSAGE ? event->bytes : NULL;
  node_step (process->node, sim->now_us, event, sim->effects);
  if (!sim->plan->unwatched)
    node_check_invariants (process->node);
  for (guint i = 0; i < sim->effects->len && process->alive; i++)
    {
      /* A copy: the event that it causes may make the array grow. */
      NodeEffect effect = g_array_index (sim->effects, NodeEffect, i);
      note_effect (sim, process, &effect);
      process_carry_out (sim, process, &effect);
    }
  if (sim->effects->len > 0)
    g_array_set_size (sim->effects, 0);
}

static NodeEvent
event_of_model (const Sim *sim, const ModelEvent *said)
{
  const TreeJob *job = &sim->plan->tree->jobs[said->job];
  NodeEvent event = { .kind = said->kind,
                      .held = said->held,
                      .loan = said->loan,
                      .count = said->count,
                      .work_us = said->work_us,
                      .risk_us = said->risk_us,
                      .number = said->number,
                      .node = said->node,
                      .bytes = said->bytes,
                      .rows = said->rows };

  event.shares = said->shares;
  if (said->kind == NODE_EVENT_WANT)
    event.digest = said->digest;
  if (said->kind == NODE_EVENT_ADOPT || said->kind == NODE_EVENT_COVERED)
    {
      event.path = job->path;
      event.digest = said->kept ? tree_kept_digest (sim->plan->tree, said->job) : job->digest;
    }
  return event;
}

/* (transfer full) (nullable) The job that the event reports, if results are computed twice. */
static Loan *
whole_job (const Sim *sim, const ModelEvent *said)
{
  const TreeJob *job = &sim->plan->tree->jobs[said->job];

  gboolean is_whole
      = said->kind == NODE_EVENT_FINISHED || (said->kind == NODE_EVENT_ADOPT && !said->kept);

  if (!is_whole || sim->plan->verify <= 0)
    return NULL;
  return loan_new (0, job->path, 0, &job->digest, job->weight, job->args);
}

static gboolean
step_lent (Sim *sim, Process *process)
{
  if (process->lents->len == 0)
    return FALSE;
  GPtrArray *loans = g_ptr_array_steal_index (process->lents, 0);
  NodeEvent event = { .kind = NODE_EVENT_LENT, .loans = loans, .node = process->lent_to };
  step_once (sim, process, &event);
  g_ptr_array_unref (loans);
  return TRUE;
}

static void
tell_work (Sim *sim, Process *process)
{
  NodeEvent event;

  process->tell = FALSE;
  g_array_set_size (sim->progress, 0);
  model_work (process->model, sim->now_us, &event, sim->progress);
  step_once (sim, process, &event);
}

static gboolean
step_mail (Sim *sim, Process *process)
{
  ModelEvent said;

  if (!model_next_event (process->model, &said))
    return FALSE;
  if (said.kind == NODE_EVENT_HALTED)
    tell_work (sim, process);
  NodeEvent event = event_of_model (sim, &said);
  g_autoptr (Loan) whole = whole_job (sim, &said);
  event.job = whole;
  step_once (sim, process, &event);
  gboolean served = said.kind == NODE_EVENT_SERVED;
  model_event_clear (&said);
  if (served && process->alive)
    tell_work (sim, process);
  return TRUE;
}

/* Does all that a driver does before it sleeps again: the engine answers at once, its mailbox is
 * read now or a while later. */
static void
settle (Sim *sim, Process *process, gboolean read_mail)
{
  while (process->alive)
    {
      if (step_lent (sim, process) || (read_mail && step_mail (sim, process)))
        continue;
      if (process->tell)
        {
          tell_work (sim, process);
          continue;
        }
      if (process->stays)
        {
          process->stays = FALSE;
          faults_suspend (sim, process, sim->plan->n_nodes);
          continue;
        }
      model_settle (process->model, sim->now_us);
      if (process->lents->len == 0 && (!read_mail || !model_has_event (process->model)))
        break;
    }
  if (process->alive && !read_mail && !process->mail_due && model_has_event (process->model))
    {
      process->mail_due = TRUE;
      sim_expect (sim, sim->now_us + rng_below (&sim->world_rng, 300), HAPPEN_MAIL,
                  process->number);
    }
  if (process->alive && !sim->plan->unwatched)
    check_after_step (sim, process);
}

void
sim_step (Sim *sim, Process *process, const NodeEvent *event)
{
  if (event != NULL)
    step_once (sim, process, event);
  settle (sim, process, !sim->plan->late_mail);
}

void
sim_tell_work (Sim *sim, Process *process)
{
  tell_work (sim, process);
  sim_step (sim, process, NULL);
}

static void
read_mail (Sim *sim, Process *process)
{
  process->mail_due = FALSE;
  settle (sim, process, TRUE);
}

/* A process handles the messages of its links one after the other. TRUE: this one is handled
 * later. */
static gboolean
is_put_off (Sim *sim, Process *process, Happen *what)
{
  if (sim->plan->cost_us == 0 || what->kind < HAPPEN_MESSAGE || what->kind > HAPPEN_DIAL_FAILED)
    return FALSE;
  if (what->queued)
    {
      process->queued--;
      return FALSE;
    }
  what->queued = TRUE;
  process->queued++;
  if (sim->counting)
    sim->outcome->figures.queue_most = MAX (sim->outcome->figures.queue_most, process->queued);
  process->busy_us = MAX (process->busy_us, sim->now_us) + sim->plan->cost_us;
  what->at_us = process->busy_us;
  (void)agenda_add (&sim->agenda, what);
  what->bytes = NULL;
  return TRUE;
}

static void
happen (Sim *sim, Happen *what)
{
  Process *process = what->node < sim->n_processes ? sim->processes[what->node] : NULL;

  switch ((HappenKind)what->kind)
    {
    case HAPPEN_FAULT:
      faults_strike (sim, &sim->plan->faults[what->number]);
      return;
    case HAPPEN_RESUME:
      sim->resuming = FALSE;
      faults_start_life (sim, (guint)what->number);
      return;
    case HAPPEN_START:
      if (!sim->resuming || what->number != 0) /* Otherwise it was to join a life that is over. */
        faults_start_process (sim, what->flag, what->number != 0);
      return;
    case HAPPEN_LOOK:
      figures_look (sim);
      return;
    default:
      break;
    }
  if (process == NULL || !(process->alive || (process->left && what->kind == HAPPEN_PUT)))
    {
      story_lost (sim, what);
      return;
    }
  if (process->paused_us > sim->now_us)
    {
      /* It is handled when the process goes on, in its old order. */
      what->at_us = process->paused_us;
      (void)agenda_add (&sim->agenda, what);
      what->bytes = NULL;
      return;
    }
  if (is_put_off (sim, process, what))
    return;
  if (what->kind == HAPPEN_MAIL)
    read_mail (sim, process);
  else if (what->kind <= HAPPEN_DIAL_FAILED)
    links_happen (sim, what);
  else
    process_happen (sim, what);
}

static gboolean
is_over (const Sim *sim)
{
  return sim->outcome->failure[0] != '\0' || (sim->founded && !sim->resuming && !sim_lives (sim));
}

/* TRUE: the two sides of a split have had the time to meet. */
static gboolean
is_quiet (const Sim *sim)
{
  const Plan *plan = sim->plan;

  return plan->united_us > 0 && !sim->looked_united
         && sim->now_us >= sim->last_fault_us + plan->united_us
         && sim->next_message_fault == plan->n_faults;
}

static void
run (Sim *sim)
{
  guint64 first_step = 0;

  while (!is_over (sim) && sim->agenda.n > 0)
    {
      story_go_on (sim);
      Happen what = agenda_take (&sim->agenda);
      if (what.at_us != sim->now_us)
        first_step = sim->outcome->steps;
      sim->now_us = what.at_us;
      if (sim->outcome->steps - first_step
          > STEPS_AT_ONCE_MAX + STEPS_AT_ONCE_OF_EACH * sim->plan->n_nodes)
        sim_fail (sim, "I2: p%u keeps stepping while time stands still", what.node);
      if (sim->now_us > sim->deadline_us)
        {
          check_stands_still (sim);
          g_clear_pointer (&what.bytes, g_bytes_unref);
          break;
        }
      if (is_quiet (sim))
        {
          sim->looked_united = TRUE;
          check_united (sim);
        }
      faults_before (sim, &what);
      happen (sim, &what);
      g_clear_pointer (&what.bytes, g_bytes_unref);
      faults_look_after (sim);
    }
}

static void
clear (Sim *sim)
{
  for (guint i = 0; i < sim->n_processes; i++)
    process_free (sim->processes[i]);
  agenda_clear (&sim->agenda);
  g_array_unref (sim->links);
  g_hash_table_unref (sim->addresses);
  g_array_unref (sim->effects);
  g_array_unref (sim->progress);
}

void
sim_run (const Plan *plan, SimMakes makes, Outcome *outcome)
{
  sim_run_story (plan, makes, NULL, outcome);
}

void
sim_run_story (const Plan *plan, SimMakes makes, Story *story, Outcome *outcome)
{
  g_autofree Sim *sim = g_new0 (Sim, 1); /* Too large for the stack. */

  sim->plan = plan;
  sim->outcome = outcome;
  sim->makes = makes;
  sim->story = story;
  sim->lives_left = TRUE;
  *outcome = (Outcome){ .hash = plan->seed };
  agenda_init (&sim->agenda);
  sim->links = g_array_new (FALSE, TRUE, sizeof (Link));
  sim->addresses = g_hash_table_new (g_str_hash, g_str_equal);
  sim->effects = g_array_new (FALSE, FALSE, sizeof (NodeEffect));
  sim->progress = g_array_new (FALSE, FALSE, sizeof (NodeProgress));
  g_array_set_clear_func (sim->effects, (GDestroyNotify)node_effect_clear);
  sim->links_rng.state = plan->seed ^ 0x6c696e6b;
  sim->world_rng.state = plan->seed ^ 0x776f726c64;
  store_init (&sim->published, plan->tree);
  keeper_begin (sim);
  faults_schedule (sim);
  faults_start_life (sim, plan->n_nodes);
  run (sim);
  check_at_the_end (sim);
  outcome->end_us = sim->now_us;
  outcome->generations = sim->published.generation;
  clear (sim);
  keeper_end (sim);
}
