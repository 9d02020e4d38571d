/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs for the tests of the engine, each with its serial twin, and a table of them. */
#pragma once

#include <satin.h>

#include "exchange.h"
#include "record.h"

SATIN_RECORD (Board, (int32_t, n), (int32_t, row), (int8_t, columns, 16))
SATIN_RECORD (Pair, (int64_t, low), (int64_t, high))
SATIN_RECORD (Wide, (Pair, pair), (int64_t, numbers, 64))
SATIN_RECORD (Progress, (int32_t, step), (int64_t, sum))
SATIN_RECORD (Story, (int32_t, step), (SatinBytes, text), (int64_t, marks, 20))

SATIN_JOB_DECLARE (fib, int64_t, (int32_t, n));
SATIN_JOB_DECLARE (queens, int64_t, (Board, board));
SATIN_JOB_DECLARE (phases, int64_t, (int32_t, depth), (int32_t, seed));
SATIN_JOB_DECLARE (wide, Wide, (int32_t, depth), (Wide, in));
SATIN_JOB_DECLARE (text, SatinBytes, (int32_t, depth), (SatinBytes, prefix));
SATIN_JOB_DECLARE (calls, int64_t, (int32_t, n));
SATIN_JOB_DECLARE (is_even, uint8_t, (int32_t, n));
SATIN_JOB_DECLARE (is_odd, uint8_t, (int32_t, n));
SATIN_JOB_DECLARE (comb, int64_t, (int32_t, depth));
SATIN_JOB_DECLARE (race, int64_t, (int32_t, depth), (int32_t, seed));
SATIN_JOB_DECLARE (eight, int64_t, (int8_t, a), (uint8_t, b), (int16_t, c), (uint16_t, d),
                   (int32_t, e), (uint32_t, f), (int64_t, g), (double, h));
SATIN_JOB_DECLARE (steps, int64_t, (int32_t, depth), (int32_t, n), (int32_t, seed));
SATIN_JOB_DECLARE (story, SatinBytes, (int32_t, n));

enum
{
  JOB_FIB,
  JOB_QUEENS,
  JOB_PHASES,
  JOB_WIDE,
  JOB_TEXT,
  JOB_CALLS,
  JOB_IS_EVEN,
  JOB_IS_ODD,
  JOB_COMB,
  JOB_EIGHT,
  JOB_STEPS,
  JOB_STORY,
  JOB_RACE
};
extern const SatinJob *const engine_test_jobs[];

int64_t serial_fib (int32_t n);
int64_t serial_queens (Board board);
int64_t serial_phases (int32_t depth, int32_t seed);
Wide serial_wide (int32_t depth, Wide in);
char *serial_text (int32_t depth, const char *prefix);
int64_t serial_calls (int32_t n);
int64_t serial_comb (int32_t depth);
/* The state of `steps` after step number `step`; the last one is also its result. */
Progress serial_progress (int32_t depth, int32_t n, int32_t seed, int32_t step);
char *serial_story (int32_t n);
int64_t serial_race (int32_t depth, int32_t seed);

/* How long each leaf of `phases` and `steps` spins, which leaves time to thieves. */
extern int engine_test_leaf_spins;
/* The number of leaves that may run before all others wait for the gate to open; negative: no
 * gate. */
void engine_test_gate (int leaves);
/* TRUE: that many leaves have begun. */
gboolean engine_test_gate_reached (void);

/* (transfer full) The encoded serial result of any of the jobs above with these encoded
 * arguments. */
GBytes *serial_encoded (guint32 job, GBytes *args);
/* (transfer full) The same for the state that `steps` has kept after this many children. */
GBytes *serial_kept (GBytes *args, guint32 children);

/* (transfer full) The encoded arguments of the job at the end of `numbers` below this root; sets
 * *job. */
GBytes *serial_args_at (guint32 root, GBytes *args, const guint32 *numbers, guint n, guint32 *job);
