/* SPDX-License-Identifier: BSD-3-Clause */
/* satin_sync_next: hands out a finished child, and runs children until there is one. The stack runs
 * its private children from the top down and hands out each at once. Children that others run lie
 * in the public part below. Owner threads.
 * Tests: test-sync-next. */
#include "config.h"

#include "../save/clock.h"
#include "../tree/adopt.h"
#include "../tree/replay.h"
#include "wait.h"

#define LOOK_PAUSE 16 /* the pause after a look, in multiples of the time that it took */

static gboolean
is_handed (SatinSlot_ *slot)
{
  return (slot_parent (slot) & PARENT_HANDED) != 0;
}

/* Thieves take the oldest jobs first, so results come in about that order. The search goes on
 * behind the child that was found last, then begins anew. NULL: no child below `end` has a
 * result. */
static SatinSlot_ *
find_result (Next *next, SatinSlot_ *end)
{
  SatinSlot_ *from = MAX (next->low, MIN (next->look, end)), *slot = slot_find_result (from, end);

  if (slot == NULL)
    slot = slot_find_result (next->low, from);
  if (slot != NULL)
    next->look = slot + 1;
  return slot;
}

/* TRUE: another node holds this private child, whose slot waits for that node now. The caller calls
 * mailbox_tell. */
static gboolean
adopt_it (Stack *stack, SatinSlot_ *self, SatinSlot_ *slot)
{
  KnownNode *node = watch_node (stack, self);
  gboolean finished;

  return node != NULL && adopt_child (stack, node, slot, slot_number (stack, slot), &finished);
}

/* Goes down from *run over the children that no thief has claimed. Returns the first that is
 * finished and not handed out; a ready child is run and returned. NULL: thieves and other nodes
 * have all children that are left. */
static SatinSlot_ *
run_one (Stack *stack, SatinSlot_ *self, SatinSlot_ *low, SatinSlot_ **run, SatinSlot_ *top)
{
  while (*run > low)
    {
      SatinSlot_ *slot = *run - 1;

      if (!stack_lower (stack, slot))
        return NULL;
      *run = slot;
      if (slot_is_finished (slot) && !is_handed (slot))
        return slot;
      if (slot_state (slot) != SLOT_READY)
        continue;
      if (adopt_it (stack, self, slot))
        {
          mailbox_tell (stack->engine);
          continue;
        }
      wait_run_child (stack, self, slot, top);
      return slot;
    }
  return NULL;
}

/* News may have come for any child that has not begun: if another node holds it, its slot waits for
 * that node from now on. */
static void
adopt_all (Stack *stack, SatinSlot_ *self, SatinSlot_ *low, SatinSlot_ *top)
{
  stack_lower_all (stack, low);
  for (SatinSlot_ *slot = low; slot < top; slot++)
    if (slot >= stack->own.split && slot_state (slot) == SLOT_READY)
      adopt_it (stack, self, slot);
  mailbox_tell (stack->engine);
}

/* A child that others have finished; NULL: none. There may be a million children. So a look that
 * took long is not repeated soon: there are children to run meanwhile. */
static SatinSlot_ *
look (Stack *stack, SatinSlot_ *self, Next *next)
{
  guint64 begin_us = clock_us (), took_us;
  gboolean watched = watch_node (stack, self) != NULL;
  SatinSlot_ *slot;

  if (watched)
    adopt_all (stack, self, next->low, next->high);
  slot = find_result (next, watched ? next->high : MIN (stack->own.split, next->high));
  took_us = clock_us () - begin_us;
  next->look_us = begin_us + took_us + took_us * LOOK_PAUSE;
  return slot;
}

static Next
begin (Stack *stack, SatinSlot_ *self, SatinSlot_ *first, SatinSlot_ *top, gboolean begun)
{
  Next next = { .self = self, .low = first, .high = top, .run = top, .top = top }, *newest;

  while (stack->own.nexts->len > 0)
    {
      newest = &g_array_index (stack->own.nexts, Next, stack->own.nexts->len - 1);
      if (newest->self < self)
        break;
      if (newest->self == self && begun)
        next = *newest;
      g_array_set_size (stack->own.nexts, stack->own.nexts->len - 1);
    }
  if (next.top != top) /* more were spawned */
    next.high = next.run = next.top = top;
  return next;
}

SatinSlot_ *
satin_next_ (SatinStack_ *open, SatinSlot_ *self, SatinSlot_ *first, SatinSlot_ *top, int begun)
{
  Stack *stack = (Stack *)open;
  Next next = begin (stack, self, first, top, begun);
  SatinSlot_ *slot = NULL;

  stack_catch_up (stack, self, top, top);
  replay_run (stack, self, first, top, top);
  while (slot == NULL)
    {
      gboolean due;

      watch_settle (stack, self);
      if (stack_flags (stack) != 0)
        wait_serve (stack, self, next.run, top);
      while (next.low < top && is_handed (next.low))
        next.low++;
      while (next.high > next.low && is_handed (next.high - 1))
        next.high--;
      if (next.low == top)
        return NULL;
      due = clock_us () >= next.look_us;
      if (due)
        slot = look (stack, self, &next);
      if (slot == NULL)
        slot = run_one (stack, self, next.low, &next.run, top);
      if (slot == NULL && due)
        wait_any (stack, &next);
      if (slot == NULL)
        next.look_us = 0;
    }
  stack_count_elsewhere (stack, slot);
  g_array_append_val (stack->own.nexts, next);
  return slot;
}
