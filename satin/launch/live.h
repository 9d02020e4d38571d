/* SPDX-License-Identifier: BSD-3-Clause */
/* The line that shows how far a run is. Asks a node twice a second, in a thread of its own so that
 * a slow node holds up nobody; everything else on the main loop. Knows one request, `status`. */
#pragma once

#include <gio/gio.h>

typedef struct Live Live;

/* Begins to show the run in `path`. On a terminal the line is written over itself. */
Live *live_new (const char *path, gboolean terminal);
/* Stops and wipes the line away. NULL is fine. */
void live_free (Live *live);

/* Asks some node of the run without blocking; the reply comes by `ready` on the main loop. */
void live_ask (const char *path, const char *request, GAsyncReadyCallback ready, gpointer data);
/* The reply, or NULL. (transfer full) */
char *live_reply (GAsyncResult *result, GError **error);
