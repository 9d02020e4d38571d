/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages as text: the name and the fields that help a reader. Pure. */
#pragma once

#include "mesh/session-frame.h"
#include "messages/message.h"

/* Returns for example "RESULT loan 2 /0/1"; the path "/" is the root's. Bytes that cannot be
 * decoded give only the name. (transfer full) */
char *say_message (GBytes *bytes);
/* The same for what is sent over a link: a message, or a frame of a session. */
char *say_frame (GBytes *bytes);
/* (transfer full) (nullable) The message in it, if it contains a whole one. */
GBytes *say_content (GBytes *bytes);
/* The kind of the message in it; MESSAGE_NO_KIND: it contains no whole one. */
guint32 say_kind (GBytes *bytes);
/* Returns the number of the fragment and fills `stream`; 0: it has no fragment. */
guint64 say_number (GBytes *bytes, SessionStream *stream);
/* Joins the parts of one message. (transfer full) */
GBytes *say_join (const GPtrArray *parts);
