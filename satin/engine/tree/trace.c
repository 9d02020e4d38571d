/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads paths from the stacks: from a slot down its parents to an origin slot, over to the victim's
 * stack, and so on to a held job. Never writes.
 * Tests: test-scan, test-look, test-engine. */
#include "config.h"

#include "trace.h"

#include "../save/keep.h"

gboolean
slot_has_parent (SatinSlot_ *slot, SatinSlot_ *parent)
{
  return (slot_parent (slot) & ~PARENT_LIVING) == (guint32)(guintptr)parent;
}

/* Between the slot of a job and a child of it lie only siblings of the job and then slots of its
 * frame. So halving finds the first slot of the frame. If that slot has the job's kept state, the
 * children begin behind it. */
static SatinSlot_ *
first_sibling (Stack *stack, SatinSlot_ *slot, guint32 *number)
{
  SatinSlot_ *parent = slot_at (stack, slot_parent (slot)), *low = parent, *high = slot;

  while (high - low > 1)
    {
      SatinSlot_ *middle = low + (high - low) / 2;

      if (slot_has_parent (middle, parent))
        high = middle;
      else
        low = middle;
    }
  return keep_first (high, slot, number);
}

guint32
slot_number (Stack *stack, SatinSlot_ *slot)
{
  guint32 number;
  SatinSlot_ *first = first_sibling (stack, slot, &number);

  return number + (guint32)(slot - first);
}

/* Looks ahead in doubling steps, then halves the last step. */
SatinSlot_ *
slot_family_end (SatinSlot_ *slot, SatinSlot_ *end)
{
  guint32 parent = slot_parent (slot) & ~PARENT_LIVING;
  SatinSlot_ *low = slot, *high = slot + 1;

  for (gsize step = 1; high < end && (slot_parent (high) & ~PARENT_LIVING) == parent; step *= 2)
    {
      low = high;
      high = (gsize)(end - high) > step ? high + step : end;
    }
  while (high - low > 1)
    {
      SatinSlot_ *middle = low + (high - low) / 2;

      if ((slot_parent (middle) & ~PARENT_LIVING) == parent)
        low = middle;
      else
        high = middle;
    }
  return high;
}

gboolean
origin_is_aborted (const Origin *origin)
{
  if (origin->held != NULL)
    return held_is_aborted (origin->held);
  return SLOT_STATE (slot_state (origin->slot)) == SLOT_ABORTED;
}

gboolean
trace_is_aborted (Stack *stack)
{
  SatinSlot_ *slot = stack->own.mark;

  while (slot != NULL)
    {
      Origin *origin = slot_origin (slot);
      guint32 parent;

      if (origin_is_aborted (origin))
        return TRUE;
      if (origin->held != NULL)
        return FALSE;
      stack = origin->victim;
      slot = origin->slot;
      do
        {
          parent = slot_parent (slot);
          slot = slot_at (stack, parent);
        }
      while (!(parent & PARENT_ORIGIN));
    }
  return FALSE;
}

static void
append (Trace *trace, guint32 number)
{
  if (trace->n == trace->room)
    {
      guint32 *more = g_new (guint32, (gsize)trace->room * 2);

      memcpy (more, trace->numbers, trace->n * sizeof *more);
      trace_clear (trace);
      trace->numbers = more;
      trace->room *= 2;
    }
  trace->numbers[trace->n++] = number;
}

static void
reverse (guint32 *numbers, guint n)
{
  for (guint i = 0; i < n / 2; i++)
    {
      guint32 number = numbers[i];

      numbers[i] = numbers[n - 1 - i];
      numbers[n - 1 - i] = number;
    }
}

void
trace_init_from (Trace *trace, Stack *stack, SatinSlot_ *slot, const TraceBase *base)
{
  SatinSlot_ *first;

  trace->held = NULL;
  trace->base = NULL;
  trace->numbers = trace->few;
  trace->n = 0;
  trace->room = TRACE_FEW;
  trace->weight = 1.0;
  trace->siblings = 0;
  trace->aborted = FALSE;
  while (trace->held == NULL && trace->base == NULL)
    {
      guint32 parent = slot_parent (slot), number, siblings;

      if (base != NULL && slot == base->job && stack == base->stack)
        {
          trace->base = base;
          continue;
        }
      if (parent & PARENT_ORIGIN)
        {
          Origin *origin = slot_origin (slot_at (stack, parent));

          trace->aborted = trace->aborted || origin_is_aborted (origin);
          stack = origin->victim;
          slot = origin->slot;
          trace->held = origin->held;
          continue;
        }
      first = first_sibling (stack, slot, &number);
      number += (guint32)(slot - first);
      /* An estimate: unused slots above the children may look like children. */
      siblings
          = (guint32)(slot_family_end (slot, stack->memory.slots + stack->memory.n_slots) - first);
      trace->siblings = trace->n == 0 ? siblings : trace->siblings;
      trace->weight /= siblings;
      append (trace, number);
      slot = slot_at (stack, parent);
    }
  trace->weight *= trace->held != NULL ? trace->held->loan->weight : base->weight;
  reverse (trace->numbers, trace->n);
}

void
trace_init (Trace *trace, Stack *stack, SatinSlot_ *slot)
{
  trace_init_from (trace, stack, slot, NULL);
}

void
trace_clear (Trace *trace)
{
  if (trace->numbers != trace->few)
    g_free (trace->numbers);
}

static char *
path_of_first (const Trace *trace, Stems *stems, guint n)
{
  return path_extend (stems, trace->held != NULL ? trace->held->loan->path : trace->base->path,
                      trace->numbers, n);
}

char *
trace_path (const Trace *trace, Stems *stems)
{
  return path_of_first (trace, stems, trace->n);
}

char *
trace_path_of (Stack *stack, SatinSlot_ *slot)
{
  Trace trace;
  char *path;

  trace_init (&trace, stack, slot);
  path = trace_path (&trace, stack->engine->config.stems);
  trace_clear (&trace);
  return path;
}

char *
trace_parent_path (const Trace *trace, Stems *stems)
{
  return path_of_first (trace, stems, trace->n - 1);
}

GPtrArray *
trace_spine (Stack *stack, SatinSlot_ *self)
{
  GPtrArray *spine = g_ptr_array_new ();

  for (; self != NULL; self = stack_below (stack, self))
    g_ptr_array_add (spine, self);
  return spine;
}

GBytes *
slot_encode_args (SatinSlot_ *slot)
{
  return record_encode (slot->job->args, slot_payload (slot));
}

Digest
slot_digest (Engine *engine, SatinSlot_ *slot, char **shown)
{
  g_autoptr (GBytes) args = slot_encode_args (slot);

  if (shown != NULL)
    *shown = loan_show_args (args);
  return engine_digest (engine, engine_job_index (engine, slot->job), args);
}
