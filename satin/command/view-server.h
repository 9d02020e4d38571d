/* SPDX-License-Identifier: BSD-3-Clause */
/* The server of `satin view`: 127.0.0.1 alone, a free port, GET alone (view-http.h), and one stream
 * of server-sent events. Main loop, one thread. */
#pragma once

#include "view-http.h"

#include <gio/gio.h>

/* More connections than these are closed at once; of them so many may be streams. */
#define VIEW_SERVER_CONNECTIONS_MAX 32
#define VIEW_SERVER_STREAMS_MAX 16

typedef struct ViewServer ViewServer;
/* One request that waits for its reply. */
typedef struct ViewCall ViewCall;

typedef struct
{
  /* An admitted request: to be replied to by view_server_reply, now or later. */
  void (*get) (ViewCall *call, const ViewHttpRequest *request, gpointer data);
  /* What a stream begins with, and goes on with after it has fallen behind. (transfer full) */
  GBytes *(*whole) (gpointer data);
} ViewServerCalls;

/* Listens. NULL: it cannot. (transfer full) */
ViewServer *view_server_new (const ViewServerCalls *calls, gpointer data, GError **error);
/* No call may be waiting. */
void view_server_free (ViewServer *server);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (ViewServer, view_server_free)

guint view_server_port (const ViewServer *server);
/* With the token. (transfer full) */
char *view_server_url (const ViewServer *server);
/* Streams that somebody reads. */
guint view_server_streams (const ViewServer *server);
/* The request becomes a stream. FALSE: there are too many; it was told so. */
gboolean view_server_stream (ViewCall *call);
/* Ends the request with this. `body` is borrowed. */
void view_server_reply (ViewCall *call, ViewHttpStatus status, const char *type, GBytes *body);
/* To all streams: `event` as `whole` gives them. One that has not read the last one is sent
 * `whole` when it has. */
void view_server_publish (ViewServer *server, GBytes *event);
