/* SPDX-License-Identifier: BSD-3-Clause */
/* The form of the greeting and the proof, for both clients: wire.c does not block, wire-ask.c
 * (control requests) does. */
#pragma once

#include "wire.h"

#include <gio/gio.h>

#define MAGIC "SATIN1\n"
#define MAGIC_SIZE 7
#define NONCE_SIZE 16
#define PROOF_SIZE 32
#define GREETING_TEXT_MAX 512

void wire_fill_random (guint8 *to, gsize size);
/* HMAC-SHA256 (credential, who | greeter's nonce | dialler's nonce | role). */
void wire_prove (const char *credential, const char *who, const guint8 *greeter,
                 const guint8 *dialler, guint8 role, guint8 proof[PROOF_SIZE]);
/* Compares in constant time. */
gboolean wire_proof_is_equal (const guint8 *a, const guint8 *b);
/* Reads "unix:PATH" or "tcp:HOST:PORT". (transfer full) */
GSocketAddress *wire_address_parse (const char *address, GError **error);
/* Sets the options that all connections have; `silence_s` as in WireRun. */
void wire_socket_tune (GSocket *socket, double silence_s);
/* A stream socket for `address`, not yet connected. (transfer full) */
GSocket *wire_socket_for (GSocketAddress *address, double silence_s, GError **error);
