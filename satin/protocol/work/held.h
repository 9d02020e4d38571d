/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs that this node holds for others: it runs them, or has finished them. Each has its return
 * address. A finished job stays until its lender says that the result is in a slot. A job whose
 * lender left is an orphan (orphans.c). Driver's thread. */
#pragma once

#include "../members/member.h"
#include "../node.h"
#include "work.h"

/* With buddies the lender makes a row of a result, too. So this node makes one only if the job took
 * at least this long for a value of so many bytes: then the row, which costs about 10 us, and 1 ns
 * a byte, costs at most 0.12 % of the job. */
#define HELD_ROW_PRICE_US(bytes) (8333 + (guint64)(bytes)*833 / 1000)

typedef enum
{
  LENDER_NONE, /* an orphan */
  LENDER_NODE,
  LENDER_SELF,   /* adopted by a slot of this node */
  LENDER_REPEAT, /* this node, which has a result of that loan already (verify.h) */
  LENDER_MAIN,   /* a root: the one under way, or a finished one, whose row stays worth saving */
  LENDER_VAIN    /* no node wants it: it is dropped when it has stopped or ended */
} Lender;

typedef enum
{
  HELD_RUNS,
  HELD_DEFERRED, /* the engine has finished it, but it counts as running (verify-own.h) */
  HELD_FINISHED  /* it has a value */
} HeldPhase;

/* The keeper's answer about a finished job (holdback.h). */
typedef enum
{
  HELD_NO_WORD, /* none, and none is awaited */
  HELD_WAITS,   /* RESULT is held back */
  HELD_KEPT     /* the keeper has the row */
} HeldWord;

/* The copy of its result for its lender's keeper (mirror.h). */
typedef enum
{
  HELD_COPY_NONE, /* there is no copy, or the keeper has it */
  HELD_COPY_SENT, /* the keeper has not confirmed the copy … */
  HELD_COPY_OWED  /* … and this job waits only for that: its lender has the result */
} HeldCopy;

struct HeldJob
{
  guint64 held;
  HeldJob *next; /* with the same path */
  Lender lender;
  NodeId node;  /* LENDER_NODE */
  guint64 loan; /* LENDER_NODE, LENDER_SELF, LENDER_REPEAT */
  Loan *job;    /* owned; without long arguments once finished */
  HeldPhase phase;
  gboolean announced;
  gboolean alone;    /* no other job is taken until it has ended */
  gboolean handed;   /* its row waits for an heir, or went there */
  gboolean saved;    /* the present coordinator was sent its row */
  GBytes *value;
  GPtrArray *shares; /* (nullable) the shared bytes that its value refers to */
  guint64 work_us;
  guint64 risk_us; /* the part of work_us that no sent row stands for; while the job runs: as last
                      told */
  guint32 busy;    /* seats at work for it, as last told */
  WorkTold told;   /* what its lender was last told of it, or assumes without a message */
  guint64 began_ms, took_ms; /* of a finished one, for its row */
  HeldWord word;
  guint64 mark; /* HELD_WAITS, HELD_KEPT: of the row, see buddy_send_row; in plan mirror: of the
                   copy */
  HeldCopy copy;
  NodeId copied_to;    /* the lender's keeper that got the last copy; none: there is none */
  guint64 copy_number; /* number of the result among those for this lender; 0: none */
};

typedef struct
{
  GTree *by_number; /* of HeldJob, owning */
  GTree *by_return; /* LENDER_NODE only, by (node, loan), which is the HeldJob's own */
  GTree *by_path;   /* path -> the first HeldJob of it, whose path it is */
  guint64 numbers;
  guint64 renamed;  /* jobs up to this number began under an earlier name of this node, which
                       counts as gone */
  guint unfinished; /* jobs that the engine has and that are neither done nor unrun … */
  guint alone;      /* … of them, jobs that run alone */
} Held;

void held_init (Node *node);
/* Takes `job`. */
HeldJob *held_add (Node *node, Loan *job);
void held_drop (Node *node, HeldJob *held);
HeldJob *held_find (Node *node, guint64 number);
HeldJob *held_find_return (Node *node, const NodeId *id, guint64 loan);
/* (nullable): the first with this path. */
HeldJob *held_at (Node *node, const char *path);
void held_set_lender (Node *node, HeldJob *held, Lender lender, const NodeId *id, guint64 loan);
/* Gives the job to the engine. */
void held_run (Node *node, HeldJob *held);
/* Sends RESULT, and the copy for the lender's keeper, if the plan has one. LENDER_NODE only. */
void held_send_result (Node *node, HeldJob *held);
/* The row of a finished job. (transfer full) */
Row *held_row (Node *node, const HeldJob *held);
/* Returns a finished job's result to its lender, here or elsewhere. May drop the job. */
void held_return (Node *node, HeldJob *held);
/* No node wants the job any more: stops it if it runs. May drop it. */
void held_give_up (Node *node, HeldJob *held);

void held_on_jobs (Node *node, const NodeId *from, const Message *message);
void held_on_done (Node *node, const NodeEvent *event);
/* The engine gives the job back unrun. `robbed`: because another node wants work, not because there
 * is no room for it here. */
void held_on_unrun (Node *node, guint64 number, gboolean robbed);
/* `in_round`: its lender has heard of a round of saving. */
void held_on_ack (Node *node, const NodeId *from, guint64 loan, gboolean in_round);
/* `yields`: the lender's job does (yield.h), so the job held for this loan is offered. */
void held_on_cancelled (Node *node, const NodeId *from, guint64 loan, gboolean yields);
void held_disown_self (Node *node, guint64 loan);
void held_departed (Node *node, const NodeId *id);
/* This node lost its name: all jobs that it holds for others become orphans. */
void held_orphan_all (Node *node);
/* (transfer full): rows of finished jobs that were not sent to this coordinator yet. `risk_us`
 * (out): by how much the work at risk falls when they are published. */
GPtrArray *held_rows (Node *node, guint64 *risk_us);
void held_forget_saved (Node *node);
/* This node leaves: adds the rows of finished jobs whose lender is no other node, each once. */
void held_collect (Node *node, GPtrArray *rows);
/* Calls `each` for the lenders of jobs held for other nodes; for some more than once. */
void held_each_lender (Node *node, void (*each) (const NodeId *lender, gpointer data),
                       gpointer data);
/* (nullable): the held job whose lender is this slot of this node's engine. */
HeldJob *held_find_self (Node *node, guint64 loan);
/* TRUE: a held job has this slot of this node's engine as its lender. */
gboolean held_waits_for_self (Node *node, guint64 loan);
void held_check (Node *node);
