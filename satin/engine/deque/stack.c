/* SPDX-License-Identifier: BSD-3-Clause */
/* The marks of a job stack: what is public, how the owner gives and takes back, how thieves claim.
 * The owner's functions run on its thread, stack_claim and stack_ask on any. It must not know paths
 * or what waits where. Tests: test-deque, test-leapfrog. */
#include "config.h"

#include "stack.h"

#define TAIL_MASK ((G_GUINT64_CONSTANT (1) << STACK_TAIL_BITS) - 1)
#ifdef SATIN_PLANT_NO_TAG /* a bug on purpose: tests/unit/test-deque.c has to find it */
#define TAG_ONE G_GUINT64_CONSTANT (0)
#else
#define TAG_ONE (G_GUINT64_CONSTANT (1) << STACK_TAIL_BITS)
#endif

static SatinSlot_ *
tail_of (Stack *stack, guint64 tt)
{
  return stack->memory.slots + (tt & TAIL_MASK);
}

void
stack_set_guard (Stack *stack)
{
  SatinSlot_ *guard = MAX (stack->own.split, stack->own.limit);

  /* No request is lost: either we see its flag below, or its store of guard comes after ours. */
  __atomic_store_n (&stack->open.guard, guard, __ATOMIC_SEQ_CST);
  if (__atomic_load_n (&stack->shared.flags, __ATOMIC_SEQ_CST) != 0)    /* pairs with stack_ask */
    __atomic_store_n (&stack->open.guard, STACK_ALL, __ATOMIC_RELAXED); /* the owner's own */
}

void
stack_ask (Stack *stack, guint32 flags)
{
  if ((stack_flags (stack) & flags) == flags)
    return;
  __atomic_fetch_or (&stack->shared.flags, flags,
                     __ATOMIC_SEQ_CST); /* pairs with stack_set_guard */
  __atomic_store_n (&stack->open.guard, STACK_ALL, __ATOMIC_SEQ_CST); /* after the flag */
}

guint32
stack_take_flags (Stack *stack)
{
  SatinSlot_ *guard = MAX (stack->own.split, stack->own.limit);

  __atomic_store_n (&stack->open.guard, guard, __ATOMIC_SEQ_CST);
  return __atomic_exchange_n (&stack->shared.flags, 0, __ATOMIC_SEQ_CST); /* pairs with stack_ask */
}

/* The siblings behind a running child are finished: they become `started`. */
static void
note_behind (SatinSlot_ *slot, SatinSlot_ *top, guint32 parent)
{
  SatinSlot_ *first = slot;

  for (; slot < top && (slot_parent (slot) & ~PARENT_LIVING) == parent; slot++)
    {
      if (slot_parent (slot) & PARENT_NOTED)
        break;
      if (slot_state (slot) == SLOT_READY)
        slot_set_state (slot, SLOT_STARTED);
    }
  if (slot > first)
    __atomic_store_n (&first->parent, slot_parent (first) | PARENT_NOTED, __ATOMIC_RELAXED);
}

/* stack_ask stores the guard after its flag. If the owner took the flag in between, the guard stays
 * all ones without a flag, and each spawn and sync would take the slow path. */
static void
repair_guard (Stack *stack)
{
  if (satin_guard_ (&stack->open) == STACK_ALL && stack_flags (stack) == 0)
    stack_set_guard (stack);
}

/* Below a job of the spine with the state STARTED nothing has changed since it got that state. */
void
stack_catch_up (Stack *stack, SatinSlot_ *self, SatinSlot_ *end, SatinSlot_ *top)
{
  repair_guard (stack);
  if (stack->own.split > top)
    stack_close (stack, top);
  note_behind (end, top, (guint32)(guintptr)self);
  while (slot_state (self) == SLOT_READY)
    {
      guint32 parent = slot_parent (self) & ~PARENT_LIVING;

      slot_set_state (self, SLOT_STARTED);
      note_behind (self + 1, top, parent);
      self = slot_at (stack, parent);
    }
}

static void
set_split (Stack *stack, SatinSlot_ *split)
{
  stack->own.split = split;
  stack_set_guard (stack);
}

/* Lowers split to `split`. TRUE: no slot from there up was claimed. Else split is at tail. */
static gboolean
lower_to (Stack *stack, SatinSlot_ *split)
{
  SatinSlot_ *tail;

  __atomic_store_n (&stack->shared.split, split, __ATOMIC_SEQ_CST); /* pairs with stack_claim */
  tail = tail_of (
      stack, __atomic_fetch_add (
                 &stack->shared.tt, TAG_ONE,
                 __ATOMIC_SEQ_CST)); /* pairs with stack_claim's CAS: after the store of split */
  if (tail > split)
    {
      split = tail;
      __atomic_store_n (&stack->shared.split, split, __ATOMIC_RELEASE); /* pairs with stack_claim */
    }
  set_split (stack, split);
  return tail <= split;
}

gboolean
stack_lower (Stack *stack, SatinSlot_ *slot)
{
  SatinSlot_ *tail
      = tail_of (stack, __atomic_load_n (&stack->shared.tt,
                                         __ATOMIC_ACQUIRE)); /* pairs with stack_claim's CAS */

  if (slot >= stack->own.split)
    return TRUE;
  if (tail > slot)
    return FALSE; /* stays so: thieves raise tail, the owner raises it only over finished slots
                     (stack_pass_over), and only the owner lowers it */
  lower_to (stack, tail + (slot - tail) / 2);
  return stack->own.split <= slot;
}

void
stack_lower_all (Stack *stack, SatinSlot_ *slot)
{
  if (slot < stack->own.split)
    lower_to (stack, slot);
}

void
stack_close (Stack *stack, SatinSlot_ *base)
{
  guint64 tt, next;

  if (stack->own.split <= base)
    {
      stack_set_guard (stack);
      return;
    }
  if (stack_lower (stack, base) && stack->own.split <= base)
    return;
  /* Some of these slots were claimed: set both marks to the base. */
  __atomic_store_n (&stack->shared.split, base, __ATOMIC_SEQ_CST); /* pairs with stack_claim */
  tt = __atomic_load_n (&stack->shared.tt, __ATOMIC_RELAXED);      /* the CAS below sees to it */
  do
    next = ((tt & ~TAIL_MASK) + TAG_ONE) | MIN (tt & TAIL_MASK, stack_index (stack, base));
  while (!__atomic_compare_exchange_n (&stack->shared.tt, &tt, next, FALSE, __ATOMIC_SEQ_CST,
                                       __ATOMIC_RELAXED)); /* pairs with stack_claim's CAS */
  set_split (stack, base);
}

/* The flag goes when the last of these slots is used again, also by a frame in the same place. */
void
stack_note_passed (Stack *stack, SatinSlot_ *base, SatinSlot_ *top)
{
  if (top == base)
    return;
  stack->own.passed = top;
  __atomic_store_n (&top[-1].parent, slot_parent (top - 1) | PARENT_PASSED, __ATOMIC_RELAXED);
}

static gboolean
has_passed (Stack *stack, SatinSlot_ *self, SatinSlot_ *end)
{
  SatinSlot_ *split = stack->own.split, *passed = stack->own.passed;
  guint32 parent;

  if (passed == NULL || passed > end || split >= passed)
    return FALSE;
  parent = slot_parent (passed - 1);
  return (parent & PARENT_PASSED) && !(parent & PARENT_ORIGIN) && slot_at (stack, parent) == self
         && slot_at (stack, slot_parent (split)) == self;
}

/* No slot between split and `to` is ready: moves the marks to `to`. */
static void
move_over (Stack *stack, SatinSlot_ *to)
{
  SatinSlot_ *split = stack->own.split;
  guint64 tt;

  __atomic_store_n (&stack->shared.split, to, __ATOMIC_SEQ_CST); /* pairs with stack_claim */
  tt = __atomic_load_n (&stack->shared.tt, __ATOMIC_RELAXED);    /* the CAS below sees to it */
  while (tail_of (stack, tt) >= split && tail_of (stack, tt) < to
         && !__atomic_compare_exchange_n (&stack->shared.tt, &tt,
                                          (tt & ~TAIL_MASK) | stack_index (stack, to), FALSE,
                                          __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
    ; /* pairs with stack_claim's CAS */
  set_split (stack, to);
}

void
stack_pass_over (Stack *stack, SatinSlot_ *self, SatinSlot_ *end)
{
  if (has_passed (stack, self, end))
    move_over (stack, stack->own.passed);
}

gboolean
stack_grow (Stack *stack, SatinSlot_ *end)
{
  SatinSlot_ *slot = stack->own.split, *split;

  while (slot < end && SLOT_STATE (slot_state (slot)) != SLOT_READY)
    slot++;
  if (slot >= end)
    {
      /* There may be a million such slots, and the next thief asks soon. */
      if (slot > stack->own.split + STACK_GROW_LOOKS)
        move_over (stack, end);
      return FALSE;
    }
  split = slot + (end - slot) / 2;
  split = MAX (slot + 1, split);
  __atomic_store_n (&stack->shared.split, split, __ATOMIC_SEQ_CST); /* pairs with stack_claim */
  set_split (stack, split);
  return TRUE;
}

gboolean
stack_publish (Stack *stack, SatinSlot_ *top)
{
  if (stack->own.split >= top)
    return FALSE;
  __atomic_store_n (&stack->shared.split, top, __ATOMIC_SEQ_CST); /* pairs with stack_claim */
  set_split (stack, top);
  return TRUE;
}

gboolean
stack_has_ready (Stack *victim)
{
  SatinSlot_ *slot = tail_of (
      victim, __atomic_load_n (&victim->shared.tt, __ATOMIC_SEQ_CST)); /* as stack_claim */
  SatinSlot_ *split
      = __atomic_load_n (&victim->shared.split, __ATOMIC_SEQ_CST); /* as stack_claim */

  while (slot < split && slot_state (slot) != SLOT_READY)
    slot++;
  return slot < split;
}

guint
stack_count_ready (Stack *stack, guint max)
{
  SatinSlot_ *slot = tail_of (stack, __atomic_load_n (&stack->shared.tt, __ATOMIC_RELAXED));
  guint n = 0;

  for (; slot < stack->own.split && n < max; slot++)
    n += slot_state (slot) == SLOT_READY;
  return n;
}

#ifdef SATIN_PLANT_CLAIM_FIRST /* a bug on purpose: the claim comes before the look */
SatinSlot_ *
stack_claim (Stack *victim, gboolean *dry)
{
  for (;;)
    {
      guint64 tt = __atomic_load_n (&victim->shared.tt, __ATOMIC_SEQ_CST);
      SatinSlot_ *slot = tail_of (victim, tt);

      *dry = slot >= __atomic_load_n (&victim->shared.split, __ATOMIC_SEQ_CST);
      if (*dry
          || !__atomic_compare_exchange_n (&victim->shared.tt, &tt, tt + 1, FALSE, __ATOMIC_SEQ_CST,
                                           __ATOMIC_RELAXED))
        return NULL;
      if (slot_state (slot) == SLOT_READY)
        return slot;
    }
}
#else
SatinSlot_ *
stack_claim (Stack *victim, gboolean *dry)
{
  guint64 tt
      = __atomic_load_n (&victim->shared.tt, __ATOMIC_SEQ_CST); /* before split: see lower_to */
  SatinSlot_ *split
      = __atomic_load_n (&victim->shared.split, __ATOMIC_SEQ_CST); /* pairs with lower_to */
  SatinSlot_ *tail = tail_of (victim, tt), *slot, *next;

  *dry = tail >= split;
  if (*dry)
    return NULL;
  for (slot = tail; slot < split; slot++)
    if (slot_state (slot) == SLOT_READY)
      break;
  next = slot < split ? slot + 1 : split;
  /* Pairs with lower_to and stack_close: the tag is the same, so nothing changed since the look. */
  if (!__atomic_compare_exchange_n (&victim->shared.tt, &tt,
                                    (tt & ~TAIL_MASK) | stack_index (victim, next), FALSE,
                                    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
    return NULL;
  *dry = slot == split;
  return slot < split ? slot : NULL;
}
#endif
