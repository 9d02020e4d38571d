/* SPDX-License-Identifier: BSD-3-Clause */
/* See explorer.h. */
/* The check of longjmp that this macro adds knows only one stack. */
#undef _FORTIFY_SOURCE
#include "config.h"

#include "explorer.h"

#include "steps.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define STACK_BYTES (256 * 1024)
#define STATES_BITS \
  16 /* the initial size of the set of states, as a power of 2; it grows when it is half full */
#define LOCKS_MAX 12
#define QUARANTINE_MAX 300 /* steps of one thread in a row while the other could run, too */
#define STEPS_MAX 20000    /* the most steps of one thread in a run: more counts as endless */

typedef struct
{
  jmp_buf at; /* where the thread continues */
  gboolean finished, blocked;
  guint64 blocked_at; /* the other thread's steps when this one began to wait */
  guint64 yielded_at; /* the other thread's steps when this one last yielded */
  guint64 steps, history;
  guint64 met_at;        /* its own steps when it found that the other thread had made … */
  guint64 met;           /* … so many steps */
  const void *sleeps_on; /* the condition on which it sleeps; NULL: it does not sleep */
  const int *locked;     /* the owner of the lock for which it waits; NULL: it waits for none */
} Thread;

/* A decision at which both threads could run. */
typedef struct
{
  guint at; /* its place in `schedule` */
  gboolean tried_both;
} Choice;

typedef struct
{
  const void *lock;
  int owner; /* -1: free */
} Lock;

static const ExplorerWorld *world;
/* swapcontext calls the kernel for the signal mask at each switch, which took four fifths of the
 * time. */
static jmp_buf explorer, starts[2];
static int entered; /* the thread whose start is being prepared */
static Thread threads[2];
static int running = -1; /* the thread that runs, -1: none */
static GArray *choices;
/* The thread of each decision of this run. The first n_given were made in the run before: they are
 * not made again, since looking who can run took a third of the time. */
static guint8 schedule[2 * (STEPS_MAX + 4)];
static guint n_given, n_decided;
/* How often a thread had to stop though it could run: in this run, and at most; 0: without limit.
 */
static guint n_preempted, preempted_max;
static guint64 *states; /* a set of keys with 1 << states_bits places; 0: free */
static guint states_bits;
static guint n_states;
static gboolean pruned;
static const char *violation;
static Lock locks[LOCKS_MAX];

int
explorer_running (void)
{
  return running;
}

gboolean
explorer_has_finished (int thread)
{
  return threads[thread].finished;
}

void
explorer_fail (const char *what)
{
  violation = what;
}

/* A thread's own C stack is a function of what it has read. */
static guint64
state_key (void)
{
  guint64 key = explorer_mix (explorer_mix (1, threads[OWNER].history), threads[THIEF].history);

  if (preempted_max > 0)
    key = explorer_mix (key, (guint64)n_preempted << 1 | (guint64)running);
  for (int i = 0; i < LOCKS_MAX; i++)
    key = explorer_mix (key, (guint64)locks[i].owner);
  for (int i = 0; i < 2; i++)
    key = explorer_mix (key, (guint64)(guintptr)threads[i].sleeps_on);
  return world->state (key) | 1;
}

static gboolean
can_run (int thread)
{
  const Thread *self = &threads[thread];

  if (self->finished || self->sleeps_on != NULL)
    return FALSE;
  if (self->locked != NULL && *self->locked >= 0)
    return FALSE;
  return !(self->blocked && self->blocked_at == threads[1 - thread].steps);
}

static void
switch_to (int thread)
{
  int from = running;

  running = thread;
  if (thread == from)
    return;
  if (_setjmp (from < 0 ? explorer : threads[from].at) != 0)
    return;
  _longjmp (thread < 0 ? explorer : threads[thread].at, 1);
}

static guint64
count_places (void)
{
  return G_GUINT64_CONSTANT (1) << states_bits;
}

/* The place of the key in the set, or where it would be. */
static guint64
find_place (guint64 key)
{
  guint64 at = key >> (64 - states_bits);

  while (states[at] != 0 && states[at] != key)
    at = (at + 1) & (count_places () - 1);
  return at;
}

static void
grow_states (void)
{
  guint64 *before = states, n = count_places ();

  states_bits++;
  states = g_new0 (guint64, 2 * n);
  for (guint64 i = 0; i < n; i++)
    if (before[i] != 0)
      states[find_place (before[i])] = before[i];
  g_free (before);
}

static gboolean
is_new_state (void)
{
  guint64 key = state_key (), at = find_place (key);

  if (states[at] == key)
    return FALSE;
  states[at] = key;
  n_states++;
  if (n_states >= count_places () / 2)
    grow_states ();
  return TRUE;
}

/* The thread that makes the next step, after those of the run before; -1: the run ends here. */
static int
decide_anew (void)
{
  Choice first = { n_decided, FALSE };

  if (violation != NULL)
    return -1;
  if (!can_run (OWNER) || !can_run (THIEF))
    return can_run (OWNER) ? OWNER : can_run (THIEF) ? THIEF : -1;
  if (running >= 0 && threads[running].steps > threads[running].met_at + QUARANTINE_MAX)
    return 1 - running;
  if (!is_new_state ())
    {
      pruned = TRUE;
      return -1;
    }
  if (running >= 0 && preempted_max > 0 && n_preempted >= preempted_max)
    return running;
  g_array_append_val (choices, first);
  return OWNER;
}

/* The thread that makes the next step; -1: the run ends here. */
static int
decide (void)
{
  gboolean is_given = n_decided < n_given;
  int thread = is_given ? schedule[n_decided] : decide_anew ();

  if (thread >= 0)
    {
      g_assert (n_decided < G_N_ELEMENTS (schedule));
      schedule[n_decided++] = (guint8)thread;
      n_preempted += preempted_max > 0 && running >= 0 && thread != running && can_run (running);
    }
  return thread;
}

void
steps_point (void)
{
  Thread *self;
  int me = running;

  if (me < 0)
    return;
  self = &threads[me];
  if (self->steps > STEPS_MAX)
    explorer_fail ("a thread runs for ever");
  if (self->steps > 0)
    switch_to (decide ()); /* returns when it is this thread's turn; the first turn was its start */
  self->blocked = FALSE;
  self->steps++;
  if (self->met != threads[1 - me].steps)
    self->met_at = self->steps;
  self->met = threads[1 - me].steps;
  self->history = explorer_mix (self->history, (guint64)(guintptr)__builtin_return_address (0));
}

void
steps_saw (uint64_t value)
{
  if (running >= 0)
    threads[running].history = explorer_mix (threads[running].history, value);
}

guint64
explorer_steps_of_other (void)
{
  return threads[1 - running].steps;
}

void
explorer_block (guint64 seen)
{
  threads[running].blocked = TRUE;
  threads[running].blocked_at = seen;
}

guint64
explorer_history (void)
{
  return threads[running].history;
}

void
explorer_forget (guint64 history)
{
  threads[running].history = history;
}

void
explorer_finish (void)
{
  threads[running].finished = TRUE;
  threads[running].steps++; /* the other one, if it waits, looks once more */
  switch_to (decide ());
  abort ();
}

/* ---- locks and sleep ---- */

/* A thread that yields has read everything since its last yield: unless the other has moved, it
 * would find nothing new. */
int
steps_yield (void)
{
  Thread *self;

  if (running < 0)
    return 0;
  self = &threads[running];
  if (self->yielded_at == explorer_steps_of_other ())
    explorer_block (self->yielded_at);
  steps_point ();
  self->yielded_at = explorer_steps_of_other ();
  return 0;
}

static Lock *
find_lock (const void *lock)
{
  for (int i = 0; i < LOCKS_MAX; i++)
    if (locks[i].lock == lock || locks[i].lock == NULL)
      {
        locks[i].lock = lock;
        return &locks[i];
      }
  g_assert_not_reached ();
}

int
steps_lock (pthread_mutex_t *mutex)
{
  Lock *lock = find_lock (mutex);

  if (running < 0)
    return 0;
  threads[running].locked = &lock->owner;
  steps_point ();
  threads[running].locked = NULL;
  lock->owner = running;
  return 0;
}

int
steps_unlock (pthread_mutex_t *mutex)
{
  if (running < 0)
    return 0;
  g_assert_cmpint (find_lock (mutex)->owner, ==, running);
  find_lock (mutex)->owner = -1;
  threads[running].steps++; /* the other one, if it waits, looks once more */
  return 0;
}

int
steps_cond_wait (pthread_cond_t *cond, pthread_mutex_t *mutex)
{
  Thread *self = &threads[running];

  steps_unlock (mutex);
  self->sleeps_on = cond; /* at once, without a step in between */
  return steps_lock (mutex);
}

/* Only the other thread wakes it: no program may depend on the timeout. */
int
steps_cond_timedwait (pthread_cond_t *cond, pthread_mutex_t *mutex,
                      const struct timespec *until G_GNUC_UNUSED)
{
  return steps_cond_wait (cond, mutex);
}

int
steps_cond_signal (pthread_cond_t *cond)
{
  if (running < 0)
    return 0;
  threads[running].steps++; /* the same */
  for (int i = 0; i < 2; i++)
    if (threads[i].sleeps_on == cond)
      threads[i].sleeps_on = NULL;
  return 0;
}

/* ---- runs ---- */

/* Each run begins again from the start; this never returns. */
static void
start_here (void)
{
  if (_setjmp (starts[entered]) == 0)
    _longjmp (explorer, 1);
  world->body[running]();
}

static void
make_start (int thread)
{
  ucontext_t context;

  entered = thread;
  if (_setjmp (explorer) != 0)
    return;
  getcontext (&context);
  context.uc_stack.ss_sp = g_malloc (STACK_BYTES);
  context.uc_stack.ss_size = STACK_BYTES;
  makecontext (&context, start_here, 0);
  setcontext (&context);
}

static void
run_once (void)
{
  n_decided = n_preempted = 0;
  pruned = FALSE;
  for (int i = 0; i < LOCKS_MAX; i++)
    locks[i].owner = -1;
  world->begin ();
  for (int i = 0; i < 2; i++)
    {
      memset (&threads[i], 0, sizeof threads[i]);
      memcpy (threads[i].at, starts[i], sizeof starts[i]);
    }
  switch_to (decide ());
  if (pruned || violation != NULL)
    return;
  if (!threads[OWNER].finished || !threads[THIEF].finished)
    violation = "somebody waits for ever";
  else
    violation = world->check_end ();
}

/* Sets the next schedule in the order of the search. FALSE: that was the last. */
static gboolean
backtrack (void)
{
  while (choices->len > 0)
    {
      Choice *last = &g_array_index (choices, Choice, choices->len - 1);

      if (!last->tried_both)
        {
          last->tried_both = TRUE;
          schedule[last->at] = THIEF;
          n_given = last->at + 1;
          return TRUE;
        }
      g_array_set_size (choices, choices->len - 1);
    }
  return FALSE;
}

static void
set_up (void)
{
  choices = g_array_new (FALSE, FALSE, sizeof (Choice));
  for (int i = 0; i < 2; i++)
    make_start (i);
}

const char *
explorer_explore (const ExplorerWorld *what, guint preempted, guint64 *n_runs, guint *n_states_met)
{
  if (choices == NULL)
    set_up ();
  world = what;
  preempted_max = preempted;
  violation = NULL;
  *n_runs = 0;
  g_free (states);
  states_bits = STATES_BITS;
  states = g_new0 (guint64, count_places ());
  n_states = n_given = 0;
  g_array_set_size (choices, 0);
  do
    {
      run_once ();
      ++*n_runs;
    }
  while (violation == NULL && backtrack ());
  *n_states_met = n_states;
  return violation;
}
