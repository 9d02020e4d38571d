/* SPDX-License-Identifier: BSD-3-Clause */
/* Aborts. A child that has not started is dropped. If another node holds a child, the driver tells
 * that node. If another stack runs a child, that child is a loan, which the stack leaves at its
 * next poll: it drops its slots above the mark where the loan began, waits until other stacks have
 * left these slots in turn, jumps to the mark, and answers. So a stack leaves one loan at a time,
 * the newest first, and every wait points down the tree. Owner threads, except abort_held. */
#include "config.h"

#include "abort.h"

#include "../door/pending.h"
#include "../tree/adopt.h"
#include "../tree/trace.h"
#include "wait.h"
#include "worker.h"

#include <sched.h>

gboolean
abort_change_state (SatinSlot_ *slot, guint32 state)
{
  guint32 now = slot_state (slot);

  return SLOT_STATE (now) != SLOT_ABORTED && slot_change_state (slot, now, SLOT_KIND (now) | state);
}

void
abort_answer (Stack *victim, SatinSlot_ *slot)
{
  slot_finish (slot, SLOT_DROPPED);
  worker_wake (victim, slot);
}

static void
ask (Stack *stack)
{
  stack_ask (stack, STACK_FLAG_ABORT);
  worker_wake (stack, NULL);
}

/* Drops or aborts the slot, as far as that needs no wait. TRUE: no thread uses the slot, now or
 * later. */
static gboolean
forget_slot (Stack *stack, SatinSlot_ *slot)
{
  Engine *engine = stack->engine;

  for (;;)
    {
      guint32 state = slot_state (slot);

      switch (SLOT_STATE (state))
        {
        case SLOT_READY:
          if (slot < stack->own.split)
            return FALSE; /* claimed just now; its thief is about to store STOLEN */
          slot_set_state (slot, SLOT_DROPPED);
          return TRUE;
        case SLOT_STOLEN:
          if (!slot_change_state (slot, state, SLOT_ABORTED_BY (SLOT_THIEF (state))))
            break;
          if (SLOT_THIEF (state) != SLOT_DRIVER)
            ask (engine->stacks[SLOT_THIEF (state)]);
          return FALSE;
        case SLOT_AWAY:
          if (!pending_cancel (engine, slot))
            return FALSE; /* the driver is about to store its result or to give it back */
          slot_set_state (slot, SLOT_KIND (state) | SLOT_DROPPED);
          return TRUE;
        case SLOT_BACK:
          if (!slot_change_state (slot, state, SLOT_DROPPED))
            break;
          return TRUE;
        case SLOT_ABORTED:
          return FALSE;
        default:
          return TRUE;
        }
    }
}

/* Drops the slots [first, top), which belong to `self` or to jobs under it, and waits until thieves
 * of this engine have left them. Finished children stay. */
static void
forget (Stack *stack, SatinSlot_ *self, SatinSlot_ *first, SatinSlot_ *top)
{
  stack_lower_all (stack, first);
  for (SatinSlot_ *slot = first; slot < top; slot++)
    forget_slot (stack, slot);
  for (SatinSlot_ *slot = first; slot < top; slot++)
    while (!forget_slot (stack, slot))
      if (SLOT_STATE (slot_state (slot)) == SLOT_ABORTED)
        wait_left (stack, self, slot, top);
      else
        sched_yield ();
}

gboolean
abort_is_due (Stack *stack)
{
  if (stack->own.leaving)
    return FALSE;
  for (SatinSlot_ *slot = stack->own.mark; slot != NULL; slot = slot_origin (slot)->mark->outer)
    if (origin_is_aborted (slot_origin (slot)))
      return TRUE;
  return FALSE;
}

static void leave (Stack *stack, SatinSlot_ *self, SatinSlot_ *top) G_GNUC_NORETURN;

static void
leave (Stack *stack, SatinSlot_ *self, SatinSlot_ *top)
{
  SatinSlot_ *first = stack->own.mark + 2;
  Mark *mark = slot_origin (stack->own.mark)->mark;

  stack->own.leaving = TRUE;
  forget (stack, self, first, top);
  stack->own.leaving = FALSE;
  stack_release (stack, first, self, top);
  g_ptr_array_set_size (stack->own.fresh, (gint)mark->fresh);
  stack->open.fresh = mark->fresh;
  stack->own.arena_top = mark->arena;
  longjmp (mark->jump, 1);
}

void
abort_serve (Stack *stack, SatinSlot_ *self, SatinSlot_ *top, guint32 others)
{
  if (!abort_is_due (stack))
    return;
  if (stack_is_parked (stack))
    {
      stack_ask (stack, STACK_FLAG_ABORT);
      return;
    }
  stack_ask (stack, others);
  leave (stack, self, top);
}

void
abort_held (Engine *engine, Held *held)
{
  held_abort (held);
  for (guint i = 0; i < engine->n_stacks; i++)
    {
      stack_ask (engine->stacks[i], STACK_FLAG_ABORT);
      pthread_cond_signal (&engine->stacks[i]->seat.cond);
    }
}

gboolean
abort_is_seen (void)
{
  Stack *stack = worker_here ();

  return stack != NULL && trace_is_aborted (stack);
}

uint32_t
satin_forget_ (SatinStack_ *open, SatinSlot_ *self, SatinSlot_ *base, SatinSlot_ *first,
               SatinSlot_ *top)
{
  Stack *stack = (Stack *)open;
  uint32_t n_finished = 0;

  satin_poll_ (open, self, top);
  forget (stack, self, first, top);
  for (SatinSlot_ *slot = first; slot < top; slot++)
    {
      stack_count_elsewhere (stack, slot);
      n_finished += slot_state (slot) != SLOT_DROPPED;
    }
  if (watch_node (stack, self) != NULL)
    watch_news (stack, self, top); /* tells the holders of dropped children */
  stack_close (stack, base);
  return n_finished;
}
