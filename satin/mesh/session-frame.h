/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames: the messages that the two ends of a session exchange over a connection, and their bytes.
 *
 *  HELLO  the first frame of each end on each connection: names the sender and the receiver
 *  DATA   one fragment of one message; fragments of a stream are numbered from 1
 *  ACK    only the acknowledgement that every frame carries
 *  BYE    the last frame on a connection that its sender closes on purpose
 *
 * A frame begins with its kind, a word that depends on the kind, and the highest fragment number
 * received on each stream (24 bytes, little-endian). Kinds of frames are greater than kinds of
 * messages, so the first word tells frames from messages. The decoder trusts nothing. Pure. */
#pragma once

#include "value/node-id.h"

#include <glib.h>

#define SESSION_FRAME_DATA_HEAD 40u /* bytes before the payload */
/* Version of frames and rules, carried by HELLO: ends with different versions do not talk. */
#define SESSION_VERSION 1u

typedef enum
{
  SESSION_URGENT, /* may pass bulk fragments on every connection */
  SESSION_BULK,
  SESSION_STREAMS
} SessionStream;

typedef enum
{
  SESSION_FRAME_HELLO = 0x10000,
  SESSION_FRAME_DATA,
  SESSION_FRAME_ACK,
  SESSION_FRAME_BYE
} SessionFrameKind;

typedef struct
{
  SessionFrameKind kind;
  guint64 received[SESSION_STREAMS]; /* the sender of the frame has all fragments up to these */
  NodeId from, to;                   /* HELLO: … */
  guint64 order;        /* number of this HELLO among its sender's in this session, from 1 */
  gboolean needed;      /* the sender cannot use any connection on which it sent an earlier HELLO */
  SessionStream stream; /* DATA: … */
  guint64 number;       /* of the fragment, from 1 */
  guint64 total;        /* bytes of its message; the same in all fragments of it */
  gsize payload;        /* decoded: bytes of the fragment, which follow the head */
} SessionFrame;

/* The size of a frame of this kind in bytes; for DATA without the payload. 0: an unknown kind. */
gsize session_frame_size (SessionFrameKind kind);
/* Writes session_frame_size bytes to `to`. */
void session_frame_write (const SessionFrame *frame, guint8 *to);
/* (transfer full) */
GBytes *session_frame_encode (const SessionFrame *frame);
/* Returns NULL and fills `frame`, or returns what is wrong with the bytes. */
const char *session_frame_decode (GBytes *bytes, SessionFrame *frame);
/* TRUE: the frame may overtake frames that are not urgent. BYE may not, since it is the last frame.
 * `bytes` begin with its head, and are not checked. */
gboolean session_frame_is_urgent (GBytes *bytes);
