/* SPDX-License-Identifier: BSD-3-Clause */
/* The deque under all interleavings. An owner runs small programs of real jobs (the inlined code of
 * satin.h, frame.c, stack.c), a thief claims, runs or gives back; both are coroutines that may
 * change places before each atomic access. A depth-first search takes every choice; what stands in
 * memory together with what each thread has read so far is the state, and a state that was met
 * before is not gone through again, so all interleavings are covered in reasonable time. They are
 * sequentially consistent ones: weaker orders are ThreadSanitizer's part.
 *
 * At each end: every leaf ran exactly once, the result is right, nobody waits for ever, the marks
 * are closed. Compiled with a planted bug (SATIN_PLANT) the search must find a violation. */
#include "config.h"

#include "deque-programs.h"
#include "engine.h"
#include "wait.h"
#include "worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define STACK_BYTES (256 * 1024)
#define SLOTS_SEEN 12  /* no program uses more slots of a stack */
#define STATES_BITS 23 /* places in the set of states */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED TRUE
#else
#define IS_SANITIZED FALSE
#endif

enum
{
  OWNER,
  THIEF
};

typedef struct
{
  ucontext_t context;
  char *c_stack;
  gboolean finished, blocked;
  guint64 blocked_at; /* steps of the other when it began to wait */
  guint64 steps, history;
} Thread;

typedef struct
{
  guint8 thread;
  gboolean tried_both;
} Choice;

static ucontext_t explorer;
static Thread threads[2];
static int running = -1; /* the thread that runs, -1: none */
static GArray *choices;
static guint depth;     /* of the choices taken in this run */
static guint64 *states; /* a set of keys with 1 << STATES_BITS places; 0: free */
static guint n_states;
static gboolean pruned;
static const char *violation;

static const Program *program;
static Engine engine;
static Stack *stacks[2], clean[2];
static SatinSlot_ *back_slot; /* the list of what came back, one long */
static uint64_t result;

/* ---- the explorer ---- */

static guint64
mix (guint64 hash, guint64 value)
{
  hash = (hash ^ value) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
  return hash ^ (hash >> 29);
}

/* What the thief keeps on its own stack follows from what it has read. */
static guint64
state_key (void)
{
  const Stack *stack = stacks[OWNER];
  guint64 key = mix (mix (1, threads[OWNER].history), threads[THIEF].history);

  key = mix (mix (key, stack->tt), (guint64)(stack->split - stack->slots));
  key = mix (mix (key, stack->flags), (guint64)(guintptr)stack->open.guard);
  for (int i = 0; i < SLOTS_SEEN; i++)
    {
      const SatinSlot_ *slot = &stack->slots[i];

      key = mix (mix (key, slot->state), slot->parent);
      key = mix (mix (key, *(const guint64 *)slot->payload), *(const guint64 *)(slot->payload + 8));
    }
  for (int i = 0; i < LEAVES_MAX; i++)
    key = mix (key, (guint64)runs[i]);
  return mix (key, (guint64)(guintptr)back_slot) | 1;
}

static gboolean
can_run (int thread)
{
  const Thread *self = &threads[thread];

  return !self->finished && !(self->blocked && self->blocked_at == threads[1 - thread].steps);
}

static void
switch_to (int thread)
{
  int from = running;

  running = thread;
  if (thread == from)
    return;
  swapcontext (from < 0 ? &explorer : &threads[from].context,
               thread < 0 ? &explorer : &threads[thread].context);
}

static gboolean
is_new_state (void)
{
  guint64 key = state_key (), mask = (G_GUINT64_CONSTANT (1) << STATES_BITS) - 1;
  guint64 at = key >> (64 - STATES_BITS);

  for (; states[at] != 0; at = (at + 1) & mask)
    if (states[at] == key)
      return FALSE;
  g_assert (n_states < mask / 2);
  states[at] = key;
  n_states++;
  return TRUE;
}

/* Who makes the next step; -1: the run ends here. */
static int
decide (void)
{
  Choice first = { OWNER, FALSE };

  if (!can_run (OWNER) || !can_run (THIEF))
    return can_run (OWNER) ? OWNER : can_run (THIEF) ? THIEF : -1;
  if (depth == choices->len)
    {
      if (!is_new_state ())
        {
          pruned = TRUE;
          return -1;
        }
      g_array_append_val (choices, first);
    }
  return g_array_index (choices, Choice, depth++).thread;
}

void
steps_point (void)
{
  Thread *self;
  int me = running;

  if (me < 0)
    return;
  self = &threads[me];
  if (self->steps > 0)
    switch_to (decide ()); /* returns when it is our turn; the first was when it began */
  self->blocked = FALSE;
  self->steps++;
  self->history = mix (self->history, 7);
}

void
steps_saw (uint64_t value)
{
  if (running >= 0)
    threads[running].history = mix (threads[running].history, value);
}

static guint64
steps_of_other (void)
{
  return threads[1 - running].steps;
}

/* Nothing to do until the other thread has made a step after `seen`. */
static void
steps_block (guint64 seen)
{
  threads[running].blocked = TRUE;
  threads[running].blocked_at = seen;
}

/* ---- the owner ---- */

void
wait_serve (Stack *stack, SatinSlot_ *self, SatinSlot_ *end, SatinSlot_ *top)
{
  guint32 flags = stack_take_flags (stack);

  (void)top;
  if (flags & STACK_FLAG_MOVE)
    {
      stack_pass_over (stack, self, end);
      stack_grow (stack, end);
    }
  stack_set_guard (stack);
}

void
wait_run_child (Stack *stack, SatinSlot_ *self, SatinSlot_ *slot, SatinSlot_ *top)
{
  (void)self;
  slot_set_state (slot, SLOT_STARTED);
  slot_run (stack, slot, top);
}

static gboolean
run_back (Stack *stack, SatinSlot_ *self, SatinSlot_ *first, SatinSlot_ *top)
{
  for (SatinSlot_ *slot = first; slot < top; slot++)
    if (slot_state (slot) == SLOT_BACK
        && slot_change_state (slot, SLOT_BACK, SLOT_STOLEN_BY (SLOT_DRIVER)))
      {
        wait_run_child (stack, self, slot, top);
        return TRUE;
      }
  return FALSE;
}

void
wait_for (Stack *stack, SatinSlot_ *self, SatinSlot_ *first, SatinSlot_ *slot, SatinSlot_ *top)
{
  stack_pass_over (stack, self, top);
  stack_publish (stack, top);
  for (;;)
    {
      guint64 seen = steps_of_other ();
      guint32 kind = SLOT_KIND (slot_state (slot));

      if (kind == SLOT_RETURNED || kind == SLOT_STARTED)
        return;
      if (stack_flags (stack) != 0)
        wait_serve (stack, self, top, top);
      if (!run_back (stack, self, first, top))
        steps_block (seen);
    }
}

void
wait_left (Stack *stack, SatinSlot_ *self, SatinSlot_ *slot, SatinSlot_ *top)
{
  (void)stack, (void)self, (void)slot, (void)top;
  g_assert_not_reached (); /* no program aborts */
}

void
wait_any (Stack *stack, const Next *next)
{
  (void)stack, (void)next;
  g_assert_not_reached (); /* nor takes its children one by one */
}

/* Places a job as a worker does and runs it. */
static SatinSlot_ *
run_job (Stack *stack, const SatinSlot_ *what)
{
  SatinSlot_ *origin = stack->slots, *job = origin + 1;

  origin->parent = PARENT_ORIGIN;
  origin->state = SLOT_ORIGIN;
  job->job = what->job;
  memcpy (job->payload, what->payload, sizeof job->payload);
  job->parent = (guint32)(guintptr)origin | PARENT_ORIGIN;
  job->state = SLOT_STARTED;
  slot_run (stack, job, job + 1);
  stack_close (stack, origin);
  return job;
}

static void
finish (void)
{
  threads[running].finished = TRUE;
  threads[running].steps++; /* who waits looks once more */
  switch_to (decide ());
  abort ();
}

static void
owner (void)
{
  SatinSlot_ root = { .job = program->root };
  SatinSlot_ *job = run_job (stacks[OWNER], &root);

  memcpy (&result, slot_result (job), sizeof result);
  finish ();
}

/* ---- the thief ---- */

static SatinSlot_ *
claim (gboolean *dry)
{
  SatinSlot_ *slot = back_slot;

  *dry = FALSE;
  back_slot = NULL;
  if (slot != NULL && slot_change_state (slot, SLOT_BACK, SLOT_STOLEN_BY (1)))
    return slot;
  slot = stack_claim (stacks[OWNER], dry);
  if (slot == NULL)
    return NULL;
  if (slot_state (slot) != SLOT_READY)
    violation = "a claimed slot is not ready";
  slot_set_state (slot, SLOT_STOLEN_BY (1));
  return slot;
}

static void
thief (void)
{
  int give_back = program->give_back;
  gboolean dry;

  for (int i = 0; i < program->tries; i++)
    {
      guint64 seen = steps_of_other ();
      SatinSlot_ *slot = claim (&dry), *job;

      if (slot == NULL)
        {
          if (dry)
            stack_ask (stacks[OWNER], STACK_FLAG_MOVE);
          if (!threads[OWNER].finished)
            steps_block (seen);
          continue;
        }
      if (give_back-- > 0)
        {
          back_slot = slot;
          slot_finish (slot, SLOT_BACK);
          continue;
        }
      job = run_job (stacks[THIEF], slot);
      memcpy (slot_result (slot), slot_result (job), job->job->result->size);
      slot_finish (slot, SLOT_RETURNED);
    }
  finish ();
}

/* ---- runs ---- */

static void
begin_thread (int thread, void (*body) (void))
{
  Thread *self = &threads[thread];
  char *c_stack = self->c_stack;

  memset (self, 0, sizeof *self);
  self->c_stack = c_stack;
  getcontext (&self->context);
  self->context.uc_stack.ss_sp = c_stack;
  self->context.uc_stack.ss_size = STACK_BYTES;
  makecontext (&self->context, body, 0);
}

static void
run_once (void)
{
  depth = 0;
  pruned = FALSE;
  back_slot = NULL;
  result = 0;
  memset (runs, 0, sizeof runs);
  for (int i = 0; i < 2; i++)
    {
      *stacks[i] = clean[i];
      memset (stacks[i]->slots, 0, SLOTS_SEEN * sizeof (SatinSlot_));
    }
  begin_thread (OWNER, owner);
  begin_thread (THIEF, thief);
  switch_to (decide ());
}

static void
check_end (void)
{
  if (!threads[OWNER].finished || !threads[THIEF].finished)
    {
      violation = "somebody waits for ever";
      return;
    }
  for (int i = 0; i < program->leaves; i++)
    if (runs[i] != 1)
      violation = runs[i] == 0 ? "a leaf did not run" : "a leaf ran twice";
  if (result != program->expected)
    violation = "the result is wrong";
  if (stacks[OWNER]->split != stacks[OWNER]->slots || stacks[OWNER]->slots[0].job != NULL)
    violation = "something stayed public";
}

/* The next schedule in the order of the search. FALSE: that was the last. */
static gboolean
backtrack (void)
{
  while (choices->len > 0)
    {
      Choice *last = &g_array_index (choices, Choice, choices->len - 1);

      if (!last->tried_both)
        {
          *last = (Choice){ THIEF, TRUE };
          return TRUE;
        }
      g_array_set_size (choices, choices->len - 1);
    }
  return FALSE;
}

/* TRUE: nothing is wrong under any interleaving. */
static gboolean
explore (const Program *what, guint64 *n_runs)
{
  program = what;
  violation = NULL;
  *n_runs = 0;
  memset (states, 0, sizeof *states << STATES_BITS);
  n_states = 0;
  g_array_set_size (choices, 0);
  do
    {
      run_once ();
      ++*n_runs;
      if (!pruned && violation == NULL)
        check_end ();
    }
  while (violation == NULL && backtrack ());
  return violation == NULL;
}

/* A stack_ask whose flag was taken before it stored the guard: the next slow function sets the
 * guard right, so that inlined code takes the fast way again. */
static gboolean
late_ask_is_repaired (void)
{
  Stack *stack = stacks[OWNER];
  SatinSlot_ *self = stack->slots + 1;

  *stack = clean[OWNER];
  self->parent = PARENT_ORIGIN;
  self->state = SLOT_STARTED;
  stack->open.guard = STACK_ALL;
  stack_catch_up (stack, self, self + 1, self + 1);
  return stack->open.guard == stack->split_own;
}

static void
set_up (void)
{
  choices = g_array_new (FALSE, FALSE, sizeof (Choice));
  states = g_new (guint64, G_GUINT64_CONSTANT (1) << STATES_BITS);
  pthread_condattr_init (&engine.cond_clock);
  for (int i = 0; i < 2; i++)
    {
      threads[i].c_stack = g_malloc (STACK_BYTES);
      stacks[i] = stack_new (&engine, (guint)i, ENGINE_STACK_BYTES_MIN);
      g_assert (stacks[i] != NULL);
      clean[i] = *stacks[i];
    }
}

int
main (void)
{
  guint n = G_N_ELEMENTS (programs), failures = 0;
  guint64 n_runs;

  if (IS_SANITIZED)
    {
      printf ("1..0 # SKIP the sanitizers do not know these coroutines\n");
      return 0;
    }
  set_up ();
#ifdef SATIN_PLANT
  for (guint i = 0; i < n && failures == 0; i++)
    if (!explore (&programs[i], &n_runs))
      {
        failures++;
        printf ("# %s after %" G_GUINT64_FORMAT " runs of '%s'\n", violation, n_runs,
                programs[i].name);
      }
  printf ("%s 1 - the planted bug " SATIN_PLANT " is found\n1..1\n",
          failures > 0 ? "ok" : "not ok");
  return failures == 0;
#else
  for (guint i = 0; i < n; i++)
    {
      gboolean good = explore (&programs[i], &n_runs);

      failures += !good;
      if (!good)
        printf ("# %s\n", violation);
      printf ("%s %u - %s: %u states, %" G_GUINT64_FORMAT " runs\n", good ? "ok" : "not ok", i + 1,
              programs[i].name, n_states, n_runs);
    }
  failures += !late_ask_is_repaired ();
  printf ("%s %u - a guard without a flag is set right\n", late_ask_is_repaired () ? "ok" : "not ok",
          n + 1);
  printf ("1..%u\n", n + 1);
  return failures > 0;
#endif
}
