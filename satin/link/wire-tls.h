/* SPDX-License-Identifier: BSD-3-Clause */
/* TLS 1.3 on one TCP connection. Both ends show the same certificate, the run's, and take no other;
 * no authority is asked. By GnuTLS, straight: through GIO the same exchange of two small messages
 * takes 8 us longer, and a handshake a thread. Whether it blocks is as the socket is set. */
#pragma once

#include <gio/gio.h>

typedef struct WireTls WireTls;

/* Whether TLS is there; FALSE with a sentence that says what to install. Any thread. */
gboolean wire_tls_is_there (GError **error);

/* Nobody else may read or write the socket from now on. `key`: the run's private key and
 * certificate in PEM. (nullable): no TLS here, or `key` is none. */
WireTls *wire_tls_new (const char *key, GSocket *socket, gboolean dialled, GError **error);
/* The socket stays open. NULL is fine. */
void wire_tls_free (WireTls *tls);

/* Goes on with the handshake. OK: the other end has the run's key. WOULD_BLOCK: call it again when
 * the socket can be read, or written if wire_tls_writes. A dialler is refused only after that, as
 * ever in TLS 1.3: by the first read. */
GPollableReturn wire_tls_shake (WireTls *tls, GError **error);
gboolean wire_tls_writes (WireTls *tls);

/* As g_socket_receive. More that has come may lie here, and wakes no poll, until it would block or
 * while wire_tls_has_more: after the handshake, too. */
gssize wire_tls_receive (WireTls *tls, void *to, gsize size, GError **error);
gboolean wire_tls_has_more (WireTls *tls);
/* Writes up to a record of the vectors. After WOULD_BLOCK the same bytes must come first again. */
GPollableReturn wire_tls_send (WireTls *tls, const GOutputVector *vectors, int n, gsize *written,
                               GError **error);
