/* SPDX-License-Identifier: BSD-3-Clause */
/* satin_sync_next: which finished child is handed out, and what runs until there is one. Children
 * that this stack runs finish from the top down and are handed out at once; those that others run
 * lie in the public part below. Owner threads. */
#include "config.h"

#include "adopt.h"
#include "wait.h"

static gboolean
is_handed (SatinSlot_ *slot)
{
  return (slot_parent (slot) & PARENT_HANDED) != 0;
}

static gboolean
has_result (SatinSlot_ *slot)
{
  guint32 kind = SLOT_KIND (slot_state (slot));

  return (kind == SLOT_STARTED || kind == SLOT_RETURNED) && !is_handed (slot);
}

/* A child in [low, end) whose result is there, NULL: none. */
static SatinSlot_ *
find_result (SatinSlot_ *low, SatinSlot_ *end)
{
  for (SatinSlot_ *slot = low; slot < end; slot++)
    if (has_result (slot))
      return slot;
  return NULL;
}

/* Is a private child held elsewhere? Then it waits for that; mailbox_tell has to follow. */
static gboolean
adopt_it (Stack *stack, SatinSlot_ *self, SatinSlot_ *slot)
{
  KnownNode *node = watch_node (stack, self);
  gboolean finished;

  return node != NULL && adopt_child (stack, node, slot, slot_number (stack, slot), &finished);
}

/* Runs the topmost ready child below *run that is, or can be taken back; or finds one with a result
 * on the way. NULL: all that is left is with others. */
static SatinSlot_ *
run_one (Stack *stack, SatinSlot_ *self, SatinSlot_ *low, SatinSlot_ **run, SatinSlot_ *top)
{
  while (*run > low)
    {
      SatinSlot_ *slot = *run - 1;

      if (!stack_lower (stack, slot))
        return NULL;
      *run = slot;
      if (has_result (slot))
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

/* News may have come for any child, also one that was passed by. */
static void
adopt_all (Stack *stack, SatinSlot_ *self, SatinSlot_ *low, SatinSlot_ *top)
{
  stack_lower_all (stack, low);
  for (SatinSlot_ *slot = low; slot < top; slot++)
    if (slot >= stack->split_own && slot_state (slot) == SLOT_READY)
      adopt_it (stack, self, slot);
  mailbox_tell (stack->engine);
}

static Next
begin (Stack *stack, SatinSlot_ *self, SatinSlot_ *first, SatinSlot_ *top, gboolean begun)
{
  Next next = { self, first, top, top }, *newest;

  while (stack->nexts->len > 0)
    {
      newest = &g_array_index (stack->nexts, Next, stack->nexts->len - 1);
      if (newest->self < self)
        break;
      if (newest->self == self && begun)
        next = *newest;
      g_array_set_size (stack->nexts, stack->nexts->len - 1);
    }
  if (next.top != top) /* more were spawned */
    next.run = next.top = top;
  return next;
}

SatinSlot_ *
satin_next_ (SatinStack_ *open, SatinSlot_ *self, SatinSlot_ *first, SatinSlot_ *top, int begun)
{
  Stack *stack = (Stack *)open;
  Next next = begin (stack, self, first, top, begun);
  SatinSlot_ *slot = NULL;

  while (slot == NULL)
    {
      gboolean watched;

      satin_poll_ (open, self, top);
      while (next.low < top && is_handed (next.low))
        next.low++;
      if (next.low == top)
        return NULL;
      watched = watch_node (stack, self) != NULL;
      if (watched)
        adopt_all (stack, self, next.low, top);
      slot = find_result (next.low, watched ? top : MIN (stack->split_own, top));
      if (slot == NULL)
        slot = run_one (stack, self, next.low, &next.run, top);
      if (slot == NULL)
        wait_any (stack, self, next.low, top);
    }
  stack_count_elsewhere (stack, slot);
  g_array_append_val (stack->nexts, next);
  return slot;
}
