/* SPDX-License-Identifier: BSD-3-Clause */
/* See look.h. */
#include "config.h"

#include "look.h"

#include "../door/pending.h"
#include "trace.h"

/* The slot waits for something under a loan number, unless that ends just now. */
static void
note_away (Stack *stack, SatinSlot_ *slot, guint32 kind, Look *look)
{
  look->loan = pending_number (stack->engine, slot);
  if (look->loan != 0)
    look->kind = kind == KIND_FETCH  ? ENGINE_NOW_SHARED
                 : kind == KIND_KEPT ? ENGINE_NOW_KEPT
                                     : ENGINE_NOW_LOAN;
}

/* What the owner's wait is for, when its thread may sleep in one. */
static void
note_wait (Stack *stack, Look *look)
{
  SatinSlot_ *slot = stack->shared.awaited; /* the owner's own */
  guint32 state;

  if (slot == NULL)
    return;
  if (slot == STACK_ANY)
    {
      look->kind = ENGINE_NOW_ANY;
      return;
    }
  state = slot_state (slot);
  switch (SLOT_STATE (state))
    {
    case SLOT_STOLEN:
      look->kind = ENGINE_NOW_CHILD;
      look->thief = SLOT_THIEF (state);
      break;
    case SLOT_ABORTED:
      look->kind = ENGINE_NOW_ABORT;
      look->thief = SLOT_THIEF (state);
      break;
    case SLOT_AWAY:
      note_away (stack, slot, SLOT_KIND (state), look);
      break;
    default: /* it has just come back, or its result has */
      break;
    }
  if (look->kind == ENGINE_NOW_CHILD || look->kind == ENGINE_NOW_LOAN)
    look->child = path_child (stack->engine->config.stems, look->path, slot_number (stack, slot));
}

void
look_serve (Stack *stack, SatinSlot_ *self)
{
  Look look = { .kind = ENGINE_NOW_RUNS, .job = self->job, .said_us = clock_us () };

  look.path = trace_path_of (stack, self);
  look.args = slot_encode_args (self);
  note_wait (stack, &look);
  pthread_mutex_lock (&stack->taken.lock);
  look.begun = stack->taken.begun;
  stack_clear_look (&stack->taken.look);
  stack->taken.look = look;
  pthread_mutex_unlock (&stack->taken.lock);
}
