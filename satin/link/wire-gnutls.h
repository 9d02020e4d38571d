/* SPDX-License-Identifier: BSD-3-Clause */
/* GnuTLS, loaded when the first TCP link is made. Loading costs one or two milliseconds and as many
 * megabytes, which programs that stay on one machine need not pay. */
#pragma once

#include <gnutls/gnutls.h>

/* The functions that wire-tls.c calls. */
#define WIRE_GNUTLS_EACH(X) \
  X (certificate_allocate_credentials) \
  X (certificate_free_credentials) \
  X (certificate_get_crt_raw) \
  X (certificate_get_peers) \
  X (certificate_server_set_request) \
  X (certificate_set_x509_key_mem) \
  X (credentials_set) \
  X (deinit) \
  X (error_is_fatal) \
  X (handshake) \
  X (init) \
  X (protocol_get_version) \
  X (record_check_pending) \
  X (record_get_direction) \
  X (record_recv) \
  X (record_send) \
  X (session_get_ptr) \
  X (session_set_ptr) \
  X (session_set_verify_function) \
  X (set_default_priority_append) \
  X (strerror) \
  X (transport_set_errno) \
  X (transport_set_ptr) \
  X (transport_set_pull_function) \
  X (transport_set_push_function)

typedef struct
{
#define WIRE_GNUTLS_MEMBER(name) __typeof__ (gnutls_##name) *name;
  WIRE_GNUTLS_EACH (WIRE_GNUTLS_MEMBER)
#undef WIRE_GNUTLS_MEMBER
} WireGnutls;

/* (nullable): the library is not installed. Any thread. */
const WireGnutls *wire_gnutls (void);
