/* SPDX-License-Identifier: BSD-3-Clause */
/* TLS 1.3 on one TCP connection. Both ends present the run's certificate and accept no other; there
 * is no authority. Calls GnuTLS directly: through GIO an exchange of two small messages takes 8 us
 * longer, and each handshake takes a thread. Calls block if the socket does. */
#pragma once

#include <gio/gio.h>

typedef struct WireTls WireTls;

/* FALSE: TLS is not available; `error` says what to install. Any thread. */
gboolean wire_tls_is_there (GError **error);

/* From now on only this session may use the socket. `key`: the run's private key and certificate in
 * PEM. NULL with `error`: there is no GnuTLS, or `key` is invalid. */
WireTls *wire_tls_new (const char *key, GSocket *socket, gboolean dialled, GError **error);
/* Leaves the socket open. NULL is allowed. */
void wire_tls_free (WireTls *tls);

/* Continues the handshake. OK: the other end has the run's key. WOULD_BLOCK: call it again when the
 * socket is readable, or writable if wire_tls_writes. A dialler whose certificate is refused learns
 * that by its first read after the handshake, as TLS 1.3 has it. */
GPollableReturn wire_tls_shake (WireTls *tls, GError **error);
gboolean wire_tls_writes (WireTls *tls);

/* Receives as g_socket_receive does. More bytes may be buffered here, for which no poll wakes: read
 * until WOULD_BLOCK, or while wire_tls_has_more. This holds after the handshake, too. */
gssize wire_tls_receive (WireTls *tls, void *to, gsize size, GError **error);
gboolean wire_tls_has_more (WireTls *tls);
/* Sends at most one TLS record of the vectors. After WOULD_BLOCK the next call must begin with the
 * same bytes. */
GPollableReturn wire_tls_send (WireTls *tls, const GOutputVector *vectors, int n, gsize *written,
                               GError **error);
