/* SPDX-License-Identifier: BSD-3-Clause */
/* The links of a node: which member stands at the other end, the state of the greeting, and dials
 * under way. A link is *greeted* when its HELLO came, and *bound* when its other end is a member:
 * only then it carries the session of that member (carry.h). If there are two links to one member,
 * this node reads both, until the session retires one. Driver's thread. */
#pragma once

#include "../node.h"
#include "carry.h"

typedef struct Circuit Circuit;

#define LINK_PER_MEMBER_MAX 4 /* older ones are closed */

/*  state    the link                                      may become
 *  NEW      has not brought HELLO                         GREETED
 *  GREETED  has                                           JOINING
 *  JOINING  … and this node asked for membership over it  GREETED */
typedef enum
{
  LINK_NEW,
  LINK_GREETED,
  LINK_JOINING
} LinkState;

struct Link
{
  guint64 link;    /* the driver's number, or one with ROUTE_LINK */
  guint64 order;   /* of arrival; the newest writes */
  NodeId expected; /* the member that was dialled, or none */
  NodeId remote;   /* the node that greeted, or none */
  guint64 dial;    /* of this node that made it; 0: the other end dialled, or it is routed */
  LinkState state;
  guint64 born_us, heard_us;
  guint64 spoke_us;   /* when this end last sent something over it */
  guint64 retired_us; /* time at which it is closed, since its session no longer needs it; 0: it
                         does */
  Term told_term;     /* the other end was sent every change of the roster up to this term … */
  guint64 told_version;
  Term said_term; /* … or at least that this end has this version */
  guint64 said_version;
  GHashTable *stems; /* ids sent over it, outside of sessions; looked up only */
  Member *member;    /* borrowed: the member to which it is bound; NULL: none */
  Circuit *circuit;  /* of a routed link, else NULL; see route.h */
  GQueue early;      /* of GBytes: frames that came before it was bound */
  gsize early_bytes;
};

typedef enum
{
  DIAL_MEMBER, /* a member without a link */
  DIAL_CHECK,  /* is this member alive? */
  DIAL_JOIN,
  DIAL_MEET /* a member that was removed for its silence */
} DialPurpose;

typedef struct
{
  guint64 dial;
  DialPurpose purpose;
  NodeId id;     /* MEMBER, CHECK */
  char *address; /* owned */
} Dial;

typedef struct
{
  GPtrArray *links;      /* of Link, by order */
  GHashTable *by_number; /* the same */
  GPtrArray *dials;      /* of Dial */
  guint64 orders, numbers;
} Links;

void link_init (Node *node);

guint64 link_dial (Node *node, DialPurpose purpose, const NodeId *id, const char *address);
/* Events of the driver. */
void link_up (Node *node, guint64 number, guint64 dial);
void link_down (Node *node, guint64 number);
void link_dial_failed (Node *node, guint64 dial, NodeDialFailure failure);
/* A new link, which takes over `circuit` (nullable); to be greeted. */
Link *link_add (Node *node, guint64 number, Circuit *circuit);
void link_greet (Node *node, Link *link);
/* Greets once more, if this node had no name at its greeting. */
void link_say_name (Node *node, Link *link);

Link *link_find (Node *node, guint64 number);
/* (nullable): the newest bound link to that member, a routed one if there is no other. */
Link *link_to (Node *node, const NodeId *id);
/* (nullable): one that is not routed. */
Link *link_direct (Node *node, const NodeId *id);
/* TRUE: a link to that member is up but waits for its greeting. `routed`: also such a one. */
gboolean link_is_coming (Node *node, const NodeId *id, gboolean routed);
/* Sends over this link, or in the session of the member to which it is bound, as the kind
 * requires. */
void link_send (Node *node, Link *link, const Message *message);
/* Sends a STEM to `to` before `message`, which uses it, unless `sent` has its id. */
typedef void (*LinkStemSay) (Node *node, void *to, const Message *stem);
void link_say_stems (Node *node, const Message *message, GHashTable *sent, LinkStemSay say,
                     void *to);
/* Sends an encoded message. `parts` is kept by reference. */
void link_send_parts (Node *node, Link *link, GPtrArray *parts, gboolean urgent, gboolean awaited);
/* FALSE: there is no session with that member yet, or, for kinds that go over links, no link
 * now. */
gboolean link_send_to (Node *node, const NodeId *id, const Message *message);
/* To each member with which there is a session. */
void link_broadcast (Node *node, const Message *message);
/* A link that is not bound within this time is closed. */
guint64 link_greeting_us (Node *node);
/* Closes without a call to the other parts: the caller does that. */
void link_close (Node *node, Link *link);
/* Closes all links but this one and its carrier. */
void link_close_others (Node *node, const Link *kept);
/* This node has lost its name: closes all links, except that this one stays if it is a direct one,
 * without its session, as after the greeting of the other end. Argument and result are nullable. */
Link *link_renew (Node *node, Link *link);
void link_close_member (Node *node, const NodeId *id);
/* Closes a link that broke the rules or fell silent; as if it had gone down by itself. */
void link_break (Node *node, Link *link, const char *why);
/* Every greeted link whose other end is a member now begins its work. */
void link_bind_all (Node *node);
