/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the checkpoint of a run stands: a folder of its own, on a disk that refuses what threads of
 * dead processes do, and may lose what was not synced (disk.h). Each sync takes virtual time. */
#pragma once

#include "sim-private.h"
#include "threads.h"

typedef struct
{
  char *folder, *target, *delta;
  guint64 seen[2]; /* the two files, as they were when they were read last */
  Store acknowledged;
  guint n_terms;
} RealPlace;

/* `data` of each process's threads begins with this. */
typedef struct
{
  Process *process;
} RealOwner;

/* After each step of a thread that may have published: reads the file if it is another one; that is
 * what the checks look at. */
void real_place_look (Sim *sim);
/* All stands there that a scribe has said to be published. */
void real_place_acknowledge (Sim *sim);
/* All that was acknowledged is there afterwards. */
void real_place_lose_power (Sim *sim);
