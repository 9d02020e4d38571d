/* SPDX-License-Identifier: BSD-3-Clause */
/* Nodes in place of those that have ended, at sites with `again = yes`: for the launcher and for
 * `satin add`, each of which replaces the nodes that it has started. again.h decides; this asks the
 * run whether it goes on, and says what is done. Main loop, one thread. */
#pragma once

#include "again.h"
#include "spread.h"

typedef struct Replace Replace;

/* Starts a node at this place, and calls replace_started; or does nothing if the caller's run has
 * been stopped meanwhile. */
typedef void (*ReplaceStart) (guint place, gpointer data);

/* `path`, `places` (of Spot) and `nodes` (of Started) are the caller's and live as long. NULL: no
 * place's site has `again = yes`; all functions here take that. */
Replace *replace_new (const char *path, const GArray *places, const GArray *nodes,
                      ReplaceStart start, gpointer data);
void replace_free (Replace *replace);
/* A node that ends at this place may be replaced. */
gboolean replace_wants (const Replace *replace, guint place);
/* How a node that is gone has ended, by its status and its last figures. */
AgainEnd replace_end (const char *path, const Started *node);
/* The place has a node, which has begun to start. */
void replace_started (Replace *replace, guint place);
/* The node of the place has ended so, or could not be started (AGAIN_NEVER), while the run goes on:
 * another one may be due some time, which is said. */
void replace_plan (Replace *replace, guint place, AgainEnd end);
/* Some place is without a node, and another one is due some time. */
gboolean replace_waits (const Replace *replace);
/* Now and then, while the run goes on: starts what is due. FALSE: no member of the run has been
 * alive for so long that none can come; it was said. */
gboolean replace_look (Replace *replace);
