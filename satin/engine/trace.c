/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads paths off the stacks: from a slot down its parents to an origin slot, over to the victim's
 * stack, and so on to the job that came from another node. Never writes. */
#include "config.h"

#include "trace.h"

/* More neighbours than this are not counted: the weight is an estimate. */
#define TRACE_SIBLINGS_MAX 4096

static gboolean
has_parent (SatinSlot_ *slot, guint32 parent)
{
  return (slot_parent (slot) & ~PARENT_REPORTED) == parent;
}

guint32
slot_number (Stack *stack, SatinSlot_ *slot)
{
  guint32 parent = slot_parent (slot) & ~PARENT_REPORTED;
  SatinSlot_ *first = slot;

  while (first > stack->slots && has_parent (first - 1, parent))
    first--;
  return (guint32)(slot - first);
}

static guint
count_siblings (Stack *stack, SatinSlot_ *slot, guint32 number)
{
  guint32 parent = slot_parent (slot) & ~PARENT_REPORTED;
  SatinSlot_ *end = stack->slots + stack->n_slots;
  guint n = number + 1;

  for (SatinSlot_ *next = slot + 1; next < end && n < TRACE_SIBLINGS_MAX; next++, n++)
    if (!has_parent (next, parent))
      break;
  return n;
}

void
trace_init (Trace *trace, Stack *stack, SatinSlot_ *slot)
{
  guint32 *numbers;

  trace->numbers = g_array_new (FALSE, FALSE, sizeof (guint32));
  trace->weight = 1.0;
  trace->held = NULL;
  while (trace->held == NULL)
    {
      guint32 parent = slot_parent (slot), number;

      if (parent & PARENT_ORIGIN)
        {
          Origin *origin = slot_origin (slot_at (stack, parent));

          stack = origin->victim;
          slot = origin->slot;
          trace->held = origin->held;
          continue;
        }
      number = slot_number (stack, slot);
      trace->weight /= count_siblings (stack, slot, number);
      g_array_append_val (trace->numbers, number);
      slot = slot_at (stack, parent);
    }
  trace->weight *= trace->held->loan->weight;
  numbers = (guint32 *)(void *)trace->numbers->data;
  for (guint i = 0, n = trace->numbers->len; i < n / 2; i++)
    {
      guint32 number = numbers[i];

      numbers[i] = numbers[n - 1 - i];
      numbers[n - 1 - i] = number;
    }
}

void
trace_clear (Trace *trace)
{
  g_clear_pointer (&trace->numbers, g_array_unref);
}

char *
trace_path (const Trace *trace, Stems *stems)
{
  char *path = g_strdup (trace->held->loan->path);

  for (guint i = 0; i < trace->numbers->len; i++)
    {
      char *child = path_child (stems, path, g_array_index (trace->numbers, guint32, i));

      g_free (path);
      path = child;
    }
  return path;
}

GPtrArray *
trace_spine (Stack *stack, SatinSlot_ *self)
{
  GPtrArray *spine = g_ptr_array_new ();

  while (self != NULL)
    {
      guint32 parent = slot_parent (self);

      g_ptr_array_add (spine, self);
      self = slot_at (stack, parent);
      if (parent & PARENT_ORIGIN)
        self = slot_origin (self)->below;
    }
  return spine;
}

GBytes *
slot_encode_args (SatinSlot_ *slot)
{
  return record_encode (slot->job->args, slot_payload (slot));
}

Digest
slot_digest (Engine *engine, SatinSlot_ *slot)
{
  g_autoptr (GBytes) args = slot_encode_args (slot);

  return engine_digest (engine, engine_job_index (engine, slot->job), args);
}
