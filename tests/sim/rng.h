/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulator's only source of randomness: splitmix64. Each purpose has a state of its own, so
 * that one draw more in one place changes nothing in another. */
#pragma once

#include <glib.h>

typedef struct
{
  guint64 state;
} Rng;

static inline guint64
rng_mix (guint64 x)
{
  x = (x ^ (x >> 30)) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
  return x ^ (x >> 31);
}

static inline guint64
rng_next (Rng *rng)
{
  rng->state += G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
  return rng_mix (rng->state);
}

/* A random number from 0 to n - 1. */
static inline guint64
rng_below (Rng *rng, guint64 n)
{
  return rng_next (rng) % n;
}

static inline guint64
rng_one_of (Rng *rng, const guint64 *values, guint n)
{
  return values[rng_below (rng, n)];
}

static inline guint64
rng_between (Rng *rng, guint64 low, guint64 high)
{
  return low + rng_below (rng, high - low + 1);
}

static inline gboolean
rng_chance (Rng *rng, guint percent)
{
  return rng_below (rng, 100) < percent;
}
