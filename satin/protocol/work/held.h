/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs that this node holds for others: it runs them, or has finished them. Each has its return
 * address. A finished job stays until its lender says that the result is in a slot. A job whose
 * lender left is an orphan (orphans.c). Driver's thread. */
#pragma once

#include "../members/member.h"
#include "../node.h"
#include "work.h"

/* With buddies a result that its lender will give a row too gets one here only if its job took so
 * long, and so much longer for each byte of its value, that its row costs 0.12 % of that at most. A
 * row costs about 10 us, and 1 ns a byte. */
#define HELD_ROW_PRICE_US(bytes) (8333 + (guint64)(bytes)*833 / 1000)

typedef enum
{
  LENDER_NONE, /* an orphan */
  LENDER_NODE,
  LENDER_SELF,   /* adopted by a slot of this node */
  LENDER_REPEAT, /* this node, which has a result of that loan already (verify.h) */
  LENDER_MAIN,   /* a root: the one under way, or a finished one, whose row stays worth saving */
  LENDER_VAIN /* nobody wants it: it is dropped when it has stopped or ended, and stays in vain */
} Lender;

/* What the keeper has said of a finished one (holdback.h). */
typedef enum
{
  HELD_NO_WORD, /* nothing, and it is not waited for */
  HELD_WAITS,   /* RESULT is held back */
  HELD_KEPT     /* it has the row */
} HeldWord;

/* The copy of its result for its lender's keeper (mirror.h). */
typedef enum
{
  HELD_COPY_NONE, /* there is none, or the keeper has it */
  HELD_COPY_SENT, /* the keeper has not confirmed it … */
  HELD_COPY_OWED  /* … and that is all that this one waits for: its lender has the result */
} HeldCopy;

struct HeldJob
{
  guint64 held;
  HeldJob *next; /* with the same path */
  Lender lender;
  NodeId node;  /* LENDER_NODE */
  guint64 loan; /* LENDER_NODE, LENDER_SELF, LENDER_REPEAT */
  Loan *job;    /* owned; without long arguments once finished */
  gboolean finished;
  gboolean announced;
  gboolean alone;    /* nothing else is taken until it has ended */
  gboolean handed;   /* its row waits for an heir, or went there */
  gboolean again;    /* it is, or is part of, a second computation for another node (verify.h) */
  gboolean deferred; /* the engine has finished it, and that counts later (verify-own.h) */
  gboolean given_up; /* began under an earlier name of this node, which counts as gone */
  gboolean saved;    /* the present coordinator was sent its row */
  GBytes *value;
  GPtrArray *shares; /* (nullable) what it speaks of */
  guint64 work_us;
  guint64 risk_us; /* of it, what no row that was sent stands for; while it runs: as last told */
  guint32 busy;    /* seats at work for it, as last told */
  WorkTold told;   /* of it, what its lender was told last, or reckons without a word */
  guint64 began_ms, took_ms; /* of a finished one, for its row */
  HeldWord word;
  guint64 mark; /* HELD_WAITS, HELD_KEPT: of the row, see buddy_send_row */
  HeldCopy copy;
  NodeId copied_to;    /* the lender's keeper, which got the last copy; none: nobody */
  guint64 copy_number; /* of the result among those that the lender got; 0: it has none */
};

typedef struct
{
  GTree *by_number; /* of HeldJob, owning */
  GTree *by_return; /* LENDER_NODE only, by (node, loan), which is the HeldJob's own */
  GTree *by_path;   /* path -> the first HeldJob of it, whose path it is */
  guint64 numbers;
  guint unfinished; /* given to the engine, and neither done nor unrun … */
  guint alone;      /* … of them such as run alone */
} Held;

void held_init (Node *node);
void held_done (Node *node);
/* Takes `job`. */
HeldJob *held_add (Node *node, Loan *job);
void held_drop (Node *node, HeldJob *held);
HeldJob *held_find (Node *node, guint64 number);
HeldJob *held_find_return (Node *node, const NodeId *id, guint64 loan);
/* (nullable): the first with this path. */
HeldJob *held_at (Node *node, const char *path);
void held_set_lender (Node *node, HeldJob *held, Lender lender, const NodeId *id, guint64 loan);
/* Gives it to the engine. */
void held_run (Node *node, HeldJob *held);
/* Its RESULT, and the copy for its lender's keeper, if the plan has one. LENDER_NODE only. */
void held_send_result (Node *node, HeldJob *held);
/* The row of a finished one. (transfer full) */
Row *held_row (Node *node, const HeldJob *held);
/* Hands a finished one to its lender, wherever that is. May drop it. */
void held_return (Node *node, HeldJob *held);
/* Nobody wants it any more: if it runs, it is to stop. May drop it. */
void held_give_up (Node *node, HeldJob *held);

void held_on_jobs (Node *node, const NodeId *from, const Message *message);
void held_on_done (Node *node, const NodeEvent *event);
/* It is given back: nobody has begun it. `robbed`: since another node wants work, not because there
 * is no room for it here. */
void held_on_unrun (Node *node, guint64 number, gboolean robbed);
/* `in_round`: its lender has heard of a round of saving. */
void held_on_ack (Node *node, const NodeId *from, guint64 loan, gboolean in_round);
void held_on_cancelled (Node *node, const NodeId *from, guint64 loan);
/* The lender's job yields (yield.h): what is held for it is offered. */
void held_on_disown (Node *node, const NodeId *from, guint64 loan);
void held_disown_self (Node *node, guint64 loan);
void held_departed (Node *node, const NodeId *id);
/* This node lost its name: whatever it holds for others is orphaned. */
void held_orphan_all (Node *node);
/* (transfer full): rows of finished ones that this coordinator was not yet sent. `risk_us` (out):
 * so much less is at risk when they are published. */
GPtrArray *held_rows (Node *node, guint64 *risk_us);
void held_forget_saved (Node *node);
/* Adds the rows of finished ones that have no other node as their lender, once: this node leaves.
 */
void held_collect (Node *node, GPtrArray *rows);
/* Calls `each` for the lenders of what is held for other nodes; some more than once. */
void held_each_lender (Node *node, void (*each) (const NodeId *lender, gpointer data),
                       gpointer data);
/* (nullable): the held job whose lender is this slot of the own engine. */
HeldJob *held_find_self (Node *node, guint64 loan);
/* Does a held job have this slot of the own engine as its lender? */
gboolean held_waits_for_self (Node *node, guint64 loan);
void held_check (Node *node);
