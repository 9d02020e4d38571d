/* SPDX-License-Identifier: BSD-3-Clause */
/* Members that this node cannot dial. It asks other members whether they have a link to such a
 * member. A node that has one relays messages (route.h). The member dials this node when the route
 * reaches it (for sites that open connections in one direction only). A refused dial proves death
 * only if no other node has a link, and if the address has answered before or the member had time
 * to dial itself. Driver's thread. */
#pragma once

#include "link.h"

typedef struct Member Member;

#define REACH_SLOW_US (250 * 1000) /* a dial that takes longer is not waited for */
#define REACH_ASK_US \
  (2 * G_USEC_PER_SEC) /* nodes that have not answered by then are asked again, for a while */
#define REACH_GRACE_US (1 * G_USEC_PER_SEC) /* a node that was asked looks for one so long */
#define REACH_ASKED_MAX 8                   /* by one who does not decide who is dead */
#define REACH_ASKED_OF_SITE 3
#define REACH_QUESTIONS_MAX 4096u
#define REACH_REDIAL_MAX_US (64 * G_USEC_PER_SEC) /* between dials of one that a route leads to */

typedef struct
{
  NodeId id;        /* the member that is sought */
  GArray *asked;    /* set of nodes that have not answered */
  guint64 until_us; /* the search ends then */
} ReachSearch;

typedef struct
{
  NodeId asker, id;
  guint64 until_us;
} ReachQuestion;

typedef struct
{
  GPtrArray *searches; /* of ReachSearch */
  GArray *questions;   /* of ReachQuestion: questions of others that this node cannot answer yet */
} Reach;

void reach_init (Node *node);
/* This node has no name any more. */
void reach_reset (Node *node);

/* There is no link to this member: searches for a node that has one, unless a search is under
 * way. */
void reach_seek (Node *node, Member *member);
gboolean reach_is_seeking (Node *node, const NodeId *id);
/* A dial of it failed. `refused`: by that host or by something on the way. */
void reach_dial_failed (Node *node, Member *member, gboolean refused);
/* A link to this member was bound. */
void reach_bound (Node *node, Member *member);
/* That node has lost its link to this node, so it will not answer. */
void reach_lost (Node *node, const NodeId *id);
/* Tells the asker that this node can relay. FALSE: it cannot. */
gboolean reach_offer (Node *node, Link *asker, const NodeId *id);
void reach_on_seek (Node *node, Link *link, const Message *message);
void reach_on_sought (Node *node, Link *link, const Message *message);
/* A route from that member has come here, since it cannot dial this node: dials it. */
void reach_on_route (Node *node, const NodeId *id);
guint64 reach_due (Node *node);
void reach_tick (Node *node);
void reach_check (Node *node);
