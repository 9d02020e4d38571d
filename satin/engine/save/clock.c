/* SPDX-License-Identifier: BSD-3-Clause */
/* See clock.h. The work of an account is the stack's own time in it plus the work given by others
 * for it. It is also the sum of the lines of the account's bill plus the work that no scan has
 * divided yet. The lines of finished jobs stand in rows; all else is at risk. A scan divides the
 * work since the last scan: a result from elsewhere gets its own cost, each begun job gets the mean
 * of all jobs here, and the jobs that were finished here share the rest.
 * Tests: test-clock, test-keep. */
#include "config.h"

#include "clock.h"

#include "../engine.h"

/* The work of others for a slot, and the time at which its result came. */
typedef struct
{
  Work work;
  guint64 ended_us;
} Gift;

/* The clock of a stack is one word, so that other threads can read it at any time: while a job
 * runs, (work before - time of the start) * 2 + 1, else work * 2. */
static guint64
read_clock (const Stack *stack, guint64 now_us)
{
  guint64 clock = figure_get (&stack->shared.clock);
  guint64 work_us = (guint64)((gint64)clock >> 1);

  return (clock & 1) ? work_us + now_us : work_us;
}

void
clock_start (Stack *stack)
{
  guint64 work_us = stack->shared.clock >> 1;

  g_assert ((stack->shared.clock & 1) == 0);
  figure_put (&stack->shared.clock, (work_us - clock_us ()) << 1 | 1);
}

void
clock_stop (Stack *stack)
{
  figure_put (&stack->shared.clock, read_clock (stack, clock_us ()) << 1);
}

gboolean
clock_runs (const Stack *stack)
{
  return figure_get (&stack->shared.clock) & 1;
}

guint64
clock_work_us (const Stack *stack)
{
  return read_clock (stack, clock_us ());
}

/* Own time of the jobs that are on this stack. */
static guint64
own_us (const Stack *stack)
{
  return clock_work_us (stack) - figure_get (&stack->shared.moved_us);
}

guint64
clock_risk_us (const Stack *stack)
{
  gint64 balance_us = __atomic_load_n (&stack->shared.balance_us, __ATOMIC_RELAXED);

  return (guint64)MAX ((gint64)own_us (stack) + balance_us, 0);
}

static void
change_balance (Stack *stack, gint64 by_us)
{
  __atomic_fetch_add (&stack->shared.balance_us, by_us, __ATOMIC_RELAXED);
}

/* The account of the job to which a slot belongs. Its origin is the nearest one under the slot and
 * stays there until the slot has its result. */
static Origin *
origin_of (Stack *stack, const SatinSlot_ *slot)
{
  SatinSlot_ *origin;
  guint i;

  pthread_mutex_lock (&stack->taken.lock);
  for (i = stack->taken.origins->len - 1; (SatinSlot_ *)stack->taken.origins->pdata[i] > slot; i--)
    ;
  origin = stack->taken.origins->pdata[i];
  pthread_mutex_unlock (&stack->taken.lock);
  return slot_origin (origin);
}

void
clock_begin_job (Stack *stack, SatinSlot_ *slot)
{
  Origin *origin = slot_origin (slot);

  pthread_mutex_lock (&stack->taken.lock);
  g_ptr_array_add (stack->taken.origins, slot);
  stack->taken.begun++;
  origin->since_us = clock_us ();
  pthread_mutex_unlock (&stack->taken.lock);
  origin->gift_us = origin->safe_us = 0;
  origin->begin_us = own_us (stack);
  origin->lines = NULL;
}

/* All work for the job of this account, if the job's own time is `time_us`. */
static Work
work_of (const Origin *origin, guint64 time_us)
{
  /* In this order: clock_give adds to the other one first. */
  guint64 safe_us = __atomic_load_n (&origin->safe_us, __ATOMIC_ACQUIRE);           /* clock_give */
  guint64 work_us = time_us + __atomic_load_n (&origin->gift_us, __ATOMIC_ACQUIRE); /* clock_give */

  return (Work){ work_us, work_us - MIN (safe_us, work_us), origin->since_us };
}

Work
clock_end_job (Stack *stack, SatinSlot_ *slot)
{
  Origin *origin = slot_origin (slot);
  guint64 time_us = own_us (stack) - origin->begin_us;

  pthread_mutex_lock (&stack->taken.lock);
  g_ptr_array_set_size (stack->taken.origins, (gint)stack->taken.origins->len - 1);
  stack->taken.begun++;
  pthread_mutex_unlock (&stack->taken.lock);
  g_clear_pointer (&origin->lines, g_array_unref);
  change_balance (stack, (gint64)(origin->safe_us - origin->gift_us));
  figure_put (&stack->shared.moved_us, stack->shared.moved_us + time_us);
  return work_of (origin, time_us);
}

/* For the next scan; not noted in a run without scans. A slot that is used again replaces its
 * entry, so there are no more entries than slots. */
static void
note_gift (Stack *stack, SatinSlot_ *slot, const Work *work)
{
  Gift *gift;

  if (__atomic_load_n (&stack->engine->orders.scans, __ATOMIC_RELAXED) == 0) /* a hint */
    return;
  gift = g_new (Gift, 1);
  *gift = (Gift){ *work, clock_us () };
  pthread_mutex_lock (&stack->taken.lock);
  g_hash_table_replace (stack->taken.gifts, slot, gift);
  pthread_mutex_unlock (&stack->taken.lock);
}

void
clock_give (Stack *stack, SatinSlot_ *slot, const Work *work)
{
  Origin *origin = origin_of (stack, slot);

  __atomic_fetch_add (&origin->gift_us, work->work_us, __ATOMIC_RELEASE); /* work_of */
  __atomic_fetch_add (&origin->safe_us, work->work_us - work->risk_us,
                      __ATOMIC_RELEASE); /* work_of */
  change_balance (stack, (gint64)work->risk_us);
  note_gift (stack, slot, work);
}

void
clock_begin_scan (Stack *stack)
{
  Billing *bill = &stack->own.bill;
  /* May be below 0: children from elsewhere may be subtracted before they are counted. */
  gint64 jobs = (gint64)(stack->open.jobs + stack->shared.executed - stack->shared.elsewhere);

  *bill = (Billing){ jobs, MAX (jobs - bill->jobs, 0), bill->now_us, clock_us () };
}

static gboolean
keeps_anew (const Bill *line)
{
  return line->kind == BILL_KEPT && line->share > 0;
}

/* A line whose slot is still there keeps its work. The work of all other old lines goes to the one
 * job that had begun at the last scan and has ended since. If the slot of that job is gone as well,
 * the job was part of the phases that the lowest keeping job has kept since. */
static void
carry_over (const GArray *old, GArray *new)
{
  guint64 gone_us = 0, told_us = 0;
  Bill *ended = NULL, *kept = NULL;
  guint k = 0;

  for (guint i = 0; old != NULL && i < old->len; i++)
    {
      const Bill *before = &g_array_index (old, Bill, i);
      Bill *line;

      while (k < new->len && g_array_index (new, Bill, k).slot < before->slot)
        k++;
      line = k < new->len ? &g_array_index (new, Bill, k) : NULL;
      if (line == NULL || line->slot != before->slot || !line->known)
        {
          gone_us += before->work_us;
          told_us += before->kind == BILL_BEGUN ? 0 : before->work_us;
          continue;
        }
      line->work_us = before->work_us;
      line->began_us = before->began_us;
      line->took_us = before->took_us;
      if (before->kind == BILL_BEGUN && line->kind != BILL_BEGUN)
        ended = line;
    }
  for (k = 0; kept == NULL && k < new->len; k++)
    if (keeps_anew (&g_array_index (new, Bill, k)))
      kept = &g_array_index (new, Bill, k);
  ended = ended != NULL ? ended : kept;
  if (ended == NULL)
    return;
  ended->work_us += gone_us;
  ended->told_us = told_us;
}

/* TRUE: the result, or the recalled state, of this line came from elsewhere since the last scan. */
static gboolean
came_from_elsewhere (const Bill *line)
{
  return !line->known && line->kind != BILL_BEGUN && !keeps_anew (line)
         && SLOT_STATE (slot_state (line->slot)) == SLOT_DONE;
}

/* FALSE: nothing was noted for this slot. */
static gboolean
take_gift (Stack *stack, SatinSlot_ *slot, Gift *gift)
{
  const Gift *found;

  pthread_mutex_lock (&stack->taken.lock);
  found = g_hash_table_lookup (stack->taken.gifts, slot);
  if (found != NULL)
    *gift = *found;
  g_hash_table_remove (stack->taken.gifts, slot);
  pthread_mutex_unlock (&stack->taken.lock);
  return gift->ended_us > 0;
}

/* Gives lines from elsewhere their cost. Returns what is left of `left_us`. */
static guint64
bill_gifts (Stack *stack, GArray *lines, guint64 left_us)
{
  for (guint i = 0; i < lines->len; i++)
    {
      Bill *line = &g_array_index (lines, Bill, i);
      Gift gift = { 0 };

      if (!came_from_elsewhere (line) || !take_gift (stack, line->slot, &gift))
        continue;
      line->work_us = MIN (gift.work.work_us, left_us);
      line->told_us = gift.work.work_us - gift.work.risk_us;
      line->began_us = gift.work.began_us;
      line->took_us = MAX (gift.ended_us - gift.work.began_us, 1);
      line->share = 0;
      left_us -= line->work_us;
    }
  return left_us;
}

/* TRUE: the job has begun since the last scan and not ended. */
static gboolean
begins (const Bill *line)
{
  return line->kind == BILL_BEGUN && !line->known;
}

/* Divides `left_us` between begun jobs and finished ones. Returns the part that no line gets. Work
 * that is saved never goes to a begun job: all begun jobs together get at most `risk_us`. */
static guint64
bill_own (const Stack *stack, GArray *lines, guint64 left_us, guint64 risk_us)
{
  guint64 n_begun = 0, each_us;
  double shares = 0;

  for (guint i = 0; i < lines->len; i++)
    {
      const Bill *line = &g_array_index (lines, Bill, i);

      n_begun += begins (line);
      shares += line->share;
      if (line->kind == BILL_BEGUN)
        risk_us -= MIN (line->work_us, risk_us);
    }
  each_us = MIN (left_us, risk_us) / MAX (n_begun + stack->own.bill.n_done, 1);
  for (guint i = 0; i < lines->len; i++)
    {
      Bill *line = &g_array_index (lines, Bill, i);

      if (!begins (line))
        continue;
      line->work_us = each_us;
      left_us -= each_us;
    }
  for (guint i = 0; i < lines->len; i++)
    {
      Bill *line = &g_array_index (lines, Bill, i);
      guint64 part_us;

      if (!(line->share > 0))
        continue;
      part_us = (guint64)((double)left_us * MIN (line->share / shares, 1));
      shares -= line->share;
      line->work_us += part_us;
      left_us -= part_us;
    }
  return left_us;
}

/* Computes when a job began and how long it took. For results from elsewhere this is known, else it
 * follows from the scans that met the job. A job that no scan has met before took as long as its
 * work. */
static void
time_line (const Billing *bill, guint64 since_us, gboolean first, Bill *line)
{
  guint64 from_us = first ? since_us : MAX (bill->before_us, since_us);

  if (line->took_us > 0)
    return;
  if (line->began_us == 0 && line->kind == BILL_BEGUN)
    line->began_us = from_us;
  else if (line->began_us == 0)
    line->began_us = bill->now_us - MIN (line->work_us, bill->now_us - from_us);
  if (line->kind != BILL_BEGUN)
    line->took_us = MAX (bill->now_us - MIN (line->began_us, bill->now_us), 1);
}

static void
fill_row (Bill *line)
{
  gint64 wall_us = g_get_real_time () - (gint64)clock_us (); /* from monotonic to wall time */
  Row *row = line->row;

  line->row = NULL;
  row->work_us = line->work_us;
  if (line->kind == BILL_KEPT || line->began_us == 0)
    return;
  row->began_ms = (guint64)MAX (wall_us + (gint64)line->began_us, 0) / 1000;
  row->took_ms = line->took_us / 1000;
}

guint64
clock_bill (Stack *stack, Origin *origin, const Origin *above, GArray *lines)
{
  guint64 until_us = above != NULL ? above->begin_us : own_us (stack), left_us, less_us;
  Work work = work_of (origin, until_us - origin->begin_us);

  carry_over (origin->lines, lines);
  left_us = work.work_us;
  for (guint i = 0; i < lines->len; i++)
    left_us -= MIN (g_array_index (lines, Bill, i).work_us, left_us);
  left_us = bill_gifts (stack, lines, left_us);
  left_us = bill_own (stack, lines, left_us, work.risk_us);
  for (guint i = 0; i < lines->len; i++)
    {
      Bill *line = &g_array_index (lines, Bill, i);

      time_line (&stack->own.bill, origin->since_us, i == 0, line);
      if (line->kind == BILL_BEGUN)
        left_us += line->work_us;
      if (line->row != NULL)
        fill_row (line);
    }
  if (origin->lines != NULL)
    g_array_unref (origin->lines);
  origin->lines = lines;
  /* Saved work stays saved. */
  less_us = work.risk_us - MIN (left_us, work.risk_us);
  __atomic_fetch_add (&origin->safe_us, less_us, __ATOMIC_RELEASE); /* work_of */
  change_balance (stack, -(gint64)less_us);
  return less_us;
}

double
clock_new_share (const Bill *line)
{
  return line->told_us == 0 ? 1
                            : (double)(line->work_us - MIN (line->told_us, line->work_us))
                                  / (double)MAX (line->work_us, 1);
}
