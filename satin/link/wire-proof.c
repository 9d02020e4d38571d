/* SPDX-License-Identifier: BSD-3-Clause */
/* The proof that both ends know the run's credential, and the reading of addresses. Any thread. */
#include "wire-private.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gunixsocketaddress.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* TCP sizes its buffer by itself; Unix sockets keep a small one. */
#define UNIX_SEND_BUFFER (1024 * 1024)

void
wire_fill_random (guint8 *to, gsize size)
{
  /* So few bytes never come in part, and need no descriptor. */
  while (getrandom (to, size, 0) != (ssize_t)size)
    if (errno != EINTR)
      g_error ("no random bytes: %s", g_strerror (errno));
}

gboolean
wire_has_room (void)
{
  struct rlimit limit;
  int lowest = fcntl (STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
  if (lowest < 0)
    return FALSE;
  close (lowest);
  return getrlimit (RLIMIT_NOFILE, &limit) != 0
         || (rlim_t)lowest + WIRE_DESCRIPTORS_KEPT <= limit.rlim_cur;
}

void
wire_prove (const char *credential, const char *who, const guint8 *greeter, const guint8 *dialler,
            guint8 role, guint8 proof[PROOF_SIZE])
{
  g_autoptr (GHmac) hmac
      = g_hmac_new (G_CHECKSUM_SHA256, (const guchar *)credential, strlen (credential));
  gsize size = PROOF_SIZE;
  g_hmac_update (hmac, (const guchar *)who, (gssize)strlen (who));
  g_hmac_update (hmac, greeter, NONCE_SIZE);
  g_hmac_update (hmac, dialler, NONCE_SIZE);
  g_hmac_update (hmac, &role, 1);
  g_hmac_get_digest (hmac, proof, &size);
}

gboolean
wire_proof_is_equal (const guint8 *a, const guint8 *b)
{
  guint8 difference = 0;
  for (gsize i = 0; i < PROOF_SIZE; i++)
    difference |= a[i] ^ b[i];
  return difference == 0;
}

GSocketAddress *
wire_address_parse (const char *address, GError **error)
{
  if (g_str_has_prefix (address, "unix:"))
    return g_unix_socket_address_new (address + 5);
  if (g_str_has_prefix (address, "tcp:"))
    {
      const char *colon = strrchr (address + 4, ':');
      if (colon != NULL)
        {
          g_autofree char *host = g_strndup (address + 4, (gsize)(colon - address - 4));
          guint64 port;
          if (g_ascii_string_to_unsigned (colon + 1, 10, 1, 65535, &port, NULL))
            {
              GSocketAddress *parsed = g_inet_socket_address_new_from_string (host, (guint)port);
              if (parsed != NULL)
                return parsed;
            }
        }
    }
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT, "'%s' is not an address", address);
  return NULL;
}

gboolean
wire_address_is_near (const char *address)
{
  g_autoptr (GSocketAddress) parsed = wire_address_parse (address, NULL);
  return parsed != NULL
         && (!G_IS_INET_SOCKET_ADDRESS (parsed)
             || g_inet_address_get_is_loopback (
                 g_inet_socket_address_get_address (G_INET_SOCKET_ADDRESS (parsed))));
}

void
wire_socket_tune (GSocket *socket, double silence_s)
{
  if (g_socket_get_family (socket) == G_SOCKET_FAMILY_UNIX)
    {
      g_socket_set_option (socket, SOL_SOCKET, SO_SNDBUF, UNIX_SEND_BUFFER, NULL);
      return;
    }
  g_socket_set_option (socket, IPPROTO_TCP, TCP_NODELAY, 1, NULL);
  if (silence_s > 0)
    g_socket_set_option (socket, IPPROTO_TCP, TCP_USER_TIMEOUT, (int)(silence_s * 1000), NULL);
}

GSocket *
wire_socket_for (GSocketAddress *address, double silence_s, GError **error)
{
  GSocketFamily family = g_socket_address_get_family (address);
  GSocket *socket = g_socket_new (family, G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_DEFAULT, error);
  if (socket != NULL)
    wire_socket_tune (socket, silence_s);
  return socket;
}
