/* SPDX-License-Identifier: BSD-3-Clause */
/* One stream of a session at its receiver: takes each fragment once, in the order of the numbers,
 * and puts messages together. Pure. */
#pragma once

#include "session-frame.h"

typedef struct
{
  guint64 received; /* all fragments up to this number are here */
  guint8 *data;     /* (nullable) buffer_take: a message of which some fragments are missing */
  gsize size, filled;
} SessionInbox;

typedef enum
{
  SESSION_INBOX_TAKEN,
  SESSION_INBOX_KNOWN, /* a copy: its first one was taken */
  SESSION_INBOX_WRONG  /* no end that keeps the rules sends it now */
} SessionInboxNews;

void session_inbox_clear (SessionInbox *inbox);
/* The fragment in `bytes`, which are those of `frame`. *message (out) (transfer full) (nullable):
 * the message that is whole with it, which begins at *start (out) there. A message has at most
 * `message_max` bytes. */
SessionInboxNews session_inbox_take (SessionInbox *inbox, const SessionFrame *frame, GBytes *bytes,
                                     gsize message_max, GBytes **message, gsize *start);
