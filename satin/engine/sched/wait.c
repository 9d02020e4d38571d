/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits, and what a stack does meanwhile. Above a waiting frame run only two kinds of jobs: its own
 * children that came back, and jobs of the stack that runs the awaited child (leapfrogging: these
 * lie below that child). If there is none, the stack spins a little, then it is parked and gives
 * its seat away. Owner threads. */
#include "config.h"

#include "wait.h"

#include "../save/scan.h"
#include "../tree/adopt.h"
#include "../tree/look.h"
#include "../tree/replay.h"
#include "../tree/stray.h"
#include "abort.h"
#include "seat.h"
#include "worker.h"

#include <sched.h>

/* A waiting stack keeps its seat this long. */
#ifdef SATIN_STEPS_
#define WAIT_SPIN_US 0 /* time stands still in the tests of all interleavings */
#else
#define WAIT_SPIN_US 60
#endif
/* If another node waits for work and too few jobs are ready here, this many syncs at most look
 * again for each request. After that the driver has to ask anew, so that a program without
 * parallelism is not slowed. */
#define WAIT_VAIN_MOVES_MAX 64
/* After a request this many syncs measure how long jobs are. A gap of EAGER_LONG_US between two of
 * them means long jobs, and to make all jobs public costs little then. */
#define EAGER_PROBES 4
#define EAGER_LONG_US 50
/* lies_below looks this many levels up at most. */
#define LEAPFROG_LOOKS 64
/* A parked stack looks this often for a job to leapfrog to, at the limit of stacks. The stack that
 * runs its awaited child may have had no job when it was asked, or no seat. */
#define PARKED_LOOK_NS 10000000

/* The condition that ends a wait. */
typedef enum
{
  WAIT_RESULT, /* `slot` is finished */
  WAIT_ANY,    /* a child in [first, end) that was not handed out is finished */
  WAIT_LEFT    /* the thief has left `slot` */
} WaitKind;

/* `self` waits. Its children end at `top`; those in [first, end) may come back to it. WAIT_ANY
 * looks for a finished child from `slot` on first. */
typedef struct
{
  Stack *stack;
  WaitKind kind;
  SatinSlot_ *self, *first, *slot, *end;
  SatinSlot_ *top;
} Wait;

/* FALSE: the owner has looked too often for this request. */
static gboolean
count_vain_move (VainMoves *vain, guint request)
{
  vain->n = vain->request == request ? vain->n + 1 : 1;
  vain->request = request;
  return vain->n <= WAIT_VAIN_MOVES_MAX;
}

/* TRUE: this sync makes all jobs public. */
static gboolean
is_eager (Eager *eager)
{
  guint64 now_us = clock_us ();
  gboolean is_long = eager->left > 0 && now_us >= eager->at_us + EAGER_LONG_US;

  if (is_long)
    *eager = (Eager){ EAGER_SYNCS, TRUE, 0 };
  else if (eager->left == 0)
    *eager = (Eager){ EAGER_PROBES, FALSE, 0 };
  eager->left -= eager->left > 0;
  eager->at_us = now_us;
  return eager->all;
}

/* Thieves wait, or may come: makes half of the private jobs public. If many thieves wait it makes
 * more public, since jobs may be few and long. The next syncs look again until the jobs suffice. */
static void
serve_thieves (Stack *stack, SatinSlot_ *end)
{
  Engine *engine = stack->engine;
  gboolean all = is_eager (&stack->own.eager);
  guint wanted = length_hint (&engine->request.thieves);
  guint request = length_hint (&engine->request.number);
  gboolean lacks, grows, grew = FALSE;

  do
    {
      grows = stack_grow (stack, end);
      grew = grew || grows;
      lacks = wanted > 1 && stack_count_ready (stack, wanted) < wanted;
    }
  while ((all || lacks) && grows);
  if (grew)
    seat_poke (engine);
  lacks = lacks || length_hint (&engine->request.owed);
  if (stack->own.eager.left > 0 || (lacks && count_vain_move (&stack->own.vain, request)))
    stack_ask (stack, STACK_FLAG_MOVE);
}

void
wait_serve (Stack *stack, SatinSlot_ *self, SatinSlot_ *end, SatinSlot_ *top)
{
  guint32 flags = stack_take_flags (stack);

  if (flags & STACK_FLAG_ABORT)
    abort_serve (stack, self, top, flags & ~(guint32)STACK_FLAG_ABORT);
  if (flags & STACK_FLAG_LOOK)
    look_serve (stack, self);
  if (flags & STACK_FLAG_HALT)
    worker_halt (stack, self, top, (flags & STACK_FLAG_WHOLE) != 0);
  if (flags & STACK_FLAG_NEWS)
    watch_news (stack, self, top);
  if (flags & STACK_FLAG_SCAN)
    scan_stack (stack, self, top, (flags & STACK_FLAG_WHOLE) ? SCAN_WHOLE : SCAN_NEW);
  if (flags & STACK_FLAG_MOVE)
    {
      stack_pass_over (stack, self, end);
      serve_thieves (stack, end);
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
  replay_begin (stack, slot);
  slot_run (stack, slot, top);
  replay_end (stack, slot);
  stray_look (stack, slot, top);
  watch_settle (stack, self);
}

/* A child of the waiting frame that came back; NULL: none. There may be a million children, so it
 * looks at them only while the list of slots that came back is not empty. */
static SatinSlot_ *
find_back (Engine *engine, SatinSlot_ *first, SatinSlot_ *end)
{
  /* Pairs with worker_give_back. The caller has stored `awaited` before, or will look again. */
  if (back_is_empty (&engine->back))
    return NULL;
  for (SatinSlot_ *slot = first; slot < end; slot++)
    if (slot_state (slot) == SLOT_BACK)
      return slot;
  return NULL;
}

static gboolean
run_back (const Wait *wait)
{
  Stack *stack = wait->stack;
  SatinSlot_ *slot = find_back (stack->engine, wait->first, wait->end);

  if (slot == NULL || !slot_change_state (slot, SLOT_BACK, SLOT_STOLEN_BY (SLOT_DRIVER)))
    return FALSE;
  if (!adopt_claimed (stack->engine, stack, slot))
    wait_run_child (stack, wait->self, slot, wait->top);
  return TRUE;
}

/* TRUE: the slot of `stack` lies below the awaited job, or LEAPFROG_LOOKS levels are too few to
 * tell. The way up may lead over several stacks; the jobs on it wait, so they do not change. */
static gboolean
lies_below (Stack *stack, SatinSlot_ *slot, const SatinSlot_ *awaited)
{
  for (guint looks = 0; looks < LEAPFROG_LOOKS; looks++)
    {
      guint32 parent = slot_parent (slot);

      slot = slot_at (stack, parent);
      if (parent & PARENT_ORIGIN)
        {
          const Origin *origin = slot_origin (slot);

          if (origin->held != NULL)
            return FALSE;
          stack = origin->victim;
          slot = origin->slot;
        }
      if (slot == awaited)
        return TRUE;
    }
  return TRUE;
}

/* Takes a job from the stack that runs the awaited child. */
static gboolean
leapfrog (Stack *stack, SatinSlot_ *self, SatinSlot_ *awaited, guint32 state, SatinSlot_ *top)
{
  Engine *engine = stack->engine;
  SatinSlot_ *slot;
  Stack *victim;

  if (SLOT_STATE (state) != SLOT_STOLEN || SLOT_THIEF (state) == SLOT_DRIVER)
    return FALSE;
  victim = engine->stacks[SLOT_THIEF (state)];
  slot = worker_claim (stack, victim);
  if (slot == NULL)
    return FALSE;
  if (slot_state (awaited) != state)
    {
      /* The awaited child returned meanwhile, so the claimed job may lie elsewhere in the tree. */
      slot_set_state (slot, SLOT_STOLEN_BY (SLOT_DRIVER));
      worker_give_back (victim, slot);
      return FALSE;
    }
  g_assert (lies_below (victim, slot, awaited));
  slot_set_state (slot, SLOT_STOLEN_BY (stack->number));
  worker_run_stolen (stack, victim, slot, top, self);
  return TRUE;
}

/* At the limit of stacks no other stack can take a free seat. Then a parked stack leapfrogs as soon
 * as the stack that runs its awaited child has a public job. TRUE: the caller tries that. */
static gboolean
sleep_parked (const Wait *wait)
{
  Stack *stack = wait->stack;
  Engine *engine = stack->engine;
  gboolean late = FALSE;

  /* `leaps` may have been set while the stack served its flags and did not sleep. */
  if (!stack->seat.leaps && seat_is_idle_for_good (engine))
    late = seat_timed_wait (stack, PARKED_LOOK_NS);
  else if (!stack->seat.leaps)
    pthread_cond_wait (&stack->seat.cond, &engine->lock);
  return wait->kind == WAIT_RESULT && (stack->seat.leaps || late) && seat_is_idle_for_good (engine)
         && seat_thief_of (stack, wait->slot) != NULL;
}

static gboolean
wait_is_over (const Wait *wait)
{
  switch (wait->kind)
    {
    case WAIT_RESULT:
      return slot_is_finished (wait->slot);
    case WAIT_LEFT:
      return SLOT_STATE (slot_state (wait->slot)) != SLOT_ABORTED;
    case WAIT_ANY:
      break;
    }
  return slot_find_result (wait->slot, wait->end) != NULL
         || slot_find_result (wait->first, wait->slot) != NULL;
}

/* TRUE: the stack has something to do before the wait is over. */
static gboolean
has_to_act (const Wait *wait)
{
  return abort_is_due (wait->stack)
         || (wait->kind != WAIT_LEFT
             && find_back (wait->stack->engine, wait->first, wait->end) != NULL);
}

/* (lock held; released while the stack serves) A stack may wait for a seat as long as the longest
 * job takes. So it serves its flags meanwhile, except an abort, which needs the seat. FALSE: the
 * engine ends or halts. */
static gboolean
return_to_seat (const Wait *wait)
{
  Stack *stack = wait->stack;
  Engine *engine = stack->engine;

  seat_want (stack);
  while (seat_is_wanted (stack))
    {
      if (!stack_is_asked (stack) || abort_is_due (stack))
        {
          pthread_cond_wait (&stack->seat.cond, &engine->lock);
          continue;
        }
      pthread_mutex_unlock (&engine->lock);
      wait_serve (stack, wait->self, wait->top, wait->top);
      pthread_mutex_lock (&engine->lock);
    }
  return seat_return (stack);
}

/* Sleeps without a seat until the wait is over or the stack has something to do. Serves the flags
 * meanwhile. */
static void
park (const Wait *wait)
{
  Stack *stack = wait->stack;
  Engine *engine = stack->engine;
  gboolean go_on;

  seat_end_work (stack);
  timeline_begin (stack->own.lane, "parked", NULL, 0);
  stack_await (stack, wait->kind == WAIT_ANY ? STACK_ANY : wait->slot);
  pthread_mutex_lock (&engine->lock);
  stack->seat.leaps = FALSE;
  seat_leave (stack);
  while (!wait_is_over (wait) && !has_to_act (wait) && !seat_engine_ends (engine))
    {
      if (!stack_is_asked (stack))
        {
          if (sleep_parked (wait))
            break;
          stack->seat.leaps = FALSE;
          continue;
        }
      pthread_mutex_unlock (&engine->lock);
      wait_serve (stack, wait->self, wait->top, wait->top);
      pthread_mutex_lock (&engine->lock);
    }
  go_on = return_to_seat (wait);
  pthread_mutex_unlock (&engine->lock);
  stack_await_nothing (stack);
  timeline_end (stack->own.lane);
  if (!go_on && (stack_flags (stack) & STACK_FLAG_HALT))
    worker_halt (stack, wait->self, wait->top, (stack_flags (stack) & STACK_FLAG_WHOLE) != 0);
  if (!go_on)
    worker_leave (stack, wait->self, wait->top);
  seat_begin_work (stack);
}

/* Runs a job that may run above the waiting frame. TRUE: it ran one, or another node turned out to
 * hold that job. */
static gboolean
run_on_top (const Wait *wait)
{
  if (wait->kind == WAIT_LEFT)
    return FALSE;
  if (run_back (wait))
    return TRUE;
  return wait->kind == WAIT_RESULT
         && leapfrog (wait->stack, wait->self, wait->slot, slot_state (wait->slot), wait->top);
}

static void
wait_until_over (const Wait *wait)
{
  Stack *stack = wait->stack;
  Engine *engine = stack->engine;
  guint64 until_us = clock_us () + WAIT_SPIN_US;

  while (!wait_is_over (wait))
    {
      if (stack_flags (stack) != 0)
        wait_serve (stack, wait->self, wait->top, wait->top);
      if (run_on_top (wait))
        {
          until_us = clock_us () + WAIT_SPIN_US;
          continue;
        }
      if (length_hint (&engine->seats.n_ready) == 0 && clock_us () < until_us)
        {
          sched_yield ();
          continue;
        }
      park (wait);
      until_us = clock_us () + WAIT_SPIN_US;
    }
}

/* Makes all children public. */
static void
publish (Stack *stack, SatinSlot_ *self, SatinSlot_ *top)
{
  stack_pass_over (stack, self, top);
  if (stack_publish (stack, top))
    seat_poke (stack->engine);
}

void
wait_for (Stack *stack, SatinSlot_ *self, SatinSlot_ *first, SatinSlot_ *slot, SatinSlot_ *top)
{
  Wait wait = { stack, WAIT_RESULT, self, first, slot, top, top };

  if (slot_is_finished (slot))
    return;
  publish (stack, self, top);
  wait_until_over (&wait);
}

void
wait_any (Stack *stack, const Next *next)
{
  Wait wait = { stack,      WAIT_ANY, next->self, next->low, MAX (next->low, next->look),
                next->high, next->top };

  publish (stack, next->self, next->top);
  wait_until_over (&wait);
}

void
wait_left (Stack *stack, SatinSlot_ *self, SatinSlot_ *slot, SatinSlot_ *top)
{
  Wait wait = { stack, WAIT_LEFT, self, slot, slot, top, top };

  wait_until_over (&wait);
}
