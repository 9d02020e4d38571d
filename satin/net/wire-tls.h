/* SPDX-License-Identifier: BSD-3-Clause */
/* TLS 1.3 on one TCP connection. Both ends show the same certificate, the run's, and take no other;
 * no authority is asked. By GIO, whose TLS is a module (glib-networking) that may be missing. */
#pragma once

#include <gio/gio.h>

typedef struct WireTls WireTls;

/* The most that a record of TLS carries; a smaller message is one record, one packet. */
#define WIRE_TLS_RECORD 16384

/* Whether TLS is there; FALSE with a sentence that says what to install. Any thread. */
gboolean wire_tls_is_there (GError **error);

/* Begins the handshake on `socket`, which nobody else may read or write from now on. `done` is
 * called once in `context`, which the caller owns, unless wire_tls_free comes first. `key`: the
 * run's private key and certificate in PEM. NULL: no TLS here, or `key` is none. */
WireTls *wire_tls_begin (GMainContext *context, const char *key, GSocket *socket, gboolean dialled,
                         void (*done) (gboolean secure, void *data), void *data);
/* Closes the socket too, once the handshake has let go of it. NULL is fine. */
void wire_tls_free (WireTls *tls);

/* After the handshake, never blocking. As g_socket_receive, but a record at a time: when all of
 * `size` came, or a whole WIRE_TLS_RECORD, more of it may lie here and wakes no poll. The first
 * reads, which the handshake may have brought, go on until they would block. */
gssize wire_tls_receive (WireTls *tls, void *to, gsize size, GError **error);
/* Writes up to a record of the vectors. After WOULD_BLOCK the same bytes must come first again. */
GPollableReturn wire_tls_send (WireTls *tls, const GOutputVector *vectors, int n, gsize *written);

/* Blocking, as the dialling side; handshake included. (transfer full) */
GIOStream *wire_tls_dial_blocking (GIOStream *base, const char *key, GError **error);
