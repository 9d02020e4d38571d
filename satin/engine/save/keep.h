/* SPDX-License-Identifier: BSD-3-Clause */
/* The state that a job with phases has kept. It lies in the first slot of the job's frame: a
 * KIND_KEPT slot of the pseudo-job that SATIN_KEEPS makes. The result of that slot is the state;
 * its head has the number of children for which the state stands. So frames that keep nothing pay
 * nothing; a thief finds the number of a child where it looks for the first child, and a scan finds
 * the state where it looks for rows. While satin_recall waits, the slot is away as a lent slot is.
 */
#pragma once

#include "../engine.h"
#include "clock.h"

/* The payload of a kept slot up to the state. Inlined code knows its size. */
typedef struct
{
  guint32 children;
  guint32 reported; /* `children` at the last scan that reported it */
} KeepHead;
G_STATIC_ASSERT (sizeof (KeepHead) == SATIN_KEEP_AT_);

static inline gboolean
slot_is_kept (const SatinSlot_ *slot)
{
  return slot_kind (slot) == KIND_KEPT;
}

/* The number of children for which the state in a kept slot stands; 0: there is no state, or none
 * yet. */
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

/* The first child of a frame whose slots are [base, end), and its number. */
static inline SatinSlot_ *
keep_first (SatinSlot_ *base, const SatinSlot_ *end, guint32 *number)
{
  gboolean kept = base < end && slot_is_kept (base);

  *number = kept ? keep_children (base) : 0;
  return kept ? base + 1 : base;
}

/* The digest of a state of this type that the job in slot `self` keeps. It differs from the digest
 * of the job's result, and for each type. `shown` (nullable): gets the arguments (slot_digest). */
Digest keep_digest (Engine *engine, SatinSlot_ *self, const SatinType *type, char **shown);
/* (transfer full): the row of a kept slot of job `self` that has children. Owner. */
Row *keep_row (Engine *engine, SatinSlot_ *slot, SatinSlot_ *self, const char *path);

/* The driver: finishes a kept slot of this stack. `packed`: the state that a holder sent, NULL: it
 * has none. `work`: the cost of the phases. */
void keep_put (Stack *stack, SatinSlot_ *slot, GBytes *packed, const Work *work);
