/* SPDX-License-Identifier: BSD-3-Clause */
/* Random stealing between nodes, both sides. A thief asks along lanes, each of which has victims of
 * its own and one request in flight, and goes on to the next victim after a refusal. Cluster-aware
 * stealing has two lanes: when all of its own site have refused a node of another site is asked,
 * and while its answer comes, which takes long, those of the own site are asked again. A victim
 * remembers whom it refused and says MORE when it has work, so a thief that all have refused asks
 * one of them now and then only, in case a MORE was lost.
 *
 * How much: a thief asks for as many jobs as it has idle seats, and for more when what it got
 * lately was soon done; then it also asks before its seats are idle, unless that was over before a
 * request would have come to anybody. Driver's thread. */
#pragma once

#include "link.h"
#include "node.h"

#define STEAL_PAUSE_MIN_US 1000 /* of a thief that all have refused; doubles */
#define STEAL_PAUSE_MAX_US (3 * G_USEC_PER_SEC)
#define STEAL_ANSWER_US (10 * G_USEC_PER_SEC)
#define STEAL_COUNT_MAX 64     /* jobs in one reply */
#define STEAL_SOON_US 2000     /* a reply that was done so soon was too small */
#define STEAL_BRIEF_US 50      /* what is done so soon is over before a request is on its way */
#define STEAL_LATE_US 20000    /* one that lasted so long could have been smaller */
#define STEAL_TELL_MIN_US 1000 /* between two MOREs; doubles when they were in vain */
#define STEAL_TELL_MAX_US (250 * 1000)
#define STEAL_LOOK_MIN_US 1000 /* between two times that the engine is asked; doubles */
#define STEAL_LOOK_MAX_US (250 * 1000)

typedef struct
{
  NodeId thief;
  guint64 link, request;
  guint32 count;
} Lending; /* between LEND and LENT */

typedef enum
{
  STEAL_NEAR, /* all victims, or with cluster-aware stealing those of the own site */
  STEAL_FAR,  /* … and those of other sites */
  STEAL_LANES
} StealLaneKind;

typedef struct
{
  guint32 batch;   /* how many jobs are worth a request; above 1 they are fetched in advance, until
                      somebody wants one back */
  guint32 asked;   /* by the last request */
  guint64 fed_us;  /* when a request was answered in full; 0: not since the last request */
  guint64 got_us;  /* when jobs came last … */
  gboolean brief;  /* … and these were done so soon that it would not have helped to ask before */
  guint64 request; /* number of the last one */
  gboolean in_flight;
  NodeId victim;
  guint64 link;
  guint64 asked_us;  /* when the request in flight was sent */
  guint64 pause_us;  /* the next pause */
  guint64 resume_us; /* end of the present pause; 0: none */
  gboolean probe;    /* after a pause: somebody who refused may be asked again */
  NodeId offer;      /* who said MORE, or none */
} StealLane;

typedef struct
{
  /* the thief's side */
  guint32 hungry;   /* idle seats */
  guint64 requests; /* so far */
  StealLane lanes[STEAL_LANES];
  GArray *refused; /* of NodeId: since somebody of their lane gave */

  /* the victim's side */
  GArray *lending; /* of Lending, oldest first */
  GArray *owed;    /* of NodeId: refused and not told since, oldest first */
  guint64 tell_us, tell_pause_us;
  guint64 look_us, look_pause_us;
} Steal;

void steal_init (Steal *steal);
void steal_done (Steal *steal);
void steal_on_hungry (Node *node, guint32 count);
/* Asks somebody, if that is wanted and may be. */
void steal_go_on (Node *node);
/* It has work now. */
void steal_on_more (Node *node, const Link *link);
void steal_on_request (Node *node, Link *link, const Message *message);
void steal_on_lent (Node *node, const NodeEvent *event);
/* The root job begins here, and all others are idle: they are owed work before they ask, since its
 * first children may be few and long. */
void steal_expect (Node *node);
/* The engine has something to lend. */
void steal_on_shared (Node *node);
/* The answer to request `number`: `given` jobs, of which `run` feed seats here. */
void steal_on_answer (Node *node, guint64 number, guint given, guint run);
void steal_on_down (Node *node, guint64 link);
void steal_departed (Node *node, const NodeId *id);
/* How long the answer to a request has been waited for; 0: it is not. */
guint64 steal_age_us (Node *node);
guint64 steal_due (Node *node);
void steal_tick (Node *node);
