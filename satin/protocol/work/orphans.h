/* SPDX-License-Identifier: BSD-3-Clause */
/* Orphans: held jobs whose lender left the roster. They run on and are announced to the nodes that
 * may need them (directory.h). A node that spawns their path again adopts them; when a job at or
 * above their path has finished elsewhere, they are dropped. The rows of the checkpoint are offered
 * the same way. Driver's thread. */
#pragma once

#include "held.h"

#define ORPHANS_BATCH 1024 /* announcements in one message */

typedef struct
{
  GArray *news; /* of guint64: held numbers to announce at the end of this step */
} Orphans;

void orphans_init (Node *node);
/* This job has no lender (any more), or has finished: announces or drops it (drops_orphans). */
void orphans_announce (Node *node, HeldJob *held);
/* The job is about to be dropped: withdraws its offer. */
void orphans_withdraw (Node *node, HeldJob *held);
/* The end of a step. */
void orphans_flush (Node *node);
/* Tells that member of all orphans here. */
void orphans_tell (Node *node, const NodeId *to);
/* Tells `to`, if it is the directory, of all orphans and rows here: when its session begins, and
 * when it has become the directory. */
void orphans_greet (Node *node, const NodeId *to);
/* After a new name. */
void orphans_enter_all (Node *node);
/* Adds a row of the checkpoint, unless the job is an orphan here. */
void orphans_archive (Node *node, const Row *row);
/* (nullable): the job that can be adopted here under this path and digest. Of several the last that
 * came: a chain of loans may have passed here more than once, and the asking node may stand below
 * the first. */
HeldJob *orphans_find (Node *node, const char *path, const Digest *digest);

/* Sends the row of the checkpoint with this path and digest. It is sent as often as nodes ask, so
 * it needs no acknowledgement. FALSE: there is none. */
gboolean orphans_send_row (Node *node, const NodeId *from, const char *path, const Digest *digest,
                           guint64 loan);

void orphans_on_adopt_event (Node *node, const NodeEvent *event);
/* `job` (nullable): the job, if its result may be computed twice. */
void orphans_ask (Node *node, guint64 loan, const char *path, const Digest *digest,
                  const NodeId *holder, const Loan *job);
void orphans_on_adopt (Node *node, const NodeId *from, const Message *message);
/* Drops the orphans and rows that are offered here at or below this path. */
void orphans_covered (Node *node, const char *path);
