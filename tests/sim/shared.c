/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared bytes in the model engine: slots and frames speak of them as the real ones do, and a slot
 * that is given a result must also have the bytes that the result speaks of. */
#include "config.h"

#include "model-private.h"

static SatinShared
enter (Model *model, guint32 blob)
{
  GBytes *bytes = model->config.tree->blobs[blob];

  return shared_enter (model->config.shared, &model->config.tree->blob_digests[blob],
                       g_bytes_get_size (bytes));
}

void
model_speak (Model *model, Slot *slot)
{
  int blob = model->config.tree->jobs[slot->job].speaks;

  if (blob >= 0)
    slot->arg = enter (model, (guint32)blob);
}

void
model_share_own (Model *model, Frame *frame)
{
  GBytes *blob = model->config.tree->blobs[TREE_OWN (frame->slot->job)];

  if (blob != NULL && frame->own == NULL)
    frame->own = shared_add (model->config.shared, blob);
}

/* The result was computed here. */
void
model_give (Model *model, Slot *slot)
{
  GBytes *blob = model->config.tree->blobs[TREE_GIFT (slot->job)];

  if (blob != NULL)
    slot->gift = shared_add (model->config.shared, blob);
}

/* The result came from another node. */
void
model_take_gift (Model *model, Slot *slot)
{
  GBytes *blob = model->config.tree->blobs[TREE_GIFT (slot->job)];

  if (blob == NULL)
    return;
  slot->gift = enter (model, TREE_GIFT (slot->job));
  g_autoptr (GBytes) found = shared_bytes (slot->gift);
  if (found == NULL || !shared_keep (slot->gift, NULL))
    model->config.fail (model->config.data, "I17: has a result without what it speaks of",
                        slot->job);
  else if (!g_bytes_equal (found, blob))
    model->config.fail (model->config.data, "I17: has wrong shared bytes", slot->job);
}

GPtrArray *
model_gifts (const Slot *slots, guint n)
{
  GPtrArray *gifts = NULL;

  for (guint i = 0; i < n; i++)
    if (slots[i].gift != NULL)
      {
        gifts = gifts == NULL ? shared_list_new () : gifts;
        g_ptr_array_add (gifts, shared_ref (slots[i].gift));
      }
  return gifts;
}

static gboolean
is_right (const Model *model, const Frame *frame, GBytes *bytes)
{
  const Tree *tree = model->config.tree;

  return g_bytes_equal (bytes, tree->blobs[tree->jobs[frame->slot->job].speaks]);
}

gboolean
model_fetch (Model *model, Frame *frame)
{
  SatinShared arg = frame->slot->arg;
  g_autoptr (GBytes) bytes = NULL;

  if (!model->config.tree->jobs[frame->slot->job].reads)
    return FALSE;
  bytes = shared_bytes (arg);
  if (bytes != NULL && !is_right (model, frame, bytes))
    model->config.fail (model->config.data, "I17: reads wrong shared bytes", frame->slot->job);
  if (bytes != NULL)
    return FALSE;
  frame->fetch = (Slot){
    .job = frame->slot->job, .state = SLOT_LENT, .fetches = frame, .loan = ++model->last_loan
  };
  g_ptr_array_add (model->fetches, &frame->fetch);
  model->n_fetches++;
  model_say (model, (ModelEvent){ .kind = NODE_EVENT_WANT,
                                  .loan = frame->fetch.loan,
                                  .held = model_held_of (frame),
                                  .number = shared_length (arg),
                                  .digest = *shared_digest (arg) });
  return TRUE;
}

gboolean
model_put_bytes (Model *model, guint64 loan, GBytes *bytes)
{
  for (guint i = 0; i < model->fetches->len; i++)
    {
      Slot *slot = model->fetches->pdata[i];
      if (slot->loan != loan)
        continue;
      g_ptr_array_remove_index (model->fetches, i);
      slot->state = SLOT_DONE;
      if (!is_right (model, slot->fetches, bytes))
        model->config.fail (model->config.data, "I17: was given wrong shared bytes", slot->job);
      return TRUE;
    }
  return FALSE;
}

static void
clear_slot (Slot *slot)
{
  g_clear_pointer (&slot->arg, shared_unref);
  g_clear_pointer (&slot->gift, shared_unref);
}

void
model_slot_free (gpointer slot)
{
  clear_slot (slot);
  g_free (slot);
}

void
model_frame_free (Frame *frame)
{
  for (guint i = 0; i < frame->n_slots; i++)
    clear_slot (&frame->slots[i]);
  g_clear_pointer (&frame->own, shared_unref);
  g_free (frame);
}
