/* SPDX-License-Identifier: BSD-3-Clause */
/* The lease of the coordinator. Only the master grants it: to itself when a run begins, or when it
 * takes over and no member holds the lease, and then to the winner of an election (elect.h). The
 * lease has the term of the master that granted it, and a number that grows with every coordinator;
 * nodes refuse messages of an older lease. A node sends rows to a coordinator only after that has
 * said that it has taken over. Driver's thread. */
#pragma once

#include "../members/member.h"
#include "../node.h"

typedef struct
{
  Term term;
  guint32 number;
  NodeId holder;      /* none: nobody yet */
  gboolean opened;    /* it has said that it has taken over */
  gboolean starting;  /* the run has just been founded, and nobody has taken over yet */
  gboolean without;   /* an election found nobody; the run goes on unsaved until one does */
  guint64 generation; /* the newest publication known of */
  char *place;        /* (nullable) where the checkpoint stands, when the run got it late */
} Lease;

void lease_done (Node *node);

/* FALSE: nobody (yet). */
gboolean lease_coordinator (Node *node, NodeId *id);
/* The same, and it takes rows and orders. */
gboolean lease_ready (Node *node, NodeId *id);
gboolean lease_is_vacant (Node *node);
/* What must at least stand at the place that this node takes over. */
guint64 lease_required (Node *node);
/* The master gives it; none: takes it back. */
void lease_give (Node *node, const NodeId *holder);
/* A new master (or the first), after its roster was sent: gives the lease again, or takes it. */
void lease_promoted (Node *node);
/* The run, which had no checkpoint, has one at `place`; everybody is told, and the master gives the
 * lease as at a start. Nothing happens where it has one, or is about to end. */
void lease_set_place (Node *node, const char *place);
/* This node has lost its name. */
void lease_reset (Node *node);
/* This member hears it in the session that begins. */
void lease_greet (Node *node, const NodeId *to);
void lease_on_message (Node *node, const NodeId *from, const Message *message);
/* The scribe has taken over, or could not. */
void lease_on_opened (Node *node, const NodeEvent *event);
void lease_saw_generation (Node *node, guint64 generation);
