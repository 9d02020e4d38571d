/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations of the layers above on members. These layers see no link: a message to a member
 * arrives once and in order, or the member leaves. (Crash reports, and the message that the run has
 * ended, go to every linked node, member or not: only poison.h and stop.h know links.) Driver's
 * thread. */
#pragma once

#include "../messages/message.h"

typedef struct Node Node;
typedef struct Member Member;

/* Begins the session, if there is none. FALSE: it is no member, or this node. */
gboolean member_send (Node *node, const NodeId *to, const Message *message);
/* To each member with which there is a session. */
void member_send_all (Node *node, const Message *message);
/* TRUE: what is said now need not wait until the member is connected. */
gboolean member_is_connected (Node *node, const NodeId *id);
gboolean member_has_connection (const Member *member);
/* The driver's number of the connection that brings what the member says next; 0: it has none. */
guint64 member_connection (Node *node, const NodeId *id);
/* It broke the rules: its connection is closed. */
void member_break (Node *node, const NodeId *id, const char *why);
