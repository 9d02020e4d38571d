/* SPDX-License-Identifier: BSD-3-Clause */
/* How many bytes this node has sent to other members, by the purpose of the messages (NodeSent). A
 * message counts once, with the head of its frame, however often a session sends it again. The
 * links' own messages, and messages that this node relays for others, do not count. Driver's
 * thread. */
#pragma once

#include "../messages/message.h"
#include "../node.h"

NodeSent sent_use (MessageKind kind);
/* `parts`: of GBytes, the message. */
void sent_count (Node *node, MessageKind kind, const GPtrArray *parts);
