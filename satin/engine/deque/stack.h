/* SPDX-License-Identifier: BSD-3-Clause */
/* One stack: its slots, some of them public, and the state of its thread. What holds everywhere:
 *   - Slots in [tail, split) are public. A thief looks for the oldest ready one, then claims it by
 *     one CAS on (tag, tail). The owner never writes the state of a public slot.
 *   - The owner takes public slots back: it lowers split below them, then looks at tail. Each
 *     lowering adds to the tag, so that a claim succeeds only if nothing changed since the look.
 *   - A started slot that is not on the spine is finished. Finished children stay until their
 *     parent returns. Inlined code runs private slots and leaves READY in them; every slow function
 *     calls stack_catch_up before anybody looks.
 *   - Inlined code compares with guard: max (split, limit), or all ones when `flags` are set. Slots
 *     below `limit` belong to frames below which other nodes are known to hold something.
 * "Owner" means the stack's thread; "shared" fields are atomic. */
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
  SatinSlot_ *low, *high; /* all below `low` and from `high` up are handed out */
  SatinSlot_ *run;        /* this stack has run all its own from here to `top` */
  SatinSlot_ *top;
  SatinSlot_ *look; /* behind the last slot in which a result of others was found */
  guint64 look_us;  /* the next look for such results comes no earlier */
} Next;

/* A frame of this stack below which other nodes hold something. */
typedef struct
{
  SatinSlot_ *self;
  TrieNode *node; /* a KnownNode */
  gboolean below; /* something is known strictly below it: its children run by the slow path */
} Watch;

/* The memory of a stack, reserved from its beginning to its end. */
typedef struct
{
  SatinSlot_ *slots;
  gsize n_slots;
  char *arena;
  gsize arena_bytes;
  char *c_stack;
  gsize c_stack_bytes;
} StackMemory;

/* What other threads see without a lock. All fields are atomic; the owner writes them, unless the
 * comment says "anybody". The first three have a cache line each. */
typedef struct
{
  guint32 flags __attribute__ ((aligned (64))); /* anybody */
  SatinSlot_ *split __attribute__ ((aligned (64)));
  guint64 tt __attribute__ ((aligned (64))); /* anybody: tag << 24 | tail */

  SatinSlot_ *awaited __attribute__ ((aligned (64))); /* the slot (or STACK_ANY) for which its
                                                         thread waits and may sleep; NULL: none */
  guint64 serving;    /* the held job for which it does all its work */
  gboolean returning; /* it stores a result on another stack */
  guint64 paid;       /* anybody: Orders.asked at a moment when it had served all scans and halts
                         and returned something; 0: it may owe one */
  guint64 clock;      /* see clock.c */
  guint64 moved_us;   /* own time of jobs that are over */
  gint64 balance_us;  /* anybody: work of others for the jobs here, less the work that is in rows */
  guint64 share_ppb;  /* finished share of the tree at the last scan */
  guint64 executed;   /* stolen and held jobs run here */
  guint64 elsewhere;  /* children that others ran */
} StackShared;

/* As a thief: it does not ask for more public jobs before until_us (worker_claim). */
typedef struct
{
  guint64 until_us, pause_us;
} AskPause;

/* How often the owner looked for jobs to make public and found too few since request number
 * `request` (WorkRequest.number). */
typedef struct
{
  guint n, request;
} VainMoves;

/* While a stack runs a long job, no other stack can take its private jobs, and nobody knows in
 * advance which jobs are long. So a stack that begins to work makes all its jobs public at its
 * first EAGER_SYNCS syncs, most likely down to its first leaf. A gap of EAGER_LONG_US (wait.c)
 * between two such syncs starts the count anew. `left`: syncs that still look for private jobs
 * although no thief asks; `all`: these syncs make every job public; `at_us`: time of the latest of
 * them. */
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

/* The last scan and the one before (clock.c). */
typedef struct
{
  gint64 jobs;               /* jobs executed until the last scan */
  guint64 n_done;            /* jobs executed between the two scans */
  guint64 before_us, now_us; /* monotonic time of the two scans */
} Billing;

/* How many rows the next scans may give (scan.c). */
typedef struct
{
  double left;
  gint64 last_us; /* `left` was computed at this time */
} RowBudget;

/* The thread's place when the engine ended: stack_free cleans up from there. */
typedef struct
{
  jmp_buf leave; /* out of everything */
  SatinSlot_ *self, *top;
} StackEnd;

/* Fields that only the owner's thread touches. */
typedef struct
{
  SatinSlot_ *split __attribute__ ((aligned (64))); /* a copy of the shared one */
  SatinSlot_ *limit;
  SatinSlot_ *passed;  /* the end of the children of the last frame that finished a phase while some
                          were public; valid while the last child has the flag PARENT_PASSED */
  SatinSlot_ *running; /* the deepest job that a slow function began here; inlined code may run
                          others above it */
  SatinSlot_ *mark;    /* the origin slot of the newest loan that runs here, NULL: none */
  gboolean leaving;    /* the stack is leaving that loan */
  gboolean polls;      /* the thread woke only for one look for work, and has found none yet */
  gboolean slept;      /* the thread slept, and has found no work since */
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
  TimelineLane *lane; /* NULL: there is no --trace */
  StackEnd end;
} StackOwn;

/* The jobs that this stack took from elsewhere, and what other threads may know of them. */
typedef struct
{
  pthread_mutex_t lock;
  GPtrArray *origins; /* the origin slots, bottom first */
  GHashTable *gifts;  /* SatinSlot_ -> Gift: work of others that came since the last scan */
  guint64 begun;      /* how often `origins` has changed */
  EngineNow said;     /* written by the owner: its last answer to look.h; path NULL: none */
  guint64 said_begun; /* `begun` at that answer */
} StackTaken;

/* The stack's thread and its right to run. Under engine->lock. */
typedef struct
{
  StackState state;
  guint64 scan_owed; /* the first engine_scan that it has not served; 0: it has served all */
  gboolean halt_owed;
  gboolean leaps;  /* it is parked, and is woken to leapfrog */
  gboolean beyond; /* it woke only for the root, since as many stacks as may be are in use */
  pthread_cond_t cond;
  pthread_t thread;
  gboolean has_thread; /* the thread is not joined yet */
  gboolean gone;       /* it is asleep, and its thread ends or has ended; see worker_again */
} StackSeat;

struct Stack
{
  SatinStack_ open; /* first: the part that inlined code sees */
  StackShared shared;
  StackOwn own;
  StackTaken taken;
  StackSeat seat;
  Engine *engine; /* constant, as are the next two */
  guint number;
  StackMemory memory;
};

#define STACK_TAIL_BITS 24 /* bits of tt for the tail; they limit the slots of a stack */

/* Owner, or anybody after the owner's thread ended: the stack was left while `self` ran. Releases
 * what the slots from `bottom` up hold. */
void stack_release (Stack *stack, SatinSlot_ *bottom, SatinSlot_ *self, SatinSlot_ *top);
/* NULL: no memory. The caller starts the thread. */
Stack *stack_new (Engine *engine, guint number, gsize c_stack_bytes);
/* After its thread ended. Releases also what the slots of unfinished jobs hold. */
void stack_free (Stack *stack);

void stack_clear_now (EngineNow *now);

#define STACK_ALL ((SatinSlot_ *)UINTPTR_MAX)
#define STACK_ANY STACK_ALL

/* Owner: the thread will wait for this slot and may sleep. The owner looks at the slot after this
 * store. The finisher stores the slot's state first and calls stack_awaited then. So one of them
 * sees the other. */
static inline void
stack_await (Stack *stack, SatinSlot_ *slot)
{
  __atomic_store_n (&stack->shared.awaited, slot, __ATOMIC_SEQ_CST); /* pairs with stack_awaited */
}

static inline void
stack_await_nothing (Stack *stack)
{
  /* A wake-up that comes too late does no harm. */
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

/* Figures that one thread writes and others read, without any order. */
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

/* For figures that several threads write. Returns the value before. */
static inline guint64
figure_add (guint64 *figure, guint64 by)
{
  return __atomic_fetch_add (figure, by, __ATOMIC_RELAXED);
}

/* Owner, when it takes a child's result: counts it if another stack or node computed it. */
static inline void
stack_count_elsewhere (Stack *stack, SatinSlot_ *slot)
{
  if (SLOT_STATE (slot_state (slot)) == SLOT_DONE && !(slot_parent (slot) & PARENT_HANDED))
    figure_put (&stack->shared.elsewhere, stack->shared.elsewhere + 1);
}

/* Owner, after stack_await. (stack_ask stores the flags first; then its caller looks at `awaited`.)
 */
static inline gboolean
stack_is_asked (const Stack *stack)
{
  return __atomic_load_n (&stack->shared.flags, __ATOMIC_SEQ_CST) != 0; /* pairs with stack_ask */
}

static inline guint32
stack_flags (Stack *stack)
{
  return __atomic_load_n (&stack->shared.flags,
                          __ATOMIC_RELAXED); /* a hint; see stack_take_flags */
}

static inline SatinSlot_ *
slot_at (const Stack *stack, guint32 parent)
{
  guint32 offset = (parent & ~PARENT_FLAGS) - (guint32)(guintptr)stack->memory.slots;

  return stack->memory.slots + offset / sizeof (SatinSlot_);
}

/* The job below `job` on the spine: its parent, or the waiting job above which its loan runs; NULL:
 * none. */
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

/* Owner, after a change of split or limit: sets the guard, and misses no request of stack_ask. */
void stack_set_guard (Stack *stack);
/* Any thread: asks the owner to look at these flags at its next sync. */
void stack_ask (Stack *stack, guint32 flags);
/* Owner: returns the flags that are set, and clears them. */
guint32 stack_take_flags (Stack *stack);

/* Owner: brings the marks and the states of private slots up to date. `self` runs, its children
 * from `end` to `top` are finished, and slots from `top` up are unused. */
void stack_catch_up (Stack *stack, SatinSlot_ *self, SatinSlot_ *end, SatinSlot_ *top);

/* Owner: makes `slot` and all above it private. Of the public slots below it the lower half stays
 * public. FALSE: `slot` itself is claimed. */
gboolean stack_lower (Stack *stack, SatinSlot_ *slot);
/* Owner: makes `slot` and all above it private, and nothing else. */
void stack_lower_all (Stack *stack, SatinSlot_ *slot);
/* Owner, at the end of a sync or frame: the slots from `base` up are unused from now on. None of
 * them stays public, claimed or not. */
void stack_close (Stack *stack, SatinSlot_ *base);
/* Owner: runs the job in `slot`, whose state is `started`. */
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

/* Owner: notes that the children from `base` to `top` are finished. */
void stack_note_passed (Stack *stack, SatinSlot_ *base, SatinSlot_ *top);
/* Owner: `self` runs. Moves the marks over those of its children below `end` that
 * stack_note_passed noted, so that nobody looks for work among the children of earlier phases. */
void stack_pass_over (Stack *stack, SatinSlot_ *self, SatinSlot_ *end);
/* Owner: makes about half of the ready slots below `end` public. FALSE: none is ready; after more
 * than STACK_GROW_LOOKS looks the marks move over these slots. */
#ifdef SATIN_STEPS_
#define STACK_GROW_LOOKS 0 /* the tests of all interleavings are small */
#else
#define STACK_GROW_LOOKS 1024
#endif
gboolean stack_grow (Stack *stack, SatinSlot_ *end);
/* Owner: makes all slots below `top` public. FALSE: they were. */
gboolean stack_publish (Stack *stack, SatinSlot_ *top);
/* Any thread: claims the oldest ready public slot; its state is still READY. NULL: there is none,
 * or something changed since the look. *dry: no public slot is ready. */
SatinSlot_ *stack_claim (Stack *victim, gboolean *dry);
/* Any thread: a public slot was ready a moment ago. */
gboolean stack_has_ready (Stack *victim);
/* Owner: the number of public slots that are ready; `max` at most. */
guint stack_count_ready (Stack *stack, guint max);
