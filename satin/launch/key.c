/* SPDX-License-Identifier: BSD-3-Clause */
/* See key.h. Nodes compare the whole certificate (link/wire-tls.c), so the values of its fields do
 * not matter. Any thread. Tests: test-wire-tls. */
#include "key.h"

#include <gio/gio.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <string.h>
#include <time.h>

/* Some TLS libraries refuse a certificate without dates. Nothing else reads them. */
#define VALID_S (100 * 366 * 24 * 3600LL)
#define NAME "satin"

static int
fill_certificate (gnutls_x509_crt_t certificate, gnutls_x509_privkey_t key)
{
  guint8 serial[16];
  time_t now = time (NULL);
  int code = gnutls_rnd (GNUTLS_RND_NONCE, serial, sizeof serial);

  serial[0] &= 0x7f; /* a serial number is positive */
  if (code == 0)
    code = gnutls_x509_crt_set_version (certificate, 3);
  if (code == 0)
    code = gnutls_x509_crt_set_serial (certificate, serial, sizeof serial);
  if (code == 0)
    code = gnutls_x509_crt_set_activation_time (certificate, now - VALID_S / 100);
  if (code == 0)
    code = gnutls_x509_crt_set_expiration_time (certificate, now + (time_t)VALID_S);
  if (code == 0)
    code = gnutls_x509_crt_set_dn_by_oid (certificate, GNUTLS_OID_X520_COMMON_NAME, 0, NAME,
                                          strlen (NAME));
  if (code == 0)
    code = gnutls_x509_crt_set_key (certificate, key);
  if (code == 0)
    code = gnutls_x509_crt_sign2 (certificate, certificate, key, GNUTLS_DIG_SHA256, 0);
  return code;
}

static int
put_pem (GByteArray *pem, gnutls_datum_t *text, int code)
{
  if (code != 0)
    return code;
  g_byte_array_append (pem, text->data, text->size);
  gnutls_memset (text->data, 0, text->size);
  gnutls_free (text->data);
  return 0;
}

static int
make (gnutls_x509_crt_t certificate, gnutls_x509_privkey_t key, GByteArray *pem)
{
  gnutls_datum_t text = { NULL, 0 };
  int code = gnutls_x509_privkey_generate (key, GNUTLS_PK_ECDSA,
                                           GNUTLS_CURVE_TO_BITS (GNUTLS_ECC_CURVE_SECP256R1), 0);

  if (code == 0)
    code = fill_certificate (certificate, key);
  if (code == 0)
    code = put_pem (pem, &text, gnutls_x509_privkey_export2 (key, GNUTLS_X509_FMT_PEM, &text));
  if (code == 0)
    code = put_pem (pem, &text, gnutls_x509_crt_export2 (certificate, GNUTLS_X509_FMT_PEM, &text));
  return code;
}

GBytes *
key_make (GError **error)
{
  g_autoptr (GByteArray) pem = g_byte_array_new ();
  gnutls_x509_privkey_t key = NULL;
  gnutls_x509_crt_t certificate = NULL;
  int code = gnutls_x509_privkey_init (&key);

  if (code == 0)
    code = gnutls_x509_crt_init (&certificate);
  if (code == 0)
    code = make (certificate, key, pem);
  if (certificate != NULL)
    gnutls_x509_crt_deinit (certificate);
  if (key != NULL)
    gnutls_x509_privkey_deinit (key);
  if (code == 0)
    return g_byte_array_free_to_bytes (g_steal_pointer (&pem));
  g_set_error (error, G_TLS_ERROR, G_TLS_ERROR_MISC, "cannot make a key for the run: %s",
               gnutls_strerror (code));
  return NULL;
}
