/* SPDX-License-Identifier: BSD-3-Clause */
/* What `satin view` takes as a request, and whom it answers: HTTP/1.1 in the small, pure. Trusts no
 * byte. Any thread.
 *
 * Who may look: a browser shows the token once, as `/?token=…`, and gets a cookie for it. Every
 * other request needs that cookie. A name that an attacker's DNS points at 127.0.0.1 is refused by
 * Host, a request that another site's page makes by Sec-Fetch-Site and Origin, and by the cookie,
 * which is SameSite=Strict. */
#pragma once

#include <glib.h>

/* Bytes of a request with its headers; it has no body. */
#define VIEW_HTTP_REQUEST_MAX 8192

typedef enum
{
  VIEW_HTTP_OK = 200,
  VIEW_HTTP_SEE_OTHER = 303,
  VIEW_HTTP_BAD_REQUEST = 400,
  VIEW_HTTP_FORBIDDEN = 403,
  VIEW_HTTP_NOT_FOUND = 404,
  VIEW_HTTP_NOT_ALLOWED = 405,
  VIEW_HTTP_TOO_LARGE = 431,
  VIEW_HTTP_UNAVAILABLE = 503
} ViewHttpStatus;

typedef struct
{
  char *path;                          /* decoded, begins with / */
  char *query;                         /* (nullable) as it came, after the ? */
  char *host, *cookie, *site, *origin; /* (nullable) the headers Host, Cookie, Sec-Fetch-Site, … */
} ViewHttpRequest;

void view_http_clear (ViewHttpRequest *request);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (ViewHttpRequest, view_http_clear)

/* The bytes of the request up to and with the empty line; 0: it has not come yet. */
gsize view_http_length (const char *bytes, gsize size);
/* Reads one request. VIEW_HTTP_OK: `request` is filled; else the status to answer with, and
 * `request` is clear. A request with a body, with two Host or Cookie headers, or of another method
 * than GET is refused. */
ViewHttpStatus view_http_parse (const char *bytes, gsize size, ViewHttpRequest *request);
/* The decoded value of `key` in the query; NULL: there is none, or it is no UTF-8.
 * (transfer full) (nullable) */
char *view_http_value (const ViewHttpRequest *request, const char *key);

/* What a view knows its own people by: both are 64 hexadecimal digits. */
typedef struct
{
  char *token, *session, *cookie_name;
} ViewHttpSecrets;

/* Fresh ones, of /dev/urandom, for the view at this port. FALSE: it cannot be read. */
gboolean view_http_secrets_make (ViewHttpSecrets *secrets, guint port, GError **error);
void view_http_secrets_clear (ViewHttpSecrets *secrets);

/* VIEW_HTTP_OK: the request may be answered. VIEW_HTTP_SEE_OTHER: it has shown the token: it gets
 * the cookie and is sent to `/`. For /metrics the token alone will do. Else it is refused with
 * this. */
ViewHttpStatus view_http_admit (const ViewHttpRequest *request, const ViewHttpSecrets *secrets);

/* The status line and all headers with the empty line. `length` < 0: a stream, which ends with the
 * connection. `secrets` (nullable): the cookie is given. (transfer full) */
char *view_http_head (ViewHttpStatus status, const char *type, gssize length,
                      const ViewHttpSecrets *secrets);
