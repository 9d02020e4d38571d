/* SPDX-License-Identifier: BSD-3-Clause */
/* One stream of a session at its sender: messages from the moment that they are sent until the
 * other end has acknowledged all of them, cut into numbered fragments. It holds references to the
 * messages' parts, never copies; the first part of each has room for the head of a frame, so that
 * a message of one fragment is a frame already. Pure. */
#pragma once

#include "session-frame.h"

/* What a waiting message counts beyond its bytes, so that small ones are bounded, too. */
#define SESSION_OUTBOX_OVERHEAD 256u

typedef struct
{
  gsize fragment;        /* bytes of each fragment of a message but the last */
  GQueue messages;       /* of OutboxMessage, by number */
  guint64 last;          /* number of the last fragment of the last message */
  guint64 acked;         /* the other end has all up to this number */
  guint64 high;          /* the highest number that ever went over a connection */
  guint64 sent;          /* up to here all went over the present one, or need not */
  guint64 acked_at;      /* bytes before fragment acked + 1, in all */
  guint64 sent_at;       /* bytes before fragment sent + 1, in all */
  guint64 waiting_bytes; /* of `messages`, with their overhead */
  GList *next;           /* in `messages`, of fragment sent + 1; NULL: of the next message */
  guint next_part;       /* where that fragment begins in it */
  gsize next_offset;
} SessionOutbox;

void session_outbox_init (SessionOutbox *outbox, gsize fragment);
void session_outbox_clear (SessionOutbox *outbox);
/* Takes a reference to `parts` (of GBytes), which are the outbox's alone from now on. The message
 * begins SESSION_FRAME_DATA_HEAD bytes after the start of the first one. */
void session_outbox_add (SessionOutbox *outbox, GPtrArray *parts);
gboolean session_outbox_is_empty (const SessionOutbox *outbox);
/* Something may have been lost on its way. */
gboolean session_outbox_in_doubt (const SessionOutbox *outbox);
/* Bytes on their way over the present connection. */
guint64 session_outbox_flight (const SessionOutbox *outbox);
/* The other end has all up to `number`, which is at most `high`. Less than before is no news. TRUE:
 * it is. */
gboolean session_outbox_acknowledge (SessionOutbox *outbox, guint64 number);
/* Another connection: what is not acknowledged goes again. */
void session_outbox_rewind (SessionOutbox *outbox);
/* (transfer full) (nullable): the next fragment; none: all has been sent. Fills the stream's fields
 * of `frame`, whose head is to be written to the start of the first part, before others see it. */
GPtrArray *session_outbox_next (SessionOutbox *outbox, SessionFrame *frame);
