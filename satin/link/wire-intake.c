/* SPDX-License-Identifier: BSD-3-Clause */
/* See wire-intake.h. Does not interpret messages. */
#include "wire-intake.h"

#include "value/buffer.h"
#include "wire-queue.h"
#include "wire.h"

#include <string.h>

#define HEADER 8
#define READ_AHEAD 64 /* besides a piece; usually the next header */

void
wire_intake_init (WireIntake *intake)
{
  memset (intake, 0, G_STRUCT_OFFSET (WireIntake, in));
}

static void
coming_clear (WireComing *coming)
{
  buffer_give (coming->data, coming->size);
  *coming = (WireComing){ 0 };
}

void
wire_intake_clear (WireIntake *intake)
{
  coming_clear (&intake->large);
  coming_clear (&intake->whole);
}

gsize
wire_intake_size (const WireIntake *intake)
{
  return intake->end - intake->begin;
}

const guint8 *
wire_intake_data (const WireIntake *intake)
{
  return intake->in + intake->begin;
}

void
wire_intake_drop (WireIntake *intake, gsize size)
{
  intake->begin += size;
  if (intake->begin == intake->end)
    intake->begin = intake->end = 0;
}

gboolean
wire_intake_take (WireIntake *intake, void *to, gsize size)
{
  if (wire_intake_size (intake) < size)
    return FALSE;
  memcpy (to, wire_intake_data (intake), size);
  wire_intake_drop (intake, size);
  return TRUE;
}

/* The number of bytes that may be read directly into the message. */
static gsize
direct (const WireIntake *intake)
{
  return wire_intake_size (intake) == 0 ? intake->left : 0;
}

int
wire_intake_room (WireIntake *intake, GInputVector *vectors)
{
  gsize straight = direct (intake);
  int n = 0;

  if (intake->begin > 0)
    memmove (intake->in, wire_intake_data (intake), wire_intake_size (intake));
  intake->end -= intake->begin;
  intake->begin = 0;
  if (straight > 0)
    vectors[n++] = (GInputVector){ intake->coming->data + intake->coming->filled, straight };
  gsize ahead = straight > 0 && intake->coming == &intake->large ? READ_AHEAD : WIRE_INTAKE_SIZE;
  vectors[n++] = (GInputVector){ intake->in + intake->end, ahead - intake->end };
  return n;
}

static void
fill (WireIntake *intake, gsize size)
{
  intake->coming->filled += size;
  intake->left -= size;
}

void
wire_intake_add (WireIntake *intake, gsize size)
{
  gsize straight = MIN (size, direct (intake));

  if (straight > 0)
    fill (intake, straight);
  intake->end += size - straight;
}

/* Starts a frame of `size` bytes that belongs to `coming`. */
static void
begin_frame (WireIntake *intake, WireComing *coming, gsize size)
{
  intake->coming = coming;
  intake->left = size;
}

/* Starts a message of `size` bytes whose first frame has `frame` bytes. FALSE: no memory. */
static gboolean
begin_message (WireIntake *intake, WireComing *coming, gsize size, gsize frame)
{
  coming->data = buffer_take (size);
  if (coming->data == NULL)
    return FALSE;
  coming->size = size;
  begin_frame (intake, coming, frame);
  return TRUE;
}

/* Moves the frame's bytes in the buffer to its message. TRUE: the frame is complete. */
static gboolean
fill_from_in (WireIntake *intake)
{
  gsize size = MIN (intake->left, wire_intake_size (intake));

  (void)wire_intake_take (intake, intake->coming->data + intake->coming->filled, size);
  fill (intake, size);
  return intake->left == 0;
}

/* (transfer full) (nullable): the message, if this was its last frame. */
static GBytes *
end_frame (WireIntake *intake)
{
  WireComing *coming = g_steal_pointer (&intake->coming);
  WireComing all = *coming;

  if (all.filled < all.size)
    return NULL;
  *coming = (WireComing){ 0 };
  return buffer_to_bytes (all.data, all.size);
}

/* Reads a WIRE_WHOLE frame after its header. */
static gboolean
read_whole (WireIntake *intake, gsize size, GBytes **message)
{
  if (size == 0 || size > WIRE_PIECE)
    return FALSE;
  if (wire_intake_size (intake) < size)
    return begin_message (intake, &intake->whole, size, size);
  *message = g_bytes_new (wire_intake_data (intake), size);
  wire_intake_drop (intake, size);
  return TRUE;
}

static gboolean
read_header (WireIntake *intake, GBytes **message)
{
  const WireComing *large = &intake->large;
  guint64 header;

  (void)wire_intake_take (intake, &header, HEADER);
  header = GUINT64_FROM_LE (header);
  guint64 size = header & ((G_GUINT64_CONSTANT (1) << WIRE_KIND_SHIFT) - 1);
  switch (header >> WIRE_KIND_SHIFT)
    {
    case WIRE_WHOLE:
      return read_whole (intake, (gsize)size, message);
    case WIRE_BEGIN:
      return large->data == NULL && size > WIRE_PIECE && size <= WIRE_MESSAGE_MAX
             && begin_message (intake, &intake->large, (gsize)size, WIRE_PIECE);
    case WIRE_CONTINUE:
      if (large->data == NULL || size != MIN (WIRE_PIECE, large->size - large->filled))
        return FALSE;
      begin_frame (intake, &intake->large, (gsize)size);
      return TRUE;
    default:
      return FALSE;
    }
}

gboolean
wire_intake_next (WireIntake *intake, GBytes **message)
{
  *message = NULL;
  while (*message == NULL)
    if (intake->coming != NULL)
      {
        if (!fill_from_in (intake))
          return TRUE;
        *message = end_frame (intake);
      }
    else if (wire_intake_size (intake) < HEADER)
      return TRUE;
    else if (!read_header (intake, message))
      return FALSE;
  return TRUE;
}
