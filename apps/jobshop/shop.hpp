/* SPDX-License-Identifier: BSD-3-Clause */
/* A job shop, and what follows from some decisions and an upper bound. Knows nothing of the search.
 *
 * Operation k of job j has the number j x machines + k. A decision says which of two operations on
 * one machine comes first. */
#pragma once

#include <array>
#include <stdint.h>

constexpr int jobs_max = 20, machines_max = 20, operations_max = jobs_max * machines_max;

struct Shop
{
  int32_t jobs, machines;
  std::array<int32_t, operations_max> machine, time; /* by operation */
  std::array<int32_t, operations_max> on; /* the operation of job j on machine m: m x jobs + j */

  int
  operations () const
  {
    return jobs * machines;
  }
};

/* What is known of the schedules that end before a bound: none begins an operation before its head,
 * and none takes less than its tail from its end to the end of all. */
struct State
{
  std::array<int32_t, operations_max> head, tail;
  std::array<uint32_t, operations_max> before; /* the jobs that come first on its machine */
  /* Machines that are to be looked at again: for heads, for tails, for more decisions. */
  uint32_t heads, tails, review;
  int32_t upper; /* for which all that is not marked was concluded */
};

/* Operations `first` and `second` of one machine, whose order is not decided. `least` and `most`
 * are what a schedule takes at least with either order; first, second is the one that takes less.
 */
struct Pair
{
  int first, second;
  int32_t least, most;
};

/* Heads and tails of the jobs alone; nothing is decided. */
void shop_begin (const Shop &shop, State &state);
void shop_decide (const Shop &shop, State &state, int first, int second);
/* Draws all conclusions that it knows of. False: no schedule ends before `upper`. */
bool shop_conclude (const Shop &shop, State &state, int32_t upper);
/* The pairs that are not decided, at most `max`: those whose orders take most first. Returns how
 * many there are; 0: all is decided. */
int shop_pairs (const Shop &shop, const State &state, Pair *pairs, int max);
/* When each operation begins at the earliest, in the order of the decisions. Returns the makespan.
 */
int32_t shop_starts (const Shop &shop, const State &state, int32_t *starts);
/* A good schedule, by tabu search: always the same one. Returns its makespan. */
int32_t shop_first (const Shop &shop, int32_t *starts);
