/* SPDX-License-Identifier: BSD-3-Clause */
/* A share of what this node itself finishes is computed a second time by another node: a *check*.
 * The engine tells a finished job, with its arguments and result, when a scan has reported it. The
 * job is lent a second time, to the next thief, as a loan whose number is from LOANS_CHECK up; its
 * holder knows it by Loan.again. The result lies in its slot meanwhile and is used, but nothing
 * that contains it leaves this node: a held job below which a check is under way counts as running
 * until that is over (it is deferred). So main gets no answer before all checks that belong to it.
 * If the results differ, the driver ends the run, and what is deferred stays so. A check ends
 * without a result when this node leaves, a stop begins, no other node is left or has room, or two
 * holders died. Driver's thread. */
#pragma once

#include "held.h"
#include "loans.h"

#define LOANS_CHECK (G_GUINT64_CONSTANT (1) << 62)

static inline gboolean
loans_is_check (guint64 loan)
{
  return loan >= LOANS_CHECK && loan < LOANS_ROOT;
}

typedef struct
{
  GPtrArray *checks;   /* of Check, by number */
  GPtrArray *deferred; /* of Deferred */
  guint64 numbers;
  gsize bytes; /* of their values and arguments */
  /* Paths of results from elsewhere, which verify.c looks after: since the last scan was served,
   * and since the one before. */
  GHashTable *came, *came_early;
  gboolean differs; /* two results do: nothing is given out any more */
  guint64 moved_us; /* when a thief last took one, or returned a result */
  guint64 tell_us;  /* a thief that was refused is told then that there is a check */
} VerifyOwn;

void verify_own_init (Node *node);
void verify_own_done (Node *node);
/* NODE_EVENT_FINISHED. */
void verify_own_on_finished (Node *node, const NodeEvent *event);
/* A slot got its result from elsewhere. All scans up to one are served. */
void verify_own_came (Node *node, const char *path);
void verify_own_on_served (Node *node);
/* This thief asks. TRUE: it got a check. */
gboolean verify_own_lends (Node *node, const NodeId *thief, guint64 request);
/* The answers, for loans_is_check. */
void verify_own_on_result (Node *node, const NodeId *from, const Message *message);
void verify_own_on_returned (Node *node, const NodeId *from, guint64 number);
void verify_own_departed (Node *node, const NodeId *id);
/* A held job is done. TRUE: held_on_done comes later, once more. */
gboolean verify_own_defers (Node *node, HeldJob *held, const NodeEvent *event);
void verify_own_settle (Node *node);
guint64 verify_own_due (Node *node);
void verify_own_tick (Node *node);
void verify_own_check (Node *node);
