/* SPDX-License-Identifier: BSD-3-Clause */
/* A stack's memory, its beginning and end, and the release of what its slots hold.
 * Tests: test-engine, test-refused. */
#include "config.h"

#include "../engine.h"
#include "../os/memory.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STACK_SLOTS_MAX \
  (G_GUINT64_CONSTANT (1) << 18) /* since shadow memory multiplies the reservation */
#define STACK_ARENA_BYTES (G_GUINT64_CONSTANT (1) << 28)
#else
#define STACK_SLOTS_MAX (G_GUINT64_CONSTANT (1) << STACK_TAIL_BITS)
#define STACK_ARENA_BYTES (G_GUINT64_CONSTANT (1) << 32)
#endif

#define STACK_SHIFT_MAX 6 /* halvings at most if address space is short */

static void
release_memory (const StackMemory *memory)
{
  if (memory->slots != NULL)
    memory_release (memory->slots, memory->n_slots * sizeof (SatinSlot_));
  if (memory->arena != NULL)
    memory_release (memory->arena, memory->arena_bytes);
  if (memory->c_stack != NULL)
    memory_release (memory->c_stack, memory->c_stack_bytes);
}

/* If address space is limited (ulimit -v, strict overcommit), the stack becomes smaller. `fixed`:
 * not the C stack, whose size the user has said. */
static gboolean
reserve_memory (StackMemory *memory, gsize c_stack_bytes, gboolean fixed)
{
  for (guint shift = 0; shift <= STACK_SHIFT_MAX; shift += 2)
    {
      memory->n_slots = (STACK_SLOTS_MAX >> shift) - 1;
      memory->arena_bytes = STACK_ARENA_BYTES >> shift;
      memory->c_stack_bytes
          = fixed ? c_stack_bytes : MAX (c_stack_bytes >> shift, ENGINE_STACK_BYTES_MIN);
      memory->slots
          = memory_reserve (memory->n_slots * sizeof (SatinSlot_),
                            MEMORY_FULL ("a job stack") ", or a job has too many children");
      memory->arena
          = memory_reserve (memory->arena_bytes, MEMORY_FULL ("the argument arena of a job stack"));
      memory->c_stack
          = memory_reserve (memory->c_stack_bytes, MEMORY_FULL ("the C stack of a job"));
      if (memory->slots != NULL && memory->arena != NULL && memory->c_stack != NULL)
        return TRUE;
      release_memory (memory);
      *memory = (StackMemory){ 0 };
    }
  return FALSE;
}

Stack *
stack_new (Engine *engine, guint number, gsize c_stack_bytes)
{
  Stack *stack = g_aligned_alloc0 (1, sizeof (Stack), 64);

  stack->engine = engine;
  stack->number = number;
  stack->own.random = (guint32)(engine->config.seed * 2654435761u + number * 40503u) | 1;
  stack->own.fresh = g_ptr_array_new_with_free_func ((GDestroyNotify)g_bytes_unref);
  stack->own.watch = g_array_new (FALSE, FALSE, sizeof (Watch));
  stack->taken.origins = g_ptr_array_new ();
  stack->taken.gifts = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  pthread_mutex_init (&stack->taken.lock, NULL);
  stack->own.nexts = g_array_new (FALSE, FALSE, sizeof (Next));
  pthread_cond_init (&stack->seat.cond, &engine->cond_clock);
  if (!reserve_memory (&stack->memory, c_stack_bytes, engine->config.stack_bytes > 0))
    {
      stack_free (stack);
      return NULL;
    }
  stack->own.arena_top = stack->memory.arena;
  stack->shared.split = stack->own.split = stack->own.limit = stack->memory.slots;
  stack->open.guard = stack->memory.slots;
  return stack;
}

void
stack_release (Stack *stack, SatinSlot_ *bottom, SatinSlot_ *self, SatinSlot_ *top)
{
  SatinSlot_ *spine = self;

  for (SatinSlot_ *slot = top; slot > bottom;)
    {
      guint32 word, state;
      gboolean running;

      slot--;
      word = slot_state (slot);
      state = SLOT_STATE (word);
      running = slot == spine;
      if (running)
        spine = stack_below (stack, slot);
      if (SLOT_KIND (word) == KIND_ORIGIN)
        continue;
      if (SLOT_KIND (word) == KIND_CHILD && (slot_parent (slot) & PARENT_ORIGIN))
        continue; /* its content belongs to the victim's slot */
      if (slot->job->args_hold)
        record_clear (slot->job->args, slot_payload (slot));
      if (slot->job->result_holds && (state == SLOT_DONE || (state == SLOT_STARTED && !running)))
        record_clear (slot->job->result, slot_result (slot));
    }
}

void
stack_clear_now (EngineNow *now)
{
  g_clear_pointer (&now->path, g_free);
  g_clear_pointer (&now->child, g_free);
  g_clear_pointer (&now->args, g_bytes_unref);
}

void
stack_free (Stack *stack)
{
  if (stack->own.end.top != NULL)
    stack_release (stack, stack->memory.slots, stack->own.end.self, stack->own.end.top);
  g_ptr_array_unref (stack->own.fresh);
  g_array_unref (stack->own.watch);
  for (guint i = 0; i < stack->taken.origins->len; i++)
    g_clear_pointer (&slot_origin (stack->taken.origins->pdata[i])->lines, g_array_unref);
  g_ptr_array_unref (stack->taken.origins);
  g_hash_table_unref (stack->taken.gifts);
  pthread_mutex_destroy (&stack->taken.lock);
  stack_clear_now (&stack->taken.said);
  g_array_unref (stack->own.nexts);
  pthread_cond_destroy (&stack->seat.cond);
  release_memory (&stack->memory);
  g_aligned_free (stack);
}
