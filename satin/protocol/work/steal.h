/* SPDX-License-Identifier: BSD-3-Clause */
/* The thief's side of random stealing between nodes; the victim's side is lend.h. A thief asks
 * along lanes. Each lane has victims of its own and one request in flight, and goes on to the next
 * victim after a refusal. Cluster-aware stealing has two lanes: when all nodes of its own site have
 * refused, the thief asks a node of another site. While that answer comes, which takes long, it
 * asks those of its own site again. A thief that all have refused waits for word that there is
 * work, which a victim sends to one thief at a time; now and then it asks one of them.
 *
 * How much: a thief asks for as many jobs as it has idle seats, and for more if the jobs of the
 * last requests were soon done. In that case it also asks before its seats are idle, unless these
 * jobs were done before any request could have reached a victim. Driver's thread. */
#pragma once

#include "../members/member.h"
#include "../node.h"

#define STEAL_PAUSE_MIN_US 1000 /* of a thief that all have refused; doubles */
#define STEAL_PAUSE_MAX_US (3 * G_USEC_PER_SEC)
/* A thief waits no longer than this for a victim that stands still. Jobs that come later are run,
 * too. */
#define STEAL_ANSWER_US (3 * G_USEC_PER_SEC)
#define STEAL_COUNT_MAX 64  /* jobs in one reply */
#define STEAL_SOON_US 2000  /* a reply that was done so soon was too small */
#define STEAL_BRIEF_US 50   /* what is done so soon is over before a request is on its way */
#define STEAL_LATE_US 20000 /* one that lasted so long could have been smaller */

typedef enum
{
  STEAL_NEAR, /* all victims, or with cluster-aware stealing those of the own site */
  STEAL_FAR,  /* … and those of other sites */
  STEAL_LANES
} StealLaneKind;

typedef struct
{
  guint32 batch;   /* how many jobs a request asks for; above 1 jobs are fetched in advance, until
                      another node wants one back */
  guint32 asked;   /* by the last request … */
  guint32 given;   /* … which has brought this many so far … */
  guint32 run;     /* … of which this many feed seats here */
  guint64 fed_us;  /* when a request was answered in full; 0: not since the last request */
  guint64 got_us;  /* when jobs came last … */
  guint64 lasted_us; /* … and how long ago that was when a seat last became idle */
  guint64 request; /* number of the last one */
  NodeId victim;   /* the member that was asked; none: no request is in flight */
  guint64 asked_us;  /* when the request in flight was sent */
  guint64 pause_us;  /* the next pause */
  guint64 resume_us; /* end of the last pause; once it is over, one victim that refused may be asked
                        again, then it is 0 */
  NodeId offer;      /* the member that has work now, or none */
} StealLane;

typedef struct
{
  guint32 hungry;   /* idle seats */
  guint64 requests; /* so far */
  StealLane lanes[STEAL_LANES];
  GArray *refused; /* set of nodes: each tells this one when it has work */
} Steal;

void steal_init (Node *node);
void steal_on_idle (Node *node, guint32 count);
/* Sends a request, if one is wanted and allowed. */
void steal_go_on (Node *node);
/* This member (none: no member) has work now. */
void steal_on_offer (Node *node, const NodeId *id);
/* The answer to request `number`, or its beginning, then `more` follows: `given` jobs, of which
 * `run` feed seats here. */
void steal_on_answer (Node *node, guint64 number, guint given, guint run, gboolean more);
/* A job that was fetched in advance goes back, because another node wants it: this node asks for
 * less, else the job could go to and fro and never begin. */
void steal_on_robbed (Node *node);
void steal_on_down (Node *node, const NodeId *id);
void steal_departed (Node *node, const NodeId *id);
/* How long this node has waited for the answer to a request; 0: it does not wait. */
guint64 steal_age_us (Node *node);
guint64 steal_due (Node *node);
void steal_tick (Node *node);
void steal_check (Node *node);
