/* SPDX-License-Identifier: BSD-3-Clause */
/* The failure detector: pings, silence, and dials as proof of death.
 *
 * Both ends dial again at once when a link breaks. If a dial to a member of this host is refused,
 * the member is proved dead, unless a link still stands over which its crash report may come. If
 * the member is on another host, something between may have refused the dial. Then the refusal
 * counts only if no member has a link to the member (reach.h asks all), and if the address answered
 * before or the member had a second to dial itself. Another node of the same host at that address
 * proves death, too. Long silence counts as proof. A member that was silent for half of that time
 * is dialled: if only the link is half open, the member answers over the new one. A member that the
 * master hears and others do not is not dead: the master offers a relay. If that does not help for
 * half a minute, the master removes the member.
 *
 * All nodes dial members whose death was not proved, for ever and ever more seldom. So the two
 * sides of a split meet even if only one node of each reaches one of the other. Driver's thread. */
#pragma once

#include "link.h"
#include "roster.h"

#define ALIVE_REDIAL_US (500 * 1000)         /* after a dial that proved nothing */
#define ALIVE_REDIAL_MIN_US (20 * 1000)      /* between two dials of one member */
#define ALIVE_EXPECT_US (2 * G_USEC_PER_SEC) /* a younger member is given this long to dial */
#define ALIVE_ACCUSED_MAX 64
#define ALIVE_PINGS_A_SECOND 3 /* over all links, where a heartbeat over each would be more */
/* A member that has been away for a time is dialled again after this share of that time, but at
 * least and at most after these times, in heartbeats: 10 s and 5 min. */
#define ALIVE_MEET_SHARE 8
#define ALIVE_MEET_MIN 2
#define ALIVE_MEET_MAX 60

#define ALIVE_TOLD_US (3 * G_USEC_PER_SEC) /* a busy member of a small run speaks each second */

typedef struct
{
  char *address;
  guint64 since_us; /* when it left */
  guint64 at_us;    /* the next dial; CORE_NEVER: one is under way */
} Accused;

typedef struct
{
  guint64 ping_at_us; /* CORE_NEVER: alone */
  guint64 look_at_us; /* who is silent is looked at then, besides whenever pings are sent */
  guint64 dial_at_us; /* time of the next dial of a member, or search for one; 0: this time and
                         look_at_us are to be computed anew */
  GPtrArray *accused; /* of Accused */
} Alive;

void alive_init (Node *node);
void alive_dead (Node *node, Member *member, Death death);
/* TRUE: the member has sent nothing for longer than usual. For people: a moment later it may send
 * again. */
gboolean alive_is_silent (Node *node, const Member *member);
/* TRUE: a link to this member stands and brought something lately, so a proof of its death can
 * wait. */
gboolean alive_may_speak (Node *node, const Member *member);
void alive_redial (Node *node, Member *member);
void alive_on_gone (Node *node, Link *link, const Message *message);
/* A node at this address may be on the other side of a split. */
void alive_accuse (Node *node, const char *address);
/* … as far as is known. */
gboolean alive_is_accused (Node *node, const char *address);
void alive_met (Node *node, const char *address, gboolean settled);
/* TRUE: a timer came so late that this node itself stood still. */
gboolean alive_was_asleep (Node *node);
void alive_slept (Node *node);
/* The member sent something. */
void alive_heard (Node *node, Member *member);
/* Something about a member or a link may be due earlier than before. */
void alive_changed (Node *node);
/* FALSE: no member is to be dialled or sought before the next change, so none need be looked at. */
gboolean alive_dials (const Node *node);
guint64 alive_due (Node *node);
void alive_check (Node *node);
void alive_tick (Node *node);
