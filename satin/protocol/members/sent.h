/* SPDX-License-Identifier: BSD-3-Clause */
/* How many bytes this node has sent to other members, by what the messages are for (NodeSent). A
 * message counts once, with the head of its frame, however often a session sends it again; links'
 * own messages and what this node passes on for others do not count. Driver's thread. */
#pragma once

#include "../messages/message.h"
#include "../node.h"

NodeSent sent_use (MessageKind kind);
/* `parts`: of GBytes, the message. */
void sent_count (Node *node, MessageKind kind, const GPtrArray *parts);
