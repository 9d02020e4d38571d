/* SPDX-License-Identifier: BSD-3-Clause */
/* Transfer of shared bytes. Two rules:
 * 1. A node that has a result, a kept state or a row has the shared bytes that it refers to. So a
 *    message that brings one of these is deferred until the bytes are here, and with it all later
 *    messages of its session except those that may pass it. The receiver FETCHes the bytes from the
 *    sender, which keeps them until it hears TAKEN.
 * 2. A node that lent or adopted a job has the bytes that the job's arguments refer to, or can get
 *    them from the lender of the job below which it stands, for any node that asks. So a job that
 *    wants bytes asks its lender first and then all others in turn, again and again. Only an orphan
 *    can ask in vain, and a node that runs its lender's job again has the bytes before it adopts
 *    the orphan.
 *
 * Driver's thread. */
#pragma once

#include "../members/member.h"
#include "../node.h"

/* How long to wait for the answer to a FETCH before the next node is asked: this time, and the time
 * for the bytes at this rate. */
#define SHARES_PATIENCE_US (2 * G_USEC_PER_SEC)
#define SHARES_BYTES_PER_US 4
/* If no node has the bytes: pauses double from the first to the second. */
#define SHARES_PAUSE_MIN_US (20 * 1000)
#define SHARES_PAUSE_MAX_US (1 * G_USEC_PER_SEC)

typedef struct
{
  SharedStore *store;
  GPtrArray *wishes; /* of Wish: bytes that jobs here wait for */
} Shares;

void shares_init (Node *node);
void shares_done (Node *node);

/* TRUE: the message may be heard now, and its rows and result have their shared bytes. FALSE: it
 * waits, or is dropped, since its sender is no member. */
gboolean shares_admit (Node *node, Member *from, Message *message);
/* TRUE: a message of some member is deferred, so its content is not known yet. */
gboolean shares_wait (Node *node);
/* The message was sent. */
void shares_told (Member *member, const Message *message);
/* Hears deferred messages of connected members that need not wait any more. */
void shares_open_doors (Node *node);
void shares_on_fetch (Node *node, const NodeId *from, const Message *message);
void shares_on_bytes (Node *node, const NodeId *from, const Message *message);
void shares_on_taken (Node *node, const NodeId *from);
void shares_departed (Node *node, const NodeId *id);

/* A job waits for bytes; it no longer does. */
void shares_want (Node *node, const NodeEvent *event);
void shares_aborted (Node *node, guint64 loan);
/* This held job has another lender now, which may have the bytes that the job wants. */
void shares_lender_changed (Node *node, guint64 held);
guint64 shares_due (Node *node);
void shares_tick (Node *node);
