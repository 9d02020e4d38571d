/* SPDX-License-Identifier: BSD-3-Clause */
/* See rehearse.h.
 * Tests: test-crashed. */
#include "config.h"

#include "rehearse.h"

#include "../save/clock.h"
#include "../sched/worker.h"

#include <unistd.h>

static Stack *own;        /* written before its thread begins */
static gint end_of;       /* atomic: RehearseEnd */
static guint64 until_us;  /* driver */
static SatinSlot_ *first; /* the job that runs again */

static void
tell (RehearseEnd end)
{
  g_atomic_int_set (&end_of, (gint)end);
  own->engine->config.wake (own->engine->config.data);
}

static void *rehearse_thread (void *unused) G_GNUC_NORETURN;

static void *
rehearse_thread (void *unused)
{
  (void)unused;
  worker_begin_here (own);
  own->own.limit = STACK_ALL; /* every guard is all ones: see stack_set_guard */
  stack_set_guard (own);
  slot_run (own, first, first + 1);
  tell (REHEARSE_OVER);
  for (;;)
    pause ();
}

gboolean
rehearse_begin (Stack *of)
{
  Origin origin = { .victim = of, .slot = of->own.running };

  own = stack_new (of->engine, of->engine->config.stacks_max + 1, of->engine->c_stack_bytes);
  if (own == NULL)
    return FALSE;
  first = worker_place (own->memory.slots, &origin, of->own.running);
  until_us = clock_us () + REHEARSE_MS * 1000;
  return worker_begin_thread (own, rehearse_thread);
}

RehearseEnd
rehearse_end (void)
{
  RehearseEnd end = (RehearseEnd)g_atomic_int_get (&end_of);

  return end == REHEARSE_RUNS && clock_us () >= until_us ? REHEARSE_OVER : end;
}

Stack *
rehearse_stack (void)
{
  return own;
}

void
rehearse_stop_here (Stack *stack)
{
  if (stack != own)
    return;
  tell (REHEARSE_FAILED);
  for (;;)
    pause ();
}
