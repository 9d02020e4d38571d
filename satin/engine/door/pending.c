/* SPDX-License-Identifier: BSD-3-Clause */
/* See pending.h. Tests: test-leapfrog, test-exchange, test-recall, test-share. */
#include "config.h"

#include "pending.h"

#include "../save/keep.h"
#include "../sched/abort.h"
#include "../sched/worker.h"
#include "../tree/adopt.h"
#include "share.h"

/* Under pending.lock. Both tables change together. */
static void
add (Engine *engine, Pending *pending)
{
  g_hash_table_insert (engine->pending.by_number, &pending->number, pending);
  g_hash_table_insert (engine->pending.by_slot, pending->slot, pending);
  if (pending->kind == PENDING_RESULT || pending->kind == PENDING_KEPT)
    length_put (&engine->pending.n_fetches, engine->pending.n_fetches + 1);
}

/* Under pending.lock. (transfer full) (nullable) */
static Pending *
take (Engine *engine, Pending *pending)
{
  if (pending == NULL)
    return NULL;
  g_hash_table_remove (engine->pending.by_slot, pending->slot);
  g_hash_table_steal (engine->pending.by_number, &pending->number);
  if (pending->kind == PENDING_RESULT || pending->kind == PENDING_KEPT)
    length_put (&engine->pending.n_fetches, engine->pending.n_fetches - 1);
  return pending;
}

void
pending_free (gpointer data)
{
  Pending *pending = data;

  g_free (pending->path);
  g_free (pending);
}

guint64
pending_begin (Engine *engine, const Pending *pending, const EngineEvent *adopt)
{
  Pending *copy = g_memdup2 (pending, sizeof *pending);
  guint64 number = figure_add (&engine->pending.last, 1) + 1; /* only unique */
  gboolean waits;

  copy->number = number;
  pthread_mutex_lock (&engine->pending.lock);
  waits = abort_change_state (pending->slot, SLOT_AWAY);
  if (waits)
    add (engine, copy);
  if (waits && adopt != NULL)
    {
      EngineEvent event = *adopt;

      event.loan = number;
      mailbox_raise_quietly (engine, &event); /* under the lock, so that ENGINE_ABORTED of this
                                                 number cannot come before it */
    }
  pthread_mutex_unlock (&engine->pending.lock);
  if (waits)
    return number;
  pending_free (copy);
  abort_answer (pending->stack, pending->slot);
  return 0;
}

/* (transfer full) (nullable) */
static Pending *
take_loan (Engine *engine, guint64 loan)
{
  Pending *pending;

  pthread_mutex_lock (&engine->pending.lock);
  pending = take (engine, g_hash_table_lookup (engine->pending.by_number, &loan));
  pthread_mutex_unlock (&engine->pending.lock);
  return pending;
}

/* FALSE: the value is not of the job's result type. */
static gboolean
put_child (Engine *engine, const Pending *pending, GBytes *value, const Work *work)
{
  SatinSlot_ *slot = pending->slot;

  if (!record_decode (slot->job->result, value, slot_result (slot), NULL))
    return FALSE;
  adopt_cover (engine, pending->path);
  clock_give (pending->stack, slot, work);
  slot_finish (slot, SLOT_DONE);
  worker_wake (pending->stack, slot);
  if (pending->kind != PENDING_LENT)
    figure_add (&engine->figures.reused, 1);
  return TRUE;
}

/* For a kept state or shared bytes. `value` NULL: the holder has nothing, or there is no holder. */
static void
put_other (const Pending *pending, GBytes *value, const Work *work)
{
  if (pending->kind == PENDING_SHARED)
    {
      share_put (pending->stack, pending->slot, value);
      return;
    }
  keep_put (pending->stack, pending->slot, value, work);
  worker_wake (pending->stack, NULL);
}

static gboolean
is_of_child (const Pending *pending)
{
  return pending->kind < PENDING_KEPT;
}

gboolean
pending_complete (Engine *engine, guint64 loan, GBytes *value, Work work)
{
  Pending *pending = take_loan (engine, loan);

  if (pending == NULL)
    return FALSE;
  work.began_us = pending->since_us;
  if (!is_of_child (pending))
    put_other (pending, value, &work);
  else if (!put_child (engine, pending, value, &work))
    {
      pthread_mutex_lock (&engine->pending.lock);
      add (engine, pending);
      pthread_mutex_unlock (&engine->pending.lock);
      return FALSE;
    }
  pending_free (pending);
  return TRUE;
}

gboolean
pending_return (Engine *engine, guint64 loan)
{
  Pending *pending = take_loan (engine, loan);

  if (pending == NULL)
    return FALSE;
  if (is_of_child (pending))
    worker_give_back (pending->stack, pending->slot);
  else
    put_other (pending, NULL, NULL);
  pending_free (pending);
  return TRUE;
}

gboolean
pending_cancel (Engine *engine, SatinSlot_ *slot)
{
  EngineEvent event = { .kind = ENGINE_ABORTED };
  Pending *pending;

  pthread_mutex_lock (&engine->pending.lock);
  pending = take (engine, g_hash_table_lookup (engine->pending.by_slot, slot));
  if (pending != NULL)
    {
      event.loan = pending->number;
      mailbox_raise (engine, &event);
    }
  pthread_mutex_unlock (&engine->pending.lock);
  g_clear_pointer (&pending, pending_free);
  return event.loan != 0;
}

gboolean
pending_is_awaited (Engine *engine, guint64 loan)
{
  gboolean found;

  pthread_mutex_lock (&engine->pending.lock);
  found = g_hash_table_contains (engine->pending.by_number, &loan);
  pthread_mutex_unlock (&engine->pending.lock);
  return found;
}

guint64
pending_number (Engine *engine, SatinSlot_ *slot)
{
  const Pending *pending;
  guint64 number;

  pthread_mutex_lock (&engine->pending.lock);
  pending = g_hash_table_lookup (engine->pending.by_slot, slot);
  number = pending != NULL ? pending->number : 0;
  pthread_mutex_unlock (&engine->pending.lock);
  return number;
}
