/* SPDX-License-Identifier: BSD-3-Clause */
/* See session-inbox.h. The first fragment reserves memory for the whole message, but the kernel
 * provides pages only as fragments fill them (buffer.c). So a false `total` costs no memory.
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
  /* On each connection the sender begins with the fragment that this end lacks, and skips none. */
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
      if (inbox->data == NULL) /* no memory now: the sender will send it again */
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
