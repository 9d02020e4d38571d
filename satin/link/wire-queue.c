/* SPDX-License-Identifier: BSD-3-Clause */
/* See wire-queue.h. Does not interpret messages. Tests: test-wire, test-wire-intake. */
#include "wire-queue.h"

#include <gio/gio.h>

#define VECTORS_MAX 32
/* Most bytes framed ahead: urgent messages pass only what is not framed. */
#define FRAMED_MAX (2 * WIRE_PIECE)
/* Parts up to this size are copied, which costs less than a reference. */
#define COPIED_MAX 4096
/* Written bytes of `tail` before the rest moves to its front. */
#define TAIL_WRITTEN_MAX WIRE_PIECE
#define TAIL_KEPT_MAX 4096 /* a longer empty `tail` is freed */

void
wire_queue_init (WireQueue *queue)
{
  *queue = (WireQueue){ .tail = g_byte_array_new () };
  g_queue_init (&queue->urgent);
  g_queue_init (&queue->normal);
  g_queue_init (&queue->out);
}

static void
message_free (WireMessage *message)
{
  g_ptr_array_unref (message->parts);
  g_free (message);
}

/* (transfer full, nullable) */
static WireMessage *
pop (GQueue *messages)
{
  GList *link = g_queue_pop_head_link (messages);

  return link != NULL ? link->data : NULL;
}

void
wire_queue_clear (WireQueue *queue)
{
  WireMessage *message;

  while ((message = pop (&queue->urgent)) != NULL || (message = pop (&queue->normal)) != NULL)
    message_free (message);
  g_queue_clear_full (&queue->out, (GDestroyNotify)g_bytes_unref);
  g_clear_pointer (&queue->tail, g_byte_array_unref);
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

static void
copy (WireQueue *queue, const void *data, gsize size)
{
  g_byte_array_append (queue->tail, data, (guint)size);
  queue->out_bytes += size;
}

/* `tail` is written. A tail that grew in a burst is freed: otherwise each link would keep its
 * memory. */
static void
empty_tail (WireQueue *queue)
{
  if (queue->tail->len <= TAIL_KEPT_MAX)
    {
      g_byte_array_set_size (queue->tail, 0);
      return;
    }
  g_byte_array_unref (queue->tail);
  queue->tail = g_byte_array_new ();
}

/* Moves `tail` to `out`, before a part that is not copied. */
static void
close_tail (WireQueue *queue)
{
  if (queue->tail->len == 0)
    return;
  g_queue_push_tail (&queue->out, g_bytes_new (queue->tail->data, queue->tail->len));
  empty_tail (queue);
}

static void
push (WireQueue *queue, GBytes *bytes)
{
  gsize size;
  const void *data = g_bytes_get_data (bytes, &size);

  if (size <= COPIED_MAX)
    {
      copy (queue, data, size);
      return;
    }
  close_tail (queue);
  queue->out_bytes += size;
  g_queue_push_tail (&queue->out, g_bytes_ref (bytes));
}

static void
push_header (WireQueue *queue, guint kind, gsize size)
{
  guint64 header = GUINT64_TO_LE ((guint64)kind << WIRE_KIND_SHIFT | size);

  queue->bytes += sizeof header;
  copy (queue, &header, sizeof header);
}

static void
push_whole (WireQueue *queue, const GPtrArray *parts, gsize size)
{
  push_header (queue, WIRE_WHOLE, size);
  for (guint i = 0; i < parts->len; i++)
    push (queue, parts->pdata[i]);
}

void
wire_queue_raw (WireQueue *queue, GBytes *bytes)
{
  queue->bytes += g_bytes_get_size (bytes);
  push (queue, bytes);
  g_bytes_unref (bytes);
}

static void
wait_in (GQueue *messages, GPtrArray *parts, gsize size, gboolean urgent)
{
  WireMessage *message = g_new (WireMessage, 1);

  *message = (WireMessage){ { .data = message }, g_ptr_array_ref (parts), size, urgent };
  g_queue_push_tail_link (messages, &message->link);
}

void
wire_queue_add (WireQueue *queue, GPtrArray *parts, gboolean urgent)
{
  gsize size = size_of (parts);
  gboolean passes = urgent && size <= WIRE_PIECE && queue->demoted == 0;

  queue->bytes += size;
  if (passes && g_queue_is_empty (&queue->urgent) && queue->out_bytes < FRAMED_MAX)
    push_whole (queue, parts, size);
  else if (passes)
    wait_in (&queue->urgent, parts, size, urgent);
  else
    {
      queue->demoted += urgent;
      wait_in (&queue->normal, parts, size, urgent);
    }
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

      g_autoptr (GBytes) slice = g_bytes_new_from_bytes (part, queue->large_offset, size);
      push (queue, slice);
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
begin_large (WireQueue *queue, const WireMessage *message)
{
  push_header (queue, WIRE_BEGIN, message->size);
  queue->large = g_ptr_array_ref (message->parts);
  queue->large_urgent = message->urgent;
  queue->large_part = 0;
  queue->large_left = message->size;
  push_piece (queue);
}

/* Frames the next message or piece. FALSE: there is none. */
static gboolean
frame (WireQueue *queue)
{
  WireMessage *message = pop (&queue->urgent);

  if (message != NULL)
    {
      push_whole (queue, message->parts, message->size);
      message_free (message);
      return TRUE;
    }
  if (queue->large != NULL)
    {
      push_header (queue, WIRE_CONTINUE, MIN (queue->large_left, WIRE_PIECE));
      push_piece (queue);
      return TRUE;
    }
  message = pop (&queue->normal);
  if (message == NULL)
    return FALSE;
  if (message->size > WIRE_PIECE && !queue->whole)
    begin_large (queue, message);
  else
    {
      push_whole (queue, message->parts, message->size);
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
  if (queue->tail->len > 0 && n < VECTORS_MAX)
    {
      vectors[n].buffer = queue->tail->data + offset;
      vectors[n++].size = queue->tail->len - offset;
    }
  return n;
}

static void
drop_written (WireQueue *queue, gsize written)
{
  queue->out_bytes -= written;
  queue->bytes -= written;
  queue->out_offset += written;
  while (!g_queue_is_empty (&queue->out))
    {
      gsize size = g_bytes_get_size (queue->out.head->data);
      if (queue->out_offset < size)
        return;
      queue->out_offset -= size;
      g_bytes_unref (g_queue_pop_head (&queue->out));
    }
  if (queue->out_offset < MIN (queue->tail->len, TAIL_WRITTEN_MAX))
    return;
  if (queue->out_offset == queue->tail->len)
    empty_tail (queue);
  else
    g_byte_array_remove_range (queue->tail, 0, (guint)queue->out_offset);
  queue->out_offset = 0;
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
