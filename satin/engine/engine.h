/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of the engine, for the files of this room only. Each block names its lock. A thread
 * takes locks in the order of the blocks and holds none while it calls back, except where
 * EngineConfig says so. An "atomic copy" of a length is a hint, read relaxed: its reader looks
 * again under the lock before it acts. A thread that must not miss a change is woken under the
 * lock. */
#pragma once

#include "deque/stack.h"
#include "exchange.h"
#include "record.h"
#include "tree/known.h"

#include <time.h>

/* A running job whose path is known. A climb along the spine (trace.c) ends at it. */
typedef struct
{
  Stack *stack;
  SatinSlot_ *job;
  char *path; /* owned */
  double weight;
} TraceBase;

/* A job of another node that engine_run gave to this engine. Its slot is used like one of a stack.
 */
struct Held
{
  guint64 number;
  Loan *loan;
  const SatinJob *job;
  SatinSlot_ slot;  /* its payload: the decoded arguments, owned */
  void *big;        /* payload of a big job, freed with it */
  gboolean queued;  /* under engine->lock: in the inbox, not started */
  gboolean aborted; /* atomic: its result is not wanted */
  GList link;
  void *memory; /* the allocation around it, since a slot must be aligned */
};

/* At most about this many results are fetched at a time: each takes memory beside its slot, and
 * other nodes may hold most children of a wide frame. */
#define ENGINE_FETCHES_MAX 1024

typedef struct
{
  Stack *stack;
  SatinSlot_ *slot;
} Back;

/* See replay.h. `node` and `calls` are constant while jobs run. */
typedef struct
{
  KnownNode *node; /* the only job that is wanted; NULL: all are */
  EngineReplay calls;
  guint64 began_us; /* of the thread that runs it */
  gint waits;       /* atomic: EngineReplay.waits was called */
} Replay;

/* The jobs of the program (engine.c). Constant while jobs run. */
typedef struct
{
  guint n;
  GHashTable *index;    /* const SatinJob * -> index + 1 */
  DigestBegun *schemas; /* by index: the part of a job's digest before its arguments */
  GBytes *constants;    /* the digest of all constants */
} JobTable;

/* Seats, the stacks that want one, and the stacks that sleep without one (seat.c). */
typedef struct
{
  guint free;         /* atomic copy for seat_poke */
  GQueue ready;       /* of Stack: can go on, want a seat */
  GQueue asleep;      /* of Stack: empty, the latest first */
  guint n_ready;      /* atomic copy of the length */
  Stack *idler;       /* in config.idle, without a seat; NULL: none */
  gboolean roused;    /* atomic: the idler is asked to come back */
  guint busy;         /* atomic: stacks that have a seat and a job */
  guint64 look_ns;    /* time that the scout sleeps between two looks for work */
  guint64 refused_us; /* when the system last refused a thread or its memory; 0: never */
  guint hungry_said;  /* EngineEvent.seats of the last ENGINE_HUNGRY */
  guint n_parked, parked_max;
} Seats;

/* Orders to all stacks: scans, a halt, the end. seat.c counts the stacks that have not served
 * them. */
typedef struct
{
  gboolean ending, halting, leaving;
  guint halts_owed;
  guint64 scans_served; /* scans that all stacks have served, with their ENGINE_SCANNED raised */
  guint64 scans;        /* atomic: calls of engine_scan */
  guint64 asked;        /* atomic: calls of engine_scan and engine_halt */
} Orders;

/* Jobs held for other nodes (inbox.c). */
typedef struct
{
  GQueue queue;     /* of Held: no worker has begun them */
  guint n;          /* atomic copy of the length */
  GHashTable *held; /* number -> Held: those in the queue, and those that run */
} Inbox;

/* The last call of engine_request_work. */
typedef struct
{
  guint owed;    /* atomic: ENGINE_SHARED is due as soon as there is public work */
  guint thieves; /* atomic: thieves on other nodes that wait for work */
  guint number;  /* atomic: number of this call */
} WorkRequest;

/* Slots whose jobs came back unrun (worker.c). */
typedef struct
{
  pthread_mutex_t lock;
  GArray *list; /* of Back */
  guint n;      /* atomic copy of the length */
} BackList;

/* Slots whose result comes from elsewhere (pending.c). */
typedef struct
{
  pthread_mutex_t lock;
  guint n_fetches;       /* atomic: results that are being fetched */
  GHashTable *by_number; /* -> Pending */
  GHashTable *by_slot;   /* the same */
  guint64 last;          /* atomic: the last number given */
} Pendings;

/* What other nodes hold, as far as it is known here (adopt.c). */
typedef struct
{
  pthread_mutex_t lock;
  Known *trie;
  guint n; /* atomic copy of known_count */
} KnownHere;

/* Events that the driver has not read (mailbox.c). */
typedef struct
{
  pthread_mutex_t lock;
  GQueue events; /* of EngineEvent */
  gboolean told; /* wake was called since the mailbox was last empty */
} Mailbox;

/* State of the driver's thread. */
typedef struct
{
  TraceBase from; /* parent of the slot that was lent last; it waits while that loan is away */
  guint64 last;   /* number of that loan */
  guint64 look_asked_us; /* time of the last engine_look_ask; 0: there was none */
  guint32 random;
} Lending;

/* For engine_stats. Atomic, except the last. */
typedef struct
{
  guint64 steals, lent, reused, unmatched;
  guint64 scan_ns;      /* spent on scans */
  guint64 scan_said_ns; /* under engine->lock: scan_ns at the last ENGINE_SCANNED */
} Figures;

struct Engine
{
  EngineConfig config;
  JobTable jobs;
  gsize c_stack_bytes;
  pthread_condattr_t cond_clock;

  pthread_mutex_t lock; /* of the next fields up to `request`, except atomic ones */
  Stack **stacks;       /* config.stacks_max + 1 places, filled in order, emptied only at the end */
  guint n_stacks; /* atomic for readers without the lock */
  Seats seats;
  Orders orders;
  Inbox inbox;
  WorkRequest request;

  BackList back;
  Pendings pending;
  KnownHere known;
  Mailbox mail;

  Replay replay;
  Lending lending;
  Figures figures;
};

#define ENGINE_STACK_BYTES ((gsize)1 << 30)
#define ENGINE_STACK_BYTES_SANITIZED ((gsize)1 << 26)
#define ENGINE_STACK_BYTES_MIN ((gsize)1 << 17)

/* Stacks that may be parked at a time, if stacks_max is 0. */
#define ENGINE_PARKED_STACKS_PER_SEAT 4
#define ENGINE_PARKED_STACKS_MIN 16
/* surplus_ms if it is 0. */
#define ENGINE_SURPLUS_MS 5000

/* The index of a job in the table. A job that is not listed there ends the program with a message:
 * its path would mean nothing on other nodes. */
guint engine_job_index (Engine *engine, const SatinJob *job);

/* Raises an event; takes over what it points to. Any thread, which may hold engine->lock or
 * engine->pending.lock and no other. */
void mailbox_raise (Engine *engine, const EngineEvent *event);
/* The same, but the driver is not woken before mailbox_tell: the caller may drive itself next. */
void mailbox_raise_quietly (Engine *engine, const EngineEvent *event);
/* Calls wake if something was raised quietly. */
void mailbox_tell (Engine *engine);
/* The same, but soon after the last such call, at *told_us, it calls wake_late: until then more may
 * be raised, or the caller may drive itself. */
void mailbox_tell_some (Engine *engine, guint64 *told_us);
gboolean mailbox_next (Engine *engine, EngineEvent *event);

static inline guint32
random_next (guint32 *state)
{
  guint32 x = *state;

  x ^= x << 13;
  x ^= x >> 17;
  x ^= x << 5;
  return *state = x;
}

/* CPU time of this thread. */
static inline guint64
clock_thread_ns (void)
{
  struct timespec used;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &used);
  return (guint64)used.tv_sec * 1000000000 + (guint64)used.tv_nsec;
}

static inline guint64
clock_us (void)
{
  return (guint64)g_get_monotonic_time ();
}

/* Atomic copies, see the head of this file. */
static inline guint
length_hint (const guint *n)
{
  return __atomic_load_n (n, __ATOMIC_RELAXED);
}

static inline void
length_put (guint *n, guint length)
{
  __atomic_store_n (n, length, __ATOMIC_RELAXED);
}

/* The number of stacks that readers without the lock may use. */
static inline guint
engine_n_stacks (const Engine *engine)
{
  return __atomic_load_n (&engine->n_stacks, __ATOMIC_ACQUIRE); /* pairs with worker_new */
}

/* Under engine->lock, after the new stack was put in its place. */
static inline void
engine_count_stack (Engine *engine)
{
  __atomic_store_n (&engine->n_stacks, engine->n_stacks + 1,
                    __ATOMIC_RELEASE); /* pairs with engine_n_stacks */
}

/* Under back.lock, after the slot's state became SLOT_BACK. The caller looks for a waiting owner
 * after this; an owner looks here after stack_await. So one of them sees the other. */
static inline void
back_count (BackList *back)
{
  __atomic_store_n (&back->n, back->list->len, __ATOMIC_SEQ_CST); /* pairs with back_is_empty */
}

static inline gboolean
back_is_empty (const BackList *back)
{
  return __atomic_load_n (&back->n, __ATOMIC_SEQ_CST) == 0; /* pairs with back_count */
}

/* Under known.lock. */
static inline void
known_here_count (KnownHere *known)
{
  __atomic_store_n (&known->n, known_count (known->trie),
                    __ATOMIC_RELEASE); /* pairs with known_here_is_empty */
}

static inline gboolean
known_here_is_empty (const KnownHere *known)
{
  return __atomic_load_n (&known->n, __ATOMIC_ACQUIRE) == 0; /* pairs with known_here_count */
}

/* Its result is not wanted any more. The caller asks its stacks to look after this. */
static inline void
held_abort (Held *held)
{
  __atomic_store_n (&held->aborted, TRUE, __ATOMIC_SEQ_CST); /* pairs with held_is_aborted */
}

static inline gboolean
held_is_aborted (const Held *held)
{
  return __atomic_load_n (&held->aborted, __ATOMIC_SEQ_CST); /* pairs with held_abort */
}

/* The driver looks for public work after this. A stack looks at `owed` after it made work public
 * (seat_poke, seat_begin_work). So one of them sees the other. */
static inline void
request_make (WorkRequest *request, guint thieves)
{
  __atomic_store_n (&request->thieves, thieves, __ATOMIC_RELAXED); /* a hint */
  __atomic_fetch_add (&request->number, 1, __ATOMIC_RELAXED);
  __atomic_store_n (&request->owed, TRUE, __ATOMIC_SEQ_CST); /* pairs with request_is_owed */
}

static inline gboolean
request_is_owed (const WorkRequest *request)
{
  return __atomic_load_n (&request->owed, __ATOMIC_SEQ_CST) != 0; /* pairs with request_make */
}

/* TRUE: it was owed; the caller tells the driver. */
static inline gboolean
request_take (WorkRequest *request)
{
  return __atomic_exchange_n (&request->owed, FALSE, __ATOMIC_SEQ_CST)
         != 0; /* pairs with request_make */
}
