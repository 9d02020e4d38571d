/* SPDX-License-Identifier: BSD-3-Clause */
/* What one connection has still to write. Messages leave in order, but for two things: a large one
 * goes in pieces, and urgent ones pass between them, so that no heartbeat and no steal waits for a
 * large value. Driver's thread. */
#pragma once

#include <gio/gio.h>

/* A frame is 8 bytes, little-endian: its kind in the top two bits and a size below, then bytes. */
#define WIRE_PIECE (256 * 1024)
#define WIRE_KIND_SHIFT 62
enum
{
  WIRE_WHOLE,    /* a message of `size` bytes */
  WIRE_BEGIN,    /* of `size` bytes in all, more than a piece: the first piece of it */
  WIRE_CONTINUE, /* the next `size` bytes of the message that has begun */
  WIRE_KINDS
};

typedef struct
{
  GList link;       /* in its queue */
  GPtrArray *parts; /* of GBytes */
  gsize size;
  gboolean urgent;
} WireMessage;

typedef struct
{
  GQueue urgent, normal; /* of WireMessage */
  guint demoted;         /* urgent ones in `normal`, since one was large: later ones stay behind */
  GPtrArray *large;      /* has begun */
  gboolean large_urgent;
  guint large_part; /* how far it has gone */
  gsize large_offset, large_left;
  /* Framed, in this order: `out`, then the small things in `tail`. */
  GQueue out;       /* of GBytes */
  GByteArray *tail; /* copies */
  gsize out_offset; /* into the head of `out`, or `tail` when there is none */
  gsize out_bytes;  /* not yet written of both */
  gsize bytes;      /* of all that is here */
  gboolean whole;   /* never in pieces: the other side is a control client */
} WireQueue;

void wire_queue_init (WireQueue *queue);
void wire_queue_clear (WireQueue *queue);
/* Bytes as they are, (transfer full); only before any message. */
void wire_queue_raw (WireQueue *queue, GBytes *bytes);
void wire_queue_add (WireQueue *queue, GPtrArray *parts, gboolean urgent);
gboolean wire_queue_is_empty (const WireQueue *queue);
/* As g_socket_send_message_with_timeout, never blocking. After WOULD_BLOCK the bytes of the next
 * call begin with those of the last. */
typedef GPollableReturn (*WireSend) (void *data, const GOutputVector *vectors, int n,
                                     gsize *written);
/* Writes what `send` takes, up to `budget` bytes. FALSE: the connection is broken. */
gboolean wire_queue_write (WireQueue *queue, WireSend send, void *data, gsize budget);
