/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations of the layers above on members. These layers see no link: a message to a member
 * arrives once and in order, or the member leaves. (Crash reports, and the message that the run has
 * ended, go to every linked node, member or not: only poison.h and stop.h know links.) Driver's
 * thread. */
#pragma once

#include "../messages/message.h"

typedef struct Node Node;
typedef struct Member Member;

/* Begins the session, if there is none. FALSE: `to` is no member, or is this node. */
gboolean member_send (Node *node, const NodeId *to, const Message *message);
/* To each member with which there is a session. */
void member_send_all (Node *node, const Message *message);
/* TRUE: the member is connected, so a message need not wait. */
gboolean member_is_connected (Node *node, const NodeId *id);
gboolean member_has_connection (const Member *member);
/* The driver's number of the connection that brings the member's next message; 0: there is none. */
guint64 member_connection (Node *node, const NodeId *id);
/* The member broke the rules: closes its connection. */
void member_break (Node *node, const NodeId *id, const char *why);
