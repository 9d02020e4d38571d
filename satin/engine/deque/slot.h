/* SPDX-License-Identifier: BSD-3-Clause */
/* One slot: its kind, its state and the moves between states, the flags beside its parent, and what
 * an origin slot says. It must not know stacks. */
#pragma once

#include "satin.h"

#include <setjmp.h>

typedef struct Engine Engine;
typedef struct Stack Stack;
typedef struct Held Held;

/* A slot's state word has its state and its kind, and above them what the state says more: of
 * SLOT_STOLEN and SLOT_ABORTED the number of the thief's stack. Inlined code knows children alone,
 * and of their states the first two. */
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
#define PARENT_ORIGIN 1u /* the parent is an origin slot: this job was stolen or lent to us */
#define PARENT_NONE PARENT_ORIGIN /* … or this is no job, and no child of the frame under it */
#define PARENT_REPORTED 2u        /* a scan has reported this finished child */
#define PARENT_SPINE 4u           /* a scan has met this job before its end */
#define PARENT_PASSED 32u         /* own.passed: this child and all before it are finished */
#define PARENT_NOTED 64u /* the states of this child and all behind it say that they started */
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

/* What an origin slot says; it lies in the payload. Written before the job starts. Then the account
 * of the job, see clock.h. */
typedef struct
{
  Stack *victim;     /* whose slot it is, NULL: a held job */
  SatinSlot_ *slot;  /* the claimed slot */
  Held *held;        /* from another node, NULL: a stack of this engine */
  SatinSlot_ *below; /* the waiting job under it on this stack, NULL: none */
  Mark *mark;
  guint64 gift_us;  /* atomic: what others did for it */
  guint64 safe_us;  /* atomic: what rows stand for, of that and of its own time */
  guint64 begin_us; /* owner: the stack's own time when it began */
  guint64 since_us; /* under taken.lock: when that was, monotonic time */
  GArray *lines;    /* owner: of Bill, of the last scan; NULL: there was none */
} Origin;
G_STATIC_ASSERT (sizeof (Origin) <= SATIN_PAYLOAD_);

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

static inline void
slot_set_parent (SatinSlot_ *slot, guint32 parent)
{
  /* Published with split; thieves mask the marks. */
  __atomic_store_n (&slot->parent, parent, __ATOMIC_RELAXED);
}

/* Of a slot that stands still, also on another stack: its kind does not change. */
static inline guint32
slot_kind (const SatinSlot_ *slot)
{
  return SLOT_KIND (__atomic_load_n (&slot->state, __ATOMIC_RELAXED));
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

static inline Origin *
slot_origin (SatinSlot_ *slot)
{
  return (Origin *)(void *)slot->payload;
}
