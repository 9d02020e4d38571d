/* SPDX-License-Identifier: BSD-3-Clause */
/* satin_share and satin_shared. The shared bytes to which a job's result or kept state refers are
 * on this node before other nodes hear of it. So a node that has a result has these bytes, and the
 * lender of a job has, or can get, those of its arguments. Called by the owner, except satin_share
 * and share_put. */
#include "config.h"

#include "share.h"

#include "../sched/wait.h"
#include "../sched/worker.h"
#include "pending.h"
#include "shared.h"

#include <string.h>

static const SatinType no_arguments = { "fetch", 1, SATIN_KIND_RECORD, 0, NULL };
static const SatinJob fetch_job
    = { "fetch", &no_arguments, &satin_type_SatinBytes, NULL, 0, sizeof (SatinBytes),
        FALSE,   FALSE,         satin_holds_SatinBytes, FALSE };

static void
unref_shared (void *shared)
{
  shared_unref (shared);
}

SatinShared
satin_share (SatinBytes bytes)
{
  SatinShared shared;

  if (bytes == NULL)
    return NULL;
  shared = shared_add (shared_store_here (), bytes);
  /* A job holds SatinBytes until it returns: these hold the reference. */
  (void)satin_bytes (g_bytes_new_with_free_func ("", 0, unref_shared, shared));
  return shared;
}

static void
place (SatinSlot_ *slot)
{
  slot->job = &fetch_job;
  slot->into = NULL;
  *(GBytes **)slot_result (slot) = NULL;
  slot_set_parent (slot, PARENT_NONE);
  slot_place (slot, KIND_FETCH | SLOT_DONE);
}

/* (transfer full): gets the bytes from another node. */
static GBytes *
fetch (Stack *stack, SatinSlot_ *self, SatinSlot_ *head, SatinShared shared)
{
  const Pending pending = { .kind = PENDING_SHARED, .stack = stack, .slot = head };
  EngineEvent want = { .kind = ENGINE_WANT,
                       .digest = *shared_digest (shared),
                       .length = shared_length (shared) };
  GBytes *bytes = NULL;

  stack_catch_up (stack, self, head, head);
  while (bytes == NULL)
    {
      place (head);
      want.held = figure_get (&stack->shared.serving);
      (void)pending_begin (stack->engine, &pending, &want);
      mailbox_tell (stack->engine);
      wait_for (stack, self, head, head, head + 1);
      stack_close (stack, head);
      bytes = *(GBytes **)slot_result (head);
    }
  return bytes;
}

SatinBytes
satin_shared_at_ (SatinStack_ *open, SatinSlot_ *self, SatinSlot_ *head, SatinShared shared)
{
  GBytes *bytes;

  if (shared == NULL)
    return NULL;
  bytes = shared_bytes (shared);
  if (bytes == NULL)
    bytes = fetch ((Stack *)open, self, head, shared);
  return satin_bytes (bytes);
}

GPtrArray *
share_list (const SatinJob *job, const void *result)
{
  return job->result_holds & satin_holds_SatinShared ? record_list_shared (job->result, result)
                                                     : NULL;
}

void
satin_own_at_ (SatinStack_ *open, SatinSlot_ *self, SatinSlot_ *head, const SatinType *type,
               const void *data)
{
  GPtrArray *list = record_list_shared (type, data);

  if (list != NULL && list->len > RECORD_SHARED_MAX)
    {
      guint n = list->len;

      g_ptr_array_unref (list);
      satin_fail_ (open, self, head,
                   "it returns or keeps %u shared bytes, more than %u, in one value", n,
                   RECORD_SHARED_MAX);
    }
  for (guint i = 0; list != NULL && i < list->len; i++)
    {
      SatinShared shared = list->pdata[i];

      if (shared_keep (shared, NULL))
        continue;
      /* No reference is held during the wait, since the stack may leave the job in it. The job
       * itself holds its result. */
      g_ptr_array_unref (list);
      GBytes *bytes = fetch ((Stack *)open, self, head, shared);
      (void)shared_keep (shared, bytes);
      g_bytes_unref (bytes);
      list = record_list_shared (type, data);
      i = G_MAXUINT; /* start again at the first */
    }
  g_clear_pointer (&list, g_ptr_array_unref);
}

void
share_put (Stack *stack, SatinSlot_ *slot, GBytes *bytes)
{
  *(GBytes **)slot_result (slot) = bytes == NULL ? NULL : g_bytes_ref (bytes);
  slot_finish (slot, KIND_FETCH | SLOT_DONE);
  worker_wake (stack, slot);
}
