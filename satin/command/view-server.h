/* SPDX-License-Identifier: BSD-3-Clause */
/* The HTTP server of `satin view`: listens at a free port of 127.0.0.1, answers GET only
 * (view-http.h), and has streams of server-sent events. Main loop, one thread. */
#pragma once

#include "view-http.h"

#include <glib.h>

/* The most connections; more are closed at once. The most streams among them. */
#define VIEW_SERVER_CONNECTIONS_MAX 32
#define VIEW_SERVER_STREAMS_MAX 16

typedef struct ViewServer ViewServer;
/* A request that waits for its reply. */
typedef struct ViewCall ViewCall;

typedef struct
{
  /* Called for an admitted request. Reply with view_server_reply or view_server_stream, now or
   * later. */
  void (*get) (ViewCall *call, const ViewHttpRequest *request, gpointer data);
  /* Returns the event with which a stream begins, or goes on after it fell behind. (transfer
   * full) */
  GBytes *(*whole) (gpointer data);
} ViewServerCalls;

/* Begins to listen. (transfer full) NULL: G_IO_ERROR, it cannot. */
ViewServer *view_server_new (const ViewServerCalls *calls, gpointer data, GError **error);
/* No call may be waiting for a reply. Runs the main loop until all connections are closed. */
void view_server_free (ViewServer *server);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (ViewServer, view_server_free)

guint view_server_port (const ViewServer *server);
/* The address of the page, with the token. (transfer full) */
char *view_server_url (const ViewServer *server);
/* The number of open streams. */
guint view_server_streams (const ViewServer *server);
/* Makes the request a stream. FALSE: there are too many, and the request was refused. */
gboolean view_server_stream (ViewCall *call);
/* Replies and ends the request. `body` (nullable) is borrowed. */
void view_server_reply (ViewCall *call, ViewHttpStatus status, const char *type, GBytes *body);
/* Sends `event` to all streams, in the form of `whole`. A stream that has not read the last event
 * gets `whole` later. */
void view_server_publish (ViewServer *server, GBytes *event);
