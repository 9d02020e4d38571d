/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared bytes on their way. Two rules carry all:
 * 1. Whoever has a result, a kept state or a row has the shared bytes that it speaks of. So a
 * message that brings one waits at the door, and with it all that came after it in that session
 * except what may pass it, until the bytes are here: they are FETCHed from the sender, who keeps
 * them until it hears TAKEN.
 * 2. Whoever lent a job, or adopted it, has the bytes that its arguments speak of, or can get them
 * from the lender of the job under that, for whoever asks. So a job that wants some asks its lender
 * first and then all others in turn, again and again. Only an orphan can ask in vain, and whoever
 * runs its lender again has them before it adopts the orphan.
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
