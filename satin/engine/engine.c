/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates and frees the engine, keeps its job table, and asks all stacks to look at news, to scan
 * and to halt. The driver's thread, unless a comment says otherwise. */
#include "config.h"

#include "engine.h"

#include "best.h"
#include "door/crashed.h"
#include "door/pending.h"
#include "os/memory.h"
#include "save/clock.h"
#include "save/scan.h"
#include "sched/seat.h"
#include "sched/worker.h"
#include "tree/adopt.h"

#include <gio/gio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define DEFAULT_STACK_BYTES ENGINE_STACK_BYTES_SANITIZED
#else
#define DEFAULT_STACK_BYTES ENGINE_STACK_BYTES
#endif

static void
held_free (void *data)
{
  Held *held = data;

  record_clear (held->job->args, slot_payload (&held->slot));
  g_free (held->big);
  loan_free (held->loan);
  g_free (held->memory);
}

static void
init_jobs (Engine *engine)
{
  const SatinJob *const *jobs = engine->config.jobs;

  engine->jobs.index = g_hash_table_new (g_direct_hash, g_direct_equal);
  while (jobs[engine->jobs.n] != NULL)
    engine->jobs.n++;
  engine->jobs.schemas = g_new0 (DigestBegun, engine->jobs.n);
  for (guint i = 0; i < engine->jobs.n; i++)
    {
      g_autofree char *args = record_schema (jobs[i]->args);
      g_autofree char *result = record_schema (jobs[i]->result);
      char *text = g_strdup_printf ("%s %s -> %s", jobs[i]->name, args, result);
      g_autoptr (GBytes) schema = g_bytes_new_take (text, strlen (text));
      const GBytes *first[] = { schema };

      digest_begin (&engine->jobs.schemas[i], first, 1);
      g_hash_table_insert (engine->jobs.index, (gpointer)jobs[i], GUINT_TO_POINTER (i + 1));
    }
}

guint
engine_job_index (Engine *engine, const SatinJob *job)
{
  guint index = GPOINTER_TO_UINT (g_hash_table_lookup (engine->jobs.index, job));

  if (index == 0)
    {
      fprintf (stderr, "satin: job '%s' runs but is not listed in SATIN_APP: add &%s_job\n",
               job->name, job->name);
      _Exit (6);
    }
  return index - 1;
}

Digest
engine_digest (Engine *engine, guint32 job, GBytes *args)
{
  const GBytes *parts[] = { args, engine->jobs.constants };

  return digest_after (&engine->jobs.schemas[job], parts, G_N_ELEMENTS (parts));
}

void
engine_set_constants (Engine *engine, const Digest *digest)
{
  g_autoptr (GBytes) constants = g_bytes_new (digest, sizeof *digest);

  if (engine->jobs.constants != NULL && g_bytes_equal (engine->jobs.constants, constants))
    return; /* jobs may be running, and workers read the constants */
  g_clear_pointer (&engine->jobs.constants, g_bytes_unref);
  engine->jobs.constants = g_steal_pointer (&constants);
}

/* The lock is held for less time than a sleep takes. So a thread that finds it taken spins a little
 * first. */
static void
init_short_lock (pthread_mutex_t *lock)
{
  pthread_mutexattr_t kind;

  pthread_mutexattr_init (&kind);
#ifdef __GLIBC__
  pthread_mutexattr_settype (&kind, PTHREAD_MUTEX_ADAPTIVE_NP);
#endif
  pthread_mutex_init (lock, &kind);
  pthread_mutexattr_destroy (&kind);
}

static void
init_locks (Engine *engine)
{
  pthread_condattr_init (&engine->cond_clock);
  pthread_condattr_setclock (&engine->cond_clock, CLOCK_MONOTONIC);
  pthread_mutex_init (&engine->lock, NULL);
  init_short_lock (&engine->back.lock);
  init_short_lock (&engine->pending.lock);
  init_short_lock (&engine->known.lock);
  init_short_lock (&engine->mail.lock);
}

static void
init_config (Engine *engine, const EngineConfig *config)
{
  engine->config = *config;
  engine->config.workers = CLAMP (config->workers, 1, ENGINE_WORKERS_MAX);
  if (config->stacks_max == 0)
    engine->config.stacks_max
        = engine->config.workers * (1 + ENGINE_PARKED_STACKS_PER_SEAT) + ENGINE_PARKED_STACKS_MIN;
  engine->config.stacks_max = MAX (engine->config.stacks_max, engine->config.workers);
  engine->config.surplus_ms = config->surplus_ms == 0 ? ENGINE_SURPLUS_MS : config->surplus_ms;
  engine->c_stack_bytes = config->stack_bytes == 0 ? DEFAULT_STACK_BYTES : config->stack_bytes;
  engine->c_stack_bytes = MAX (engine->c_stack_bytes, ENGINE_STACK_BYTES_MIN);
  engine->lending.random = (guint32)config->seed | 1;
}

Engine *
engine_new (const EngineConfig *config, GError **error)
{
  Engine *engine = g_new0 (Engine, 1);

  crashed_init ();
  init_config (engine, config);
  init_locks (engine);
  init_jobs (engine);
  engine_set_constants (engine, &(Digest){ { 0 } });
  engine->inbox.held = g_hash_table_new_full (g_int64_hash, g_int64_equal, NULL, held_free);
  engine->pending.by_number
      = g_hash_table_new_full (g_int64_hash, g_int64_equal, NULL, pending_free);
  engine->pending.by_slot = g_hash_table_new (g_direct_hash, g_direct_equal);
  engine->back.list = g_array_new (FALSE, FALSE, sizeof (Back));
  engine->known.trie = known_new (config->stems);
  engine->stacks = g_new0 (Stack *, engine->config.stacks_max + 1);
  engine->seats.free = engine->config.workers;
  best_add_listener (engine);
  pthread_mutex_lock (&engine->lock);
  seat_dispatch (engine, engine->config.workers, FALSE);
  pthread_mutex_unlock (&engine->lock);
  if (engine->n_stacks < engine->config.workers)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED,
                   "no memory or threads for %u workers, only for %u", engine->config.workers,
                   engine->n_stacks);
      engine_free (engine);
      return NULL;
    }
  return engine;
}

static void
end_threads (Engine *engine)
{
  pthread_mutex_lock (&engine->lock);
  __atomic_store_n (&engine->orders.ending, TRUE,
                    __ATOMIC_SEQ_CST); /* pairs with seat_engine_ends */
  for (guint i = 0; i < engine->n_stacks; i++)
    pthread_cond_signal (&engine->stacks[i]->seat.cond);
  seat_rouse (engine);
  pthread_mutex_unlock (&engine->lock);
  for (guint i = 0; i < engine->n_stacks; i++)
    if (engine->stacks[i]->seat.has_thread)
      pthread_join (engine->stacks[i]->seat.thread, NULL);
}

void
engine_free (Engine *engine)
{
  EngineEvent event;

  end_threads (engine);
  best_remove_listener (engine);
  for (guint i = 0; i < engine->n_stacks; i++)
    stack_free (engine->stacks[i]);
  g_free (engine->stacks);
  while (engine_next_event (engine, &event))
    engine_event_clear (&event);
  while (g_queue_pop_head_link (&engine->inbox.queue) != NULL)
    ;
  g_hash_table_unref (engine->inbox.held);
  g_hash_table_unref (engine->pending.by_slot);
  g_hash_table_unref (engine->pending.by_number);
  g_hash_table_unref (engine->jobs.index);
  g_array_unref (engine->back.list);
  g_free (engine->lending.from.path);
  known_free (engine->known.trie);
  g_queue_clear (&engine->seats.ready);
  g_queue_clear (&engine->seats.asleep);
  g_free (engine->jobs.schemas);
  g_bytes_unref (engine->jobs.constants);
  pthread_condattr_destroy (&engine->cond_clock);
  g_free (engine);
}

void
engine_known (Engine *engine, const char *path, const Digest *digest, const NodeId *holder,
              guint32 finished)
{
  gboolean entered;

  pthread_mutex_lock (&engine->known.lock);
  entered = known_insert (engine->known.trie, path, digest, holder, finished);
  known_here_count (&engine->known);
  pthread_mutex_unlock (&engine->known.lock);
  if (!entered)
    return;
  pthread_mutex_lock (&engine->lock);
  for (guint i = 0; i < engine->n_stacks; i++)
    if (engine->stacks[i]->seat.state != STACK_HALTED)
      seat_ask (engine->stacks[i], STACK_FLAG_NEWS);
  pthread_mutex_unlock (&engine->lock);
}

gboolean
engine_replay (Engine *engine, const char *path, const EngineReplay *calls)
{
  const Digest none = { { 0 } };

  engine->replay.calls = *calls;
  engine_known (engine, path, &none, &NODE_ID_NONE, 0);
  pthread_mutex_lock (&engine->known.lock);
  engine->replay.node = known_keep (known_lookup (engine->known.trie, path));
  pthread_mutex_unlock (&engine->known.lock);
  return engine->replay.node != NULL;
}

void
engine_forget (Engine *engine, const char *path, const NodeId *holder)
{
  pthread_mutex_lock (&engine->known.lock);
  known_forget (engine->known.trie, path, holder);
  known_here_count (&engine->known);
  pthread_mutex_unlock (&engine->known.lock);
}

void
engine_scan (Engine *engine, gboolean whole)
{
  pthread_mutex_lock (&engine->lock);
  __atomic_store_n (&engine->orders.scans, engine->orders.scans + 1, __ATOMIC_RELAXED);
  seat_wait_for_returns (engine);
  for (guint i = 0; i < engine->n_stacks; i++)
    {
      Stack *stack = engine->stacks[i];

      if (stack->seat.state == STACK_ASLEEP)
        continue;
      if (stack->seat.scan_owed == 0)
        stack->seat.scan_owed = engine->orders.scans;
      seat_ask (stack, STACK_FLAG_SCAN | (whole ? STACK_FLAG_WHOLE : 0));
    }
  seat_count_scans (engine);
  pthread_mutex_unlock (&engine->lock);
}

void
engine_halt (Engine *engine, gboolean leaving)
{
  pthread_mutex_lock (&engine->lock);
  seat_wait_for_returns (engine);
  if (!engine->orders.halting)
    engine->orders.leaving = leaving;
  for (guint i = 0; i < engine->n_stacks && !engine->orders.halting; i++)
    {
      Stack *stack = engine->stacks[i];

      if (stack->seat.gone) /* the stack is empty and has no thread */
        continue;
      stack->seat.halt_owed = TRUE;
      engine->orders.halts_owed++;
      stack_ask (stack, STACK_FLAG_HALT);
    }
  engine->orders.halting = TRUE;
  if (engine->orders.leaving)
    seat_return_inbox (engine);
  for (guint i = 0; i < engine->n_stacks; i++)
    pthread_cond_signal (&engine->stacks[i]->seat.cond);
  seat_rouse (engine);
  pthread_mutex_unlock (&engine->lock);
}

gboolean
engine_improve (Engine *engine G_GNUC_UNUSED, guint best, GBytes *value)
{
  return best_get (best) != NULL && best_merge_encoded (best_get (best), value);
}

GBytes *
engine_best (Engine *engine G_GNUC_UNUSED, guint best)
{
  return best_encode (best_get (best));
}

gboolean
engine_is_roused (Engine *engine)
{
  return __atomic_load_n (&engine->seats.roused, __ATOMIC_ACQUIRE); /* pairs with seat_rouse */
}

gboolean
engine_is_hungry (Engine *engine)
{
  return length_hint (&engine->seats.free) > 0;
}

gboolean
engine_next_event (Engine *engine, EngineEvent *event)
{
  return mailbox_next (engine, event);
}

void
engine_stats (Engine *engine, EngineStats *stats)
{
  guint n = engine_n_stacks (engine);

  memset (stats, 0, sizeof *stats);
  for (guint i = 0; i < n; i++)
    {
      const Stack *stack = engine->stacks[i];

      stats->jobs += figure_get (&stack->open.jobs) + figure_get (&stack->shared.executed);
      stats->jobs -= figure_get (&stack->shared.elsewhere);
      stats->work_us += clock_work_us (stack);
      stats->risk_us += clock_risk_us (stack);
      stats->busy += clock_runs (stack);
    }
  stats->jobs_reused = figure_get (&engine->figures.reused);
  stats->unmatched = figure_get (&engine->figures.unmatched);
  stats->scan_us = figure_get (&engine->figures.scan_ns) / 1000;
  stats->steals_local = figure_get (&engine->figures.steals);
  stats->lent = figure_get (&engine->figures.lent);
  pthread_mutex_lock (&engine->lock);
  stats->parked_max = engine->seats.parked_max;
  pthread_mutex_unlock (&engine->lock);
}

GArray *
engine_progress (Engine *engine)
{
  guint n = engine_n_stacks (engine);
  GArray *all = g_array_new (FALSE, TRUE, sizeof (EngineProgress));

  for (guint i = 0; i < n; i++)
    {
      const Stack *stack = engine->stacks[i];
      EngineProgress own = { .held = figure_get (&stack->shared.serving),
                             .risk_us = clock_risk_us (stack),
                             .busy = clock_runs (stack) };
      guint k = 0;

      if (own.risk_us == 0 && own.busy == 0)
        continue;
      while (k < all->len && g_array_index (all, EngineProgress, k).held != own.held)
        k++;
      if (k == all->len)
        g_array_append_val (all, own);
      else
        {
          g_array_index (all, EngineProgress, k).risk_us += own.risk_us;
          g_array_index (all, EngineProgress, k).busy += own.busy;
        }
    }
  return all;
}

double
engine_share (Engine *engine)
{
  guint n = engine_n_stacks (engine);
  guint64 ppb = 0;

  for (guint i = 0; i < n; i++)
    ppb += figure_get (&engine->stacks[i]->shared.share_ppb);
  return MIN ((double)ppb / 1e9, 1.0);
}
