/* SPDX-License-Identifier: BSD-3-Clause */
/* See look.h. */
#include "config.h"

#include "look.h"

#include "../door/pending.h"
#include "trace.h"

/* Notes under which loan number the slot waits, unless that wait has just ended. */
static void
note_away (Stack *stack, SatinSlot_ *slot, guint32 kind, EngineNow *now)
{
  now->loan = pending_number (stack->engine, slot);
  if (now->loan != 0)
    now->kind = kind == KIND_FETCH  ? ENGINE_NOW_SHARED
                : kind == KIND_KEPT ? ENGINE_NOW_KEPT
                                    : ENGINE_NOW_LOAN;
}

/* Notes for what the owner waits, if its thread is in a wait in which it may sleep. */
static void
note_wait (Stack *stack, EngineNow *now)
{
  SatinSlot_ *slot = stack->shared.awaited; /* the owner's own */
  guint32 state;

  if (slot == NULL)
    return;
  if (slot == STACK_ANY)
    {
      now->kind = ENGINE_NOW_ANY;
      return;
    }
  state = slot_state (slot);
  switch (SLOT_STATE (state))
    {
    case SLOT_STOLEN:
      now->kind = ENGINE_NOW_CHILD;
      now->thief = SLOT_THIEF (state);
      break;
    case SLOT_ABORTED:
      now->kind = ENGINE_NOW_ABORT;
      now->thief = SLOT_THIEF (state);
      break;
    case SLOT_AWAY:
      note_away (stack, slot, SLOT_KIND (state), now);
      break;
    default: /* the job or its result has just come back */
      break;
    }
  if (now->thief == SLOT_DRIVER)
    now->thief = G_MAXUINT;
  if (now->kind == ENGINE_NOW_CHILD || now->kind == ENGINE_NOW_LOAN)
    now->child = path_child (stack->engine->config.stems, now->path, slot_number (stack, slot));
}

void
look_serve (Stack *stack, SatinSlot_ *self)
{
  EngineNow now = { .stack = stack->number,
                    .kind = ENGINE_NOW_RUNS,
                    .deepest = TRUE,
                    .path = trace_path_of (stack, self),
                    .job = self->job,
                    .args = slot_encode_args (self),
                    .said_us = clock_us () };

  note_wait (stack, &now);
  pthread_mutex_lock (&stack->taken.lock);
  stack_clear_now (&stack->taken.said);
  stack->taken.said = now;
  stack->taken.said_begun = stack->taken.begun;
  pthread_mutex_unlock (&stack->taken.lock);
}
