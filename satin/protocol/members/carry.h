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

/* The most bytes of frames that an unbound link may bring: the roster that binds it may come
 * later. */
#define CARRY_EARLY_MAX (16u << 20)

/* A message that waits until its shared bytes are here (shares.h), or behind such a message. */
typedef struct
{
  GBytes *frame;
  gsize start;       /* of the message in it */
  GPtrArray *shares; /* of SatinShared, as in Message.speaks; NULL: it only waits behind others */
} CarryWaiting;

/* The session of a Member. */
typedef struct
{
  Session *session;  /* (nullable) until a link is bound */
  GHashTable *stems; /* ids that were sent in the session; looked up only */
  guint64 due_us;    /* of the session */
  GQueue waiting;    /* of CarryWaiting: received messages that wait */
  GQueue told;       /* of GPtrArray: the shared bytes of sent messages, until TAKEN */
  GQueue unheard;    /* of GBytes: messages that came when no link was left to hear them by */
} Carry;

typedef struct
{
  GArray *effects; /* of SessionEffect, from the call of a session under way */
  GArray *later;   /* of SessionEffect, to be carried out at the end of the step */
  gboolean doors;  /* a message that waited for a link may be heard now */
  guint64 due_us;  /* no session and no retired link is due before */
  gboolean settling;
} Sessions;

void carry_init (Node *node);

/* A link is bound to this member. TRUE: it is the first one. */
gboolean carry_bound (Node *node, Link *link, Member *member);
/* The link is no longer bound. */
void carry_down (Node *node, guint64 link, Member *member);
/* The member has left this node's roster: its session ends. */
void carry_departed (Node *node, Member *member);
void carry_clear (Carry *carry);
/* (data: CarryWaiting) */
void carry_waiting_free (gpointer data);

/* TRUE: messages of this kind go in sessions. */
gboolean carry_bears (MessageKind kind);
/* Begins the session, if there is none, which has a link opened. FALSE: the member is this node. */
gboolean carry_open (Node *node, Member *member);
/* The same, and sends this. */
gboolean carry_send (Node *node, Member *member, const Message *message);
/* TRUE: there is a session with this node. */
gboolean carry_reaches (Node *node, const NodeId *id);
/* TRUE: there is a session, or a message may begin one. This holds for each other member. */
gboolean carry_may_reach (Node *node, const NodeId *id);
/* TRUE: these are the bytes of a frame, not of a message. */
gboolean carry_is_frame (GBytes *bytes);
/* TRUE: this frame or message may pass others. */
gboolean carry_is_urgent (GBytes *bytes);
void carry_hear (Node *node, Link *link, GBytes *frame);
/* Sends acknowledgements over this bound link. FALSE: there are none to send. */
gboolean carry_acknowledge (Node *node, Link *link);
/* FALSE: so much waits for that member that it should get no work. */
gboolean carry_has_room (const Member *member);
/* TRUE: the session has something to send, and no working link. */
gboolean carry_wants (const Member *member);
/* Carries out the effects of sessions. */
void carry_settle (Node *node);
guint64 carry_due (Node *node);
void carry_tick (Node *node);
void carry_check (Node *node);
