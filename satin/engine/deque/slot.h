/* SPDX-License-Identifier: BSD-3-Clause */
/* One slot: its kind, its state with the moves between states, the flags beside its parent, and the
 * content of an origin slot. This file must not know stacks. */
#pragma once

#include "satin.h"

#include <setjmp.h>

typedef struct Engine Engine;
typedef struct Stack Stack;
typedef struct Held Held;

/* The state word of a slot holds the state, the kind, and, for SLOT_STOLEN and SLOT_ABORTED, the
 * number of the thief's stack. Inlined code knows only the kind `child` and the first two states.
 */
typedef enum
{
  SLOT_READY = SATIN_READY_,
  SLOT_STARTED = SATIN_STARTED_,
  SLOT_STOLEN,  /* a stack of this engine runs the job (or the driver is about to lend it) */
  SLOT_AWAY,    /* the job is outside of this process, under a number: see pending.h */
  SLOT_BACK,    /* the job came back unrun; a stack claims it by a CAS on the state */
  SLOT_DONE,    /* the result is in the slot */
  SLOT_ABORTED, /* aborted while its thief runs it, until the thief has left it */
  SLOT_DROPPED  /* aborted: the slot has no result and gets none */
} SlotState;
/* The kind does not change after slot_place. */
typedef enum
{
  KIND_CHILD = 0,
  KIND_ORIGIN = 1 << 4, /* where the job in the next slot came from */
  KIND_KEPT = 2 << 4,   /* a state that the job of this frame has kept: see keep.h */
  KIND_FETCH = 3 << 4   /* shared bytes for which the job of this frame waits: see share.c */
} SlotKind;
#define SLOT_STATE(word) ((word)&0x0fu)
#define SLOT_KIND(word) ((word)&0xf0u)
#define SLOT_THIEF(word) ((word) >> 8)
#define SLOT_STOLEN_BY(number) ((guint32)SLOT_STOLEN | ((guint32)(number) << 8))
#define SLOT_ABORTED_BY(number) ((guint32)SLOT_ABORTED | ((guint32)(number) << 8))
#define SLOT_DRIVER 0xffffffu /* the thief's number when the driver claims */

/* TRUE: a placed slot may move from one state to the other. */
static inline gboolean
slot_may_move (guint32 from, guint32 to)
{
#define TO(state) (1u << (state))
  static const guint16 moves[] = {
    [SLOT_READY] = TO (SLOT_STARTED) | TO (SLOT_STOLEN) | TO (SLOT_AWAY) | TO (SLOT_DROPPED),
    [SLOT_STARTED] = 0,
    [SLOT_STOLEN] = TO (SLOT_STARTED) /* its owner runs it after it came back */
                    | TO (SLOT_AWAY) | TO (SLOT_BACK) | TO (SLOT_DONE) | TO (SLOT_ABORTED),
    [SLOT_AWAY] = TO (SLOT_BACK) | TO (SLOT_DONE) | TO (SLOT_DROPPED),
    [SLOT_BACK] = TO (SLOT_STOLEN) | TO (SLOT_DROPPED),
    [SLOT_DONE] = TO (SLOT_AWAY), /* a kept state or a fetch, which is placed as done */
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
#define PARENT_NONE PARENT_ORIGIN /* … or the slot holds no job and is no child of its frame */
#define PARENT_REPORTED 2u        /* a scan has reported this finished child */
#define PARENT_SPINE 4u           /* a scan has met this job before its end */
#define PARENT_PASSED 32u         /* own.passed: this child and all before it are finished */
#define PARENT_NOTED 64u          /* this child and all behind it have the state `started` */
#define PARENT_MARKS (PARENT_REPORTED | PARENT_SPINE)
/* satin_sync_next has handed this child out, or (SATIN_SKIPPED_) passed by a satin_call. */
#define PARENT_HANDED ((guint32)(SATIN_DELIVERED_ | SATIN_SKIPPED_))
/* Flags that a slot gets while it lives. */
#define PARENT_LIVING (PARENT_MARKS | PARENT_HANDED | PARENT_PASSED | PARENT_NOTED)

/* The place where a loan begins on its stack. By this the stack can leave the loan at any moment.
 * It lies on the C stack. */
typedef struct
{
  jmp_buf jump;
  SatinSlot_ *outer; /* the origin slot of the loan under it on this stack, NULL: none */
  char *arena;       /* the arena's top when the loan began */
  guint fresh;
} Mark;

/* The payload of an origin slot: where the job came from, written before the job starts, and the
 * account of the job (clock.h). */
typedef struct
{
  Stack *victim;     /* the stack that owns the claimed slot, NULL: a held job */
  SatinSlot_ *slot;  /* the claimed slot */
  Held *held;        /* the job of another node, NULL: of a stack of this engine */
  SatinSlot_ *below; /* the waiting job under it on this stack, NULL: none */
  Mark *mark;
  guint64 gift_us;  /* atomic: work that others did for it */
  guint64 safe_us;  /* atomic: the part of gift_us and of its own time that stands in rows */
  guint64 begin_us; /* owner: the stack's own time at its beginning */
  guint64 since_us; /* under taken.lock: monotonic time at its beginning */
  GArray *lines;    /* owner: of Bill, of the last scan; NULL: there was none */
} Origin;
G_STATIC_ASSERT (sizeof (Origin) <= SATIN_PAYLOAD_);

static inline guint32
slot_state (SatinSlot_ *slot)
{
  return __atomic_load_n (&slot->state,
                          __ATOMIC_SEQ_CST); /* pairs with slot_set_state; see worker_wake */
}

/* Gives a slot of the caller its first state and its kind. */
static inline void
slot_place (SatinSlot_ *slot, guint32 word)
{
  __atomic_store_n (&slot->state, word, __ATOMIC_RELEASE); /* pairs with slot_state */
}

/* Only in the tests of all interleavings, where one thread runs at a time. (Those with planted bugs
 * look at how the program ends.) */
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

/* The same if a parked stack may wait for the slot: the caller calls worker_wake next. */
static inline void
slot_finish (SatinSlot_ *slot, guint32 state)
{
  slot_check_move (slot, state);
  __atomic_store_n (&slot->state, state, __ATOMIC_SEQ_CST); /* pairs with park */
}

/* Pairs with itself and slot_set_state: the thread that gets TRUE may touch the slot's content. */
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

/* Of a placed slot, on any stack. */
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

/* Owner: the child is finished. Its parent waits, or only looks. */
static inline gboolean
slot_is_finished (SatinSlot_ *slot)
{
  guint32 state = SLOT_STATE (slot_state (slot));

  return state == SLOT_DONE || state == SLOT_STARTED;
}

/* Owner: the first child in [low, end) with a result that satin_sync_next has not handed out; NULL:
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
