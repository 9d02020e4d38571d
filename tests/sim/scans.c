/* SPDX-License-Identifier: BSD-3-Clause */
/* Scans and halt of the model engine. A stack that computes is scanned at its next sync, the other
 * stacks a while after the scan was asked for, as in a busy engine. */
#include "config.h"

#include "model-private.h"

/* (transfer full) (nullable) The shared bytes that the state speaks of. */
static GPtrArray *
kept_gifts (const Tree *tree, const Frame *frame)
{
  GPtrArray *gifts = NULL;

  for (guint32 k = 0; k < frame->n_kept; k++)
    if (tree_keeps_gift (tree, frame->slot->job, k))
      {
        gifts = gifts == NULL ? shared_list_new () : gifts;
        g_ptr_array_add (gifts, shared_ref (frame->slots[k].gift));
      }
  return gifts;
}

static void
add_kept_row (Model *model, Frame *frame, GPtrArray *rows, guint64 *risk_us)
{
  const Tree *tree = model->config.tree;
  const TreeJob *job = &tree->jobs[frame->slot->job];
  Digest digest = tree_kept_digest (tree, frame->slot->job);
  g_autoptr (GBytes) value = tree_kept (tree, frame->slot->job, frame->n_kept);

  Row *row = row_new_kept (job->path, frame->n_kept, 0, &digest, 0, TREE_KEPT_TYPE, value);

  frame->kept_reported = TRUE;
  row->shares = kept_gifts (tree, frame);
  for (guint i = 0; i < frame->n_kept; i++)
    {
      row->work_us += frame->slots[i].work_us;
      *risk_us += frame->slots[i].risk_us;
      frame->slots[i].risk_us = 0;
    }
  g_ptr_array_add (rows, row);
}

/* (transfer full) (nullable) The shared bytes that the arguments speak of. */
static GPtrArray *
arg_list (const Slot *slot)
{
  GPtrArray *list = slot->arg == NULL ? NULL : shared_list_new ();

  if (list != NULL)
    g_ptr_array_add (list, shared_ref (slot->arg));
  return list;
}

static void
add_rows (Model *model, Frame *frame, GPtrArray *rows, guint64 *risk_us)
{
  if (frame->below != NULL)
    add_rows (model, frame->below, rows, risk_us);
  if (frame->aborted)
    return; /* Nothing of it is saved. */
  if (frame->n_kept > 0 && !frame->kept_reported)
    add_kept_row (model, frame, rows, risk_us);
  for (guint i = 0; i < frame->n_slots; i++)
    {
      Slot *slot = (Slot *)&frame->slots[i];
      const TreeJob *job = &model->config.tree->jobs[slot->job];
      if (slot->state != SLOT_DONE || slot->reported)
        continue;
      slot->reported = TRUE;
      *risk_us += slot->risk_us;
      slot->risk_us = 0;
      Row *row = row_new (job->path, 0, &job->digest, job->weight, slot->work_us, job->value);
      row->shares = model_gifts (slot, 1);
      g_ptr_array_add (rows, row);
      if (model->config.twice)
        model_say (model, (ModelEvent){ .kind = NODE_EVENT_FINISHED,
                                        .job = slot->job,
                                        .bytes = g_bytes_ref (job->value),
                                        .shares = arg_list (slot) });
    }
}

static void
serve_scan (Model *model, Stack *stack)
{
  stack->scan_owed = 0;
  if (stack->top == NULL)
    return;
  GPtrArray *rows = g_ptr_array_new_with_free_func ((GDestroyNotify)row_free);
  guint64 risk_us = 0;
  add_rows (model, stack->top, rows, &risk_us);
  if (rows->len > 0)
    model_say (model, (ModelEvent){ .kind = NODE_EVENT_ROWS, .rows = rows, .risk_us = risk_us });
  else
    g_ptr_array_unref (rows);
}

/* Reports the last scan that all stacks have served. */
static void
say_served (Model *model)
{
  guint64 served = model->scans;

  for (guint i = 0; i < model->n_made; i++)
    if (model->stacks[i]->scan_owed > 0)
      served = MIN (served, model->stacks[i]->scan_owed - 1);
  if (served <= model->served)
    return;
  model->served = served;
  model_say (model, (ModelEvent){ .kind = NODE_EVENT_SERVED, .number = served });
}

void
model_scan_stack (Model *model, Stack *stack)
{
  if (stack->scan_owed == 0)
    return;
  serve_scan (model, stack);
  say_served (model);
}

/* A job of `from` has ended, and its result is on `to`: `to` must report what `from` has not
 * reported. */
void
model_pass_scan (Model *model, const Stack *from, Stack *to)
{
  if (from->scan_owed == 0 || from == to)
    return;
  to->scan_owed = to->scan_owed == 0 ? from->scan_owed : MIN (to->scan_owed, from->scan_owed);
  if (!to->computes && model->now_us >= model->scan_at_us)
    serve_scan (model, to);
}

/* Marks everything as new. */
static void
forget_reported (Stack *stack)
{
  for (Frame *frame = stack->top; frame != NULL; frame = frame->below)
    {
      frame->kept_reported = FALSE;
      for (guint k = 0; k < frame->n_slots; k++)
        frame->slots[k].reported = FALSE;
    }
}

static void
ask_all (Model *model, gboolean whole)
{
  for (guint i = 0; i < model->n_made; i++)
    {
      if (model->stacks[i]->scan_owed == 0)
        model->stacks[i]->scan_owed = MAX (model->scans, 1);
      if (whole)
        forget_reported (model->stacks[i]);
    }
}

static void
serve_idle (Model *model)
{
  for (guint i = 0; i < model->n_made; i++)
    if (model->stacks[i]->scan_owed > 0 && !model->stacks[i]->computes)
      serve_scan (model, model->stacks[i]);
}

/* The time at which a request made now is served. */
static guint64
late_us (Model *model)
{
  guint64 at_us = model->now_us;

  if (model->config.scan_us > 0)
    {
      at_us += rng_below (&model->rng, model->config.scan_us);
      model->config.wake (model->config.data, MODEL_NO_STACK, at_us);
    }
  return at_us;
}

void
model_settle_scans (Model *model)
{
  if (model->served == model->scans || model->now_us < model->scan_at_us)
    return;
  serve_idle (model);
  say_served (model);
}

void
model_scan (Model *model, gboolean whole)
{
  model->scans++;
  ask_all (model, whole);
  if (model->scan_at_us <= model->now_us)
    model->scan_at_us = late_us (model);
  model_settle_scans (model);
}

/* The last scan needs no request. */
void
model_settle_halt (Model *model)
{
  if (model->n_busy > 0 || model->halted || model->now_us < model->halt_at_us)
    return;
  model->halted = TRUE;
  ask_all (model, model->leaving);
  serve_idle (model);
  model_say (model, (ModelEvent){ .kind = NODE_EVENT_HALTED });
}

void
model_halt (Model *model, gboolean leaving)
{
  model->halting = TRUE;
  model->leaving = leaving;
  model->halt_at_us = late_us (model);
  if (leaving)
    model_give_back_inbox (model);
}
