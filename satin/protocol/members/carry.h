/* SPDX-License-Identifier: BSD-3-Clause */
/* The session of each member: which links carry it, and the messages that go over it. Here the
 * protocol uses satin/mesh. Messages between members are not lost and arrive once and in order,
 * whatever happens to links; only messages that find and connect nodes go over links directly. A
 * session begins with the first link that is bound to its member and ends with the member. Driver's
 * thread. */
#pragma once

#include "../messages/message.h"
#include "mesh/session.h"

typedef struct Node Node;
typedef struct Link Link;
typedef struct Member Member;

/* What a link that is not bound may bring beforehand: the roster that binds it may come later. */
#define CARRY_EARLY_MAX (16u << 20)

/* A message that waits until what it speaks of is here (shares.h), or behind such a one. */
typedef struct
{
  GBytes *frame;
  gsize start;       /* of the message in it */
  GPtrArray *shares; /* of SatinShared, as in Message.speaks; NULL: it only comes after others */
} CarryWaiting;

/* What a Member has of it. */
typedef struct
{
  Session *session;  /* (nullable) until a link is bound */
  GHashTable *stems; /* ids that were sent in it; looked up only */
  guint64 due_us;    /* of the session */
  GQueue waiting;    /* of CarryWaiting: messages that are not heard yet, */
  GQueue told;       /* of GPtrArray: and what those that were sent speak of */
  GQueue unheard;    /* of GBytes: came when there was no link any more to hear them by */
} Carry;

typedef struct
{
  GArray *effects; /* of SessionEffect, from the call of a session under way */
  GArray *later;  /* of SessionEffect, to be carried out when nobody is in the middle of anything */
  gboolean doors; /* something may be heard that waited for a link */
  guint64 due_us; /* no session is due, and no link that is retired, before */
  gboolean settling;
} Sessions;

void carry_init (Node *node);
void carry_done (Node *node);

/* A link is bound to this member. TRUE: it is the first one. */
gboolean carry_bound (Node *node, Link *link, Member *member);
/* It is bound no more. */
void carry_down (Node *node, guint64 link, Member *member);
/* The member is none any more, for this node: its session is gone. */
void carry_departed (Node *node, Member *member);
void carry_clear (Carry *carry);
/* (data: CarryWaiting) */
void carry_waiting_free (gpointer data);

/* Does this kind of message go by sessions? */
gboolean carry_bears (MessageKind kind);
/* Begins the session, if there is none; it has a link made. FALSE: the member is this node. */
gboolean carry_open (Node *node, Member *member);
/* The same, and sends this. */
gboolean carry_send (Node *node, Member *member, const Message *message);
/* Is there a session with this node? */
gboolean carry_reaches (Node *node, const NodeId *id);
/* Is there one, or may a message begin one? So it is for each other member. */
gboolean carry_may_reach (Node *node, const NodeId *id);
/* Are these the bytes of a frame, not of a message? */
gboolean carry_is_frame (GBytes *bytes);
/* May what these bytes are, a frame or a message, pass others? */
gboolean carry_is_urgent (GBytes *bytes);
void carry_hear (Node *node, Link *link, GBytes *frame);
/* Says over this bound link what is to be acknowledged. FALSE: nothing is. */
gboolean carry_acknowledge (Node *node, Link *link);
/* FALSE: so much waits for that member that it should be given no work. */
gboolean carry_has_room (const Member *member);
/* It has something to say, and no link that works. */
gboolean carry_wants (const Member *member);
/* Carries out what sessions said. */
void carry_settle (Node *node);
guint64 carry_due (Node *node);
void carry_tick (Node *node);
void carry_check (Node *node);
