/* SPDX-License-Identifier: BSD-3-Clause */
/* satin_keep and satin_recall. satin_keep copies the state and releases the slots of the finished
 * phases, so that a job of a million phases needs the memory of one. It encodes nothing; scans do.
 * satin_recall asks the holder of a state as a job asks for the result of a child. Called by the
 * owner, except keep_put. */
#include "config.h"

#include "keep.h"

#include "../door/share.h"
#include "../sched/wait.h"
#include "../tree/adopt.h"
#include "../tree/trace.h"

Digest
keep_digest (Engine *engine, SatinSlot_ *self, const SatinType *type, char **shown)
{
  Digest job = slot_digest (engine, self, shown);
  g_autofree char *schema = record_schema (type);
  g_autoptr (GBytes) kind = g_bytes_new_static ("kept", 4);
  g_autoptr (GBytes) of_type = g_bytes_new_static (schema, strlen (schema));
  g_autoptr (GBytes) of_job = g_bytes_new_static (job.bytes, sizeof job.bytes);
  const GBytes *parts[] = { kind, of_type, of_job };

  return digest_of (parts, G_N_ELEMENTS (parts));
}

Row *
keep_row (Engine *engine, SatinSlot_ *slot, SatinSlot_ *self, const char *path)
{
  const SatinType *type = slot->job->result;
  g_autofree char *signature = record_signature (type);
  g_autoptr (GBytes) value = record_encode (type, slot_result (slot));
  g_autofree char *args = NULL;
  Digest digest = keep_digest (engine, self, type, &args);

  Row *row = row_new_kept (path, keep_children (slot), engine_job_index (engine, self->job),
                           &digest, 0, signature, value);

  row->args = g_steal_pointer (&args);
  row->shares = share_list (slot->job, slot_result (slot));
  return row;
}

void
keep_put (Stack *stack, SatinSlot_ *slot, GBytes *packed, const Work *work)
{
  KeepHead *head = slot_payload (slot);
  g_autoptr (GBytes) value = NULL;

  if (packed != NULL)
    value = row_unpack_kept (packed, &head->children);
  if (value != NULL && record_decode (slot->job->result, value, slot_result (slot), NULL))
    clock_give (stack, slot, work);
  else
    {
      head->children = 0;
      memset (slot_result (slot), 0, slot->job->result->size);
    }
  head->reported = head->children;
  slot_finish (slot, KIND_KEPT | SLOT_DONE);
}

/* The job's part of the arena becomes empty, or has room for the state if that is large. */
static void
renew_arena (SatinPhases_ *phases)
{
  if (phases->arena != NULL)
    satin_arena_drop_ (phases->stack, phases->arena);
  phases->arena = NULL;
  if (phases->keeps->big)
    phases->arena
        = satin_arena_take_ (phases->stack, phases->self, phases->head, phases->keeps->payload);
}

/* The readers of a state refuse longer types. A program keeps few types, again and again. */
static void
check_type (const SatinPhases_ *phases)
{
  static const SatinType *checked; /* atomic: the last type that was short enough */
  const SatinType *type = phases->keeps->result;

  if (__atomic_load_n (&checked, __ATOMIC_RELAXED) == type)
    return;
  g_autofree char *signature = record_signature (type);
  gsize size = strlen (signature);
  if (size > RECORD_SIGNATURE_MAX)
    satin_fail_ (phases->stack, phases->self, phases->head,
                 "it keeps a state whose type takes %" G_GSIZE_FORMAT
                 " characters to write, more than %u: keep arrays or SatinBytes instead",
                 size, RECORD_SIGNATURE_MAX);
  __atomic_store_n (&checked, type, __ATOMIC_RELAXED);
}

/* Makes the first slot of the frame a kept slot without a state. */
static void
place (SatinPhases_ *phases)
{
  SatinSlot_ *slot = phases->base;

  check_type (phases);
  slot->job = phases->keeps;
  slot->into = NULL;
  renew_arena (phases);
  if (phases->keeps->big)
    memcpy (slot->payload, &phases->arena, sizeof phases->arena);
  *(KeepHead *)slot_payload (slot) = (KeepHead){ 0, 0 };
  slot_set_parent (slot, (guint32)(guintptr)phases->self);
  slot_place (slot, KIND_KEPT | SLOT_DONE);
}

static guint32
add_children (const SatinPhases_ *phases, guint32 children, gsize n)
{
  if (n > G_MAXUINT32 - children)
    satin_fail_ (phases->stack, phases->self, phases->head, "it spawns more than %u children",
                 G_MAXUINT32);
  return children + (guint32)n;
}

void
satin_keep_at_ (SatinPhases_ *phases, const void *state)
{
  const SatinJob *keeps = phases->keeps;
  g_autofree void *copy = NULL;
  guint32 children;
  SatinSlot_ *first;

  if (keeps->result_holds & satin_holds_SatinShared)
    satin_own_at_ (phases->stack, phases->self, phases->head, keeps->result, state);
  first = keep_first (phases->base, phases->head, &children);
  children = add_children (phases, children, (gsize)(phases->head - first));
  if (keeps->result_holds)
    {
      copy
          = g_malloc (keeps->result->size); /* before the release below, which may free the state */
      record_copy (keeps->result, copy, state);
      state = copy;
    }
  if (phases->holds || ((Stack *)phases->stack)->own.fresh->len > phases->fresh)
    satin_release_ (phases->stack, phases->base, phases->head, phases->fresh);
  if (first != phases->base && phases->base->job == keeps)
    renew_arena (phases); /* the slot itself stays */
  else
    place (phases);
  ((KeepHead *)slot_payload (phases->base))->children = children;
  memcpy (slot_result (phases->base), state, keeps->result->size);
  phases->head = phases->base + 1;
}

/* Asks one holder after another and waits. FALSE: none has a state. No reference is held during the
 * wait, since the stack may leave the job in it. */
static gboolean
ask_holders (SatinPhases_ *phases, const Digest *digest)
{
  Stack *stack = (Stack *)phases->stack;
  SatinSlot_ *slot = phases->base;

  place (phases);
  memset (slot_result (slot), 0, slot->job->result->size);
  while (keep_children (slot) == 0 && adopt_kept (stack, slot, phases->self, digest))
    {
      wait_for (stack, phases->self, slot, slot, slot + 1);
      stack_close (stack, slot);
    }
  if (keep_children (slot) > 0)
    return TRUE;
  if (phases->arena != NULL)
    satin_arena_drop_ (phases->stack, phases->arena);
  phases->arena = NULL;
  return FALSE;
}

int
satin_recall_at_ (SatinPhases_ *phases, void *state)
{
  Stack *stack = (Stack *)phases->stack;
  Engine *engine = stack->engine;
  Digest digest;

  if (known_here_is_empty (&engine->known))
    return FALSE;
  stack_catch_up (stack, phases->self, phases->base, phases->base);
  digest = keep_digest (engine, phases->self, phases->keeps->result, NULL);
  if (!ask_holders (phases, &digest))
    return FALSE;
  memcpy (state, slot_result (phases->base), phases->keeps->result->size);
  phases->head = phases->base + 1;
  adopt_cover_phases (stack, phases->self, keep_children (phases->base));
  return TRUE;
}
