/* SPDX-License-Identifier: BSD-3-Clause */
/* What one connection reads, until it is whole messages: the counterpart of wire-queue.h. Small
 * frames go through a small buffer; of all others the bytes go straight to their message. Driver's
 * thread. */
#pragma once

#include <gio/gio.h>

#define WIRE_INTAKE_SIZE (16 * 1024) /* a record of TLS, too */
#define WIRE_INTAKE_VECTORS 2

/* A message of which not all is here. */
typedef struct
{
  guint8 *data; /* of buffer_take */
  gsize size, filled;
} WireComing;

typedef struct
{
  WireComing large;   /* comes in pieces */
  WireComing whole;   /* one frame, which may come between those */
  WireComing *coming; /* (nullable): where the frame that is being read goes */
  gsize left;         /* of that frame: bytes that are not there yet */
  gsize begin, end;   /* what in `in` has not been looked at */
  guint8 in[WIRE_INTAKE_SIZE];
} WireIntake;

void wire_intake_init (WireIntake *intake);
void wire_intake_clear (WireIntake *intake);
/* Where the next bytes are to be read to; at most WIRE_INTAKE_VECTORS. */
int wire_intake_room (WireIntake *intake, GInputVector *vectors);
/* So many were. */
void wire_intake_add (WireIntake *intake, gsize size);
/* Bytes that came and were not taken yet; what goes straight to a message is not counted. */
gsize wire_intake_size (const WireIntake *intake);
const guint8 *wire_intake_data (const WireIntake *intake);
/* The first `size` of them have been seen. */
void wire_intake_drop (WireIntake *intake, gsize size);
/* TRUE: the first `size` of them were moved to `to`. */
gboolean wire_intake_take (WireIntake *intake, void *to, gsize size);
/* The next message. *message (transfer full) (nullable): more has to be read first. FALSE: a frame
 * that nobody sends, or no memory. */
gboolean wire_intake_next (WireIntake *intake, GBytes **message);
