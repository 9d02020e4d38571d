/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine's own state, shared by the files of this room and by nobody else. Each block names its
 * lock; locks are taken in the order of the blocks and never held across a callback. What is called
 * an atomic copy of a length is read relaxed as a hint: whoever acts on it looks again under the
 * lock, and whoever must not miss a change is woken under it. */
#pragma once

#include "deque/stack.h"
#include "exchange.h"
#include "record.h"
#include "tree/known.h"

#include <time.h>

/* A running job whose place is known already: a climb that comes by ends there. */
typedef struct
{
  Stack *stack;
  SatinSlot_ *job;
  char *path; /* owned */
  double weight;
} TraceBase;

/* A job of another node's that runs here: what engine_run gave. Its slot looks to the engine like
 * one of a stack. */
struct Held
{
  guint64 number;
  Loan *loan;
  const SatinJob *job;
  SatinSlot_ slot;  /* its payload: the decoded arguments, owned */
  void *big;        /* payload of a big job, freed with it */
  gboolean queued;  /* under engine->lock: in the inbox, not started */
  gboolean aborted; /* atomic: nobody wants its result */
  GList link;
  void *memory; /* in which it lies, aligned as a slot is */
};

/* A result that is being fetched takes memory beside its slot, so that a wide frame of which most
 * is held elsewhere has no more of them on the way than about this many. */
#define ENGINE_FETCHES_MAX 1024

typedef struct
{
  Stack *stack;
  SatinSlot_ *slot;
} Back;

/* See replay.h; node and calls are constant while jobs run. */
typedef struct
{
  KnownNode *node; /* of the only job that is wanted; NULL: all are */
  EngineReplay calls;
  guint64 began_us; /* of the thread that runs it */
  gint waits;       /* atomic: said that it waits */
} Replay;

/* The jobs of the program (engine.c). Constant while jobs run. */
typedef struct
{
  guint n;
  GHashTable *index;    /* const SatinJob * -> index + 1 */
  DigestBegun *schemas; /* by index: what of a job's digest does not depend on its arguments */
  GBytes *constants;    /* the digest of all constants */
} JobTable;

/* Seats and the stacks that want one or sleep without (seat.c). */
typedef struct
{
  guint free;         /* atomic copy for seat_poke */
  GQueue ready;       /* of Stack: can go on, want a seat */
  GQueue asleep;      /* of Stack: empty, the latest first */
  guint n_ready;      /* atomic copy of the length */
  Stack *idler;       /* in config.idle, has no seat; NULL: none */
  gboolean roused;    /* atomic: the idler is to come back */
  guint busy;         /* atomic: stacks that have a seat and a job */
  guint64 look_ns;    /* how long the scout sleeps before it looks */
  guint64 refused_us; /* when the system last refused a thread or its memory; 0: never */
  guint hungry_said;  /* seats of the last ENGINE_HUNGRY */
  guint n_parked, parked_max;
} Seats;

/* What all stacks are asked for: scans, a halt, the end (seat.c counts the stacks that owe them
 * still). */
typedef struct
{
  gboolean ending, halting, leaving;
  guint halts_owed;
  guint64 scans_served; /* all stacks have served so many, and that was said */
  guint64 scans;        /* atomic: calls of engine_scan */
  guint64 asked;        /* atomic: the same, and those of engine_halt */
} Orders;

/* Jobs held for other nodes (inbox.c). */
typedef struct
{
  GQueue queue;     /* of Held: no worker has begun them */
  guint n;          /* atomic copy of the length */
  GHashTable *held; /* number -> Held: these, and those that run */
} Inbox;

/* Work that the driver was asked for (engine_request_work). */
typedef struct
{
  guint owed;    /* atomic: the driver is to be told of public work */
  guint thieves; /* atomic: so many elsewhere wait for it, */
  guint number;  /* atomic: as was said for the n-th time */
} WorkRequest;

/* Slots that came back (worker.c). */
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
  guint n_fetches;       /* atomic: those that are fetched */
  GHashTable *by_number; /* -> Pending */
  GHashTable *by_slot;   /* the same */
  guint64 last;          /* atomic: the number given last */
} Pendings;

/* What others hold (adopt.c). */
typedef struct
{
  pthread_mutex_t lock;
  Known *trie;
  guint n; /* atomic copy of known_count */
} KnownHere;

/* What the driver has not yet read (mailbox.c). */
typedef struct
{
  pthread_mutex_t lock;
  GQueue events; /* of EngineEvent */
  gboolean told; /* wake was called since the mailbox was last empty */
} Mailbox;

/* The driver's own. */
typedef struct
{
  TraceBase from; /* the parent of the slot lent last; while that loan is away it stands still */
  guint64 last;   /* that loan */
  guint64 look_asked_us; /* when engine_look_ask was called last; 0: never */
  guint32 random;
} Lending;

/* For engine_stats. Atomic, but for the last. */
typedef struct
{
  guint64 steals, lent, reused, unmatched;
  guint64 scan_ns;      /* spent on scans */
  guint64 scan_said_ns; /* under engine->lock: the same when last told */
} Figures;

struct Engine
{
  EngineConfig config;
  JobTable jobs;
  gsize c_stack_bytes;
  pthread_condattr_t cond_clock;

  pthread_mutex_t lock; /* of the next five, but for what is atomic */
  Stack **stacks; /* config.stacks_max + 1 places; filled in order, never emptied before the end */
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

/* stacks_max when the configuration leaves it open: so many stacks may be parked. */
#define ENGINE_PARKED_STACKS_PER_SEAT 4
#define ENGINE_PARKED_STACKS_MIN 16
/* surplus_ms when the configuration leaves it open. */
#define ENGINE_SURPLUS_MS 5000

/* The index of a job in the table. A job that runs without being listed there ends the program with
 * a sentence, because its path could not be given a meaning elsewhere. */
guint engine_job_index (Engine *engine, const SatinJob *job);

/* Raises an event; takes over what it points to. Any thread, no lock held but engine->lock or
 * engine->pending.lock. */
void mailbox_raise (Engine *engine, const EngineEvent *event);
/* The same, but wake waits for mailbox_tell: the caller may be about to drive itself. */
void mailbox_raise_quietly (Engine *engine, const EngineEvent *event);
/* Calls wake if something was raised quietly. */
void mailbox_tell (Engine *engine);
/* The same, but what is raised soon after `*told_us`, when it was told last, is told late: more may
 * be raised by then, or the caller drive itself. */
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

/* CPU that this thread has used. */
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

/* Atomic copies of lengths, counts and wishes, as the head of this file says. */
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

/* So many stacks are whole for readers without the lock. */
static inline guint
engine_n_stacks (const Engine *engine)
{
  return __atomic_load_n (&engine->n_stacks, __ATOMIC_ACQUIRE); /* pairs with worker_new */
}

/* engine->lock is held, and the new one stands in its place. */
static inline void
engine_count_stack (Engine *engine)
{
  __atomic_store_n (&engine->n_stacks, engine->n_stacks + 1, __ATOMIC_RELEASE); /* the above */
}

/* back.lock is held, and a slot's state says that it came back. The owner that waits is looked for
 * after this, while it looks here after stack_await: one of them sees the other. */
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

/* known.lock is held. */
static inline void
known_here_count (KnownHere *known)
{
  __atomic_store_n (&known->n, known_count (known->trie), __ATOMIC_RELEASE); /* the one below */
}

static inline gboolean
known_here_is_empty (const KnownHere *known)
{
  return __atomic_load_n (&known->n, __ATOMIC_ACQUIRE) == 0; /* pairs with known_here_count */
}

/* Nobody wants its result. Its stacks are asked to look after this. */
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

/* The driver looks at public work after this, and what makes work public looks at `owed` after that
 * (seat_poke, seat_begin_work): one of them sees the other. */
static inline void
request_make (WorkRequest *request, guint thieves)
{
  __atomic_store_n (&request->thieves, thieves, __ATOMIC_RELAXED); /* a wish */
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
         != 0; /* with the two above */
}
