/* SPDX-License-Identifier: BSD-3-Clause */
/* A page that all processes of one measurement share: two of them use it to exchange times.
 * BENCH_SHARED in the environment names its file. Any thread. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SHARED_SAMPLES_MAX 10000

typedef struct
{
  int64_t begun;                       /* atomic: how many probes have begun */
  int64_t samples;                     /* atomic: the number of values in `took_ns` */
  int64_t took_ns[SHARED_SAMPLES_MAX]; /* from request to job */
  int64_t request_bytes, reply_bytes;  /* of the last sample */
} Shared;

/* The page. If there is none, the program ends with a message. */
Shared *shared (void);

/* Nanoseconds of the monotonic clock, the same in all processes. */
int64_t shared_now (void);

/* Sorts the samples and returns their percentile `share` (0 to 1). */
int64_t shared_percentile (int64_t *samples, int64_t n, double share);
