/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by model.c (stacks), seats.c (which stack runs), exchange.c (slots that other nodes hold),
 * scans.c and shared.c. */
#pragma once

#include "model.h"
#include "rng.h"

#define MODEL_STACKS_MAX 32

typedef struct Frame Frame;
typedef struct Stack Stack;

typedef enum
{
  SLOT_READY,   /* No process has it; it may have come back. */
  SLOT_RUNNING, /* It is on a stack here. */
  SLOT_LENT,    /* Its result will come under `loan`: it was lent or adopted. */
  SLOT_DONE,    /* Its result is kept until the parent's job returns or keeps its phase. */
  SLOT_GONE,    /* Its phase is kept. */
  SLOT_DROPPED  /* It was aborted, and no frame is left in it. */
} SlotState;

typedef struct
{
  guint32 job;
  SlotState state;
  gboolean reported;  /* Its row was in a scan. */
  gboolean looked_up; /* Since it became ready, the known paths were searched for it. */
  Frame *parent;      /* NULL: it was given by model_run and lies in the inbox. */
  Frame *frame;       /* While it runs. */
  Frame *fetches;     /* Not a child: a request for the shared bytes that this frame's job reads. */
  Frame *recalls;     /* Not a child: a request for what this frame's job has kept. */
  guint64 held, loan, value, work_us;
  guint64 risk_us;  /* The part of the work that no row covers. */
  guint64 begin_us; /* In the inbox: it does not begin earlier. */
  SatinShared arg;  /* What its arguments speak of; NULL: nothing. */
  SatinShared gift; /* What its result speaks of. */
} Slot;

struct Frame
{
  Slot *slot;
  Stack *stack;
  Frame *below;
  guint phase;
  gboolean begun;
  guint begin;      /* The first child of the present phase. */
  gboolean aborted; /* The frames are to be removed, from the top of the stack down. */
  guint n_slots;
  guint n_kept; /* The number of slots whose phases are kept, in: */
  TreeState state;
  gboolean kept_reported;
  Slot recall;
  Slot fetch;      /* Not a child: a request for shared bytes. */
  SatinShared own; /* The bytes that it shares with its children. */
  guint64 work_us;
  guint64 segment_us, since_us; /* It computes: for how long, and since when. */
  Slot slots[];
};

struct Stack
{
  guint number;
  Frame *top;
  gboolean computes;
  guint64 scan_owed; /* The first scan that it has not served; 0: it has served all. */
};

typedef struct
{
  guint32 job;
  gboolean kept; /* TRUE: what the job has kept; FALSE: its result. */
  NodeId holder;
  guint32 finished;
} Known;

struct Model
{
  ModelConfig config;
  Rng rng;
  guint64 now_us;
  Stack *stacks[MODEL_STACKS_MAX];
  guint n_made, n_stacks, n_busy, hungry;
  gboolean leaving;
  gboolean fed, owed, halting, halted;
  guint64 served;                 /* A scan is not served yet. */
  guint64 scan_at_us, halt_at_us; /* Neither is served before these times. */
  GPtrArray *inbox;               /* Of Slot, owned: jobs of other nodes, until they are done. */
  GPtrArray *waits;               /* Of Slot in state SLOT_LENT. */
  GPtrArray *fetches;             /* Of Slot, also lent: those that wait for shared bytes. */
  guint64 n_fetches;
  GArray *known; /* Of Known. */
  guint64 last_loan, best, scans, spent_us;
  GArray *said;
  guint n_heard;
};

void model_say (Model *model, ModelEvent event);
/* Starts a ready job on top of this stack. The stack must have a seat. */
void model_push (Model *model, Stack *stack, Slot *slot);
/* Runs what the top frame may run next: the highest ready child. FALSE: nothing can run, the frame
 * waits. */
gboolean model_go_on (Model *model, Stack *stack);
/* The number of the held job that this frame is part of. */
guint64 model_held_of (const Frame *frame);
/* The slot that a thief of another node gets; NULL: none. */
Slot *model_oldest (Model *model);
/* Sends the jobs that have not started back to their lenders. */
void model_give_back_inbox (Model *model);
/* Says SHARED if thieves wait and there is something to lend. */
void model_settle_owed (Model *model);
/* TRUE: another node is known to hold this ready slot's job, and the slot now waits for that
 * holder. */
gboolean model_adopt (Model *model, Slot *slot);
/* TRUE: nothing more is awaited for the slot. */
static inline gboolean
model_slot_is_over (const Slot *slot)
{
  return slot->state == SLOT_DONE || slot->state == SLOT_GONE || slot->state == SLOT_DROPPED;
}

/* TRUE: another node is known to hold what this frame's job has kept; the frame does not begin
 * before that has arrived. */
gboolean model_recall (Model *model, Frame *frame);
/* shared.c. TRUE: the bytes that this frame's job reads are missing; the job does not begin before
 * they have arrived. */
gboolean model_fetch (Model *model, Frame *frame);
/* TRUE: the loan was a request for shared bytes, which is answered now. */
gboolean model_put_bytes (Model *model, guint64 loan, GBytes *bytes);
/* These follow shared bytes: a slot was given its job, its result came from elsewhere, it was
 * computed here, or a frame is about to spawn. */
void model_speak (Model *model, Slot *slot);
void model_take_gift (Model *model, Slot *slot);
void model_give (Model *model, Slot *slot);
void model_share_own (Model *model, Frame *frame);
/* (transfer full) (nullable) What the results of these slots speak of. */
GPtrArray *model_gifts (const Slot *slots, guint n);
void model_slot_free (gpointer slot);
void model_frame_free (Frame *frame);
/* The result of this slot is not wanted any more: what runs in it stops at its next turn, here or
 * at another node. */
void model_abort_slot (Model *model, Slot *slot);
/* Tells the known holders of this job, or of jobs below it, that it is covered. */
void model_say_covered (Model *model, guint32 job);
/* Removes the aborted frames in which nothing runs. TRUE: there were some. */
gboolean model_leave_aborted (Model *model);
/* The slot's result has arrived. A slot of the inbox is freed. */
void model_slot_done (Model *model, Slot *slot, guint64 value, guint64 work_us, guint64 risk_us);
/* Serve what is due: the scans that were asked for, and the halt. */
void model_settle_scans (Model *model);
void model_settle_halt (Model *model);
void model_pass_scan (Model *model, const Stack *from, Stack *to);
/* Serves a scan that is due on this stack. */
void model_scan_stack (Model *model, Stack *stack);
