/* SPDX-License-Identifier: BSD-3-Clause */
/* design.md 4, "Waiting": nothing foreign above a waiting frame. On top of it runs only what comes
 * back to it, or a job from the stack that runs the awaited child (leapfrogging: all that this
 * stack offers lies below that child). For anything else, after a short spin, the stack is parked
 * and its seat goes to another. */
#include "config.h"

#include "wait.h"

#include "adopt.h"
#include "scan.h"
#include "seat.h"
#include "worker.h"

#include <sched.h>

/* How long a stack that waits keeps its seat. */
#define WAIT_SPIN_US 60
/* Somebody elsewhere waits for work and nothing is ready here: so many syncs in a row look again.
 * After that the driver has to ask anew, so a program without parallelism is not slowed. */
#define WAIT_VAIN_MOVES_MAX 64
/* How often a parked stack looks for something to leapfrog to when the limit of stacks is reached:
 * below a stack that runs, and when that may change. */
#define PARKED_LOOK_NS 1000000
#define PARKED_LOOK_FAR_NS 10000000

void
wait_serve (Stack *stack, SatinSlot_ *self, SatinSlot_ *end, SatinSlot_ *top)
{
  guint32 flags = stack_take_flags (stack);

  if (flags & STACK_FLAG_HALT)
    worker_halt (stack, self, top);
  if (flags & STACK_FLAG_NEWS)
    watch_news (stack, self, top);
  if (flags & STACK_FLAG_SCAN)
    scan_stack (stack, self, top, (flags & STACK_FLAG_WHOLE) ? SCAN_WHOLE : SCAN_NEW);
  if (flags & STACK_FLAG_MOVE)
    {
      SatinSlot_ *split = stack->split_own;

      stack_grow (stack, end);
      if (stack->split_own > split)
        {
          stack->vain_moves = 0;
          seat_poke (stack->engine);
        }
      else if (__atomic_load_n (&stack->engine->owed, __ATOMIC_RELAXED)
               && ++stack->vain_moves % WAIT_VAIN_MOVES_MAX != 0)
        stack_ask (stack, STACK_FLAG_MOVE);
    }
  stack_set_guard (stack);
}

void
wait_run_child (Stack *stack, SatinSlot_ *self, SatinSlot_ *slot, SatinSlot_ *top)
{
  gboolean watched = watch_node (stack, self) != NULL;

  slot_set_state (slot, SLOT_STARTED);
  if (watched)
    watch_child (stack, slot, slot_number (stack, slot));
  slot_run (stack, slot, top);
  watch_settle (stack, self);
}

static gboolean
is_finished (SatinSlot_ *slot)
{
  guint32 kind = SLOT_KIND (slot_state (slot));

  return kind == SLOT_RETURNED || kind == SLOT_STARTED;
}

/* A child of the waiting frame that came back, NULL: none. */
static SatinSlot_ *
find_back (SatinSlot_ *first, SatinSlot_ *top)
{
  for (SatinSlot_ *slot = first; slot < top; slot++)
    if (slot_state (slot) == SLOT_BACK)
      return slot;
  return NULL;
}

static gboolean
run_back (Stack *stack, SatinSlot_ *self, SatinSlot_ *first, SatinSlot_ *top)
{
  SatinSlot_ *slot = find_back (first, top);

  if (slot == NULL || !slot_change_state (slot, SLOT_BACK, SLOT_STOLEN_BY (SLOT_DRIVER)))
    return FALSE;
  if (!adopt_claimed (stack->engine, stack, slot))
    wait_run_child (stack, self, slot, top);
  return TRUE;
}

/* Takes a job from the stack that runs the awaited child. */
static gboolean
leapfrog (Stack *stack, SatinSlot_ *self, SatinSlot_ *awaited, guint32 state, SatinSlot_ *top)
{
  Engine *engine = stack->engine;
  SatinSlot_ *slot;
  Stack *victim;
  gboolean dry;

  if (SLOT_KIND (state) != SLOT_STOLEN || SLOT_THIEF (state) == SLOT_DRIVER)
    return FALSE;
  victim = engine->stacks[SLOT_THIEF (state)];
  slot = stack_claim (victim, &dry);
  if (slot == NULL)
    {
      if (dry)
        worker_ask (stack, victim);
      return FALSE;
    }
  if (slot_state (awaited) != state)
    {
      /* It returned meanwhile: what we claimed may be foreign. */
      slot_set_state (slot, SLOT_STOLEN_BY (SLOT_DRIVER));
      worker_give_back (victim, slot);
      return FALSE;
    }
  slot_set_state (slot, SLOT_STOLEN_BY (stack->number));
  if (!adopt_claimed (engine, victim, slot))
    worker_run_stolen (stack, victim, slot, top, self);
  return TRUE;
}

/* At the limit of stacks nobody else can take an idle seat: then a parked stack looks now and then
 * whether it can leapfrog. TRUE: it is to try. */
static gboolean
sleep_parked (Stack *stack, SatinSlot_ *slot)
{
  Engine *engine = stack->engine;
  guint32 state = slot_state (slot);
  gboolean thief_runs = SLOT_KIND (state) == SLOT_STOLEN && SLOT_THIEF (state) != SLOT_DRIVER
                        && engine->stacks[SLOT_THIEF (state)]->state == STACK_RUNNING;

  if (!seat_is_idle_for_good (engine))
    {
      pthread_cond_wait (&stack->cond, &engine->lock);
      return FALSE;
    }
  return seat_timed_wait (stack, thief_runs ? PARKED_LOOK_NS : PARKED_LOOK_FAR_NS) && thief_runs
         && seat_is_idle_for_good (engine);
}

/* Sleeps without a seat until the slot, or another child, has changed; serves wishes meanwhile. */
static void
park (Stack *stack, SatinSlot_ *self, SatinSlot_ *first, SatinSlot_ *slot, SatinSlot_ *top)
{
  Engine *engine = stack->engine;
  gboolean go_on;

  seat_end_work (stack);
  timeline_begin (stack->lane, "parked", NULL, 0);
  __atomic_store_n (&stack->parked, 1, __ATOMIC_SEQ_CST); /* pairs with worker_wake */
  pthread_mutex_lock (&engine->lock);
  seat_leave (stack);
  while (!is_finished (slot) && find_back (first, top) == NULL && !seat_engine_ends (engine))
    {
      if (stack_flags (stack) == 0)
        {
          if (sleep_parked (stack, slot))
            break;
          continue;
        }
      pthread_mutex_unlock (&engine->lock);
      wait_serve (stack, self, top, top);
      pthread_mutex_lock (&engine->lock);
    }
  go_on = seat_want (stack);
  pthread_mutex_unlock (&engine->lock);
  __atomic_store_n (&stack->parked, 0, __ATOMIC_RELAXED); /* a wake-up too many does no harm */
  timeline_end (stack->lane);
  if (!go_on && (stack_flags (stack) & STACK_FLAG_HALT))
    worker_halt (stack, self, top);
  if (!go_on)
    worker_leave (stack, self, top);
  seat_begin_work (stack);
}

void
wait_for (Stack *stack, SatinSlot_ *self, SatinSlot_ *first, SatinSlot_ *slot, SatinSlot_ *top)
{
  Engine *engine = stack->engine;
  guint64 until_us = clock_us () + WAIT_SPIN_US;

  if (is_finished (slot))
    return;
  if (stack_publish (stack, top))
    seat_poke (engine);
  while (!is_finished (slot))
    {
      if (stack_flags (stack) != 0)
        wait_serve (stack, self, top, top);
      if (run_back (stack, self, first, top)
          || leapfrog (stack, self, slot, slot_state (slot), top))
        {
          until_us = clock_us () + WAIT_SPIN_US;
          continue;
        }
      if (__atomic_load_n (&engine->n_ready, __ATOMIC_RELAXED) == 0 && clock_us () < until_us)
        {
          sched_yield ();
          continue;
        }
      park (stack, self, first, slot, top);
      until_us = clock_us () + WAIT_SPIN_US;
    }
}
