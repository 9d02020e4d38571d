/* SPDX-License-Identifier: BSD-3-Clause */
/* See clock.h. The clock of a stack is one word, so that others can read it while it runs: while a
 * job runs, (work so far - time at which it began) * 2 + 1, else work * 2. */
#include "config.h"

#include "clock.h"

#include "../engine.h"

/* A slot's state has 24 bits to spare: 5 for an exponent, 19 for a number. */
#define GIVEN_BITS 19
#define GIVEN_MAX ((1u << GIVEN_BITS) - 1)
#define GIVEN_SHIFT_MAX 31u

static guint64
read_clock (const Stack *stack, guint64 now_us)
{
  guint64 clock = __atomic_load_n (&stack->shared.clock, __ATOMIC_RELAXED);
  guint64 work_us = (guint64)((gint64)clock >> 1);

  return (clock & 1) ? work_us + now_us : work_us;
}

void
clock_start (Stack *stack)
{
  guint64 work_us = stack->shared.clock >> 1;

  g_assert ((stack->shared.clock & 1) == 0);
  __atomic_store_n (&stack->shared.clock, (work_us - clock_us ()) << 1 | 1, __ATOMIC_RELAXED);
}

void
clock_stop (Stack *stack)
{
  __atomic_store_n (&stack->shared.clock, read_clock (stack, clock_us ()) << 1, __ATOMIC_RELAXED);
}

gboolean
clock_runs (const Stack *stack)
{
  return __atomic_load_n (&stack->shared.clock, __ATOMIC_RELAXED) & 1;
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
  return clock_work_us (stack) - __atomic_load_n (&stack->shared.moved_us, __ATOMIC_RELAXED);
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

/* Takes the lines from slot `top` up off the bill. Returns what they came to. */
static guint64
cut_bill (Stack *stack, const SatinSlot_ *top)
{
  guint n = stack->own.bill.lines->len;
  guint64 work_us = 0;

  for (; n > 0 && g_array_index (stack->own.bill.lines, Bill, n - 1).slot >= top; n--)
    work_us += g_array_index (stack->own.bill.lines, Bill, n - 1).work_us;
  g_array_set_size (stack->own.bill.lines, n);
  return work_us;
}

/* The account of the job that a slot is below. Its origin is the nearest one under it, and stays
 * there until this slot has its result; the way down the parents may be long. */
static Origin *
origin_of (Stack *stack, const SatinSlot_ *slot)
{
  SatinSlot_ *origin;
  guint low = 0, high;

  pthread_mutex_lock (&stack->taken.lock);
  for (high = stack->taken.origins->len; high - low > 1;)
    {
      guint middle = low + (high - low) / 2;

      if ((SatinSlot_ *)stack->taken.origins->pdata[middle] < slot)
        low = middle;
      else
        high = middle;
    }
  origin = stack->taken.origins->pdata[low];
  pthread_mutex_unlock (&stack->taken.lock);
  return slot_origin (origin);
}

/* Those from `slot` up are gone. */
static void
cut_origins (Stack *stack, const SatinSlot_ *slot)
{
  guint n = stack->taken.origins->len;

  while (n > 0 && (SatinSlot_ *)stack->taken.origins->pdata[n - 1] >= slot)
    n--;
  g_ptr_array_set_size (stack->taken.origins, (gint)n);
  stack->taken.begun++;
}

void
clock_begin_job (Stack *stack, SatinSlot_ *slot)
{
  Origin *origin = slot_origin (slot);
  guint64 gone_us = cut_bill (stack, slot);

  /* Lines of slots that are gone: the job they were below is the last unfinished one before them,
   * or has ended below that one. */
  for (guint i = stack->own.bill.lines->len; i-- > 0 && gone_us > 0;)
    if (g_array_index (stack->own.bill.lines, Bill, i).spine)
      {
        g_array_index (stack->own.bill.lines, Bill, i).work_us += gone_us;
        gone_us = 0;
      }
  pthread_mutex_lock (&stack->taken.lock);
  cut_origins (stack, slot);
  g_ptr_array_add (stack->taken.origins, slot);
  origin->since_us = clock_us ();
  pthread_mutex_unlock (&stack->taken.lock);
  origin->gift_us = origin->gift_saved_us = origin->saved_us = 0;
  origin->begin_us = own_us (stack);
}

/* What others did for the job of this account, and of that what is saved by now. */
static Work
given (const Origin *origin)
{
  /* In this order: the other is added first. */
  guint64 saved_us = __atomic_load_n (&origin->gift_saved_us, __ATOMIC_ACQUIRE); /* clock_give */
  guint64 work_us = __atomic_load_n (&origin->gift_us, __ATOMIC_ACQUIRE);        /* clock_give */

  return (Work){ .work_us = work_us, .risk_us = work_us - saved_us };
}

Work
clock_end_job (Stack *stack, SatinSlot_ *slot)
{
  const Origin *origin = slot_origin (slot);
  guint64 time_us = own_us (stack) - origin->begin_us;
  Work gift = given (origin);
  Work work = { .work_us = time_us + gift.work_us, .began_us = origin->since_us };
  gint64 left_us = (gint64)(gift.risk_us - origin->saved_us);

  work.risk_us = (guint64)CLAMP ((gint64)time_us + left_us, 0, (gint64)work.work_us);
  (void)cut_bill (stack, slot);
  pthread_mutex_lock (&stack->taken.lock);
  cut_origins (stack, slot);
  pthread_mutex_unlock (&stack->taken.lock);
  change_balance (stack, -left_us);
  __atomic_store_n (&stack->shared.moved_us, stack->shared.moved_us + time_us, __ATOMIC_RELAXED);
  return work;
}

static guint32
pack (guint64 work_us)
{
  guint shift = 0;

  for (; work_us > GIVEN_MAX && shift < GIVEN_SHIFT_MAX; shift++)
    work_us >>= 1;
  return (guint32)MIN (work_us, GIVEN_MAX) | shift << GIVEN_BITS;
}

guint64
clock_given_us (guint32 state)
{
  guint32 packed = state >> 8;

  if (SLOT_STATE (state) != SLOT_DONE)
    return 0;
  return (guint64)(packed & GIVEN_MAX) << (packed >> GIVEN_BITS);
}

/* For the next scan. Without scans nobody asks. Slots that are used again get a new entry, so there
 * are no more of them than slots. */
static void
note_span (Stack *stack, SatinSlot_ *slot, const Work *work)
{
  Span *span;

  if (work->began_us == 0
      || __atomic_load_n (&stack->engine->orders.scans, __ATOMIC_RELAXED) == 0) /* a hint */
    return;
  span = g_new (Span, 1);
  *span = (Span){ work->began_us, clock_us () - work->began_us, work->work_us - work->risk_us };
  pthread_mutex_lock (&stack->taken.lock);
  g_hash_table_replace (stack->taken.spans, slot, span);
  pthread_mutex_unlock (&stack->taken.lock);
}

/* What note_span had; 0: nothing. */
static Span
take_span (Stack *stack, SatinSlot_ *slot)
{
  const Span *found;
  Span span = { 0, 0, 0 };

  pthread_mutex_lock (&stack->taken.lock);
  found = g_hash_table_lookup (stack->taken.spans, slot);
  if (found != NULL)
    span = *found;
  g_hash_table_remove (stack->taken.spans, slot);
  pthread_mutex_unlock (&stack->taken.lock);
  return span;
}

guint32
clock_give (Stack *stack, SatinSlot_ *slot, const Work *work)
{
  Origin *origin = origin_of (stack, slot);

  __atomic_fetch_add (&origin->gift_us, work->work_us, __ATOMIC_RELEASE); /* given */
  __atomic_fetch_add (&origin->gift_saved_us, work->work_us - work->risk_us,
                      __ATOMIC_RELEASE); /* given */
  change_balance (stack, (gint64)work->risk_us);
  note_span (stack, slot, work);
  return SLOT_DONE | pack (work->work_us) << 8;
}

/* Some of the lines of a bill. */
typedef struct
{
  Bill *lines;
  guint n;
} Part;

/* A line whose slot is gone: what it came to, and which part of that a row tells. */
static void
add_gone (const Bill *line, guint64 *gone_us, guint64 *rows_us)
{
  *gone_us += line->work_us;
  *rows_us += line->spine ? line->told_us : line->work_us;
}

/* Carries what the last bill said over to the lines of slots that are still there. What was done
 * for the others went into the unfinished one of then that has ended: there is at most one of which
 * something is left. If there is none, the lowest job that has kept a phase since had them below
 * it. Returns what finds no place. */
static guint64
carry_over (Part old, Part new)
{
  guint64 gone_us = 0, rows_us = 0;
  Bill *ended = NULL;
  guint i = 0;

  for (guint k = 0; k < new.n; k++)
    {
      Bill *line = &new.lines[k];

      for (; i < old.n && old.lines[i].slot < line->slot; i++)
        add_gone (&old.lines[i], &gone_us, &rows_us);
      if (i == old.n || old.lines[i].slot != line->slot)
        continue;
      const Bill *before = &old.lines[i++];
      if (!line->known)
        gone_us += before->work_us;
      else
        line->work_us = before->work_us;
      if (line->known && before->spine && !line->spine)
        ended = line;
    }
  for (guint k = 0; ended == NULL && k < new.n; k++)
    {
      Bill *line = &new.lines[k];

      if (line->kept && line->share > 0)
        ended = line;
    }
  for (; i < old.n; i++)
    add_gone (&old.lines[i], &gone_us, &rows_us);
  if (ended == NULL)
    return gone_us;
  ended->work_us += gone_us;
  ended->told_us = rows_us;
  return 0;
}

/* What came from elsewhere has its own price. Returns what is left of `work_us`. */
static guint64
bill_given (Part new, guint64 work_us)
{
  for (guint i = 0; i < new.n; i++)
    {
      Bill *line = &new.lines[i];
      guint64 given_us = line->known || line->spine ? 0 : clock_given_us (slot_state (line->slot));

      given_us = MIN (given_us, work_us);
      line->work_us += given_us;
      work_us -= given_us;
    }
  return work_us;
}

/* Jobs that have begun and not ended hold, besides their children, what they did themselves: about
 * as much as any job here. */
static guint64
bill_spine (Part new, guint64 n_done, guint64 work_us)
{
  guint64 n_begun = 0, each_us;

  for (guint i = 0; i < new.n; i++)
    n_begun += new.lines[i].spine && !new.lines[i].known;
  if (n_begun == 0)
    return work_us;
  each_us = work_us / (n_begun + n_done);
  for (guint i = 0; i < new.n; i++)
    {
      Bill *line = &new.lines[i];

      if (line->spine && !line->known)
        line->work_us += each_us;
    }
  return work_us - n_begun * each_us;
}

/* The children that were finished here share the rest by their weight. Returns what is left. */
static guint64
bill_done (Part new, guint64 work_us)
{
  guint64 rest_us = work_us;
  double all = 0, so_far = 0;

  for (guint i = 0; i < new.n; i++)
    all += new.lines[i].share;
  if (!(all > 0))
    return work_us;
  for (guint i = 0; i < new.n; i++)
    {
      Bill *line = &new.lines[i];
      guint64 until_us;

      if (line->share <= 0)
        continue;
      so_far += line->share;
      until_us = MIN ((guint64)((double)work_us * MIN (so_far / all, 1.0)), work_us);
      line->work_us += until_us - (work_us - rest_us);
      rest_us = work_us - until_us;
    }
  return rest_us;
}

/* A job that no scan has met before began after the last one. If it is over, its own work tells how
 * long it took. */
static Span
span_of_new (Stack *stack, const Bill *line, guint64 from_us, guint64 now_us)
{
  if (line->spine)
    return (Span){ .began_us = from_us };
  if (SLOT_STATE (slot_state (line->slot)) == SLOT_DONE)
    return take_span (stack, line->slot);
  guint64 took_us = MIN (line->work_us, now_us - from_us);
  return (Span){ .began_us = now_us - took_us, .took_us = took_us };
}

/* From the last bill, or by this scan. Only the first line of an account is the job that came. */
static void
bill_spans (Stack *stack, const Origin *origin, Part old, Part new)
{
  guint64 now_us = clock_us (), from_us = MAX (stack->own.bill.scanned_us, origin->since_us);
  guint i = 0;

  for (guint k = 0; k < new.n; k++)
    {
      Bill *line = &new.lines[k];

      while (i < old.n && old.lines[i].slot < line->slot)
        i++;
      if (line->known && i < old.n && old.lines[i].slot == line->slot)
        line->span = old.lines[i].span;
      else if (!line->kept)
        line->span = span_of_new (stack, line, k == 0 ? origin->since_us : from_us, now_us);
      if (!line->spine && !line->kept && line->span.began_us > 0 && line->span.took_us == 0)
        line->span.took_us = MAX (now_us - MIN (line->span.began_us, now_us), 1);
    }
}

static void
fill_row (Row *row, const Bill *line, gint64 wall_us)
{
  row->work_us = line->work_us;
  if (line->kept || line->span.began_us == 0)
    return;
  row->began_ms = (guint64)MAX (wall_us + (gint64)line->span.began_us, 0) / 1000;
  row->took_ms = line->span.took_us / 1000;
}

/* The account of one job. Returns how much less is at risk. */
static gint64
bill_account (Stack *stack, Origin *origin, guint64 time_us, guint64 n_done, Part old, Part new)
{
  Work gift = given (origin);
  guint64 left_us = time_us + gift.work_us;
  gint64 less_us = (gint64)(time_us + gift.risk_us - origin->saved_us);
  gint64 wall_us = g_get_real_time () - (gint64)clock_us (); /* to the clock of people */

  for (guint i = 0; i < old.n; i++)
    left_us -= MIN (left_us, old.lines[i].work_us);
  left_us += carry_over (old, new);
  left_us = bill_given (new, left_us);
  left_us = bill_spine (new, n_done, left_us);
  left_us = bill_done (new, left_us);
  bill_spans (stack, origin, old, new);
  for (guint i = 0; i < new.n; i++)
    {
      Bill *line = &new.lines[i];

      if (line->spine)
        left_us += line->work_us;
      if (line->row != NULL)
        fill_row (line->row, line, wall_us);
      line->row = NULL;
    }
  less_us -= (gint64)left_us;
  origin->saved_us += (guint64)less_us;
  return less_us;
}

/* The lines from *index, which is moved, up to slot `to` (NULL: all). */
static Part
take_part (GArray *lines, guint *index, const SatinSlot_ *to)
{
  Part part = { .lines = (Bill *)(void *)lines->data + *index };

  for (; *index < lines->len && (to == NULL || g_array_index (lines, Bill, *index).slot < to);
       (*index)++)
    part.n++;
  return part;
}

guint64
clock_bill (Stack *stack, GArray *lines, const GPtrArray *origins)
{
  /* Below 0 while children that came from elsewhere are subtracted and not yet counted. */
  gint64 jobs = (gint64)(stack->open.jobs + stack->shared.executed - stack->shared.elsewhere);
  guint64 n_done = (guint64)MAX (jobs - stack->own.bill.jobs, 0), now_us = own_us (stack);
  gint64 less_us = 0;
  guint old_index = 0, index = 0;

  stack->own.bill.jobs = jobs;
  for (guint i = 0; i < origins->len; i++)
    {
      SatinSlot_ *next = i + 1 < origins->len ? origins->pdata[i + 1] : NULL;
      Origin *origin = slot_origin (origins->pdata[i]);
      guint64 until_us = next != NULL ? slot_origin (next)->begin_us : now_us;
      Part old = take_part (stack->own.bill.lines, &old_index, next);
      Part new = take_part (lines, &index, next);

      less_us += bill_account (stack, origin, until_us - origin->begin_us, n_done, old, new);
    }
  g_array_unref (stack->own.bill.lines);
  stack->own.bill.lines = lines;
  stack->own.bill.scanned_us = clock_us ();
  change_balance (stack, -less_us);
  return (guint64)MAX (less_us, 0);
}

double
clock_new_share (const Bill *line)
{
  guint64 told_us = line->told_us + line->span.saved_us;

  return told_us == 0 ? 1
                      : (double)(line->work_us - MIN (told_us, line->work_us))
                            / (double)MAX (line->work_us, 1);
}
