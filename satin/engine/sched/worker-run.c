/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a job from another stack or node, and returns its result there. The job has a mark: when it
 * is aborted, the stack jumps back to the mark. Owner threads. Tests: test-leapfrog,
 * test-engine. */
#include "config.h"

#include "../door/inbox.h"
#include "../door/share.h"
#include "../save/clock.h"
#include "../tree/adopt.h"
#include "../tree/replay.h"
#include "../tree/stray.h"
#include "abort.h"
#include "seat.h"
#include "worker.h"

SatinSlot_ *
worker_place (SatinSlot_ *top, const Origin *origin, SatinSlot_ *slot)
{
  SatinSlot_ *job = top + 1;

  *slot_origin (top) = *origin;
  slot_set_parent (top, PARENT_NONE);
  slot_place (top, KIND_ORIGIN | SLOT_STARTED);
  job->job = slot->job;
  job->into = NULL;
  memcpy (job->payload, slot->payload, sizeof job->payload);
  slot_set_parent (job, (guint32)(guintptr)top | PARENT_ORIGIN);
  slot_place (job, SLOT_STARTED);
  return job;
}

static void
note_begin (Stack *stack, SatinSlot_ *job)
{
  const Origin *origin = slot_origin (job - 1);

  if (stack->own.lane == NULL)
    return;
  if (origin->held != NULL)
    timeline_begin (stack->own.lane, job->job->name, "held", origin->held->number);
  else
    timeline_begin (stack->own.lane, job->job->name, "stolen from", origin->victim->number);
}

/* Runs a placed job to its end. FALSE: it was aborted, and the stack has left it: there is nothing
 * above its mark. */
static gboolean
run_to_mark (Stack *stack, SatinSlot_ *job)
{
  Origin *origin = slot_origin (job - 1);
  Mark mark
      = { .outer = stack->own.mark, .arena = stack->own.arena_top, .fresh = stack->own.fresh->len };

  origin->mark = &mark;
  stack->own.mark = job - 1;
  if (setjmp (mark.jump) == 0)
    {
      slot_run (stack, job, job + 1);
      return TRUE;
    }
  return FALSE;
}

/* Runs a placed job; `below` waits under it. *work: the work done for it on all stacks and nodes
 * whose results have come. FALSE: it was aborted. */
static gboolean
run_placed (Stack *stack, SatinSlot_ *job, SatinSlot_ *below, Work *work)
{
  SatinSlot_ *outer = stack->own.mark, *running = stack->own.running;
  gboolean ended;

  clock_begin_job (stack, job - 1);
  if (below == NULL)
    seat_begin_work (stack);
  note_begin (stack, job);
  watch_begin (stack, job);
  replay_begin (stack, job);
  ended = run_to_mark (stack, job);
  if (ended)
    replay_end (stack, job);
  stack->own.mark = outer;
  stack->own.running = running;
  if (ended)
    stray_look (stack, job, job + 1);
  watch_end (stack, below, ended);
  stack_close (stack, job - 1);
  timeline_end (stack->own.lane);
  figure_put (&stack->shared.executed, stack->shared.executed + 1);
  stack->own.ask.pause_us = 0;
  if (below == NULL)
    {
      seat_end_work (stack);
      figure_put (&stack->shared.share_ppb, 0);
      g_ptr_array_set_size (stack->own.fresh, 0);
      stack->open.fresh = 0;
    }
  else if (!ended && abort_is_due (stack))
    stack_ask (stack, STACK_FLAG_ABORT); /* a loan under it is aborted, too */
  *work = clock_end_job (stack, job - 1);
  return ended;
}

/* Stores the result of a stolen job in its slot. FALSE: the slot was aborted. */
static gboolean
return_stolen (Stack *stack, SatinSlot_ *slot, SatinSlot_ *job)
{
  if (!job->job->big)
    memcpy (slot_result (slot), slot_result (job), job->job->result->size);
  if (slot_change_state (slot, SLOT_STOLEN_BY (stack->number), SLOT_DONE))
    return TRUE;
  if (job->job->result_holds)
    record_clear (job->job->result, slot_result (slot));
  return FALSE;
}

void
worker_run_stolen (Stack *stack, Stack *victim, SatinSlot_ *slot, SatinSlot_ *top,
                   SatinSlot_ *below)
{
  Origin origin = { .victim = victim, .slot = slot, .below = below };
  SatinSlot_ *job;
  Work work = { 0 };
  gboolean ended;

  if (adopt_claimed (stack->engine, victim, slot))
    return;
  job = worker_place (top, &origin, slot);
  if (below == NULL)
    figure_put (&stack->shared.serving, figure_get (&victim->shared.serving));
  ended = !origin_is_aborted (&origin) && run_placed (stack, job, below, &work);
  clock_give (victim, slot, &work); /* also for an aborted job */
  figure_add (&stack->engine->figures.steals, 1);
  if (ended)
    {
      gboolean locked = seat_begin_return (stack, victim);

      ended = return_stolen (stack, slot, job);
      seat_end_return (stack, victim, locked);
    }
  if (ended)
    worker_wake (victim, slot);
  else
    abort_answer (victim, slot);
}

void
worker_run_held (Stack *stack, Held *held)
{
  Engine *engine = stack->engine;
  Origin origin = { .held = held };
  SatinSlot_ *job = worker_place (stack->memory.slots, &origin, &held->slot);
  EngineEvent event = { .kind = ENGINE_UNRUN, .held = held->number };
  Work work = { 0 };
  gboolean ended;

  figure_put (&stack->shared.serving, held->number);
  ended = !origin_is_aborted (&origin) && run_placed (stack, job, NULL, &work);

  event.work_us = work.work_us;
  event.risk_us = work.risk_us;
  if (work.began_us > 0)
    {
      event.took_ms = (clock_us () - work.began_us) / 1000;
      event.began_ms = (guint64)g_get_real_time () / 1000 - event.took_ms;
    }
  if (ended && !origin_is_aborted (&origin))
    {
      event.kind = ENGINE_DONE;
      event.value = record_encode (job->job->result, slot_result (job));
      event.shared = share_list (job->job, slot_result (job));
    }
  if (ended && job->job->result_holds)
    record_clear (job->job->result, slot_result (job));
  pthread_mutex_lock (&engine->lock);
  inbox_drop (engine, held);
  pthread_mutex_unlock (&engine->lock);
  mailbox_raise_quietly (engine, &event); /* hunt tells the driver */
}
