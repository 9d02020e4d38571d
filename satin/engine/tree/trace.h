/* SPDX-License-Identifier: BSD-3-Clause */
/* The place of a slot in the tree: its path, its weight and the spine under it, read from the
 * stacks. Any thread may ask for a claimed slot: the jobs under it wait for it, so they do not
 * change. */
#pragma once

#include "../engine.h"

#define TRACE_FEW 32 /* enough child numbers for most slots */

/* The place of a slot: the job of another node (or of main) at which the climb from the slot ended,
 * and the child numbers from there. Not to be copied. */
typedef struct
{
  Held *held; /* the climb ended at this job; NULL: at `base` */
  const TraceBase *base;
  guint32 *numbers; /* from that job to the slot */
  guint n, room;
  double weight;
  guint32 siblings; /* number of children of its parent */
  gboolean aborted; /* a loan on the way was aborted */
  guint32 few[TRACE_FEW];
} Trace;

void trace_init (Trace *trace, Stack *stack, SatinSlot_ *slot);
/* The same, but the climb ends at `base` if it meets that. Then `aborted` covers only the way to
 * there. */
void trace_init_from (Trace *trace, Stack *stack, SatinSlot_ *slot, const TraceBase *base);
void trace_clear (Trace *trace);
/* (transfer full): the path of the slot, or of its parent. */
char *trace_path (const Trace *trace, Stems *stems);
char *trace_parent_path (const Trace *trace, Stems *stems);

/* (transfer full): the path of a slot, without a Trace. */
char *trace_path_of (Stack *stack, SatinSlot_ *slot);

/* TRUE: the loan is aborted, so its result is not wanted. */
gboolean origin_is_aborted (const Origin *origin);
/* Owner. TRUE: this stack runs a part of an aborted job, as far as the stacks of this engine
 * show. */
gboolean trace_is_aborted (Stack *stack);

/* TRUE: `slot` is a child of the job in `parent`, which runs on the same stack. */
gboolean slot_has_parent (SatinSlot_ *slot, SatinSlot_ *parent);
/* The first slot between `slot` and `end` that has another parent than `slot`; `end`: none has. */
SatinSlot_ *slot_family_end (SatinSlot_ *slot, SatinSlot_ *end);
/* The child number of a slot. Takes logarithmic time. */
guint32 slot_number (Stack *stack, SatinSlot_ *slot);

/* Owner: the jobs that run on this stack, the deepest first: `self` and those under it. NULL self:
 * none. */
GPtrArray *trace_spine (Stack *stack, SatinSlot_ *self);

/* (transfer full): the encoding of a slot's arguments. */
GBytes *slot_encode_args (SatinSlot_ *slot);
/* *shown (nullable): the arguments as a row shows them (loan_show_args). */
Digest slot_digest (Engine *engine, SatinSlot_ *slot, char **shown);
