/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the listening sockets. Driver's thread. Tests: test-wire-tls, test-wire. */
#include "listener.h"

#include "wire-tls.h"
#include "wire.h"

#include "host/own-fds.h"

#include <errno.h>
#include <gio/gunixsocketaddress.h>
#include <glib/gstdio.h>
#include <sys/socket.h>
#include <unistd.h>

/* Long, so that a flood does not fill it before the driver accepts. */
#define BACKLOG 1024
#define ACCEPT_MAX 16       /* in one turn, so that accepted connections are served meanwhile */
#define ACCEPT_PAUSE_MS 100 /* no descriptor is free: tries again after this time */

struct Listener
{
  GMainContext *context;
  GSocket *sockets[2];
  GSource *sources[2];
  char *addresses[3];
  char *unix_path;
  ListenerAccepted accepted;
  ListenerCrowded crowded;
  void *data;
};

static void watch (Listener *listener, int i, guint delay_ms);

typedef enum
{
  ACCEPTED,
  NOBODY, /* no connection waits, or it has broken */
  CROWDED /* no descriptor is left */
} Accept;

static Accept
accept_one (Listener *listener, GSocket *socket)
{
  if (!wire_has_room () && !listener->crowded (listener->data))
    return CROWDED;
  int fd = accept4 (g_socket_get_fd (socket), NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0)
    return errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM ? CROWDED
                                                                                     : NOBODY;
  g_autoptr (GSocket) accepted = g_socket_new_from_fd (fd, NULL);
  if (accepted == NULL)
    {
      close (fd); /* the connection broke at once */
      return NOBODY;
    }
  listener->accepted (accepted, listener->data);
  return ACCEPTED;
}

static gboolean
on_connection (GSocket *socket, GIOCondition condition, gpointer data)
{
  Listener *listener = data;
  Accept last = ACCEPTED;
  (void)condition;
  for (int i = 0; last == ACCEPTED && i < ACCEPT_MAX; i++)
    last = accept_one (listener, socket);
  if (last != CROWDED)
    return G_SOURCE_CONTINUE;
  watch (listener, socket == listener->sockets[0] ? 0 : 1, ACCEPT_PAUSE_MS);
  return G_SOURCE_REMOVE;
}

static gboolean
on_pause_over (gpointer data)
{
  Listener *listener = data;
  for (int i = 0; i < 2; i++)
    if (listener->sockets[i] != NULL)
      watch (listener, i, 0);
  return G_SOURCE_REMOVE;
}

static void
watch (Listener *listener, int i, guint delay_ms)
{
  if (listener->sources[i] != NULL)
    {
      g_source_destroy (listener->sources[i]);
      g_source_unref (listener->sources[i]);
    }
  if (delay_ms > 0)
    {
      listener->sources[i] = g_timeout_source_new (delay_ms);
      g_source_set_callback (listener->sources[i], on_pause_over, listener, NULL);
    }
  else
    {
      listener->sources[i] = g_socket_create_source (listener->sockets[i], G_IO_IN, NULL);
      g_source_set_callback (listener->sources[i], G_SOURCE_FUNC (on_connection), listener, NULL);
    }
  g_source_attach (listener->sources[i], listener->context);
}

static GSocket *
listen_at (GSocketAddress *address, GError **error)
{
  g_autoptr (GSocket) socket
      = g_socket_new (g_socket_address_get_family (address), G_SOCKET_TYPE_STREAM,
                      G_SOCKET_PROTOCOL_DEFAULT, error);
  if (socket == NULL || !g_socket_bind (socket, address, TRUE, error))
    return NULL;
  g_socket_set_listen_backlog (socket, BACKLOG);
  g_socket_set_blocking (socket, FALSE);
  if (!g_socket_listen (socket, error))
    return NULL;
  own_fds_add (g_socket_get_fd (socket));
  return g_steal_pointer (&socket);
}

static gboolean
listen_by_tcp (Listener *listener, const ListenerPlace *tcp, GError **error)
{
  g_autoptr (GInetAddress) host = g_inet_address_new_from_string (tcp->address);
  if (host == NULL || g_inet_address_get_is_any (host))
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                   "cannot listen at '%s': give a numeric address of this host", tcp->address);
      return FALSE;
    }
  if (!wire_tls_is_there (error))
    return FALSE;
  for (int port = tcp->first; listener->sockets[1] == NULL && port <= MAX (tcp->first, tcp->last);
       port++)
    {
      g_autoptr (GSocketAddress) wanted = g_inet_socket_address_new (host, (guint16)port);
      g_clear_error (error);
      listener->sockets[1] = listen_at (wanted, error);
    }
  g_autoptr (GSocketAddress) bound = listener->sockets[1] != NULL
                                         ? g_socket_get_local_address (listener->sockets[1], error)
                                         : NULL;
  if (bound == NULL)
    {
      g_prefix_error (error, "cannot listen at %s: ", tcp->address);
      return FALSE;
    }
  listener->addresses[1] = g_strdup_printf (
      "tcp:%s:%u", tcp->address, g_inet_socket_address_get_port (G_INET_SOCKET_ADDRESS (bound)));
  return TRUE;
}

Listener *
listener_new (GMainContext *context, const char *unix_path, const ListenerPlace *tcp,
              ListenerAccepted accepted, ListenerCrowded crowded, void *data, GError **error)
{
  Listener *listener = g_new0 (Listener, 1);
  g_autoptr (GSocketAddress) local = g_unix_socket_address_new (unix_path);
  listener->context = context;
  listener->accepted = accepted;
  listener->crowded = crowded;
  listener->data = data;
  listener->unix_path = g_strdup (unix_path);
  g_unlink (unix_path);
  listener->sockets[0] = listen_at (local, error);
  if (listener->sockets[0] == NULL)
    {
      g_prefix_error (error, "cannot listen at '%s': ", unix_path);
      listener_free (listener);
      return NULL;
    }
  g_chmod (unix_path, 0600);
  listener->addresses[0] = g_strdup_printf ("unix:%s", unix_path);
  if (tcp != NULL && !listen_by_tcp (listener, tcp, error))
    {
      listener_free (listener);
      return NULL;
    }
  on_pause_over (listener);
  return listener;
}

void
listener_free (Listener *listener)
{
  for (int i = 0; i < 2; i++)
    {
      if (listener->sources[i] != NULL)
        {
          g_source_destroy (listener->sources[i]);
          g_source_unref (listener->sources[i]);
        }
      if (listener->sockets[i] != NULL)
        {
          own_fds_remove (g_socket_get_fd (listener->sockets[i]));
          g_socket_close (listener->sockets[i], NULL);
        }
      g_clear_object (&listener->sockets[i]);
      g_free (listener->addresses[i]);
    }
  g_unlink (listener->unix_path);
  g_free (listener->unix_path);
  g_free (listener);
}

const char *const *
listener_addresses (Listener *listener)
{
  return (const char *const *)listener->addresses;
}
