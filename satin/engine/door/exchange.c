/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs leave and results come: lend, put, back, run. All functions run on the driver's thread,
 * which is one more thief to the stacks. */
#include "config.h"

#include "../exchange.h"

#include "../save/clock.h"
#include "../sched/abort.h"
#include "../sched/seat.h"
#include "../sched/worker.h"
#include "../tree/adopt.h"
#include "inbox.h"
#include "pending.h"

/* A claim fails if another thief was faster. Claims of the same victim, at most. */
#define CLAIM_TRIES 4

static SatinSlot_ *
claim_from (Stack *victim)
{
  gboolean dry = FALSE;

  for (guint i = 0; i < CLAIM_TRIES && !dry; i++)
    {
      SatinSlot_ *slot = stack_claim (victim, &dry);

      if (slot != NULL)
        return slot;
    }
  if (!stack_is_parked (victim))
    stack_ask (victim, STACK_FLAG_MOVE);
  return NULL;
}

/* Claims the next slot that the driver is to lend. */
static gboolean
claim_any (Engine *engine, Stack **victim, SatinSlot_ **slot)
{
  guint n = engine_n_stacks (engine);
  guint start = random_next (&engine->lending.random) % n;

  if (worker_claim_back (engine, SLOT_DRIVER, victim, slot))
    return TRUE;
  for (guint i = 0; i < n; i++)
    {
      *victim = engine->stacks[(start + i) % n];
      *slot = claim_from (*victim);
      if (*slot != NULL)
        {
          slot_set_state (*slot, SLOT_STOLEN_BY (SLOT_DRIVER));
          return TRUE;
        }
    }
  return FALSE;
}

/* Finds the path and weight of a claimed slot. Slots are lent from the bottom up, so the climb from
 * this one soon meets the parent of the last, which waits while that loan is away. The loan is
 * looked up after the claim: so at that moment neither slot can move. */
static void
place_slot (Engine *engine, Stack *stack, SatinSlot_ *slot, Loan *loan)
{
  TraceBase *from = &engine->lending.from;
  Stems *stems = engine->config.stems;
  Trace trace;

  trace_init_from (&trace, stack, slot, engine_awaits (engine, engine->lending.last) ? from : NULL);
  loan->path = trace_path (&trace, stems);
  loan->weight = trace.weight;
  if (trace.base == NULL || trace.n > 1) /* else it is a sibling of the last one */
    {
      char *parent = trace_parent_path (&trace, stems);
      g_free (from->path);
      *from = (TraceBase){ stack, slot_at (stack, slot_parent (slot)), parent,
                           trace.weight * trace.siblings };
    }
  trace_clear (&trace);
}

/* Describes a claimed slot as a loan, for whose result it waits from now on. FALSE: it was aborted
 * meanwhile. */
static gboolean
lend_slot (Engine *engine, Stack *stack, SatinSlot_ *slot, Loan *loan)
{
  Pending pending = { .kind = PENDING_LENT, .stack = stack, .slot = slot, .since_us = clock_us () };

  place_slot (engine, stack, slot, loan);
  loan->job = engine_job_index (engine, slot->job);
  loan->args = slot_encode_args (slot);
  loan->digest = engine_digest (engine, loan->job, loan->args);
  pending.path = g_strdup (loan->path);
  loan->loan = engine->lending.last = pending_begin (engine, &pending, NULL);
  if (loan->loan != 0)
    {
      timeline_mark (engine->config.lane, "lent", "loan", loan->loan);
      return TRUE;
    }
  g_clear_pointer (&loan->path, g_free);
  g_clear_pointer (&loan->args, g_bytes_unref);
  return FALSE;
}

/* Gives a job that waits in the inbox for a seat back to its lender. FALSE: there is none. */
static gboolean
give_up_surplus (Engine *engine, Loan *loan)
{
  Held *held;

  if (length_hint (&engine->inbox.n) == 0)
    return FALSE;
  pthread_mutex_lock (&engine->lock);
  held = inbox_surplus (engine);
  if (held != NULL)
    {
      loan->held = held->number;
      inbox_drop (engine, held);
    }
  pthread_mutex_unlock (&engine->lock);
  return held != NULL;
}

gboolean
engine_lend (Engine *engine, Loan *loan)
{
  Stack *stack;
  SatinSlot_ *slot;

  if (engine->orders.halting)
    return FALSE;
  while (claim_any (engine, &stack, &slot))
    if (!adopt_claimed (engine, stack, slot) && lend_slot (engine, stack, slot, loan))
      {
        figure_add (&engine->figures.lent, 1);
        return TRUE;
      }
  return give_up_surplus (engine, loan);
}

void
engine_request_work (Engine *engine, guint thieves)
{
  guint n = engine_n_stacks (engine);
  gboolean there;

  request_make (&engine->request, thieves);
  there = length_hint (&engine->back.n) > 0 || length_hint (&engine->inbox.n) > 0;
  for (guint i = 0; i < n && !there; i++)
    there = stack_has_ready (engine->stacks[i]);
  for (guint i = 0; i < n && !there; i++)
    if (!stack_is_parked (engine->stacks[i]))
      stack_ask (engine->stacks[i], STACK_FLAG_MOVE);
  if (there && request_take (&engine->request))
    mailbox_raise (engine, &(EngineEvent){ .kind = ENGINE_SHARED });
}

gboolean
engine_awaits (Engine *engine, guint64 loan)
{
  return pending_is_awaited (engine, loan);
}

gboolean
engine_put (Engine *engine, guint64 loan, GBytes *value, guint64 work_us, guint64 risk_us)
{
  const Work work = { work_us, MIN (risk_us, work_us), 0 };

  if (!pending_complete (engine, loan, value, work))
    return FALSE;
  timeline_mark (engine->config.lane, "returned", "loan", loan);
  return TRUE;
}

gboolean
engine_back (Engine *engine, guint64 loan)
{
  return pending_return (engine, loan);
}

/* Zeroed. To align by hand costs less than posix_memalign, since malloc has such blocks in stock.
 */
static Held *
held_alloc (void)
{
  const guintptr align = G_ALIGNOF (Held);
  char *memory = g_malloc (sizeof (Held) + align - 1);
  Held *held = (Held *)(void *)(memory + (align - (guintptr)memory % align) % align);

  memset (held, 0, sizeof *held);
  held->memory = memory;
  return held;
}

/* NULL: the arguments are not of the job's type. */
static Held *
held_new (Engine *engine, guint64 number, Loan *loan)
{
  const SatinJob *job = engine->config.jobs[loan->job];
  Held *held = held_alloc ();

  held->number = number;
  held->job = job;
  held->slot.job = job;
  held->slot.state = SLOT_READY;
  if (job->big)
    {
      held->big = g_malloc0 (job->payload);
      memcpy (held->slot.payload, &held->big, sizeof held->big);
    }
  if (!record_decode (job->args, loan->args, slot_payload (&held->slot), NULL))
    {
      g_free (held->big);
      g_free (held->memory);
      return NULL;
    }
  held->loan = loan_ref (loan);
  return held;
}

gboolean
engine_run (Engine *engine, guint64 number, Loan *loan)
{
  Digest digest;
  Held *held;
  gboolean is_new;

  if (loan->job >= engine->jobs.n || loan->args == NULL || !path_is_canonical (loan->path))
    return FALSE;
  digest = engine_digest (engine, loan->job, loan->args);
  if (!digest_equal (&digest, &loan->digest))
    return FALSE;
  held = held_new (engine, number, loan);
  if (held == NULL)
    return FALSE;
  pthread_mutex_lock (&engine->lock);
  is_new = g_hash_table_insert (engine->inbox.held, &held->number, held);
  g_assert (is_new); /* the caller's numbers are unique */
  inbox_add (engine, held);
  engine->seats.hungry_said = 0;
  seat_dispatch (engine, 1, TRUE);
  pthread_mutex_unlock (&engine->lock);
  return TRUE;
}

void
engine_unrun (Engine *engine, guint64 number)
{
  const EngineEvent event = { .kind = ENGINE_UNRUN, .held = number };
  Held *held;

  pthread_mutex_lock (&engine->lock);
  held = g_hash_table_lookup (engine->inbox.held, &number);
  if (held != NULL && held->queued)
    {
      inbox_drop (engine, held);
      mailbox_raise (engine, &event);
    }
  else if (held != NULL)
    abort_held (engine, held);
  pthread_mutex_unlock (&engine->lock);
}
