/* SPDX-License-Identifier: BSD-3-Clause */
/* The one place that reads a message and gives it to its part, or to the layers above, if
 * messages.def lets the other end send it and this node receive it. A malformed message ends the
 * link that it came over, and does nothing else. Driver's thread. */
#pragma once

#include "link.h"

void hear_message (Node *node, guint64 number, GBytes *bytes);
/* One that begins at `start` in these bytes. */
void hear_bytes (Node *node, Link *link, GBytes *bytes, gsize start);
/* One that is in order and need not wait for anything. */
void hear_admitted (Node *node, Link *link, const Message *message);
/* … of this connected member, which was not admitted before. */
void hear_again (Node *node, const NodeId *from, const Message *message);
/* Does a part of this layer take in messages of this kind? */
gboolean hear_handles (MessageKind kind);
