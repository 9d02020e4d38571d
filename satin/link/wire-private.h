/* SPDX-License-Identifier: BSD-3-Clause */
/* What the two sides of a connection share: the greeting's form and the proof. wire.c speaks it
 * without blocking, wire-ask.c blocking, for people's requests. */
#pragma once

#include "wire.h"

#define MAGIC "SATIN1\n"
#define MAGIC_SIZE 7
#define NONCE_SIZE 16
#define PROOF_SIZE 32
#define GREETING_TEXT_MAX 512

void wire_fill_random (guint8 *to, gsize size);
/* HMAC-SHA256 (credential, who | greeter's nonce | dialler's nonce | role). */
void wire_prove (const char *credential, const char *who, const guint8 *greeter,
                 const guint8 *dialler, guint8 role, guint8 proof[PROOF_SIZE]);
/* In constant time. */
gboolean wire_proof_is_equal (const guint8 *a, const guint8 *b);
/* (transfer full): "unix:PATH" or "tcp:HOST:PORT". */
GSocketAddress *wire_address_parse (const char *address, GError **error);
/* Options that every connection has; `silence_s` as in WireRun. */
void wire_socket_tune (GSocket *socket, double silence_s);
/* (transfer full): a stream socket for it, not yet connected. */
GSocket *wire_socket_for (GSocketAddress *address, double silence_s, GError **error);
