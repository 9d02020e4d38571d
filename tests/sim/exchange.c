/* SPDX-License-Identifier: BSD-3-Clause */
/* Loans, results from other nodes and known paths of the model engine: what it exchanges with its
 * node. */
#include "config.h"

#include "model-private.h"

#include <string.h>

/* The best of the known holders of this job: the one with the most finished children, then the one
 * with the lowest id. */
static const Known *
best_known (const Model *model, guint32 job, gboolean kept)
{
  const Known *best = NULL;

  for (guint i = 0; i < model->known->len; i++)
    {
      const Known *known = &g_array_index (model->known, Known, i);
      if (known->job == job && known->kept == kept
          && (best == NULL || known->finished > best->finished
              || (known->finished == best->finished
                  && node_id_compare (&known->holder, &best->holder) < 0)))
        best = known;
    }
  return best;
}

static void
wait_for_loan (Model *model, Slot *slot)
{
  slot->state = SLOT_LENT;
  slot->loan = ++model->last_loan;
  g_ptr_array_add (model->waits, slot);
}

gboolean
model_adopt (Model *model, Slot *slot)
{
  const Known *known = model->known->len == 0 ? NULL : best_known (model, slot->job, FALSE);

  g_assert (slot->state == SLOT_READY);
#ifdef SATIN_PLANT_LATE_NEWS_IGNORED
  if (slot->looked_up)
    return FALSE;
#endif
  slot->looked_up = TRUE;
  if (known == NULL)
    return FALSE;
  wait_for_loan (model, slot);
  model_say (model, (ModelEvent){ .kind = NODE_EVENT_ADOPT,
                                  .loan = slot->loan,
                                  .job = slot->job,
                                  .node = known->holder });
  return TRUE;
}

gboolean
model_recall (Model *model, Frame *frame)
{
  guint32 job = frame->slot->job;
  const Known *known = model->config.tree->jobs[job].keeps ? best_known (model, job, TRUE) : NULL;

  if (known == NULL)
    return FALSE;
  wait_for_loan (model, &frame->recall);
  model_say (model, (ModelEvent){ .kind = NODE_EVENT_ADOPT,
                                  .loan = frame->recall.loan,
                                  .job = job,
                                  .kept = TRUE,
                                  .node = known->holder });
  return TRUE;
}

void
model_say_covered (Model *model, guint32 job)
{
  for (guint i = 0; i < model->known->len; i++)
    if (tree_covers (model->config.tree, job, g_array_index (model->known, Known, i).job))
      {
        model_say (model, (ModelEvent){ .kind = NODE_EVENT_COVERED, .job = job });
        return;
      }
}

/* Law 3: an improvement is sent to all before the job returns. */
static void
improve (Model *model, guint64 result)
{
  if (!model->config.has_best || result % MODEL_BEST_EVERY != 0 || result <= model->best)
    return;
  model->best = result;
  guint64 le = GUINT64_TO_LE (result);
  model_say (model,
             (ModelEvent){ .kind = NODE_EVENT_IMPROVED, .bytes = g_bytes_new (&le, sizeof le) });
}

gboolean
model_improve (Model *model, GBytes *value)
{
  guint64 number = tree_value_number (value);
  gboolean real = FALSE;

  for (guint32 i = 0; i < model->config.tree->n; i++)
    real = real || model->config.tree->jobs[i].result == number;
  if (number % MODEL_BEST_EVERY == 0)
    model->best = MAX (model->best, number);
  return real && number % MODEL_BEST_EVERY == 0;
}

void
model_slot_done (Model *model, Slot *slot, guint64 value, guint64 work_us, guint64 risk_us)
{
  slot->state = SLOT_DONE;
  slot->value = value;
  improve (model, value);
  slot->work_us = work_us;
  slot->risk_us = risk_us;
  if (slot->parent != NULL)
    {
      model_say_covered (model, slot->job);
      return;
    }
  model_say (model,
             (ModelEvent){ .kind = NODE_EVENT_DONE,
                           .held = slot->held,
                           .job = slot->job,
                           .work_us = work_us,
                           .risk_us = risk_us,
                           .shares = model_gifts (slot, 1),
                           .bytes = g_bytes_ref (model->config.tree->jobs[slot->job].value) });
  g_ptr_array_remove (model->inbox, slot);
}

static Slot *
take_wait (Model *model, guint64 loan)
{
  for (guint i = 0; i < model->waits->len; i++)
    {
      Slot *slot = model->waits->pdata[i];
      if (slot->loan == loan)
        return g_ptr_array_remove_index (model->waits, i);
    }
  return NULL;
}

/* A job that waits for a seat may go back to its lender. The root has no lender. */
static Slot *
ready_in_inbox (Model *model)
{
  for (guint i = 0; i < model->inbox->len; i++)
    if (((Slot *)model->inbox->pdata[i])->state == SLOT_READY
        && ((Slot *)model->inbox->pdata[i])->job != 0)
      return model->inbox->pdata[i];
  return NULL;
}

void
model_lend (Model *model, guint count, GPtrArray *loans)
{
  if (model->halting || rng_chance (&model->rng, model->config.shy))
    return;
  while (loans->len < count)
    {
      Slot *slot = model_oldest (model), *surplus = slot == NULL ? ready_in_inbox (model) : NULL;
      if (slot == NULL && surplus == NULL)
        return;
      const TreeJob *job = &model->config.tree->jobs[(slot != NULL ? slot : surplus)->job];
      Loan *loan = loan_new (0, job->path, 0, &job->digest, job->weight, job->args);
      g_ptr_array_add (loans, loan);
      if (slot != NULL)
        {
          wait_for_loan (model, slot);
          loan->loan = slot->loan;
          continue;
        }
      loan->held = surplus->held;
      g_ptr_array_remove (model->inbox, surplus);
    }
}

void
model_share (Model *model, guint thieves)
{
  (void)thieves;
  model->owed = TRUE;
}

void
model_settle_owed (Model *model)
{
  if (!model->owed || (model_oldest (model) == NULL && ready_in_inbox (model) == NULL))
    return;
  model->owed = FALSE;
  model_say (model, (ModelEvent){ .kind = NODE_EVENT_SHARED });
}

void
model_run (Model *model, guint64 held, const Loan *loan)
{
  int job = tree_find (model->config.tree, loan->path);

  if (job < 0 || !digest_equal (&loan->digest, &model->config.tree->jobs[job].digest)
      || loan->job != 0 || !g_bytes_equal (loan->args, model->config.tree->jobs[job].args))
    {
      model->config.fail (model->config.data, "was given a job that does not exist", 0);
      return;
    }
  for (guint i = 0; i < model->inbox->len; i++)
    if (((Slot *)model->inbox->pdata[i])->held == held)
      model->config.fail (model->config.data, "was given one held number twice", (guint32)job);
  Slot *slot = g_new0 (Slot, 1);
  slot->job = (guint32)job;
  slot->held = held;
  slot->begin_us = model->now_us;
  model_speak (model, slot);
  if (model->config.drowsy_us > 0)
    {
      slot->begin_us += rng_below (&model->rng, model->config.drowsy_us);
      model->config.wake (model->config.data, MODEL_NO_STACK, slot->begin_us);
    }
  g_ptr_array_add (model->inbox, slot);
  model->fed = TRUE;
}

void
model_unrun (Model *model, guint64 held)
{
  for (guint i = 0; i < model->inbox->len; i++)
    {
      Slot *slot = model->inbox->pdata[i];
      if (slot->held != held)
        continue;
      model_abort_slot (model, slot);
      if (slot->state != SLOT_DROPPED)
        return; /* The job runs: its frames are removed when the stacks settle. */
      model_say (model, (ModelEvent){ .kind = NODE_EVENT_UNRUN, .held = held });
      g_ptr_array_remove_index (model->inbox, i);
      return;
    }
}

/* The kept state has arrived. The children that it stands for are not spawned again, and what other
 * nodes hold of them is covered. */
static void
put_kept (Model *model, Frame *frame, GBytes *value, guint64 work_us)
{
  const Tree *tree = model->config.tree;
  guint32 job = frame->slot->job, children = 0;
  g_autoptr (GBytes) state = row_unpack_kept (value, &children);
  int phase = state == NULL ? -1 : tree_phase_at (tree, job, children);
  g_autoptr (GBytes) right = phase < 0 ? NULL : tree_kept (tree, job, children);

  frame->recall.state = SLOT_DONE;
  if (right == NULL || !g_bytes_equal (state, right))
    {
      model->config.fail (model->config.data, "recalls what was never kept", job);
      return;
    }
  frame->phase = (guint)phase + 1;
  for (; frame->n_slots < children; frame->n_slots++)
    {
      guint32 child = tree_child (tree, job, frame->n_slots);
      Slot *slot = &frame->slots[frame->n_slots];
      *slot = (Slot){ .job = child, .state = SLOT_GONE, .parent = frame };
      if (tree_keeps_gift (tree, job, frame->n_slots))
        model_take_gift (model, slot);
      tree_add (tree, job, frame->n_slots, tree->jobs[child].result, &frame->state);
      model_say_covered (model, child);
    }
  frame->slots[0].work_us = work_us;
  frame->n_kept = frame->n_slots;
  model->config.recalled (model->config.data, job, children);
}

void
model_put (Model *model, guint64 loan, GBytes *value, guint64 work_us, guint64 risk_us)
{
  Slot *slot = model_put_bytes (model, loan, value) ? NULL : take_wait (model, loan);

  if (slot == NULL)
    return;
  if (slot->recalls != NULL)
    {
      put_kept (model, slot->recalls, value, work_us);
      return;
    }
  if (!g_bytes_equal (value, model->config.tree->jobs[slot->job].value))
    model->config.fail (model->config.data, "was given a wrong result", slot->job);
  model_take_gift (model, slot);
  model_slot_done (model, slot, tree_value_number (value), work_us, risk_us);
}

void
model_back (Model *model, guint64 loan)
{
  Slot *slot = take_wait (model, loan);

  if (slot == NULL)
    return;
  if (slot->recalls != NULL)
    {
      slot->state = SLOT_DONE;
      model_recall (model, slot->recalls);
      return;
    }
  slot->state = SLOT_READY;
  slot->looked_up = FALSE;
  model_adopt (model, slot);
}

#ifndef SATIN_PLANT_LATE_NEWS_IGNORED
/* News of a holder of a job whose slot exists already: a ready slot now waits for the holder; a
 * finished slot covers what is held, unless its job is being aborted. */
static void
hear_late_news (Model *model, guint32 job)
{
  for (guint i = 0; i < model->n_made; i++)
    for (Frame *frame = model->stacks[i]->top; frame != NULL; frame = frame->below)
      for (guint k = 0; k < frame->n_slots; k++)
        {
          Slot *slot = &frame->slots[k];
          if (slot->state == SLOT_READY && slot->job == job)
            model_adopt (model, slot);
          if (!frame->aborted && model_slot_is_over (slot)
              && tree_covers (model->config.tree, slot->job, job))
            model_say (model, (ModelEvent){ .kind = NODE_EVENT_COVERED, .job = slot->job });
        }
}
#endif

void
model_known (Model *model, const char *path, const Digest *digest, const NodeId *holder,
             guint32 finished)
{
  int job = tree_find (model->config.tree, path);
  Digest kept_digest = tree_kept_digest (model->config.tree, (guint32)MAX (job, 0));
  gboolean kept = digest_equal (digest, &kept_digest);

  if (job < 0 || !(kept || digest_equal (digest, &model->config.tree->jobs[job].digest)))
    return;
  for (guint i = 0; i < model->known->len; i++)
    {
      Known *known = &g_array_index (model->known, Known, i);
      if (known->job == (guint32)job && known->kept == kept
          && node_id_equal (&known->holder, holder))
        {
          known->finished = finished;
          return;
        }
    }
  Known known = { .job = (guint32)job, .kept = kept, .holder = *holder, .finished = finished };
  g_array_append_val (model->known, known);
#ifndef SATIN_PLANT_LATE_NEWS_IGNORED
  hear_late_news (model, (guint32)job);
#endif
}

void
model_forget (Model *model, const char *path, const NodeId *holder)
{
  int job = path == NULL ? -1 : tree_find (model->config.tree, path);

  for (guint i = model->known->len; i-- > 0;)
    {
      const Known *known = &g_array_index (model->known, Known, i);
      if ((path == NULL || known->job == (guint32)job) && node_id_equal (&known->holder, holder))
        g_array_remove_index (model->known, i);
    }
}

typedef struct
{
  const Model *model;
  guint32 job;
  gboolean found;
} Search;

static void
look_at (gpointer data, guint32 job)
{
  Search *search = data;
  const Tree *tree = search->model->config.tree;

  search->found = search->found || job == search->job || tree_covers (tree, job, search->job);
}

gboolean
model_has_result (const Model *model, guint32 job)
{
  Search search = { .model = model, .job = job };

  for (guint i = 0; i < model->n_made; i++) /* Its node offers what an aborted job had. */
    for (const Frame *frame = model->stacks[i]->top; frame != NULL; frame = frame->below)
      for (guint k = 0; k < frame->n_slots; k++)
        if (frame->slots[k].state == SLOT_DONE || frame->slots[k].state == SLOT_GONE) /* Kept. */
          look_at (&search, frame->slots[k].job);
  for (guint i = 0; i < model->known->len; i++)
    {
      const Known *known = &g_array_index (model->known, Known, i);
      if (known->finished && !known->kept)
        look_at (&search, known->job);
    }
  for (guint i = model->n_heard; i < model->said->len; i++)
    {
      const ModelEvent *event = &g_array_index (model->said, ModelEvent, i);
      if (event->kind == NODE_EVENT_DONE)
        look_at (&search, event->job);
    }
  return search.found;
}

gboolean
model_knows_job (const Model *model, guint32 job)
{
  return best_known (model, job, FALSE) != NULL;
}

void
model_each_holder (const Model *model, void (*each) (gpointer data, const NodeId *holder),
                   gpointer data)
{
  for (guint i = 0; i < model->known->len; i++)
    each (data, &g_array_index (model->known, Known, i).holder);
}
