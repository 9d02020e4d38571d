/* SPDX-License-Identifier: BSD-3-Clause */
/* The marks of a job stack: what is public, how the owner gives and takes back, how thieves claim.
 * The owner's functions run on its thread, stack_claim and stack_ask on any. It must not know paths
 * or what waits where. Tests: test-deque, test-leapfrog. */
#include "config.h"

#include "clock.h"
#include "engine.h"
#include "look.h"
#include "memory.h"

#define TAIL_BITS 24
#define TAIL_MASK ((G_GUINT64_CONSTANT (1) << TAIL_BITS) - 1)
#ifdef SATIN_PLANT_NO_TAG /* a bug on purpose: tests/unit/test-deque.c has to find it */
#define TAG_ONE G_GUINT64_CONSTANT (0)
#else
#define TAG_ONE (G_GUINT64_CONSTANT (1) << TAIL_BITS)
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STACK_SLOTS_MAX \
  (G_GUINT64_CONSTANT (1) << 18) /* shadow memory multiplies what is reserved */
#define STACK_ARENA_BYTES (G_GUINT64_CONSTANT (1) << 28)
#else
#define STACK_SLOTS_MAX (G_GUINT64_CONSTANT (1) << TAIL_BITS)
#define STACK_ARENA_BYTES (G_GUINT64_CONSTANT (1) << 32)
#endif

#define STACK_SHIFT_MAX 6 /* how often halved at most when address space is short */

static SatinSlot_ *
tail_of (Stack *stack, guint64 tt)
{
  return stack->slots + (tt & TAIL_MASK);
}

static void
release_memory (Stack *stack)
{
  if (stack->slots != NULL)
    memory_release (stack->slots, stack->n_slots * sizeof (SatinSlot_));
  if (stack->arena != NULL)
    memory_release (stack->arena, stack->arena_bytes);
  if (stack->c_stack != NULL)
    memory_release (stack->c_stack, stack->c_stack_bytes);
  stack->slots = NULL;
  stack->arena = stack->c_stack = NULL;
}

/* Where address space is limited (ulimit -v, strict overcommit) smaller stacks must do. */
static gboolean
reserve_memory (Stack *stack, gsize c_stack_bytes)
{
  for (guint shift = 0; shift <= STACK_SHIFT_MAX; shift += 2)
    {
      stack->n_slots = (STACK_SLOTS_MAX >> shift) - 1;
      stack->arena_bytes = STACK_ARENA_BYTES >> shift;
      stack->c_stack_bytes = stack->engine->config.stack_bytes > 0
                                 ? c_stack_bytes /* as was asked for */
                                 : MAX (c_stack_bytes >> shift, ENGINE_STACK_BYTES_MIN);
      stack->slots = memory_reserve (stack->n_slots * sizeof (SatinSlot_),
                                     MEMORY_FULL ("a job stack")
                                     ", or a job has too many children");
      stack->arena = memory_reserve (stack->arena_bytes,
                                     MEMORY_FULL ("the argument arena of a job stack"));
      stack->c_stack
          = memory_reserve (stack->c_stack_bytes, MEMORY_FULL ("the C stack of a job"));
      if (stack->slots != NULL && stack->arena != NULL && stack->c_stack != NULL)
        return TRUE;
      release_memory (stack);
    }
  return FALSE;
}

Stack *
stack_new (Engine *engine, guint number, gsize c_stack_bytes)
{
  Stack *stack = g_aligned_alloc0 (1, sizeof (Stack), 64);

  stack->engine = engine;
  stack->number = number;
  stack->random = (guint32)(engine->config.seed * 2654435761u + number * 40503u) | 1;
  stack->fresh = g_ptr_array_new_with_free_func ((GDestroyNotify)g_bytes_unref);
  stack->watch = g_array_new (FALSE, FALSE, sizeof (Watch));
  stack->bill = g_array_new (FALSE, FALSE, sizeof (Bill));
  stack->origins = g_ptr_array_new ();
  stack->spans = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  pthread_mutex_init (&stack->origins_lock, NULL);
  stack->nexts = g_array_new (FALSE, FALSE, sizeof (Next));
  pthread_cond_init (&stack->cond, &engine->cond_clock);
  if (!reserve_memory (stack, c_stack_bytes))
    {
      stack_free (stack);
      return NULL;
    }
  stack->arena_top = stack->arena;
  stack->split = stack->split_own = stack->limit = stack->slots;
  stack->open.guard = stack->slots;
  return stack;
}

void
stack_release (Stack *stack, SatinSlot_ *bottom, SatinSlot_ *self, SatinSlot_ *top)
{
  SatinSlot_ *spine = self;

  for (SatinSlot_ *slot = top; slot > bottom;)
    {
      guint32 kind;
      gboolean running;

      slot--;
      kind = SLOT_KIND (slot_state (slot));
      running = slot == spine;
      if (running)
        spine = (slot_parent (slot) & PARENT_ORIGIN) ? slot_origin (slot - 1)->below
                                                     : slot_at (stack, slot_parent (slot));
      if (kind == SLOT_ORIGIN || (slot_parent (slot) & PARENT_ORIGIN))
        continue;
      if (slot->job->args_hold)
        record_clear (slot->job->args, slot_payload (slot));
      if (slot->job->result_holds && (kind == SLOT_RETURNED || (kind == SLOT_STARTED && !running)))
        record_clear (slot->job->result, slot_result (slot));
    }
}

void
stack_free (Stack *stack)
{
  if (stack->end_top != NULL)
    stack_release (stack, stack->slots, stack->end_self, stack->end_top);
  g_ptr_array_unref (stack->fresh);
  g_array_unref (stack->watch);
  g_array_unref (stack->bill);
  g_ptr_array_unref (stack->origins);
  g_hash_table_unref (stack->spans);
  pthread_mutex_destroy (&stack->origins_lock);
  look_clear (&stack->look);
  g_array_unref (stack->nexts);
  pthread_cond_destroy (&stack->cond);
  release_memory (stack);
  g_aligned_free (stack);
}

void
stack_set_guard (Stack *stack)
{
  SatinSlot_ *guard = MAX (stack->split_own, stack->limit);

  /* A wish is never lost: either we see its flag below, or its guard store comes after ours. */
  __atomic_store_n (&stack->open.guard, guard, __ATOMIC_SEQ_CST);
  if (__atomic_load_n (&stack->flags, __ATOMIC_SEQ_CST) != 0)           /* pairs with stack_ask */
    __atomic_store_n (&stack->open.guard, STACK_ALL, __ATOMIC_RELAXED); /* the owner's own */
}

void
stack_ask (Stack *stack, guint32 flags)
{
  if ((stack_flags (stack) & flags) == flags)
    return;
  __atomic_fetch_or (&stack->flags, flags, __ATOMIC_SEQ_CST); /* pairs with stack_set_guard */
  __atomic_store_n (&stack->open.guard, STACK_ALL, __ATOMIC_SEQ_CST); /* after the flag */
}

guint32
stack_take_flags (Stack *stack)
{
  SatinSlot_ *guard = MAX (stack->split_own, stack->limit);

  __atomic_store_n (&stack->open.guard, guard, __ATOMIC_SEQ_CST);
  return __atomic_exchange_n (&stack->flags, 0, __ATOMIC_SEQ_CST); /* pairs with stack_ask */
}

/* What is behind a running child of the same job is finished. */
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

/* stack_ask stores the guard after its flag. If the owner took the flag in between, the guard is
 * all ones for nothing, and each spawn and sync would take the slow way. */
static void
repair_guard (Stack *stack)
{
  if (satin_guard_ (&stack->open) == STACK_ALL && stack_flags (stack) == 0)
    stack_set_guard (stack);
}

/* Below a job of the spine that says STARTED nothing has changed since it said so. */
void
stack_catch_up (Stack *stack, SatinSlot_ *self, SatinSlot_ *end, SatinSlot_ *top)
{
  repair_guard (stack);
  if (stack->split_own > top)
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
  stack->split_own = split;
  stack_set_guard (stack);
}

/* Lowers split to `split`; TRUE: nothing at or above it was claimed. Else split stands at tail. */
static gboolean
lower_to (Stack *stack, SatinSlot_ *split)
{
  SatinSlot_ *tail;

  __atomic_store_n (&stack->split, split, __ATOMIC_SEQ_CST); /* pairs with stack_claim */
  tail = tail_of (
      stack, __atomic_fetch_add (
                 &stack->tt, TAG_ONE,
                 __ATOMIC_SEQ_CST)); /* pairs with stack_claim's CAS: after the store of split */
  if (tail > split)
    {
      split = tail;
      __atomic_store_n (&stack->split, split, __ATOMIC_RELEASE); /* pairs with stack_claim */
    }
  set_split (stack, split);
  return tail <= split;
}

gboolean
stack_lower (Stack *stack, SatinSlot_ *slot)
{
  SatinSlot_ *tail = tail_of (
      stack, __atomic_load_n (&stack->tt, __ATOMIC_ACQUIRE)); /* pairs with stack_claim's CAS */

  if (slot >= stack->split_own)
    return TRUE;
  if (tail > slot)
    return FALSE; /* stable: thieves raise tail (and stack_pass_over, above what is
                     finished), only the owner lowers it */
  lower_to (stack, tail + (slot - tail) / 2);
  return stack->split_own <= slot;
}

void
stack_lower_all (Stack *stack, SatinSlot_ *slot)
{
  if (slot < stack->split_own)
    lower_to (stack, slot);
}

void
stack_close (Stack *stack, SatinSlot_ *base)
{
  guint64 tt, next;

  if (stack->split_own <= base)
    {
      stack_set_guard (stack);
      return;
    }
  if (stack_lower (stack, base) && stack->split_own <= base)
    return;
  /* Some of what is dead was claimed: set both marks to the base. */
  __atomic_store_n (&stack->split, base, __ATOMIC_SEQ_CST); /* pairs with stack_claim */
  tt = __atomic_load_n (&stack->tt, __ATOMIC_RELAXED);      /* the CAS below sees to it */
  do
    next = ((tt & ~TAIL_MASK) + TAG_ONE) | MIN (tt & TAIL_MASK, stack_index (stack, base));
  while (!__atomic_compare_exchange_n (&stack->tt, &tt, next, FALSE, __ATOMIC_SEQ_CST,
                                       __ATOMIC_RELAXED)); /* pairs with stack_claim's CAS */
  set_split (stack, base);
}

/* Whoever uses the last of these slots again clears its flag; so does a frame in the same place. */
void
stack_note_passed (Stack *stack, SatinSlot_ *base, SatinSlot_ *top)
{
  if (top == base)
    return;
  stack->passed = top;
  __atomic_store_n (&top[-1].parent, slot_parent (top - 1) | PARENT_PASSED, __ATOMIC_RELAXED);
}

static gboolean
has_passed (Stack *stack, SatinSlot_ *self, SatinSlot_ *end)
{
  SatinSlot_ *split = stack->split_own, *passed = stack->passed;
  guint32 parent;

  if (passed == NULL || passed > end || split >= passed)
    return FALSE;
  parent = slot_parent (passed - 1);
  return (parent & PARENT_PASSED) && !(parent & PARENT_ORIGIN) && slot_at (stack, parent) == self
         && slot_at (stack, slot_parent (split)) == self;
}

/* Between split and `to` nothing is ready: the marks move there. */
static void
move_over (Stack *stack, SatinSlot_ *to)
{
  SatinSlot_ *split = stack->split_own;
  guint64 tt;

  __atomic_store_n (&stack->split, to, __ATOMIC_SEQ_CST); /* pairs with stack_claim */
  tt = __atomic_load_n (&stack->tt, __ATOMIC_RELAXED);    /* the CAS below sees to it */
  while (tail_of (stack, tt) >= split && tail_of (stack, tt) < to
         && !__atomic_compare_exchange_n (&stack->tt, &tt,
                                          (tt & ~TAIL_MASK) | stack_index (stack, to), FALSE,
                                          __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
    ; /* pairs with stack_claim's CAS */
  set_split (stack, to);
}

void
stack_pass_over (Stack *stack, SatinSlot_ *self, SatinSlot_ *end)
{
  if (has_passed (stack, self, end))
    move_over (stack, stack->passed);
}

gboolean
stack_grow (Stack *stack, SatinSlot_ *end)
{
  SatinSlot_ *slot = stack->split_own, *split;

  while (slot < end && SLOT_KIND (slot_state (slot)) != SLOT_READY)
    slot++;
  if (slot >= end)
    {
      /* There may be a million of them, and the next thief asks soon. */
      if (slot > stack->split_own + STACK_GROW_LOOKS)
        move_over (stack, end);
      return FALSE;
    }
  split = slot + (end - slot) / 2;
  split = MAX (slot + 1, split);
  __atomic_store_n (&stack->split, split, __ATOMIC_SEQ_CST); /* pairs with stack_claim */
  set_split (stack, split);
  return TRUE;
}

gboolean
stack_publish (Stack *stack, SatinSlot_ *top)
{
  if (stack->split_own >= top)
    return FALSE;
  __atomic_store_n (&stack->split, top, __ATOMIC_SEQ_CST); /* pairs with stack_claim */
  set_split (stack, top);
  return TRUE;
}

gboolean
stack_has_ready (Stack *victim)
{
  SatinSlot_ *slot
      = tail_of (victim, __atomic_load_n (&victim->tt, __ATOMIC_SEQ_CST)); /* as stack_claim */
  SatinSlot_ *split = __atomic_load_n (&victim->split, __ATOMIC_SEQ_CST);  /* as stack_claim */

  while (slot < split && slot_state (slot) != SLOT_READY)
    slot++;
  return slot < split;
}

guint
stack_count_ready (Stack *stack, guint max)
{
  SatinSlot_ *slot = tail_of (stack, __atomic_load_n (&stack->tt, __ATOMIC_RELAXED));
  guint n = 0;

  for (; slot < stack->split_own && n < max; slot++)
    n += slot_state (slot) == SLOT_READY;
  return n;
}

#ifdef SATIN_PLANT_CLAIM_FIRST /* a bug on purpose: the claim comes before the look */
SatinSlot_ *
stack_claim (Stack *victim, gboolean *dry)
{
  for (;;)
    {
      guint64 tt = __atomic_load_n (&victim->tt, __ATOMIC_SEQ_CST);
      SatinSlot_ *slot = tail_of (victim, tt);

      *dry = slot >= __atomic_load_n (&victim->split, __ATOMIC_SEQ_CST);
      if (*dry
          || !__atomic_compare_exchange_n (&victim->tt, &tt, tt + 1, FALSE, __ATOMIC_SEQ_CST,
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
  guint64 tt = __atomic_load_n (&victim->tt, __ATOMIC_SEQ_CST); /* before split: see lower_to */
  SatinSlot_ *split = __atomic_load_n (&victim->split, __ATOMIC_SEQ_CST); /* pairs with lower_to */
  SatinSlot_ *tail = tail_of (victim, tt), *slot, *next;

  *dry = tail >= split;
  if (*dry)
    return NULL;
  for (slot = tail; slot < split; slot++)
    if (slot_state (slot) == SLOT_READY)
      break;
  next = slot < split ? slot + 1 : split;
  /* Pairs with lower_to and stack_close: the tag is the same, so nothing changed since the look. */
  if (!__atomic_compare_exchange_n (&victim->tt, &tt,
                                    (tt & ~TAIL_MASK) | stack_index (victim, next), FALSE,
                                    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
    return NULL;
  *dry = slot == split;
  return slot < split ? slot : NULL;
}
#endif
