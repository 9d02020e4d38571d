/* SPDX-License-Identifier: BSD-3-Clause */
/* One stack: a job stack (the array of slots with its public part) and what its thread keeps beside
 * it. The marks, as engine-wide invariant:
 *   - slots in [tail, split) are public: thieves look for the oldest ready one, then claim it by
 * one CAS on (tag, tail). The owner never writes the state of a public slot.
 *   - the owner takes public slots back by lowering split below them, then looking at tail; each
 * lowering adds to the tag, so a claim means that nothing changed since the look.
 *   - a started slot that is not on the spine is finished; finished children stay until their
 * parent returns. Inlined code leaves READY in private slots that it runs; every slow function
 * calls stack_catch_up before anybody looks.
 *   - guard is what the inlined code compares with: max (split, limit), or all ones when `flags`
 * are set. Slots below `limit` belong to frames below which something is known to be held
 * elsewhere. Threads: "owner" means the stack's thread; "shared" fields are atomic. */
#pragma once

#include "../exchange.h"
#include "../os/timeline.h"
#include "slot.h"
#include "trie.h"

#include <pthread.h>

enum
{
  STACK_FLAG_MOVE = 1, /* thieves want more public jobs */
  STACK_FLAG_SCAN = 2,
  STACK_FLAG_WHOLE = 4, /* with SCAN: all rows */
  STACK_FLAG_NEWS = 8,
  STACK_FLAG_HALT = 16,
  STACK_FLAG_ABORT = 32, /* a loan on this stack may be aborted */
  STACK_FLAG_LOOK = 64   /* somebody asks what runs: see look.h */
};

typedef enum
{
  STACK_RUNNING, /* has a seat */
  STACK_ASLEEP,  /* empty, no seat */
  STACK_PARKED,  /* has frames, no seat, waits for a slot */
  STACK_READY,   /* was parked, can go on, wants a seat */
  STACK_HALTED
} StackState;

/* How far satin_sync_next is in a frame of this stack. */
typedef struct
{
  SatinSlot_ *self;
  SatinSlot_ *low, *high; /* all below the one and from the other up are handed out */
  SatinSlot_ *run;        /* from here to `top` none of this stack's own is left to run */
  SatinSlot_ *top;
  SatinSlot_ *look; /* behind the last that was found to have a result from others */
  guint64 look_us;  /* not before then is looked again */
} Next;

/* A frame of this stack below which something is held elsewhere. */
typedef struct
{
  SatinSlot_ *self;
  TrieNode *node; /* a KnownNode */
  gboolean below; /* something is known strictly below it, so its children take the slow way */
} Watch;

/* Reserved for a stack from its beginning to its end. */
typedef struct
{
  SatinSlot_ *slots;
  gsize n_slots;
  char *arena;
  gsize arena_bytes;
  char *c_stack;
  gsize c_stack_bytes;
} StackMemory;

/* What other threads see without a lock: atomic, and written by the owner unless said otherwise.
 * The first three have a cache line of their own each. */
typedef struct
{
  guint32 flags __attribute__ ((aligned (64))); /* anybody */
  SatinSlot_ *split __attribute__ ((aligned (64)));
  guint64 tt __attribute__ ((aligned (64))); /* anybody: tag << 24 | tail */

  SatinSlot_ *awaited __attribute__ ((aligned (64))); /* while its thread may sleep in a wait, the
                                                         slot that it waits for or STACK_ANY */
  guint64 serving;                                    /* the held job that all it does is for */
  gboolean returning; /* it stores a result on another stack */
  guint64 paid;       /* anybody: Orders.asked when it owed neither scan nor halt and returned
                         something; 0: it may owe one */
  guint64 clock;      /* see clock.c */
  guint64 moved_us;   /* own time of jobs that are over */
  gint64 balance_us;  /* anybody: what others did for the jobs here, less what rows stand for */
  guint64 share_ppb;  /* finished share of the tree at the last scan */
  guint64 executed;   /* stolen and held jobs run here */
  guint64 elsewhere;  /* children that others ran */
} StackShared;

/* As a thief: when it asks for more public jobs again (worker_claim). */
typedef struct
{
  guint64 until_us, pause_us;
} AskPause;

/* How often the owner looked for jobs to make public and found too few, since this call of
 * engine_request_work (WorkRequest.number). */
typedef struct
{
  guint n, request;
} VainMoves;

/* While a long job runs, no other stack can take what is private here, and nobody knows in advance
 * which jobs are long. So a stack that begins to work makes all its jobs public at its first
 * EAGER_SYNCS syncs, most likely down to its first leaf. A gap of EAGER_LONG_US (wait.c) between
 * two such syncs starts the count anew. `left`: syncs that still look for private jobs although no
 * thief asks; `all`: these make every job public; `at_us`: time of the latest of them. */
#ifdef SATIN_STEPS_
#define EAGER_SYNCS 0 /* tests of all interleavings: jobs become public only on request */
#else
#define EAGER_SYNCS 16
#endif
typedef struct
{
  guint left;
  gboolean all;
  guint64 at_us;
} Eager;

/* Of the last scan (clock.c) … */
typedef struct
{
  gint64 jobs;               /* executed until then */
  guint64 n_done;            /* of them, since the one before */
  guint64 before_us, now_us; /* when these two were, monotonic time */
} Billing;

/* … and how many rows the next ones may give (scan.c). */
typedef struct
{
  double left;
  gint64 last_us; /* when that was reckoned */
} RowBudget;

/* Where the thread stood when the engine ended: stack_free cleans up from there. */
typedef struct
{
  jmp_buf leave; /* out of everything */
  SatinSlot_ *self, *top;
} StackEnd;

/* What only the owner's thread touches. */
typedef struct
{
  SatinSlot_ *split __attribute__ ((aligned (64))); /* a copy of the shared one */
  SatinSlot_ *limit;
  SatinSlot_ *passed;  /* behind the children of the last frame that ended a phase with something
                          public; still so if the last of them says PARENT_PASSED */
  SatinSlot_ *running; /* the deepest job that a slow function began here; inlined code may run
                          others above it */
  SatinSlot_ *mark;    /* the origin slot of the newest loan that runs here, NULL: none */
  gboolean leaving;    /* it is on its way out of that loan */
  gboolean polls;      /* it woke only to look once, and has found nothing yet */
  gboolean slept;      /* it slept and has found nothing yet */
  char *arena_top;
  GPtrArray *fresh;
  GArray *watch; /* of Watch, bottom first: a prefix of the spine */
  GArray *nexts; /* of Next, bottom first; those of frames that are gone may lie on top */
  guint32 random;
  AskPause ask;
  VainMoves vain;
  Eager eager;
  Billing bill;
  RowBudget rows;
  TimelineLane *lane; /* NULL: nothing is noted */
  StackEnd end;
} StackOwn;

/* The jobs that it took from elsewhere, and what is said of them to others. */
typedef struct
{
  pthread_mutex_t lock;
  GPtrArray *origins; /* the origin slots, bottom first */
  GHashTable *gifts;  /* SatinSlot_ -> Gift, of what came since the last scan */
  guint64 begun;      /* how often the list has changed */
  EngineNow
      said; /* the owner: what it said last when somebody asked (look.h); path NULL: nothing */
  guint64 said_begun; /* `begun` then */
} StackTaken;

/* Its thread and its right to run. Under engine->lock. */
typedef struct
{
  StackState state;
  guint64 scan_owed; /* the first engine_scan that it has not served; 0: it has served all */
  gboolean halt_owed;
  gboolean leaps;  /* parked, it is woken to leapfrog */
  gboolean beyond; /* it woke only for the root: the others are as many as may be */
  pthread_cond_t cond;
  pthread_t thread;
  gboolean has_thread; /* it was not joined yet */
  gboolean gone;       /* asleep, and its thread ends or has ended; see worker_again */
} StackSeat;

struct Stack
{
  SatinStack_ open; /* first: what inlined code sees */
  StackShared shared;
  StackOwn own;
  StackTaken taken;
  StackSeat seat;
  Engine *engine; /* constant, as what follows */
  guint number;
  StackMemory memory;
};

#define STACK_TAIL_BITS 24 /* of tt: so many slots a stack can have */

/* Owner, or after the owner's thread ended: releases what is held by the slots from `bottom` up,
 * which were left while `self` ran. */
void stack_release (Stack *stack, SatinSlot_ *bottom, SatinSlot_ *self, SatinSlot_ *top);
/* NULL: no memory. The thread is started by the caller. */
Stack *stack_new (Engine *engine, guint number, gsize c_stack_bytes);
/* After its thread ended. Releases what is held in slots that were left in the middle. */
void stack_free (Stack *stack);

void stack_clear_now (EngineNow *now);

#define STACK_ALL ((SatinSlot_ *)UINTPTR_MAX)
#define STACK_ANY STACK_ALL

/* Owner: its thread may sleep now, waiting for this slot. What finishes the slot stores that first
 * and looks here then, while the owner looks at the slot after this: one of them sees the other. */
static inline void
stack_await (Stack *stack, SatinSlot_ *slot)
{
  __atomic_store_n (&stack->shared.awaited, slot, __ATOMIC_SEQ_CST); /* pairs with stack_awaited */
}

static inline void
stack_await_nothing (Stack *stack)
{
  /* A wake-up too many does no harm. */
  __atomic_store_n (&stack->shared.awaited, NULL, __ATOMIC_RELAXED);
}

static inline SatinSlot_ *
stack_awaited (const Stack *stack)
{
  return __atomic_load_n (&stack->shared.awaited, __ATOMIC_SEQ_CST); /* pairs with stack_await */
}

static inline gboolean
stack_is_parked (const Stack *stack)
{
  return __atomic_load_n (&stack->shared.awaited, __ATOMIC_RELAXED) != NULL; /* a hint */
}

/* Figures that one thread writes and others read, in no order with anything else. */
static inline guint64
figure_get (const guint64 *figure)
{
  return __atomic_load_n (figure, __ATOMIC_RELAXED);
}

static inline void
figure_put (guint64 *figure, guint64 value)
{
  __atomic_store_n (figure, value, __ATOMIC_RELAXED);
}

/* The same where several threads write. Returns what it was. */
static inline guint64
figure_add (guint64 *figure, guint64 by)
{
  return __atomic_fetch_add (figure, by, __ATOMIC_RELAXED);
}

/* Owner: a child's result is taken in; counts it if another stack or node computed it. */
static inline void
stack_count_elsewhere (Stack *stack, SatinSlot_ *slot)
{
  if (SLOT_STATE (slot_state (slot)) == SLOT_DONE && !(slot_parent (slot) & PARENT_HANDED))
    figure_put (&stack->shared.elsewhere, stack->shared.elsewhere + 1);
}

/* Owner, after stack_await: stack_ask stores the flags first and looks at `awaited` then. */
static inline gboolean
stack_is_asked (const Stack *stack)
{
  return __atomic_load_n (&stack->shared.flags, __ATOMIC_SEQ_CST) != 0; /* pairs with stack_ask */
}

static inline guint32
stack_flags (Stack *stack)
{
  return __atomic_load_n (&stack->shared.flags,
                          __ATOMIC_RELAXED); /* a look; see stack_take_flags */
}

static inline SatinSlot_ *
slot_at (const Stack *stack, guint32 parent)
{
  guint32 offset = (parent & ~PARENT_FLAGS) - (guint32)(guintptr)stack->memory.slots;

  return stack->memory.slots + offset / sizeof (SatinSlot_);
}

/* The job under `job` on the spine: its parent, or the job on which its loan runs; NULL: none. */
static inline SatinSlot_ *
stack_below (const Stack *stack, const SatinSlot_ *job)
{
  guint32 parent = slot_parent (job);
  SatinSlot_ *slot = slot_at (stack, parent);

  return (parent & PARENT_ORIGIN) ? slot_origin (slot)->below : slot;
}

static inline gsize
stack_index (const Stack *stack, const SatinSlot_ *slot)
{
  return (gsize)(slot - stack->memory.slots);
}

/* Owner: split and limit have changed; the inlined code shall see it, and no wish is lost. */
void stack_set_guard (Stack *stack);
/* Any thread: the owner shall look at these flags at its next sync. */
void stack_ask (Stack *stack, guint32 flags);
/* Owner: the flags that were set. */
guint32 stack_take_flags (Stack *stack);

/* Owner: `self` runs, its children from `end` to `top` are finished, and all from `top` up is dead.
 * Brings the marks and the states of private slots up to date. */
void stack_catch_up (Stack *stack, SatinSlot_ *self, SatinSlot_ *end, SatinSlot_ *top);

/* Owner: takes the slots from `slot` up back from the public part, keeping the lower half public.
 * FALSE: `slot` itself is claimed. */
gboolean stack_lower (Stack *stack, SatinSlot_ *slot);
/* Owner: the same, keeping nothing public from `slot` up. */
void stack_lower_all (Stack *stack, SatinSlot_ *slot);
/* Owner, at the end of a sync or frame: nothing from `base` up stays public, claimed or not; all
 * above is dead. */
void stack_close (Stack *stack, SatinSlot_ *base);
/* Owner: runs the job in `slot`, which is started, here and now. */
static inline void
slot_run (Stack *stack, SatinSlot_ *slot, SatinSlot_ *top)
{
  SatinSlot_ *outer = stack->own.running;

  stack->own.running = slot;
  figure_put (&stack->open.jobs,
              satin_run_ (&stack->open, slot->job, slot, top, stack->open.jobs).jobs);
  stack->own.running = outer;
  if (stack->own.split > top)
    stack_close (stack, top);
}

/* Owner: the children of `self`, from `base` to `top`, are finished. */
void stack_note_passed (Stack *stack, SatinSlot_ *base, SatinSlot_ *top);
/* Owner: `self` runs. Moves the marks over those of its children below `end` that were noted, so
 * that nobody looks for work in what earlier phases left. */
void stack_pass_over (Stack *stack, SatinSlot_ *self, SatinSlot_ *end);
/* Owner: makes ready slots below `end` public, about half of them. FALSE: there are none; where it
 * had to look at more than STACK_GROW_LOOKS the marks move over them. */
#ifdef SATIN_STEPS_
#define STACK_GROW_LOOKS 0 /* the tests of all interleavings are small */
#else
#define STACK_GROW_LOOKS 1024
#endif
gboolean stack_grow (Stack *stack, SatinSlot_ *end);
/* Owner: makes everything below `top` public. FALSE: it was. */
gboolean stack_publish (Stack *stack, SatinSlot_ *top);
/* Any thread: claims the oldest ready public slot, NULL: none. Its state is still READY. *dry:
 * there was nothing public to look at. */
SatinSlot_ *stack_claim (Stack *victim, gboolean *dry);
/* Any thread: stack_claim would have found something a moment ago. */
gboolean stack_has_ready (Stack *victim);
/* How many public slots are ready, up to `max`. Owner. */
guint stack_count_ready (Stack *stack, guint max);
