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

/* The answer to a FETCH is waited for so long, and for these bytes a second, before the next is
 * asked. */
#define SHARES_PATIENCE_US (2 * G_USEC_PER_SEC)
#define SHARES_BYTES_PER_US 4
/* When nobody has them: pauses double from the first to the second. */
#define SHARES_PAUSE_MIN_US (20 * 1000)
#define SHARES_PAUSE_MAX_US (1 * G_USEC_PER_SEC)

typedef struct
{
  SharedStore *store;
  GPtrArray *wishes; /* of Wish: bytes that jobs here wait for */
} Shares;

void shares_init (Node *node);
void shares_done (Node *node);

/* TRUE: it may be heard now, and rows and result bear what they speak of. FALSE: it waits, or it is
 * dropped, since its sender is no member. */
gboolean shares_admit (Node *node, Member *from, Message *message);
/* Something waits at the door of some member, and nobody knows what it says. */
gboolean shares_wait (Node *node);
/* It was sent. */
void shares_told (Member *member, const Message *message);
/* Hears what waits no more, of connected members. */
void shares_open_doors (Node *node);
void shares_on_fetch (Node *node, const NodeId *from, const Message *message);
void shares_on_bytes (Node *node, const NodeId *from, const Message *message);
void shares_on_taken (Node *node, const NodeId *from);
void shares_departed (Node *node, const NodeId *id);

/* A job waits for bytes, or does not any more. */
void shares_want (Node *node, const NodeEvent *event);
void shares_aborted (Node *node, guint64 loan);
/* This held job has another lender now, who may have what the job wants. */
void shares_lender_changed (Node *node, guint64 held);
guint64 shares_due (Node *node);
void shares_tick (Node *node);
