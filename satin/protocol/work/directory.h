/* SPDX-License-Identifier: BSD-3-Clause */
/* The directory: what members offer, orphans and rows of those that are gone, is known in this one
 * place. Other nodes know what lies below the jobs that they run.
 *
 * It is at the hub (contacts.h), as a rule the master. Each member tells it what it offers,
 * what it offers no more (UNHOLD), and below which jobs nothing is wanted (COVERED). From there
 * news go the way that the jobs went: whoever has lent or adopted a job tells its holder what
 * concerns that job. So they come to the node that runs the job, over as many nodes as it was lent
 * through. The directory tells the holders of running orphans, too, which nobody has adopted yet. A
 * job that is lent or adopted brings along what is known at or below it; so does an orphan that the
 * directory hears of. So whoever runs a job knows what is offered below it, and need not ask.
 *
 * A node that knows the news already does not pass them on, so they do not go in circles. News that
 * are lost, with a node or with a directory, cost time only. Driver's thread. */
#pragma once

#include "../messages/message.h"

typedef struct Node Node;

gboolean directory_is_here (const Node *node);
/* This node offers these (of MessageHold). */
void directory_offer (Node *node, GArray *holds);
/* … and nothing at this path any more. */
void directory_withdraw (Node *node, const char *path);
/* What lies at or below a job that this node has finished, or forgotten, is offered in vain. */
void directory_cover (Node *node, const char *path);
/* Tells that member what is known here at or below `path`, and what this node offers there. */
void directory_tell (Node *node, const NodeId *to, const char *path);

/* These rows are with that member now, which has not told of them yet. */
void directory_moved (Node *node, const NodeId *to, const GPtrArray *rows);
/* This node leaves: the next directory, and the lenders of jobs that ran here, are told what it
 * knows, before they hear that it has gone. */
void directory_leave (Node *node);

void directory_on_hold (Node *node, const NodeId *from, const Message *message);
void directory_on_unhold (Node *node, const NodeId *from, const Message *message);
void directory_on_covered (Node *node, const NodeId *from, const Message *message);
