/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a slot stands in the tree: its path, weight and the spine under it, read off the stacks.
 * For a claimed slot any thread may ask, since everything below it stands still until it returns.
 */
#pragma once

#include "../engine.h"

#define TRACE_FEW 32 /* numbers, mostly */

/* A slot's place: the job that another node (or main) gave to this engine, and the child numbers
 * from it. Not to be copied. */
typedef struct
{
  Held *held;            /* where the climb ended, or NULL and … */
  const TraceBase *base; /* … here */
  guint32 *numbers;      /* from held's job to the slot */
  guint n, room;
  double weight;
  guint32 siblings; /* how many children its parent has */
  gboolean aborted; /* a loan on the way was aborted */
  guint32 few[TRACE_FEW];
} Trace;

void trace_init (Trace *trace, Stack *stack, SatinSlot_ *slot);
/* The same, but `base` may be where it ends; `aborted` is then about the way to there. */
void trace_init_from (Trace *trace, Stack *stack, SatinSlot_ *slot, const TraceBase *base);
void trace_clear (Trace *trace);
/* (transfer full): the path of the slot, and of its parent. */
char *trace_path (const Trace *trace, Stems *stems);
char *trace_parent_path (const Trace *trace, Stems *stems);

/* (transfer full): the same, of this slot alone. */
char *trace_path_of (Stack *stack, SatinSlot_ *slot);

/* Nobody waits for the result of this loan any more. */
gboolean origin_is_aborted (const Origin *origin);
/* Owner: is what runs on this stack part of an aborted job, as far as the stacks of this engine
 * tell? */
gboolean trace_is_aborted (Stack *stack);

/* Is it a child of that job, which runs on the same stack? */
gboolean slot_has_parent (SatinSlot_ *slot, SatinSlot_ *parent);
/* The first slot between `slot` and `end` that has another parent than `slot`; `end`: none has. */
SatinSlot_ *slot_family_end (SatinSlot_ *slot, SatinSlot_ *end);
/* The child number of a slot, in a time that depends little on it. */
guint32 slot_number (Stack *stack, SatinSlot_ *slot);

/* Owner: the jobs that run on this stack, the deepest first: `self` and those under it. NULL self:
 * none. */
GPtrArray *trace_spine (Stack *stack, SatinSlot_ *self);

/* (transfer full): the encoding of a slot's arguments. */
GBytes *slot_encode_args (SatinSlot_ *slot);
/* `shown` (nullable): gets the arguments as a row tells them: loan_show_args. */
Digest slot_digest (Engine *engine, SatinSlot_ *slot, char **shown);
