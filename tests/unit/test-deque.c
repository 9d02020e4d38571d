/* SPDX-License-Identifier: BSD-3-Clause */
/* All interleavings of the deque (explorer.h). An owner runs small programs of real jobs (the
 * inlined code of satin.h, frame.c, stack.c); a thief claims, runs or gives back. Waits are
 * replaced here; test-leapfrog has the real ones.
 *
 * At each end every leaf has run exactly once, the result is right, no thread waits for ever, and
 * the marks are closed. Compiled with a planted bug (SATIN_PLANT) the search must find a
 * violation. */
#include "config.h"

#include "deque-programs.h"
#include "engine.h"
#include "explorer.h"
#include "sched/wait.h"
#include "sched/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_SEEN 12 /* no program uses more slots of a stack than this */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED TRUE
#else
#define IS_SANITIZED FALSE
#endif

static const Program *program;
static Engine engine;
static Stack *stacks[2], clean[2];
static SatinSlot_ *back_slot; /* the list of jobs that came back, of length one */
static uint64_t result;

/* The thief's own stack is a function of what it has read. */
static guint64
state_key (guint64 key)
{
  const Stack *stack = stacks[OWNER];

  key = explorer_mix (explorer_mix (key, stack->shared.tt),
                      (guint64)(stack->shared.split - stack->memory.slots));
  key = explorer_mix (explorer_mix (key, stack->shared.flags),
                      (guint64)(guintptr)stack->open.guard);
  for (int i = 0; i < SLOTS_SEEN; i++)
    {
      const SatinSlot_ *slot = &stack->memory.slots[i];

      key = explorer_mix (explorer_mix (key, slot->state), slot->parent);
      key = explorer_mix (key, *(const guint64 *)slot->payload);
      key = explorer_mix (key, *(const guint64 *)(slot->payload + 8));
    }
  for (int i = 0; i < LEAVES_MAX; i++)
    key = explorer_mix (key, (guint64)runs[i]);
  return explorer_mix (key, (guint64)(guintptr)back_slot);
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
      guint64 seen = explorer_steps_of_other ();
      guint32 state = SLOT_STATE (slot_state (slot));

      if (state == SLOT_DONE || state == SLOT_STARTED)
        return;
      if (stack_flags (stack) != 0)
        wait_serve (stack, self, top, top);
      if (!run_back (stack, self, first, top))
        explorer_block (seen);
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

/* Writes a job into a slot as a worker does, and runs it. */
static SatinSlot_ *
run_job (Stack *stack, const SatinSlot_ *what)
{
  SatinSlot_ *origin = stack->memory.slots, *job = origin + 1;

  origin->parent = PARENT_ORIGIN;
  origin->state = KIND_ORIGIN | SLOT_STARTED;
  job->job = what->job;
  memcpy (job->payload, what->payload, sizeof job->payload);
  job->parent = (guint32)(guintptr)origin | PARENT_ORIGIN;
  job->state = SLOT_STARTED;
  slot_run (stack, job, job + 1);
  stack_close (stack, origin);
  return job;
}

static void
owner (void)
{
  SatinSlot_ root = { .job = program->root };
  SatinSlot_ *job = run_job (stacks[OWNER], &root);

  memcpy (&result, slot_result (job), sizeof result);
  explorer_finish ();
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
    explorer_fail ("a claimed slot is not ready");
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
      guint64 seen = explorer_steps_of_other ();
      SatinSlot_ *slot = claim (&dry), *job;

      if (slot == NULL)
        {
          if (dry)
            stack_ask (stacks[OWNER], STACK_FLAG_MOVE);
          if (!explorer_has_finished (OWNER))
            explorer_block (seen);
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
      slot_finish (slot, SLOT_DONE);
    }
  explorer_finish ();
}

/* ---- runs ---- */

static void
begin (void)
{
  back_slot = NULL;
  result = 0;
  memset (runs, 0, sizeof runs);
  for (int i = 0; i < 2; i++)
    {
      *stacks[i] = clean[i];
      memset (stacks[i]->memory.slots, 0, SLOTS_SEEN * sizeof (SatinSlot_));
    }
}

static const char *
check_end (void)
{
  for (int i = 0; i < program->leaves; i++)
    if (runs[i] != 1)
      return runs[i] == 0 ? "a leaf did not run" : "a leaf ran twice";
  if (result != program->expected)
    return "the result is wrong";
  if (stacks[OWNER]->shared.split != stacks[OWNER]->memory.slots
      || stacks[OWNER]->memory.slots[0].job != NULL)
    return "something stayed public";
  return NULL;
}

/* NULL if all interleavings are right, else the error. */
static const char *
explore (const Program *what, guint64 *n_runs, guint *n_states)
{
  static const ExplorerWorld world = { begin, { owner, thief }, state_key, check_end };

  program = what;
  return explorer_explore (&world, 0, n_runs, n_states);
}

#ifndef SATIN_PLANT
static gboolean (*look) (void); /* what the owner does; TRUE: it has the request */
static gboolean has_request;

static gboolean
take_flags (void)
{
  return (stack_take_flags (stacks[OWNER]) & STACK_FLAG_MOVE) != 0;
}

static gboolean
set_guard (void)
{
  stack_set_guard (stacks[OWNER]);
  return FALSE;
}

static void
owner_that_looks (void)
{
  has_request = look ();
  explorer_finish ();
}

static void
thief_that_asks (void)
{
  stack_ask (stacks[OWNER], STACK_FLAG_MOVE);
  explorer_finish ();
}

static void
begin_request (void)
{
  begin ();
  has_request = FALSE;
  stacks[OWNER]->shared.flags = STACK_FLAG_SCAN;
  stacks[OWNER]->open.guard = STACK_ALL;
}

static const char *
check_request (void)
{
  const Stack *stack = stacks[OWNER];
  gboolean waits = (stack->shared.flags & STACK_FLAG_MOVE) != 0 && stack->open.guard == STACK_ALL;

  return has_request || waits ? NULL : "no slow path will see a request";
}

/* A thief asks while the owner takes its flags or sets its guard: the owner has the request, or its
 * next spawn or sync takes the slow path. */
static gboolean
no_request_is_lost (void)
{
  static const ExplorerWorld world
      = { begin_request, { owner_that_looks, thief_that_asks }, state_key, check_request };
  static gboolean (*const looks[]) (void) = { take_flags, set_guard };
  gboolean none = TRUE;
  guint64 n_runs;
  guint n_states;

  for (guint i = 0; i < G_N_ELEMENTS (looks); i++)
    {
      look = looks[i];
      none = none && explorer_explore (&world, 0, &n_runs, &n_states) == NULL;
    }
  return none;
}

/* A stack_ask whose flag was cleared before it stored the guard: the next slow function corrects
 * the guard, so that inlined code takes the fast path again. */
static gboolean
late_ask_is_repaired (void)
{
  Stack *stack = stacks[OWNER];
  SatinSlot_ *self = stack->memory.slots + 1;

  *stack = clean[OWNER];
  self->parent = PARENT_ORIGIN;
  self->state = SLOT_STARTED;
  stack->open.guard = STACK_ALL;
  stack_catch_up (stack, self, self + 1, self + 1);
  return stack->open.guard == stack->own.split;
}

/* A finished child stays finished, a dropped one has no result, and no kind changes. */
static gboolean
moves_are_few (void)
{
  gboolean few = TRUE;

  for (guint32 to = SLOT_READY; to <= SLOT_DROPPED; to++)
    few = few && !slot_may_move (SLOT_STARTED, to) && !slot_may_move (SLOT_DONE, to)
          && !slot_may_move (SLOT_DROPPED, to) && !slot_may_move (SLOT_AWAY, KIND_KEPT | to)
          && slot_may_move (SLOT_ABORTED, to) == (to == SLOT_DROPPED)
          && slot_may_move (KIND_KEPT | SLOT_DONE, KIND_KEPT | to) == (to == SLOT_AWAY);
  return few;
}
#endif

static void
set_up (void)
{
  pthread_condattr_init (&engine.cond_clock);
  for (int i = 0; i < 2; i++)
    {
      stacks[i] = stack_new (&engine, (guint)i, ENGINE_STACK_BYTES_MIN);
      g_assert (stacks[i] != NULL);
      clean[i] = *stacks[i];
    }
}

int
main (void)
{
  guint n = G_N_ELEMENTS (programs), failures = 0, n_states;
  const char *wrong;
  guint64 n_runs;

  if (IS_SANITIZED)
    {
      printf ("1..0 # SKIP the sanitizers do not know these coroutines\n");
      return 0;
    }
  set_up ();
#ifdef SATIN_PLANT
  for (guint i = 0; i < n && failures == 0; i++)
    if ((wrong = explore (&programs[i], &n_runs, &n_states)) != NULL)
      {
        failures++;
        printf ("# %s after %" G_GUINT64_FORMAT " runs of '%s'\n", wrong, n_runs, programs[i].name);
      }
  printf ("%s 1 - the planted bug " SATIN_PLANT " is found\n1..1\n",
          failures > 0 ? "ok" : "not ok");
  return failures == 0;
#else
  for (guint i = 0; i < n; i++)
    {
      wrong = explore (&programs[i], &n_runs, &n_states);
      failures += wrong != NULL;
      if (wrong != NULL)
        printf ("# %s\n", wrong);
      printf ("%s %u - %s: %u states, %" G_GUINT64_FORMAT " runs\n",
              wrong == NULL ? "ok" : "not ok", i + 1, programs[i].name, n_states, n_runs);
    }
  failures += !late_ask_is_repaired ();
  printf ("%s %u - a guard without a flag is set right\n",
          late_ask_is_repaired () ? "ok" : "not ok", n + 1);
  failures += !moves_are_few ();
  printf ("%s %u - a slot makes no move that is not in the table\n",
          moves_are_few () ? "ok" : "not ok", n + 2);
  failures += !no_request_is_lost ();
  printf ("%s %u - a request waits behind the guard until the owner has it\n",
          no_request_is_lost () ? "ok" : "not ok", n + 3);
  printf ("1..%u\n", n + 3);
  return failures > 0;
#endif
}
