/* SPDX-License-Identifier: BSD-3-Clause */
/* The receiver's end of one stream: takes each fragment once, in the order of their numbers, and
 * assembles messages. Pure. */
#pragma once

#include "session-frame.h"

typedef struct
{
  guint64 received; /* all fragments up to this number are here */
  guint8 *data;     /* (nullable) from buffer_take: a message with missing fragments */
  gsize size, filled;
} SessionInbox;

typedef enum
{
  SESSION_INBOX_TAKEN,
  SESSION_INBOX_KNOWN, /* a copy of a fragment that was taken */
  SESSION_INBOX_WRONG  /* no end that follows the rules sends this fragment now */
} SessionInboxNews;

void session_inbox_clear (SessionInbox *inbox);
/* Takes the fragment in `bytes`, whose decoded head is `frame`. *message (out) (transfer full)
 * (nullable): the message that this fragment completes; it begins at *start (out) of these bytes. A
 * message has at most `message_max` bytes. */
SessionInboxNews session_inbox_take (SessionInbox *inbox, const SessionFrame *frame, GBytes *bytes,
                                     gsize message_max, GBytes **message, gsize *start);
