/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a stack's thread. Without a seat it sleeps. With a seat it looks for work (in the
 * inbox, jobs that came back, other stacks) and runs it at the bottom of the empty stack. Owner
 * threads. Tests: test-leapfrog, test-engine. */
#include "config.h"

#include "worker.h"

#include "../door/crashed.h"
#include "../door/inbox.h"
#include "../os/memory.h"
#include "../save/clock.h"
#include "../save/scan.h"
#include "../tree/adopt.h"
#include "abort.h"
#include "seat.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>

#define WORKER_HUNT_US 100 /* an empty stack looks for work this long before it sleeps */
/* A thief asks for more public jobs with pauses that double from the first to the second. */
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
  static GPtrArray *outside; /* bytes that were made outside of jobs; never freed */
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

void
worker_wake (Stack *stack, const SatinSlot_ *slot)
{
  /* The slot's state was stored before this load. park stores `awaited` and then looks at the
   * state. So one of them sees the other. */
  const SatinSlot_ *awaited = stack_awaited (stack);

  if (awaited == NULL || (slot != NULL && awaited != STACK_ANY && awaited != slot))
    return;
  pthread_mutex_lock (&stack->engine->lock);
  pthread_cond_signal (&stack->seat.cond);
  pthread_mutex_unlock (&stack->engine->lock);
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
      back_count (&engine->back);
    }
  pthread_mutex_unlock (&engine->back.lock);
  if (!came_back)
    {
      abort_answer (stack, slot);
      return;
    }
  worker_wake (stack, NULL);
  seat_poke (engine);
}

gboolean
worker_claim_back (Engine *engine, guint32 claimer, Stack **victim, SatinSlot_ **slot)
{
  gboolean claimed = FALSE;

  if (length_hint (&engine->back.n) == 0)
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
  length_put (&engine->back.n, engine->back.list->len);
  pthread_mutex_unlock (&engine->back.lock);
  return claimed;
}

/* TRUE: the thief may ask now. Its next pause begins. */
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

SatinSlot_ *
worker_claim (Stack *thief, Stack *victim)
{
  gboolean dry;
  SatinSlot_ *slot = stack_claim (victim, &dry);

  if (slot == NULL && dry && clock_runs (victim) && ask_pause_is_over (&thief->own.ask))
    stack_ask (victim, STACK_FLAG_MOVE);
  return slot;
}

/* Claims a job that came back, or a public job of another stack. */
static gboolean
find_job (Stack *stack, Stack **victim, SatinSlot_ **slot)
{
  Engine *engine = stack->engine;
  guint n = engine_n_stacks (engine);
  guint start = random_next (&stack->own.random) % MAX (n, 1);

  if (worker_claim_back (engine, stack->number, victim, slot))
    return TRUE;
  if (length_hint (&engine->pending.n_fetches) > ENGINE_FETCHES_MAX / 4)
    return FALSE; /* the result of a stolen job would most likely have to be fetched, too */
  for (guint i = 0; i < n; i++)
    {
      *victim = engine->stacks[(start + i) % n];
      *slot = *victim != stack ? worker_claim (stack, *victim) : NULL;
      if (*slot == NULL)
        continue;
      slot_set_state (*slot, SLOT_STOLEN_BY (stack->number));
      return TRUE;
    }
  return FALSE;
}

static gboolean
steal (Stack *stack)
{
  Stack *victim;
  SatinSlot_ *slot;

  if (!find_job (stack, &victim, &slot))
    return FALSE;
  mailbox_tell (stack->engine);
  worker_run_stolen (stack, victim, slot, stack->memory.slots, NULL);
  return TRUE;
}

/* TRUE: no job runs here that might spawn one, and this worker may drive instead of looking for
 * work. */
static gboolean
better_drives (Engine *engine)
{
  return engine->config.idle != NULL && length_hint (&engine->seats.busy) == 0;
}

/* The stack is empty and has a seat. Runs the jobs that it finds, until it has found none for
 * WORKER_HUNT_US (or at one look, if own.polls) or another stack wants the seat. The driver's
 * thread hears late that a held job has ended, since this worker may soon drive itself. */
static void
hunt (Stack *stack)
{
  Engine *engine = stack->engine;
  guint64 told_us = clock_us (), until_us = stack->own.polls ? 0 : told_us + WORKER_HUNT_US;

  while (!(stack_flags (stack) & STACK_FLAG_HALT) && !seat_engine_ends (engine)
         && length_hint (&engine->seats.n_ready) == 0)
    {
      Held *held = inbox_take (engine, stack->seat.beyond);
      if (held != NULL)
        {
          mailbox_tell_some (engine, &told_us);
          worker_run_held (stack, held);
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
    {
      scan_stack (stack, self, top, whole ? SCAN_LEAVE : SCAN_LAST);
      return;
    }
  pthread_mutex_lock (&stack->engine->lock);
  seat_scan_served (stack);
  pthread_mutex_unlock (&stack->engine->lock);
}

void
worker_halt (Stack *stack, SatinSlot_ *self, SatinSlot_ *top, gboolean whole)
{
  Engine *engine = stack->engine;

  if (clock_runs (stack))
    seat_end_work (stack);
  /* Without a frame the stack may have stopped before it was told to halt: then `leaving` may still
   * change, and there is nothing to scan. */
  scan_halted (stack, self, top, whole || (self != NULL && engine->orders.leaving));
  pthread_mutex_lock (&engine->lock);
  while (!seat_engine_ends (engine))
    {
      guint32 flags = stack_take_flags (stack); /* scans are asked for under the lock */

      if ((flags & STACK_FLAG_SCAN) == 0)
        {
          seat_halt_served (stack);
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
  if (!stack->seat.gone && !seat_engine_ends (engine))
    worker_halt (stack, NULL, NULL, FALSE);
}

/* Signals to the process are for other threads. A fault of a job stays on its thread. */
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
  crashed_watch_thread (TRUE);
}

static void *
worker_thread (void *data)
{
  Stack *stack = data;

  worker_begin_here (stack);
  if (setjmp (stack->own.end.leave) == 0)
    live (stack);
  crashed_watch_thread (FALSE);
  memory_unwatch_thread ();
  return NULL;
}

/* Lane 0 is the driver's. */
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
      stack->own.polls = stack->own.slept = TRUE; /* it looks once, as a scout does */
    }
  if (stack == NULL || !worker_begin_thread (stack, worker_thread))
    {
      g_clear_pointer (&stack, stack_free);
      engine->seats.refused_us = clock_us (); /* see stacks_limit in seat.c */
      return NULL;
    }
  engine_count_stack (engine);
  return stack;
}
