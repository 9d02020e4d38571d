/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides which stack gets a seat of the model engine: the waiting rule (satin/engine/README). No
 * job of another node runs above a waiting frame; a stack that waits keeps no seat; a stack that
 * can go on comes before any new job. */
#include "config.h"

#include "model-private.h"

/* The child for which a waiting frame waits: the last one that is not done. */
static Slot *
awaited (const Frame *frame)
{
  for (guint i = frame->n_slots; i-- > 0;)
    if (!model_slot_is_over (&frame->slots[i]))
      return (Slot *)&frame->slots[i];
  return NULL;
}

static Slot *
oldest_ready (Model *model, Frame *frame)
{
  for (guint i = 0; i < frame->n_slots; i++)
    if (frame->slots[i].state == SLOT_READY && !model_adopt (model, &frame->slots[i]))
      return &frame->slots[i];
  return NULL;
}

/* The oldest ready job of this stack from frame `bottom` up; `bottom` NULL: of the whole stack. */
static Slot *
oldest_of_stack (Model *model, const Stack *stack, const Frame *bottom)
{
  Slot *oldest = NULL;

  for (Frame *frame = stack->top; frame != NULL; frame = frame->below)
    {
      Slot *slot = oldest_ready (model, frame);
      if (slot != NULL)
        oldest = slot;
      if (frame == bottom)
        break;
    }
  return oldest;
}

/* Leapfrogging: while a child runs on another stack, only jobs below that child may run on top. */
static gboolean
leapfrog (Model *model, Stack *stack)
{
  Slot *child = awaited (stack->top);

  if (child == NULL || child->state != SLOT_RUNNING || stack->top->aborted)
    return FALSE;
  Slot *slot = oldest_of_stack (model, child->frame->stack, child->frame);
  if (slot == NULL)
    return FALSE;
  model_push (model, stack, slot);
  return TRUE;
}

static gboolean
resume_a_waiting_stack (Model *model)
{
  for (guint i = 0; i < model->n_made; i++)
    {
      Stack *stack = model->stacks[i];
      if (stack->top == NULL || stack->computes)
        continue;
      if (model_go_on (model, stack) || leapfrog (model, stack))
        return TRUE;
    }
  return FALSE;
}

/* An empty stack for a job of another node; NULL: the limit is reached. A root always gets a
 * stack. */
static Stack *
free_stack (Model *model, guint32 job)
{
#ifdef SATIN_PLANT_BURY
  for (guint i = 0; i < model->n_made; i++)
    if (model->stacks[i]->top != NULL && !model->stacks[i]->computes)
      return model->stacks[i];
#endif
  if (model->n_stacks
      >= model->config.stacks_max + (tree_is_root (model->config.tree, job) ? 1 : 0))
    return NULL;
  for (guint i = 0; i < model->n_made; i++)
    if (model->stacks[i]->top == NULL)
      return model->stacks[i];
  g_assert (model->n_made < MODEL_STACKS_MAX);
  Stack *stack = g_new0 (Stack, 1);
  stack->number = model->n_made;
  model->stacks[model->n_made++] = stack;
  return stack;
}

static gboolean
start_from_inbox (Model *model)
{
  for (guint i = 0; i < model->inbox->len; i++)
    {
      Slot *slot = model->inbox->pdata[i];
      if (slot->state != SLOT_READY || slot->begin_us > model->now_us)
        continue;
      Stack *stack = free_stack (model, slot->job);
      if (stack == NULL)
        return FALSE;
      model_push (model, stack, slot);
      return TRUE;
    }
  return FALSE;
}

/* The job for a thief of another node: searches from a random stack on. */
Slot *
model_oldest (Model *model)
{
  guint at = model->n_made == 0 ? 0 : (guint)rng_below (&model->rng, model->n_made);

  for (guint i = 0; i < model->n_made; i++, at = at + 1 < model->n_made ? at + 1 : 0)
    {
      const Stack *stack = model->stacks[at];
      Slot *slot = stack->top == NULL ? NULL : oldest_of_stack (model, stack, NULL);
      if (slot != NULL)
        return slot;
    }
  return NULL;
}

static gboolean
steal_here (Model *model)
{
  Stack *stack = free_stack (model, G_MAXUINT32);
  Slot *slot = stack == NULL ? NULL : model_oldest (model);

  if (slot == NULL)
    return FALSE;
  model_push (model, stack, slot);
  return TRUE;
}

/* If every seat waits at the limit of stacks, jobs in the inbox could wait for ever, so they go
 * back. */
void
model_give_back_inbox (Model *model)
{
  for (guint i = model->inbox->len; i-- > 0;)
    {
      Slot *slot = model->inbox->pdata[i];
      if (slot->state != SLOT_READY || tree_is_root (model->config.tree, slot->job))
        continue;
      model_say (model, (ModelEvent){ .kind = NODE_EVENT_UNRUN, .held = slot->held });
      g_ptr_array_remove_index (model->inbox, i);
    }
}

static void
say_hungry (Model *model)
{
  guint room = model->config.stacks_max - MIN (model->config.stacks_max, model->n_stacks);
  guint hungry = MIN (model->config.seats - model->n_busy, room);

  if (hungry == model->hungry && !(model->fed && hungry > 0))
    return;
  model->hungry = hungry;
  model->fed = FALSE;
  if (hungry > 0 || !model->config.terse)
    model_say (model, (ModelEvent){ .kind = NODE_EVENT_IDLE, .count = hungry });
}

void
model_settle (Model *model, guint64 now_us)
{
  model->now_us = now_us;
  if (model->halting)
    model_settle_halt (model);
  model_settle_scans (model);
  if (model->halting)
    return;
  while (model->n_busy < model->config.seats
         && (model_leave_aborted (model) || resume_a_waiting_stack (model)
             || start_from_inbox (model) || steal_here (model)))
    ;
  if (model->n_busy == 0 && model->n_stacks >= model->config.stacks_max)
    model_give_back_inbox (model);
  say_hungry (model);
  model_settle_owed (model);
}
