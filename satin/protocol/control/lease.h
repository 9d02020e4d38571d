/* SPDX-License-Identifier: BSD-3-Clause */
/* The lease of the coordinator. Only the master grants it: to itself when a run begins, or when it
 * takes over and no member holds the lease, and then to the winner of an election (elect.h). The
 * lease has the term of the master that granted it, and a number that grows with every coordinator;
 * nodes refuse messages of an older lease. A node sends rows to a coordinator only after that has
 * said that it has taken over. Driver's thread. */
#pragma once

#include "../members/member.h"
#include "../node.h"

/*  state     the checkpoint                                          may become
 *  CLOSED    waits for a coordinator that has taken over             OPENED, WITHOUT
 *  OPENED    the holder has said that it has taken over              CLOSED, WITHOUT
 *  STARTING  the run has just been founded, and none has taken over  OPENED
 *  WITHOUT   an election found no winner; the run goes on unsaved    OPENED */
typedef enum
{
  LEASE_CLOSED,
  LEASE_OPENED,
  LEASE_STARTING,
  LEASE_WITHOUT
} LeaseState;

typedef struct
{
  LeaseState state;
  Term term;
  guint32 number;
  NodeId holder;      /* none: no member yet */
  guint64 generation; /* the newest publication known of */
  char *place;        /* (nullable) the checkpoint's place, if the run got it later */
} Lease;

void lease_init (Node *node);

/* The coordinator. FALSE: none (yet). */
gboolean lease_coordinator (Node *node, NodeId *id);
/* The same, but only if it takes rows and orders. */
gboolean lease_ready (Node *node, NodeId *id);
gboolean lease_is_vacant (Node *node);
/* The lowest generation that may stand at the place that this node takes over. */
guint64 lease_required (Node *node);
/* The master grants the lease; none: takes it back. */
void lease_give (Node *node, const NodeId *holder);
/* A new master (or the first), after its roster was sent: grants the lease again, or takes it. */
void lease_promoted (Node *node);
/* The run, which had no checkpoint, has one at `place`; all members are told, and the master grants
 * the lease as at a start. If the run has a checkpoint, or is about to end, this does nothing. */
void lease_set_place (Node *node, const char *place);
/* This node has lost its name. */
void lease_reset (Node *node);
void lease_check (Node *node);
/* A session begins: tells this member the lease. */
void lease_greet (Node *node, const NodeId *to);
void lease_on_message (Node *node, const NodeId *from, const Message *message);
/* The scribe has taken over, or failed to. */
void lease_on_opened (Node *node, const NodeEvent *event);
void lease_saw_generation (Node *node, guint64 generation);
