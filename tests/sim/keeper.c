/* SPDX-License-Identifier: BSD-3-Clause */
/* The coordinator's scribe in virtual time: takes over the published checkpoint, saves rows and
 * publishes at intervals. A publication reads the published file, unites it with its own rows, and
 * replaces it one commit later. A store that compares refuses if the file has changed meanwhile; at
 * a store that does not, two coordinators may race. Bids are commits that replace nothing. */
#include "config.h"

#include "sim-private.h"

#define SLOW_FACTOR 20

static gboolean
draws (const Process *process, guint percent, guint64 salt)
{
  return rng_mix (process->sim->plan->seed * 97 + process->number * 13 + salt) % 100 < percent;
}

/* TRUE: the process cannot write the checkpoint. A founder always can: it read the checkpoint
 * before it founded the run. */
static gboolean
is_unable (const Process *process)
{
  return !process->founder && draws (process, process->sim->plan->unable, 1);
}

/* TRUE: the process sees an empty place of the same name on a disk of its own. */
static gboolean
is_elsewhere (const Process *process)
{
  return !process->founder && draws (process, process->sim->plan->elsewhere, 2);
}

gboolean
keeper_can_write (const Process *process)
{
  return !is_unable (process) && !is_elsewhere (process);
}

/* The duration of a commit. Some paths to the store are ten or a hundred times as fast as
 * others. */
static guint64
commit_us (Sim *sim, const Process *process)
{
  guint64 us = sim->plan->commit_us;

  if (sim->plan->fast > 0)
    us = process->number + 1 == sim->plan->fast ? us / 20 : us;
  else
    us >>= rng_mix (sim->plan->seed * 31 + process->number) % 8;
  if (process->slow_us > sim->now_us)
    us *= SLOW_FACTOR;
  return us / 2 + rng_below (&sim->world_rng, us / 2 + 1);
}

/* ---- bids ---- */

void
keeper_bid (Sim *sim, Process *process)
{
  guint64 us = is_elsewhere (process) ? 1 : commit_us (sim, process);
  Happen *happen = sim_expect (sim, sim->now_us + us, HAPPEN_BID, process->number);

  happen->number = us;
  process->bidding = TRUE;
  check_bids (sim);
}

static void
end_bid (Sim *sim, Process *process, guint64 us)
{
  NodeEvent event = { .kind = NODE_EVENT_BID,
                      .work_us = MAX (us, 1),
                      .number = is_elsewhere (process) ? 0 : sim->published.generation,
                      .failed = is_unable (process),
                      .text = is_unable (process) ? "no route to the store" : NULL };

  process->bidding = FALSE;
  sim_step (sim, process, &event);
}

/* ---- the process is coordinator ---- */

/* The new coordinator takes over the published checkpoint and reports that a while later. */
void
keeper_open (Sim *sim, Process *process, const NodeEffect *effect)
{
  SimScribe *scribe = &process->scribe;
  guint64 life = scribe->life + 1;

  if (is_elsewhere (process))
    check_place (sim, process, effect->number);
  sim->outcome->elected++;
  sim->lease_us = sim->now_us;
  sim->outcome->moved += !effect->whole;
  g_free (scribe->work);
  g_free (scribe->put);
  g_free (scribe->looked);
  *scribe = (SimScribe){
    .work = g_new0 (Store, 1), .life = life, .whole = effect->whole, .required = effect->number
  };
  store_init (scribe->work, sim->plan->tree);
  store_unite (scribe->work, &sim->published);
  scribe->told_generation = sim->published.generation;
  sim_expect (sim, sim->now_us + rng_between (&sim->world_rng, 100, 3000), HAPPEN_OPENED,
              process->number)
      ->number
      = life;
  sim_expect (sim, sim->now_us + sim->plan->publish_us, HAPPEN_PUBLISH, process->number)->number
      = life;
}

void
keeper_save (Sim *sim, Process *process, GPtrArray *rows, guint64 ticket)
{
  process->scribe.saves = ticket;
  if (process->scribe.work == NULL)
    {
      sim_fail (sim, "p%u saves rows but is not coordinator", process->number);
      return;
    }
  for (guint i = 0; i < rows->len; i++)
    {
      const char *error = store_save (process->scribe.work, rows->pdata[i]);
      if (error != NULL)
        sim_fail (sim, "p%u saves %s: '%s'", process->number, error,
                  ((const Row *)rows->pdata[i])->path);
    }
}

void
keeper_note (Sim *sim, Process *process, const NodeEffect *effect)
{
  if (process->scribe.work == NULL)
    {
      sim_fail (sim, "p%u notes an event but is not coordinator", process->number);
      return;
    }
  store_note (process->scribe.work, effect);
  process->scribe.saves = effect->number;
}

/* Reads the published rows and unites them with its own: rows are facts. */
static void
begin_put (Sim *sim, Process *process)
{
  SimScribe *scribe = &process->scribe;

  if (scribe->work == NULL || scribe->putting)
    return;
  scribe->putting = TRUE;
  scribe->put_final = scribe->final_due;
  scribe->final_due = FALSE;
  if (scribe->put == NULL)
    {
      scribe->put = g_new (Store, 1);
      scribe->looked = g_new (Store, 1);
    }
  store_copy (scribe->looked, &sim->published);
  scribe->looked_tag = sim->tag;
#ifndef SATIN_PLANT_OVERWRITES
  store_unite (scribe->work, &sim->published);
#endif
  scribe->work->generation = MAX (scribe->work->generation, sim->published.generation) + 1;
  store_copy (scribe->put, scribe->work);
  scribe->put_saves = scribe->saves;
  Happen *happen
      = sim_expect (sim, sim->now_us + commit_us (sim, process), HAPPEN_PUT, process->number);
  happen->number = scribe->life;
  happen->link = sim->now_us; /* When it began. */
}

static void
end_put (Sim *sim, Process *process, guint64 began_us)
{
  SimScribe *scribe = &process->scribe;
  gboolean raced = scribe->looked_tag != sim->tag;
  Store before;

  scribe->putting = FALSE;
  if (raced && sim->plan->swaps)
    {
      scribe->final_due = scribe->final_due || scribe->put_final;
      begin_put (sim, process);
      return;
    }
  store_copy (&before, &sim->published);
  store_copy (&sim->published, scribe->put);
  sim->tag++;
  sim->outcome->races += raced;
  check_published (sim, raced ? scribe->looked : &before);
  gboolean final = scribe->put_final;
  scribe->told_saves = scribe->put_saves;
  scribe->told_generation = scribe->put->generation;
  NodeEvent event = { .kind = NODE_EVENT_PUBLISHED,
                      .number = scribe->put->generation,
                      .saved = scribe->put_saves,
                      .work_us = MAX (sim->now_us - began_us, 1),
                      .final = final };
  if (scribe->retiring)
    {
      g_clear_pointer (&scribe->work, g_free);
      return;
    }
  sim_step (sim, process, &event);
  if (process->alive && scribe->final_due)
    begin_put (sim, process);
}

void
keeper_answer (Sim *sim, Process *process, GBytes *answer)
{
  if (process->scribe.work == NULL)
    sim_fail (sim, "p%u keeps the answer but is not coordinator", process->number);
  else if (!g_bytes_equal (answer, tree_answer (sim->plan->tree)))
    sim_fail (sim, "I1: p%u keeps a wrong answer", process->number);
  else
    process->scribe.work->answered = TRUE;
}

void
keeper_finish (Sim *sim, Process *process, NodeEffectKind kind)
{
  if (kind == NODE_EFFECT_PUBLISH_IF_WORTH && rng_below (&sim->world_rng, 3) == 0)
    {
      sim_expect (sim, sim->now_us + 1, HAPPEN_DECLINED, process->number)->number
          = process->scribe.life;
      return;
    }
  process->scribe.declined = FALSE;
  process->scribe.final_due = TRUE;
  begin_put (sim, process);
}

static void
decline (Sim *sim, Process *process)
{
  SimScribe *scribe = &process->scribe;
  NodeEvent event = { .kind = NODE_EVENT_PUBLISHED,
                      .number = scribe->told_generation,
                      .saved = scribe->told_saves,
                      .rest_us = rng_below (&sim->world_rng, 3 * sim->plan->publish_us),
                      .final = TRUE };

  if (scribe->retiring)
    return;
  scribe->declined = TRUE;
  sim_step (sim, process, &event);
}

/* Publishes once more, then ends. */
void
keeper_retire (Sim *sim, Process *process)
{
  SimScribe *scribe = &process->scribe;

  if (scribe->work == NULL)
    return;
  scribe->retiring = TRUE;
  scribe->final_due = FALSE;
  begin_put (sim, process);
}

static void
add_stem (const char *id, const char *stem, void *data)
{
  (void)stems_add (data, id, stem);
}

/* A damaged file may have lost the ids of nodes: in runs that compute jobs twice, one row in eight
 * has no author. */
static void
forget_authors (const Sim *sim, const GPtrArray *rows)
{
  for (guint i = 0; sim->plan->verify > 0 && i < rows->len; i++)
    {
      Row *row = rows->pdata[i];
      if (g_str_hash (row->path) % 8 == 0)
        row->node = (NodeId){ 0 };
    }
}

/* The file contains the stems too. */
static void
tell_rows (Sim *sim, Process *process, GPtrArray *rows)
{
  if (rows == NULL)
    {
      sim_fail (sim, "I17: p%u restores a row without what it speaks of", process->number);
      return;
    }
  NodeEvent event = { .kind = NODE_EVENT_RESTORED, .rows = rows };

  forget_authors (sim, rows);
  for (guint i = 0; i < rows->len; i++)
    (void)path_each_stem (sim->plan->tree->stems, ((const Row *)rows->pdata[i])->path, NULL,
                          add_stem, process->stems);
  if (rows->len > 0)
    sim_step (sim, process, &event);
  g_ptr_array_unref (rows);
}

static void
tell_restored (Sim *sim, Process *process, guint32 top)
{
  tell_rows (sim, process, store_load (process->scribe.work, top, process->shared));
}

void
keeper_salvage (Sim *sim, Process *process, const char *path)
{
  Happen *happen = sim_expect (sim, sim->now_us + rng_below (&sim->world_rng, 2000),
                               HAPPEN_SALVAGED, process->number);

  happen->number = process->scribe.life;
  happen->link = (guint64)tree_find (sim->plan->tree, path);
}

static void
end_salvage (Sim *sim, Process *process, guint32 top)
{
  g_autoptr (GPtrArray) none = g_ptr_array_new ();
  NodeEvent end = { .kind = NODE_EVENT_RESTORED,
                    .rows = none,
                    .final = TRUE,
                    .path = sim->plan->tree->jobs[top].path };

  tell_restored (sim, process, top);
  if (process->alive)
    sim_step (sim, process, &end);
}

static void
end_opening (Sim *sim, Process *process)
{
  guint64 found = is_elsewhere (process) ? 0 : sim->published.generation;
  NodeEvent opened = { .kind = NODE_EVENT_OPENED, .number = found };

  if (is_unable (process) || is_elsewhere (process) || found < process->scribe.required)
    {
      g_clear_pointer (&process->scribe.work, g_free);
      opened.failed = TRUE;
      opened.text = "no route to the store";
    }
  else
    sim->outcome->coordinator = process->number + 1;
  if (opened.failed)
    ;
  else if (process->scribe.whole)
    tell_restored (sim, process, STORE_ALL);
  if (process->alive)
    sim_step (sim, process, &opened);
}

void
keeper_happen (Sim *sim, Process *process, const Happen *happen)
{
  SimScribe *scribe = &process->scribe;

  if (happen->kind == HAPPEN_BID)
    {
      end_bid (sim, process, happen->number);
      return;
    }
  if (scribe->work == NULL || happen->number != scribe->life)
    return; /* It belongs to an earlier term as coordinator. */
  switch (happen->kind)
    {
    case HAPPEN_OPENED:
      if (!scribe->retiring)
        end_opening (sim, process);
      break;
    case HAPPEN_PUBLISH:
      sim_expect (sim, sim->now_us + sim->plan->publish_us, HAPPEN_PUBLISH, process->number)->number
          = scribe->life;
      begin_put (sim, process);
      break;
    case HAPPEN_PUT:
      end_put (sim, process, happen->link);
      break;
    case HAPPEN_DECLINED:
      decline (sim, process);
      break;
    case HAPPEN_SALVAGED:
      end_salvage (sim, process, (guint32)happen->link);
      break;
    default:
      break;
    }
}

/* A Store gets members as events, so nothing is done here. */
void
keeper_member (Sim *sim, Process *process, const NodeEffect *effect)
{
  (void)sim;
  (void)process;
  (void)effect;
}

/* The scribe of an ended process is ignored from now on. */
void
keeper_gone (Sim *sim, Process *process)
{
  (void)sim;
  (void)process;
}

void
keeper_free (Process *process)
{
  g_free (process->scribe.work);
  g_free (process->scribe.put);
  g_free (process->scribe.looked);
}

void
keeper_begin (Sim *sim)
{
  (void)sim;
}

void
keeper_end (Sim *sim)
{
  (void)sim;
}

/* In this store nothing that was published is ever lost. */
void
keeper_all_gone (Sim *sim)
{
  (void)sim;
}
