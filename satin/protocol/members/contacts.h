/* SPDX-License-Identifier: BSD-3-Clause */
/* Contacts: the members to which this node keeps a link.
 *
 * In a small run (NodeConfig.dense members at most) everybody is linked to everybody. A larger run
 * is sparse: links cost the square of the members. There a node keeps links to
 *   - the hub, which is the eldest member that is not known to be dead, as a rule the master. The
 *     hub keeps a link to everybody, finds out who dies, and passes on what is for all;
 *   - the coordinator, which keeps a link to everybody, too;
 *   - some members of its own site and a few of others, from which it steals. A hash of both names
 *     draws them, so both ends agree and a newcomer changes no other pair;
 *   - each member for which a session has something to say (carry.h), and each with which it once
 *     was linked, as long as that link stands.
 * A node says nothing about the silence of a member that it does not watch. Driver's thread. */
#pragma once

#include "../messages/message.h"

typedef struct Node Node;
typedef struct Link Link;
typedef struct Member Member;

/* In a run with links between all up to `dense` members: how many members of the own site are drawn
 * on average (at most twice as many); and of all others. */
#define CONTACTS_NEAR(dense) MAX (3 * (dense) / 8, 1)
#define CONTACTS_FAR(dense) MAX ((dense) / 8, 1)

typedef struct
{
  guint near_share, far_share; /* one in this many is drawn */
  guint far;                   /* members at other sites */
  NodeId hub;
} Contacts;

/* TRUE: each pair of members has a link. */
gboolean contacts_are_all (const Node *node);
/* TRUE: in a sparse run every member has a link to this one, which forwards messages for all. */
gboolean contacts_is_hub (const Node *node, const NodeId *id);
/* TRUE: this node would notice the death of that member by itself. */
gboolean contacts_watch (Node *node, const Member *member);
/* The roster, the coordinator or the hub may have changed: opens missing links. */
void contacts_refresh (Node *node);
/* The hub of a sparse run forwards this message from `from` to all others. */
void contacts_pass_on (Node *node, const NodeId *from, const Message *message);
