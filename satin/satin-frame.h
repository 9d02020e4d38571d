/* SPDX-License-Identifier: BSD-3-Clause */
/* The inline engine: spawn and sync. satin.h includes this file and those beside it at its end:
 * satin-words.h, satin-types.h and satin-macros.h. Nothing in them is meant to be used by name;
 * names with a trailing underscore are private and change.
 *
 * A job stack is an array of slots. A spawn writes the next slot; a sync runs the slots of this
 * frame from the top down; a finished child stays in its slot, with its result, until the parent's
 * job returns. A slot below `guard` may belong to a thief, or there is a request to the stack: then
 * the slow functions of the engine decide. A frame is a local of the job's wrapper that the
 * compiler dissolves into registers, so its address never goes to a function that is not inlined.
 * Wrappers are inlined into each other: a job that runs a job of its own kind costs no call.
 *
 * A spawn is cheap because it stores little. Job, parent and state of a slot are written as one.
 * The number of jobs done stays in a register, handed from call to call, and is stored only where a
 * slow function is called. A short result is returned in a register as well. */
#pragma once

#include <stdio.h>
#include <string.h>
G_BEGIN_DECLS

#pragma GCC visibility push(default)

typedef struct SatinStack_ SatinStack_;
typedef struct SatinSlot_ SatinSlot_;

#define SATIN_INTO_ 4 /* destinations that a frame keeps; the rest stands in the slots */
#define SATIN_PAYLOAD_ \
  104 /* bytes of arguments and result that fit in a slot; the rest goes to the arena */

/* The first 16 bytes of a slot are written at once, so the types of their members alias with all.
 */
typedef const SatinJob *__attribute__ ((may_alias)) SatinJobRef_;
typedef uint32_t __attribute__ ((may_alias)) SatinWord_;
typedef uint64_t SatinHead_ __attribute__ ((vector_size (16)));

struct SatinSlot_
{
  SatinWord_ parent; /* atomic: low half of the parent slot's address; the low 7 bits are flags */
  SatinWord_ state;  /* atomic: SatinState_, and for stolen slots the thief's number above it */
  SatinJobRef_ job;
  void *into; /* where the result goes at the end of the sync, if the frame has no room for it */
  unsigned char payload[SATIN_PAYLOAD_];
} __attribute__ ((aligned (128)));

enum SatinState_
{
  SATIN_READY_ = 0,
  SATIN_STARTED_ = 1 /* by its owner: running if it is on the spine, else finished */
};
/* Inlined code runs children from the top down and does not record which have started: the place of
 * the running child shows it. The slow functions record it before they look (stack_catch_up).
 * Inlined code records it only where the place does not show it: for a satin_call above children
 * that did not start, and for earlier phases. */

/* What inlined code sees of a stack; the engine's own part follows. */
struct SatinStack_
{
  SatinSlot_ *guard; /* atomic; slots below it take the slow path */
  char line_[64 - sizeof (SatinSlot_ *)];
  uint64_t jobs;  /* atomic, owner only: children that this stack has finished, as of the last slow
                     function */
  uint64_t fresh; /* owner only: number of bytes objects that satin_bytes took */
} __attribute__ ((aligned (64)));

/* What a job returns, in two registers. */
typedef struct
{
  uint64_t jobs;   /* children that the stack has finished */
  uint64_t result; /* job->returns: the bytes of the result, as they lie in memory */
} SatinDone_;

struct SatinJob
{
  const char *name;
  const SatinType *args; /* a record */
  const SatinType *result;
  /* Runs the job in slot self; head is the next free slot. Takes the number of children that this
   * stack has finished and returns the new one. A short result (`returns`) is returned, too, and
   * the caller writes it to the slot. The caller knows where the slot is. The job would have to
   * load that address from memory, and the next reader of the result would wait for it. */
  SatinDone_ (*run) (SatinStack_ *stack, SatinSlot_ *self, SatinSlot_ *head, uint64_t jobs);
  uint32_t result_at; /* offset of the result in the payload */
  uint32_t payload;   /* bytes */
  uint8_t big;        /* the payload lies in the arena and the slot holds its address */
  uint8_t args_hold;  /* references in the arguments: bits of SatinHolds_ */
  uint8_t result_holds;
  uint8_t returns; /* the result is short, and run () returns it */
};

enum
{
  SATIN_CALLED_ = 1,    /* frame->called: a finished satin_call */
  SATIN_HANDED_ = 2,    /* and: a child that satin_sync_next has handed out */
  SATIN_UNSEEN_ = 4,    /* and: the guard was not looked at since the call */
  SATIN_DELIVERED_ = 8, /* slot->parent: it was handed out */
  SATIN_SKIPPED_ = 16   /* and: it was a satin_call */
};

/* The satin_calls among the first `n` children of a phase. */
typedef struct
{
  uint32_t n, calls;
} SatinCount_;

typedef struct
{
  SatinStack_ *stack;
  SatinSlot_ *self;  /* this job's own slot */
  SatinSlot_ *base;  /* its first child */
  SatinSlot_ *first; /* its first child that is not synced */
  SatinSlot_ *noted; /* no child below it is READY */
  SatinSlot_ *head;  /* the next free slot */
  const SatinJob *own;
  void *into[SATIN_INTO_]; /* where the results of the first children go; NULL for satin_call */
  const SatinJob *kinds[SATIN_INTO_]; /* their jobs; NULL for a finished satin_call */
  uint64_t jobs;                      /* stack->jobs, brought up to date */
  uint32_t waiting;                   /* how many children are not synced */
  void *arena;                        /* start of this frame's part of the arena, NULL: none */
  uint64_t fresh;                     /* stack->fresh when the job began */
  gboolean called;       /* finished children lie among those that are not synced: bits above */
  SatinCount_ counts[2]; /* for satin_sync_next; the first is never behind the second */
  gboolean holds;        /* children or fresh bytes hold references */
} SatinFrame_;

/* engine/sched/frame.c, next.c, abort.c: the slow paths. Those that take the number of jobs done
 * return the new one. satin_rest_ does all that is left of a sync, from child `slot` down to
 * `first`. So inlined code need not go on in the middle, and is a fifth faster. */
uint64_t satin_rest_ (SatinStack_ *stack, SatinSlot_ *self, SatinSlot_ *first, SatinSlot_ *slot,
                      SatinSlot_ *top, uint64_t jobs) __attribute__ ((cold));
uint64_t satin_leave_ (SatinStack_ *stack, SatinSlot_ *self, SatinSlot_ *base, SatinSlot_ *top,
                       uint64_t jobs) __attribute__ ((cold));
void satin_poll_ (SatinStack_ *stack, SatinSlot_ *self, SatinSlot_ *top);
SatinSlot_ *satin_note_finished_ (SatinSlot_ *low, SatinSlot_ *end) __attribute__ ((cold));
SatinSlot_ *satin_next_ (SatinStack_ *stack, SatinSlot_ *self, SatinSlot_ *first, SatinSlot_ *top,
                         int begun);
uint32_t satin_forget_ (SatinStack_ *stack, SatinSlot_ *self, SatinSlot_ *base, SatinSlot_ *first,
                        SatinSlot_ *top);
/* Takes bytes of the arena for slot `top`, or for a frame whose slots end at `top`. */
void *satin_arena_take_ (SatinStack_ *stack, SatinSlot_ *self, SatinSlot_ *top, uint32_t size);
void satin_arena_drop_ (SatinStack_ *stack, void *mark);
void satin_hold_args_ (const SatinJob *job, void *args);
void satin_hold_result_ (const SatinJob *job, void *result);
void satin_release_ (SatinStack_ *stack, SatinSlot_ *base, SatinSlot_ *head, uint64_t fresh);

#define SATIN_INLINE_ static inline __attribute__ ((always_inline, unused))
#define SATIN_LIKELY_(x) __builtin_expect (!!(x), 1)
#define SATIN_UNLIKELY_(x) __builtin_expect (!!(x), 0)

/* Relaxed atomic accesses to memory that other threads look at, too. GCC takes __atomic functions
 * for calls that may touch any memory, which keeps results and arguments out of registers. So only
 * builds that watch each access use them: a sanitizer, the tests of all interleavings. */
#if defined(__SANITIZE_THREAD__) || defined(SATIN_STEPS_)
#define SATIN_WATCHED_
#endif
#ifdef SATIN_WATCHED_
#define SATIN_LOOK_(x) __atomic_load_n (&(x), __ATOMIC_RELAXED)
#define SATIN_WRITE_(x, value) __atomic_store_n (&(x), value, __ATOMIC_RELAXED)
#else
#define SATIN_LOOK_(x) (*(volatile __typeof__ (x) *)(void *)&(x))
#define SATIN_WRITE_(x, value) (*(volatile __typeof__ (x) *)(void *)&(x) = (value))
#endif

SATIN_INLINE_ SatinSlot_ *
satin_guard_ (SatinStack_ *stack)
{
  return SATIN_LOOK_ (stack->guard);
}

/* A thief may be looking at an earlier job in this slot; whatever it sees, its claim fails. */
SATIN_INLINE_ void
satin_write_head_ (SatinSlot_ *slot, const SatinJob *job, SatinSlot_ *parent)
{
#ifdef SATIN_WATCHED_
  slot->job = job;
  SATIN_WRITE_ (slot->parent, (uint32_t)(uintptr_t)parent);
  SATIN_WRITE_ (slot->state, (uint32_t)SATIN_READY_);
#else
  /* In this order gcc needs two instructions for it. */
  uint64_t low = (uint32_t)(uintptr_t)parent;
  SatinHead_ head
      = { __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? low : low << 32, (uint64_t)(uintptr_t)job };

  *(SatinHead_ *)(void *)slot = head; /* READY is 0 */
#endif
}

SATIN_INLINE_ void *
satin_payload_ (SatinSlot_ *slot, int big)
{
  void *payload = slot->payload;

  if (big)
    __builtin_memcpy (&payload, slot->payload, sizeof payload);
  return payload;
}

SATIN_INLINE_ void *
satin_result_at_ (SatinSlot_ *slot, int big, uint32_t result_at)
{
  return (char *)satin_payload_ (slot, big) + result_at;
}

/* No child is left to wait for: nothing at or above the frame's base may stay public. */
SATIN_INLINE_ void
satin_leave_if_asked_ (SatinFrame_ *frame, SatinSlot_ *top)
{
  if (SATIN_LIKELY_ (frame->base >= satin_guard_ (frame->stack)))
    return;
  frame->noted = satin_note_finished_ (frame->noted, top);
  frame->jobs = satin_leave_ (frame->stack, frame->self, frame->base, top, frame->jobs);
}

/* A sync looks at the guard before it runs a child, not after the last one: most jobs return then,
 * and the next job of the stack looks. So the next phase, if there is one, cleans up: no finished
 * child may be public or READY where new children are written. */
SATIN_INLINE_ void
satin_begin_phase_ (SatinFrame_ *frame)
{
  if (frame->noted == frame->first)
    return;
  satin_leave_if_asked_ (frame, frame->first);
  for (; frame->noted != frame->first; frame->noted++)
    if (SATIN_LOOK_ (frame->noted->state) == (uint32_t)SATIN_READY_)
      SATIN_WRITE_ (frame->noted->state, (uint32_t)SATIN_STARTED_);
}

/* The same after a satin_call, while children wait for a sync. */
SATIN_INLINE_ void
satin_look_ (SatinFrame_ *frame)
{
  frame->called &= ~SATIN_UNSEEN_;
  if (SATIN_LIKELY_ (frame->head >= satin_guard_ (frame->stack)))
    return;
  SATIN_WRITE_ (frame->stack->jobs, frame->jobs);
  satin_poll_ (frame->stack, frame->self, frame->head);
  frame->jobs = frame->stack->jobs;
}

/* Writes the next slot except its arguments, and returns their place. */
SATIN_INLINE_ void *
satin_place_ (SatinFrame_ *frame, const SatinJob *job, void *into, int big, uint32_t payload_size,
              int holds)
{
  SatinSlot_ *slot = frame->head;
  void *payload = slot->payload;

  if (frame->waiting == 0)
    satin_begin_phase_ (frame);
  else if (frame->called & SATIN_UNSEEN_)
    satin_look_ (frame);
  frame->head = slot + 1;
  if (frame->waiting < SATIN_INTO_)
    {
      frame->into[frame->waiting] = into;
      frame->kinds[frame->waiting] = job;
    }
  else
    slot->into = into;
  frame->waiting++;
  satin_write_head_ (slot, job, frame->self);
  if (holds)
    frame->holds = TRUE;
  if (big)
    {
      payload = satin_arena_take_ (frame->stack, frame->self, slot, payload_size);
      if (frame->arena == NULL)
        frame->arena = payload;
      __builtin_memcpy (slot->payload, &payload, sizeof payload);
    }
  return payload;
}

/* Runs the job in `slot`. The result is in the slot then. */
SATIN_INLINE_ SatinDone_
satin_run_ (SatinStack_ *stack, const SatinJob *job, SatinSlot_ *slot, SatinSlot_ *top,
            uint64_t jobs)
{
  SatinDone_ done = job->run (stack, slot, top, jobs);

  if (job->returns)
    __builtin_memcpy ((char *)satin_payload_ (slot, job->big) + job->result_at, &done.result,
                      sizeof done.result);
  return done;
}

/* The same from a frame; returns SatinDone_'s result. */
SATIN_INLINE_ uint64_t
satin_start_ (SatinFrame_ *frame, const SatinJob *job, SatinSlot_ *slot, SatinSlot_ *top)
{
  SatinDone_ done = satin_run_ (frame->stack, job, slot, top, frame->jobs);

  frame->jobs = done.jobs;
  return done.result;
}

/* Copies the result of a child to the variable that waits for it. */
SATIN_INLINE_ void
satin_deliver_ (const SatinJob *job, SatinSlot_ *slot, void *into)
{
  if (into != NULL)
    __builtin_memcpy (into, (char *)satin_payload_ (slot, job->big) + job->result_at,
                      job->result->size);
}

SATIN_INLINE_ void
satin_sync_loop_ (SatinFrame_ *frame, SatinSlot_ *top)
{
  SatinStack_ *stack = frame->stack;
  SatinSlot_ *slot;

  for (slot = top; slot != frame->first;)
    {
      slot--;
      if (SATIN_UNLIKELY_ (slot < satin_guard_ (stack)))
        {
          frame->jobs = satin_rest_ (stack, frame->self, frame->first, slot, top, frame->jobs);
          return;
        }
      if (frame->called && SATIN_LOOK_ (slot->state) != (uint32_t)SATIN_READY_)
        continue;
      if (SATIN_LIKELY_ (slot->job == frame->own))
        satin_start_ (frame, frame->own, slot, top);
      else
        satin_start_ (frame, slot->job, slot, top);
    }
}

/* Runs child number `i` of this phase. TRUE: all children are finished. */
SATIN_INLINE_ int
satin_sync_one_ (SatinFrame_ *frame, SatinSlot_ *top, uint32_t i)
{
  SatinSlot_ *slot = frame->first + i;

  if (frame->kinds[i] == NULL)
    return FALSE;
  if (SATIN_UNLIKELY_ (slot < satin_guard_ (frame->stack)))
    {
      frame->jobs = satin_rest_ (frame->stack, frame->self, frame->first, slot, top, frame->jobs);
      return TRUE;
    }
  satin_start_ (frame, frame->kinds[i], slot, top);
  return FALSE;
}

/* If the number of children is known at compile time, destinations are registers and no loop is
 * left. */
SATIN_INLINE_ void
satin_sync_few_ (SatinFrame_ *frame, SatinSlot_ *top, uint32_t n)
{
  if (!((n > 3 && satin_sync_one_ (frame, top, 3)) || (n > 2 && satin_sync_one_ (frame, top, 2))
        || (n > 1 && satin_sync_one_ (frame, top, 1)))
      && n > 0)
    satin_sync_one_ (frame, top, 0);
}

SATIN_INLINE_ void
satin_deliver_one_ (SatinFrame_ *frame, uint32_t i)
{
  if (frame->kinds[i] != NULL)
    satin_deliver_ (frame->kinds[i], frame->first + i, frame->into[i]);
}

SATIN_INLINE_ void
satin_deliver_few_ (SatinFrame_ *frame, uint32_t n)
{
  if (n > 0)
    satin_deliver_one_ (frame, 0);
  if (n > 1)
    satin_deliver_one_ (frame, 1);
  if (n > 2)
    satin_deliver_one_ (frame, 2);
  if (n > 3)
    satin_deliver_one_ (frame, 3);
}

SATIN_INLINE_ void
satin_deliver_loop_ (SatinFrame_ *frame, uint32_t n)
{
  SatinSlot_ *slot = frame->first;

  for (uint32_t i = 0; i < n; i++, slot++)
    {
      void *into = i < SATIN_INTO_ ? frame->into[i] : slot->into;

      if (SATIN_LIKELY_ (slot->job == frame->own))
        satin_deliver_ (frame->own, slot, into);
      else
        satin_deliver_ (slot->job, slot, into);
    }
}

SATIN_INLINE_ void
satin_sync_ (SatinFrame_ *frame)
{
  SatinSlot_ *top = frame->head;
  uint32_t n = frame->waiting;
  int few = __builtin_constant_p (n) && n <= SATIN_INTO_;

  if (frame->called & SATIN_HANDED_) /* a child may wait for another node without being public */
    frame->jobs = satin_rest_ (frame->stack, frame->self, frame->first, top - 1, top, frame->jobs);
  else if (few)
    satin_sync_few_ (frame, top, n);
  else
    satin_sync_loop_ (frame, top);
  if (n == 0)
    satin_leave_if_asked_ (frame, top);
  if (few)
    satin_deliver_few_ (frame, n);
  else
    satin_deliver_loop_ (frame, n);
  frame->jobs += n;
  frame->waiting = 0;
  frame->first = top;
  frame->called = FALSE;
  frame->counts[0] = frame->counts[1] = (SatinCount_){ 0, 0 };
}

/* Runs the newest slot here and now. Children that are not synced may lie below it. Returns the
 * result if job->returns. */
SATIN_INLINE_ uint64_t
satin_called_ (SatinFrame_ *frame, const SatinJob *job, int big, uint32_t result_at, int returns)
{
  SatinSlot_ *top = frame->head, *slot = top - 1;
  uint64_t result = 0;

  if (SATIN_LIKELY_ (slot >= satin_guard_ (frame->stack)))
    {
      result = satin_start_ (frame, job, slot, top);
      if (slot != frame->first)
        SATIN_WRITE_ (slot->state, (uint32_t)SATIN_STARTED_);
    }
  else
    {
      frame->jobs = satin_rest_ (frame->stack, frame->self, slot, slot, top, frame->jobs);
      if (returns)
        __builtin_memcpy (&result, (char *)satin_payload_ (slot, big) + result_at, sizeof result);
    }
  if (slot != frame->first)
    {
      frame->called |= SATIN_CALLED_ | SATIN_UNSEEN_;
      if (frame->waiting <= SATIN_INTO_)
        frame->kinds[frame->waiting - 1] = NULL;
      return result;
    }
  frame->jobs++;
  frame->waiting = 0;
  frame->first = top;
  return result;
}

/* satin_sync_next, satin_abort and satin_aborted: slow paths, no code in jobs without them. */
SATIN_INLINE_ void **
satin_into_ (SatinFrame_ *frame, uint32_t i)
{
  return i < SATIN_INTO_ ? &frame->into[i] : &(frame->first + i)->into;
}

SATIN_INLINE_ void
satin_flag_ (SatinSlot_ *slot, uint32_t flag)
{
  SATIN_WRITE_ (slot->parent, SATIN_LOOK_ (slot->parent) | flag);
}

/* TRUE: child `i` of this phase was a satin_call. */
SATIN_INLINE_ uint32_t
satin_is_call_ (SatinFrame_ *frame, uint32_t i)
{
  return *satin_into_ (frame, i) == NULL
         && !(SATIN_LOOK_ ((frame->first + i)->parent) & (uint32_t)SATIN_DELIVERED_);
}

/* The number of satin_calls among the first `n` children of this phase. Children are handed out
 * from the top, as they run here, and from the bottom, as thieves take them. So there is a count
 * for each end, and the nearer one goes on to `n`. */
SATIN_INLINE_ uint32_t
satin_calls_ (SatinFrame_ *frame, uint32_t n)
{
  SatinCount_ *low = &frame->counts[0], *high = &frame->counts[1];
  SatinCount_ *count = n < low->n + (high->n - low->n) / 2 ? low : high;

  for (; count->n < n; count->n++)
    count->calls += satin_is_call_ (frame, count->n);
  for (; count->n > n; count->n--)
    count->calls -= satin_is_call_ (frame, count->n - 1);
  return count->calls;
}

/* To be called before a slow function. */
SATIN_INLINE_ void
satin_put_down_ (SatinFrame_ *frame)
{
  satin_begin_phase_ (frame);
  SATIN_WRITE_ (frame->stack->jobs, frame->jobs);
}

/* The next child that is done, NULL: none is left. */
SATIN_INLINE_ SatinSlot_ *
satin_next_slowly_ (SatinFrame_ *frame)
{
  SatinSlot_ *slot;

  satin_put_down_ (frame);
  slot = satin_next_ (frame->stack, frame->self, frame->first, frame->head,
                      frame->called & SATIN_HANDED_);
  frame->jobs = frame->stack->jobs;
  return slot;
}

/* A new phase begins. */
SATIN_INLINE_ void
satin_end_phase_ (SatinFrame_ *frame)
{
  frame->waiting = 0;
  frame->first = frame->head;
  frame->called = FALSE;
  frame->counts[0] = frame->counts[1] = (SatinCount_){ 0, 0 };
}

SATIN_INLINE_ int32_t
satin_sync_next_ (SatinFrame_ *frame)
{
  SatinSlot_ *slot;

  while ((slot = satin_next_slowly_ (frame)) != NULL)
    {
      uint32_t i = (uint32_t)(slot - frame->first);
      void **into = satin_into_ (frame, i);

      satin_flag_ (slot, *into != NULL ? (uint32_t)SATIN_DELIVERED_ : (uint32_t)SATIN_SKIPPED_);
      if (*into == NULL)
        continue;
      satin_deliver_ (slot->job, slot, *into);
      *into = NULL; /* a satin_sync leaves it alone */
      if (i < SATIN_INTO_)
        frame->kinds[i] = NULL;
      frame->called |= SATIN_HANDED_;
      return (int32_t)(frame->called & SATIN_CALLED_ ? i - satin_calls_ (frame, i) : i);
    }
  satin_leave_if_asked_ (frame, frame->head);
  frame->jobs += frame->waiting;
  satin_end_phase_ (frame);
  return -1;
}

SATIN_INLINE_ void
satin_abort_ (SatinFrame_ *frame)
{
  if (frame->first != frame->head)
    {
      uint32_t n_finished;

      satin_put_down_ (frame);
      n_finished
          = satin_forget_ (frame->stack, frame->self, frame->base, frame->first, frame->head);
      frame->jobs = frame->stack->jobs + n_finished;
    }
  satin_end_phase_ (frame);
}

SATIN_INLINE_ gboolean
satin_aborted_ (SatinFrame_ *frame)
{
  if (SATIN_UNLIKELY_ (satin_guard_ (frame->stack) == (SatinSlot_ *)UINTPTR_MAX))
    {
      satin_put_down_ (frame);
      satin_poll_ (frame->stack, frame->self, frame->head);
      frame->jobs = frame->stack->jobs;
    }
  return FALSE;
}

#pragma GCC visibility pop

G_END_DECLS
