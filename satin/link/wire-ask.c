/* SPDX-License-Identifier: BSD-3-Clause */
/* The blocking client for requests to one node. Any thread but the driver's. Tests:
 * test-wire-tls. */
#include "wire-private.h"

#include "wire-tls.h"

#include <string.h>

#define CONNECT_S 2
#define CONNECT_PAUSE_US (5 * 1000)

/* A Unix socket with a full backlog refuses to queue a connection. Its node will soon accept some,
 * so this tries again. */
static gboolean
connect_patiently (GSocket *socket, GSocketAddress *address, GCancellable *stop, GError **error)
{
  gint64 until_us = g_get_monotonic_time () + CONNECT_S * G_USEC_PER_SEC;

  for (;;)
    {
      g_autoptr (GError) why = NULL;

      if (g_socket_connect (socket, address, stop, &why))
        return TRUE;
      if (!g_error_matches (why, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK)
          || g_get_monotonic_time () > until_us || g_cancellable_is_cancelled (stop))
        {
          g_propagate_error (error, g_steal_pointer (&why));
          return FALSE;
        }
      g_usleep (CONNECT_PAUSE_US);
    }
}

GSocket *
wire_connect_blocking (const char *address, GCancellable *stop, GError **error)
{
  g_autoptr (GSocketAddress) parsed = wire_address_parse (address, error);
  g_autoptr (GSocket) socket = parsed != NULL ? wire_socket_for (parsed, 0, error) : NULL;
  if (socket == NULL)
    return NULL;
  g_socket_set_timeout (socket, CONNECT_S);
  if (!connect_patiently (socket, parsed, stop, error))
    return NULL;
  return g_steal_pointer (&socket);
}

struct WireAsker
{
  GSocket *socket;
  WireTls *tls;       /* TCP: once both sides are proved */
  GCancellable *stop; /* (nullable) borrowed; ends receiving without TLS */
};

void
wire_asker_free (WireAsker *asker)
{
  if (asker == NULL)
    return;
  wire_tls_free (asker->tls);
  g_clear_object (&asker->socket);
  g_free (asker);
}

/* (transfer full) NULL: no process can be reached at `address`. */
static WireAsker *
asker_connect (const char *address, GCancellable *stop, GError **error)
{
  GSocket *socket = wire_connect_blocking (address, stop, error);
  WireAsker *asker = socket != NULL ? g_new0 (WireAsker, 1) : NULL;

  if (asker != NULL)
    *asker = (WireAsker){ .socket = socket, .stop = stop };
  return asker;
}

static gboolean
receive_all (const WireAsker *asker, void *to, gsize size, GError **error)
{
  for (gsize filled = 0; filled < size;)
    {
      char *at = (char *)to + filled;
      gssize got = asker->tls != NULL
                       ? wire_tls_receive (asker->tls, at, size - filled, error)
                       : g_socket_receive (asker->socket, at, size - filled, asker->stop, error);
      if (got == 0)
        g_set_error (error, G_IO_ERROR, G_IO_ERROR_CLOSED, "the node closed the connection");
      if (got <= 0)
        return FALSE;
      filled += (gsize)got;
    }
  return TRUE;
}

static gboolean
send_all (const WireAsker *asker, const void *from, gsize size, GError **error)
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

/* Reads a greeting. (transfer full): its text. */
static char *
receive_greeting (const WireAsker *asker, guint8 nonce[NONCE_SIZE], GError **error)
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

WireAsker *
wire_reach (const char *address, GCancellable *stop, GError **error)
{
  WireAsker *asker = asker_connect (address, stop, error);

  if (asker != NULL)
    g_socket_set_timeout (asker->socket, 0);
  return asker;
}

char *
wire_asker_run (WireAsker *asker, char **name, char **host, GError **error)
{
  guint8 nonce[NONCE_SIZE];
  g_autofree char *text = receive_greeting (asker, nonce, error);
  if (text == NULL)
    return NULL;
  g_auto (GStrv) lines = g_strsplit (text, "\n", 4);
  if (g_strv_length (lines) < 3)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "another Satin answers there");
      return NULL;
    }
  *name = g_strdup (lines[1]);
  *host = g_strdup (lines[2]);
  return g_strdup (lines[0]);
}

static gboolean
secure (WireAsker *asker, const char *key, GError **error)
{
  if (key != NULL)
    asker->tls = wire_tls_new (key, asker->socket, TRUE, error);
  else
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED, "the run has no key for TCP");
  return asker->tls != NULL && wire_tls_shake (asker->tls, error) == G_POLLABLE_RETURN_OK;
}

/* Proves both sides to each other; over TCP TLS follows. */
static gboolean
prove (WireAsker *asker, const char *address, const WireRun *run, GError **error)
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

WireAsker *
wire_asker_new (const char *address, const WireRun *run, GError **error)
{
  g_autoptr (WireAsker) asker = asker_connect (address, NULL, error);

  return asker != NULL && prove (asker, address, run, error) ? g_steal_pointer (&asker) : NULL;
}

char *
wire_asker_ask (WireAsker *asker, const char *request, gsize *length, GError **error)
{
  guint64 size = GUINT64_TO_LE ((guint64)strlen (request));
  if (!send_all (asker, &size, sizeof size, error)
      || !send_all (asker, request, strlen (request), error)
      || !receive_all (asker, &size, sizeof size, error))
    return NULL;
  size = GUINT64_FROM_LE (size);
  if (size > WIRE_REPLY_MAX)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "the node's reply is too long");
      return NULL;
    }
  g_autofree char *reply = g_malloc0 ((gsize)size + 1);
  if (!receive_all (asker, reply, (gsize)size, error))
    return NULL;
  if (length != NULL)
    *length = (gsize)size;
  return g_steal_pointer (&reply);
}
