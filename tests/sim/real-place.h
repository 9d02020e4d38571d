/* SPDX-License-Identifier: BSD-3-Clause */
/* The place of the checkpoint of a run: a folder of its own on a disk that ignores calls of the
 * threads of ended processes and may lose what was not synced (disk.h). Each sync takes virtual
 * time. */
#pragma once

#include "sim-private.h"
#include "threads.h"

typedef struct
{
  char *folder, *target, *delta;
  guint64 seen[2]; /* The states of the two files when they were last read. */
  Store acknowledged;
  guint n_terms;
} RealPlace;

/* The `data` of each process's threads begins with this. */
typedef struct
{
  Process *process;
} RealOwner;

/* Called after each step of a thread that may have published: reads the file if it has changed, for
 * the checks. */
void real_place_look (Sim *sim);
/* Records as acknowledged all that a scribe has reported as published. */
void real_place_acknowledge (Sim *sim);
/* Loses what was not synced, and checks that everything acknowledged is still there. */
void real_place_lose_power (Sim *sim);
