/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions that join the layers of a Node, for node.c and tests. Driver's thread. */
#pragma once

#include "members/above.h"

/* The parts that are told what happens in a lower layer (above.h). */
extern const MembersAbove node_above_members;
extern const WorkAbove node_above_work;

/* Hands a message of the layers work and control to its part. */
void node_hear (Node *node, const NodeId *from, const Message *message);
/* Is there something that takes in messages of this kind? For tests: there is of each. */
gboolean node_hears (MessageKind kind);
