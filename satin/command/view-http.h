/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests to `satin view`, and which of them it answers. A small part of HTTP/1.1. Pure; trusts no
 * byte; any thread.
 *
 * Access: a browser shows the token once, as `/?token=...`, and gets a cookie. Every other request
 * needs the cookie. The header Host stops names that an attacker's DNS points at 127.0.0.1.
 * Sec-Fetch-Site, Origin and the SameSite=Strict cookie stop requests that pages of other sites
 * make. */
#pragma once

#include <glib.h>

/* The most bytes of a request with its headers. It has no body. */
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
  char *query;                         /* (nullable) the bytes after the ?, not decoded */
  char *host, *cookie, *site,
      *origin; /* (nullable) the headers Host, Cookie, Sec-Fetch-Site, Origin */
} ViewHttpRequest;

void view_http_clear (ViewHttpRequest *request);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (ViewHttpRequest, view_http_clear)

/* The length of the request, with the empty line at its end; 0: that has not come yet. */
gsize view_http_length (const char *bytes, gsize size);
/* Parses one request. VIEW_HTTP_OK: *request is filled; clear it. Else: the status to reply with. A
 * request with a body, with a header twice that is kept, or with a method other than GET is
 * refused. */
ViewHttpStatus view_http_parse (const char *bytes, gsize size, ViewHttpRequest *request);
/* The decoded value of `key` in the query; NULL: there is none, or it is not UTF-8. (transfer full)
 * (nullable) */
char *view_http_value (const ViewHttpRequest *request, const char *key);

/* The secrets of a view; token and session are 64 hexadecimal digits. */
typedef struct
{
  char *token, *session, *cookie_name;
} ViewHttpSecrets;

/* Makes new secrets from /dev/urandom for the view at this port. FALSE: G_IO_ERROR, it cannot be
 * read. */
gboolean view_http_secrets_make (ViewHttpSecrets *secrets, guint port, GError **error);
void view_http_secrets_clear (ViewHttpSecrets *secrets);

/* VIEW_HTTP_OK: answer the request. VIEW_HTTP_SEE_OTHER: it has shown the token; reply with the
 * cookie and a redirection to `/`. For /metrics the token is enough. Else: the status with which to
 * refuse it. */
ViewHttpStatus view_http_admit (const ViewHttpRequest *request, const ViewHttpSecrets *secrets);

/* The status line and all headers, with the empty line. `length` < 0: a stream, which ends with the
 * connection. `secrets` (nullable): sets the cookie, and redirects to `/`. (transfer full) */
char *view_http_head (ViewHttpStatus status, const char *type, gssize length,
                      const ViewHttpSecrets *secrets);
