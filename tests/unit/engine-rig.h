/* SPDX-License-Identifier: BSD-3-Clause */
/* A driver for the tests of the engine: sleeps until the mailbox contains something. */
#pragma once

#include "exchange.h"

#include <pthread.h>

typedef struct Rig Rig;
struct Rig
{
  Engine *engine;
  Stems *stems;
  const SatinJob *const *jobs;
  Rig *other; /* This rig is woken instead; NULL: none. */
  pthread_mutex_t lock;
  pthread_cond_t cond;
  gboolean woken;
};

/* Two rigs that share `woken` sleep and wake together. */
void rig_share (Rig *rig, Rig *with);
/* With the jobs of engine-jobs.h, or with another table (borrowed). */
Rig *rig_new (guint workers, guint stacks_max, guint64 seed);
Rig *rig_new_for (const SatinJob *const *jobs, guint workers, guint stacks_max, guint64 seed);
/* The same with this EngineConfig.idle; its data is the rig. */
Rig *rig_new_idle (guint workers, gboolean (*idle) (void *, gint64));
void rig_free (Rig *rig);
/* Starts the job as held job 1 with path "". `args` is the argument struct. */
void rig_start (Rig *rig, guint32 job, const void *args);
/* Takes the next event; waits up to the given time. FALSE: none came. */
gboolean rig_next (Rig *rig, EngineEvent *event, gint64 wait_us);
/* Takes the next event of this kind and drops all others. */
void rig_await (Rig *rig, EngineEventKind kind, EngineEvent *event);
/* Runs one job to its end and returns its encoded result (transfer full). Other events are
 * dropped. */
GBytes *rig_run (Rig *rig, guint32 job, const void *args);
/* The same for a job that returns an int64_t. */
int64_t rig_run_number (Rig *rig, guint32 job, const void *args);
/* Runs one job on a new rig until the job at `at` fails with the message `cause` (both are
 * patterns). */
void rig_fail (const SatinJob *const *jobs, guint32 job, const void *args, const char *at,
               const char *cause);
