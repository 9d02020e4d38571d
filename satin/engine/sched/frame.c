/* SPDX-License-Identifier: BSD-3-Clause */
/* The slow paths of inlined code: a child that a thief may have, the end of a sync with public
 * slots, big arguments, references. Owner threads.
 * Tests: test-satin-h, test-door, test-leapfrog. */
#include "config.h"

#include "../tree/adopt.h"
#include "../tree/replay.h"
#include "seat.h"
#include "wait.h"
#include "worker.h"

#define ARENA_ALIGN 16
#define TELL_BATCH 128
#define FETCHES_HALF (ENGINE_FETCHES_MAX / 2)

typedef struct
{
  Stack *stack;
  SatinSlot_ *self, *first;
  guint32 number; /* of `first` */
  guint untold;   /* adopted children of which the driver was not told yet */
  /* Results are asked for in halves of ENGINE_FETCHES_MAX: while one half comes, the next is asked
   * for. `fetches`: results of this half; `late`: its last slot; `early`: the last slot of the half
   * before, NULL: there was none. */
  guint fetches;
  SatinSlot_ *early, *late;
} Sync;

/* Tells the driver of many children at a time: a wake-up for each would cost it more than the
 * answer. */
static void
sync_tell (Sync *sync)
{
  if (sync->untold > 0)
    mailbox_tell (sync->stack->engine);
  sync->untold = 0;
}

/* TRUE: another node holds the child, whose slot waits for that node now. */
static gboolean
sync_adopt (Sync *sync, SatinSlot_ *slot)
{
  guint32 number = sync->number + (guint32)(slot - sync->first);
  KnownNode *node = watch_node (sync->stack, sync->self);
  gboolean finished;

  if (!adopt_child (sync->stack, node, slot, number, &finished))
    return FALSE;
  if (++sync->untold == TELL_BATCH)
    sync_tell (sync);
  if (finished)
    {
      sync->fetches++;
      sync->late = slot;
    }
  return TRUE;
}

/* One half is asked for: waits for the last result of the half before. */
static void
sync_fetch (Sync *sync, SatinSlot_ *top)
{
  sync_tell (sync);
  if (sync->early != NULL)
    wait_for (sync->stack, sync->self, sync->first, sync->early, top);
  sync->early = sync->late;
  sync->fetches = 0;
}

/* Syncs a frame below which other nodes hold something. The slots of children that other nodes hold
 * begin to wait first. Then the other children run. At last the frame waits for all. */
static void
sync_watched (Stack *stack, SatinSlot_ *self, SatinSlot_ *first, SatinSlot_ *last, SatinSlot_ *top)
{
  Sync sync
      = { .stack = stack, .self = self, .first = first, .number = slot_number (stack, first) };

  replay_run (stack, self, first, last + 1, top);
  stack_lower_all (stack, first);
  for (SatinSlot_ *slot = first; slot <= last && sync.fetches < FETCHES_HALF; slot++)
    if (slot >= stack->own.split && slot_state (slot) == SLOT_READY)
      sync_adopt (&sync, slot);
  sync_tell (&sync);
  for (SatinSlot_ *slot = last; slot >= first; slot--)
    {
      if (stack_flags (stack) != 0)
        wait_serve (stack, self, slot, top);
      if (sync.fetches >= FETCHES_HALF)
        sync_fetch (&sync, top);
      if (slot_state (slot) != SLOT_READY || !stack_lower (stack, slot))
        continue;
      if (sync_adopt (&sync, slot))
        continue;
      sync_tell (&sync);
      wait_run_child (stack, self, slot, top);
    }
  sync_tell (&sync);
  for (SatinSlot_ *slot = last; slot >= first; slot--)
    {
      wait_for (stack, self, first, slot, top);
      stack_count_elsewhere (stack, slot);
    }
}

typedef enum
{
  TAKE_RUN,
  TAKE_NEXT,    /* the child is finished */
  TAKE_ALL_DONE /* the child and all from `first` to it are finished */
} Take;

/* For a child that a thief may have, or if a flag is set: serves the flags, then takes the child
 * back or waits for it. */
static Take
take_child (Stack *stack, SatinSlot_ *self, SatinSlot_ *first, SatinSlot_ *slot, SatinSlot_ *top)
{
  watch_settle (stack, self);
  if (stack_flags (stack) != 0)
    wait_serve (stack, self, slot, top);
  if (watch_node (stack, self) != NULL)
    {
      sync_watched (stack, self, first, slot, top);
      return TAKE_ALL_DONE;
    }
  if (slot_state (slot) == SLOT_READY && stack_lower (stack, slot))
    return TAKE_RUN;
  wait_for (stack, self, first, slot, top);
  stack_count_elsewhere (stack, slot);
  return TAKE_NEXT;
}

uint64_t
satin_rest_ (SatinStack_ *open, SatinSlot_ *self, SatinSlot_ *first, SatinSlot_ *slot,
             SatinSlot_ *top, uint64_t jobs)
{
  Stack *stack = (Stack *)open;
  Take take;

  figure_put (&stack->open.jobs, jobs);
  stack_catch_up (stack, self, slot + 1, top);
  for (;; slot--)
    {
      guint32 state = SLOT_STATE (slot_state (slot));

      if (slot < satin_guard_ (open) || (state != SLOT_READY && state != SLOT_STARTED))
        take = take_child (stack, self, first, slot, top);
      else
        take = state == SLOT_READY ? TAKE_RUN : TAKE_NEXT; /* a finished satin_call */
      if (take == TAKE_RUN)
        {
          slot_set_state (slot, SLOT_STARTED);
          slot_run (stack, slot, top);
        }
      if (take == TAKE_ALL_DONE || slot == first)
        return stack->open.jobs;
    }
}

uint64_t
satin_leave_ (SatinStack_ *open, SatinSlot_ *self, SatinSlot_ *base, SatinSlot_ *top, uint64_t jobs)
{
  Stack *stack = (Stack *)open;

  figure_put (&stack->open.jobs, jobs);
  stack_catch_up (stack, self, top, top);
  watch_settle (stack, self);
  if (stack_flags (stack) != 0)
    wait_serve (stack, self, base, top);
  stack_close (stack, base);
  stack_note_passed (stack, base, top);
  return stack->open.jobs;
}

void
satin_poll_ (SatinStack_ *open, SatinSlot_ *self, SatinSlot_ *top)
{
  Stack *stack = (Stack *)open;

  stack_catch_up (stack, self, top, top);
  watch_settle (stack, self);
  if (stack_flags (stack) != 0)
    wait_serve (stack, self, top, top);
}

SatinSlot_ *
satin_note_finished_ (SatinSlot_ *low, SatinSlot_ *end)
{
  for (; low < end; low++)
    if (slot_state (low) == SLOT_READY)
      slot_set_state (low, SLOT_STARTED);
  return end;
}

void *
satin_arena_take_ (SatinStack_ *open, SatinSlot_ *self, SatinSlot_ *top, uint32_t size)
{
  Stack *stack = (Stack *)open;
  gsize bytes = ((gsize)size + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
  char *taken = stack->own.arena_top;

  if (bytes > (gsize)(stack->memory.arena + stack->memory.arena_bytes - taken))
    satin_fail_ (open, self, top,
                 "the argument arena of its stack is full (%" G_GSIZE_FORMAT
                 " MiB): too many children with large arguments or results",
                 stack->memory.arena_bytes >> 20);
  stack->own.arena_top = taken + bytes;
  return taken;
}

void
satin_arena_drop_ (SatinStack_ *open, void *mark)
{
  ((Stack *)open)->own.arena_top = mark;
}

void
satin_hold_args_ (const SatinJob *job, void *args)
{
  record_ref (job->args, args);
}

void
satin_hold_result_ (const SatinJob *job, void *result)
{
  record_ref (job->result, result);
}

void
satin_release_ (SatinStack_ *open, SatinSlot_ *base, SatinSlot_ *head, uint64_t fresh)
{
  Stack *stack = (Stack *)open;

  for (SatinSlot_ *slot = base; slot < head; slot++)
    {
      if (slot->job->args_hold)
        record_clear (slot->job->args, slot_payload (slot));
      if (slot->job->result_holds && SLOT_STATE (slot_state (slot)) != SLOT_DROPPED)
        record_clear (slot->job->result, slot_result (slot));
    }
  if (stack->own.fresh->len > fresh)
    g_ptr_array_set_size (stack->own.fresh, (gint)fresh);
  stack->open.fresh = stack->own.fresh->len;
}
