/* SPDX-License-Identifier: BSD-3-Clause */
/* Which requests `satin view` accepts, and from which clients. */
#include "satin/command/view-http.h"

#include <gio/gio.h>
#include <string.h>

static ViewHttpSecrets secrets
    = { .token = "aaaa1111", .session = "bbbb2222", .cookie_name = "satin_view_8000" };

static ViewHttpStatus
parse (const char *text, ViewHttpRequest *request)
{
  return view_http_parse (text, strlen (text), request);
}

static void
test_reads (void)
{
  g_auto (ViewHttpRequest) request = { 0 };
  g_autofree char *path = NULL;

  g_assert_cmpint (
      parse ("GET /box%65s?path=%2F0%2F3&w=0.5&x HTTP/1.1\r\n"
             "host:  localhost:8000 \r\nCookie: a=b; satin_view_8000=bbbb2222\r\n"
             "SEC-fetch-site: same-origin\r\nOrigin: http://localhost:8000\r\n\r\nrest",
             &request),
      ==, VIEW_HTTP_OK);
  path = view_http_value (&request, "path");
  g_assert_cmpstr (request.path, ==, "/boxes");
  g_assert_cmpstr (request.host, ==, "localhost:8000");
  g_assert_cmpstr (path, ==, "/0/3");
  g_assert_null (view_http_value (&request, "x"));
  g_assert_null (view_http_value (&request, "pat"));
  g_assert_cmpint (view_http_admit (&request, &secrets), ==, VIEW_HTTP_OK);
}

static void
test_refuses (void)
{
  static const struct
  {
    const char *text;
    ViewHttpStatus status;
  } cases[] = {
    { "POST / HTTP/1.1\r\nHost: localhost\r\n\r\n", VIEW_HTTP_NOT_ALLOWED },
    { "HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n", VIEW_HTTP_NOT_ALLOWED },
    { "OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", VIEW_HTTP_NOT_ALLOWED },
    { "get / HTTP/1.1\r\n\r\n", VIEW_HTTP_NOT_ALLOWED },
    { "GET / HTTP/2\r\n\r\n", VIEW_HTTP_BAD_REQUEST },
    { "GET / HTTP/1.1 x\r\n\r\n", VIEW_HTTP_BAD_REQUEST },
    { "GET /\r\n\r\n", VIEW_HTTP_BAD_REQUEST },
    { "GET http://localhost/ HTTP/1.1\r\n\r\n", VIEW_HTTP_BAD_REQUEST },
    { "GET /%zz HTTP/1.1\r\n\r\n", VIEW_HTTP_BAD_REQUEST },
    { "GET /%00 HTTP/1.1\r\n\r\n", VIEW_HTTP_BAD_REQUEST },
    { "GET / HTTP/1.1\r\nHost localhost\r\n\r\n", VIEW_HTTP_BAD_REQUEST },
    { "GET / HTTP/1.1\r\nHost : localhost\r\n\r\n", VIEW_HTTP_BAD_REQUEST },
    { "GET / HTTP/1.1\r\n Host: localhost\r\n\r\n", VIEW_HTTP_BAD_REQUEST },
    { "GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\n\r\n", VIEW_HTTP_BAD_REQUEST },
    { "GET / HTTP/1.1\r\nContent-Length: 3\r\n\r\n", VIEW_HTTP_BAD_REQUEST },
    { "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", VIEW_HTTP_BAD_REQUEST },
    { "GET / HTTP/1.1\r\n", VIEW_HTTP_TOO_LARGE },
    { "", VIEW_HTTP_TOO_LARGE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (ViewHttpRequest) request = { 0 };

      g_test_message ("%s", cases[i].text);
      g_assert_cmpint (parse (cases[i].text, &request), ==, cases[i].status);
      g_assert_null (request.path);
    }
  ViewHttpRequest request;
  g_assert_cmpint (view_http_parse ("GET /\0 HTTP/1.1\r\n\r\n", 19, &request), ==,
                   VIEW_HTTP_BAD_REQUEST);
}

static void
test_too_large (void)
{
  g_autoptr (GString) text = g_string_new ("GET / HTTP/1.1\r\nX: ");
  ViewHttpRequest request;

  while (text->len < VIEW_HTTP_REQUEST_MAX)
    g_string_append_c (text, 'x');
  g_string_append (text, "\r\n\r\n");
  g_assert_cmpint (parse (text->str, &request), ==, VIEW_HTTP_TOO_LARGE);
}

/* A request may be cut at every place: nothing reads beyond the end. */
static void
test_cut (void)
{
  static const char whole[] = "GET /a?b=c HTTP/1.1\r\nHost: localhost:1\r\nCookie: a=b\r\n\r\n";

  for (gsize n = 0; n < strlen (whole); n++)
    {
      g_autofree char *cut = g_memdup2 (whole, n + (n == 0)); /* without a NUL after it */
      ViewHttpRequest request;

      g_assert_cmpuint (view_http_length (cut, n), ==, 0);
      g_assert_cmpint (view_http_parse (cut, n, &request), ==, VIEW_HTTP_TOO_LARGE);
    }
  g_assert_cmpuint (view_http_length (whole, strlen (whole)), ==, strlen (whole));
}

/* A NUL ends a value; values are UTF-8 or refused. */
static void
test_bytes (void)
{
  static const char hidden[] = "GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n";
  static const struct
  {
    const char *query, *value;
  } cases[] = { { "a=%c3%a9", "\xc3\xa9" },
                { "a=%ff", NULL },
                { "a=x&a=%ff", "x" },
                { "b=x", NULL },
                { "a=", "" },
                { "aa=x&a=y", "y" } };
  ViewHttpRequest request;

  g_assert_cmpint (view_http_parse (hidden, sizeof hidden - 1, &request), ==,
                   VIEW_HTTP_BAD_REQUEST);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      request = (ViewHttpRequest){ .query = (char *)cases[i].query };
      g_autofree char *value = view_http_value (&request, "a");
      g_assert_cmpstr (value, ==, cases[i].value);
    }
}

/* Answers are stored in no cache, and no other page gets them. */
static void
test_answers_are_private (void)
{
  static const char *const lines[]
      = { "\r\nCache-Control: no-store\r\n", "\r\nX-Frame-Options: DENY\r\n",
          "\r\nX-Content-Type-Options: nosniff\r\n",
          "\r\nCross-Origin-Resource-Policy: same-origin\r\n",
          "\r\nReferrer-Policy: no-referrer\r\n" };
  g_autofree char *head = view_http_head (VIEW_HTTP_OK, "text/plain", 3, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    g_assert_nonnull (strstr (head, lines[i]));
}

typedef struct
{
  const char *path, *query, *host, *cookie, *site, *origin;
  ViewHttpStatus status;
} Case;

static void
test_admits (void)
{
  static const char own[] = "127.0.0.1:8000", cookie[] = "x=y; satin_view_8000=bbbb2222";
  static const Case cases[] = {
    { "/", "token=aaaa1111", own, NULL, NULL, NULL, VIEW_HTTP_SEE_OTHER },
    { "/", "token=aaaa1111", own, NULL, "cross-site", NULL, VIEW_HTTP_SEE_OTHER },
    { "/metrics", "token=aaaa1111", own, NULL, NULL, NULL, VIEW_HTTP_OK },
    { "/metrics", "token=aaaa1112", own, NULL, NULL, NULL, VIEW_HTTP_FORBIDDEN },
    { "/metrics", "token=aaaa1111", "example.org", NULL, NULL, NULL, VIEW_HTTP_FORBIDDEN },
    { "/metrics", "token=aaaa1111", own, NULL, "cross-site", NULL, VIEW_HTTP_FORBIDDEN },
    { "/metrics", NULL, own, NULL, NULL, NULL, VIEW_HTTP_FORBIDDEN },
    { "/boxes", "token=aaaa1111", own, NULL, NULL, NULL, VIEW_HTTP_FORBIDDEN },
    { "/", "token=aaaa1112", own, NULL, NULL, NULL, VIEW_HTTP_FORBIDDEN },
    { "/", "token=aaaa111", own, NULL, NULL, NULL, VIEW_HTTP_FORBIDDEN },
    { "/", "token=aaaa11111", own, NULL, NULL, NULL, VIEW_HTTP_FORBIDDEN },
    { "/", "token=", own, NULL, NULL, NULL, VIEW_HTTP_FORBIDDEN },
    { "/", NULL, own, NULL, NULL, NULL, VIEW_HTTP_FORBIDDEN },
    { "/events", "token=aaaa1111", own, NULL, NULL, NULL, VIEW_HTTP_FORBIDDEN },
    { "/", "token=aaaa1111", "evil.example", NULL, NULL, NULL, VIEW_HTTP_FORBIDDEN },
    { "/", NULL, own, cookie, NULL, NULL, VIEW_HTTP_OK },
    { "/events", NULL, "localhost:9", cookie, "same-origin", NULL, VIEW_HTTP_OK },
    { "/events", NULL, "[::1]:9", cookie, "none", NULL, VIEW_HTTP_OK },
    { "/events", NULL, "LOCALHOST", cookie, NULL, NULL, VIEW_HTTP_OK },
    { "/events", NULL, own, cookie, "cross-site", NULL, VIEW_HTTP_FORBIDDEN },
    { "/events", NULL, own, cookie, "same-site", NULL, VIEW_HTTP_FORBIDDEN },
    { "/events", NULL, own, cookie, NULL, "http://127.0.0.1:8000", VIEW_HTTP_OK },
    { "/events", NULL, own, cookie, NULL, "http://127.0.0.1:8001", VIEW_HTTP_FORBIDDEN },
    { "/events", NULL, own, cookie, NULL, "null", VIEW_HTTP_FORBIDDEN },
    { "/", NULL, NULL, cookie, NULL, NULL, VIEW_HTTP_FORBIDDEN },
    { "/", NULL, "evil.example:8000", cookie, NULL, NULL, VIEW_HTTP_FORBIDDEN },
    { "/", NULL, "127.0.0.1.evil.example", cookie, NULL, NULL, VIEW_HTTP_FORBIDDEN },
    { "/", NULL, "localhost:8000@evil", cookie, NULL, NULL, VIEW_HTTP_FORBIDDEN },
    { "/", NULL, "localhost:", cookie, NULL, NULL, VIEW_HTTP_FORBIDDEN },
    { "/", NULL, own, "satin_view_8001=bbbb2222", NULL, NULL, VIEW_HTTP_FORBIDDEN },
    { "/", NULL, own, "satin_view_8000=aaaa1111", NULL, NULL, VIEW_HTTP_FORBIDDEN },
    { "/", NULL, own, "satin_view_8000=", NULL, NULL, VIEW_HTTP_FORBIDDEN },
    { "/", NULL, own, "satin_view_8000", NULL, NULL, VIEW_HTTP_FORBIDDEN },
    { "/", NULL, own, "xsatin_view_8000=bbbb2222", NULL, NULL, VIEW_HTTP_FORBIDDEN },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const Case *one = &cases[i];
      ViewHttpRequest request = { (char *)one->path,   (char *)one->query, (char *)one->host,
                                  (char *)one->cookie, (char *)one->site,  (char *)one->origin };

      g_test_message ("case %" G_GSIZE_FORMAT, i);
      g_assert_cmpint (view_http_admit (&request, &secrets), ==, one->status);
    }
}

static void
test_heads (void)
{
  g_autofree char *page = view_http_head (VIEW_HTTP_OK, "text/html", 5, NULL);
  g_autofree char *entry = view_http_head (VIEW_HTTP_SEE_OTHER, "text/plain", 0, &secrets);
  g_autofree char *stream = view_http_head (VIEW_HTTP_OK, "text/event-stream", -1, NULL);

  g_assert_true (g_str_has_prefix (page, "HTTP/1.1 200 OK\r\n"));
  g_assert_true (g_str_has_suffix (page, "\r\n\r\n"));
  g_assert_nonnull (strstr (page, "\r\nContent-Length: 5\r\n"));
  g_assert_nonnull (strstr (page, "\r\nX-Content-Type-Options: nosniff\r\n"));
  g_assert_nonnull (strstr (page, "Content-Security-Policy: default-src 'none';"));
  g_assert_null (strstr (page, "unsafe"));
  g_assert_null (strstr (page, "Set-Cookie"));
  g_assert_nonnull (strstr (entry, "\r\nLocation: /\r\n"));
  g_assert_nonnull (strstr (entry, "Set-Cookie: satin_view_8000=bbbb2222; Path=/; HttpOnly; "
                                   "SameSite=Strict\r\n"));
  g_assert_null (strstr (entry, secrets.token));
  g_assert_null (strstr (stream, "Content-Length"));
}

static void
test_secrets (void)
{
  ViewHttpSecrets a, b;
  g_autoptr (GError) error = NULL;

  g_assert_true (view_http_secrets_make (&a, 80, &error));
  g_assert_true (view_http_secrets_make (&b, 80, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (strlen (a.token), ==, 64);
  g_assert_cmpuint (strlen (a.session), ==, 64);
  g_assert_cmpstr (a.token, !=, a.session);
  g_assert_cmpstr (a.token, !=, b.token);
  g_assert_cmpstr (a.session, !=, b.session);
  view_http_secrets_clear (&a);
  view_http_secrets_clear (&b);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/view-http/reads", test_reads);
  g_test_add_func ("/view-http/refuses", test_refuses);
  g_test_add_func ("/view-http/too-large", test_too_large);
  g_test_add_func ("/view-http/cut", test_cut);
  g_test_add_func ("/view-http/admits", test_admits);
  g_test_add_func ("/view-http/heads", test_heads);
  g_test_add_func ("/view-http/secrets", test_secrets);
  g_test_add_func ("/view-http/bytes", test_bytes);
  g_test_add_func ("/view-http/answers-are-private", test_answers_are_private);
  return g_test_run ();
}
