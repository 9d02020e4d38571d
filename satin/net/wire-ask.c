/* SPDX-License-Identifier: BSD-3-Clause */
/* The blocking client: one question to one node. Any thread but the driver's. */
#include "wire-private.h"

#include "wire-tls.h"

#include <string.h>

GSocket *
wire_connect_blocking (const char *address, GError **error)
{
  g_autoptr (GSocketAddress) parsed = wire_address_parse (address, error);
  g_autoptr (GSocket) socket = parsed != NULL ? wire_socket_for (parsed, 0, error) : NULL;
  if (socket == NULL)
    return NULL;
  g_socket_set_timeout (socket, 2);
  if (!g_socket_connect (socket, parsed, NULL, error))
    return NULL;
  return g_steal_pointer (&socket);
}

/* Open to a node; TLS once both sides are proved, if its kind of address asks for it. */
typedef struct
{
  GSocket *socket;
  WireTls *tls;
} Asker;

static void
asker_close (Asker *asker)
{
  wire_tls_free (asker->tls);
  g_clear_object (&asker->socket);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Asker, asker_close)

static gboolean
receive_all (const Asker *asker, void *to, gsize size, GError **error)
{
  for (gsize filled = 0; filled < size;)
    {
      char *at = (char *)to + filled;
      gssize got = asker->tls != NULL
                       ? wire_tls_receive (asker->tls, at, size - filled, error)
                       : g_socket_receive (asker->socket, at, size - filled, NULL, error);
      if (got == 0)
        g_set_error (error, G_IO_ERROR, G_IO_ERROR_CLOSED, "the node closed the connection");
      if (got <= 0)
        return FALSE;
      filled += (gsize)got;
    }
  return TRUE;
}

static gboolean
send_all (const Asker *asker, const void *from, gsize size, GError **error)
{
  for (gsize done = 0, part; done < size; done += part)
    {
      GOutputVector rest = { (const char *)from + done, size - done };
      GPollableReturn how
          = asker->tls != NULL
                ? wire_tls_send (asker->tls, &rest, 1, &part, error)
                : g_socket_send_message_with_timeout (asker->socket, NULL, &rest, 1, NULL, 0, 0, -1,
                                                      &part, NULL, error);
      if (how != G_POLLABLE_RETURN_OK)
        return FALSE;
    }
  return TRUE;
}

/* Reads a greeting, blocking. (transfer full): its text. */
static char *
receive_greeting (const Asker *asker, guint8 nonce[NONCE_SIZE], GError **error)
{
  guint8 head[MAGIC_SIZE + NONCE_SIZE + 2];
  if (!receive_all (asker, head, sizeof head, error))
    return NULL;
  gsize size = head[MAGIC_SIZE + NONCE_SIZE] | (gsize)head[MAGIC_SIZE + NONCE_SIZE + 1] << 8;
  if (memcmp (head, MAGIC, MAGIC_SIZE) != 0 || size > GREETING_TEXT_MAX)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "no Satin node answers there");
      return NULL;
    }
  memcpy (nonce, head + MAGIC_SIZE, NONCE_SIZE);
  g_autofree char *text = g_malloc0 (size + 1);
  if (!receive_all (asker, text, size, error))
    return NULL;
  return g_steal_pointer (&text);
}

char *
wire_ask_run (const char *address, char **name, char **host)
{
  guint8 nonce[NONCE_SIZE];
  g_auto (Asker) asker = { wire_connect_blocking (address, NULL), NULL };
  g_autofree char *text = asker.socket != NULL ? receive_greeting (&asker, nonce, NULL) : NULL;
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

static gboolean
secure (Asker *asker, const char *key, GError **error)
{
  if (key != NULL)
    asker->tls = wire_tls_new (key, asker->socket, TRUE, error);
  else
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED, "the run has no key for TCP");
  return asker->tls != NULL && wire_tls_shake (asker->tls, error) == G_POLLABLE_RETURN_OK;
}

/* Proves both sides to each other, and is then as private as the kind of address asks. */
static gboolean
prove (Asker *asker, const char *address, const WireRun *run, GError **error)
{
  guint8 greeter[NONCE_SIZE], proof[PROOF_SIZE], expected[PROOF_SIZE];
  guint8 frame[1 + NONCE_SIZE + PROOF_SIZE] = { WIRE_ROLE_CONTROL };
  g_autofree char *text = receive_greeting (asker, greeter, error);
  if (text == NULL)
    return FALSE;
  wire_fill_random (frame + 1, NONCE_SIZE);
  wire_prove (run->credential, "dialler", greeter, frame + 1, WIRE_ROLE_CONTROL,
              frame + 1 + NONCE_SIZE);
  wire_prove (run->credential, "greeter", greeter, frame + 1, WIRE_ROLE_CONTROL, expected);
  if (!send_all (asker, frame, sizeof frame, error)
      || !receive_all (asker, proof, sizeof proof, error))
    return FALSE;
  if (wire_proof_is_equal (proof, expected))
    return g_str_has_prefix (address, "unix:") || secure (asker, run->key, error);
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED,
               "the node has another credential than the run's folder");
  return FALSE;
}

char *
wire_ask (const char *address, const WireRun *run, const char *request, gsize *length,
          GError **error)
{
  g_auto (Asker) asker = { wire_connect_blocking (address, error), NULL };
  guint64 size = GUINT64_TO_LE ((guint64)strlen (request));
  if (asker.socket == NULL || !prove (&asker, address, run, error)
      || !send_all (&asker, &size, sizeof size, error)
      || !send_all (&asker, request, strlen (request), error)
      || !receive_all (&asker, &size, sizeof size, error))
    return NULL;
  size = GUINT64_FROM_LE (size);
  if (size > 64 * 1024 * 1024)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "the node's reply is too long");
      return NULL;
    }
  g_autofree char *reply = g_malloc0 ((gsize)size + 1);
  if (!receive_all (&asker, reply, (gsize)size, error))
    return NULL;
  if (length != NULL)
    *length = (gsize)size;
  return g_steal_pointer (&reply);
}
