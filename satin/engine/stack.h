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

#include "satin.h"

#include "exchange.h"
#include "known.h"
#include "timeline.h"

#include <pthread.h>
#include <setjmp.h>

typedef struct Engine Engine;
typedef struct Stack Stack;
typedef struct Held Held;

/* A slot's state word has its state and its kind, and above them what the state says more: of
 * SLOT_STOLEN and SLOT_ABORTED the number of the thief's stack, of SLOT_DONE what others did for it
 * (clock_give). Inlined code knows children alone, and of their states the first two. */
typedef enum
{
  SLOT_READY = SATIN_READY_,
  SLOT_STARTED = SATIN_STARTED_,
  SLOT_STOLEN,  /* a stack of this engine (or for a moment the driver) runs it */
  SLOT_AWAY,    /* outside of this process, under a number: see pending.h */
  SLOT_BACK,    /* came back; claimed by a CAS on the state */
  SLOT_DONE,    /* the result is in the slot */
  SLOT_ABORTED, /* was stolen; nobody wants its result, and the thief is still in it */
  SLOT_DROPPED  /* was forgotten by satin_abort: has no result and gets none */
} SlotState;
/* The kind stays the same from the moment in which a slot is placed. */
typedef enum
{
  KIND_CHILD = 0,
  KIND_ORIGIN = 1 << 4, /* says where the job in the next slot came from */
  KIND_KEPT = 2 << 4,   /* what the job of this frame has kept: see keep.h */
  KIND_FETCH = 3 << 4   /* shared bytes that the job of this frame waits for: see share.c */
} SlotKind;
#define SLOT_STATE(word) ((word)&0x0fu)
#define SLOT_KIND(word) ((word)&0xf0u)
#define SLOT_THIEF(word) ((word) >> 8)
#define SLOT_STOLEN_BY(number) ((guint32)SLOT_STOLEN | ((guint32)(number) << 8))
#define SLOT_ABORTED_BY(number) ((guint32)SLOT_ABORTED | ((guint32)(number) << 8))
#define SLOT_DRIVER 0xffffffu /* the thief's number when the driver claims */

/* May a slot that is placed go from one state to the other? */
static inline gboolean
slot_may_move (guint32 from, guint32 to)
{
#define TO(state) (1u << (state))
  static const guint16 moves[] = {
    [SLOT_READY] = TO (SLOT_STARTED) | TO (SLOT_STOLEN) | TO (SLOT_AWAY) | TO (SLOT_DROPPED),
    [SLOT_STARTED] = 0,
    [SLOT_STOLEN] = TO (SLOT_STARTED) /* by its owner, when it came back */
                    | TO (SLOT_AWAY) | TO (SLOT_BACK) | TO (SLOT_DONE) | TO (SLOT_ABORTED),
    [SLOT_AWAY] = TO (SLOT_BACK) | TO (SLOT_DONE) | TO (SLOT_DROPPED),
    [SLOT_BACK] = TO (SLOT_STOLEN) | TO (SLOT_DROPPED),
    [SLOT_DONE] = TO (SLOT_AWAY), /* not of a child: it is placed so, and asked for then */
    [SLOT_ABORTED] = TO (SLOT_DROPPED),
    [SLOT_DROPPED] = 0,
  };
#undef TO
  return SLOT_KIND (from) == SLOT_KIND (to)
         && (SLOT_STATE (from) != SLOT_DONE || SLOT_KIND (from) != KIND_CHILD)
         && (moves[SLOT_STATE (from)] >> SLOT_STATE (to) & 1);
}

/* The low bits of slot->parent. */
#define PARENT_FLAGS 127u
#define PARENT_ORIGIN 1u   /* the parent is an origin slot: this job was stolen or lent to us */
#define PARENT_NONE PARENT_ORIGIN /* … or this is no job, and no child of the frame under it */
#define PARENT_REPORTED 2u /* a scan has reported this finished child */
#define PARENT_SPINE 4u    /* a scan has met this job before its end */
#define PARENT_PASSED 32u  /* own.passed: this child and all before it are finished */
#define PARENT_NOTED 64u   /* the states of this child and all behind it say that they started */
#define PARENT_MARKS (PARENT_REPORTED | PARENT_SPINE)
/* What satin_sync_next has handed out; SATIN_SKIPPED_: a satin_call that it passed by. */
#define PARENT_HANDED ((guint32)(SATIN_DELIVERED_ | SATIN_SKIPPED_))
/* Flags that a slot gets while it lives. */
#define PARENT_LIVING (PARENT_MARKS | PARENT_HANDED | PARENT_PASSED | PARENT_NOTED)

/* Where a loan begins: what its stack needs to leave it in the middle. Lies on the C stack. */
typedef struct
{
  jmp_buf jump;
  SatinSlot_ *outer; /* the origin slot of the loan under it on this stack, NULL: none */
  char *arena;       /* what was in use when it began */
  guint fresh;
} Mark;

/* What an origin slot says; it lies in the payload. Written before the job starts. The account of
 * the job, see clock.h: what others did for it, of that what rows stood for when it came, and by
 * the owner what rows stand for since and when its own time began. */
typedef struct
{
  Stack *victim;     /* whose slot it is, NULL: a held job */
  SatinSlot_ *slot;  /* the claimed slot */
  Held *held;        /* from another node, NULL: a stack of this engine */
  SatinSlot_ *below; /* the waiting job under it on this stack, NULL: none */
  Mark *mark;
  guint64 gift_us, gift_saved_us; /* shared */
  guint64 saved_us, begin_us;     /* owner */
  guint64 since_us;               /* under taken.lock: when it began, monotonic time */
} Origin;
G_STATIC_ASSERT (sizeof (Origin) <= SATIN_PAYLOAD_);

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
  KnownNode *node;
  gboolean below; /* something is known strictly below it, so its children take the slow way */
} Watch;

/* What the owner said last when somebody asked what runs here (look.h); path NULL: nothing yet. */
typedef struct
{
  EngineNowKind kind;
  char *path, *child; /* owned */
  GBytes *args;       /* owned */
  const SatinJob *job;
  guint thief;
  guint64 loan;
  guint64 begun;   /* StackTaken.begun then */
  guint64 said_us; /* monotonic time */
} Look;

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
  guint64 serving;    /* the held job that the job at the bottom is of */
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

/* As a thief: when it asks for more public jobs again (worker_ask). */
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

/* What the last scan found (clock.c) … */
typedef struct
{
  gint64 jobs;        /* executed until then */
  GArray *lines;      /* of Bill */
  guint64 scanned_us; /* when that was, monotonic time */
} LastBill;

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
  LastBill bill;
  RowBudget rows;
  TimelineLane *lane; /* NULL: nothing is noted */
  StackEnd end;
} StackOwn;

/* The jobs that it took from elsewhere, and what is said of them to others. */
typedef struct
{
  pthread_mutex_t lock;
  GPtrArray *origins; /* the origin slots, bottom first */
  GHashTable *spans;  /* SatinSlot_ -> Span, of results that came since the last scan */
  guint64 begun;      /* how often the list has changed */
  Look look;          /* the owner writes */
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

/* Owner, or after the owner's thread ended: releases what is held by the slots from `bottom` up,
 * which were left while `self` ran. */
void stack_release (Stack *stack, SatinSlot_ *bottom, SatinSlot_ *self, SatinSlot_ *top);
/* NULL: no memory. The thread is started by the caller. */
Stack *stack_new (Engine *engine, guint number, gsize c_stack_bytes);
/* After its thread ended. Releases what is held in slots that were left in the middle. */
void stack_free (Stack *stack);

#define STACK_ALL ((SatinSlot_ *)UINTPTR_MAX)
#define STACK_ANY STACK_ALL

static inline gboolean
stack_is_parked (const Stack *stack)
{
  return __atomic_load_n (&stack->shared.awaited, __ATOMIC_RELAXED) != NULL; /* a hint */
}

static inline guint32
slot_state (SatinSlot_ *slot)
{
  return __atomic_load_n (&slot->state,
                          __ATOMIC_SEQ_CST); /* pairs with slot_set_state; see worker_wake */
}

/* A slot that is the caller's gets a job, or something else that waits. */
static inline void
slot_place (SatinSlot_ *slot, guint32 word)
{
  __atomic_store_n (&slot->state, word, __ATOMIC_RELEASE); /* pairs with slot_state */
}

/* In the tests of all interleavings, where one thread runs at a time; those of planted bugs look at
 * how the program ends. */
static inline void
slot_check_move (SatinSlot_ *slot, guint32 to)
{
#if defined(SATIN_STEPS_) && !defined(SATIN_PLANT)
  g_assert (slot_may_move (slot->state, to));
#else
  (void)slot;
  (void)to;
#endif
}

static inline void
slot_set_state (SatinSlot_ *slot, guint32 state)
{
  slot_check_move (slot, state);
  __atomic_store_n (&slot->state, state, __ATOMIC_RELEASE); /* pairs with slot_state */
}

/* The same when a parked stack may wait for it: worker_wake has to follow. */
static inline void
slot_finish (SatinSlot_ *slot, guint32 state)
{
  slot_check_move (slot, state);
  __atomic_store_n (&slot->state, state, __ATOMIC_SEQ_CST); /* pairs with park */
}

/* Pairs with itself and slot_set_state: whoever wins may touch what the slot holds. */
static inline gboolean
slot_change_state (SatinSlot_ *slot, guint32 from, guint32 to)
{
  g_assert (slot_may_move (from, to));
  return __atomic_compare_exchange_n (&slot->state, &from, to, FALSE,
                                      __ATOMIC_SEQ_CST, /* pairs with slot_state, and park */
                                      __ATOMIC_ACQUIRE);
}

static inline guint32
slot_parent (const SatinSlot_ *slot)
{
  return __atomic_load_n (&slot->parent, __ATOMIC_RELAXED); /* published with split */
}

static inline void *
slot_payload (SatinSlot_ *slot)
{
  return satin_payload_ (slot, slot->job->big);
}

static inline void *
slot_result (SatinSlot_ *slot)
{
  return (char *)slot_payload (slot) + slot->job->result_at;
}

/* Owner of a child whose parent waits or looks. */
static inline gboolean
slot_is_finished (SatinSlot_ *slot)
{
  guint32 state = SLOT_STATE (slot_state (slot));

  return state == SLOT_DONE || state == SLOT_STARTED;
}

/* The same: the first in [low, end) with a result that satin_sync_next has not handed out; NULL:
 * none. */
static inline SatinSlot_ *
slot_find_result (SatinSlot_ *low, SatinSlot_ *end)
{
  for (SatinSlot_ *slot = low; slot < end; slot++)
    if (slot_is_finished (slot) && !(slot_parent (slot) & PARENT_HANDED))
      return slot;
  return NULL;
}

/* Owner: what inlined code counted; others read it for statistics. */
static inline void
stack_put_jobs (Stack *stack, uint64_t jobs)
{
  __atomic_store_n (&stack->open.jobs, jobs, __ATOMIC_RELAXED);
}

static inline Origin *
slot_origin (SatinSlot_ *slot)
{
  return (Origin *)(void *)slot->payload;
}

/* Owner: a child's result is taken in; counts it if another stack or node computed it. */
static inline void
stack_count_elsewhere (Stack *stack, SatinSlot_ *slot)
{
  if (SLOT_STATE (slot_state (slot)) == SLOT_DONE && !(slot_parent (slot) & PARENT_HANDED))
    __atomic_store_n (&stack->shared.elsewhere, stack->shared.elsewhere + 1, __ATOMIC_RELAXED);
}

static inline guint32
stack_flags (Stack *stack)
{
  return __atomic_load_n (&stack->shared.flags,
                          __ATOMIC_RELAXED); /* a look; see stack_take_flags */
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
  stack_put_jobs (stack, satin_run_ (&stack->open, slot->job, slot, top, stack->open.jobs).jobs);
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
