/* SPDX-License-Identifier: BSD-3-Clause */
/* engine_look: what the stacks run, for people who ask. There are two sources. The owner's note
 * (look.h) names the deepest job and its wait; it is as old as the stack's last sync. The origin
 * slots name the job that the stack took last. They may be read at any time under taken.lock: until
 * a job leaves the list, its slot and the slots below it on its victims' stacks do not change. Both
 * take time by the depth of a stack, not by its width. Driver's thread. Tests: test-look. */
#include "config.h"

#include "../engine.h"

#include "../sched/seat.h"
#include "trace.h"

/* The caller holds engine->lock. TRUE: the stack may have a job that goes on. */
static gboolean
has_job (const Stack *stack)
{
  return stack->seat.state != STACK_ASLEEP && stack->seat.state != STACK_HALTED;
}

void
engine_look_ask (Engine *engine)
{
  guint64 now_us = clock_us ();

  pthread_mutex_lock (&engine->lock);
  for (guint i = 0; i < engine->n_stacks; i++)
    if (has_job (engine->stacks[i]))
      seat_ask (engine->stacks[i], STACK_FLAG_LOOK);
  pthread_mutex_unlock (&engine->lock);
  engine->lending.look_asked_us = now_us;
}

static void
now_free (gpointer data)
{
  stack_clear_now (data);
  g_free (data);
}

/* A stack that has a job, and since when. */
typedef struct
{
  Stack *stack;
  guint64 since_us;
  gboolean wants_seat;
} Taker;

static gint
compare_takers (gconstpointer a, gconstpointer b)
{
  const Taker *one = a, *other = b;

  if (one->since_us != other->since_us)
    return one->since_us < other->since_us ? -1 : 1;
  return one->stack->number < other->stack->number ? -1 : one->stack->number > other->stack->number;
}

/* The origin slot of the job that the stack took last; the caller holds taken.lock. NULL: none. */
static SatinSlot_ *
newest (const Stack *stack)
{
  guint n = stack->taken.origins->len;

  return n > 0 ? (SatinSlot_ *)stack->taken.origins->pdata[n - 1] : NULL;
}

/* (transfer full): of Taker, the oldest first. */
static GArray *
list_takers (Engine *engine)
{
  GArray *takers = g_array_new (FALSE, FALSE, sizeof (Taker));

  pthread_mutex_lock (&engine->lock);
  for (guint i = 0; i < engine->n_stacks; i++)
    {
      Taker taker = { .stack = engine->stacks[i] };

      taker.wants_seat = taker.stack->seat.state == STACK_READY;
      if (has_job (taker.stack))
        g_array_append_val (takers, taker);
    }
  pthread_mutex_unlock (&engine->lock);
  for (guint i = 0; i < takers->len;)
    {
      Taker *taker = &g_array_index (takers, Taker, i);
      SatinSlot_ *origin;

      pthread_mutex_lock (&taker->stack->taken.lock);
      origin = newest (taker->stack);
      taker->since_us = origin != NULL ? slot_origin (origin)->since_us : 0;
      pthread_mutex_unlock (&taker->stack->taken.lock);
      if (origin == NULL)
        g_array_remove_index_fast (takers, i);
      else
        i++;
    }
  g_array_sort (takers, compare_takers);
  return takers;
}

/* Fills in the owner's note if the stack has taken and ended no job since; else describes `job`. */
static void
fill (Stack *stack, SatinSlot_ *job, EngineNow *now)
{
  const EngineNow *said = &stack->taken.said;

  if (said->path != NULL && stack->taken.said_begun == stack->taken.begun)
    {
      *now = *said;
      now->path = g_strdup (said->path);
      now->child = g_strdup (said->child);
      now->args = g_bytes_ref (said->args);
      return;
    }
  now->stack = stack->number;
  now->path = trace_path_of (stack, job);
  now->job = job->job;
  now->args = slot_encode_args (job);
}

/* (transfer full) (nullable): NULL: the stack has become empty meanwhile. */
static EngineNow *
describe (const Taker *taker, guint64 now_us)
{
  Stack *stack = taker->stack;
  EngineNow *now = NULL;
  SatinSlot_ *origin;

  pthread_mutex_lock (&stack->taken.lock);
  origin = newest (stack);
  if (origin != NULL)
    {
      now = g_new0 (EngineNow, 1);
      fill (stack, origin + 1, now);
      now->for_us = now_us - MIN (now_us, slot_origin (origin)->since_us);
      now->below = stack->taken.origins->len - 1;
      now->asked = now->said_us < stack->engine->lending.look_asked_us;
      if (taker->wants_seat && now->asked)
        now->kind = ENGINE_NOW_SEAT;
    }
  pthread_mutex_unlock (&stack->taken.lock);
  return now;
}

GPtrArray *
engine_look (Engine *engine, guint max, guint *more)
{
  GPtrArray *all = g_ptr_array_new_with_free_func (now_free);
  g_autoptr (GArray) takers = list_takers (engine);
  guint64 now_us = clock_us ();

  for (guint i = 0; i < takers->len && i < max; i++)
    {
      EngineNow *now = describe (&g_array_index (takers, Taker, i), now_us);

      if (now != NULL)
        g_ptr_array_add (all, now);
    }
  *more = takers->len - MIN (takers->len, max);
  return all;
}
