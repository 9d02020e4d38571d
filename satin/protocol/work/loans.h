/* SPDX-License-Identifier: BSD-3-Clause */
/* The loans of this node: its slots that wait for a result from another node, lent or adopted
 * alike, by loan number. A root that another node holds has a number that the engine does not give.
 * Invariant: each slot stands here once, and its holder is a member (or this node), or the slot
 * waits to run again (rerun.h). A slot leaves by its result, by coming back or by being aborted,
 * whatever happens to the holder. Driver's thread. */
#pragma once

#include "../members/member.h"
#include "work.h"

/* Each root that main asks for at a node gets its own number from here on, so that a late answer to
 * an earlier root is not taken for the answer to this one. */
#define LOANS_ROOT (G_GUINT64_CONSTANT (1) << 63)

static inline gboolean
loans_is_root (guint64 loan)
{
  return loan >= LOANS_ROOT;
}

/* The result of a job. */
typedef struct
{
  GBytes *value;
  GPtrArray *shares; /* (nullable) the shared bytes that the value refers to */
  guint64 work_us, risk_us;
} Result;

/* A result as it came from its holder, which keeps it until it is acknowledged. */
typedef struct
{
  NodeId from;
  NodeId author;        /* of a row: the node that computed it; none: `from` */
  guint64 loan, number; /* of the slot; and of the result among those of `from` (mirror.h) */
  gboolean in_transit;  /* it crosses a cut (epoch.h) */
  Result result;
} Arrival;

/* Each kind but LOAN_ROW may become LOAN_RERUNS; then the slot comes back. */
typedef enum
{
  LOAN_LENT,    /* a node has taken the job */
  LOAN_ADOPTED, /* a node held the job as an orphan */
  LOAN_OWN,     /* this node itself held it */
  LOAN_ROW,     /* this node has its row, and computes it a second time (verify.h) */
  LOAN_RERUNS   /* its holder is gone, and the coordinator was asked (rerun.h) */
} LoanKind;

typedef struct
{
  guint64 loan;
  char *path;
  Digest digest;
  LoanKind kind;
  NodeId node; /* LOAN_LENT, LOAN_ADOPTED: the holder; else none */
  guint64 since_us;
  WorkTold told;    /* last report of its holder */
  Loan *job;        /* owned (nullable): kept for jobs whose holders have died (quarantine.h), and
                       for jobs whose results are computed twice (verify.h) */
  guint64 waits_us; /* … since when the job has waited for a place; 0: it does not wait */
} LoanEntry;

typedef struct
{
  GTree *by_number;    /* of LoanEntry */
  GHashTable *by_path; /* the latest entry of a path; looked up only */
} Loans;

void loans_init (Node *node);
/* Enters a slot; takes entry.job. */
void loans_add (Node *node, LoanEntry entry);
/* TRUE: that node holds it. */
gboolean loans_is_with (const LoanEntry *entry, const NodeId *id);
LoanEntry *loans_find (Node *node, guint64 loan);
/* The slot has its result / is ready again. */
void loans_put (Node *node, LoanEntry *entry, const Result *result);
void loans_back (Node *node, LoanEntry *entry);
/* The same, because its holder is gone. */
void loans_back_lost (Node *node, LoanEntry *entry);
/* Uses the result, and tells the node that has it. */
void loans_accept (Node *node, LoanEntry *entry, const Arrival *arrival);

/* The engine no longer awaits the slot. */
void loans_aborted (Node *node, guint64 loan);

void loans_on_result (Node *node, const NodeId *from, const Message *message);
void loans_on_returned (Node *node, const NodeId *from, const Message *message);
void loans_departed (Node *node, const Member *member);
/* All loans that others hold come back (this node lost its name). */
void loans_all_back (Node *node);
void loans_check (Node *node);
