/* SPDX-License-Identifier: BSD-3-Clause */
/* Which stacks may run. One mutex guards all seats, and each stack has a condition variable.
 * Nothing here is on the hot path. Any thread. */
#include "config.h"

#include "seat.h"

#include "../door/inbox.h"
#include "../os/memory.h"
#include "../save/clock.h"
#include "worker.h"

#include <errno.h>
#include <sched.h>
#include <time.h>

/* Time that the scout sleeps before it looks again: at first, and at most. */
#define SEAT_LOOK_NS 1000000
#define SEAT_LOOK_MAX_NS (64 * SEAT_LOOK_NS)
/* No stack is added for this long after the system refused a thread or its memory. */
#define SEAT_REFUSED_PAUSE_US G_USEC_PER_SEC

gboolean
seat_engine_ends (Engine *engine)
{
  return __atomic_load_n (&engine->orders.ending,
                          __ATOMIC_RELAXED); /* a sleeper looks again under the lock */
}

void
seat_rouse (Engine *engine)
{
  if (engine->seats.idler == NULL)
    return;
  __atomic_store_n (&engine->seats.roused, TRUE,
                    __ATOMIC_RELEASE); /* pairs with engine_is_roused */
  if (engine->config.wake != NULL)
    engine->config.wake (engine->config.data);
}

/* Takes the stack that fell asleep last off the list. `idler_first`: prefers the stack whose thread
 * drives; else passes over that stack if the next one has a thread. NULL: none sleeps. */
static Stack *
take_sleeper (Engine *engine, gboolean idler_first)
{
  GList *link = engine->seats.asleep.head;

  if (idler_first && engine->seats.idler != NULL)
    {
      GList *idler = g_queue_find (&engine->seats.asleep, engine->seats.idler);
      link = idler != NULL ? idler : link;
    }
  else if (link != NULL && link->data == engine->seats.idler && link->next != NULL
           && !((Stack *)link->next->data)->seat.gone)
    link = link->next;
  if (link == NULL)
    return NULL;
  Stack *stack = link->data;
  g_queue_delete_link (&engine->seats.asleep, link);
  return stack;
}

static Stack *
empty_stack (Engine *engine, gboolean idler_first, gboolean beyond)
{
  Stack *stack = take_sleeper (engine, idler_first);

  gboolean may_grow = !seat_engine_ends (engine)
                      && engine->n_stacks < engine->config.stacks_max + (beyond ? 1 : 0);

  if (stack == NULL)
    return may_grow ? worker_new (engine, beyond) : NULL;
  stack->seat.beyond = beyond;
  if (!stack->seat.gone)
    return stack;
  /* worker_again would wait for the end of the old thread with the lock held. */
  Stack *other = may_grow && !worker_has_ended (stack) ? worker_new (engine, beyond) : NULL;
  if (other == NULL && worker_again (stack))
    return stack;
  g_queue_push_tail (&engine->seats.asleep, stack);
  return other;
}

static void
give_seat (Stack *stack)
{
  length_put (&stack->engine->seats.free, stack->engine->seats.free - 1);
  stack->seat.state = STACK_RUNNING;
  if (stack == stack->engine->seats.idler)
    seat_rouse (stack->engine);
  else
    pthread_cond_signal (&stack->seat.cond);
}

void
seat_return_inbox (Engine *engine)
{
  Held *held;

  while ((held = g_queue_peek_head (&engine->inbox.queue)) != NULL)
    {
      EngineEvent event = { .kind = ENGINE_UNRUN, .held = held->number };

      inbox_drop (engine, held);
      mailbox_raise (engine, &event);
    }
}

/* The number of stacks that may exist now. For a while after the system refused one no stack is
 * added. */
static guint
stacks_limit (Engine *engine)
{
  gboolean refused = engine->seats.refused_us > 0
                     && clock_us () < engine->seats.refused_us + SEAT_REFUSED_PAUSE_US;

  return refused ? MIN (engine->n_stacks, engine->config.stacks_max) : engine->config.stacks_max;
}

/* The number of further stacks that may take jobs. */
static guint
room (Engine *engine)
{
  guint used = engine->n_stacks - engine->seats.asleep.length, limit = stacks_limit (engine);

  return limit - MIN (used, limit);
}

/* An empty stack that is to get a seat; NULL: none. The root may get a stack beyond the limit: all
 * other stacks may wait for a job that was lost with its node, and that only the root can spawn
 * again. */
static Stack *
stack_to_feed (Engine *engine, gboolean idler_first)
{
  guint used = engine->n_stacks - engine->seats.asleep.length;
  gboolean beyond = used == stacks_limit (engine) && inbox_root (engine) != NULL;

  return beyond || room (engine) > 0 ? empty_stack (engine, idler_first, beyond) : NULL;
}

void
seat_dispatch (Engine *engine, guint thieves, gboolean idler_first)
{
  gboolean none = room (engine) == 0;

  if (engine->orders.halting)
    return;
  while (engine->seats.free > 0 && !g_queue_is_empty (&engine->seats.ready))
    {
      give_seat (g_queue_pop_head (&engine->seats.ready));
      length_put (&engine->seats.n_ready, engine->seats.ready.length);
    }
  for (; engine->seats.free > 0 && thieves > 0; thieves--)
    {
      Stack *stack = stack_to_feed (engine, idler_first);

      none = stack == NULL;
      if (none)
        break;
      give_seat (stack);
    }
  if (none && engine->seats.free >= engine->config.workers)
    seat_return_inbox (engine); /* no stack runs, and none can take a seat */
}

gboolean
seat_is_idle_for_good (Engine *engine)
{
  return engine->seats.free > 0 && g_queue_is_empty (&engine->seats.ready) && room (engine) == 0;
}

Stack *
seat_thief_of (Stack *stack, SatinSlot_ *slot)
{
  Engine *engine = stack->engine;
  guint32 state = slot_state (slot);
  Stack *thief;

  if (SLOT_STATE (state) != SLOT_STOLEN || SLOT_THIEF (state) == SLOT_DRIVER)
    return NULL;
  thief = engine->stacks[SLOT_THIEF (state)];
  return thief->seat.state == STACK_RUNNING ? thief : NULL;
}

/* No other stack can take the free seat: wakes a parked stack to leapfrog, if the stack that runs
 * its awaited child has public jobs. */
static void
wake_leapfrogger (Engine *engine)
{
  for (guint i = 0; i < engine->n_stacks; i++)
    {
      Stack *stack = engine->stacks[i];
      SatinSlot_ *awaited = __atomic_load_n (&stack->shared.awaited, __ATOMIC_RELAXED);
      Stack *thief = stack->seat.state != STACK_PARKED || awaited == NULL || awaited == STACK_ANY
                         ? NULL
                         : seat_thief_of (stack, awaited);

      if (thief == NULL || stack->seat.leaps || !stack_has_ready (thief))
        continue;
      stack->seat.leaps = TRUE;
      pthread_cond_signal (&stack->seat.cond);
      return;
    }
}

void
seat_poke (Engine *engine)
{
  if (length_hint (&engine->seats.free) > 0)
    {
      pthread_mutex_lock (&engine->lock);
      seat_dispatch (engine, 1, FALSE);
      if (seat_is_idle_for_good (engine))
        wake_leapfrogger (engine);
      pthread_mutex_unlock (&engine->lock);
    }
  /* The work was made public before this load. engine_request_work stores `owed` and then looks for
   * work. So one of them sees the other. */
  if (request_is_owed (&engine->request) && request_take (&engine->request))
    mailbox_raise (engine, &(EngineEvent){ .kind = ENGINE_SHARED });
}

/* Tells the driver how many seats are idle if they are more than at the last call and the inbox is
 * empty. */
static void
say_hungry (Engine *engine)
{
  guint idle = MIN (engine->seats.free, room (engine));
  EngineEvent event = { .kind = ENGINE_HUNGRY, .seats = idle };

  if (idle > engine->seats.hungry_said && engine->inbox.queue.length == 0)
    mailbox_raise_quietly (engine, &event);
  engine->seats.hungry_said = idle;
}

gboolean
seat_timed_wait (Stack *stack, glong ns)
{
  struct timespec until;

  clock_gettime (CLOCK_MONOTONIC, &until);
  until.tv_nsec += ns % 1000000000;
  until.tv_sec += ns / 1000000000 + until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  return pthread_cond_timedwait (&stack->seat.cond, &stack->engine->lock, &until) == ETIMEDOUT;
}

/* The scout is the stack that fell asleep last. While jobs run here that might spawn, it looks for
 * work now and then. When it has found a job, it wakes the next stack (seat_begin_work). */
static gboolean
is_scout (Stack *stack)
{
  Engine *engine = stack->engine;

  return __atomic_load_n (&engine->seats.busy, __ATOMIC_SEQ_CST) > 0 && room (engine) > 0
         && g_queue_peek_head (&engine->seats.asleep) == stack;
}

/* If the stack still is the scout, it takes a seat to look once for work. */
static void
look_around (Stack *stack)
{
  if (stack->seat.state != STACK_ASLEEP || stack->engine->seats.free == 0 || !is_scout (stack))
    return;
  g_queue_remove (&stack->engine->seats.asleep, stack);
  stack->seat.beyond = FALSE;
  give_seat (stack);
  stack->own.polls = TRUE;
}

/* TRUE: all stacks that run a job have the flag MOVE, so each wakes a thief as soon as it
 * spawns. */
static gboolean
all_are_asked (Engine *engine)
{
  for (guint i = 0; i < engine->n_stacks; i++)
    if (clock_runs (engine->stacks[i]) && !(stack_flags (engine->stacks[i]) & STACK_FLAG_MOVE))
      return FALSE;
  return TRUE;
}

/* If the scout found nothing and all stacks have been asked, its next pause is longer. It still
 * looks: a stack may have served the flag while it had no job to give, and makes no job public by
 * itself later. */
static void
set_next_look (Stack *stack)
{
  Engine *engine = stack->engine;

  if (stack->own.polls && all_are_asked (engine))
    engine->seats.look_ns = CLAMP (2 * engine->seats.look_ns, SEAT_LOOK_NS, SEAT_LOOK_MAX_NS);
  else
    engine->seats.look_ns = SEAT_LOOK_NS;
}

/* The stack's thread drives, unless another one does. FALSE: it did not. */
static gboolean
be_idle (Stack *stack)
{
  Engine *engine = stack->engine;
  gint64 look_us = is_scout (stack) ? engine->seats.look_ns / 1000 : 0;
  gboolean drove;

  if (engine->config.idle == NULL || engine->seats.idler != NULL)
    return FALSE;
  engine->seats.idler = stack;
  __atomic_store_n (&engine->seats.roused, FALSE, __ATOMIC_RELAXED);
  pthread_mutex_unlock (&engine->lock);
  drove = engine->config.idle (engine->config.data, look_us);
  pthread_mutex_lock (&engine->lock);
  engine->seats.idler = NULL;
  if (drove && look_us > 0)
    look_around (stack);
  return drove;
}

static gboolean
sleeps_on (Stack *stack)
{
  Engine *engine = stack->engine;

  return stack->seat.state == STACK_ASLEEP && !seat_engine_ends (engine) && !engine->orders.halting;
}

static gboolean
is_surplus (Stack *stack)
{
  return sleeps_on (stack)
         && (guint)g_queue_index (&stack->engine->seats.asleep, stack)
                >= stack->engine->config.workers;
}

/* Sleeps until its condition is signalled. A thread keeps heaps of malloc and GLib. So a thread
 * beyond the number of seats ends after surplus_ms without work. FALSE: this thread has to end. */
static gboolean
rest (Stack *stack)
{
  Engine *engine = stack->engine;

  if (engine->n_stacks <= engine->config.workers)
    {
      pthread_cond_wait (&stack->seat.cond, &engine->lock);
      return TRUE;
    }
  if (!seat_timed_wait (stack, (glong)engine->config.surplus_ms * 1000000) || !is_surplus (stack))
    return TRUE;
  /* There is less to do than before, so memory goes back to the system. This comes before `gone`:
   * worker_again may wait for the end of this thread under the lock. */
  pthread_mutex_unlock (&engine->lock);
  (void)memory_give_back ();
  pthread_mutex_lock (&engine->lock);
  stack->seat.gone = is_surplus (stack);
  return !stack->seat.gone;
}

gboolean
seat_sleep (Stack *stack)
{
  Engine *engine = stack->engine;

  stack->seat.state = STACK_ASLEEP;
  set_next_look (stack);
  stack->own.polls = FALSE;
  stack->own.slept = TRUE;
  length_put (&engine->seats.free, engine->seats.free + 1);
  g_queue_push_head (&engine->seats.asleep, stack);
  stack_take_flags (stack);
  seat_scan_served (stack);
  seat_dispatch (engine, engine->inbox.queue.length, FALSE);
  say_hungry (engine);
  while (sleeps_on (stack))
    {
      /* The stack may have got a seat in be_idle, without a signal: the idler is only roused. */
      if (be_idle (stack) || !sleeps_on (stack))
        continue;
      mailbox_tell (engine);
      if (!is_scout (stack))
        {
          if (!rest (stack))
            return FALSE;
        }
      else if (seat_timed_wait (stack, (glong)engine->seats.look_ns))
        look_around (stack);
    }
  mailbox_tell (engine);
  return !seat_engine_ends (engine) && !engine->orders.halting;
}

void
seat_leave (Stack *stack)
{
  Engine *engine = stack->engine;

  stack->seat.state = STACK_PARKED;
  length_put (&engine->seats.free, engine->seats.free + 1);
  engine->seats.n_parked++;
  engine->seats.parked_max = MAX (engine->seats.parked_max, engine->seats.n_parked);
  seat_dispatch (engine, 1, FALSE);
}

void
seat_want (Stack *stack)
{
  Engine *engine = stack->engine;

  stack->seat.state = STACK_READY;
  g_queue_push_tail (&engine->seats.ready, stack);
  length_put (&engine->seats.n_ready, engine->seats.ready.length);
  seat_dispatch (engine, 0, FALSE);
}

gboolean
seat_is_wanted (const Stack *stack)
{
  Engine *engine = stack->engine;

  return stack->seat.state == STACK_READY && !seat_engine_ends (engine) && !engine->orders.halting;
}

gboolean
seat_return (Stack *stack)
{
  Engine *engine = stack->engine;

  engine->seats.n_parked--;
  return !seat_engine_ends (engine) && !engine->orders.halting;
}

void
seat_begin_work (Stack *stack)
{
  Engine *engine = stack->engine;
  gboolean first, slept = stack->own.slept;

  stack->own.slept = FALSE;
  stack->own.polls = FALSE;
  clock_start (stack);
  stack->own.eager = (Eager){ EAGER_SYNCS, TRUE, clock_us () };
  stack_ask (stack, STACK_FLAG_MOVE);
  first = __atomic_fetch_add (&engine->seats.busy, 1, __ATOMIC_SEQ_CST)
          == 0; /* pairs with is_scout */
  if (!first && !(slept && length_hint (&engine->seats.free) > 0))
    return;
  pthread_mutex_lock (&engine->lock);
  seat_dispatch (engine, 1, FALSE); /* there may be more jobs where this one came from */
  pthread_mutex_unlock (&engine->lock);
}

void
seat_end_work (Stack *stack)
{
  clock_stop (stack);
  __atomic_fetch_sub (&stack->engine->seats.busy, 1, __ATOMIC_SEQ_CST); /* pairs with is_scout */
}
