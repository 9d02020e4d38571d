/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes frames. Every size is checked before it is used. Accepted bytes are canonical:
 * the decoded frame encodes to the same bytes.
 *
 * Tests: test-session-frame. */
#include "config.h"

#include "session-frame.h"

#include "value/buffer.h"

#include <string.h>

/* Multiples of BUFFER_ALIGN, so that a message in one fragment is aligned within its frame. */
#define PLAIN_SIZE 24
#define HELLO_SIZE (PLAIN_SIZE + 40)
#define DATA_SIZE SESSION_FRAME_DATA_HEAD
G_STATIC_ASSERT (DATA_SIZE % BUFFER_ALIGN == 0);

gsize
session_frame_size (SessionFrameKind kind)
{
  switch (kind)
    {
    case SESSION_FRAME_HELLO:
      return HELLO_SIZE;
    case SESSION_FRAME_DATA:
      return DATA_SIZE;
    case SESSION_FRAME_ACK:
    case SESSION_FRAME_BYE:
      return PLAIN_SIZE;
    }
  return 0;
}

/* ---- writing ---- */

static guint8 *
put32 (guint8 *at, guint32 value)
{
  guint32 word = GUINT32_TO_LE (value);

  memcpy (at, &word, sizeof word);
  return at + sizeof word;
}

static guint8 *
put64 (guint8 *at, guint64 value)
{
  guint64 word = GUINT64_TO_LE (value);

  memcpy (at, &word, sizeof word);
  return at + sizeof word;
}

static guint8 *
put_id (guint8 *at, const NodeId *id)
{
  at = put32 (at, id->term);
  at = put32 (at, id->number);
  return put32 (at, id->random);
}

void
session_frame_write (const SessionFrame *frame, guint8 *at)
{
  guint32 second = 0;

  if (frame->kind == SESSION_FRAME_HELLO)
    second = SESSION_VERSION;
  else if (frame->kind == SESSION_FRAME_DATA)
    second = frame->stream;
  at = put32 (at, frame->kind);
  at = put32 (at, second);
  for (guint i = 0; i < SESSION_STREAMS; i++)
    at = put64 (at, frame->received[i]);
  if (frame->kind == SESSION_FRAME_HELLO)
    {
      at = put_id (at, &frame->from);
      at = put_id (at, &frame->to);
      at = put64 (at, frame->order);
      (void)put64 (at, frame->needed);
    }
  else if (frame->kind == SESSION_FRAME_DATA)
    {
      at = put64 (at, frame->number);
      (void)put64 (at, frame->total);
    }
}

GBytes *
session_frame_encode (const SessionFrame *frame)
{
  gsize size = session_frame_size (frame->kind);
  guint8 *bytes = g_malloc (size);

  session_frame_write (frame, bytes);
  return g_bytes_new_take (bytes, size);
}

/* ---- reading ---- */

static guint32
get32 (const guint8 **at)
{
  guint32 word;

  memcpy (&word, *at, sizeof word);
  *at += sizeof word;
  return GUINT32_FROM_LE (word);
}

static guint64
get64 (const guint8 **at)
{
  guint64 word;

  memcpy (&word, *at, sizeof word);
  *at += sizeof word;
  return GUINT64_FROM_LE (word);
}

static NodeId
get_id (const guint8 **at)
{
  NodeId id;

  id.term = get32 (at);
  id.number = get32 (at);
  id.random = get32 (at);
  return id;
}

const char *
session_frame_decode (GBytes *bytes, SessionFrame *frame)
{
  gsize size;
  const guint8 *at = g_bytes_get_data (bytes, &size);

  memset (frame, 0, sizeof *frame);
  if (size < PLAIN_SIZE)
    return "a frame is too short";
  guint32 kind = get32 (&at), second = get32 (&at);
  gsize wanted = session_frame_size (kind);
  if (wanted == 0)
    return "a frame is of no known kind";
  if (size < wanted || (size > wanted && kind != SESSION_FRAME_DATA))
    return "a frame has the wrong size";
  frame->kind = kind;
  for (guint i = 0; i < SESSION_STREAMS; i++)
    frame->received[i] = get64 (&at);
  if (kind == SESSION_FRAME_HELLO)
    {
      if (second != SESSION_VERSION)
        return "the other end has another version";
      frame->from = get_id (&at);
      frame->to = get_id (&at);
      frame->order = get64 (&at);
      guint64 needed = get64 (&at);
      frame->needed = needed == 1;
      return needed <= 1 ? NULL : "a HELLO has an unknown flag";
    }
  if (kind != SESSION_FRAME_DATA)
    return second == 0 ? NULL : "a frame has something where nothing stands";
  frame->stream = second;
  frame->number = get64 (&at);
  frame->total = get64 (&at);
  if (second >= SESSION_STREAMS)
    return "a fragment is of no known stream";
  if (frame->number == 0)
    return "a fragment has no number";
  if (size - wanted > frame->total || (size == wanted && frame->total != 0))
    return "a fragment does not fit its message";
  frame->payload = size - wanted;
  return NULL;
}

gboolean
session_frame_is_urgent (GBytes *bytes)
{
  gsize size;
  const guint8 *at = g_bytes_get_data (bytes, &size);

  if (size < PLAIN_SIZE)
    return FALSE;
  guint32 kind = get32 (&at), second = get32 (&at);
  return kind == SESSION_FRAME_DATA ? second == SESSION_URGENT : kind != SESSION_FRAME_BYE;
}
