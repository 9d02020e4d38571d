/* SPDX-License-Identifier: BSD-3-Clause */
/* See wire-queue.h. Must not know what a message says. */
#include "wire-queue.h"

#define VECTORS_MAX 32
/* So much stands framed at most before urgent messages are looked at again. */
#define FRAMED_MAX (2 * WIRE_PIECE)

void
wire_queue_init (WireQueue *queue)
{
  *queue = (WireQueue){ 0 };
  g_queue_init (&queue->urgent);
  g_queue_init (&queue->normal);
  g_queue_init (&queue->out);
}

static void
message_free (gpointer data)
{
  WireMessage *message = data;

  g_ptr_array_unref (message->parts);
  g_free (message);
}

void
wire_queue_clear (WireQueue *queue)
{
  g_queue_clear_full (&queue->urgent, message_free);
  g_queue_clear_full (&queue->normal, message_free);
  g_queue_clear_full (&queue->out, (GDestroyNotify)g_bytes_unref);
  g_clear_pointer (&queue->large, g_ptr_array_unref);
}

static gsize
size_of (const GPtrArray *parts)
{
  gsize size = 0;

  for (guint i = 0; i < parts->len; i++)
    size += g_bytes_get_size (parts->pdata[i]);
  return size;
}

/* (transfer full) */
static void
push (WireQueue *queue, GBytes *bytes)
{
  if (g_bytes_get_size (bytes) == 0)
    {
      g_bytes_unref (bytes);
      return;
    }
  queue->out_bytes += g_bytes_get_size (bytes);
  g_queue_push_tail (&queue->out, bytes);
}

static void
push_header (WireQueue *queue, guint kind, gsize size)
{
  guint64 header = GUINT64_TO_LE ((guint64)kind << WIRE_KIND_SHIFT | size);

  queue->bytes += sizeof header;
  push (queue, g_bytes_new (&header, sizeof header));
}

void
wire_queue_raw (WireQueue *queue, GBytes *bytes)
{
  queue->bytes += g_bytes_get_size (bytes);
  push (queue, bytes);
}

void
wire_queue_add (WireQueue *queue, GPtrArray *parts, gboolean urgent)
{
  WireMessage *message = g_new (WireMessage, 1);

  *message = (WireMessage){ g_ptr_array_ref (parts), size_of (parts), urgent };
  queue->bytes += message->size;
  if (urgent && message->size <= WIRE_PIECE && queue->demoted == 0)
    {
      g_queue_push_tail (&queue->urgent, message);
      return;
    }
  queue->demoted += urgent;
  g_queue_push_tail (&queue->normal, message);
}

gboolean
wire_queue_is_empty (const WireQueue *queue)
{
  return queue->bytes == 0;
}

/* The next piece of the large message. */
static void
push_piece (WireQueue *queue)
{
  gsize left = MIN (queue->large_left, WIRE_PIECE);

  queue->large_left -= left;
  while (left > 0)
    {
      GBytes *part = queue->large->pdata[queue->large_part];
      gsize rest = g_bytes_get_size (part) - queue->large_offset, size = MIN (rest, left);

      push (queue, g_bytes_new_from_bytes (part, queue->large_offset, size));
      left -= size;
      queue->large_offset += size;
      if (queue->large_offset < g_bytes_get_size (part))
        break;
      queue->large_part++;
      queue->large_offset = 0;
    }
  if (queue->large_left > 0)
    return;
  g_clear_pointer (&queue->large, g_ptr_array_unref);
  queue->demoted -= queue->large_urgent;
}

static void
push_whole (WireQueue *queue, const WireMessage *message)
{
  push_header (queue, WIRE_WHOLE, message->size);
  for (guint i = 0; i < message->parts->len; i++)
    push (queue, g_bytes_ref (message->parts->pdata[i]));
}

static void
begin_large (WireQueue *queue, const WireMessage *message)
{
  push_header (queue, WIRE_BEGIN, message->size);
  queue->large = g_ptr_array_ref (message->parts);
  queue->large_urgent = message->urgent;
  queue->large_part = 0;
  queue->large_offset = 0;
  queue->large_left = message->size;
  push_piece (queue);
}

/* Frames one thing more. FALSE: there is nothing. */
static gboolean
frame (WireQueue *queue)
{
  WireMessage *message = g_queue_pop_head (&queue->urgent);

  if (message != NULL)
    {
      push_whole (queue, message);
      message_free (message);
      return TRUE;
    }
  if (queue->large != NULL)
    {
      push_header (queue, WIRE_CONTINUE, MIN (queue->large_left, WIRE_PIECE));
      push_piece (queue);
      return TRUE;
    }
  message = g_queue_pop_head (&queue->normal);
  if (message == NULL)
    return FALSE;
  if (message->size > WIRE_PIECE && !queue->whole)
    begin_large (queue, message);
  else
    {
      push_whole (queue, message);
      queue->demoted -= message->urgent;
    }
  message_free (message);
  return TRUE;
}

static int
fill_vectors (const WireQueue *queue, GOutputVector *vectors)
{
  gsize offset = queue->out_offset;
  int n = 0;

  for (GList *l = queue->out.head; l != NULL && n < VECTORS_MAX; l = l->next, offset = 0)
    {
      gsize size;
      const char *data = g_bytes_get_data (l->data, &size);
      vectors[n].buffer = data + offset;
      vectors[n++].size = size - offset;
    }
  return n;
}

static void
drop_written (WireQueue *queue, gsize written)
{
  queue->out_bytes -= written;
  queue->bytes -= written;
  while (written > 0)
    {
      gsize rest = g_bytes_get_size (queue->out.head->data) - queue->out_offset;
      if (written < rest)
        {
          queue->out_offset += written;
          return;
        }
      written -= rest;
      queue->out_offset = 0;
      g_bytes_unref (g_queue_pop_head (&queue->out));
    }
}

gboolean
wire_queue_write (WireQueue *queue, WireSend send, void *data, gsize budget)
{
  while (budget > 0)
    {
      GOutputVector vectors[VECTORS_MAX];
      gsize written;
      while (queue->out_bytes < FRAMED_MAX && frame (queue))
        ;
      if (queue->out_bytes == 0)
        return TRUE;
      GPollableReturn result = send (data, vectors, fill_vectors (queue, vectors), &written);
      if (result == G_POLLABLE_RETURN_FAILED)
        return FALSE;
      if (result == G_POLLABLE_RETURN_WOULD_BLOCK)
        return TRUE;
      drop_written (queue, written);
      budget -= MIN (budget, written);
    }
  return TRUE;
}
