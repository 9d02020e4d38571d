/* SPDX-License-Identifier: BSD-3-Clause */
/* Scans and halts, which all stacks are asked for: counts the stacks that owe one. If such a stack
 * stores a result on another stack, that stack owes it from then on, too. Tests: test-leapfrog,
 * test-wait, test-scan. */
#include "config.h"

#include "seat.h"

#include <sched.h>

void
seat_ask (Stack *stack, guint32 flags)
{
  stack_ask (stack, flags);
  if (stack->seat.state == STACK_PARKED || stack->seat.state == STACK_READY
      || stack->seat.state == STACK_HALTED)
    pthread_cond_signal (&stack->seat.cond);
}

void
seat_wait_for_returns (Engine *engine)
{
  __atomic_store_n (&engine->orders.asked, engine->orders.asked + 1,
                    __ATOMIC_SEQ_CST); /* pairs with seat_begin_return */
  for (guint i = 0; i < engine->n_stacks; i++)
    while (__atomic_load_n (&engine->stacks[i]->shared.returning,
                            __ATOMIC_SEQ_CST)) /* pairs with seat_begin_return, too */
      sched_yield ();
}

/* `to` owes what `from` owes, even if `to` has served it already. */
static void
pass_debts (Stack *from, Stack *to)
{
  Engine *engine = from->engine;

  if (from->seat.scan_owed > 0
      && (to->seat.scan_owed == 0 || from->seat.scan_owed < to->seat.scan_owed))
    to->seat.scan_owed = from->seat.scan_owed;
  if (from->seat.halt_owed && to->seat.state == STACK_HALTED && !to->seat.halt_owed)
    {
      engine->orders.halts_owed++;
      to->seat.halt_owed = TRUE;
    }
}

gboolean
seat_begin_return (Stack *from, Stack *to)
{
  Engine *engine = from->engine;

  /* Either seat_wait_for_returns sees this store, or this thread sees the new `asked`. */
  __atomic_store_n (&from->shared.returning, TRUE,
                    __ATOMIC_SEQ_CST); /* pairs with seat_wait_for_returns */
  if (__atomic_load_n (&engine->orders.asked, __ATOMIC_SEQ_CST)
      == __atomic_load_n (&from->shared.paid, __ATOMIC_RELAXED))
    return FALSE;
  __atomic_store_n (&from->shared.returning, FALSE,
                    __ATOMIC_RELEASE); /* pairs with seat_wait_for_returns */
  pthread_mutex_lock (&engine->lock);
  pass_debts (from, to);
  __atomic_store_n (&to->shared.paid, 0, __ATOMIC_RELAXED); /* `to` sees this with the result */
  return TRUE;
}

void
seat_end_return (Stack *from, Stack *to, gboolean locked)
{
  Engine *engine = from->engine;

  if (!locked)
    {
      __atomic_store_n (&from->shared.returning, FALSE,
                        __ATOMIC_RELEASE); /* pairs with seat_wait_for_returns */
      return;
    }
  if (from->seat.scan_owed > 0 || from->seat.halt_owed)
    seat_ask (to, STACK_FLAG_SCAN);
  else
    __atomic_store_n (&from->shared.paid, engine->orders.asked, __ATOMIC_RELAXED);
  pthread_mutex_unlock (&engine->lock);
}

static void
say_scanned (Engine *engine, guint64 scan)
{
  guint64 scan_ns = __atomic_load_n (&engine->figures.scan_ns, __ATOMIC_RELAXED);
  guint64 since_ns = scan_ns - engine->figures.scan_said_ns;

  engine->figures.scan_said_ns = scan_ns;
  mailbox_raise (engine, &(EngineEvent){ .kind = ENGINE_SCANNED,
                                         .scan = scan,
                                         .work_us = since_ns / 1000 / engine->config.workers });
}

void
seat_scan_served (Stack *stack)
{
  if (stack->seat.scan_owed == 0 || (stack_flags (stack) & STACK_FLAG_SCAN))
    return;
  stack->seat.scan_owed = 0;
  seat_count_scans (stack->engine);
}

void
seat_count_scans (Engine *engine)
{
  guint64 served = engine->orders.scans;

  for (guint i = 0; i < engine->n_stacks; i++)
    if (engine->stacks[i]->seat.scan_owed > 0)
      served = MIN (served, engine->stacks[i]->seat.scan_owed - 1);
  if (served <= engine->orders.scans_served)
    return;
  engine->orders.scans_served = served;
  say_scanned (engine, served);
}

void
seat_halt_served (Stack *stack)
{
  stack->seat.state = STACK_HALTED;
  if (!stack->seat.halt_owed)
    return;
  stack->seat.halt_owed = FALSE;
  if (--stack->engine->orders.halts_owed == 0)
    mailbox_raise (stack->engine, &(EngineEvent){ .kind = ENGINE_HALTED });
}
