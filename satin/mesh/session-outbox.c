/* SPDX-License-Identifier: BSD-3-Clause */
/* See session-outbox.h. A position in bytes belongs to each fragment number, so what is on its way
 * is a difference and nothing is kept for single fragments.
 *
 * Tests: test-session-outbox, sessions. */
#include "config.h"

#include "session-outbox.h"

typedef struct
{
  GPtrArray *parts; /* of GBytes */
  gsize size;
  guint64 first; /* number of its first fragment */
  guint64 count; /* of its fragments */
  guint64 start; /* bytes of all messages before it */
} OutboxMessage;

static void
message_free (OutboxMessage *message)
{
  g_ptr_array_unref (message->parts);
  g_free (message);
}

void
session_outbox_init (SessionOutbox *outbox, gsize fragment)
{
  *outbox = (SessionOutbox){ .fragment = fragment };
  g_queue_init (&outbox->messages);
}

void
session_outbox_clear (SessionOutbox *outbox)
{
  g_queue_clear_full (&outbox->messages, (GDestroyNotify)message_free);
  outbox->next = NULL;
  outbox->waiting_bytes = 0;
}

void
session_outbox_add (SessionOutbox *outbox, GPtrArray *parts)
{
  const OutboxMessage *before = g_queue_peek_tail (&outbox->messages);
  OutboxMessage *message = g_new0 (OutboxMessage, 1);

  message->parts = g_ptr_array_ref (parts);
  for (guint i = 0; i < parts->len; i++)
    message->size += g_bytes_get_size (parts->pdata[i]);
  message->first = outbox->last + 1;
  message->count = MAX (1, (message->size + outbox->fragment - 1) / outbox->fragment);
  message->start = before != NULL ? before->start + before->size : outbox->acked_at;
  outbox->last += message->count;
  outbox->waiting_bytes += message->size + SESSION_OUTBOX_OVERHEAD;
  g_queue_push_tail (&outbox->messages, message);
  if (outbox->next == NULL)
    outbox->next = g_queue_peek_tail_link (&outbox->messages);
}

gboolean
session_outbox_is_empty (const SessionOutbox *outbox)
{
  return outbox->acked == outbox->last;
}

gboolean
session_outbox_in_doubt (const SessionOutbox *outbox)
{
  return outbox->high > outbox->acked;
}

guint64
session_outbox_flight (const SessionOutbox *outbox)
{
  return outbox->sent_at - outbox->acked_at;
}

/* Bytes of all messages up to and with this fragment of it. */
static guint64
end_of (const SessionOutbox *outbox, const OutboxMessage *message, guint64 number)
{
  return message->start + MIN (message->size, (number - message->first + 1) * outbox->fragment);
}

/* Where fragment sent + 1 begins in its message: `offset` bytes after the start. */
static void
seek (SessionOutbox *outbox, gsize offset)
{
  const OutboxMessage *message = outbox->next->data;

  while (outbox->next_part < message->parts->len
         && offset >= g_bytes_get_size (message->parts->pdata[outbox->next_part]))
    offset -= g_bytes_get_size (message->parts->pdata[outbox->next_part++]);
  outbox->next_offset = offset;
}

void
session_outbox_rewind (SessionOutbox *outbox)
{
  const OutboxMessage *message = g_queue_peek_head (&outbox->messages);

#ifdef SATIN_PLANT_NOT_SENT_AGAIN
  if (outbox->high > 0)
    return;
#endif
  outbox->sent = outbox->acked;
  outbox->sent_at = outbox->acked_at;
  outbox->next = g_queue_peek_head_link (&outbox->messages);
  outbox->next_part = 0;
  outbox->next_offset = 0;
  if (message != NULL)
    seek (outbox, outbox->acked_at - message->start);
}

gboolean
session_outbox_acknowledge (SessionOutbox *outbox, guint64 number)
{
  OutboxMessage *message;

  g_assert (number <= outbox->high);
  if (number <= outbox->acked)
    return FALSE;
  /* What went over another connection has arrived before it went over this one, too. */
  gboolean ahead = number > outbox->sent;
  while ((message = g_queue_peek_head (&outbox->messages)) != NULL
         && message->first + message->count - 1 <= number)
    {
      outbox->acked_at = message->start + message->size;
      outbox->waiting_bytes -= message->size + SESSION_OUTBOX_OVERHEAD;
      message_free (g_queue_pop_head (&outbox->messages));
    }
  if (message != NULL && message->first <= number)
    outbox->acked_at = end_of (outbox, message, number);
  outbox->acked = number;
  if (ahead)
    session_outbox_rewind (outbox);
  return TRUE;
}

gboolean
session_outbox_next (SessionOutbox *outbox, SessionFrame *frame, GPtrArray *payload)
{
  if (outbox->sent == outbox->last)
    return FALSE;
  const OutboxMessage *message = outbox->next->data;
  guint64 number = outbox->sent + 1;
  guint64 end_at = end_of (outbox, message, number);
  gsize left = end_at - outbox->sent_at;

  frame->kind = SESSION_FRAME_DATA;
  frame->number = number;
  frame->total = message->size;
  while (left > 0)
    {
      GBytes *part = message->parts->pdata[outbox->next_part];
      gsize rest = g_bytes_get_size (part) - outbox->next_offset, size = MIN (rest, left);

      if (size > 0)
        g_ptr_array_add (payload, g_bytes_new_from_bytes (part, outbox->next_offset, size));
      left -= size;
      outbox->next_offset += size;
      if (size < rest)
        break;
      outbox->next_part++;
      outbox->next_offset = 0;
    }
  outbox->sent = number;
  outbox->sent_at = end_at;
  outbox->high = MAX (outbox->high, number);
  if (number == message->first + message->count - 1)
    {
      outbox->next = outbox->next->next;
      outbox->next_part = 0;
      outbox->next_offset = 0;
    }
  return TRUE;
}
