/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a stack's thread: sleep without a seat; with one, look for work (the inbox, what came
 * back, other stacks) and run it from the bottom of the empty stack. Runs on each stack's own
 * thread. Tests: test-leapfrog, test-engine. */
#include "config.h"

#include "worker.h"

#include "../door/inbox.h"
#include "../door/share.h"
#include "../door/words.h"
#include "../os/memory.h"
#include "../save/clock.h"
#include "../save/scan.h"
#include "../tree/adopt.h"
#include "../tree/replay.h"
#include "../tree/stray.h"
#include "abort.h"
#include "seat.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>

#define WORKER_HUNT_US 100 /* a hungry stack looks around so long before it sleeps */
/* Requests for more public jobs: pauses double from the first to the second. */
#ifdef SATIN_STEPS_ /* time stands still in the tests of all interleavings */
#define WORKER_ASK_PAUSE_MIN_US 0
#define WORKER_ASK_PAUSE_MAX_US 0
#else
#define WORKER_ASK_PAUSE_MIN_US 1
#define WORKER_ASK_PAUSE_MAX_US 100
#endif

static __thread Stack *worker_stack; /* the stack of this thread */

SatinBytes
satin_bytes (GBytes *fresh)
{
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static GPtrArray *outside; /* what main took; lives until the process ends */
  Stack *stack = worker_here ();

  if (stack != NULL)
    {
      g_ptr_array_add (stack->own.fresh, fresh);
      stack->open.fresh = stack->own.fresh->len;
      return fresh;
    }
  pthread_mutex_lock (&mutex);
  if (outside == NULL)
    outside = g_ptr_array_new ();
  g_ptr_array_add (outside, fresh);
  pthread_mutex_unlock (&mutex);
  return fresh;
}

#ifndef SATIN_STEPS_ /* there is one thread only in the tests of all interleavings */
Stack *
worker_here (void)
{
  return worker_stack;
}
#endif

static void
wake (Stack *stack, const SatinSlot_ *slot)
{
  /* The slot's state was stored first, and park looks at it after its store: one of us sees the
   * other. */
  const SatinSlot_ *awaited = __atomic_load_n (&stack->shared.awaited, __ATOMIC_SEQ_CST);

  if (awaited == NULL || (slot != NULL && awaited != STACK_ANY && awaited != slot))
    return;
  pthread_mutex_lock (&stack->engine->lock);
  pthread_cond_signal (&stack->seat.cond);
  pthread_mutex_unlock (&stack->engine->lock);
}

void
worker_wake (Stack *stack)
{
  wake (stack, NULL);
}

void
worker_wake_for (Stack *stack, const SatinSlot_ *slot)
{
  wake (stack, slot);
}

void
worker_give_back (Stack *stack, SatinSlot_ *slot)
{
  Engine *engine = stack->engine;
  Back back = { stack, slot };
  gboolean came_back;

  pthread_mutex_lock (&engine->back.lock);
  came_back = abort_change_state (slot, SLOT_BACK);
  if (came_back)
    {
      g_array_append_val (engine->back.list, back);
      /* Pairs with find_back in wait.c: worker_wake looks afterwards whether the owner sleeps. */
      __atomic_store_n (&engine->back.n, engine->back.list->len, __ATOMIC_SEQ_CST);
    }
  pthread_mutex_unlock (&engine->back.lock);
  if (!came_back)
    {
      abort_answer (stack, slot);
      return;
    }
  worker_wake (stack);
  seat_poke (engine);
}

gboolean
worker_claim_back (Engine *engine, guint32 claimer, Stack **victim, SatinSlot_ **slot)
{
  gboolean claimed = FALSE;

  if (__atomic_load_n (&engine->back.n, __ATOMIC_RELAXED) == 0)
    return FALSE;
  pthread_mutex_lock (&engine->back.lock);
  while (engine->back.list->len > 0 && !claimed)
    {
      Back back = g_array_index (engine->back.list, Back, 0);

      g_array_remove_index (engine->back.list, 0);
      *victim = back.stack;
      *slot = back.slot;
      claimed = slot_change_state (back.slot, SLOT_BACK, SLOT_STOLEN_BY (claimer));
    }
  __atomic_store_n (&engine->back.n, engine->back.list->len, __ATOMIC_RELAXED);
  pthread_mutex_unlock (&engine->back.lock);
  return claimed;
}

/* Is it time to ask again? Then the next pause begins. */
static gboolean
ask_pause_is_over (AskPause *ask)
{
  guint64 now_us = clock_us ();

  if (now_us < ask->until_us)
    return FALSE;
  ask->pause_us = CLAMP (ask->pause_us * 2, WORKER_ASK_PAUSE_MIN_US, WORKER_ASK_PAUSE_MAX_US);
  ask->until_us = now_us + ask->pause_us;
  return TRUE;
}

void
worker_ask (Stack *thief, Stack *victim)
{
  if (clock_runs (victim) && ask_pause_is_over (&thief->own.ask))
    stack_ask (victim, STACK_FLAG_MOVE);
}

SatinSlot_ *
worker_place (SatinSlot_ *top, const Origin *origin, SatinSlot_ *slot)
{
  SatinSlot_ *job = top + 1;

  *slot_origin (top) = *origin;
  __atomic_store_n (&top->parent, PARENT_NONE, __ATOMIC_RELAXED); /* published with split */
  slot_place (top, KIND_ORIGIN | SLOT_STARTED);
  job->job = slot->job;
  job->into = NULL;
  memcpy (job->payload, slot->payload, sizeof job->payload);
  __atomic_store_n (&job->parent, (guint32)(guintptr)top | PARENT_ORIGIN,
                    __ATOMIC_RELAXED); /* published with split */
  slot_place (job, SLOT_STARTED);
  return job;
}

/* For engine_progress. */
static void
serve (Stack *stack, guint64 held)
{
  __atomic_store_n (&stack->shared.serving, held, __ATOMIC_RELAXED);
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

/* Runs a placed job to its end, or until it is aborted and left (FALSE): then all that was above
 * its mark is gone. */
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

/* Runs a placed job; `below` waits under it. *work: what was done for it, on all stacks and nodes,
 * as far as it has returned. FALSE: it was aborted. */
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
  if (ended)
    watch_settle (stack, below);
  else
    watch_drop (stack, below);
  stack_close (stack, job - 1);
  timeline_end (stack->own.lane);
  __atomic_store_n (&stack->shared.executed, stack->shared.executed + 1,
                    __ATOMIC_RELAXED); /* a figure */
  stack->own.ask.pause_us = 0;
  if (below == NULL)
    {
      seat_end_work (stack);
      __atomic_store_n (&stack->shared.share_ppb, 0, __ATOMIC_RELAXED); /* a figure */
      g_ptr_array_set_size (stack->own.fresh, 0);
      stack->open.fresh = 0;
    }
  else if (!ended && abort_is_due (stack))
    stack_ask (stack, STACK_FLAG_ABORT); /* the loan under it, too */
  *work = clock_end_job (stack, job - 1);
  return ended;
}

/* The result of a stolen job goes to its slot, which gets `state`. FALSE: it was aborted. */
static gboolean
return_stolen (Stack *stack, SatinSlot_ *slot, SatinSlot_ *job, guint32 state)
{
  if (!job->job->big)
    memcpy (slot_result (slot), slot_result (job), job->job->result->size);
  if (slot_change_state (slot, SLOT_STOLEN_BY (stack->number), state))
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
  SatinSlot_ *job = worker_place (top, &origin, slot);
  Work work = { 0 };
  gboolean ended;
  guint32 state;

  if (below == NULL)
    serve (stack, __atomic_load_n (&victim->shared.serving, __ATOMIC_RELAXED));
  ended = !origin_is_aborted (&origin) && run_placed (stack, job, below, &work);
  state = clock_give (victim, slot, &work); /* what was done in vain, too */

  __atomic_fetch_add (&stack->engine->figures.steals, 1, __ATOMIC_RELAXED); /* a figure */
  if (ended)
    {
      gboolean locked = seat_begin_return (stack, victim);

      ended = return_stolen (stack, slot, job, state);
      seat_end_return (stack, victim, locked);
    }
  if (ended)
    worker_wake_for (victim, slot);
  else
    abort_answer (victim, slot);
}

static void
run_held (Stack *stack, Held *held)
{
  Engine *engine = stack->engine;
  Origin origin = { .held = held };
  SatinSlot_ *job = worker_place (stack->memory.slots, &origin, &held->slot);
  EngineEvent event = { .kind = ENGINE_UNRUN, .held = held->number };
  Work work = { 0 };
  gboolean ended;

  serve (stack, held->number);
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
  mailbox_raise_quietly (engine, &event); /* see hunt */
}

static gboolean
steal (Stack *stack)
{
  Engine *engine = stack->engine;
  guint n = __atomic_load_n (&engine->n_stacks, __ATOMIC_ACQUIRE); /* pairs with worker_new */
  guint start = random_next (&stack->own.random) % MAX (n, 1);
  Stack *victim;
  SatinSlot_ *slot;
  gboolean dry;

  if (worker_claim_back (engine, stack->number, &victim, &slot))
    {
      mailbox_tell (engine);
      if (!adopt_claimed (engine, victim, slot))
        worker_run_stolen (stack, victim, slot, stack->memory.slots, NULL);
      return TRUE;
    }
  if (__atomic_load_n (&engine->pending.n_fetches, __ATOMIC_RELAXED) > ENGINE_FETCHES_MAX / 4)
    return FALSE; /* what there is to steal most likely is to be fetched too */
  for (guint i = 0; i < n; i++)
    {
      victim = engine->stacks[(start + i) % n];
      if (victim == stack)
        continue;
      slot = stack_claim (victim, &dry);
      if (slot == NULL)
        {
          if (dry)
            worker_ask (stack, victim);
          continue;
        }
      slot_set_state (slot, SLOT_STOLEN_BY (stack->number));
      mailbox_tell (engine);
      if (!adopt_claimed (engine, victim, slot))
        worker_run_stolen (stack, victim, slot, stack->memory.slots, NULL);
      return TRUE;
    }
  return FALSE;
}

/* Nothing runs here that might spawn, and this worker may drive: there is nothing to hunt for. */
static gboolean
better_drives (Engine *engine)
{
  return engine->config.idle != NULL
         && __atomic_load_n (&engine->seats.busy, __ATOMIC_RELAXED) == 0;
}

/* With a seat and an empty stack: runs what it finds, until it finds nothing for a while or the
 * seat is wanted. The end of a job of another node's is not told to the driver's thread as long as
 * this worker may soon drive itself. */
static void
hunt (Stack *stack)
{
  Engine *engine = stack->engine;
  guint64 told_us = clock_us (), until_us = stack->own.polls ? 0 : told_us + WORKER_HUNT_US;

  while (!(stack_flags (stack) & STACK_FLAG_HALT) && !seat_engine_ends (engine)
         && __atomic_load_n (&engine->seats.n_ready, __ATOMIC_RELAXED) == 0)
    {
      Held *held = inbox_take (engine, stack->seat.beyond);
      if (held != NULL)
        {
          mailbox_tell_some (engine, &told_us);
          run_held (stack, held);
        }
      else if (stack->seat.beyond)
        return;
      else if (!steal (stack))
        {
          if (better_drives (engine) || clock_us () >= until_us)
            return;
          mailbox_tell (engine);
          sched_yield ();
          continue;
        }
      until_us = clock_us () + WORKER_HUNT_US;
    }
}

static void
serve_empty_scan (Stack *stack)
{
  gboolean last;

  pthread_mutex_lock (&stack->engine->lock);
  last = seat_scan_served (stack);
  pthread_mutex_unlock (&stack->engine->lock);
  if (last)
    seat_say_scanned (stack->engine);
}

void
worker_leave (Stack *stack, SatinSlot_ *self, SatinSlot_ *top)
{
  stack->own.end.self = self;
  stack->own.end.top = top;
  longjmp (stack->own.end.leave, 1);
}

static void
scan_halted (Stack *stack, SatinSlot_ *self, SatinSlot_ *top, gboolean whole)
{
  if (self != NULL)
    scan_stack (stack, self, top, whole ? SCAN_LEAVE : SCAN_LAST);
  else
    serve_empty_scan (stack);
}

void
worker_halt (Stack *stack, SatinSlot_ *self, SatinSlot_ *top, gboolean whole)
{
  Engine *engine = stack->engine;

  if (stack->shared.clock & 1)
    seat_end_work (stack);
  scan_halted (stack, self, top, whole || engine->orders.leaving);
  pthread_mutex_lock (&engine->lock);
  while (!seat_engine_ends (engine))
    {
      guint32 flags = stack_take_flags (stack); /* set under the lock, too */

      if ((flags & STACK_FLAG_SCAN) == 0)
        {
          if (seat_halt_served (stack))
            mailbox_raise (engine, &(EngineEvent){ .kind = ENGINE_HALTED });
          pthread_cond_wait (&stack->seat.cond, &engine->lock);
          continue;
        }
      pthread_mutex_unlock (&engine->lock);
      scan_halted (stack, self, top, (flags & STACK_FLAG_WHOLE) != 0);
      pthread_mutex_lock (&engine->lock);
    }
  pthread_mutex_unlock (&engine->lock);
  worker_leave (stack, self, top);
}

static G_GNUC_NO_INLINE void
live (Stack *stack)
{
  Engine *engine = stack->engine;
  gboolean go_on;

  do
    {
      hunt (stack);
      timeline_begin (stack->own.lane, "idle", NULL, 0);
      pthread_mutex_lock (&engine->lock);
      go_on = seat_sleep (stack);
      pthread_mutex_unlock (&engine->lock);
      timeline_end (stack->own.lane);
    }
  while (go_on);
  if (!stack->seat.gone && !__atomic_load_n (&engine->orders.ending, __ATOMIC_SEQ_CST))
    worker_halt (stack, NULL, NULL, FALSE);
}

/* What is sent to the process is for others; what a job does wrong stays here. */
static void
block_signals (void)
{
  sigset_t set;

  sigfillset (&set);
  sigdelset (&set, SIGSEGV);
  sigdelset (&set, SIGBUS);
  sigdelset (&set, SIGFPE);
  sigdelset (&set, SIGILL);
  sigdelset (&set, SIGABRT);
  sigdelset (&set, SIGTRAP);
  pthread_sigmask (SIG_SETMASK, &set, NULL);
}

void
worker_begin_here (Stack *stack)
{
  worker_stack = stack;
  block_signals ();
  memory_watch_thread ();
  words_watch_thread (TRUE);
}

static void *
worker_thread (void *data)
{
  Stack *stack = data;

  worker_begin_here (stack);
  if (setjmp (stack->own.end.leave) == 0)
    live (stack);
  words_watch_thread (FALSE);
  memory_unwatch_thread ();
  return NULL;
}

/* The driver's lane is the first. */
static TimelineLane *
new_lane (Engine *engine, guint number)
{
  g_autofree char *name = g_strdup_printf (
      number < engine->config.workers ? "worker %u" : "worker %u (while others are parked)",
      number);

  return timeline_lane (engine->config.timeline, number + 1, name);
}

gboolean
worker_begin_thread (Stack *stack, void *(*body) (void *stack))
{
  pthread_attr_t attributes;

  stack->seat.state = STACK_RUNNING;
  pthread_attr_init (&attributes);
  pthread_attr_setstack (&attributes, stack->memory.c_stack, stack->memory.c_stack_bytes);
  stack->seat.has_thread = pthread_create (&stack->seat.thread, &attributes, body, stack) == 0;
  pthread_attr_destroy (&attributes);
  return stack->seat.has_thread;
}

gboolean
worker_has_ended (Stack *stack)
{
  if (stack->seat.has_thread)
    stack->seat.has_thread = pthread_tryjoin_np (stack->seat.thread, NULL) == EBUSY;
  return !stack->seat.has_thread;
}

gboolean
worker_again (Stack *stack)
{
  if (stack->seat.has_thread)
    pthread_join (stack->seat.thread, NULL);
  stack->seat.gone = FALSE;
  if (worker_begin_thread (stack, worker_thread))
    return TRUE;
  stack->seat.state = STACK_ASLEEP;
  stack->seat.gone = TRUE;
  return FALSE;
}

Stack *
worker_new (Engine *engine, gboolean beyond)
{
  Stack *stack = stack_new (engine, engine->n_stacks, engine->c_stack_bytes);

  if (stack != NULL)
    {
      engine->stacks[engine->n_stacks] = stack;
      stack->own.lane = new_lane (engine, engine->n_stacks);
      stack->seat.beyond = beyond;
      stack->own.polls = stack->own.slept = TRUE; /* as if it had been woken to look */
    }
  if (stack == NULL || !worker_begin_thread (stack, worker_thread))
    {
      g_clear_pointer (&stack, stack_free);
      engine->seats.refused_us = clock_us (); /* see seat.c, room */
      return NULL;
    }
  __atomic_store_n (&engine->n_stacks, engine->n_stacks + 1, __ATOMIC_RELEASE); /* steal */
  return stack;
}
