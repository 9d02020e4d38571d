/* SPDX-License-Identifier: BSD-3-Clause */
/* Saving on request: the coordinator has all members scan, waits for them with some patience,
 * publishes, and tells all. A request that comes while a round is under way begins a new round, so
 * that the publication holds everything that was finished at the request.
 *
 * The end of a run is such a round, too, of which the master tells the coordinator (stop.h). In a
 * suspend each member answers when its engine has halted. When main is finished, rows do not matter
 * any more: the members tell only their events, and only if there can be events that the
 * coordinator lacks.
 *
 * One scan is enough, although results move meanwhile. A result that arrives before its lender has
 * heard of the round is in a slot that will be scanned. A later result may miss the lender's scan.
 * But then the lender's ACK says that it has heard of the round, and the holder saves the result
 * before it drops it at the ACK. A member that leaves before its scan may have handed its results
 * to a member that has scanned: then all scan again. Driver's thread. */
#pragma once

#include "../members/member.h"
#include "../node.h"

#define ROUND_PATIENCE_US (10 * G_USEC_PER_SEC)
#define ROUND_PATIENCE_MAX_US (G_GUINT64_CONSTANT (86400) * G_USEC_PER_SEC)
/* When main is finished, members that have not told their events are waited for so long. */
#define ROUND_EVENTS_US G_USEC_PER_SEC

/* Where a round is led. */
typedef enum
{
  ROUND_NONE,
  ROUND_SCANNING,
  ROUND_PUBLISHING /* the scribe was told; its answer ends the round */
} RoundState;

/* The reason for a round: of two that come together, the later one in this list counts. */
typedef enum
{
  ROUND_UNWANTED, /* there is none */
  ROUND_QUIET,    /* the interval (plan cut) */
  ROUND_ASKED,    /* a person */
  ROUND_HALTED,   /* the run is suspended … */
  ROUND_FINISHED  /* … or main is finished: this publication is the last one */
} RoundCause;

typedef struct
{
  guint64 asked_us; /* the end of patience of the request here; 0: nobody waits */
  guint32 request;  /* number of the last request here, for a round or for the last one (stop.h) */
  /* where the round is led */
  guint64 number;
  RoundState state;
  RoundCause cause; /* of the round under way; UNWANTED: none is */
  RoundCause next;  /* … and of the one that follows it */
  guint64 until_us;
  guint64 patience_us; /* of the last request for one that follows */
  GArray *missing; /* of NodeId, in order: members that had not scanned when the patience ended */
  /* everywhere */
  gboolean heard;    /* results are saved before they are dropped, and each ACK says so */
  guint64 owed;      /* the round whose scan is not finished here; 0: none */
  guint64 owed_scan; /* … and the number of that scan; CORE_NEVER: the engine has to halt first */
  guint64 answered;  /* the last round whose scan is finished here; 0: none of this coordinator */
  NodeId early;      /* none, or a node that wants a scan and is not yet known as coordinator … */
  Message early_scan; /* … by this message */
} Round;

void round_init (Node *node);
/* Plan cut: the time of an epoch has come; the coordinator begins one if none is open. */
void round_on_interval (Node *node);
/* NODE_EVENT_SAVE. patience_us 0: ROUND_PATIENCE_US. */
void round_ask (Node *node, guint64 patience_us);
/* PUBLISH, also of this node itself. */
void round_on_publish (Node *node, const NodeId *from, const Message *message);
void round_on_scan (Node *node, const NodeId *from, const Message *message);
void round_on_scanned (Node *node, const NodeId *from, const Message *message);
void round_on_published (Node *node, const NodeId *from, const Message *message);
/* The coordinator is known to take rows now: its request may have come before. */
void round_coordinator_opened (Node *node);
/* The engine has served scan number `scan`. */
void round_on_served (Node *node, guint64 scan);
void round_on_halted (Node *node);
/* A result that was in transit has come (epoch.h). */
void round_on_arrival (Node *node);
/* The scribe has published, or failed to. */
void round_on_answer (Node *node, const NodeEvent *published);
/* A member has joined; it has left or died. */
void round_joined (Node *node, const NodeId *id);
void round_departed (Node *node, const Member *member);
/* There is a new version of the roster, and all that it says is written down: the publication that
 * says so may begin. */
void round_roster_changed (Node *node);
/* The session with this member has begun: asks it for what is missing from it. */
void round_greet (Node *node, const NodeId *to);
/* Another coordinator. */
void round_renew (Node *node);
/* Is everything there? */
void round_go_on (Node *node);
/* This node is not coordinator any more. */
void round_deposed (Node *node);
guint64 round_due (Node *node);
