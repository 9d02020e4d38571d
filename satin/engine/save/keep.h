/* SPDX-License-Identifier: BSD-3-Clause */
/* What a job with phases has kept. It lies in the first slot of the job's frame: a KIND_KEPT slot
 * of the pseudo-job that SATIN_KEEPS makes, whose result is the state and which says how many
 * children the state stands for. So frames that keep nothing pay nothing, a thief finds the number
 * of a child where it looks for the first one, and a scan finds the state where it looks for rows.
 * While satin_recall waits, that slot waits for its holder as any lent slot does. */
#pragma once

#include "../engine.h"
#include "clock.h"

/* Such a slot's payload, up to the state; the inlined code knows the size. */
typedef struct
{
  guint32 children;
  guint32 reported; /* how many when a scan last looked */
} KeepHead;
G_STATIC_ASSERT (sizeof (KeepHead) == SATIN_KEEP_AT_);

static inline gboolean
slot_is_kept (const SatinSlot_ *slot)
{
  return slot_kind (slot) == KIND_KEPT;
}

/* How many children the state in a kept slot stands for; 0: it is still waited for, or there is
 * none. */
static inline guint32
keep_children (SatinSlot_ *slot)
{
  return SLOT_STATE (slot_state (slot)) == SLOT_DONE ? ((KeepHead *)slot_payload (slot))->children
                                                     : 0;
}

static inline guint32
keep_reported (SatinSlot_ *slot)
{
  return ((KeepHead *)slot_payload (slot))->reported;
}

static inline void
keep_set_reported (SatinSlot_ *slot)
{
  KeepHead *head = slot_payload (slot);

  head->reported = head->children;
}

/* Where the children of a frame begin whose slots begin at `base` and end before `end`, and the
 * number of the first of them. */
static inline SatinSlot_ *
keep_first (SatinSlot_ *base, const SatinSlot_ *end, guint32 *number)
{
  gboolean kept = base < end && slot_is_kept (base);

  *number = kept ? keep_children (base) : 0;
  return kept ? base + 1 : base;
}

/* Of what the job in slot `self` keeps: a state is another thing than a result of the same job, and
 * one of another type is none. `shown` (nullable): gets the arguments (slot_digest). */
Digest keep_digest (Engine *engine, SatinSlot_ *self, const SatinType *type, char **shown);
/* (transfer full): the row of a kept slot of job `self` that has children. Owner. */
Row *keep_row (Engine *engine, SatinSlot_ *slot, SatinSlot_ *self, const char *path);

/* The driver: what a holder sent for a kept slot of this stack, and what was done for it; NULL: he
 * has nothing. The slot is finished. */
void keep_put (Stack *stack, SatinSlot_ *slot, GBytes *packed, const Work *work);
