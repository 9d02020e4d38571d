/* SPDX-License-Identifier: BSD-3-Clause */
/* The blocking client: one question to one node. Any thread but the driver's. */
#include "wire-private.h"

#include <string.h>

GSocket *
wire_connect_blocking (const char *address, GError **error)
{
  g_autoptr (GSocketAddress) parsed = wire_address_parse (address, error);
  g_autoptr (GSocket) socket = parsed != NULL ? wire_socket_for (parsed, error) : NULL;
  if (socket == NULL)
    return NULL;
  g_socket_set_timeout (socket, 2);
  if (!g_socket_connect (socket, parsed, NULL, error))
    return NULL;
  return g_steal_pointer (&socket);
}

static gboolean
receive_all (GSocket *socket, void *to, gsize size, GError **error)
{
  for (gsize got = 0; got < size;)
    {
      gssize n = g_socket_receive (socket, (char *)to + got, size - got, NULL, error);
      if (n == 0)
        g_set_error (error, G_IO_ERROR, G_IO_ERROR_CLOSED, "the node closed the connection");
      if (n <= 0)
        return FALSE;
      got += (gsize)n;
    }
  return TRUE;
}

static gboolean
send_all (GSocket *socket, const void *from, gsize size, GError **error)
{
  for (gsize sent = 0; sent < size;)
    {
      gssize n = g_socket_send (socket, (const char *)from + sent, size - sent, NULL, error);
      if (n < 0)
        return FALSE;
      sent += (gsize)n;
    }
  return TRUE;
}

/* Reads a greeting, blocking. (transfer full): its text. */
static char *
receive_greeting (GSocket *socket, guint8 nonce[NONCE_SIZE], GError **error)
{
  guint8 head[MAGIC_SIZE + NONCE_SIZE + 2];
  if (!receive_all (socket, head, sizeof head, error))
    return NULL;
  gsize size = head[MAGIC_SIZE + NONCE_SIZE] | (gsize)head[MAGIC_SIZE + NONCE_SIZE + 1] << 8;
  if (memcmp (head, MAGIC, MAGIC_SIZE) != 0 || size > GREETING_TEXT_MAX)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "no Satin node answers there");
      return NULL;
    }
  memcpy (nonce, head + MAGIC_SIZE, NONCE_SIZE);
  g_autofree char *text = g_malloc0 (size + 1);
  if (!receive_all (socket, text, size, error))
    return NULL;
  return g_steal_pointer (&text);
}

char *
wire_ask_run (const char *address, char **name, char **host)
{
  guint8 nonce[NONCE_SIZE];
  g_autoptr (GSocket) socket = wire_connect_blocking (address, NULL);
  g_autofree char *text = socket != NULL ? receive_greeting (socket, nonce, NULL) : NULL;
  if (text == NULL)
    return NULL;
  g_auto (GStrv) lines = g_strsplit (text, "\n", 4);
  if (g_strv_length (lines) < 3)
    return NULL;
  if (name != NULL)
    *name = g_strdup (lines[1]);
  if (host != NULL)
    *host = g_strdup (lines[2]);
  return g_strdup (lines[0]);
}

char *
wire_ask (const char *address, const char *credential, const char *request, GError **error)
{
  guint8 greeter[NONCE_SIZE], proof[PROOF_SIZE], expected[PROOF_SIZE];
  guint8 frame[1 + NONCE_SIZE + PROOF_SIZE] = { WIRE_ROLE_CONTROL };
  g_autoptr (GSocket) socket = wire_connect_blocking (address, error);
  g_autofree char *text = socket != NULL ? receive_greeting (socket, greeter, error) : NULL;
  if (text == NULL)
    return NULL;
  wire_fill_random (frame + 1, NONCE_SIZE);
  wire_prove (credential, "dialler", greeter, frame + 1, WIRE_ROLE_CONTROL, frame + 1 + NONCE_SIZE);
  wire_prove (credential, "greeter", greeter, frame + 1, WIRE_ROLE_CONTROL, expected);
  if (!send_all (socket, frame, sizeof frame, error)
      || !receive_all (socket, proof, sizeof proof, error))
    return NULL;
  if (!wire_proof_is_equal (proof, expected))
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED,
                   "the node has another credential than the run's folder");
      return NULL;
    }
  guint64 size = GUINT64_TO_LE ((guint64)strlen (request));
  if (!send_all (socket, &size, sizeof size, error)
      || !send_all (socket, request, strlen (request), error)
      || !receive_all (socket, &size, sizeof size, error))
    return NULL;
  size = GUINT64_FROM_LE (size);
  if (size > 64 * 1024 * 1024)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "the node's reply is too long");
      return NULL;
    }
  g_autofree char *reply = g_malloc0 ((gsize)size + 1);
  if (!receive_all (socket, reply, (gsize)size, error))
    return NULL;
  return g_steal_pointer (&reply);
}
