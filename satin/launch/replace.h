/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts nodes in place of those that have ended, at sites with `again = yes`. The launcher and
 * `satin add` each use it for the nodes that they started. It asks the run whether it goes on, and
 * prints what will happen; again.h decides. Main loop, one thread. */
#pragma once

#include "again.h"
#include "spread.h"

typedef struct Replace Replace;

/* Starts a node at this place and calls replace_started. If the run is stopping, it does
 * nothing. */
typedef void (*ReplaceStart) (guint place, gpointer data);

/* `path`, `places` (of Spot) and `nodes` (of Started) belong to the caller and must outlive the
 * Replace. (transfer full) NULL: no place's site has `again = yes`; all functions below accept
 * NULL. */
Replace *replace_new (const char *path, const GArray *places, const GArray *nodes,
                      ReplaceStart start, gpointer data);
void replace_free (Replace *replace);
/* TRUE: a node that ends at this place may be replaced. */
gboolean replace_wants (const Replace *replace, guint place);
/* How a node that is gone ended, from its exit status and its last figures. */
AgainEnd replace_end (const char *path, const Started *node);
/* A node is being started at the place. */
void replace_started (Replace *replace, guint place);
/* The run goes on, and the node of the place has ended, or could not be started (AGAIN_NEVER):
 * plans the next one, and prints when it is due. */
void replace_plan (Replace *replace, guint place, AgainEnd end);
/* TRUE: some place has no node, and will get one. */
gboolean replace_waits (const Replace *replace);
/* To be called repeatedly while the run goes on: starts the nodes that are due. FALSE: no member
 * has lived for AGAIN_DESERTED_US, so no node can join; this was printed. */
gboolean replace_look (Replace *replace);
