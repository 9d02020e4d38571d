/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the run's private key and certificate for TLS, with GnuTLS. The launcher links GnuTLS;
 * nodes load it at run time (link/wire-tls.c). Any thread. */
#pragma once

#include <glib.h>

/* Makes a new private key and a certificate that it signs. Returns both as PEM. (transfer full)
 * NULL: G_TLS_ERROR in one sentence. */
GBytes *key_make (GError **error);
