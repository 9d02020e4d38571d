/* SPDX-License-Identifier: BSD-3-Clause */
/* See session-outbox.h. Each fragment number stands for a position in bytes. So the bytes in flight
 * are a difference, and nothing is kept for single fragments.
 *
 * Tests: test-session-outbox, sessions. */
#include "config.h"

#include "session-outbox.h"

typedef struct
{
  GList link;       /* in the outbox */
  GPtrArray *parts; /* of GBytes */
  gsize size;       /* without the room for a head */
  guint64 first; /* number of its first fragment */
  guint64 count; /* number of its fragments */
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
  GList *link;

  while ((link = g_queue_pop_head_link (&outbox->messages)) != NULL)
    message_free (link->data);
  outbox->next = NULL;
  outbox->waiting_bytes = 0;
}

/* Makes the first fragment of this message (nullable) the next one. */
static void
rewind_to (SessionOutbox *outbox, GList *link)
{
  outbox->next = link;
  outbox->next_part = 0;
  outbox->next_offset = SESSION_FRAME_DATA_HEAD;
}

void
session_outbox_add (SessionOutbox *outbox, GPtrArray *parts)
{
  const OutboxMessage *before = g_queue_peek_tail (&outbox->messages);
  OutboxMessage *message = g_new (OutboxMessage, 1);
  gsize size = 0;

  for (guint i = 0; i < parts->len; i++)
    size += g_bytes_get_size (parts->pdata[i]);
  size -= SESSION_FRAME_DATA_HEAD;
  *message = (OutboxMessage){
    .link = { .data = message },
    .parts = g_ptr_array_ref (parts),
    .size = size,
    .first = outbox->last + 1,
    .count = size <= outbox->fragment ? 1 : (size + outbox->fragment - 1) / outbox->fragment,
    .start = before != NULL ? before->start + before->size : outbox->acked_at,
  };
  outbox->last += message->count;
  outbox->waiting_bytes += message->size + SESSION_OUTBOX_OVERHEAD;
  g_queue_push_tail_link (&outbox->messages, &message->link);
  if (outbox->next == NULL)
    rewind_to (outbox, &message->link);
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

/* Bytes of all messages up to the end of fragment `number`, which belongs to `message`. */
static guint64
end_of (const SessionOutbox *outbox, const OutboxMessage *message, guint64 number)
{
  return message->start + MIN (message->size, (number - message->first + 1) * outbox->fragment);
}

/* Makes the next fragment begin `offset` bytes after the start of its message. */
static void
seek (SessionOutbox *outbox, gsize offset)
{
  const OutboxMessage *message = outbox->next->data;

  offset += SESSION_FRAME_DATA_HEAD;
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
  rewind_to (outbox, g_queue_peek_head_link (&outbox->messages));
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
  /* An acknowledgement may be ahead: the fragments came over another connection before this one
   * sent them. */
  gboolean ahead = number > outbox->sent;
  while ((message = g_queue_peek_head (&outbox->messages)) != NULL
         && message->first + message->count - 1 <= number)
    {
      outbox->acked_at = message->start + message->size;
      outbox->waiting_bytes -= message->size + SESSION_OUTBOX_OVERHEAD;
      message_free (g_queue_pop_head_link (&outbox->messages)->data);
    }
  if (message != NULL && message->first <= number)
    outbox->acked_at = end_of (outbox, message, number);
  outbox->acked = number;
  if (ahead)
    session_outbox_rewind (outbox);
  return TRUE;
}

/* (transfer full): a head, and slices of the next `left` bytes of the message. Moves behind these
 * bytes. */
static GPtrArray *
cut (SessionOutbox *outbox, const OutboxMessage *message, gsize left)
{
  GPtrArray *parts = g_ptr_array_new_full (4, (GDestroyNotify)g_bytes_unref);

  g_ptr_array_add (
      parts, g_bytes_new_take (g_malloc (SESSION_FRAME_DATA_HEAD), SESSION_FRAME_DATA_HEAD));
  while (left > 0)
    {
      GBytes *part = message->parts->pdata[outbox->next_part];
      gsize rest = g_bytes_get_size (part) - outbox->next_offset, size = MIN (rest, left);

      if (size > 0)
        g_ptr_array_add (parts, g_bytes_new_from_bytes (part, outbox->next_offset, size));
      left -= size;
      outbox->next_offset += size;
      if (size < rest)
        break;
      outbox->next_part++;
      outbox->next_offset = 0;
    }
  return parts;
}

GPtrArray *
session_outbox_next (SessionOutbox *outbox, SessionFrame *frame)
{
  if (outbox->sent == outbox->last)
    return NULL;
  OutboxMessage *message = outbox->next->data;
  guint64 number = outbox->sent + 1;
  guint64 end_at = end_of (outbox, message, number);
  /* A frame that was sent before may still be under way with its old head, so it is cut anew. */
  gboolean as_it_is = message->count == 1 && number > outbox->high;

  frame->kind = SESSION_FRAME_DATA;
  frame->number = number;
  frame->total = message->size;
  GPtrArray *parts = as_it_is ? g_ptr_array_ref (message->parts)
                              : cut (outbox, message, end_at - outbox->sent_at);
  outbox->sent = number;
  outbox->sent_at = end_at;
  outbox->high = MAX (outbox->high, number);
  if (number == message->first + message->count - 1)
    rewind_to (outbox, message->link.next);
  return parts;
}
