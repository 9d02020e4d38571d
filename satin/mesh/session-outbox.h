/* SPDX-License-Identifier: BSD-3-Clause */
/* The sender's end of one stream: keeps each message until the other end has acknowledged all of
 * it, and cuts it into numbered fragments. It holds references to the messages' parts and copies
 * none. The first part of each message has room for the head of a frame, so a message of one
 * fragment is a frame already. Pure. */
#pragma once

#include "session-frame.h"

/* What a waiting message counts besides its bytes, so that the number of small messages is bounded,
 * too. */
#define SESSION_OUTBOX_OVERHEAD 256u

typedef struct
{
  gsize fragment;        /* bytes of each fragment except a message's last */
  GQueue messages;       /* of OutboxMessage, by number; all that are not acknowledged */
  guint64 last;          /* number of the last fragment of the last message */
  guint64 acked;         /* the other end has all fragments up to this number */
  guint64 high;          /* the highest number that was ever sent */
  guint64 sent;          /* fragments up to this number were sent over the present connection, or
                          * need not be */
  guint64 acked_at;      /* bytes of all fragments up to `acked` */
  guint64 sent_at;       /* bytes of all fragments up to `sent` */
  guint64 waiting_bytes; /* of `messages`, with their overhead */
  GList *next;           /* the message in `messages` with fragment sent + 1; NULL: the next message
                          * to be added */
  guint next_part;       /* where that fragment begins in its message */
  gsize next_offset;
} SessionOutbox;

void session_outbox_init (SessionOutbox *outbox, gsize fragment);
void session_outbox_clear (SessionOutbox *outbox);
/* Adds a message. Takes a reference to `parts` (of GBytes); from now on only the outbox may use
 * them. The message begins SESSION_FRAME_DATA_HEAD bytes after the start of the first part. */
void session_outbox_add (SessionOutbox *outbox, GPtrArray *parts);
gboolean session_outbox_is_empty (const SessionOutbox *outbox);
/* TRUE: fragments were sent that are not acknowledged; they may be lost. */
gboolean session_outbox_in_doubt (const SessionOutbox *outbox);
/* Bytes sent over the present connection and not acknowledged. */
guint64 session_outbox_flight (const SessionOutbox *outbox);
/* The other end has all fragments up to `number`, which is at most `high`. FALSE: this was
 * known. */
gboolean session_outbox_acknowledge (SessionOutbox *outbox, guint64 number);
/* Another connection carries now: fragments that are not acknowledged are sent again. */
void session_outbox_rewind (SessionOutbox *outbox);
/* (transfer full) (nullable): the next fragment; NULL: all were sent. Fills the stream's fields of
 * `frame`. The caller writes the frame's head to the start of the first part before it passes the
 * parts on. */
GPtrArray *session_outbox_next (SessionOutbox *outbox, SessionFrame *frame);
