/* SPDX-License-Identifier: BSD-3-Clause */
/* engine_look: what the stacks run, for people who ask. Two sources. The owner's note (look.h) says
 * the deepest job and what it waits for; it is as old as the stack's last sync. The origin slots
 * say which job the stack took last; they may be read at any time under taken.lock, because a job
 * and all below it on its victims' stacks stand still until it leaves the list. Both cost the depth
 * of the stack, never its width. Driver's thread. Tests: test-look */
#include "config.h"

#include "../engine.h"

#include "../sched/seat.h"
#include "trace.h"

/* The caller holds engine->lock. It may have a job, and that goes on. */
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

/* The newest job that the stack took; the caller holds taken.lock. NULL: it has none. */
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

/* The owner's note, if it is of the job that the stack runs still; else what the origin slot says.
 */
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

/* (transfer full) NULL: the stack has become idle meanwhile. */
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
