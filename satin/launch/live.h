/* SPDX-License-Identifier: BSD-3-Clause */
/* The live line: shows the progress of a run on stderr. It asks a node for `status` twice a second,
 * or once without a terminal. A GTask thread asks, so a slow node delays nothing; the rest runs on
 * the main loop. */
#pragma once

#include <gio/gio.h>

typedef struct Live Live;

/* Begins to show the run whose folder is `path`. `terminal`: each line overwrites the one
 * before. */
Live *live_new (const char *path, gboolean terminal);
/* Stops, and wipes the line away. NULL is allowed. */
void live_free (Live *live);

/* The line for a status (fields_read) of a run that began this long ago. (transfer full) */
char *live_line (GVariant *status, double elapsed_s);

/* Sends `request` to some node of the run. Does not block: `ready` is called on the main loop and
 * gets the reply by live_reply. */
void live_ask (const char *path, const char *request, GAsyncReadyCallback ready, gpointer data);
/* The reply. NULL: no node replied. (transfer full) */
char *live_reply (GAsyncResult *result, GError **error);
