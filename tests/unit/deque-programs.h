/* SPDX-License-Identifier: BSD-3-Clause */
/* The jobs and programs that test-deque runs in all interleavings. Each leaf has a byte of the
 * result. */
#pragma once

#include "engine.h"
#include "satin.h"

#define LEAVES_MAX 8

typedef struct
{
  const char *name;
  const SatinJob *root;
  int leaves;
  uint64_t expected;
  int tries;     /* of the thief */
  int give_back; /* so many claimed jobs go back first */
} Program;

static int runs[LEAVES_MAX]; /* how often each leaf ran */

SATIN_JOB (leaf, uint64_t, (uint32_t, number))
{
  runs[number]++;
  return UINT64_C (1) << (8 * number);
}

SATIN_JOB (pair, uint64_t, (uint32_t, number))
{
  uint64_t a, b;

  satin_spawn (leaf, &a, number);
  satin_spawn (leaf, &b, number + 1);
  satin_sync ();
  return a + 2 * b;
}

SATIN_JOB (triple, uint64_t)
{
  uint64_t a, b, c;

  satin_spawn (leaf, &a, 0);
  satin_spawn (leaf, &b, 1);
  satin_spawn (leaf, &c, 2);
  satin_sync ();
  return a + 2 * b + 3 * c;
}

SATIN_JOB (phases, uint64_t)
{
  uint64_t a, b, c, d;

  satin_spawn (leaf, &a, 0);
  satin_spawn (leaf, &b, 1);
  satin_sync ();
  satin_spawn (leaf, &c, 2);
  satin_spawn (leaf, &d, 3);
  satin_sync ();
  return a + 2 * b + 3 * c + 4 * d;
}

SATIN_JOB (called, uint64_t)
{
  uint64_t a, b, c;

  satin_spawn (leaf, &a, 0);
  b = satin_call (leaf, 1);
  satin_spawn (leaf, &c, 2);
  satin_sync ();
  return a + 2 * b + 3 * c;
}

SATIN_JOB (three, uint64_t, (uint32_t, number))
{
  uint64_t a, b, c;

  satin_spawn (leaf, &a, number);
  satin_sync ();
  satin_spawn (leaf, &b, number + 1);
  satin_spawn (leaf, &c, number + 2);
  satin_sync ();
  return a + 2 * b + 3 * c;
}

/* The second job uses the slots of the first job's finished phase again. */
SATIN_JOB (again, uint64_t)
{
  uint64_t a, b;

  a = satin_call (three, 0);
  b = satin_call (pair, 3);
  return a + b;
}

/* The children of the first pair use the slots of the second pair's children again. */
SATIN_JOB (nested, uint64_t)
{
  uint64_t a, b;

  satin_spawn (pair, &a, 0);
  satin_spawn (pair, &b, 2);
  satin_sync ();
  return a + 3 * b;
}

SATIN_JOB (chain, uint64_t)
{
  uint64_t a, b;

  a = satin_call (pair, 0);
  b = satin_call (pair, 2);
  return a + 3 * b;
}

/* A leaf that offers all jobs below it on the stack to thieves, as a wait does. */
SATIN_JOB (offer, uint64_t, (uint32_t, number))
{
  Stack *stack = (Stack *)satin_frame_->stack;

  stack_catch_up (stack, satin_frame_->self, satin_frame_->head, satin_frame_->head);
  stack_publish (stack, satin_frame_->head);
  runs[number]++;
  return UINT64_C (1) << (8 * number);
}

SATIN_JOB (offered_pair, uint64_t, (uint32_t, number))
{
  uint64_t a, b;

  satin_spawn (leaf, &a, number);
  satin_spawn (offer, &b, number + 1);
  satin_sync ();
  return a + 2 * b;
}

/* The second phase uses the slots of the pair's children, which may have been public. */
SATIN_JOB (after, uint64_t)
{
  uint64_t a, b, c;

  satin_spawn (offered_pair, &a, 0);
  satin_sync ();
  satin_spawn (leaf, &b, 2);
  satin_spawn (leaf, &c, 3);
  satin_sync ();
  return a + 3 * b + 4 * c;
}

/* A job in a call finds a child below it that has not started. The next child is written into the
 * slot that the call has left. */
SATIN_JOB (around, uint64_t)
{
  uint64_t a, b, c;

  satin_spawn (leaf, &a, 0);
  b = satin_call (offered_pair, 1);
  satin_spawn (leaf, &c, 3);
  satin_sync ();
  return a + b + 3 * c;
}

/* Two levels end without accessing the deque. The first child runs after them. */
SATIN_JOB (deep, uint64_t)
{
  uint64_t a, b;

  satin_spawn (leaf, &a, 3);
  satin_spawn (triple, &b);
  satin_sync ();
  return a + b;
}

SATIN_JOB (deeper, uint64_t)
{
  uint64_t a, b;

  satin_spawn (leaf, &a, 4);
  satin_spawn (deep, &b);
  satin_sync ();
  return a + b;
}

static const Program programs[] = {
  { "a phase after a job with children", &after_job, 4, 0x04030201, 2, 0 },
  { "a call with children between spawns", &around_job, 4, 0x03020101, 2, 0 },
  { "jobs in jobs", &deeper_job, 5, 0x0101030201, 2, 0 },
  { "slots of a finished phase used again", &again_job, 5, 0x0201030201, 2, 0 },
  { "two children", &pair_job, 2, 0x201, 3, 0 },
  { "three children", &triple_job, 3, 0x030201, 3, 0 },
  { "two phases", &phases_job, 4, 0x04030201, 2, 0 },
  { "a call between spawns", &called_job, 3, 0x030201, 3, 0 },
  { "pairs of pairs", &nested_job, 4, 0x06030201, 2, 0 },
  { "one pair after the other", &chain_job, 4, 0x06030201, 2, 0 },
  { "two children, one given back", &pair_job, 2, 0x201, 3, 1 },
  { "three children, two given back", &triple_job, 3, 0x030201, 3, 2 },
  { "two phases, one child given back", &phases_job, 4, 0x04030201, 3, 1 },
};
