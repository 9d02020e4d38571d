/* SPDX-License-Identifier: BSD-3-Clause */
/* The input of one connection, until it forms whole messages; wire-queue.h is the counterpart.
 * Small frames go through a small buffer. Bytes of larger frames are read directly into their
 * message. Driver's thread. */
#pragma once

#include <gio/gio.h>

#define WIRE_INTAKE_SIZE (16 * 1024) /* one TLS record fits, too */
#define WIRE_INTAKE_VECTORS 2

/* A message of which bytes are missing. */
typedef struct
{
  guint8 *data; /* from buffer_take */
  gsize size, filled;
} WireComing;

typedef struct
{
  WireComing large;   /* arrives in several frames */
  WireComing whole;   /* arrives in one frame, possibly between frames of `large` */
  WireComing *coming; /* (nullable): the message to which the present frame belongs */
  gsize left;         /* bytes of that frame that are missing */
  gsize begin, end;   /* the unread part of `in` */
  guint8 in[WIRE_INTAKE_SIZE];
} WireIntake;

void wire_intake_init (WireIntake *intake);
void wire_intake_clear (WireIntake *intake);
/* Fills `vectors` with the places to read into. Returns their number, at most
 * WIRE_INTAKE_VECTORS. */
int wire_intake_room (WireIntake *intake, GInputVector *vectors);
/* `size` bytes were read into the vectors of wire_intake_room. */
void wire_intake_add (WireIntake *intake, gsize size);
/* Unread bytes in the buffer, without bytes that were read directly into a message. */
gsize wire_intake_size (const WireIntake *intake);
const guint8 *wire_intake_data (const WireIntake *intake);
/* Removes the first `size` unread bytes. */
void wire_intake_drop (WireIntake *intake, gsize size);
/* Moves the first `size` unread bytes to `to`. FALSE: there are fewer. */
gboolean wire_intake_take (WireIntake *intake, void *to, gsize size);
/* Takes the next message. *message (out) (transfer full) (nullable): NULL if more must be read
 * first. FALSE: an invalid frame, or no memory. */
gboolean wire_intake_next (WireIntake *intake, GBytes **message);
