/* SPDX-License-Identifier: BSD-3-Clause */
/* The run's private key and its certificate, by GnuTLS, which only the launcher needs. */
#pragma once

#include <gio/gio.h>

/* A fresh key and a certificate that it signs itself, in PEM; no two are the same. (transfer full)
 */
GBytes *key_make (GError **error);
