/* SPDX-License-Identifier: BSD-3-Clause */
/* A page that all processes of one measurement share: where two of them tell each other what
 * happened when. The environment's BENCH_SHARED names the file. Any thread. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SHARED_SAMPLES_MAX 10000

typedef struct
{
  int64_t begun;                       /* atomic: how many probes have begun */
  int64_t samples;                     /* atomic: how many are in `took_ns` */
  int64_t took_ns[SHARED_SAMPLES_MAX]; /* request to job */
  int64_t request_bytes, reply_bytes;  /* of the last sample */
} Shared;

/* The page; the program ends with a sentence when there is none. */
Shared *shared (void);

/* Nanoseconds of the monotonic clock, the same in all processes. */
int64_t shared_now (void);

/* Sorts the samples and returns what `share` (0 to 1) of them stay below. */
int64_t shared_percentile (int64_t *samples, int64_t n, double share);
