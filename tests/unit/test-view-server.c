/* SPDX-License-Identifier: BSD-3-Clause */
/* The server of `satin view`: how requests arrive and replies end, how many connections and streams
 * there may be, and what a stream gets that does not keep up. The clients are sockets of this
 * process. */
#include "command/view-server.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LARGE (8 * 1024 * 1024) /* more than the buffers of a connection hold */

/* The server's last patience, and its length. */
static guint patience, patience_s;

/* In place of GLib's, so that a test can end a patience without waiting for it. */
guint
g_timeout_add_seconds (guint seconds, GSourceFunc function, gpointer data)
{
  patience_s = seconds;
  patience = g_timeout_add_full (G_PRIORITY_DEFAULT, seconds * 1000, function, data, NULL);
  return patience;
}

typedef struct
{
  ViewServer *server;
  ViewCall *late; /* a request for /late waits for its reply */
  guint n_calls, n_whole;
  gboolean is_stream; /* the last request for /events became a stream */
  char *cookie;
} Fixture;

static void
get (ViewCall *call, const ViewHttpRequest *request, gpointer data)
{
  Fixture *f = data;
  g_autoptr (GBytes) body = g_bytes_new_static ("body\n", 5);

  f->n_calls++;
  if (strcmp (request->path, "/late") == 0)
    f->late = call;
  else if (strcmp (request->path, "/events") == 0)
    f->is_stream = view_server_stream (call);
  else
    view_server_reply (call, VIEW_HTTP_OK, "text/plain", body);
}

static GBytes *
whole (gpointer data)
{
  g_autofree char *text = g_strdup_printf ("whole %u\n", ++((Fixture *)data)->n_whole);

  return g_bytes_new (text, strlen (text));
}

static int
connect_to (const Fixture *f)
{
  struct sockaddr_in to = { .sin_family = AF_INET,
                            .sin_port = htons ((guint16)view_server_port (f->server)),
                            .sin_addr.s_addr = htonl (INADDR_LOOPBACK) };
  int fd = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

  g_assert_cmpint (connect (fd, (struct sockaddr *)&to, sizeof to), ==, 0);
  return fd;
}

/* Lets the server do what it can do now. */
static void
turn (void)
{
  for (guint quiet = 0; quiet < 3; quiet++)
    {
      while (g_main_context_iteration (NULL, FALSE))
        quiet = 0;
      g_usleep (500);
    }
}

/* (transfer full): what the client gets, up to `end` (nullable: until the server closes). */
static char *
hear (int fd, const char *end)
{
  static char bytes[65536];
  GString *all = g_string_new (NULL);
  const char *found = NULL;
  gssize n = 1;

  while (found == NULL && n != 0)
    {
      gsize before = all->len;

      n = recv (fd, bytes, sizeof bytes, MSG_DONTWAIT | MSG_PEEK);
      if (n < 0 && errno != EAGAIN)
        break;
      if (n < 0 && !g_main_context_iteration (NULL, FALSE))
        g_usleep (500);
      g_string_append_len (all, bytes, MAX (n, 0));
      if (end != NULL)
        found = strstr (all->str + before - MIN (before, strlen (end)), end);
      if (found != NULL)
        g_string_truncate (all, (gsize)(found - all->str) + strlen (end));
      if (n > 0) /* what follows `end` stays for the next call */
        g_assert_cmpint (recv (fd, bytes, all->len - before, 0), ==, (gssize)(all->len - before));
    }
  return g_string_free (all, FALSE);
}

static void
hears (int fd, const char *wanted)
{
  g_autofree char *text = hear (fd, *wanted != '\0' ? wanted : NULL);

  g_assert_cmpstr (text, ==, wanted);
}

static void
say (int fd, const char *text)
{
  g_assert_cmpint (send (fd, text, strlen (text), MSG_NOSIGNAL), ==, (gssize)strlen (text));
}

/* A request with the cookie. */
static int
request (const Fixture *f, const char *path)
{
  g_autofree char *text
      = g_strdup_printf ("GET %s HTTP/1.1\r\nHost: localhost\r\nCookie: %s\r\n\r\n", path,
                         f->cookie != NULL ? f->cookie : "");
  int fd = connect_to (f);

  say (fd, text);
  return fd;
}

/* The connection ends after a reply of this status. */
static void
replied (int fd, const char *status, const char *body)
{
  g_autofree char *text = hear (fd, NULL);
  g_autofree char *first = g_strdup_printf ("HTTP/1.1 %s ", status);

  g_assert_true (g_str_has_prefix (text, first));
  g_assert_true (g_str_has_suffix (text, body));
  close (fd);
}

static void
set_up (Fixture *f, gconstpointer data)
{
  static const ViewServerCalls calls = { get, whole };
  g_autoptr (GError) error = NULL;

  (void)data;
  *f = (Fixture){ .server = view_server_new (&calls, f, &error) };
  g_assert_no_error (error);
  g_autofree char *url = view_server_url (f->server);
  g_autofree char *reply = NULL;
  int fd = request (f, strstr (url, "/?token="));
  reply = hear (fd, NULL);
  close (fd);
  g_assert_true (g_str_has_prefix (reply, "HTTP/1.1 303 "));
  const char *cookie = strstr (reply, "\r\nSet-Cookie: ") + strlen ("\r\nSet-Cookie: ");
  f->cookie = g_strndup (cookie, strcspn (cookie, ";"));
  g_assert_cmpuint (f->n_calls, ==, 0);
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  (void)data;
  view_server_free (f->server);
  g_free (f->cookie);
}

static int
stream (Fixture *f)
{
  int fd = request (f, "/events");
  g_autofree char *head = hear (fd, "\r\n\r\n");

  g_assert_true (g_str_has_prefix (head, "HTTP/1.1 200 "));
  g_assert_true (f->is_stream);
  return fd;
}

static void
publish (const Fixture *f, const char *text)
{
  g_autoptr (GBytes) event = g_bytes_new (text, strlen (text));

  view_server_publish (f->server, event);
}

/* The one timer that counts is the last one. */
static void
lose_patience (void)
{
  g_assert_cmpuint (patience_s, ==, 20);
  g_source_set_ready_time (g_main_context_find_source_by_id (NULL, patience), 0);
  turn ();
}

static gboolean
is_impatient (void)
{
  return g_main_context_find_source_by_id (NULL, patience) != NULL;
}

/* A request may come in pieces. Its reply comes once, then the connection ends. Nobody without the
 * cookie is heard. */
static void
each_request_gets_a_reply (Fixture *f, gconstpointer data)
{
  g_autofree char *head
      = g_strdup_printf ("GET /x HTTP/1.1\r\nHost: localhost\r\nCookie: %s\r", f->cookie);
  g_autofree char *endless = g_strnfill (VIEW_HTTP_REQUEST_MAX, 'x');
  int fd = connect_to (f);

  (void)data;
  for (const char *p = head; *p != '\0'; p += 20)
    {
      g_autofree char *piece = g_strndup (p, 20);
      say (fd, piece);
      turn ();
      p = strlen (p) < 20 ? p + strlen (p) - 20 : p;
    }
  g_assert_cmpuint (f->n_calls, ==, 0);
  say (fd, "\n\r\n");
  replied (fd, "200", "\r\n\r\nbody\n");
  g_assert_cmpuint (f->n_calls, ==, 1);
  fd = connect_to (f);
  say (fd, endless);
  replied (fd, "431", "lets this browser in.\n");
  g_clear_pointer (&f->cookie, g_free);
  replied (request (f, "/x"), "403", "lets this browser in.\n");
  g_assert_cmpuint (f->n_calls, ==, 1);
}

/* A reply may come later, or too late: then nobody gets it. */
static void
a_reply_may_be_late (Fixture *f, gconstpointer data)
{
  g_autoptr (GBytes) body = g_bytes_new_static ("late\n", 5);
  int fd = request (f, "/late");

  (void)data;
  turn ();
  view_server_reply (f->late, VIEW_HTTP_NOT_FOUND, "text/plain", body);
  replied (fd, "404", "\r\n\r\nlate\n");
  for (guint i = 0; i < VIEW_SERVER_CONNECTIONS_MAX + 2; i++) /* none of them counts for ever */
    {
      f->late = NULL;
      fd = request (f, "/late");
      turn ();
      g_assert_nonnull (f->late);
      lose_patience ();
      view_server_reply (f->late, VIEW_HTTP_OK, "text/plain", body);
      hears (fd, "");
      close (fd);
    }
}

/* Clients that send no request, or read no reply, are dropped. A stream may be silent. */
static void
patience_ends (Fixture *f, gconstpointer data)
{
  g_autofree char *large = g_strnfill (LARGE, 'y');
  int fd = connect_to (f), silent = stream (f);

  (void)data;
  hears (silent, "whole 1\n");
  turn ();
  g_assert_false (is_impatient ());
  publish (f, "one\n");
  hears (silent, "one\n");
  turn ();
  g_assert_false (is_impatient ());
  publish (f, large);
  turn ();
  g_assert_true (is_impatient ());
  g_assert_cmpuint (view_server_streams (f->server), ==, 1);
  lose_patience ();
  g_assert_cmpuint (view_server_streams (f->server), ==, 0);
  close (silent);
  say (fd, "GET /x HT");
  turn ();
  int other = connect_to (f);
  turn ();
  lose_patience ();
  hears (other, "");
  close (other);
  close (fd);
}

/* All streams get the events in order. One that has not read the last event gets the whole state in
 * place of all that it missed. */
static void
who_is_behind_gets_the_whole (Fixture *f, gconstpointer data)
{
  g_autofree char *large = g_strnfill (LARGE, 'y');
  int slow = stream (f), fast = stream (f);

  (void)data;
  large[LARGE - 1] = '\n';
  hears (slow, "whole 1\n");
  hears (fast, "whole 2\n");
  g_assert_cmpuint (view_server_streams (f->server), ==, 2);
  turn ();
  publish (f, large);
  g_autofree char *first = hear (fast, "\n");
  g_assert_cmpstr (first, ==, large);
  turn ();
  publish (f, "missed\n");
  hears (fast, "missed\n");
  g_autofree char *second = hear (slow, "\n");
  g_assert_cmpstr (second, ==, large);
  turn ();
  publish (f, "instead\n");
  hears (fast, "instead\n");
  hears (slow, "whole 3\n");
  turn ();
  publish (f, "last\n");
  hears (fast, "last\n");
  hears (slow, "last\n");
  g_assert_cmpuint (f->n_whole, ==, 3);
  close (slow);
  close (fast);
}

/* So many streams; one that ends makes room for another. */
static void
streams_are_counted (Fixture *f, gconstpointer data)
{
  int all[VIEW_SERVER_STREAMS_MAX];

  (void)data;
  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    all[i] = stream (f);
  replied (request (f, "/events"), "503", "\r\n\r\n");
  g_assert_false (f->is_stream);
  g_assert_cmpuint (view_server_streams (f->server), ==, VIEW_SERVER_STREAMS_MAX);
  close (all[0]);
  for (guint i = 0; i < 2; i++) /* the first one after the end finds out */
    {
      turn ();
      publish (f, "event\n");
    }
  turn ();
  g_assert_cmpuint (view_server_streams (f->server), ==, VIEW_SERVER_STREAMS_MAX - 1);
  all[0] = stream (f);
  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    close (all[i]);
}

/* So many connections; more are closed at once. All end with the server. */
static void
connections_are_counted (Fixture *f, gconstpointer data)
{
  int all[VIEW_SERVER_CONNECTIONS_MAX];

  (void)data;
  turn ();
  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    {
      all[i] = i == 1 ? request (f, "/late") : connect_to (f);
      turn (); /* few wait at the listening socket */
    }
  int more = connect_to (f);
  hears (more, "");
  close (more);
  view_server_reply (f->late, VIEW_HTTP_OK, "text/plain", NULL);
  replied (all[1], "200", "\r\n\r\n");
  turn ();
  all[1] = stream (f);
  view_server_free (g_steal_pointer (&f->server));
  hears (all[1], "whole 1\n");
  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    {
      hears (all[i], "");
      close (all[i]);
    }
}

int
main (int argc, char **argv)
{
  static const struct
  {
    const char *name;
    void (*test) (Fixture *, gconstpointer);
  } tests[] = {
    { "/view-server/each-request-gets-a-reply", each_request_gets_a_reply },
    { "/view-server/a-reply-may-be-late", a_reply_may_be_late },
    { "/view-server/patience-ends", patience_ends },
    { "/view-server/who-is-behind-gets-the-whole", who_is_behind_gets_the_whole },
    { "/view-server/streams-are-counted", streams_are_counted },
    { "/view-server/connections-are-counted", connections_are_counted },
  };

  alarm (20);
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add (tests[i].name, Fixture, NULL, set_up, tests[i].test, tear_down);
  return g_test_run ();
}
