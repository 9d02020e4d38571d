/* SPDX-License-Identifier: BSD-3-Clause */
/* Becoming a member: dial a known address, learn the roster, ask its master, retry until welcomed.
 * Driver's thread. */
#pragma once

#include "link.h"

#define JOIN_ADDRESSES_MAX 64
#define JOIN_ANSWER_US (5 * G_USEC_PER_SEC)
#define JOIN_SLOW_US (250 * 1000) /* with one dial, before another address is tried beside it */
#define JOIN_RETRY_MIN_US (50 * 1000)
#define JOIN_RETRY_MAX_US (2 * G_USEC_PER_SEC)
#define JOIN_ALONE_US \
  (30 * G_USEC_PER_SEC) /* a member that lost its name looks for others this long */

typedef struct
{
  GPtrArray *addresses; /* of char *, oldest first */
  guint next;           /* to try */
  guint tried;          /* since the last pause */
  char *redirect;       /* the master's address, tried before all others */
  guint64 dial, link;   /* under way; 0: none */
  guint64 carrier;      /* of `link`, if the master is asked through another node; else 0 */
  guint64 at_us;        /* next try, or the end of patience with the present one */
  guint failures;
  guint dead_in_row;
  gboolean over;    /* a member that took itself for the last one has ended */
  guint64 heard_us; /* when a member was last heard of, or the search began */
} Join;

void join_init (Node *node);
void join_add_address (Node *node, const char *address);
/* … which is tried before all others. */
void join_ask (Node *node, const char *address);
/* For a member that lost its name; tries first `link` (nullable), over which it heard `roster`. */
void join_again (Node *node, Link *link, const Message *roster);
/* A dial of a node that wants to join succeeded. FALSE: another was faster, so the link is not
 * needed. */
gboolean join_wants_link (Node *node);
void join_on_link (Node *node, Link *link);
void join_on_down (Node *node, guint64 link);
void join_on_dial_failed (Node *node, gboolean dead);
/* A node that took itself for the last process was ended by a job. The run is over unless others
 * are found. */
void join_on_crash_report (Node *node);
/* The node at the other end is no member either. */
void join_on_stranger (Node *node, guint64 link);
/* A roster heard while not a member. */
void join_on_roster (Node *node, Link *link, const Message *message);
/* The same, but only the master's address is known. */
void join_on_have (Node *node, Link *link, const Message *message);
/* The run is closed, and the launcher does not want this node; or a member runs another `build` of
 * the program. */
void join_on_refused (Node *node, const char *build);
void join_welcomed (Node *node);
guint64 join_due (Node *node);
void join_tick (Node *node);
