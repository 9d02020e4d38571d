/* SPDX-License-Identifier: BSD-3-Clause */
/* A share of the jobs that finish on this node is computed a second time by another node: a
 * *check*. The engine reports such a job, with arguments and result, after the scan that reported
 * its row. This node lends it to the next thief under a number from LOANS_CHECK up; Loan.again
 * tells the holder that it is a second computation. Meanwhile the result is used here, and may be
 * in rows and in arguments of jobs that are lent. Results of held jobs wait: a held job counts as
 * running while a check below it is under way (it is deferred). So neither a lender nor main gets
 * a result before its checks are over. If two results differ, the driver ends the run, and what is
 * deferred stays deferred. A check is given up when this node leaves, a stop begins, no other node
 * is left, or it has CHECK_TRIES points; all are when a deferred job has waited CHECK_PATIENCE_US
 * while no node ran a check. Driver's thread. */
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
  guint64 moved_us; /* when a check was last lent, answered or taken back */
  guint64 tell_us;  /* earliest time at which the next thief that was refused is told */
} VerifyOwn;

void verify_own_init (Node *node);
/* NODE_EVENT_FINISHED. */
void verify_own_on_finished (Node *node, const NodeEvent *event);
/* A slot got its result from another node: it is not checked here. */
void verify_own_came (Node *node, const char *path);
/* All stacks have served a scan: the paths of the round before are forgotten. */
void verify_own_on_served (Node *node);
/* A thief asks for work. TRUE: it got a check. */
gboolean verify_own_lends (Node *node, const NodeId *thief, guint64 request);
/* The answers, for loans_is_check. */
void verify_own_on_result (Node *node, const NodeId *from, const Message *message);
void verify_own_on_returned (Node *node, const NodeId *from, guint64 number);
void verify_own_departed (Node *node, const NodeId *id);
/* A held job is done. TRUE: it is deferred; held_on_done is called again when its checks are over.
 */
gboolean verify_own_defers (Node *node, HeldJob *held, const NodeEvent *event);
void verify_own_settle (Node *node);
guint64 verify_own_due (Node *node);
void verify_own_tick (Node *node);
void verify_own_check (Node *node);
