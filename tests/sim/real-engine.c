/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements model.h with the real engine, which it drives as satin/node does. The jobs of the tree
 * are those of real-job.c, the threads those of threads.c. Functions for the checks read the
 * engine's data directly, while none of its threads runs. */
#include "config.h"

#include "real.h"

#include "door/pending.h"
#include "engine.h"
#include "save/scan.h"
#include "sim-private.h"

#include <stdio.h>
#include <string.h>

/* Of a thousand times that a lock is taken, how often other threads run before. */
#define PAUSES_MAX 40

static void
enter (const Model *model)
{
  threads_enter (model->threads);
}

/* ---- begin and end ---- */

static void
on_wake (gpointer data, guint32 ticket, guint64 at_us)
{
  Model *model = data;

  model->config.wake (model->config.data, ticket, at_us);
}

/* The mailbox is no longer empty. It is read when the thread that reports this hands back, or by
 * main if main reports it. */
static void
on_mail (void *data)
{
  ((Model *)data)->told = TRUE;
}

Model *
model_new (const ModelConfig *config)
{
  Model *model = g_new0 (Model, 1);
  Process *process = config->data;
  Rng rng = { config->seed };
  ThreadsConfig threads = { .seed = rng_next (&rng),
                            .pauses = (guint)rng_below (&rng, PAUSES_MAX),
                            .now_us = &process->sim->now_us,
                            .wake = on_wake,
                            .data = model };
  EngineConfig engine = { .jobs = real_jobs,
                          .workers = config->seats,
                          .stacks_max = config->stacks_max,
                          .stems = config->stems,
                          .seed = config->seed,
                          .surplus_ms = config->seed % 2 == 0 ? 1 : 0,
                          .wake = on_mail,
                          .data = model };
  g_autoptr (GError) error = NULL;

  model->config = *config;
  model->known = g_array_new (FALSE, FALSE, sizeof (RealKnown));
  model->threads = threads_new (&threads);
  enter (model);
  model->engine = engine_new (&engine, &error);
  g_assert_no_error (error);
  real_fit_tree (model->engine, config->tree);
  return model;
}

void
model_free (Model *model)
{
  enter (model);
  model->over = TRUE;
  threads_end (model->threads);
  engine_halt (model->engine, FALSE);
  engine_free (model->engine);
  threads_free (model->threads);
  if (model->has_next)
    engine_event_clear (&model->next);
  g_array_unref (model->known);
  g_free (model);
}

void
model_settle (Model *model, guint64 now_us)
{
  (void)model;
  (void)now_us;
}

void
model_wake (Model *model, guint64 now_us, guint ticket)
{
  (void)now_us;
  threads_run (model->threads, ticket);
}

/* ---- scans ---- */

static __thread guint64 scan_began; /* The value of Model.orders when the scan began. */

#pragma GCC visibility push(default)
void __real_scan_stack (Stack *stack, SatinSlot_ *self, SatinSlot_ *top, ScanKind kind);
void __wrap_scan_stack (Stack *stack, SatinSlot_ *self, SatinSlot_ *top, ScanKind kind);
void __real_mailbox_raise (Engine *engine, const EngineEvent *event);
void __wrap_mailbox_raise (Engine *engine, const EngineEvent *event);
#pragma GCC visibility pop

void
__wrap_scan_stack (Stack *stack, SatinSlot_ *self, SatinSlot_ *top, ScanKind kind)
{
  const Model *model = stack->engine->config.data;

  scan_began = model->orders;
  __real_scan_stack (stack, self, top, kind);
}

void
__wrap_mailbox_raise (Engine *engine, const EngineEvent *event)
{
  if (event->kind == ENGINE_ROWS)
    real_check_rows (engine->config.data, scan_began, event->rows);
  __real_mailbox_raise (engine, event);
}

void
real_note_leapfrog (Model *model)
{
  ((Process *)model->config.data)->sim->outcome->leapfrogs++;
}

/* ---- what the engine reports ---- */

gboolean
model_has_event (const Model *model)
{
  return model->has_next || model->told;
}

static guint32
job_at (Model *model, const char *path)
{
  int job = tree_find (model->config.tree, path);

  if (job < 0)
    model->config.fail (model->config.data, "speaks of a job that does not exist", 0);
  return (guint32)MAX (job, 0);
}

/* TRUE: the digest is that of what the job has kept; FALSE: that of its result. */
static gboolean
is_kept (Model *model, guint32 job, const Digest *digest)
{
  const TreeJob *self = &model->config.tree->jobs[job];

  if (!digest_equal (digest, &self->digest) && !digest_equal (digest, &self->kept_digest))
    model->config.fail (model->config.data, "asks for what does not exist", job);
  return digest_equal (digest, &self->kept_digest);
}

/* TRUE: the event is one for the node. */
static gboolean
translate (Model *model, EngineEvent *said, ModelEvent *event)
{
  static const NodeEventKind kinds[]
      = { [ENGINE_HUNGRY] = NODE_EVENT_IDLE,     [ENGINE_DONE] = NODE_EVENT_DONE,
          [ENGINE_UNRUN] = NODE_EVENT_UNRUN,     [ENGINE_ADOPT] = NODE_EVENT_ADOPT,
          [ENGINE_WANT] = NODE_EVENT_WANT,       [ENGINE_ABORTED] = NODE_EVENT_ABORTED,
          [ENGINE_COVERED] = NODE_EVENT_COVERED, [ENGINE_ROWS] = NODE_EVENT_ROWS,
          [ENGINE_SHARED] = NODE_EVENT_SHARED,   [ENGINE_HALTED] = NODE_EVENT_HALTED,
          [ENGINE_SCANNED] = NODE_EVENT_SERVED };

  if (said->kind >= G_N_ELEMENTS (kinds) || said->kind == ENGINE_UNMATCHED)
    {
      model->config.fail (model->config.data, "says what nothing here gives cause for", 0);
      return FALSE;
    }
  *event = (ModelEvent){ .kind = kinds[said->kind],
                         .held = said->held,
                         .loan = said->loan,
                         .work_us = said->work_us,
                         .risk_us = said->risk_us,
                         .count = said->seats,
                         .node = said->holder,
                         .digest = said->digest,
                         .number = said->kind == ENGINE_WANT ? said->length : said->scan,
                         .bytes = g_steal_pointer (&said->value),
                         .rows = g_steal_pointer (&said->rows),
                         .shares = g_steal_pointer (&said->shared) };
  if (said->path != NULL)
    event->job = job_at (model, said->path);
  if (said->kind == ENGINE_ADOPT)
    event->kept = is_kept (model, event->job, &said->digest);
  return TRUE;
}

gboolean
model_next_event (Model *model, ModelEvent *event)
{
  EngineEvent said;
  gboolean known = FALSE;

  enter (model);
  while (!known && engine_next_event (model->engine, &said))
    {
      known = translate (model, &said, event);
      engine_event_clear (&said);
    }
  model->told = known;
  return known;
}

/* ---- what the engine is told ---- */

void
model_lend (Model *model, guint count, GPtrArray *loans)
{
  enter (model);
  while (loans->len < count)
    {
      Loan *loan = g_new0 (Loan, 1);
      if (!engine_lend (model->engine, loan))
        {
          g_free (loan);
          return;
        }
      g_ptr_array_add (loans, loan);
      if (loan->held != 0) /* The job comes back: only its number counts. */
        continue;
      int job = tree_find (model->config.tree, loan->path);
      if (job < 0 || !digest_equal (&loan->digest, &model->config.tree->jobs[job].digest)
          || !g_bytes_equal (loan->args, model->config.tree->jobs[job].args))
        model->config.fail (model->config.data, "lends a job that does not exist", 0);
    }
}

void
model_share (Model *model, guint thieves)
{
  enter (model);
  engine_request_work (model->engine, thieves);
}

void
model_run (Model *model, guint64 held, const Loan *loan)
{
  enter (model);
  if (!engine_run (model->engine, held, (Loan *)loan))
    model->config.fail (model->config.data, "was given a job that does not exist", 0);
}

void
model_unrun (Model *model, guint64 held)
{
  const Held *given = g_hash_table_lookup (model->engine->inbox.held, &held);
  int job = given == NULL || given->queued ? -1 : tree_find (model->config.tree, given->loan->path);

  enter (model);
  engine_unrun (model->engine, held);
  if (job < 0)
    return;
  model->dropped[job] = ++model->orders;
  model->dropper[job] = 1 + (guint32)job;
}

/* Notes for the checks that the result is in a slot from now on. */
static void
note_put (Model *model, guint64 loan)
{
  const Pending *away = g_hash_table_lookup (model->engine->pending.by_number, &loan);
  int job = away == NULL || away->kind == PENDING_KEPT || away->path == NULL
                ? -1
                : tree_find (model->config.tree, away->path);

  if (job >= 0)
    model->done[job] = TRUE;
}

void
model_put (Model *model, guint64 loan, GBytes *value, guint64 work_us, guint64 risk_us)
{
  enter (model);
  note_put (model, loan);
  (void)engine_put (model->engine, loan, value, work_us, risk_us);
}

void
model_back (Model *model, guint64 loan)
{
  enter (model);
  (void)engine_back (model->engine, loan);
}

static int
find_known (const Model *model, guint32 job, gboolean kept, const NodeId *holder)
{
  for (guint i = 0; i < model->known->len; i++)
    {
      const RealKnown *known = &g_array_index (model->known, RealKnown, i);
      if (known->job == job && known->kept == kept && node_id_equal (&known->holder, holder))
        return (int)i;
    }
  return -1;
}

void
model_known (Model *model, const char *path, const Digest *digest, const NodeId *holder,
             guint32 finished)
{
  RealKnown known = { .job = job_at (model, path), .holder = *holder, .finished = finished };

  known.kept = is_kept (model, known.job, digest);
  int at = find_known (model, known.job, known.kept, holder);
  if (at >= 0)
    g_array_remove_index (model->known, (guint)at);
  g_array_append_val (model->known, known);
  enter (model);
  engine_known (model->engine, path, digest, holder, finished);
}

void
model_forget (Model *model, const char *path, const NodeId *holder)
{
  int job = path == NULL ? -1 : tree_find (model->config.tree, path);

  for (guint i = model->known->len; i-- > 0;)
    {
      const RealKnown *known = &g_array_index (model->known, RealKnown, i);
      if ((path == NULL || known->job == (guint32)job) && node_id_equal (&known->holder, holder))
        g_array_remove_index (model->known, i);
    }
  enter (model);
  engine_forget (model->engine, path, holder);
}

void
model_scan (Model *model, gboolean whole)
{
  ((Process *)model->config.data)->sim->outcome->wholes += whole;
  enter (model);
  engine_scan (model->engine, whole);
}

void
model_halt (Model *model, gboolean leaving)
{
  enter (model);
  engine_halt (model->engine, leaving);
}

gboolean
model_improve (Model *model, GBytes *value)
{
  (void)model; /* BEST values belong to the process. */
  (void)value;
  return FALSE;
}

/* ---- what the checks read ---- */

static guint
count_waits (const Model *model)
{
  GHashTableIter iter;
  gpointer away;
  guint n = 0;

  g_hash_table_iter_init (&iter, model->engine->pending.by_number);
  while (g_hash_table_iter_next (&iter, NULL, &away))
    n += ((const Pending *)away)->kind != PENDING_SHARED;
  return n;
}

void
model_stats (const Model *model, ModelStats *stats)
{
  Engine *engine = model->engine;

  *stats = (ModelStats){ .waits = count_waits (model),
                         .stacks = engine->n_stacks - engine->seats.asleep.length,
                         .busy = engine->seats.busy,
                         .inbox = g_hash_table_size (engine->inbox.held),
                         .known = model->known->len };
}

void
model_work (const Model *model, guint64 now_us, NodeEvent *event, GArray *progress)
{
  EngineStats stats;

  (void)now_us;
  enter (model);
  engine_stats (model->engine, &stats);
  *event = (NodeEvent){ .kind = NODE_EVENT_WORK,
                        .work_us = stats.work_us,
                        .risk_us = stats.risk_us,
                        .count = stats.busy,
                        .progress = progress };
  if (progress == NULL)
    return;
  g_autoptr (GArray) all = engine_progress (model->engine);
  for (guint i = 0; i < all->len; i++)
    {
      const EngineProgress *one = &g_array_index (all, EngineProgress, i);
      NodeProgress item = { one->held, one->risk_us, one->busy };
      g_array_append_val (progress, item);
    }
}

void
model_each_result (const Model *model, void (*each) (gpointer data, guint32 job), gpointer data)
{
  for (guint32 i = 0; i < model->config.tree->n; i++)
    if (model->done[i])
      each (data, i);
}

guint32
model_taken (const Model *model, guint32 job)
{
  return model->taken[job] > 0 ? model->taken[job] - 1 : MODEL_NO_JOB;
}

/* TRUE: the job's result is in the mailbox, so the node does not know it yet. */
static gboolean
is_in_the_mail (const Model *model, guint32 job)
{
  for (const GList *link = model->engine->mail.events.head; link != NULL; link = link->next)
    {
      const EngineEvent *event = link->data;
      if (event->kind == ENGINE_DONE
          && tree_value_number (event->value) == model->config.tree->jobs[job].result)
        return TRUE;
    }
  return FALSE;
}

gboolean
model_has_result (const Model *model, guint32 job)
{
  const TreeJob *jobs = model->config.tree->jobs;

  for (;; job = jobs[job].parent)
    {
      if (model->done[job] || is_in_the_mail (model, job))
        return TRUE;
      for (guint i = 0; i < model->known->len; i++)
        {
          const RealKnown *known = &g_array_index (model->known, RealKnown, i);
          if (known->job == job && known->finished && !known->kept)
            return TRUE;
        }
      if (tree_is_root (model->config.tree, job))
        return FALSE;
    }
}

gboolean
model_knows_job (const Model *model, guint32 job)
{
  for (guint i = 0; i < model->known->len; i++)
    {
      const RealKnown *known = &g_array_index (model->known, RealKnown, i);
      if (known->job == job && !known->kept)
        return TRUE;
    }
  return FALSE;
}

void
model_each_holder (const Model *model, void (*each) (gpointer data, const NodeId *holder),
                   gpointer data)
{
  for (guint i = 0; i < model->known->len; i++)
    each (data, &g_array_index (model->known, RealKnown, i).holder);
}

void
model_check_invariants (const Model *model)
{
  const Engine *engine = model->engine;

  g_assert (engine->seats.free <= engine->config.workers);
  g_assert (engine->n_stacks <= engine->config.stacks_max + 1);
}

void
model_print (const Model *model)
{
  static const char *const states[] = { "runs", "sleeps", "is parked", "is ready", "is halted" };
  const Engine *engine = model->engine;

  for (guint i = 0; i < engine->n_stacks; i++)
    printf ("#   stack %u %s%s\n", i, states[engine->stacks[i]->seat.state],
            engine->stacks[i]->shared.clock & 1 ? " and computes" : "");
  for (guint32 i = 0; i < model->config.tree->n; i++)
    if (model->taken[i] > 0)
      printf ("#   '%s' has begun\n", model->config.tree->jobs[i].path);
  printf ("#   %u held, %u in the inbox, %u away, %u seats free\n",
          g_hash_table_size (engine->inbox.held), engine->inbox.queue.length,
          g_hash_table_size (engine->pending.by_number), engine->seats.free);
}
