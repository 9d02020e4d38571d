/* SPDX-License-Identifier: BSD-3-Clause */
/* Random stealing between nodes: one request in flight, the next victim after a refusal, and when
 * all have refused a pause that doubles, with jitter. And the victim's side of it. Driver's thread.
 */
#pragma once

#include "link.h"
#include "node.h"

#define STEAL_PAUSE_MIN_US 1000
#define STEAL_PAUSE_MAX_US (250 * 1000)
#define STEAL_ANSWER_US (10 * G_USEC_PER_SEC)
#define STEAL_COUNT_MAX 64 /* jobs in one reply */

typedef struct
{
  NodeId thief;
  guint64 link, request;
} Lending; /* between LEND and LENT */

typedef struct
{
  guint32 hungry;  /* idle seats */
  guint64 request; /* number of the last one */
  gboolean in_flight;
  NodeId victim;
  guint64 link;
  guint64 until_us;  /* patience with the request in flight */
  guint64 pause_us;  /* the next pause */
  guint64 resume_us; /* end of the present pause; 0: none */
  GArray *refused;   /* of NodeId: in this round */
  GArray *lending;   /* of Lending, oldest first */
} Steal;

void steal_init (Steal *steal);
void steal_done (Steal *steal);
void steal_on_hungry (Node *node, guint32 count);
/* Asks somebody, if that is wanted and may be. */
void steal_go_on (Node *node);
void steal_on_request (Node *node, Link *link, const Message *message);
void steal_on_lent (Node *node, const NodeEvent *event);
/* The answer to request `number`: `given` jobs, of which `run` feed seats here. */
void steal_on_answer (Node *node, guint64 number, guint given, guint run);
void steal_on_down (Node *node, guint64 link);
void steal_departed (Node *node, const NodeId *id);
guint64 steal_due (Node *node);
void steal_tick (Node *node);
