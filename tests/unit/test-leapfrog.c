/* SPDX-License-Identifier: BSD-3-Clause */
/* All interleavings of waits (explorer.h): a stack that waits leapfrogs, parks, runs what came
 * back, forgets and leaves, while another stack steals from it, returns, and is asked to leave.
 * Both are real stacks (wait.c, abort.c, worker.c, seat.c, next.c, adopt.c, frame.c, stack.c). A
 * third stack, on which nothing runs, has the slot from which the first has taken the root.
 *
 * At each end each job has run at most once, and no job after it was forgotten; the result is
 * right; no stack waits for ever; seats, marks and memory are as at the start. */
#include "config.h"

#include "door/pending.h"
#include "explorer.h"
#include "save/clock.h"
#include "sched/abort.h"
#include "sched/worker.h"
#include "tree/adopt.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#define SLOTS_SEEN 16 /* no program uses more slots of a stack than this */
#define JOBS_MAX 8
#define PREEMPTED_MAX 4 /* of a long program; almost all bugs show with fewer */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED TRUE
#else
#define IS_SANITIZED FALSE
#endif

typedef struct
{
  const char *name;
  const SatinJob *root;
  int jobs; /* numbered jobs whose results are wanted: each runs once */
  uint64_t expected;
  int tries;               /* of the thief */
  const SatinJob
      *foreign; /* (nullable) a job that the thief gets from another node after its first job */
  gboolean gives_back;     /* the thief claims two jobs, and gives back one that was lent */
  gboolean forgets_root;   /* the thief claims a job, and the root is aborted meanwhile */
  gboolean is_long;        /* takes minutes: only `make check-long` tries all its interleavings */
} Program;

static const Program *program;
static Engine engine, clean_engine;
static Stack *stacks[3], clean[3]; /* OWNER, THIEF; the third does not run */
static Held held, other_held;
static int runs[JOBS_MAX];
static gboolean is_forgotten[JOBS_MAX], is_done, is_offered, is_taken, is_forgetting;

enum
{
  LENDER = 2
};

/* Time stands still, so that states can be compared. */
gint64
g_get_monotonic_time (void)
{
  return G_USEC_PER_SEC;
}

Stack *
worker_here (void)
{
  return explorer_running () < 0 ? NULL : stacks[explorer_running ()];
}

/* ---- jobs ---- */

/* The thread's state is only its position and its frames. */
static void
forget_history (guint64 what)
{
  explorer_forget (explorer_mix (what, (guint64)(guintptr)&what));
}

/* Nothing happens until then. */
static void
wait_until (const gboolean *flag)
{
  for (guint64 history = explorer_history (); !*flag; explorer_forget (history))
    sched_yield ();
}

static void
run (uint32_t number)
{
  forget_history (number);
  if (is_forgotten[number] || (is_forgetting && worker_here () == stacks[OWNER]))
    explorer_fail ("a forgotten job begins");
  runs[number]++;
}

SATIN_JOB (leaf, uint64_t, (uint32_t, number))
{
  run (number);
  return UINT64_C (1) << (8 * number);
}

/* Offers all jobs below it on the stack to thieves, as a wait does, and waits for the first
 * theft. */
static void
offer (SatinFrame_ *frame)
{
  Stack *stack = (Stack *)frame->stack;

  stack_catch_up (stack, frame->self, frame->head, frame->head);
  stack_publish (stack, frame->head);
  is_offered = TRUE;
  wait_until (&is_taken); /* test-deque covers all orders up to here */
}

SATIN_JOB (offered, uint64_t, (uint32_t, number))
{
  offer (satin_frame_);
  run (number);
  return UINT64_C (1) << (8 * number);
}

/* Polls for ever; the polls are not part of the thread's state. */
#define POLL(number) \
  for (guint64 history_ = explorer_history ();; explorer_forget (history_)) \
    { \
      if (is_forgotten[number]) \
        explorer_fail ("a forgotten job goes on"); \
      if (!satin_aborted ()) \
        sched_yield (); \
    }

/* Ends only by being aborted. */
SATIN_JOB (endless, uint64_t, (uint32_t, number))
{
  run (number);
  POLL (number)
  return 0;
}

/* Holds allocated bytes until it is aborted. */
SATIN_JOB (hoarding, uint64_t, (uint32_t, number))
{
  static const char byte;

  (void)satin_bytes (g_bytes_new_static (&byte, 1));
  run (number);
  POLL (number)
  return 0;
}

SATIN_JOB (pair, uint64_t, (uint32_t, number))
{
  uint64_t a, b;

  satin_spawn (leaf, &a, number);
  satin_spawn (offered, &b, number + 1);
  satin_sync ();
  return a + 2 * b;
}

/* The first child may be stolen. */
SATIN_JOB (waits, uint64_t)
{
  uint64_t a, b;

  satin_spawn (leaf, &a, 0);
  satin_spawn (offered, &b, 1);
  satin_sync ();
  return a + 2 * b;
}

/* The first child runs, maybe on a thief, until it is aborted. */
SATIN_JOB (forgets, uint64_t)
{
  uint64_t a, b, c;

  satin_spawn (endless, &a, 0);
  satin_spawn (offered, &b, 1);
  if (satin_sync_next () != 1)
    explorer_fail ("a job without an end ended");
  satin_abort ();
  is_forgotten[0] = TRUE;
  satin_spawn (leaf, &c, 2);
  satin_sync ();
  return b + 2 * c;
}

/* Two children, one of which may come back while the other is being aborted. */
SATIN_JOB (forgets_two, uint64_t)
{
  uint64_t a, b, c;

  satin_spawn (leaf, &a, 0);
  satin_spawn (leaf, &b, 1);
  satin_spawn (offered, &c, 2);
  (void)satin_sync_next ();
  is_forgetting = TRUE; /* nothing else is left for this stack */
  satin_abort ();
  is_forgetting = FALSE;
  is_forgotten[0] = is_forgotten[1] = TRUE;
  is_done = TRUE;
  return UINT64_C (1) << 16;
}

/* Runs on a thief. The child that it aborts may run on top of the stack that waits for it. */
SATIN_JOB (forgetting, uint64_t)
{
  uint64_t a, b;

  satin_spawn (hoarding, &a, 0);
  satin_spawn (offered, &b, 1);
  if (satin_sync_next () != 1)
    explorer_fail ("a job without an end ended");
  satin_abort ();
  is_forgotten[0] = TRUE;
  return b;
}

SATIN_JOB (on_top, uint64_t)
{
  uint64_t a, b;

  satin_spawn (forgetting, &a);
  satin_spawn (offered, &b, 2);
  satin_sync ();
  if (stacks[OWNER]->own.fresh->len > 0)
    explorer_fail ("what a forgotten job held is held on");
  return a + b;
}

static const Program programs[] = {
  { .name = "a wait for a thief", .root = &waits_job, .jobs = 2, .expected = 0x201, .tries = 1 },
  { .name = "a stolen job is forgotten",
    .root = &forgets_job,
    .jobs = 3,
    .expected = 0x020100,
    .tries = 1 },
  { .name = "one is forgotten, another comes back",
    .root = &forgets_two_job,
    .jobs = 3,
    .expected = 0x010000,
    .gives_back = TRUE },
  { .name = "a thief that goes on to other work",
    .root = &waits_job,
    .jobs = 2,
    .expected = 0x201,
    .tries = 1,
    .foreign = &pair_job,
    .is_long = TRUE },
  { .name = "what runs on top is forgotten",
    .root = &on_top_job,
    .jobs = 3,
    .expected = 0x010100,
    .tries = 1,
    .is_long = TRUE },
  { .name = "what waits is forgotten", .root = &waits_job, .forgets_root = TRUE, .is_long = TRUE },
};

/* ---- the threads ---- */

static void
owner (void)
{
  worker_run_stolen (stacks[OWNER], stacks[LENDER], &stacks[LENDER]->memory.slots[1],
                     stacks[OWNER]->memory.slots, NULL);
  explorer_finish ();
}

/* Runs the job like a worker that took it from the inbox. */
static void
run_foreign (Stack *stack)
{
  Origin origin = { .held = &other_held };
  SatinSlot_ what = { .job = program->foreign }, *job;

  memcpy (what.payload, &(uint32_t){ 4 }, sizeof (uint32_t));
  job = worker_place (stack->memory.slots, &origin, &what);
  clock_begin_job (stack, job - 1);
  slot_run (stack, job, job + 1);
  stack_close (stack, stack->memory.slots);
  (void)clock_end_job (stack, job - 1);
}

static gboolean
steal (Stack *stack)
{
  Stack *victim = stacks[OWNER];
  SatinSlot_ *slot;

  if (!worker_claim_back (&engine, stack->number, &victim, &slot))
    {
      slot = worker_claim (stack, victim);
      if (slot != NULL)
        slot_set_state (slot, SLOT_STOLEN_BY (stack->number));
    }
  if (slot == NULL)
    return FALSE;
  is_taken = TRUE;
  worker_run_stolen (stack, victim, slot, stack->memory.slots, NULL);
  return TRUE;
}

/* Keeps one claimed job, lends the other, which comes back, and then gives up the first. */
static void
give_back (Stack *stack)
{
  Stack *victim = stacks[OWNER];
  SatinSlot_ *slot[2] = { NULL };
  gboolean dry;
  guint64 loan = 0;

  for (int i = 0; i < 2 && !explorer_has_finished (OWNER);)
    {
      guint64 seen = explorer_steps_of_other (), history = explorer_history ();

      slot[i] = stack_claim (victim, &dry);
      if (slot[i] != NULL)
        {
          slot_set_state (slot[i++], SLOT_STOLEN_BY (stack->number));
          is_taken = i == 2;
        }
      else
        {
          explorer_forget (history);
          explorer_block (seen);
        }
      if (is_done)
        break;
    }
  if (slot[1] != NULL)
    {
      const Pending pending = { .stack = victim, .slot = slot[1] };
      loan = pending_begin (&engine, &pending, NULL);
    }
  if (loan != 0)
    (void)pending_return (&engine, loan);
  if (slot[0] != NULL)
    worker_give_back (victim, slot[0]);
}

/* Claims a job of the root and does not begin it. The root's stack is asked for more work, and then
 * the root's lender aborts the root: the stack has to take the job back, and to leave. */
static void
forget_root (Stack *stack)
{
  Stack *victim = stacks[OWNER];
  SatinSlot_ *root = &stacks[LENDER]->memory.slots[1], *slot = NULL;
  gboolean dry;

  while (slot == NULL)
    {
      guint64 seen = explorer_steps_of_other (), history = explorer_history ();

      slot = stack_claim (victim, &dry);
      if (slot == NULL)
        {
          explorer_forget (history);
          explorer_block (seen);
        }
    }
  slot_set_state (slot, SLOT_STOLEN_BY (stack->number));
  is_taken = TRUE;
  for (guint64 history = explorer_history (); !stack_is_parked (victim); explorer_forget (history))
    sched_yield ();
  stack_ask (victim, STACK_FLAG_MOVE);
  worker_wake (victim, NULL);
  slot_set_state (root, SLOT_ABORTED_BY (OWNER)); /* as abort.c does it */
  stack_ask (victim, STACK_FLAG_ABORT);
  worker_wake (victim, NULL);
  for (guint64 history = explorer_history (); SLOT_STATE (slot_state (slot)) != SLOT_ABORTED;
       explorer_forget (history))
    {
      if (explorer_has_finished (OWNER))
        explorer_fail ("it ended with a job elsewhere");
      sched_yield ();
    }
  abort_answer (victim, slot);
}

static void
thief (void)
{
  Stack *stack = stacks[THIEF];

  wait_until (&is_offered);
  if (program->gives_back)
    give_back (stack);
  if (program->forgets_root)
    forget_root (stack);
  for (int i = 0; i < program->tries && !explorer_has_finished (OWNER);)
    {
      guint64 seen = explorer_steps_of_other (), history = explorer_history ();

      if (steal (stack))
        {
          forget_history ((guint64)++i);
          continue;
        }
      explorer_forget (history);
      explorer_block (seen);
    }
  if (program->foreign != NULL)
    run_foreign (stack);
  explorer_finish ();
}

/* ---- runs ---- */

static guint64
stack_key (guint64 key, const Stack *stack)
{
  key = explorer_mix (explorer_mix (key, stack->shared.tt),
                      (guint64)(stack->shared.split - stack->memory.slots));
  key = explorer_mix (explorer_mix (key, stack->shared.flags),
                      (guint64)(guintptr)stack->open.guard);
  key = explorer_mix (explorer_mix (key, (guint64)(guintptr)stack->shared.awaited),
                      stack->seat.state);
  key = explorer_mix (explorer_mix (key, (guint64)(guintptr)stack->own.mark),
                      stack->own.fresh->len);
  for (int i = 0; i < SLOTS_SEEN; i++)
    {
      const SatinSlot_ *slot = &stack->memory.slots[i];

      key = explorer_mix (explorer_mix (key, slot->state), slot->parent);
      key = explorer_mix (key, *(const guint64 *)slot->payload);
      key = explorer_mix (key, *(const guint64 *)(slot->payload + 8));
    }
  return key;
}

static guint64
state_key (guint64 key)
{
  key = stack_key (stack_key (key, stacks[OWNER]), stacks[THIEF]);
  key = explorer_mix (explorer_mix (key, stacks[LENDER]->memory.slots[1].state), engine.seats.free);
  key = explorer_mix (explorer_mix (key, engine.seats.n_parked), engine.seats.ready.length);
  key = explorer_mix (explorer_mix (key, engine.back.n),
                      g_hash_table_size (engine.pending.by_number));
  for (int i = 0; i < JOBS_MAX; i++)
    key = explorer_mix (explorer_mix (key, (guint64)runs[i]), (guint64)is_forgotten[i]);
  return explorer_mix (key, (guint64)(is_done + 2 * is_offered + 4 * is_taken + 8 * is_forgetting));
}

static void
clear_stack (int number)
{
  Stack *stack = stacks[number];
  *stack = clean[number];
  memset (stack->memory.slots, 0, SLOTS_SEEN * sizeof (SatinSlot_));
  g_ptr_array_set_size (stack->own.fresh, 0);
  g_ptr_array_set_size (stack->taken.origins, 0);
  g_array_set_size (stack->own.watch, 0);
  g_array_set_size (stack->own.nexts, 0);
}

static void
clear_engine (void)
{
  EngineEvent event;

  while (mailbox_next (&engine, &event))
    engine_event_clear (&event);
  g_queue_clear (&engine.seats.ready);
  g_array_set_size (engine.back.list, 0);
  g_hash_table_remove_all (engine.pending.by_slot);
  g_hash_table_remove_all (engine.pending.by_number);
  engine = clean_engine;
}

/* The root lies in a slot of the third stack and belongs to the first stack. */
static void
begin (void)
{
  SatinSlot_ what = { .job = program->root }, *job;
  Origin origin = { .held = &held };

  clear_engine ();
  for (int i = 0; i < 3; i++)
    clear_stack (i);
  memset (runs, 0, sizeof runs);
  memset (is_forgotten, 0, sizeof is_forgotten);
  is_done = is_offered = is_taken = is_forgetting = FALSE;
  job = worker_place (stacks[LENDER]->memory.slots, &origin, &what);
  clock_begin_job (stacks[LENDER], job - 1);
  job->state = SLOT_STOLEN_BY (OWNER);
}

static const char *
check_result (void)
{
  SatinSlot_ *slot = &stacks[LENDER]->memory.slots[1];
  uint64_t result;

  if (program->forgets_root)
    return SLOT_STATE (slot->state) == SLOT_DROPPED ? NULL : "the root was not left";
  memcpy (&result, slot_result (slot), sizeof result);
  if (SLOT_STATE (slot->state) != SLOT_DONE)
    return "the root has no end";
  if (result != program->expected)
    return "the result is wrong";
  for (int i = 0; i < program->jobs; i++)
    if (runs[i] == 0 && !is_forgotten[i])
      return "a job did not run";
  return NULL;
}

static const char *
check_end (void)
{
  for (int i = 0; i < JOBS_MAX; i++)
    if (runs[i] > 1)
      return "a job ran twice";
  for (int i = 0; i < 2; i++)
    if (stacks[i]->shared.split != stacks[i]->memory.slots)
      return "something stayed public";
    else if (stacks[i]->own.fresh->len > 0 || stacks[i]->own.mark != NULL
             || stacks[i]->shared.awaited != NULL)
      return "a stack is not as it was";
  if (engine.seats.free > 0 || engine.seats.n_parked > 0 || engine.seats.ready.length > 0
      || engine.seats.busy > 0)
    return "seats are not as they were";
  return check_result ();
}

static const char *
explore (const Program *what, guint preempted_max, guint64 *n_runs, guint *n_states)
{
  static const ExplorerWorld world = { begin, { owner, thief }, state_key, check_end };

  program = what;
  return explorer_explore (&world, preempted_max, n_runs, n_states);
}

static void
set_up (void)
{
  static Stack *all[4];
  static Loan loan = { .weight = 1.0, .path = "" };

  engine.config.workers = engine.n_stacks = 2; /* the third stack never gets a seat */
  engine.config.stacks_max = 2;
  engine.stacks = all;
  engine.back.list = g_array_new (FALSE, FALSE, sizeof (Back));
  engine.pending.by_number
      = g_hash_table_new_full (g_int64_hash, g_int64_equal, NULL, pending_free);
  engine.pending.by_slot = g_hash_table_new (g_direct_hash, g_direct_equal);
  held.loan = other_held.loan = &loan;
  pthread_condattr_init (&engine.cond_clock);
  for (int i = 0; i < 3; i++)
    {
      all[i] = stacks[i] = stack_new (&engine, (guint)i, ENGINE_STACK_BYTES_MIN);
      g_assert (stacks[i] != NULL);
      clean[i] = *stacks[i];
    }
  clean_engine = engine;
}

/* With a number as argument: only that program, with all interleavings. */
int
main (int argc, char **argv)
{
  guint n = G_N_ELEMENTS (programs), failures = 0, n_states;
  guint only = argc > 1 ? (guint)g_ascii_strtoull (argv[1], NULL, 10) : 0;
  guint64 n_runs;

  if (IS_SANITIZED)
    {
      printf ("1..0 # SKIP the sanitizers do not know these coroutines\n");
      return 0;
    }
  set_up ();
  for (guint i = 0; i < n; i++)
    {
      if (only > 0 && i + 1 != only)
        continue;
      gboolean is_short = programs[i].is_long && only == 0 && g_getenv ("SATIN_LONG") == NULL;
      const char *wrong = explore (&programs[i], is_short ? PREEMPTED_MAX : 0, &n_runs, &n_states);

      failures += wrong != NULL;
      if (wrong != NULL)
        printf ("# %s\n", wrong);
      printf ("%s %u - %s: %u states, %" G_GUINT64_FORMAT " runs\n",
              wrong == NULL ? "ok" : "not ok", i + 1, programs[i].name, n_states, n_runs);
      fflush (stdout);
    }
  printf ("1..%u\n", n);
  return failures > 0;
}
