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

static gboolean
receive_all (GIOStream *stream, void *to, gsize size, GError **error)
{
  gsize got;
  if (!g_input_stream_read_all (g_io_stream_get_input_stream (stream), to, size, &got, NULL, error))
    return FALSE;
  if (got < size)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_CLOSED, "the node closed the connection");
  return got == size;
}

static gboolean
send_all (GIOStream *stream, const void *from, gsize size, GError **error)
{
  return g_output_stream_write_all (g_io_stream_get_output_stream (stream), from, size, NULL, NULL,
                                    error);
}

/* (transfer full): connected, nothing said yet. */
static GIOStream *
open_stream (const char *address, GError **error)
{
  g_autoptr (GSocket) socket = wire_connect_blocking (address, error);
  return socket != NULL ? G_IO_STREAM (g_socket_connection_factory_create_connection (socket))
                        : NULL;
}

/* Reads a greeting, blocking. (transfer full): its text. */
static char *
receive_greeting (GIOStream *stream, guint8 nonce[NONCE_SIZE], GError **error)
{
  guint8 head[MAGIC_SIZE + NONCE_SIZE + 2];
  if (!receive_all (stream, head, sizeof head, error))
    return NULL;
  gsize size = head[MAGIC_SIZE + NONCE_SIZE] | (gsize)head[MAGIC_SIZE + NONCE_SIZE + 1] << 8;
  if (memcmp (head, MAGIC, MAGIC_SIZE) != 0 || size > GREETING_TEXT_MAX)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "no Satin node answers there");
      return NULL;
    }
  memcpy (nonce, head + MAGIC_SIZE, NONCE_SIZE);
  g_autofree char *text = g_malloc0 (size + 1);
  if (!receive_all (stream, text, size, error))
    return NULL;
  return g_steal_pointer (&text);
}

char *
wire_ask_run (const char *address, char **name, char **host)
{
  guint8 nonce[NONCE_SIZE];
  g_autoptr (GIOStream) stream = open_stream (address, NULL);
  g_autofree char *text = stream != NULL ? receive_greeting (stream, nonce, NULL) : NULL;
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

/* (transfer full): a stream on which both sides are proved, as private as its kind of address
 * asks. */
static GIOStream *
open_proved (const char *address, const WireRun *run, GError **error)
{
  guint8 greeter[NONCE_SIZE], proof[PROOF_SIZE], expected[PROOF_SIZE];
  guint8 frame[1 + NONCE_SIZE + PROOF_SIZE] = { WIRE_ROLE_CONTROL };
  g_autoptr (GIOStream) stream = open_stream (address, error);
  g_autofree char *text = stream != NULL ? receive_greeting (stream, greeter, error) : NULL;
  if (text == NULL)
    return NULL;
  wire_fill_random (frame + 1, NONCE_SIZE);
  wire_prove (run->credential, "dialler", greeter, frame + 1, WIRE_ROLE_CONTROL,
              frame + 1 + NONCE_SIZE);
  wire_prove (run->credential, "greeter", greeter, frame + 1, WIRE_ROLE_CONTROL, expected);
  if (!send_all (stream, frame, sizeof frame, error)
      || !receive_all (stream, proof, sizeof proof, error))
    return NULL;
  if (!wire_proof_is_equal (proof, expected))
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED,
                   "the node has another credential than the run's folder");
      return NULL;
    }
  if (g_str_has_prefix (address, "unix:"))
    return g_steal_pointer (&stream);
  if (run->key != NULL)
    return wire_tls_dial_blocking (stream, run->key, error);
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED, "the run has no key for TCP");
  return NULL;
}

char *
wire_ask (const char *address, const WireRun *run, const char *request, GError **error)
{
  g_autoptr (GIOStream) stream = open_proved (address, run, error);
  guint64 size = GUINT64_TO_LE ((guint64)strlen (request));
  if (stream == NULL || !send_all (stream, &size, sizeof size, error)
      || !send_all (stream, request, strlen (request), error)
      || !receive_all (stream, &size, sizeof size, error))
    return NULL;
  size = GUINT64_FROM_LE (size);
  if (size > 64 * 1024 * 1024)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "the node's reply is too long");
      return NULL;
    }
  g_autofree char *reply = g_malloc0 ((gsize)size + 1);
  if (!receive_all (stream, reply, (gsize)size, error))
    return NULL;
  return g_steal_pointer (&reply);
}
