/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the TLS session of one socket. Does not interpret the bytes. */
#include "wire-tls.h"

#include "wire-gnutls.h"

#include <errno.h>
#include <string.h>

#define RECORD \
  16384 /* bytes of a full TLS record; a smaller message is one record and one packet */
#define AHEAD 4096
#define PRIORITY /* AES first: it is the fastest on processors with instructions for it */ \
  "-VERS-ALL:+VERS-TLS1.3:-CIPHER-ALL:+AES-128-GCM:+AES-256-GCM:+CHACHA20-POLY1305"

struct WireTls
{
  const WireGnutls *gnutls;
  GSocket *socket;
  gnutls_session_t session;
  gnutls_certificate_credentials_t credentials;
  GError *error;    /* why the socket failed */
  gsize taken;      /* bytes to send that are in a record which waits in the session */
  gsize begin, end; /* the unread part of `ahead` */
  guint8 gathered[RECORD], ahead[AHEAD];
};

gboolean
wire_tls_is_there (GError **error)
{
  if (wire_gnutls () != NULL)
    return TRUE;
  g_set_error (error, G_TLS_ERROR, G_TLS_ERROR_UNAVAILABLE,
               "TCP needs TLS, and GnuTLS is not here: install libgnutls30");
  return FALSE;
}

/* ---- GnuTLS calls these ---- */

/* Returns -1 and sets the errno that GnuTLS reads. `error`: (transfer full) */
static ssize_t
fail (WireTls *tls, GError *error)
{
  gboolean blocks = g_error_matches (error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK);

  tls->gnutls->transport_set_errno (tls->session, blocks ? EAGAIN : EIO);
  g_clear_error (&tls->error);
  tls->error = error;
  return -1;
}

/* GnuTLS asks for each record's header separately. So this reads a little more than GnuTLS asks
 * for. */
static ssize_t
pull (gnutls_transport_ptr_t data, void *to, size_t size)
{
  WireTls *tls = data;

  if (tls->begin == tls->end)
    {
      GError *error = NULL;
      GInputVector vectors[] = { { to, size }, { tls->ahead, AHEAD } };
      gssize got = g_socket_receive_message (tls->socket, NULL, vectors, 2, NULL, NULL, NULL, NULL,
                                             &error);
      if (got < 0)
        return fail (tls, error);
      tls->begin = 0;
      tls->end = (gsize)got - MIN ((gsize)got, size);
      return (ssize_t)MIN ((gsize)got, size);
    }
  size = MIN (size, tls->end - tls->begin);
  memcpy (to, tls->ahead + tls->begin, size);
  tls->begin += size;
  return (ssize_t)size;
}

static ssize_t
push (gnutls_transport_ptr_t data, const void *from, size_t size)
{
  WireTls *tls = data;
  GError *error = NULL;
  gssize sent = g_socket_send (tls->socket, from, size, NULL, &error);

  return sent < 0 ? fail (tls, error) : sent;
}

/* TRUE: the other end presents our own certificate. The handshake proves that it has the private
 * key. */
static gboolean
is_own (WireTls *tls)
{
  guint n = 0;
  gnutls_datum_t own;
  const gnutls_datum_t *shown = tls->gnutls->certificate_get_peers (tls->session, &n);

  return tls->gnutls->certificate_get_crt_raw (tls->credentials, 0, 0, &own) == 0 && n > 0
         && shown->size == own.size && memcmp (shown->data, own.data, own.size) == 0;
}

static int
verify (gnutls_session_t session)
{
  const WireGnutls *gnutls = wire_gnutls ();

  return is_own (gnutls->session_get_ptr (session)) ? 0 : GNUTLS_E_CERTIFICATE_ERROR;
}

/* ---- starting and ending ---- */

static int
load_key (WireTls *tls, const char *key)
{
  const WireGnutls *gnutls = tls->gnutls;
  gnutls_datum_t pem = { (guint8 *)key, (guint)strlen (key) };
  int code = gnutls->certificate_allocate_credentials (&tls->credentials);

  if (code == 0)
    code = gnutls->certificate_set_x509_key_mem (tls->credentials, &pem, &pem, GNUTLS_X509_FMT_PEM);
  return code;
}

static int
open_session (WireTls *tls, gboolean dialled)
{
  const WireGnutls *gnutls = tls->gnutls;
  int code
      = gnutls->init (&tls->session, GNUTLS_NO_TICKETS | (dialled ? GNUTLS_CLIENT : GNUTLS_SERVER));

  if (code == 0)
    code = gnutls->set_default_priority_append (tls->session, PRIORITY, NULL, 0);
  if (code == 0)
    code = gnutls->credentials_set (tls->session, GNUTLS_CRD_CERTIFICATE, tls->credentials);
  if (code != 0)
    return code;
  gnutls->session_set_ptr (tls->session, tls);
  gnutls->session_set_verify_function (tls->session, verify);
  gnutls->transport_set_ptr (tls->session, tls);
  gnutls->transport_set_pull_function (tls->session, pull);
  gnutls->transport_set_push_function (tls->session, push);
  if (!dialled)
    gnutls->certificate_server_set_request (tls->session, GNUTLS_CERT_REQUIRE);
  return 0;
}

WireTls *
wire_tls_new (const char *key, GSocket *socket, gboolean dialled, GError **error)
{
  if (!wire_tls_is_there (error))
    return NULL;
  WireTls *tls = g_malloc (sizeof *tls);
  memset (tls, 0, G_STRUCT_OFFSET (WireTls, gathered));
  tls->gnutls = wire_gnutls ();
  tls->socket = g_object_ref (socket);
  int code = load_key (tls, key);
  if (code == 0)
    code = open_session (tls, dialled);
  if (code == 0)
    return tls;
  g_set_error (error, G_TLS_ERROR, G_TLS_ERROR_MISC, "no TLS with the run's key: %s",
               tls->gnutls->strerror (code));
  wire_tls_free (tls);
  return NULL;
}

void
wire_tls_free (WireTls *tls)
{
  if (tls == NULL)
    return;
  if (tls->session != NULL)
    tls->gnutls->deinit (tls->session);
  if (tls->credentials != NULL)
    tls->gnutls->certificate_free_credentials (tls->credentials);
  g_clear_error (&tls->error);
  g_object_unref (tls->socket);
  g_free (tls);
}

/* ---- sending and receiving ---- */

static GPollableReturn
failed (WireTls *tls, int code, GError **error)
{
  if (code == GNUTLS_E_AGAIN)
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK, "it would block");
  else if ((code == GNUTLS_E_PULL_ERROR || code == GNUTLS_E_PUSH_ERROR) && tls->error != NULL)
    g_propagate_error (error, g_steal_pointer (&tls->error));
  else if (code == GNUTLS_E_CERTIFICATE_ERROR)
    g_set_error (error, G_TLS_ERROR, G_TLS_ERROR_BAD_CERTIFICATE,
                 "the other end has another certificate than the run's");
  else
    g_set_error (error, G_TLS_ERROR, G_TLS_ERROR_MISC, "%s", tls->gnutls->strerror (code));
  return code == GNUTLS_E_AGAIN ? G_POLLABLE_RETURN_WOULD_BLOCK : G_POLLABLE_RETURN_FAILED;
}

/* The code was a warning, or a message of TLS itself; more bytes may be buffered here. */
static gboolean
goes_on (const WireTls *tls, gssize code)
{
  return code < 0
         && (code == GNUTLS_E_AGAIN ? tls->begin < tls->end
                                    : !tls->gnutls->error_is_fatal ((int)code));
}

GPollableReturn
wire_tls_shake (WireTls *tls, GError **error)
{
  int code;

  do
    code = tls->gnutls->handshake (tls->session);
  while (goes_on (tls, code));
  if (code == 0 && tls->gnutls->protocol_get_version (tls->session) != GNUTLS_TLS1_3)
    code = GNUTLS_E_UNSUPPORTED_VERSION_PACKET;
  if (code == 0 && !is_own (tls))
    code = GNUTLS_E_CERTIFICATE_ERROR;
  return code == 0 ? G_POLLABLE_RETURN_OK : failed (tls, code, error);
}

gboolean
wire_tls_writes (WireTls *tls)
{
  return tls->gnutls->record_get_direction (tls->session) == 1;
}

gssize
wire_tls_receive (WireTls *tls, void *to, gsize size, GError **error)
{
  gssize got;

  do
    got = tls->gnutls->record_recv (tls->session, to, size);
  while (goes_on (tls, got));
  if (got < 0)
    failed (tls, (int)got, error);
  return MAX (got, -1);
}

gboolean
wire_tls_has_more (WireTls *tls)
{
  return tls->begin < tls->end || tls->gnutls->record_check_pending (tls->session) > 0;
}

/* The bytes of the next record. */
static const void *
gather (WireTls *tls, const GOutputVector *vectors, int n, gsize *size)
{
  if (n == 1 || vectors[0].size >= RECORD)
    {
      *size = MIN (vectors[0].size, RECORD);
      return vectors[0].buffer;
    }
  *size = 0;
  for (int i = 0; i < n && *size < RECORD; i++)
    {
      gsize part = MIN (vectors[i].size, RECORD - *size);
      memcpy (tls->gathered + *size, vectors[i].buffer, part);
      *size += part;
    }
  return tls->gathered;
}

GPollableReturn
wire_tls_send (WireTls *tls, const GOutputVector *vectors, int n, gsize *written, GError **error)
{
  const void *from = NULL; /* NULL: continue with the record in the session */
  gsize size = 0;
  gssize sent;

  *written = 0;
  if (tls->taken == 0)
    from = gather (tls, vectors, n, &size);
  do
    sent = tls->gnutls->record_send (tls->session, from, size);
  while (sent == GNUTLS_E_INTERRUPTED);
  if (sent == GNUTLS_E_AGAIN)
    tls->taken += size;
  if (sent < 0)
    return failed (tls, (int)sent, error);
  *written = tls->taken > 0 ? tls->taken : (gsize)sent;
  tls->taken = 0;
  return G_POLLABLE_RETURN_OK;
}
