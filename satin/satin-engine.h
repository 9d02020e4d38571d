/* SPDX-License-Identifier: BSD-3-Clause */
/* The inline engine: how the words of satin.h work, which includes this file at its end. Nothing
 * here is meant to be used by name; names with a trailing underscore are private and change.
 *
 * A job stack is an array of slots. A spawn writes the next slot; a sync runs the slots of this
 * frame from the top down; a finished child stays in its slot, with its result, until the parent's
 * job returns. Slots below `guard` may belong to thieves, or somebody wants attention: then the
 * slow functions of the engine decide. A frame is a local of the job's wrapper that the compiler
 * dissolves into registers, so its address never goes to a function that is not inlined. Wrappers
 * may be inlined into each other, and are: a job that runs a job of its own kind costs no call.
 *
 * What makes a spawn cheap is few stores: job, parent and state of a slot are written as one; the
 * number of jobs done stays in a register, handed from call to call, and is put down only where a
 * slow function is called. A short result is returned in a register as well. */
#pragma once

#include <stdio.h>
#include <string.h>
#if defined(__cplusplus) && defined(__cpp_exceptions)
#include <cxxabi.h>
#include <exception>
#define SATIN_EXCEPTIONS_
#endif

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
  void *into; /* where the result goes at the end of the sync, if the frame has no room for that */
  unsigned char payload[SATIN_PAYLOAD_];
} __attribute__ ((aligned (128)));

enum SatinState_
{
  SATIN_READY_ = 0,
  SATIN_STARTED_ = 1 /* by its owner: running if it is on the spine, else finished */
};
/* Inlined code runs children from the top down and does not note which: where the running one lies
 * says it. The slow functions note it before they look (stack_catch_up), and inlined code itself
 * where the place does not say it: for a satin_call above children that did not start, and for
 * earlier phases. */

/* What inlined code sees of a stack; the engine's own part follows. */
struct SatinStack_
{
  SatinSlot_ *guard; /* atomic; slots below it take the slow way */
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
   * stack has finished and returns the new one. A short result (`returns`) is returned too, and who
   * ran the job writes it to the slot: that one knows where the slot is, while the job would fetch
   * the address from memory, and those who read the result next would wait for that. */
  SatinDone_ (*run) (SatinStack_ *stack, SatinSlot_ *self, SatinSlot_ *head, uint64_t jobs);
  uint32_t result_at; /* offset of the result in the payload */
  uint32_t payload;   /* bytes */
  uint8_t big;        /* the payload lies in the arena and the slot holds its address */
  uint8_t args_hold;  /* what is held in the arguments: bits of SatinHolds_ */
  uint8_t result_holds;
  uint8_t returns; /* the result is short, and run () returns it */
};

enum
{
  SATIN_CALLED_ = 1,    /* frame->called: a finished satin_call */
  SATIN_HANDED_ = 2,    /* and: a child that satin_sync_next has handed out */
  SATIN_UNSEEN_ = 4,    /* and: what the call left public was not looked for */
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
  SatinSlot_ *noted; /* all children below it say that they started */
  SatinSlot_ *head;  /* the next free slot */
  const SatinJob *own;
  void *into[SATIN_INTO_]; /* where the results of the first children go; NULL for satin_call */
  const SatinJob *kinds[SATIN_INTO_]; /* their jobs; NULL for a finished satin_call */
  uint64_t jobs;                      /* stack->jobs, brought up to date */
  uint32_t waiting;                   /* how many children are not synced */
  void *arena;                        /* start of this frame's part of the arena, NULL: none */
  uint64_t fresh;                     /* stack->fresh when the job began */
  gboolean called; /* what is finished lies among the children that are not synced: SatinCalled_ */
  SatinCount_ counts[2]; /* for satin_sync_next; the first is never behind the second */
  gboolean holds;        /* children or fresh bytes hold references */
} SatinFrame_;

/* engine/frame.c, next.c, abort.c: the slow ways. Those that take the number of jobs done return
 * the new one. satin_rest_ does all that is left of a sync, from child `slot` down to `first`: so
 * inlined code need not know how to go on in the middle, which makes it a fifth faster. */
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
void *satin_arena_take_ (SatinStack_ *stack, uint32_t size);
void satin_arena_drop_ (SatinStack_ *stack, void *mark);
void satin_hold_args_ (const SatinJob *job, void *args);
void satin_hold_result_ (const SatinJob *job, void *result);
void satin_release_ (SatinStack_ *stack, SatinSlot_ *base, SatinSlot_ *head, uint64_t fresh);
void satin_unsynced_ (const SatinJob *job) G_GNUC_NORETURN;

#define SATIN_INLINE_ static inline __attribute__ ((always_inline, unused))
#define SATIN_LIKELY_(x) __builtin_expect (!!(x), 1)
#define SATIN_UNLIKELY_(x) __builtin_expect (!!(x), 0)

/* Relaxed atomic accesses to what other threads look at too. GCC takes its __atomic functions for
 * calls that may touch any memory, which would keep results and arguments out of registers; those
 * who look at each access (a sanitizer, a test of all interleavings) get them. */
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

/* A sync looks for wishes before it runs a child, not when all are done: most jobs return then, and
 * whoever runs the next job looks. So what it left is for the phase that follows, if there is one:
 * nothing that is over may be public or say READY where new children are written. */
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

/* Writes the next slot but for its arguments, whose place it returns. */
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
      payload = satin_arena_take_ (frame->stack, payload_size);
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

/* Runs child number `i` of this phase; TRUE: all are finished. */
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

/* Where the number of children is known at compile time, destinations are registers and no loop is
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

  if (frame->called & SATIN_HANDED_) /* what is left may wait for elsewhere without being public */
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

/* satin_sync_next, satin_abort and satin_aborted: slow ways, and not a word in jobs without them.
 */
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

/* Was child `i` of this phase a satin_call? */
SATIN_INLINE_ uint32_t
satin_is_call_ (SatinFrame_ *frame, uint32_t i)
{
  return *satin_into_ (frame, i) == NULL
         && !(SATIN_LOOK_ ((frame->first + i)->parent) & (uint32_t)SATIN_DELIVERED_);
}

/* The satin_calls among the first `n` children of this phase. They are handed out from above, as
 * they run here, and from below, as others take them: from where it was counted last on that side.
 */
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

/* Before a slow function. */
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

/* What comes now is a new phase. */
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

/* What a function that a job calls needs to poll. */
typedef struct
{
  SatinStack_ *stack;
  SatinSlot_ *self, *head;
} SatinHere;

SATIN_INLINE_ SatinHere
satin_here_ (SatinFrame_ *frame)
{
  SatinHere here = { frame->stack, frame->self, frame->head };

  satin_put_down_ (frame);
  return here;
}

SATIN_INLINE_ void
satin_poll_here_ (SatinHere here)
{
  if (SATIN_UNLIKELY_ (satin_guard_ (here.stack) == (SatinSlot_ *)UINTPTR_MAX))
    satin_poll_ (here.stack, here.self, here.head);
}

/* engine/satin-fail.c. */
void satin_fail_ (SatinStack_ *stack, SatinSlot_ *self, SatinSlot_ *top, const char *format, ...)
    __attribute__ ((cold, noreturn, format (printf, 4, 5)));

#define satin_fail_now_(frame, ...) \
  (satin_put_down_ (frame), satin_fail_ ((frame)->stack, (frame)->self, (frame)->head, __VA_ARGS__))

/* What every job does after its body: the result is in its slot. */
SATIN_INLINE_ void
satin_end_ (SatinFrame_ *frame)
{
  if (SATIN_UNLIKELY_ (frame->first != frame->head))
    satin_unsynced_ (frame->own);
  if (frame->holds)
    satin_release_ (frame->stack, frame->base, frame->head, frame->fresh);
  if (frame->arena != NULL)
    satin_arena_drop_ (frame->stack, frame->arena);
}

/* engine/share.c. They wait, with what lies below `head` in the frame; the first gives the bytes to
 * the job, the second sees to it that those in a finished job's result are here. */
SatinBytes satin_shared_at_ (SatinStack_ *stack, SatinSlot_ *self, SatinSlot_ *head,
                             SatinShared shared);
void satin_own_at_ (SatinStack_ *stack, SatinSlot_ *self, SatinSlot_ *head, const SatinType *type,
                    const void *data) __attribute__ ((cold));

SATIN_INLINE_ SatinBytes
satin_shared_ (SatinFrame_ *frame, SatinShared shared)
{
  SatinBytes bytes;

  satin_put_down_ (frame);
  bytes = satin_shared_at_ (frame->stack, frame->self, frame->head, shared);
  frame->jobs = frame->stack->jobs;
  frame->holds = TRUE;
  return bytes;
}

SATIN_INLINE_ void
satin_own_ (SatinFrame_ *frame, const SatinType *type, const void *result)
{
  satin_put_down_ (frame);
  satin_own_at_ (frame->stack, frame->self, frame->head, type, result);
  frame->jobs = frame->stack->jobs;
}

#define SATIN_KEEP_AT_ 8 /* offset of a kept state in the payload of its slot */

/* engine/keep.c. What the two need of a frame, and what they change of it (head, arena). */
typedef struct
{
  SatinStack_ *stack;
  SatinSlot_ *self, *base, *head;
  const SatinJob *keeps; /* the pseudo-job of SATIN_KEEPS: its result is the state */
  void *arena;
  uint64_t fresh;
  gboolean holds;
} SatinPhases_;

void satin_keep_at_ (SatinPhases_ *phases, const void *state);
int satin_recall_at_ (SatinPhases_ *phases, void *state);
void satin_keep_unsynced_ (const SatinJob *job) G_GNUC_NORETURN;
void satin_recall_late_ (const SatinJob *job) G_GNUC_NORETURN;

SATIN_INLINE_ SatinPhases_
satin_phases_ (const SatinFrame_ *frame, const SatinJob *keeps)
{
  SatinPhases_ phases = { frame->stack, frame->self,  frame->base,  frame->head,
                          keeps,        frame->arena, frame->fresh, frame->holds };

  return phases;
}

SATIN_INLINE_ void
satin_go_on_ (SatinFrame_ *frame, const SatinPhases_ *phases)
{
  frame->head = frame->first = frame->noted = phases->head;
  frame->arena = phases->arena;
  if (phases->keeps->result_holds)
    frame->holds = TRUE;
}

SATIN_INLINE_ void
satin_keep_ (SatinFrame_ *frame, const SatinJob *keeps, const void *state)
{
  SatinPhases_ phases = satin_phases_ (frame, keeps);

  if (SATIN_UNLIKELY_ (frame->first != frame->head))
    satin_keep_unsynced_ (frame->own);
  satin_put_down_ (frame);
  satin_keep_at_ (&phases, state);
  satin_go_on_ (frame, &phases);
  satin_aborted_ (frame); /* a job that only computes and keeps is saved and ended too */
}

SATIN_INLINE_ gboolean
satin_recall_ (SatinFrame_ *frame, const SatinJob *keeps, void *state)
{
  SatinPhases_ phases = satin_phases_ (frame, keeps);
  int found;

  if (SATIN_UNLIKELY_ (frame->base != frame->head))
    satin_recall_late_ (frame->own);
  SATIN_WRITE_ (frame->stack->jobs, frame->jobs);
  found = satin_recall_at_ (&phases, state);
  frame->jobs = frame->stack->jobs;
  satin_go_on_ (frame, &phases);
  return found;
}

/* engine/listed.c. Which jobs a module (program or shared library) spawns or calls: each function
 * satin_place_name that is compiled leaves a reference in this section, so that a job that
 * SATIN_APP does not list is refused before anything runs. */
#define SATIN_IN_SPAWNED_ __attribute__ ((section ("satin_spawned"), used))
extern const SatinJob *__start_satin_spawned[] __attribute__ ((visibility ("hidden")));
extern const SatinJob *__stop_satin_spawned[] __attribute__ ((visibility ("hidden")));
void satin_spawned_register_ (const SatinJob **begin, const SatinJob **end);

/* engine/words.c. A C++ exception that leaves a job ends the process by std::terminate; before main
 * this is made its handler, which says what was thrown. `type` NULL: nothing was; `what` may be. */
void satin_thrown_ (const char *type, const char *what) G_GNUC_NORETURN;
#ifdef SATIN_EXCEPTIONS_
extern "C++"
{
  static inline void
  satin_terminate_ () noexcept
  {
    const std::type_info *type = abi::__cxa_current_exception_type ();
    const char *name = NULL;
    int failed = 0;

    if (type == NULL)
      satin_thrown_ (NULL, NULL);
    name = abi::__cxa_demangle (type->name (), NULL, NULL, &failed);
    if (name == NULL)
      name = type->name ();
    try
      {
        throw;
      }
    catch (const std::exception &error)
      {
        satin_thrown_ (name, error.what ());
      }
    catch (...)
      {
        satin_thrown_ (name, NULL);
      }
  }
}
#define SATIN_WATCH_TERMINATE_() (void)std::set_terminate (satin_terminate_)
#else
#define SATIN_WATCH_TERMINATE_() (void)0
#endif

/* The NULL is there so that the section exists. */
#define SATIN_REGISTER_SPAWNED_(name) \
  static const SatinJob *satin_spawned_none_##name SATIN_IN_SPAWNED_ = NULL; \
  static void __attribute__ ((constructor)) satin_register_spawned_##name (void) \
  { \
    satin_spawned_register_ (__start_satin_spawned, __stop_satin_spawned); \
    SATIN_WATCH_TERMINATE_ (); \
  }

/* Constants and best values. */
typedef struct SatinConst_ SatinConst_;
struct SatinConst_
{
  const char *name;
  const SatinType *type;
  const void *value; /* atomic; NULL: not published */
  SatinConst_ *next;
};

typedef struct SatinBest_ SatinBest_;
struct SatinBest_
{
  const char *name;
  const SatinType *type;
  const void *(*merge) (const void *a, const void *b);
  const void *value; /* atomic; old values stay readable */
  SatinBest_ *next;
};

void satin_const_register_ (SatinConst_ *constant);
void satin_const_missing_ (const SatinConst_ *constant) G_GNUC_NORETURN;
void satin_best_register_ (SatinBest_ *best);
void satin_improve_ (SatinBest_ *best, const void *value);

SATIN_INLINE_ const void *
satin_const_value_ (const SatinConst_ *constant)
{
  const void *value = __atomic_load_n (&constant->value, __ATOMIC_ACQUIRE);

  if (SATIN_UNLIKELY_ (value == NULL))
    satin_const_missing_ (constant);
  return value;
}

SATIN_INLINE_ const void *
satin_best_value_ (const SatinBest_ *best)
{
  return __atomic_load_n (&best->value, __ATOMIC_ACQUIRE);
}

/* What the program is; net reads it. */
typedef struct
{
  uint32_t layout; /* SATIN_LAYOUT_ of the program's satin.h */
  const char *name;
  const char *usage;
  int (*main) (SatinRun *run, int argc, char **argv);
  const SatinJob *const *jobs; /* NULL-terminated */
} SatinApp;

/* What inlined code takes for granted of the library: a program refuses to run with another one.
 * The number is made of the size of each struct that a program shares with the library and of the
 * places of its members; the version is for what these do not show, as the meaning of a field. */
#define SATIN_INLINE_VERSION_ 5u
#define SATIN_MIX_(h, x) (((h) ^ (uint32_t)(x)) * 16777619u)
#define SATIN_MIX_1_(h, T, a) SATIN_MIX_ (SATIN_MIX_ (h, sizeof (T)), offsetof (T, a))
#define SATIN_MIX_2_(h, T, a, b) SATIN_MIX_ (SATIN_MIX_1_ (h, T, a), offsetof (T, b))
#define SATIN_MIX_3_(h, T, a, b, c) SATIN_MIX_ (SATIN_MIX_2_ (h, T, a, b), offsetof (T, c))
#define SATIN_MIX_4_(h, T, a, b, c, d) SATIN_MIX_ (SATIN_MIX_3_ (h, T, a, b, c), offsetof (T, d))
#define SATIN_MIX_5_(h, T, a, b, c, d, e) \
  SATIN_MIX_ (SATIN_MIX_4_ (h, T, a, b, c, d), offsetof (T, e))
#define SATIN_LAYOUT_STACK_(h) SATIN_MIX_3_ (h, SatinStack_, guard, jobs, fresh)
#define SATIN_LAYOUT_SLOT_(h) \
  SATIN_MIX_5_ (SATIN_LAYOUT_STACK_ (h), SatinSlot_, parent, state, job, into, payload)
#define SATIN_LAYOUT_JOB_(h) \
  SATIN_MIX_5_ ( \
      SATIN_MIX_5_ (SATIN_LAYOUT_SLOT_ (h), SatinJob, name, args, result, run, result_at), \
      SatinJob, payload, big, args_hold, result_holds, returns)
#define SATIN_LAYOUT_DONE_(h) SATIN_MIX_2_ (SATIN_LAYOUT_JOB_ (h), SatinDone_, jobs, result)
#define SATIN_LAYOUT_PHASES_(h) \
  SATIN_MIX_3_ ( \
      SATIN_MIX_5_ (SATIN_LAYOUT_DONE_ (h), SatinPhases_, stack, self, base, head, keeps), \
      SatinPhases_, arena, fresh, holds)
#define SATIN_LAYOUT_CONST_(h) \
  SATIN_MIX_4_ (SATIN_LAYOUT_PHASES_ (h), SatinConst_, name, type, value, next)
#define SATIN_LAYOUT_BEST_(h) \
  SATIN_MIX_5_ (SATIN_LAYOUT_CONST_ (h), SatinBest_, name, type, merge, value, next)
#define SATIN_LAYOUT_TYPE_(h) \
  SATIN_MIX_5_ (SATIN_LAYOUT_BEST_ (h), SatinType, name, size, kind, n_fields, fields)
#define SATIN_LAYOUT_FIELD_(h) \
  SATIN_MIX_4_ (SATIN_LAYOUT_TYPE_ (h), SatinField, name, type, offset, count)
#define SATIN_LAYOUT_APP_(h) \
  SATIN_MIX_5_ (SATIN_LAYOUT_FIELD_ (h), SatinApp, layout, name, usage, main, jobs)
#define SATIN_LAYOUT_ SATIN_MIX_ (SATIN_LAYOUT_APP_ (SATIN_INLINE_VERSION_), SATIN_KEEP_AT_)
extern const uint32_t satin_app_version_; /* defined by SATIN_APP_VERSION alone */

/* Implemented by net. */
int satin_main_ (const SatinApp *app, int argc, char **argv);
gboolean satin_root_ (SatinRun *run, const SatinJob *job, const void *args, void *result);
void satin_publish_ (SatinRun *run, SatinConst_ *constant, const void *value);

/* The types. */
#define SATIN_SCALAR_(T, KIND) \
  static const SatinType satin_type_##T __attribute__ ((unused)) \
  = { #T, sizeof (T), KIND, 0, NULL };
SATIN_SCALAR_ (int8_t, SATIN_KIND_INT8)
SATIN_SCALAR_ (uint8_t, SATIN_KIND_UINT8)
SATIN_SCALAR_ (int16_t, SATIN_KIND_INT16)
SATIN_SCALAR_ (uint16_t, SATIN_KIND_UINT16)
SATIN_SCALAR_ (int32_t, SATIN_KIND_INT32)
SATIN_SCALAR_ (uint32_t, SATIN_KIND_UINT32)
SATIN_SCALAR_ (int64_t, SATIN_KIND_INT64)
SATIN_SCALAR_ (uint64_t, SATIN_KIND_UINT64)
SATIN_SCALAR_ (double, SATIN_KIND_DOUBLE)
SATIN_SCALAR_ (SatinBytes, SATIN_KIND_BYTES)
SATIN_SCALAR_ (SatinShared, SATIN_KIND_SHARED)
SATIN_SCALAR_ (SatinText, SATIN_KIND_TEXT)

/* What a type holds. A type without such a name makes a compile error that says what is needed. */
enum
{
  satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_int8_t = 0,
  satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_uint8_t = 0,
  satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_int16_t = 0,
  satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_uint16_t = 0,
  satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_int32_t = 0,
  satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_uint32_t = 0,
  satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_int64_t = 0,
  satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_uint64_t = 0,
  satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_double = 0,
  satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_SatinBytes = 1,
  satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_SatinShared = 2,
  satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_SatinText = 1
};
/* The same for the library. */
enum SatinHolds_
{
  satin_holds_SatinBytes = 1,
  satin_holds_SatinShared = 2
};
#define SATIN_HOLDS_(Type) ((int)satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_##Type)
#define SATIN_SPEAKS_(Type) ((SATIN_HOLDS_ (Type) & (int)satin_holds_SatinShared) != 0)

/* Types that would mean something else on another machine, or that cannot leave this one. */
#define satin_type_int satin_int_differs_between_machines_use_int32_t_or_int64_t
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_int \
  satin_int_differs_between_machines_use_int32_t_or_int64_t
#define satin_type_unsigned satin_unsigned_differs_between_machines_use_uint32_t_or_uint64_t
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_unsigned \
  satin_unsigned_differs_between_machines_use_uint32_t_or_uint64_t
#define satin_type_signed satin_signed_differs_between_machines_use_int32_t_or_int64_t
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_signed \
  satin_signed_differs_between_machines_use_int32_t_or_int64_t
#define satin_type_long satin_long_differs_between_machines_use_int64_t
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_long \
  satin_long_differs_between_machines_use_int64_t
#define satin_type_short satin_short_differs_between_machines_use_int16_t
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_short \
  satin_short_differs_between_machines_use_int16_t
#define satin_type_char satin_char_differs_between_machines_use_int8_t_or_uint8_t
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_char \
  satin_char_differs_between_machines_use_int8_t_or_uint8_t
#define satin_type_float satin_float_has_no_portable_encoding_use_double
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_float \
  satin_float_has_no_portable_encoding_use_double
#define satin_type_bool satin_bool_differs_between_machines_use_uint8_t
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_bool \
  satin_bool_differs_between_machines_use_uint8_t
#define satin_type__Bool satin_bool_differs_between_machines_use_uint8_t
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not__Bool \
  satin_bool_differs_between_machines_use_uint8_t
#define satin_type_size_t satin_size_t_differs_between_machines_use_uint64_t
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_size_t \
  satin_size_t_differs_between_machines_use_uint64_t
#define satin_type_ssize_t satin_ssize_t_differs_between_machines_use_int64_t
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_ssize_t \
  satin_ssize_t_differs_between_machines_use_int64_t
#define satin_type_ptrdiff_t satin_ptrdiff_t_differs_between_machines_use_int64_t
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_ptrdiff_t \
  satin_ptrdiff_t_differs_between_machines_use_int64_t
#define satin_type_intptr_t satin_intptr_t_differs_between_machines_use_int64_t
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_intptr_t \
  satin_intptr_t_differs_between_machines_use_int64_t
#define satin_type_uintptr_t satin_uintptr_t_differs_between_machines_use_uint64_t
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_uintptr_t \
  satin_uintptr_t_differs_between_machines_use_uint64_t
#define satin_type_time_t satin_time_t_differs_between_machines_use_int64_t
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_time_t \
  satin_time_t_differs_between_machines_use_int64_t
#define satin_type_off_t satin_off_t_differs_between_machines_use_int64_t
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_off_t \
  satin_off_t_differs_between_machines_use_int64_t
#define satin_type_gint satin_gint_differs_between_machines_use_int32_t_or_int64_t
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_gint \
  satin_gint_differs_between_machines_use_int32_t_or_int64_t
#define satin_type_guint satin_guint_differs_between_machines_use_uint32_t_or_uint64_t
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_guint \
  satin_guint_differs_between_machines_use_uint32_t_or_uint64_t
#define satin_type_glong satin_glong_differs_between_machines_use_int64_t
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_glong \
  satin_glong_differs_between_machines_use_int64_t
#define satin_type_gulong satin_gulong_differs_between_machines_use_uint64_t
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_gulong \
  satin_gulong_differs_between_machines_use_uint64_t
#define satin_type_gsize satin_gsize_differs_between_machines_use_uint64_t
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_gsize \
  satin_gsize_differs_between_machines_use_uint64_t
#define satin_type_gboolean satin_gboolean_differs_between_machines_use_uint8_t
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_gboolean \
  satin_gboolean_differs_between_machines_use_uint8_t
#define satin_type_gchar satin_gchar_differs_between_machines_use_int8_t_or_uint8_t
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_gchar \
  satin_gchar_differs_between_machines_use_int8_t_or_uint8_t
#define satin_type_const satin_const_types_and_pointers_cannot_travel_use_values_or_SatinBytes
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_const \
  satin_const_types_and_pointers_cannot_travel_use_values_or_SatinBytes
#define satin_type_void satin_void_has_no_value_use_uint8_t
#define satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_void \
  satin_void_has_no_value_use_uint8_t

/* Counting and mapping. Each element is a parenthesised (type, name) or (type, name, COUNT). */
#define SATIN_COUNT_(...) \
  SATIN_COUNT_AT_ (__VA_ARGS__, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, \
                   17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define SATIN_COUNT_AT_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, \
                        a17, a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, \
                        a32, a33, n, ...) \
  n
#define SATIN_PASTE_(a, b) SATIN_PASTE_AT_ (a, b)
#define SATIN_PASTE_AT_(a, b) a##b
#define SATIN_JOIN_(a, b) SATIN_JOIN_AT_ (a, b)
#define SATIN_JOIN_AT_(a, b) a##b
#define SATIN_MAP_(M, c, ...) \
  SATIN_PASTE_ (SATIN_MAP_, SATIN_COUNT_ (__VA_ARGS__)) (M, c, __VA_ARGS__)
#define SATIN_MAP_1(M, c, x) M (c, x)
#define SATIN_MAP_2(M, c, x, ...) M (c, x) SATIN_MAP_1 (M, c, __VA_ARGS__)
#define SATIN_MAP_3(M, c, x, ...) M (c, x) SATIN_MAP_2 (M, c, __VA_ARGS__)
#define SATIN_MAP_4(M, c, x, ...) M (c, x) SATIN_MAP_3 (M, c, __VA_ARGS__)
#define SATIN_MAP_5(M, c, x, ...) M (c, x) SATIN_MAP_4 (M, c, __VA_ARGS__)
#define SATIN_MAP_6(M, c, x, ...) M (c, x) SATIN_MAP_5 (M, c, __VA_ARGS__)
#define SATIN_MAP_7(M, c, x, ...) M (c, x) SATIN_MAP_6 (M, c, __VA_ARGS__)
#define SATIN_MAP_8(M, c, x, ...) M (c, x) SATIN_MAP_7 (M, c, __VA_ARGS__)
#define SATIN_MAP_9(M, c, x, ...) M (c, x) SATIN_MAP_8 (M, c, __VA_ARGS__)
#define SATIN_MAP_10(M, c, x, ...) M (c, x) SATIN_MAP_9 (M, c, __VA_ARGS__)
#define SATIN_MAP_11(M, c, x, ...) M (c, x) SATIN_MAP_10 (M, c, __VA_ARGS__)
#define SATIN_MAP_12(M, c, x, ...) M (c, x) SATIN_MAP_11 (M, c, __VA_ARGS__)
#define SATIN_MAP_13(M, c, x, ...) M (c, x) SATIN_MAP_12 (M, c, __VA_ARGS__)
#define SATIN_MAP_14(M, c, x, ...) M (c, x) SATIN_MAP_13 (M, c, __VA_ARGS__)
#define SATIN_MAP_15(M, c, x, ...) M (c, x) SATIN_MAP_14 (M, c, __VA_ARGS__)
#define SATIN_MAP_16(M, c, x, ...) M (c, x) SATIN_MAP_15 (M, c, __VA_ARGS__)
#define SATIN_MAP_17(M, c, x, ...) M (c, x) SATIN_MAP_16 (M, c, __VA_ARGS__)
#define SATIN_MAP_18(M, c, x, ...) M (c, x) SATIN_MAP_17 (M, c, __VA_ARGS__)
#define SATIN_MAP_19(M, c, x, ...) M (c, x) SATIN_MAP_18 (M, c, __VA_ARGS__)
#define SATIN_MAP_20(M, c, x, ...) M (c, x) SATIN_MAP_19 (M, c, __VA_ARGS__)
#define SATIN_MAP_21(M, c, x, ...) M (c, x) SATIN_MAP_20 (M, c, __VA_ARGS__)
#define SATIN_MAP_22(M, c, x, ...) M (c, x) SATIN_MAP_21 (M, c, __VA_ARGS__)
#define SATIN_MAP_23(M, c, x, ...) M (c, x) SATIN_MAP_22 (M, c, __VA_ARGS__)
#define SATIN_MAP_24(M, c, x, ...) M (c, x) SATIN_MAP_23 (M, c, __VA_ARGS__)
#define SATIN_MAP_25(M, c, x, ...) M (c, x) SATIN_MAP_24 (M, c, __VA_ARGS__)
#define SATIN_MAP_26(M, c, x, ...) M (c, x) SATIN_MAP_25 (M, c, __VA_ARGS__)
#define SATIN_MAP_27(M, c, x, ...) M (c, x) SATIN_MAP_26 (M, c, __VA_ARGS__)
#define SATIN_MAP_28(M, c, x, ...) M (c, x) SATIN_MAP_27 (M, c, __VA_ARGS__)
#define SATIN_MAP_29(M, c, x, ...) M (c, x) SATIN_MAP_28 (M, c, __VA_ARGS__)
#define SATIN_MAP_30(M, c, x, ...) M (c, x) SATIN_MAP_29 (M, c, __VA_ARGS__)
#define SATIN_MAP_31(M, c, x, ...) M (c, x) SATIN_MAP_30 (M, c, __VA_ARGS__)
#define SATIN_MAP_32(M, c, x, ...) M (c, x) SATIN_MAP_31 (M, c, __VA_ARGS__)
/* The same over the arguments of a job, which stand behind its result type. */
#define SATIN_ARGS_(M, c, ...) \
  SATIN_PASTE_ (SATIN_ARGS_, SATIN_COUNT_ (__VA_ARGS__)) (M, c, __VA_ARGS__)
#define SATIN_ARGS_1(M, c, R)
#define SATIN_ARGS_2(M, c, R, ...) SATIN_MAP_1 (M, c, __VA_ARGS__)
#define SATIN_ARGS_3(M, c, R, ...) SATIN_MAP_2 (M, c, __VA_ARGS__)
#define SATIN_ARGS_4(M, c, R, ...) SATIN_MAP_3 (M, c, __VA_ARGS__)
#define SATIN_ARGS_5(M, c, R, ...) SATIN_MAP_4 (M, c, __VA_ARGS__)
#define SATIN_ARGS_6(M, c, R, ...) SATIN_MAP_5 (M, c, __VA_ARGS__)
#define SATIN_ARGS_7(M, c, R, ...) SATIN_MAP_6 (M, c, __VA_ARGS__)
#define SATIN_ARGS_8(M, c, R, ...) SATIN_MAP_7 (M, c, __VA_ARGS__)
#define SATIN_ARGS_9(M, c, R, ...) SATIN_MAP_8 (M, c, __VA_ARGS__)
/* These are refused, see SATIN_DECLARE_. */
#define SATIN_ARGS_10(M, c, R, ...) SATIN_MAP_9 (M, c, __VA_ARGS__)
#define SATIN_ARGS_11(M, c, R, ...) SATIN_MAP_10 (M, c, __VA_ARGS__)
#define SATIN_ARGS_12(M, c, R, ...) SATIN_MAP_11 (M, c, __VA_ARGS__)
#define SATIN_ARGS_13(M, c, R, ...) SATIN_MAP_12 (M, c, __VA_ARGS__)
#define SATIN_ARGS_14(M, c, R, ...) SATIN_MAP_13 (M, c, __VA_ARGS__)
#define SATIN_ARGS_15(M, c, R, ...) SATIN_MAP_14 (M, c, __VA_ARGS__)
#define SATIN_ARGS_16(M, c, R, ...) SATIN_MAP_15 (M, c, __VA_ARGS__)
#define SATIN_ARGS_17(M, c, R, ...) SATIN_MAP_16 (M, c, __VA_ARGS__)
#define SATIN_NO_ARGS_(...) SATIN_PASTE_ (SATIN_NO_ARGS_, SATIN_COUNT_ (__VA_ARGS__))
#define SATIN_NO_ARGS_1 char satin_none_;
#define SATIN_NO_ARGS_2
#define SATIN_NO_ARGS_3
#define SATIN_NO_ARGS_4
#define SATIN_NO_ARGS_5
#define SATIN_NO_ARGS_6
#define SATIN_NO_ARGS_7
#define SATIN_NO_ARGS_8
#define SATIN_NO_ARGS_9
#define SATIN_NO_ARGS_10
#define SATIN_NO_ARGS_11
#define SATIN_NO_ARGS_12
#define SATIN_NO_ARGS_13
#define SATIN_NO_ARGS_14
#define SATIN_NO_ARGS_15
#define SATIN_NO_ARGS_16
#define SATIN_NO_ARGS_17
#define SATIN_FIRST_(...) SATIN_FIRST_AT_ (__VA_ARGS__, 0)
#define SATIN_FIRST_AT_(a, ...) a
#define SATIN_PICK_(prefix, x) SATIN_JOIN_ (prefix, SATIN_COUNT_ x) x

#define SATIN_MEMBER_(c, x) SATIN_PICK_ (SATIN_MEMBER_, x)
#define SATIN_MEMBER_2(T, m) T m;
#define SATIN_MEMBER_3(T, m, N) T m[N];

#define SATIN_FIELD_(c, x) \
  SATIN_APPLY_ (SATIN_JOIN_ (SATIN_FIELD_, SATIN_COUNT_ x), c, SATIN_UNWRAP_ x)
#define SATIN_APPLY_(M, ...) M (__VA_ARGS__)
#define SATIN_UNWRAP_(...) __VA_ARGS__
#define SATIN_FIELD_2(c, T, m) { #m, &satin_type_##T, (uint32_t)offsetof (c, m), 0 },
#define SATIN_FIELD_3(c, T, m, N) { #m, &satin_type_##T, (uint32_t)offsetof (c, m), (uint32_t)(N) },

#define SATIN_HOLD_(c, x) SATIN_PICK_ (SATIN_HOLD_, x)
#define SATIN_HOLD_2(T, m) | (int)satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_##T
#define SATIN_HOLD_3(T, m, N) | (int)satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_##T

#define SATIN_PARAMETER_(c, x) SATIN_PICK_ (SATIN_PARAMETER_, x)
#define SATIN_PARAMETER_2(T, m) , T m
#define SATIN_PARAMETER_3(T, m, N) , const T *m

#define SATIN_STORE_(c, x) SATIN_PICK_ (SATIN_STORE_, x)
#define SATIN_STORE_2(T, m) satin_args_->m = m;
#define SATIN_STORE_3(T, m, N) __builtin_memcpy (satin_args_->m, m, sizeof satin_args_->m);

#define SATIN_LOAD_(c, x) SATIN_PICK_ (SATIN_LOAD_, x)
#define SATIN_LOAD_2(T, m) , satin_args_->m
#define SATIN_LOAD_3(T, m, N) , satin_args_->m

#define SATIN_PASS_(c, x) SATIN_PICK_ (SATIN_PASS_, x)
#define SATIN_PASS_2(T, m) , m
#define SATIN_PASS_3(T, m, N) , m

/* A definition has to repeat its declaration: same names, same types. */
#define SATIN_CHECK_(c, x) \
  SATIN_APPLY_ (SATIN_JOIN_ (SATIN_CHECK_, SATIN_COUNT_ x), c, SATIN_UNWRAP_ x)
#define SATIN_CHECK_2(c, T, m) \
  SATIN_ASSERT_ (SATIN_SAME_ (T, __typeof__ (((c *)0)->m)), \
                 "argument '" #m "' has another type where the job is declared");
#define SATIN_CHECK_3(c, T, m, N) \
  SATIN_ASSERT_ (SATIN_SAME_ (T[N], __typeof__ (((c *)0)->m)), \
                 "argument '" #m "' has another type where the job is declared");

#ifdef __cplusplus
#define SATIN_NOEXCEPT_ noexcept
#define SATIN_ASSERT_ static_assert
#define SATIN_SAME_(A, B) __is_same(A, B)
#define SATIN_POINTER_(T, p) satin_pointer_<T> (p)
#define SATIN_FITS_(T, p, x) (x) /* the typed function looks */
#define SATIN_STATE_(T, p) satin_place_of_<T> (p)
extern "C++"
{
  template <typename T>
  static inline const T *
  satin_pointer_ (const T *p)
  {
    return p;
  }
  template <typename T>
  static inline T *
  satin_place_of_ (T *p)
  {
    return p;
  }
}
#else
#define SATIN_NOEXCEPT_
#define SATIN_ASSERT_ _Static_assert
#define SATIN_SAME_(A, B) __builtin_types_compatible_p (A, B)
#define SATIN_POINTER_(T, p) _Generic((p), T * : (p), const T * : (p))
#define SATIN_FITS_(T, p, x) _Generic((p), T * : (x))
#define SATIN_STATE_(T, p) SATIN_FITS_ (T, p, p)
#endif

#define SATIN_RECORD_(Name, ...) \
  typedef struct Name \
  { \
    SATIN_MAP_ (SATIN_MEMBER_, Name, __VA_ARGS__) \
  } Name; \
  enum \
  { \
    satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_##Name \
    = 0 SATIN_MAP_ (SATIN_HOLD_, Name, __VA_ARGS__) \
  }; \
  static const SatinField satin_fields_##Name[] __attribute__ ((unused)) \
  = { SATIN_MAP_ (SATIN_FIELD_, Name, __VA_ARGS__) }; \
  static const SatinType satin_type_##Name __attribute__ ((unused)) \
  = { #Name, sizeof (Name), SATIN_KIND_RECORD, SATIN_COUNT_ (__VA_ARGS__), satin_fields_##Name };

/* engine/satin-list.c. `list` is a SatinList_. */
void satin_list_fill_ (const SatinType *item, const void *items, uint64_t n, void *list);
void satin_list_join_ (const SatinType *item, const void *a, const void *b, void *list);

void satin_list_set_ (const SatinType *item, void *to, const void *from);

/* The list's own items hold what they hold. */
SATIN_INLINE_ void
satin_set_item_ (const SatinType *item, int holds, void *to, const void *from, size_t size)
{
  if (holds)
    satin_list_set_ (item, to, from);
  else
    __builtin_memcpy (to, from, size);
}

#define SATIN_LIST_(Name, Type) \
  typedef struct Name \
  { \
    const Type *at; \
    uint64_t n; \
    GBytes *held; \
  } Name; \
  enum \
  { \
    satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_##Name \
    = (int)satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_##Type \
      | (int)satin_holds_SatinBytes \
  }; \
  static const SatinField satin_fields_##Name[] __attribute__ ((unused)) \
  = { { "item", &satin_type_##Type, 0, 0 } }; \
  static const SatinType satin_type_##Name __attribute__ ((unused)) \
  = { #Name, sizeof (Name), SATIN_KIND_LIST, 1, satin_fields_##Name }; \
  SATIN_INLINE_ Name satin_list_##Name (const Type *satin_items_, uint64_t satin_n_) \
  { \
    Name satin_made_; \
    satin_list_fill_ (&satin_type_##Type, satin_items_, satin_n_, &satin_made_); \
    return satin_made_; \
  } \
  SATIN_INLINE_ Name satin_join_##Name (Name satin_a_, Name satin_b_) \
  { \
    Name satin_made_; \
    satin_list_join_ (&satin_type_##Type, &satin_a_, &satin_b_, &satin_made_); \
    return satin_made_; \
  } \
  SATIN_INLINE_ Type *satin_items_##Name (Name satin_made_) \
  { \
    return (Type *)(uintptr_t)satin_made_.at; \
  }

/* A destination that the compiler sees to be NULL; in a build without optimisation it sees none. */
void satin_null_destination_ (void)
    __attribute__ ((error ("the destination of a job is NULL: every result needs a variable")));
#define SATIN_NOT_NULL_(into) \
  do \
    if (__builtin_constant_p ((into) == NULL) && (into) == NULL) \
      satin_null_destination_ (); \
  while (0)

#define SATIN_DECLARE_(name, ...) \
  SATIN_ASSERT_ (SATIN_COUNT_ (__VA_ARGS__) <= 9, \
                 "job '" #name "' has more than 8 arguments: put some into a SATIN_RECORD"); \
  typedef SATIN_FIRST_ (__VA_ARGS__) satin_result_##name; \
  typedef struct \
  { \
    SATIN_ARGS_ (SATIN_MEMBER_, name, __VA_ARGS__) SATIN_NO_ARGS_ (__VA_ARGS__) \
  } satin_args_##name; \
  enum \
  { \
    satin_count_##name = SATIN_COUNT_ (__VA_ARGS__) - 1, \
    satin_args_hold_##name = 0 SATIN_ARGS_ (SATIN_HOLD_, name, __VA_ARGS__), \
    satin_result_holds_##name = SATIN_JOIN_ ( \
        satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_, SATIN_FIRST_ (__VA_ARGS__)), \
    satin_at_##name = (sizeof (satin_args_##name) + 7) / 8 * 8, \
    satin_size_##name = satin_at_##name + (sizeof (satin_result_##name) + 7) / 8 * 8, \
    satin_big_##name = (int)satin_size_##name > SATIN_PAYLOAD_, \
    satin_returns_##name \
    = sizeof (satin_result_##name) <= 8 && (int)satin_result_holds_##name == 0 \
  }; \
  extern const SatinJob name##_job; \
  SATIN_INLINE_ void satin_place_##name ( \
      SatinFrame_ *satin_frame_, \
      void *satin_into_ SATIN_ARGS_ (SATIN_PARAMETER_, name, __VA_ARGS__)) \
  { \
    static const SatinJob *satin_spawned_ SATIN_IN_SPAWNED_ = &name##_job; \
    satin_args_##name *satin_args_ = (satin_args_##name *)satin_place_ ( \
        satin_frame_, &name##_job, satin_into_, satin_big_##name, satin_size_##name, \
        (int)satin_args_hold_##name | (int)satin_result_holds_##name); \
    (void)satin_args_; \
    SATIN_ARGS_ (SATIN_STORE_, name, __VA_ARGS__) \
    if ((int)satin_args_hold_##name != 0) \
      satin_hold_args_ (&name##_job, satin_args_); \
  } \
  SATIN_INLINE_ void satin_spawn_##name ( \
      SatinFrame_ *satin_frame_, \
      satin_result_##name *satin_into_ SATIN_ARGS_ (SATIN_PARAMETER_, name, __VA_ARGS__)) \
  { \
    SATIN_NOT_NULL_ (satin_into_); \
    satin_place_##name (satin_frame_, satin_into_ SATIN_ARGS_ (SATIN_PASS_, name, __VA_ARGS__)); \
  } \
  SATIN_INLINE_ satin_result_##name satin_call_##name ( \
      SatinFrame_ *satin_frame_ SATIN_ARGS_ (SATIN_PARAMETER_, name, __VA_ARGS__)) \
  { \
    SatinSlot_ *satin_slot_ = satin_frame_->head; \
    uint64_t satin_returned_; \
    satin_result_##name satin_result_; \
    satin_place_##name (satin_frame_, NULL SATIN_ARGS_ (SATIN_PASS_, name, __VA_ARGS__)); \
    satin_returned_ = satin_called_ (satin_frame_, &name##_job, satin_big_##name, satin_at_##name, \
                                     satin_returns_##name); \
    if (!satin_returns_##name) \
      return *(satin_result_##name *)satin_result_at_ (satin_slot_, satin_big_##name, \
                                                       satin_at_##name); \
    __builtin_memcpy (&satin_result_, &satin_returned_, \
                      satin_returns_##name ? sizeof satin_result_ : 0); \
    return satin_result_; \
  } \
  SATIN_INLINE_ gboolean satin_root_##name ( \
      SatinRun *satin_run_, \
      satin_result_##name *satin_into_ SATIN_ARGS_ (SATIN_PARAMETER_, name, __VA_ARGS__)) \
  { \
    satin_args_##name satin_root_args_, *satin_args_ = &satin_root_args_; \
    SATIN_NOT_NULL_ (satin_into_); \
    memset (satin_args_, 0, sizeof *satin_args_); \
    SATIN_ARGS_ (SATIN_STORE_, name, __VA_ARGS__) \
    return satin_root_ (satin_run_, &name##_job, satin_args_, satin_into_); \
  }

#define SATIN_DEFINE_(name, ...) \
  SATIN_ASSERT_ ((int)satin_count_##name == SATIN_COUNT_ (__VA_ARGS__) - 1, \
                 "job '" #name "' has another number of arguments where it is declared"); \
  SATIN_ASSERT_ (SATIN_SAME_ (SATIN_FIRST_ (__VA_ARGS__), satin_result_##name), \
                 "job '" #name "' has another result type where it is declared"); \
  SATIN_ARGS_ (SATIN_CHECK_, satin_args_##name, __VA_ARGS__) \
  static const SatinField satin_fields_##name[] \
      = { SATIN_ARGS_ (SATIN_FIELD_, satin_args_##name, __VA_ARGS__){ NULL, NULL, 0, 0 } }; \
  static const SatinType satin_args_type_##name \
      = { #name, sizeof (satin_args_##name), SATIN_KIND_RECORD, satin_count_##name, \
          satin_fields_##name }; \
  static SatinDone_ satin_run_##name (SatinStack_ *satin_stack_, SatinSlot_ *satin_self_, \
                                      SatinSlot_ *satin_head_, uint64_t satin_jobs_) \
      SATIN_NOEXCEPT_; \
  const SatinJob name##_job = { #name, \
                                &satin_args_type_##name, \
                                &SATIN_JOIN_ (satin_type_, SATIN_FIRST_ (__VA_ARGS__)), \
                                satin_run_##name, \
                                satin_at_##name, \
                                satin_size_##name, \
                                satin_big_##name, \
                                satin_args_hold_##name, \
                                satin_result_holds_##name, \
                                satin_returns_##name }; \
  SATIN_REGISTER_SPAWNED_ (name) \
  SATIN_INLINE_ satin_result_##name satin_body_##name ( \
      SatinFrame_ *const satin_frame_ SATIN_ARGS_ (SATIN_PARAMETER_, name, __VA_ARGS__)); \
  static inline SatinDone_ satin_run_##name (SatinStack_ *satin_stack_, SatinSlot_ *satin_self_, \
                                             SatinSlot_ *satin_head_, uint64_t satin_jobs_) \
      SATIN_NOEXCEPT_ \
  { \
    SatinFrame_ satin_own_frame_ \
        = { satin_stack_, \
            satin_self_, \
            satin_head_, \
            satin_head_, \
            satin_head_, \
            satin_head_, \
            &name##_job, \
            { NULL, NULL, NULL, NULL }, \
            { NULL, NULL, NULL, NULL }, \
            satin_jobs_, \
            0, \
            NULL, \
            satin_stack_->fresh, \
            FALSE, \
            { { 0, 0 }, { 0, 0 } }, \
            (int)satin_args_hold_##name != 0 || (int)satin_result_holds_##name != 0 }; \
    char *satin_payload_at_ = (char *)satin_payload_ (satin_self_, satin_big_##name); \
    satin_args_##name *satin_args_ = (satin_args_##name *)(void *)satin_payload_at_; \
    SatinDone_ satin_done_ = { 0, 0 }; \
    satin_result_##name satin_short_; \
    satin_result_##name *satin_result_ \
        = satin_returns_##name \
              ? &satin_short_ \
              : (satin_result_##name *)(void *)(satin_payload_at_ + satin_at_##name); \
    (void)satin_args_; \
    *satin_result_ \
        = satin_body_##name (&satin_own_frame_ SATIN_ARGS_ (SATIN_LOAD_, name, __VA_ARGS__)); \
    if (((int)satin_result_holds_##name & (int)satin_holds_SatinShared) != 0) \
      satin_own_ (&satin_own_frame_, name##_job.result, satin_result_); \
    if ((int)satin_result_holds_##name != 0) \
      satin_hold_result_ (&name##_job, satin_result_); \
    satin_end_ (&satin_own_frame_); \
    if (satin_returns_##name) \
      __builtin_memcpy (&satin_done_.result, &satin_short_, \
                        satin_returns_##name ? sizeof satin_short_ : 0); \
    satin_done_.jobs = satin_own_frame_.jobs; \
    return satin_done_; \
  } \
  SATIN_INLINE_ satin_result_##name satin_body_##name ( \
      SatinFrame_ *const satin_frame_ __attribute__ ((unused)) \
      SATIN_ARGS_ (SATIN_PARAMETER_, name, __VA_ARGS__))

/* Loops. */
#define SATIN_PIECES_ 2048

SATIN_INLINE_ uint64_t
satin_range_ (int64_t from, int64_t to)
{
  return to > from ? (uint64_t)to - (uint64_t)from : 0;
}

SATIN_INLINE_ int64_t
satin_grain_ (int64_t from, int64_t to, int64_t grain)
{
  return grain > 0 ? grain : (int64_t)(satin_range_ (from, to) / SATIN_PIECES_) + 1;
}

/* A job that cuts its range in two; satin_piece_name computes a piece. */
#define SATIN_LOOP_(name, Result, MERGE, ...) \
  SATIN_JOB (name, Result, (int64_t, from), (int64_t, to), \
             (int64_t, grain)__VA_OPT__ (, ) __VA_ARGS__) \
  { \
    const int64_t satin_grain_of_ = satin_grain_ (from, to, grain); \
    const uint64_t satin_items_of_ = satin_range_ (from, to); \
    Result satin_low_, satin_high_; \
    if (satin_items_of_ <= (uint64_t)satin_grain_of_) \
      return satin_piece_##name ( \
          satin_here (), from, \
          to SATIN_ARGS_ (SATIN_PASS_, name, Result __VA_OPT__ (, ) __VA_ARGS__)); \
    const int64_t satin_middle_ = from + (int64_t)(satin_items_of_ / 2); \
    satin_spawn_##name ( \
        satin_frame_, &satin_low_, from, satin_middle_, \
        satin_grain_of_ SATIN_ARGS_ (SATIN_PASS_, name, Result __VA_OPT__ (, ) __VA_ARGS__)); \
    satin_spawn_##name ( \
        satin_frame_, &satin_high_, satin_middle_, to, \
        satin_grain_of_ SATIN_ARGS_ (SATIN_PASS_, name, Result __VA_OPT__ (, ) __VA_ARGS__)); \
    satin_sync (); \
    return MERGE (satin_low_, satin_high_); \
  }

#define SATIN_REDUCE_(name, Result, MERGE, ...) \
  static inline Result satin_body_of_##name ( \
      int64_t from, \
      int64_t to SATIN_ARGS_ (SATIN_PARAMETER_, name, Result __VA_OPT__ (, ) __VA_ARGS__)); \
  SATIN_INLINE_ Result satin_piece_##name ( \
      SatinHere satin_at_ __attribute__ ((unused)), int64_t from, \
      int64_t to SATIN_ARGS_ (SATIN_PARAMETER_, name, Result __VA_OPT__ (, ) __VA_ARGS__)) \
  { \
    return satin_body_of_##name ( \
        from, to SATIN_ARGS_ (SATIN_PASS_, name, Result __VA_OPT__ (, ) __VA_ARGS__)); \
  } \
  SATIN_LOOP_ (name, Result, MERGE __VA_OPT__ (, ) __VA_ARGS__) \
  static inline Result satin_body_of_##name ( \
      int64_t from __attribute__ ((unused)), \
      int64_t to __attribute__ ((unused)) \
      SATIN_ARGS_ (SATIN_PARAMETER_, name, Result __VA_OPT__ (, ) __VA_ARGS__))

#define SATIN_FOR_EACH_(name, List, Type, ...) \
  static inline Type satin_body_of_##name ( \
      int64_t i SATIN_ARGS_ (SATIN_PARAMETER_, name, Type __VA_OPT__ (, ) __VA_ARGS__)); \
  SATIN_INLINE_ List satin_piece_##name ( \
      SatinHere satin_at_, int64_t from, \
      int64_t to SATIN_ARGS_ (SATIN_PARAMETER_, name, Type __VA_OPT__ (, ) __VA_ARGS__)) \
  { \
    List satin_made_ = satin_list (List, NULL, satin_range_ (from, to)); \
    Type *satin_to_ = satin_items (List, satin_made_); \
    for (int64_t satin_i_ = from; satin_i_ < to; satin_i_++) \
      { \
        Type satin_item_ = satin_body_of_##name ( \
            satin_i_ SATIN_ARGS_ (SATIN_PASS_, name, Type __VA_OPT__ (, ) __VA_ARGS__)); \
        satin_set_item_ (&satin_type_##Type, SATIN_HOLDS_ (Type), satin_to_, &satin_item_, \
                         sizeof satin_item_); \
        satin_to_++; \
        satin_poll (satin_at_); \
      } \
    return satin_made_; \
  } \
  SATIN_LOOP_ (name, List, satin_join_##List __VA_OPT__ (, ) __VA_ARGS__) \
  static inline Type satin_body_of_##name (int64_t i __attribute__ ((unused)) SATIN_ARGS_ ( \
      SATIN_PARAMETER_, name, Type __VA_OPT__ (, ) __VA_ARGS__))

/* The number of arguments is checked by the typed function behind each word. */
#define SATIN_SPAWN_(job, ...) \
  __extension__({ \
    SATIN_STRICT_; \
    satin_spawn_##job (SATIN_FOR_ (job, satin_frame_, __VA_ARGS__), __VA_ARGS__); \
    SATIN_STRICT_END_; \
  })
#define SATIN_ROOT_(run, job, ...) \
  SATIN_VALUE_ (job, satin_root_##job (SATIN_FOR_ (job, run, __VA_ARGS__), __VA_ARGS__))
/* x, if what stands first has the type of a destination. */
#define SATIN_FOR_(job, x, ...) SATIN_FITS_ (satin_result_##job, SATIN_FIRST_ (__VA_ARGS__), x)
#define SATIN_CALL_(job, ...) \
  SATIN_VALUE_ (job, satin_call_##job (satin_frame_ __VA_OPT__ (, ) __VA_ARGS__))

/* A double that becomes an integer argument is an error, whatever the program wants to be warned
 * of. In C++ a pragma behind the last expression would take its value away. */
#define SATIN_STRICT_ \
  _Pragma ("GCC diagnostic push") _Pragma ("GCC diagnostic error \"-Wfloat-conversion\"")
#define SATIN_STRICT_END_ _Pragma ("GCC diagnostic pop")
#ifdef __cplusplus
#define SATIN_VALUE_(job, call) \
  __extension__({ \
    SATIN_STRICT_; \
    auto satin_value_of_##job = call; \
    SATIN_STRICT_END_; \
    satin_value_of_##job; \
  })
#else
#define SATIN_VALUE_(job, call) \
  __extension__({ \
    SATIN_STRICT_; \
    call; \
    SATIN_STRICT_END_ \
  })
#endif

#define SATIN_KEEPS_(Type) \
  typedef Type satin_kept_type_ __attribute__ ((unused)); \
  static const SatinJob satin_keep_and_recall_need_SATIN_KEEPS __attribute__ ((unused)) \
  = { #Type, \
      NULL, \
      &satin_type_##Type, \
      NULL, \
      SATIN_KEEP_AT_, \
      SATIN_KEEP_AT_ + sizeof (Type), \
      SATIN_KEEP_AT_ + sizeof (Type) > SATIN_PAYLOAD_, \
      FALSE, \
      (int)satin_needs_a_SATIN_RECORD_or_a_fixed_width_type_not_##Type, \
      FALSE }

#define SATIN_CONST_(Type, name) \
  SATIN_CONST_DECLARE_ (Type, name) \
  SATIN_ASSERT_ (!SATIN_SPEAKS_ (Type), \
                 "constant '" #name "' holds a SatinShared; every node has a constant anyway"); \
  SatinConst_ name##_const = { #name, &satin_type_##Type, NULL, NULL }; \
  static void __attribute__ ((constructor)) satin_register_const_##name (void) \
  { \
    satin_const_register_ (&name##_const); \
  }
#define SATIN_CONST_DECLARE_(Type, name) \
  typedef Type satin_const_##name; \
  extern SatinConst_ name##_const;

#define SATIN_BEST_(Type, name, MERGE, ...) \
  SATIN_BEST_DECLARE_ (Type, name) \
  SATIN_ASSERT_ (!SATIN_SPEAKS_ (Type), \
                 "best value '" #name "' holds a SatinShared, which only jobs can follow"); \
  static const void *satin_merge_##name (const void *satin_a_, const void *satin_b_) \
  { \
    const Type *satin_better_ = MERGE ((const Type *)satin_a_, (const Type *)satin_b_); \
    return satin_better_; \
  } \
  static const Type satin_initial_##name = __VA_ARGS__; \
  SatinBest_ name##_best \
      = { #name, &satin_type_##Type, satin_merge_##name, &satin_initial_##name, NULL }; \
  static void __attribute__ ((constructor)) satin_register_best_##name (void) \
  { \
    satin_best_register_ (&name##_best); \
  }
#define SATIN_BEST_DECLARE_(Type, name) \
  typedef Type satin_best_##name; \
  extern SatinBest_ name##_best;

#define SATIN_APP_(app_name, app_usage, function, ...) \
  static const SatinJob *const satin_app_jobs_[] = { __VA_ARGS__, NULL }; \
  static const SatinApp satin_app_ \
      = { SATIN_LAYOUT_, app_name, app_usage, function, satin_app_jobs_ }; \
  int main (int argc, char **argv) \
  { \
    return satin_main_ (&satin_app_, argc, argv); \
  }

#define SATIN_APP_VERSION_(n) \
  SATIN_ASSERT_ ((__typeof__ (n))1 / 2 == 0 && (n) > 0 && (n) <= 0xffffffffu, \
                 "SATIN_APP_VERSION takes an integer from 1 to 2^32-1"); \
  const uint32_t satin_app_version_ = (n);

#pragma GCC visibility pop

G_END_DECLS
