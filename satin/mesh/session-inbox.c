/* SPDX-License-Identifier: BSD-3-Clause */
/* See session-inbox.h. Memory is reserved for a whole message when its first fragment comes, but
 * pages are touched only as fragments fill them (buffer.c): a false `total` costs none.
 *
 * Tests: test-session-frame, sessions. */
#include "config.h"

#include "session-inbox.h"

#include "value/buffer.h"

#include <string.h>

void
session_inbox_clear (SessionInbox *inbox)
{
  if (inbox->data != NULL)
    buffer_give (inbox->data, inbox->size);
  inbox->data = NULL;
  inbox->size = inbox->filled = 0;
}

SessionInboxNews
session_inbox_take (SessionInbox *inbox, const SessionFrame *frame, GBytes *bytes,
                    gsize message_max, GBytes **message, gsize *start)
{
  gsize size = frame->payload;

  *message = NULL;
  if (frame->number <= inbox->received)
    return SESSION_INBOX_KNOWN;
  /* A sender begins each connection with what this end has not, and goes on from there. */
  if (frame->number > inbox->received + 1 || frame->total > message_max)
    return SESSION_INBOX_WRONG;
  if (inbox->data == NULL && size == frame->total)
    {
      *message = g_bytes_ref (bytes);
      *start = SESSION_FRAME_DATA_HEAD;
      inbox->received++;
      return SESSION_INBOX_TAKEN;
    }
  if (inbox->data != NULL && (frame->total != inbox->size || size > inbox->size - inbox->filled))
    return SESSION_INBOX_WRONG;
  if (inbox->data == NULL)
    {
      inbox->data = buffer_take (frame->total);
      if (inbox->data == NULL) /* no memory now: it comes again */
        return SESSION_INBOX_WRONG;
      inbox->size = frame->total;
    }
  const guint8 *data = g_bytes_get_data (bytes, NULL);
  memcpy (inbox->data + inbox->filled, data + SESSION_FRAME_DATA_HEAD, size);
  inbox->filled += size;
  inbox->received++;
  if (inbox->filled == inbox->size)
    {
      *message = buffer_to_bytes (inbox->data, inbox->size);
      *start = 0;
      *inbox = (SessionInbox){ .received = inbox->received };
    }
  return SESSION_INBOX_TAKEN;
}
