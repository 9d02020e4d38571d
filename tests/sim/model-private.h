/* SPDX-License-Identifier: BSD-3-Clause */
/* What model.c (stacks), seats.c (who runs) and exchange.c (slots that others hold) share. */
#pragma once

#include "model.h"
#include "rng.h"

#define MODEL_STACKS_MAX 32

typedef struct Frame Frame;
typedef struct Stack Stack;

typedef enum
{
  SLOT_READY,   /* nobody has it; also one that came back */
  SLOT_RUNNING, /* it is on a stack here */
  SLOT_LENT,    /* its result will come under `loan`: lent or adopted */
  SLOT_DONE,    /* its result is kept until the parent's job returns, or keeps its phase */
  SLOT_GONE,    /* its phase is kept */
  SLOT_DROPPED  /* aborted, and nobody is in it any more */
} SlotState;

typedef struct
{
  guint32 job;
  SlotState state;
  gboolean reported;  /* its row was in a scan */
  gboolean looked_up; /* among the known paths, since it became ready */
  Frame *parent;      /* NULL: it lies in the inbox, given by model_run */
  Frame *frame;       /* while it runs */
  Frame *fetches;     /* no child: shared bytes for this frame's job are asked for */
  Frame *recalls;     /* no child: what this frame's job has kept is asked for */
  guint64 held, loan, value, work_us;
  guint64 risk_us;  /* of the work, what no row stands for */
  guint64 begin_us; /* in the inbox: not earlier */
  SatinShared arg;  /* what its arguments speak of; NULL: nothing */
  SatinShared gift; /* what its result speaks of */
} Slot;

struct Frame
{
  Slot *slot;
  Stack *stack;
  Frame *below;
  guint phase;
  gboolean begun;
  guint begin;      /* where the present phase's children begin */
  gboolean aborted; /* it is to be left, from the top of its stack down */
  guint n_slots;
  guint n_kept; /* of them: their phases are kept, in: */
  TreeState state;
  gboolean kept_reported;
  Slot recall;
  Slot fetch;      /* no child: shared bytes are asked for */
  SatinShared own; /* what it shares with its children */
  guint64 work_us;
  guint64 segment_us, since_us; /* computes: so long, since then */
  Slot slots[];
};

struct Stack
{
  guint number;
  Frame *top;
  gboolean computes;
  guint64 scan_owed; /* the first scan that it has not served; 0: it has served all */
};

typedef struct
{
  guint32 job;
  gboolean kept; /* what it has kept, not itself */
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
  guint64 served;           /* a scan is not served yet … */
  guint64 scan_at_us, halt_at_us; /* … is not before; nor has the engine halted before */
  GPtrArray *inbox;               /* of Slot, owned: jobs of others, until they are done */
  GPtrArray *waits;               /* of Slot in state SLOT_LENT */
  GPtrArray *fetches;             /* of Slot, the same: that wait for shared bytes */
  guint64 n_fetches;
  GArray *known; /* of Known */
  guint64 last_loan, best, scans, spent_us;
  GArray *said;
  guint n_heard;
};

void model_say (Model *model, ModelEvent event);
/* Starts a ready job on top of this stack, which must have a seat. */
void model_push (Model *model, Stack *stack, Slot *slot);
/* Runs what the top frame may run next: the highest ready child. FALSE: nothing, it waits. */
gboolean model_go_on (Model *model, Stack *stack);
/* What a thief from outside finds. */
Slot *model_oldest (Model *model);
/* What nobody has started goes back to its lender. */
void model_give_back_inbox (Model *model);
/* Says SHARED if somebody waits for that and there is something to lend. */
void model_settle_owed (Model *model);
/* TRUE: somebody holds this ready slot's job; the slot waits for that holder now. */
gboolean model_adopt (Model *model, Slot *slot);
/* Nothing is awaited for it any more. */
static inline gboolean
model_slot_is_over (const Slot *slot)
{
  return slot->state == SLOT_DONE || slot->state == SLOT_GONE || slot->state == SLOT_DROPPED;
}

/* TRUE: somebody holds what this frame's job has kept; it does not begin before that is here. */
gboolean model_recall (Model *model, Frame *frame);
/* shared.c. TRUE: the bytes that this frame's job reads are not here; it does not begin before. */
gboolean model_fetch (Model *model, Frame *frame);
/* TRUE: it was a wish for shared bytes. */
gboolean model_put_bytes (Model *model, guint64 loan, GBytes *bytes);
/* A slot was given its job; its result; a frame is about to spawn. */
void model_speak (Model *model, Slot *slot);
void model_take_gift (Model *model, Slot *slot);
void model_give (Model *model, Slot *slot);
void model_share_own (Model *model, Frame *frame);
/* (transfer full) (nullable) */
GPtrArray *model_gifts (const Slot *slots, guint n);
void model_slot_free (gpointer slot);
void model_frame_free (Frame *frame);
/* Nobody waits for its result any more: what runs in it stops when it is its turn, here or
 * elsewhere. */
void model_abort_slot (Model *model, Slot *slot);
/* Tells who holds this job or something below it that it is in vain, if there is anybody. */
void model_say_covered (Model *model, guint32 job);
/* Pops the aborted frames that nobody is in. TRUE: there were some. */
gboolean model_leave_aborted (Model *model);
/* Its result is here. An inbox slot is freed. */
void model_slot_done (Model *model, Slot *slot, guint64 value, guint64 work_us, guint64 risk_us);
/* Serves what is due by now: the scans that were asked for, and the halt. */
void model_settle_scans (Model *model);
void model_settle_halt (Model *model);
void model_pass_scan (Model *model, const Stack *from, Stack *to);
/* Serves a scan that is due on this stack. */
void model_scan_stack (Model *model, Stack *stack);
