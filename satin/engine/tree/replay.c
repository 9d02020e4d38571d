/* SPDX-License-Identifier: BSD-3-Clause */
/* See replay.h. Children between two syncs may run in any order. So the child that leads to the
 * wanted job runs first, and nothing runs on which that job does not depend. Tests: test-replay. */
#include "config.h"

#include "replay.h"

#include "../sched/wait.h"
#include "adopt.h"

#include <unistd.h>

/* People set a breakpoint here: the job runs next, on this thread. */
static G_GNUC_NO_INLINE void
replay_begins (const SatinJob *job)
{
  __asm__ volatile("" : : "r"(job) : "memory");
}

/* Waits until the driver ends the process. */
static void stand_still (void) G_GNUC_NORETURN;

static void
stand_still (void)
{
  for (;;)
    pause ();
}

/* TRUE: the wanted job lies below `node`. *number: the child that leads there. */
static gboolean
leads (Engine *engine, const KnownNode *node, guint32 *number)
{
  gboolean does;

  pthread_mutex_lock (&engine->known.lock);
  does = known_way (engine->known.trie, node, engine->replay.node, number);
  pthread_mutex_unlock (&engine->known.lock);
  return does;
}

void
replay_run (Stack *stack, SatinSlot_ *self, SatinSlot_ *first, SatinSlot_ *end, SatinSlot_ *top)
{
  const KnownNode *node = stack->engine->replay.node != NULL ? watch_node (stack, self) : NULL;
  guint32 number, wanted;
  SatinSlot_ *slot;

  if (node == NULL || first == end || !leads (stack->engine, node, &wanted))
    return;
  number = slot_number (stack, first);
  if (wanted < number || wanted - number >= (guint32)(end - first))
    {
      if (g_atomic_int_compare_and_exchange (&stack->engine->replay.waits, FALSE, TRUE))
        stack->engine->replay.calls.waits (stack->engine->replay.calls.data, number,
                                           number + (guint32)(end - first) - 1);
      return;
    }
  slot = first + (wanted - number);
  if (!stack_lower (stack, slot) || slot_state (slot) != SLOT_READY)
    return; /* another thread of this engine runs it */
  for (SatinSlot_ *later = slot + 1; later < end; later++)
    if (slot_state (later) == SLOT_READY)
      slot_set_state (later, SLOT_DROPPED); /* a READY one would count as finished, or be stolen */
  wait_run_child (stack, self, slot, top);
}

void
replay_begin (Stack *stack, SatinSlot_ *job)
{
  Engine *engine = stack->engine;

  if (engine->replay.node == NULL || watch_node (stack, job) != engine->replay.node)
    return;
  g_autoptr (GBytes) args = record_encode (job->job->args, slot_payload (job));
  Digest digest = slot_digest (engine, job, NULL);
  engine->replay.calls.begins (engine->replay.calls.data, job->job, &digest, args);
  engine->replay.began_us = clock_us ();
  replay_begins (job->job);
}

void
replay_end (Stack *stack, SatinSlot_ *job)
{
  Engine *engine = stack->engine;
  const KnownNode *node = engine->replay.node != NULL ? watch_node (stack, job) : NULL;
  guint64 took_us;
  guint32 number;

  if (node == NULL)
    return;
  if (node == engine->replay.node)
    {
      took_us = clock_us () - engine->replay.began_us;
      g_autoptr (GBytes) value = record_encode (job->job->result, slot_result (job));
      engine->replay.calls.ended (engine->replay.calls.data, value, took_us);
      stand_still ();
    }
  if (!leads (engine, node, &number))
    return;
  engine->replay.calls.missed (engine->replay.calls.data, number);
  stand_still ();
}
