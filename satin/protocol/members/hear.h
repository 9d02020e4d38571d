/* SPDX-License-Identifier: BSD-3-Clause */
/* The one place that reads a message and gives it to its part, or to the layers above, if
 * messages.def lets the other end send it and this node receive it. A malformed message ends the
 * link that it came over, and does nothing else. Driver's thread. */
#pragma once

#include "link.h"

void hear_message (Node *node, guint64 number, GBytes *bytes);
/* A message that begins at `start` in these bytes. */
void hear_bytes (Node *node, Link *link, GBytes *bytes, gsize start);
/* A well-formed message of this connected member, which waited before. */
void hear_again (Node *node, const NodeId *from, const Message *message);
/* TRUE: a part of this layer takes messages of this kind. */
gboolean hear_handles (MessageKind kind);
