/* SPDX-License-Identifier: BSD-3-Clause */
/* See view-server.h. Each connection carries one request. Tests: test-view-server, view.sh. */
#include "view-server.h"

#include <gio/gio.h>
#include <string.h>

/* A request must arrive, and a reply be read, within so many seconds. */
#define PATIENCE_S 20

struct ViewServer
{
  GSocketService *service;
  guint port;
  ViewHttpSecrets secrets;
  ViewServerCalls calls;
  gpointer data;
  GPtrArray *all; /* of ViewCall */
  guint streams;
};

typedef enum
{
  CALL_READING, /* the request is arriving */
  CALL_WAITING, /* waits for view_server_reply */
  CALL_WRITING, /* the reply is being written; then the connection closes */
  CALL_STREAM,  /* a stream, until it fails */
  CALL_OVER     /* to be freed when no operation is under way */
} CallState;

struct ViewCall
{
  ViewServer *server;
  GSocketConnection *connection;
  GCancellable *cancellable;
  CallState state;
  char in[VIEW_HTTP_REQUEST_MAX + 1];
  gsize have;
  GBytes *out;
  gboolean is_busy, is_behind; /* an operation is under way; the stream has missed an event */
  guint timer;
};

static void read_more (ViewCall *call);

static void
call_free (gpointer data)
{
  ViewCall *call = data;

  g_clear_handle_id (&call->timer, g_source_remove);
  g_io_stream_close_async (G_IO_STREAM (call->connection), G_PRIORITY_DEFAULT, NULL, NULL, NULL);
  g_object_unref (call->connection);
  g_object_unref (call->cancellable);
  g_clear_pointer (&call->out, g_bytes_unref);
  g_free (call);
}

static void
call_end (ViewCall *call)
{
  if (call->state == CALL_STREAM)
    call->server->streams--;
  call->state = CALL_OVER;
  g_clear_handle_id (&call->timer, g_source_remove);
  g_cancellable_cancel (call->cancellable);
  if (!call->is_busy)
    g_ptr_array_remove_fast (call->server->all, call);
}

static gboolean
on_patience (gpointer data)
{
  ViewCall *call = data;

  call->timer = 0;
  call_end (call);
  return G_SOURCE_REMOVE;
}

static void
on_written (GObject *stream, GAsyncResult *result, gpointer data)
{
  ViewCall *call = data;

  call->is_busy = FALSE;
  g_clear_pointer (&call->out, g_bytes_unref);
  if (!g_output_stream_write_all_finish (G_OUTPUT_STREAM (stream), result, NULL, NULL)
      || call->state != CALL_STREAM)
    {
      call_end (call);
      return;
    }
  g_clear_handle_id (&call->timer, g_source_remove);
}

/* Writes `bytes` (transfer full). No operation may be under way. */
static void
write_out (ViewCall *call, GBytes *bytes)
{
  gsize size;
  const void *data;

  call->out = bytes;
  call->is_busy = TRUE;
  data = g_bytes_get_data (bytes, &size);
  g_clear_handle_id (&call->timer, g_source_remove);
  call->timer = g_timeout_add_seconds (PATIENCE_S, on_patience, call);
  g_output_stream_write_all_async (g_io_stream_get_output_stream (G_IO_STREAM (call->connection)),
                                   data, size, G_PRIORITY_DEFAULT, call->cancellable, on_written,
                                   call);
}

static GBytes *
join (const char *head, GBytes *body)
{
  gsize size = 0, length = strlen (head);
  const void *data = body != NULL ? g_bytes_get_data (body, &size) : NULL;
  char *all = g_malloc (length + size);

  memcpy (all, head, length);
  if (size > 0)
    memcpy (all + length, data, size);
  return g_bytes_new_take (all, length + size);
}

static void
reply (ViewCall *call, ViewHttpStatus status, const char *type, GBytes *body)
{
  gboolean gives_cookie = status == VIEW_HTTP_SEE_OTHER;
  g_autofree char *head
      = view_http_head (status, type, body != NULL ? (gssize)g_bytes_get_size (body) : 0,
                        gives_cookie ? &call->server->secrets : NULL);

  call->state = CALL_WRITING;
  write_out (call, join (head, body));
}

void
view_server_reply (ViewCall *call, ViewHttpStatus status, const char *type, GBytes *body)
{
  call->is_busy = FALSE;
  if (call->state == CALL_WAITING)
    reply (call, status, type, body);
  else
    call_end (call); /* it timed out meanwhile */
}

static void
refuse (ViewCall *call, ViewHttpStatus status)
{
  static const char text[] = "satin view: this request is refused. Open the address that `satin "
                             "view` printed; it lets this browser in.\n";
  g_autoptr (GBytes) body = g_bytes_new_static (text, strlen (text));

  reply (call, status, "text/plain; charset=utf-8", body);
}

gboolean
view_server_stream (ViewCall *call)
{
  ViewServer *server = call->server;
  g_autofree char *head = NULL;
  g_autoptr (GBytes) whole = NULL;

  if (call->state != CALL_WAITING || server->streams >= VIEW_SERVER_STREAMS_MAX)
    {
      view_server_reply (call, VIEW_HTTP_UNAVAILABLE, "text/plain", NULL);
      return FALSE;
    }
  head = view_http_head (VIEW_HTTP_OK, "text/event-stream", -1, NULL);
  call->is_busy = FALSE;
  call->state = CALL_STREAM;
  server->streams++;
  whole = server->calls.whole (server->data);
  write_out (call, join (head, whole));
  return TRUE;
}

static void
on_request (ViewCall *call, gsize length)
{
  g_auto (ViewHttpRequest) request = { 0 };
  ViewHttpStatus status = view_http_parse (call->in, length, &request);

  if (status == VIEW_HTTP_OK)
    status = view_http_admit (&request, &call->server->secrets);
  if (status == VIEW_HTTP_SEE_OTHER)
    reply (call, status, "text/plain", NULL);
  else if (status != VIEW_HTTP_OK)
    refuse (call, status);
  else
    {
      call->state = CALL_WAITING;
      call->is_busy = TRUE; /* until view_server_reply */
      call->server->calls.get (call, &request, call->server->data);
    }
}

static void
on_read (GObject *stream, GAsyncResult *result, gpointer data)
{
  ViewCall *call = data;
  gssize n = g_input_stream_read_finish (G_INPUT_STREAM (stream), result, NULL);
  gsize length;

  call->is_busy = FALSE;
  if (n <= 0 || call->state != CALL_READING)
    {
      call_end (call);
      return;
    }
  call->have += (gsize)n;
  length = view_http_length (call->in, call->have);
  if (length > 0)
    on_request (call, length);
  else if (call->have >= VIEW_HTTP_REQUEST_MAX)
    refuse (call, VIEW_HTTP_TOO_LARGE);
  else
    read_more (call);
}

static void
read_more (ViewCall *call)
{
  call->is_busy = TRUE;
  g_input_stream_read_async (g_io_stream_get_input_stream (G_IO_STREAM (call->connection)),
                             call->in + call->have, VIEW_HTTP_REQUEST_MAX - call->have,
                             G_PRIORITY_DEFAULT, call->cancellable, on_read, call);
}

static gboolean
on_incoming (GSocketService *service, GSocketConnection *connection, GObject *source, gpointer data)
{
  ViewServer *server = data;
  ViewCall *call;

  (void)service, (void)source;
  if (server->all->len >= VIEW_SERVER_CONNECTIONS_MAX)
    return TRUE;
  call = g_new0 (ViewCall, 1);
  call->server = server;
  call->connection = g_object_ref (connection);
  call->cancellable = g_cancellable_new ();
  call->timer = g_timeout_add_seconds (PATIENCE_S, on_patience, call);
  g_ptr_array_add (server->all, call);
  read_more (call);
  return TRUE;
}

ViewServer *
view_server_new (const ViewServerCalls *calls, gpointer data, GError **error)
{
  g_autoptr (GInetAddress) loopback = g_inet_address_new_loopback (G_SOCKET_FAMILY_IPV4);
  g_autoptr (GSocketAddress) address = g_inet_socket_address_new (loopback, 0), got = NULL;
  g_autoptr (ViewServer) server = g_new0 (ViewServer, 1);

  server->service = g_socket_service_new ();
  server->all = g_ptr_array_new_with_free_func (call_free);
  server->calls = *calls;
  server->data = data;
  if (!g_socket_listener_add_address (G_SOCKET_LISTENER (server->service), address,
                                      G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, NULL, &got,
                                      error))
    return NULL;
  server->port = g_inet_socket_address_get_port (G_INET_SOCKET_ADDRESS (got));
  if (!view_http_secrets_make (&server->secrets, server->port, error))
    return NULL;
  g_signal_connect (server->service, "incoming", G_CALLBACK (on_incoming), server);
  g_socket_service_start (server->service);
  return g_steal_pointer (&server);
}

void
view_server_free (ViewServer *server)
{
  if (server == NULL)
    return;
  g_socket_service_stop (server->service);
  g_socket_listener_close (G_SOCKET_LISTENER (server->service));
  g_object_unref (server->service);
  for (guint i = server->all->len; i > 0; i--)
    call_end (server->all->pdata[i - 1]);
  /* Cancelled operations end in the main loop. */
  while (server->all->len > 0)
    g_main_context_iteration (NULL, TRUE);
  g_ptr_array_unref (server->all);
  view_http_secrets_clear (&server->secrets);
  g_free (server);
}

guint
view_server_port (const ViewServer *server)
{
  return server->port;
}

char *
view_server_url (const ViewServer *server)
{
  return g_strdup_printf ("http://127.0.0.1:%u/?token=%s", server->port, server->secrets.token);
}

guint
view_server_streams (const ViewServer *server)
{
  return server->streams;
}

void
view_server_publish (ViewServer *server, GBytes *event)
{
  g_autoptr (GBytes) whole = NULL;

  for (guint i = server->all->len; i > 0; i--)
    {
      ViewCall *call = server->all->pdata[i - 1];

      if (call->state != CALL_STREAM)
        continue;
      if (call->is_busy)
        {
          call->is_behind = TRUE;
          continue;
        }
      if (call->is_behind && whole == NULL)
        whole = server->calls.whole (server->data);
      write_out (call, g_bytes_ref (call->is_behind ? whole : event));
      call->is_behind = FALSE;
    }
}
