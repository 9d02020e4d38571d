/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the GTlsConnection of one wire. The handshake runs in a thread of GIO's and only its end is
 * seen here; from then on nothing blocks. Must not know what is carried. */
#include "wire-tls.h"

#include <string.h>

#define THREADS_KEPT_MAX 4 /* more are seldom at work at a time */

struct WireTls
{
  GSocket *socket;
  GTlsConnection *connection;
  GPollableInputStream *in;
  GPollableOutputStream *out;
  GCancellable *cancel;
  void (*done) (gboolean secure, void *data);
  void *data;
  gboolean shaking, freed;
  guint8 gathered[WIRE_TLS_RECORD];
};

gboolean
wire_tls_is_there (GError **error)
{
  if (g_tls_backend_supports_tls (g_tls_backend_get_default ()))
    return TRUE;
  g_set_error (error, G_TLS_ERROR, G_TLS_ERROR_UNAVAILABLE,
               "TCP needs TLS, which GIO does not have here: install glib-networking");
  return FALSE;
}

static gboolean
on_certificate (GTlsConnection *connection, GTlsCertificate *certificate,
                GTlsCertificateFlags flags G_GNUC_UNUSED, gpointer data G_GNUC_UNUSED)
{
  return g_tls_certificate_is_same (certificate, g_tls_connection_get_certificate (connection));
}

/* (transfer full) */
static GTlsConnection *
connection_new (GIOStream *base, const char *key, gboolean dialled, GError **error)
{
  g_autoptr (GTlsCertificate) own = NULL;
  GTlsBackend *backend = g_tls_backend_get_default ();
  gpointer made;

  if (!wire_tls_is_there (error))
    return NULL;
  own = g_tls_certificate_new_from_pem (key, -1, error);
  if (own == NULL)
    return NULL;
  /* Without a list of authorities every certificate comes to on_certificate, and the system's list,
   * which takes long to read, is left alone: it must be said at birth. */
  made = g_initable_new (dialled ? g_tls_backend_get_client_connection_type (backend)
                                 : g_tls_backend_get_server_connection_type (backend),
                         NULL, error, "base-io-stream", base, "database", NULL, "certificate", own,
                         "require-close-notify", FALSE, NULL);
  if (made == NULL)
    return NULL;
  if (!dialled)
    g_object_set (made, "authentication-mode", G_TLS_AUTHENTICATION_REQUIRED, NULL);
  g_signal_connect (made, "accept-certificate", G_CALLBACK (on_certificate), NULL);
  return G_TLS_CONNECTION (made);
}

/* Nothing is believed of the library's own checks but that the other end has the private key. */
static gboolean
is_secure (GTlsConnection *connection)
{
  GTlsCertificate *peer = g_tls_connection_get_peer_certificate (connection);

  return peer != NULL
         && g_tls_certificate_is_same (peer, g_tls_connection_get_certificate (connection))
         && g_tls_connection_get_protocol_version (connection) == G_TLS_PROTOCOL_VERSION_TLS_1_3;
}

static void
really_free (WireTls *tls)
{
  g_socket_close (tls->socket, NULL);
  g_object_unref (tls->connection);
  g_object_unref (tls->cancel);
  g_object_unref (tls->socket);
  g_free (tls);
}

static void
on_shaken (GObject *source, GAsyncResult *result, gpointer data)
{
  WireTls *tls = data;
  gboolean fine = g_tls_connection_handshake_finish (G_TLS_CONNECTION (source), result, NULL);

  tls->shaking = FALSE;
  if (tls->freed)
    really_free (tls);
  else
    tls->done (fine && is_secure (tls->connection), tls->data);
}

/* GnuTLS keeps what a thread's random numbers need until the process ends, for each thread that
 * ever made some: those of GIO that have done a handshake do the next ones as well. */
static void
keep_threads (void)
{
  static gsize once;

  if (!g_once_init_enter (&once))
    return;
  g_thread_pool_set_max_idle_time (0);
  g_thread_pool_set_max_unused_threads (THREADS_KEPT_MAX);
  g_once_init_leave (&once, 1);
}

WireTls *
wire_tls_begin (GMainContext *context, const char *key, GSocket *socket, gboolean dialled,
                void (*done) (gboolean secure, void *data), void *data)
{
  g_autoptr (GSocketConnection) base = g_socket_connection_factory_create_connection (socket);
  GTlsConnection *connection = connection_new (G_IO_STREAM (base), key, dialled, NULL);
  WireTls *tls;

  if (connection == NULL)
    return NULL;
  keep_threads ();
  tls = g_new0 (WireTls, 1);
  tls->socket = g_object_ref (socket);
  tls->connection = connection;
  tls->in = G_POLLABLE_INPUT_STREAM (g_io_stream_get_input_stream (G_IO_STREAM (connection)));
  tls->out = G_POLLABLE_OUTPUT_STREAM (g_io_stream_get_output_stream (G_IO_STREAM (connection)));
  tls->cancel = g_cancellable_new ();
  tls->done = done;
  tls->data = data;
  tls->shaking = TRUE;
  g_main_context_push_thread_default (context);
  g_tls_connection_handshake_async (connection, G_PRIORITY_DEFAULT, tls->cancel, on_shaken, tls);
  g_main_context_pop_thread_default (context);
  return tls;
}

void
wire_tls_free (WireTls *tls)
{
  if (tls == NULL)
    return;
  tls->freed = TRUE;
  if (tls->shaking)
    g_cancellable_cancel (tls->cancel);
  else
    really_free (tls);
}

gssize
wire_tls_receive (WireTls *tls, void *to, gsize size, GError **error)
{
  return g_pollable_input_stream_read_nonblocking (tls->in, to, size, NULL, error);
}

GPollableReturn
wire_tls_send (WireTls *tls, const GOutputVector *vectors, int n, gsize *written)
{
  const void *from = vectors[0].buffer;
  gsize size = MIN (vectors[0].size, WIRE_TLS_RECORD);
  g_autoptr (GError) error = NULL;

  if (n > 1 && size < WIRE_TLS_RECORD)
    {
      from = tls->gathered;
      size = 0;
      for (int i = 0; i < n && size < WIRE_TLS_RECORD; i++)
        {
          gsize part = MIN (vectors[i].size, WIRE_TLS_RECORD - size);
          memcpy (tls->gathered + size, vectors[i].buffer, part);
          size += part;
        }
    }
  gssize sent = g_pollable_output_stream_write_nonblocking (tls->out, from, size, NULL, &error);
  *written = (gsize)MAX (sent, 0);
  if (sent >= 0)
    return G_POLLABLE_RETURN_OK;
  return g_error_matches (error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK) ? G_POLLABLE_RETURN_WOULD_BLOCK
                                                                     : G_POLLABLE_RETURN_FAILED;
}

GIOStream *
wire_tls_dial_blocking (GIOStream *base, const char *key, GError **error)
{
  g_autoptr (GTlsConnection) connection = connection_new (base, key, TRUE, error);

  if (connection == NULL || !g_tls_connection_handshake (connection, NULL, error))
    return NULL;
  if (is_secure (connection))
    return G_IO_STREAM (g_steal_pointer (&connection));
  g_set_error (error, G_TLS_ERROR, G_TLS_ERROR_BAD_CERTIFICATE,
               "the node has another certificate than the run's");
  return NULL;
}
