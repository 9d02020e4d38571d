/* SPDX-License-Identifier: BSD-3-Clause */
/* Links that go through other nodes. To the rest of the protocol a *routed* link is a Link like any
 * other. Its messages and frames travel whole over another link, the *carrier*, whose other end
 * passes them on over a link of its own. Each link numbers the routes that its two ends begin, so a
 * relaying node knows only its neighbours. When a carrier breaks, all routed links over it break,
 * and both ends are told.
 *
 * Limits: no route goes through more than ROUTE_HOPS_MAX nodes, and none in a circle, since each is
 * built on links that were there before it. Messages of members come in frames of their session,
 * which are small and of which the session keeps few in flight; any other message over a link is no
 * larger than a roster. Driver's thread. */
#pragma once

#include "link.h"

#define ROUTE_HOPS_MAX 2
#define ROUTE_RELAYED_MAX (MESSAGE_HEADER_MAX + SESSION_FRAGMENT) /* bytes */
#define ROUTES_MAX 65536u                                         /* that one node passes on */
/* The number of a routed link has this bit, which the driver's numbers never have. */
#define ROUTE_LINK (G_GUINT64_CONSTANT (1) << 63)

/* A route on one of the links that carry it. */
typedef struct
{
  guint64 link;   /* the carrier … */
  guint64 number; /* … and the route's number on it, … */
  gboolean mine;  /* … which this node chose */
} RouteLeg;

/* The route of a routed Link. */
struct Circuit
{
  RouteLeg leg;
  guint hops; /* nodes between the two ends, as far as known here */
};

typedef struct
{
  GPtrArray *passages; /* of Passage: routes that this node relays */
  GHashTable *by_leg;  /* the same by either end; looked up only */
  guint64 numbers, links;
} Routes;

void route_init (Node *node);

/* Begins a link to `id` (a member) through the node at the other end of `carrier`; `id` is `hops`
 * nodes away over it. The link greets at once; if there is no route, it goes down. */
Link *route_open (Node *node, Link *carrier, const NodeId *id, guint hops);
/* Nodes between this one and the other end: 0 on a link that is not routed. */
guint route_hops (const Link *link);
/* `parts` as message_encode makes them; borrowed. */
void route_send (Node *node, Link *link, GPtrArray *parts);
/* This end closes the link, and tells the other end. */
void route_shut (Node *node, const Link *link);
/* TRUE: this node relays a route that began at the other end of this link. */
gboolean route_begins_at (Node *node, const Link *link);
/* TRUE: a route goes over that link. */
gboolean route_needs (Node *node, const Link *carrier);
/* That link is gone, and with it the routes over it. */
void route_carrier_gone (Node *node, guint64 number);

void route_on_relay (Node *node, Link *link, const Message *message);
void route_on_relayed (Node *node, Link *link, const Message *message);
void route_check (Node *node);
