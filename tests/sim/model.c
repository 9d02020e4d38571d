/* SPDX-License-Identifier: BSD-3-Clause */
/* The stacks of the model engine. A stack is a chain of frames; the state of a slot says where its
 * job is. A stack has a seat exactly while its top frame computes; a stack that waits has given up
 * its seat, which stands for parking.
 *
 * Invariant: above a waiting frame there are only jobs below the child that it waits for, or its
 * own children. */
#include "config.h"

#include "model-private.h"

#include <stdio.h>

void
model_say (Model *model, ModelEvent event)
{
  g_array_append_val (model->said, event);
}

gboolean
model_has_event (const Model *model)
{
  return model->n_heard < model->said->len;
}

gboolean
model_next_event (Model *model, ModelEvent *event)
{
  if (model->n_heard == model->said->len)
    {
      if (model->n_heard > 0)
        g_array_set_size (model->said, 0);
      model->n_heard = 0;
      return FALSE;
    }
  *event = g_array_index (model->said, ModelEvent, model->n_heard++);
  return TRUE;
}

static void
compute (Model *model, Stack *stack)
{
  Frame *frame = stack->top;
  guint64 cost_us = (guint64)model->config.tree->jobs[frame->slot->job].cost_us[frame->phase]
                    * model->config.slowness;

  stack->computes = TRUE;
  model->n_busy++;
  frame->segment_us = cost_us;
  frame->since_us = model->now_us;
  model->config.wake (model->config.data, stack->number, model->now_us + cost_us);
}

/* Begins the job if it has the bytes that it reads. FALSE: it waits for them. */
static gboolean
begin (Model *model, Stack *stack)
{
  Frame *frame = stack->top;

  if (frame->fetch.state != SLOT_DONE && model_fetch (model, frame))
    return FALSE;
  frame->begun = TRUE;
  compute (model, stack);
  return TRUE;
}

void
model_push (Model *model, Stack *stack, Slot *slot)
{
  const TreeJob *job = &model->config.tree->jobs[slot->job];
  Frame *frame = g_malloc0 (sizeof (Frame) + job->n_children * sizeof (Slot));

  g_assert (slot->state == SLOT_READY && !stack->computes);
  slot->state = SLOT_RUNNING;
  slot->frame = frame;
  frame->slot = slot;
  frame->stack = stack;
  frame->below = stack->top;
  if (stack->top == NULL)
    model->n_stacks++;
  stack->top = frame;
  model->config.started (model->config.data, slot->job, slot->parent == NULL);
  frame->state = tree_begin (model->config.tree, slot->job);
  frame->recall = (Slot){ .job = slot->job, .recalls = frame };
  if (!model_recall (model, frame))
    (void)begin (model, stack);
}

static void
keep (const Model *model, Frame *frame)
{
  for (; frame->n_kept < frame->n_slots; frame->n_kept++)
    {
      Slot *slot = &frame->slots[frame->n_kept];
      slot->state = SLOT_GONE;
      tree_add (model->config.tree, frame->slot->job, frame->n_kept, slot->value, &frame->state);
    }
  frame->kept_reported = FALSE;
}

/* TRUE: the present phase has the results that it wants. The rest is aborted then. */
static gboolean
is_satisfied (const Model *model, const Frame *frame)
{
  gboolean any = FALSE, all = TRUE, wants = FALSE;

  for (guint k = frame->begin; k < frame->n_slots; k++)
    {
      gboolean done = frame->slots[k].state == SLOT_DONE;
      gboolean wanted = tree_wants (model->config.tree, frame->slot->job, k);
      any = any || done;
      wants = wants || wanted;
      all = all && (done || !wanted);
    }
  return all && (wants || any);
}

static void
abort_rest (Model *model, Frame *frame)
{
  for (guint k = frame->begin; k < frame->n_slots; k++)
    {
      Slot *slot = &frame->slots[k];
      if (model_slot_is_over (slot) || (slot->frame != NULL && slot->frame->aborted))
        continue;
      model->config.forgotten (model->config.data, slot->job);
      model_abort_slot (model, slot);
      model_say_covered (model, slot->job);
    }
}

/* Runs what the top frame may run next; the highest ready child comes first. FALSE: nothing can
 * run, the frame waits. */
gboolean
model_go_on (Model *model, Stack *stack)
{
  Frame *frame = stack->top;
  gboolean over = TRUE;

  if (frame->aborted || frame->recall.state == SLOT_LENT || frame->fetch.state == SLOT_LENT)
    return FALSE;
  if (!frame->begun)
    return begin (model, stack);
  if (is_satisfied (model, frame))
    abort_rest (model, frame);
  for (guint i = frame->n_slots; i-- > 0;)
    {
      Slot *slot = &frame->slots[i];
      if (slot->state == SLOT_READY && !model_adopt (model, slot))
        {
          model_push (model, stack, slot);
          return TRUE;
        }
      over = over && model_slot_is_over (slot);
    }
  if (!over)
    return FALSE;
  if (model->config.tree->jobs[frame->slot->job].keeps)
    keep (model, frame);
  compute (model, stack);
  return TRUE;
}

static void
abort_frame (Model *model, Frame *frame)
{
  frame->aborted = TRUE;
  if (frame->recall.state == SLOT_LENT)
    model_abort_slot (model, &frame->recall);
  if (frame->fetch.state == SLOT_LENT)
    model_abort_slot (model, &frame->fetch);
  for (guint k = 0; k < frame->n_slots; k++)
    model_abort_slot (model, &frame->slots[k]);
}

void
model_abort_slot (Model *model, Slot *slot)
{
  if (slot->state == SLOT_RUNNING)
    abort_frame (model, slot->frame);
  else if (slot->state == SLOT_LENT)
    {
      g_ptr_array_remove (slot->fetches != NULL ? model->fetches : model->waits, slot);
      model_say (model, (ModelEvent){ .kind = NODE_EVENT_ABORTED, .loan = slot->loan });
    }
  if (slot->state == SLOT_READY || slot->state == SLOT_LENT)
    slot->state = SLOT_DROPPED;
}

/* Removes the top frame, which is aborted, from the stack. */
static void
pop_aborted (Model *model, Stack *stack)
{
  Frame *frame = stack->top;
  Slot *slot = frame->slot;

  stack->top = frame->below;
  if (stack->top == NULL)
    model->n_stacks--;
  model_frame_free (frame);
  slot->frame = NULL;
  slot->state = SLOT_DROPPED;
  if (slot->parent != NULL)
    return;
  model_say (model, (ModelEvent){ .kind = NODE_EVENT_UNRUN, .held = slot->held });
  g_ptr_array_remove (model->inbox, slot);
}

static gboolean
has_running (const Frame *frame)
{
  for (guint k = 0; k < frame->n_slots; k++)
    if (frame->slots[k].state == SLOT_RUNNING)
      return TRUE;
  return FALSE;
}

gboolean
model_leave_aborted (Model *model)
{
  gboolean any = FALSE;

  for (guint i = 0; i < model->n_made; i++)
    {
      Stack *stack = model->stacks[i];
      while (stack->top != NULL && !stack->computes && stack->top->aborted
             && !has_running (stack->top))
        {
          pop_aborted (model, stack);
          any = TRUE;
        }
    }
  return any;
}

static void
spawn (Model *model, Frame *frame)
{
  const Tree *tree = model->config.tree;
  const TreeJob *job = &tree->jobs[frame->slot->job];

  model_share_own (model, frame);
  frame->begin = frame->n_slots;
  for (; frame->n_slots < job->ends[frame->phase]; frame->n_slots++)
    {
      Slot *slot = &frame->slots[frame->n_slots];
      slot->job = tree_child (tree, frame->slot->job, frame->n_slots);
      slot->parent = frame;
      model_speak (model, slot);
      if (job->depth + 1 >= PATH_STEM_LEVELS)
        g_free (path_child (model->config.stems, job->path, frame->n_slots));
      model_adopt (model, slot);
    }
  frame->phase++;
}

/* Compares the result that the slots give with the oracle. */
static void
check_result (Model *model, const Frame *frame)
{
  TreeState state = frame->state;

  for (guint i = frame->n_kept; i < frame->n_slots; i++)
    tree_add (model->config.tree, frame->slot->job, i, frame->slots[i].value, &state);
  if (state.hash != model->config.tree->jobs[frame->slot->job].result)
    model->config.fail (model->config.data, "computed a wrong result", frame->slot->job);
}

static void
leave (Model *model, Stack *stack)
{
  Frame *frame = stack->top;
  Slot *slot = frame->slot;
  Frame *parent = slot->parent;
  guint64 work_us = frame->work_us, risk_us = frame->work_us;

  check_result (model, frame);
  for (guint i = 0; i < frame->n_slots; i++)
    {
      work_us += frame->slots[i].work_us;
      risk_us += frame->slots[i].risk_us;
    }
  stack->top = frame->below;
  if (stack->top == NULL)
    model->n_stacks--;
  model_frame_free (frame);
  slot->frame = NULL;
  model_give (model, slot);
  model->config.finished (model->config.data, slot->job);
  model_slot_done (model, slot, model->config.tree->jobs[slot->job].result, work_us, risk_us);
  if (parent != NULL)
    model_pass_scan (model, stack, parent->stack);
}

void
model_wake (Model *model, guint64 now_us, guint number)
{
  Stack *stack = model->stacks[number];
  Frame *frame = stack->top;

  g_assert (stack->computes);
  model->now_us = now_us;
  stack->computes = FALSE;
  model->n_busy--;
  frame->work_us += frame->segment_us;
  model->spent_us += frame->segment_us;
  frame->segment_us = 0;
  if (frame->aborted)
    return; /* Its frames are removed when the stacks settle. */
  if (frame->phase < model->config.tree->jobs[frame->slot->job].n_phases)
    spawn (model, frame);
  else
    leave (model, stack);
  model_scan_stack (model, stack);
  if (!model->halting && stack->top != NULL)
    model_go_on (model, stack);
}

Model *
model_new (const ModelConfig *config)
{
  Model *model = g_new0 (Model, 1);

  model->config = *config;
  model->rng.state = config->seed;
  model->said = g_array_new (FALSE, FALSE, sizeof (ModelEvent));
  model->inbox = g_ptr_array_new_with_free_func (model_slot_free);
  model->waits = g_ptr_array_new ();
  model->fetches = g_ptr_array_new ();
  model->known = g_array_new (FALSE, FALSE, sizeof (Known));
  return model;
}

void
model_free (Model *model)
{
  for (guint i = 0; i < model->n_made; i++)
    {
      while (model->stacks[i]->top != NULL)
        {
          Frame *frame = model->stacks[i]->top;
          model->stacks[i]->top = frame->below;
          model_frame_free (frame);
        }
      g_free (model->stacks[i]);
    }
  for (guint i = model->n_heard; i < model->said->len; i++)
    model_event_clear (&g_array_index (model->said, ModelEvent, i));
  g_array_unref (model->said);
  g_ptr_array_unref (model->inbox);
  g_ptr_array_unref (model->waits);
  g_ptr_array_unref (model->fetches);
  g_array_unref (model->known);
  g_free (model);
}

void
model_stats (const Model *model, ModelStats *stats)
{
  *stats = (ModelStats){ .waits = model->waits->len,
                         .stacks = model->n_stacks,
                         .busy = model->n_busy,
                         .inbox = model->inbox->len,
                         .known = model->known->len,
                         .fetches = model->n_fetches };
}

void
model_each_result (const Model *model, void (*each) (gpointer data, guint32 job), gpointer data)
{
  for (guint i = 0; i < model->n_made; i++)
    for (const Frame *frame = model->stacks[i]->top; frame != NULL && !frame->aborted;
         frame = frame->below)
      for (guint k = 0; k < frame->n_slots; k++)
        if (frame->slots[k].state == SLOT_DONE)
          each (data, frame->slots[k].job);
}

guint32
model_taken (const Model *model, guint32 job)
{
  for (guint i = 0; i < model->n_made; i++)
    for (const Frame *frame = model->stacks[i]->top; frame != NULL; frame = frame->below)
      {
        if (frame->slot->job != job)
          continue;
        while (frame->below != NULL && frame->slot->parent == frame->below)
          frame = frame->below;
        return frame->slot->job;
      }
  return MODEL_NO_JOB;
}

guint64
model_held_of (const Frame *frame)
{
  while (frame->slot->parent != NULL)
    frame = frame->slot->parent;
  return frame->slot->held;
}

static void
add_progress (GArray *progress, guint64 held, guint64 risk_us, gboolean busy)
{
  for (guint i = 0; progress != NULL && i < progress->len; i++)
    {
      NodeProgress *item = &g_array_index (progress, NodeProgress, i);
      if (item->held != held)
        continue;
      item->risk_us += risk_us;
      item->busy += busy;
      return;
    }
  NodeProgress item = { held, risk_us, busy };
  if (progress != NULL)
    g_array_append_val (progress, item);
}

void
model_work (const Model *model, guint64 now_us, NodeEvent *event, GArray *progress)
{
  *event = (NodeEvent){ .kind = NODE_EVENT_WORK, .work_us = model->spent_us, .progress = progress };
  for (guint i = 0; i < model->n_made; i++)
    for (const Frame *frame = model->stacks[i]->top; frame != NULL; frame = frame->below)
      {
        gboolean busy = model->stacks[i]->computes && frame == model->stacks[i]->top;
        guint64 now = busy ? now_us - frame->since_us : 0, risk_us = frame->work_us + now;

        for (guint k = 0; k < frame->n_slots; k++)
          risk_us += frame->slots[k].risk_us;
        event->count += busy;
        event->work_us += now;
        event->risk_us += risk_us;
        add_progress (progress, model_held_of (frame), risk_us, busy);
      }
}

void
model_check_invariants (const Model *model)
{
  guint busy = 0, stacks = 0;

  for (guint i = 0; i < model->n_made; i++)
    {
      const Stack *stack = model->stacks[i];
      busy += stack->computes;
      stacks += stack->top != NULL;
      g_assert (!stack->computes || stack->top != NULL);
#ifndef SATIN_PLANT_BURY
      for (const Frame *frame = stack->top; frame != NULL && frame->below != NULL;
           frame = frame->below)
        g_assert (frame->slot->job != frame->below->slot->job
                  && tree_covers (model->config.tree, frame->below->slot->job, frame->slot->job));
#endif
    }
  g_assert (busy == model->n_busy && stacks == model->n_stacks && busy <= model->config.seats);
  for (guint i = 0; i < model->waits->len; i++)
    g_assert (((const Slot *)model->waits->pdata[i])->state == SLOT_LENT);
}

void
model_print (const Model *model)
{
  static const char *const states[] = { "ready", "running", "lent", "done", "kept", "dropped" };

  for (guint i = 0; i < model->n_made; i++)
    for (const Frame *frame = model->stacks[i]->top; frame != NULL; frame = frame->below)
      {
        printf ("#   stack %u%s%s: '%s' phase %u", i, model->stacks[i]->computes ? " computes" : "",
                frame->recall.state == SLOT_LENT  ? " recalls"
                : frame->fetch.state == SLOT_LENT ? " fetches"
                                                  : "",
                model->config.tree->jobs[frame->slot->job].path, frame->phase);
        for (guint k = 0; k < frame->n_slots; k++)
          printf (" %u:%s:%" G_GUINT64_FORMAT, k, states[frame->slots[k].state],
                  frame->slots[k].loan);
        printf ("\n");
      }
  for (guint i = 0; i < model->inbox->len; i++)
    {
      const Slot *slot = model->inbox->pdata[i];
      printf ("#   inbox: held %" G_GUINT64_FORMAT " '%s' %s\n", slot->held,
              model->config.tree->jobs[slot->job].path, states[slot->state]);
    }
}
