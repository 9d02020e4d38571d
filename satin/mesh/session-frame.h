/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames: what the two ends of a session say to each other over a connection, and its bytes.
 *
 *   HELLO  the first frame of each end on each connection: who speaks, and to which member
 *   DATA   one fragment of one message; fragments of a stream are numbered from 1
 *   ACK    nothing but the acknowledgement that every frame carries
 *   BYE    the last frame on a connection that its sender closes on purpose
 *
 * A frame begins with its kind, a word that depends on the kind, and how far each stream has come
 * (24 bytes, little-endian). Kinds lie above those of messages, so the first word tells both apart.
 * The decoder trusts nothing. Pure. */
#pragma once

#include "value/node-id.h"

#include <glib.h>

#define SESSION_FRAME_DATA_HEAD 40u /* bytes before the payload */
#define SESSION_VERSION 1u /* of frames and rules; HELLO carries it, unequal ones do not talk */

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
  NodeId from, to;                   /* HELLO … */
  guint64 order;        /* of this HELLO among those of its sender in this session, from 1 */
  gboolean needed;      /* no connection of which it said HELLO before works for it */
  SessionStream stream; /* DATA … */
  guint64 number;       /* of the fragment, from 1 */
  guint64 total;        /* bytes of its message; the same in all fragments of it */
  gsize payload;        /* decoded: so many bytes behind the head are the fragment */
} SessionFrame;

/* Bytes of a frame of this kind; of DATA those before the payload. 0: there is no such kind. */
gsize session_frame_size (SessionFrameKind kind);
/* Writes these bytes. */
void session_frame_write (const SessionFrame *frame, guint8 *to);
/* (transfer full) */
GBytes *session_frame_encode (const SessionFrame *frame);
/* NULL: `frame` is filled. Else what is wrong with the bytes. */
const char *session_frame_decode (GBytes *bytes, SessionFrame *frame);
/* May these bytes pass frames that are not? Not checked. */
gboolean session_frame_is_urgent (GBytes *bytes);
