/* SPDX-License-Identifier: BSD-3-Clause */
/* See view-http.h. Tests: test-view-http, view.sh. */
#include "view-http.h"

#include <gio/gio.h>
#include <string.h>

#define SECRET_BYTES 32

void
view_http_clear (ViewHttpRequest *request)
{
  g_free (request->path);
  g_free (request->query);
  g_free (request->host);
  g_free (request->cookie);
  g_free (request->site);
  g_free (request->origin);
  *request = (ViewHttpRequest){ 0 };
}

gsize
view_http_length (const char *bytes, gsize size)
{
  const char *end = size == 0 ? NULL : memmem (bytes, size, "\r\n\r\n", 4);

  return end == NULL ? 0 : (gsize)(end - bytes) + 4;
}

/* Where a header's value is kept; NULL: it is not. */
static char **
slot (ViewHttpRequest *request, const char *name)
{
  if (g_ascii_strcasecmp (name, "Host") == 0)
    return &request->host;
  if (g_ascii_strcasecmp (name, "Cookie") == 0)
    return &request->cookie;
  if (g_ascii_strcasecmp (name, "Sec-Fetch-Site") == 0)
    return &request->site;
  if (g_ascii_strcasecmp (name, "Origin") == 0)
    return &request->origin;
  return NULL;
}

static gboolean
has_body (const char *name, const char *value)
{
  return g_ascii_strcasecmp (name, "Transfer-Encoding") == 0
         || (g_ascii_strcasecmp (name, "Content-Length") == 0 && strcmp (value, "0") != 0);
}

static gboolean
read_header (ViewHttpRequest *request, char *line)
{
  char *colon = strchr (line, ':'), **kept;

  if (colon == NULL || colon == line || g_ascii_isspace (line[0]) || g_ascii_isspace (colon[-1]))
    return FALSE;
  *colon = '\0';
  g_strstrip (colon + 1);
  if (has_body (line, colon + 1))
    return FALSE;
  kept = slot (request, line);
  if (kept == NULL)
    return TRUE;
  if (*kept != NULL)
    return FALSE;
  *kept = g_strdup (colon + 1);
  return TRUE;
}

static ViewHttpStatus
read_first_line (ViewHttpRequest *request, const char *line)
{
  g_auto (GStrv) words = g_strsplit (line, " ", -1);
  char *mark;

  if (g_strv_length (words) != 3
      || (strcmp (words[2], "HTTP/1.1") != 0 && strcmp (words[2], "HTTP/1.0") != 0))
    return VIEW_HTTP_BAD_REQUEST;
  if (strcmp (words[0], "GET") != 0)
    return VIEW_HTTP_NOT_ALLOWED;
  mark = strchr (words[1], '?');
  if (mark != NULL)
    {
      *mark = '\0';
      request->query = g_strdup (mark + 1);
    }
  request->path = g_uri_unescape_string (words[1], NULL);
  return request->path != NULL && request->path[0] == '/' ? VIEW_HTTP_OK : VIEW_HTTP_BAD_REQUEST;
}

ViewHttpStatus
view_http_parse (const char *bytes, gsize size, ViewHttpRequest *request)
{
  gsize length = view_http_length (bytes, size);
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  ViewHttpStatus status;

  *request = (ViewHttpRequest){ 0 };
  if (length == 0 || length > VIEW_HTTP_REQUEST_MAX)
    return VIEW_HTTP_TOO_LARGE;
  if (memchr (bytes, '\0', length) != NULL)
    return VIEW_HTTP_BAD_REQUEST;
  text = g_strndup (bytes, length - 4);
  lines = g_strsplit (text, "\r\n", -1);
  status = read_first_line (request, lines[0]);
  for (guint i = 1; status == VIEW_HTTP_OK && lines[i] != NULL; i++)
    if (!read_header (request, lines[i]))
      status = VIEW_HTTP_BAD_REQUEST;
  if (status != VIEW_HTTP_OK)
    view_http_clear (request);
  return status;
}

char *
view_http_value (const ViewHttpRequest *request, const char *key)
{
  g_auto (GStrv) parts = g_strsplit (request->query != NULL ? request->query : "", "&", -1);

  for (char **part = parts; *part != NULL; part++)
    {
      gsize length = strlen (key);

      if (strncmp (*part, key, length) == 0 && (*part)[length] == '=')
        {
          g_autofree char *value = g_uri_unescape_string (*part + length + 1, NULL);

          return value != NULL && g_utf8_validate (value, -1, NULL) ? g_steal_pointer (&value)
                                                                    : NULL;
        }
    }
  return NULL;
}

static char *
secret (GInputStream *chance, GError **error)
{
  guint8 bytes[SECRET_BYTES];
  GString *text;
  gsize n;

  if (!g_input_stream_read_all (chance, bytes, sizeof bytes, &n, NULL, error))
    return NULL;
  if (n < sizeof bytes)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "/dev/urandom has too few bytes");
      return NULL;
    }
  text = g_string_new (NULL);
  for (gsize i = 0; i < sizeof bytes; i++)
    g_string_append_printf (text, "%02x", bytes[i]);
  return g_string_free (text, FALSE);
}

gboolean
view_http_secrets_make (ViewHttpSecrets *secrets, guint port, GError **error)
{
  g_autoptr (GFile) file = g_file_new_for_path ("/dev/urandom");
  g_autoptr (GFileInputStream) chance = g_file_read (file, NULL, error);

  *secrets = (ViewHttpSecrets){ 0 };
  if (chance == NULL)
    return FALSE;
  secrets->token = secret (G_INPUT_STREAM (chance), error);
  if (secrets->token != NULL)
    secrets->session = secret (G_INPUT_STREAM (chance), error);
  secrets->cookie_name = g_strdup_printf ("satin_view_%u", port);
  if (secrets->session != NULL)
    return TRUE;
  view_http_secrets_clear (secrets);
  return FALSE;
}

void
view_http_secrets_clear (ViewHttpSecrets *secrets)
{
  g_clear_pointer (&secrets->token, g_free);
  g_clear_pointer (&secrets->session, g_free);
  g_clear_pointer (&secrets->cookie_name, g_free);
}

/* Takes the same time wherever two texts of equal length differ. */
static gboolean
are_equal (const char *a, const char *b)
{
  gsize length = strlen (b);
  guint difference = 0;

  if (strlen (a) != length)
    return FALSE;
  for (gsize i = 0; i < length; i++)
    difference |= (guint)(guchar)(a[i] ^ b[i]);
  return difference == 0;
}

/* TRUE: a name of this host. Any port is allowed, since `ssh -L` may use another one. */
static gboolean
is_own_host (const char *host)
{
  static const char *const names[] = { "127.0.0.1", "localhost", "[::1]" };

  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    {
      gsize length = strlen (names[i]);

      if (g_ascii_strncasecmp (host, names[i], length) != 0)
        continue;
      if (host[length] == '\0')
        return TRUE;
      if (host[length] == ':' && host[length + 1] != '\0'
          && strspn (host + length + 1, "0123456789") == strlen (host + length + 1))
        return TRUE;
    }
  return FALSE;
}

static gboolean
is_from_elsewhere (const ViewHttpRequest *request, gboolean is_entry)
{
  const char *site = request->site;

  if (request->origin != NULL
      && (!g_str_has_prefix (request->origin, "http://")
          || strcmp (request->origin + strlen ("http://"), request->host) != 0))
    return TRUE;
  return site != NULL && !is_entry && strcmp (site, "same-origin") != 0
         && strcmp (site, "none") != 0;
}

static gboolean
has_cookie (const ViewHttpRequest *request, const ViewHttpSecrets *secrets)
{
  g_auto (GStrv) cookies = g_strsplit (request->cookie != NULL ? request->cookie : "", ";", -1);
  gsize length = strlen (secrets->cookie_name);

  for (char **cookie = cookies; *cookie != NULL; cookie++)
    {
      const char *text = g_strstrip (*cookie);

      if (strncmp (text, secrets->cookie_name, length) == 0 && text[length] == '='
          && are_equal (text + length + 1, secrets->session))
        return TRUE;
    }
  return FALSE;
}

ViewHttpStatus
view_http_admit (const ViewHttpRequest *request, const ViewHttpSecrets *secrets)
{
  g_autofree char *token = view_http_value (request, "token");
  gboolean is_told = token != NULL && are_equal (token, secrets->token);
  gboolean is_entry = is_told && strcmp (request->path, "/") == 0;

  if (request->host == NULL || !is_own_host (request->host)
      || is_from_elsewhere (request, is_entry))
    return VIEW_HTTP_FORBIDDEN;
  if (is_entry)
    return VIEW_HTTP_SEE_OTHER;
  if (is_told && strcmp (request->path, "/metrics") == 0)
    return VIEW_HTTP_OK; /* programs that read figures keep no cookies */
  return has_cookie (request, secrets) ? VIEW_HTTP_OK : VIEW_HTTP_FORBIDDEN;
}

static const char *
reason (ViewHttpStatus status)
{
  switch (status)
    {
    case VIEW_HTTP_OK:
      return "OK";
    case VIEW_HTTP_SEE_OTHER:
      return "See Other";
    case VIEW_HTTP_FORBIDDEN:
      return "Forbidden";
    case VIEW_HTTP_NOT_FOUND:
      return "Not Found";
    case VIEW_HTTP_NOT_ALLOWED:
      return "Method Not Allowed";
    case VIEW_HTTP_TOO_LARGE:
      return "Request Header Fields Too Large";
    case VIEW_HTTP_UNAVAILABLE:
      return "Service Unavailable";
    case VIEW_HTTP_BAD_REQUEST:
      return "Bad Request";
    }
  g_assert_not_reached ();
}

char *
view_http_head (ViewHttpStatus status, const char *type, gssize length,
                const ViewHttpSecrets *secrets)
{
  g_autoptr (GString) head = g_string_new (NULL);

  g_string_append_printf (head, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\n", status, reason (status),
                          type);
  if (length >= 0)
    g_string_append_printf (head, "Content-Length: %" G_GSSIZE_FORMAT "\r\n", length);
  if (status == VIEW_HTTP_NOT_ALLOWED)
    g_string_append (head, "Allow: GET\r\n");
  if (secrets != NULL)
    g_string_append_printf (
        head, "Location: /\r\nSet-Cookie: %s=%s; Path=/; HttpOnly; SameSite=Strict\r\n",
        secrets->cookie_name, secrets->session);
  g_string_append (head, "Connection: close\r\n"
                         "Cache-Control: no-store\r\n"
                         "Content-Security-Policy: default-src 'none'; script-src 'self'; "
                         "style-src 'self'; connect-src 'self'; base-uri 'none'; "
                         "form-action 'none'; frame-ancestors 'none'\r\n"
                         "X-Content-Type-Options: nosniff\r\n"
                         "X-Frame-Options: DENY\r\n"
                         "Referrer-Policy: no-referrer\r\n"
                         "Cross-Origin-Resource-Policy: same-origin\r\n\r\n");
  return g_string_free (g_steal_pointer (&head), FALSE);
}
