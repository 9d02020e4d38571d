/* SPDX-License-Identifier: BSD-3-Clause */
/* See engine-rig.h. */
#include "config.h"

#include "engine-rig.h"

#include "engine-jobs.h"
#include "record.h"

#include <time.h>

static void
wake (void *data)
{
  Rig *self = data, *rig = __atomic_load_n (&self->other, __ATOMIC_ACQUIRE);

  rig = rig != NULL ? rig : self;
  pthread_mutex_lock (&rig->lock);
  rig->woken = TRUE;
  pthread_cond_signal (&rig->cond);
  pthread_mutex_unlock (&rig->lock);
}

static Rig *
make (const SatinJob *const *jobs, guint workers, guint stacks_max, guint64 seed,
      gboolean (*idle) (void *, gint64))
{
  Rig *rig = g_new0 (Rig, 1);
  EngineConfig config
      = { .jobs = jobs,
          .workers = workers,
          .stacks_max = stacks_max,
          .surplus_ms = seed % 2, /* surplus threads end soon, or after the default time */
          .seed = seed,
          .wake = wake,
          .idle = idle,
          .data = rig };
  g_autoptr (GError) error = NULL;

  rig->jobs = jobs;
  pthread_mutex_init (&rig->lock, NULL);
  pthread_cond_init (&rig->cond, NULL);
  rig->stems = config.stems = stems_new ();
  rig->engine = engine_new (&config, &error);
  g_assert_no_error (error);
  return rig;
}

Rig *
rig_new (guint workers, guint stacks_max, guint64 seed)
{
  return make (engine_test_jobs, workers, stacks_max, seed, NULL);
}

Rig *
rig_new_for (const SatinJob *const *jobs, guint workers, guint stacks_max, guint64 seed)
{
  return make (jobs, workers, stacks_max, seed, NULL);
}

Rig *
rig_new_idle (guint workers, gboolean (*idle) (void *, gint64))
{
  return make (engine_test_jobs, workers, 0, 1, idle);
}

void
rig_free (Rig *rig)
{
  engine_free (rig->engine);
  stems_free (rig->stems);
  g_free (rig);
}

void
rig_share (Rig *rig, Rig *with)
{
  __atomic_store_n (&rig->other, with, __ATOMIC_RELEASE);
}

void
rig_start (Rig *rig, guint32 job, const void *args)
{
  g_autoptr (GBytes) encoded = record_encode (rig->jobs[job]->args, args);
  Digest digest = engine_digest (rig->engine, job, encoded);
  g_autoptr (Loan) loan = loan_new (0, "", job, &digest, 1.0, encoded);

  g_assert_true (engine_run (rig->engine, 1, loan));
}

gboolean
rig_next (Rig *rig, EngineEvent *event, gint64 wait_us)
{
  struct timespec until;
  gboolean late = FALSE;

  clock_gettime (CLOCK_REALTIME, &until);
  until.tv_sec += (until.tv_nsec + wait_us * 1000) / 1000000000;
  until.tv_nsec = (until.tv_nsec + wait_us * 1000) % 1000000000;
  while (!engine_next_event (rig->engine, event))
    {
      if (late)
        return FALSE;
      pthread_mutex_lock (&rig->lock);
      while (!rig->woken && !late) /* the wake may be for an event that was already taken */
        late = pthread_cond_timedwait (&rig->cond, &rig->lock, &until) != 0;
      rig->woken = FALSE;
      pthread_mutex_unlock (&rig->lock);
    }
  return TRUE;
}

GBytes *
rig_run (Rig *rig, guint32 job, const void *args)
{
  EngineEvent event;
  GBytes *result = NULL;

  rig_start (rig, job, args);
  while (result == NULL)
    {
      if (!rig_next (rig, &event, 1000000))
        continue;
      if (event.kind == ENGINE_DONE)
        result = g_bytes_ref (event.value);
      engine_event_clear (&event);
    }
  return result;
}

void
rig_await (Rig *rig, EngineEventKind kind, EngineEvent *event)
{
  while (rig_next (rig, event, 60 * G_USEC_PER_SEC))
    {
      if (event->kind == kind)
        return;
      engine_event_clear (event);
    }
  g_error ("event %d did not come", (int)kind);
}

void
rig_fail (const SatinJob *const *jobs, guint32 job, const void *args, const char *at,
          const char *cause)
{
  Rig *rig = rig_new_for (jobs, 1, 0, 1);
  EngineEvent event;

  rig_start (rig, job, args);
  rig_await (rig, ENGINE_FAILED, &event);
  g_assert_true (g_pattern_match_simple (at, event.at));
  g_assert_true (g_pattern_match_simple (cause, event.cause));
  engine_event_clear (&event);
  engine_halt (rig->engine, FALSE);
  rig_await (rig, ENGINE_HALTED, &event);
  engine_event_clear (&event);
  rig_free (rig);
}

int64_t
rig_run_number (Rig *rig, guint32 job, const void *args)
{
  g_autoptr (GBytes) result = rig_run (rig, job, args);
  int64_t value;

  g_assert_true (record_decode (rig->jobs[job]->result, result, &value, NULL));
  return value;
}
