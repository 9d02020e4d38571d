/* SPDX-License-Identifier: BSD-3-Clause */
/* The output of one connection. Messages leave in order, with two exceptions: a large message is
 * cut into pieces, and urgent messages pass between the pieces. So no heartbeat and no steal waits
 * for a large value. Driver's thread. */
#pragma once

#include <gio/gio.h>

/* A frame begins with 8 bytes, little-endian: the kind in the top two bits and a size in the
 * others. Bytes of the message follow. */
#define WIRE_PIECE (256 * 1024)
#define WIRE_KIND_SHIFT 62
enum
{
  WIRE_WHOLE,    /* a message of `size` bytes */
  WIRE_BEGIN,    /* the first piece of a message of `size` bytes, which is larger than a piece */
  WIRE_CONTINUE, /* the next `size` bytes of that message */
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
  guint demoted;         /* urgent messages in `normal`: one was large, and later ones stay behind
                          * it */
  GPtrArray *large;      /* (nullable): the message of which pieces were framed */
  gboolean large_urgent;
  guint large_part; /* the part with the next byte */
  gsize large_offset, large_left;
  /* Framed bytes: `out` comes before `tail`, which collects small things. */
  GQueue out;       /* of GBytes */
  GByteArray *tail; /* copies */
  gsize out_offset; /* into the head of `out`, or into `tail` if `out` is empty */
  gsize out_bytes;  /* in `out` and `tail`, not yet written */
  gsize bytes;      /* in the whole queue */
  gboolean whole;   /* no pieces: the other side is a control client */
} WireQueue;

void wire_queue_init (WireQueue *queue);
void wire_queue_clear (WireQueue *queue);
/* Queues `bytes` (transfer full) without a frame. Only before the first message. */
void wire_queue_raw (WireQueue *queue, GBytes *bytes);
void wire_queue_add (WireQueue *queue, GPtrArray *parts, gboolean urgent);
gboolean wire_queue_is_empty (const WireQueue *queue);
/* Sends as g_socket_send_message_with_timeout does, without blocking. After WOULD_BLOCK the next
 * call begins with the same bytes. */
typedef GPollableReturn (*WireSend) (void *data, const GOutputVector *vectors, int n,
                                     gsize *written);
/* Writes as much as `send` takes, up to `budget` bytes. FALSE: the connection is broken. */
gboolean wire_queue_write (WireQueue *queue, WireSend send, void *data, gsize budget);
