/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages as text for people: their name and the fields that mean something to a reader. Pure. */
#pragma once

#include "mesh/session-frame.h"
#include "messages/message.h"

/* "RESULT loan 2 /0/1". A path "/" is the root's. Bytes that do not decode give the name alone.
 * (transfer full) */
char *say_message (GBytes *bytes);
/* The same of what goes over a link: a message, or a frame of a session. */
char *say_frame (GBytes *bytes);
/* (transfer full) (nullable): the message in it, if it has a whole one. */
GBytes *say_content (GBytes *bytes);
/* … and the number of that fragment; 0: it has none. */
guint64 say_number (GBytes *bytes, SessionStream *stream);
/* The parts of one message, put together. (transfer full) */
GBytes *say_join (const GPtrArray *parts);
