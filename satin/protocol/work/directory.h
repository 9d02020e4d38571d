/* SPDX-License-Identifier: BSD-3-Clause */
/* The directory is the one member that knows every offer: orphans, rows of members that are gone,
 * and rows of the checkpoint. It is the eldest member that lives, as a rule the master (the hub of
 * contacts.h). Other nodes know only the offers below jobs that they run.
 *
 * Each member tells the directory what it offers and what it offers no more (HOLD), and which
 * jobs have ended that had offers at or below them (COVERED). These news follow the loans: a node
 * that has lent or adopted a job tells the job's holder the news at or below it. So news take one
 * step for each time that the job was lent on. The directory also tells the holder of each running
 * orphan the news below the orphan, and the node that made an offer when the offer is covered. A
 * thief hears what is known at or below a job before it gets the job; the holder of an orphan hears
 * it when the orphan is adopted and when the directory hears of the orphan. So a node that runs a
 * job soon knows the offers below it, and need not ask.
 *
 * A node that knows the news already does not pass them on, so they do not go in circles. News that
 * are lost, with a node or with a directory, cost only time. Driver's thread. */
#pragma once

#include "../messages/message.h"

typedef struct Node Node;

gboolean directory_is_here (const Node *node);
/* This node offers these (of MessageHold). */
void directory_offer (Node *node, GArray *holds);
/* This node no longer offers anything at this path. */
void directory_withdraw (Node *node, const char *path);
/* This job has ended here: offers at or below it are no longer wanted. */
void directory_cover (Node *node, const char *path);
/* Tells that member the offers at or below `path` that this node knows or makes. */
void directory_tell (Node *node, const NodeId *to, const char *path);

/* That member has taken over these rows: enters them as known before its own HOLD comes. */
void directory_moved (Node *node, const NodeId *to, const GPtrArray *rows);
/* This node leaves, before its GOODBYE: tells each lender what it knows at or below the job that it
 * holds for the lender. If it is the directory, it tells the next directory everything. */
void directory_leave (Node *node);

void directory_on_hold (Node *node, const NodeId *from, const Message *message);
void directory_on_covered (Node *node, const NodeId *from, const Message *message);
