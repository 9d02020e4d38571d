/* SPDX-License-Identifier: BSD-3-Clause */
/* URIs: the kind of store, and the parts of the text that may be shown. The kinds are
 * place-rename.c (sftp, ftp, ftps), place-dav.c (http, https) and place-s3.c; place-curl.c runs the
 * requests. */

#include "storage/places/place.h"

#include "host/whole.h"

#include "storage/places/place-private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE_S 60

G_DEFINE_QUARK (place - error - quark, place_error)

static char *
scheme_of (const char *text)
{
  g_autofree char *scheme = g_uri_parse_scheme (text);

  /* "C:x" or "a:b" is more likely a file name than an unknown scheme. */
  if (scheme == NULL || strlen (scheme) < 2)
    return NULL;
  return g_ascii_strdown (scheme, -1);
}

gboolean
place_is_remote (const char *text)
{
  g_autofree char *scheme = scheme_of (text);

  return scheme != NULL && strcmp (scheme, "file") != 0;
}

/* The URI for messages, without user and password. If the slashes before the host are missing, or a
 * password contains '?', the password would be parsed as another part, so that is hidden, too.
 * (transfer full) */
static char *
shown (const char *text)
{
  g_autoptr (GUri) uri = g_uri_parse (text, G_URI_FLAGS_ENCODED | G_URI_FLAGS_HAS_PASSWORD, NULL);
  const char *host = uri != NULL ? g_uri_get_host (uri) : NULL;
  gboolean has_user = strchr (text, '@') != NULL;

  if (host != NULL && *host != '\0')
    return g_uri_to_string_partial (
        uri, G_URI_HIDE_USERINFO | (has_user ? G_URI_HIDE_QUERY | G_URI_HIDE_FRAGMENT : 0));
  return has_user ? g_strdup_printf ("%.*s…", (int)strcspn (text, ":") + 1, text) : g_strdup (text);
}

char *
place_local_path (const char *text, GError **error)
{
  g_autofree char *scheme = scheme_of (text);
  g_autofree char *host = NULL;
  char *path;

  if (scheme == NULL)
    return g_strdup (text);
  path = g_filename_from_uri (text, &host, NULL);
  if (path != NULL && (host == NULL || *host == '\0' || strcmp (host, "localhost") == 0))
    return path;
  g_free (path);
  g_autofree char *name = shown (text);
  g_set_error (error, PLACE_ERROR, PLACE_ERROR_URI,
               "checkpoint '%s': a file URI is file:///PATH, without host", name);
  return NULL;
}

gboolean
place_fail (const Place *place, PlaceError code, GError **error, const char *format, ...)
{
  va_list arguments;
  g_autofree char *text = NULL;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (error, PLACE_ERROR, (gint)code, "checkpoint '%s': %s", place->name, text);
  return FALSE;
}

static const struct
{
  const char *scheme;
  const PlaceKind *kind;
  gboolean plain;
} place_schemes[] = { { "sftp", &place_kind_rename, FALSE }, { "ftp", &place_kind_rename, TRUE },
                      { "ftps", &place_kind_rename, FALSE }, { "http", &place_kind_dav, TRUE },
                      { "https", &place_kind_dav, FALSE },   { "s3", &place_kind_s3, FALSE } };

/* ftp: the path behind the first slash, relative to the login's folder; sftp: the whole path, where
 * "/~/" is the home folder. */
static char *
command_path (const char *scheme, const char *path)
{
  if (strcmp (scheme, "sftp") == 0)
    return g_strdup (g_str_has_prefix (path, "/~/") ? path + 3 : path);
  return g_strdup (path + 1);
}

static gboolean
take_apart (Place *place, GUri *uri, GError **error)
{
  const char *host = g_uri_get_host (uri), *path = g_uri_get_path (uri);
  g_autofree char *plain = NULL;
  g_autofree char *port
      = g_uri_get_port (uri) > 0 ? g_strdup_printf (":%d", g_uri_get_port (uri)) : g_strdup ("");
  gboolean v6 = host != NULL && strchr (host, ':') != NULL;

  if (host == NULL || *host == '\0' || strlen (path) < 2 || g_str_has_suffix (path, "/"))
    return place_fail (place, PLACE_ERROR_URI, error, "a URI of a file is %s://%s/NAME",
                       place->scheme, strcmp (place->scheme, "s3") == 0 ? "BUCKET" : "HOST");
  if (g_uri_get_query (uri) != NULL || g_uri_get_fragment (uri) != NULL)
    return place_fail (place, PLACE_ERROR_URI, error, "a URI with '?' or '#' does not name a file");
  plain = g_uri_unescape_string (path, "/");
  gboolean is_usable = plain != NULL;
  for (const char *c = plain; is_usable && *c != '\0'; c++)
    is_usable = (guchar)*c >= ' ' && *c != '"' && *c != '\\';
  if (!is_usable)
    return place_fail (
        place, PLACE_ERROR_URI, error,
        "quotes, backslashes, control characters and %%2F cannot be used in its path");
  place->user = g_strdup (g_uri_get_user (uri));
  place->origin
      = g_strdup_printf ("%s://%s%s%s%s%s%s", place->scheme, place->user != NULL ? place->user : "",
                         place->user != NULL ? "@" : "", v6 ? "[" : "", host, v6 ? "]" : "", port);
  place->url = g_strconcat (place->origin, path, NULL);
  place->path
      = place->kind == &place_kind_rename ? command_path (place->scheme, plain) : g_strdup (path);
  return TRUE;
}

Place *
place_new (const char *text, gboolean insecure, GError **error)
{
  g_autoptr (Place) place = g_new0 (Place, 1);
  g_autoptr (GUri) uri = g_uri_parse (text, G_URI_FLAGS_ENCODED | G_URI_FLAGS_HAS_PASSWORD, NULL);
  gboolean plain = FALSE;

  place->scheme = scheme_of (text);
  place->patience_s = PATIENCE_S;
  place->unremoved = g_ptr_array_new_with_free_func (g_free);
  place->name = shown (text);
  place->token = g_strdup_printf ("%d.%08x", (int)getpid (), g_random_int ());
  if (uri == NULL || place->scheme == NULL)
    {
      g_set_error (error, PLACE_ERROR, PLACE_ERROR_URI, "the checkpoint's URI cannot be read");
      return NULL;
    }
  for (guint i = 0; i < G_N_ELEMENTS (place_schemes); i++)
    if (strcmp (place_schemes[i].scheme, place->scheme) == 0)
      {
        place->kind = place_schemes[i].kind;
        plain = place_schemes[i].plain;
      }
  if (place->kind != NULL && place_curl () == NULL)
    place_fail (place, PLACE_ERROR_URI, error,
                "URIs need libcurl (libcurl.so.4), which is not on this machine");
  else if (place->kind == NULL)
    place_fail (place, PLACE_ERROR_URI, error, "the schemes are " PLACE_SCHEMES);
  else if (g_uri_get_password (uri) != NULL)
    place_fail (
        place, PLACE_ERROR_URI, error,
        "a password does not belong into a URI, where others can see it; put it into ~/.netrc");
  else if (plain && !insecure)
    place_fail (place, PLACE_ERROR_URI, error,
                "%s sends passwords and results in clear; use %ss, or say --insecure",
                place->scheme, place->scheme);
  else if (take_apart (place, uri, error)
           && (place->kind != &place_kind_s3 || place_s3_prepare (place, insecure, error)))
    return g_steal_pointer (&place);
  return NULL;
}

Place *
place_open (const char *target, GError **error)
{
  return place_new (target, TRUE, error);
}

char *
place_text (const char *text, GError **error)
{
  g_autofree char *path = NULL;

  if (place_is_remote (text))
    return g_strdup (text);
  path = place_local_path (text, error);
  return path != NULL ? g_canonicalize_filename (path, NULL) : NULL;
}

char *
place_check (const char *text, gboolean insecure, GError **error)
{
  g_autoptr (Place) place = place_is_remote (text) ? place_new (text, insecure, error) : NULL;

  return place != NULL || !place_is_remote (text) ? place_text (text, error) : NULL;
}

void
place_free (Place *place)
{
  if (place->curl != NULL)
    place_curl ()->cleanup (place->curl);
  g_free (place->scheme);
  g_free (place->name);
  g_free (place->url);
  g_free (place->origin);
  g_free (place->path);
  g_free (place->user);
  g_free (place->token);
  g_free (place->run);
  g_free (place->lock_owner);
  g_free (place->region);
  g_free (place->aws_key);
  g_free (place->aws_token);
  place_sweep_end (place);
  g_ptr_array_unref (place->unremoved);
  g_free (place);
}

const char *
place_name (const Place *place)
{
  return place->name;
}

void
place_set_limit (Place *place, gint64 monotonic_us)
{
  place->limit_us = monotonic_us;
}

void
place_set_patience (Place *place, int seconds)
{
  g_atomic_int_set (&place->patience_s, seconds);
}

void
place_ask_again (Place *place)
{
  place->is_silent = FALSE;
}

void
place_stop (Place *place)
{
  g_atomic_int_set (&place->stopped, 1);
}

void
place_state_clear (PlaceState *state)
{
  g_clear_pointer (&state->tag, g_free);
  *state = (PlaceState){ 0 };
}

gboolean
place_state_equal (const PlaceState *a, const PlaceState *b)
{
  return a->exists == b->exists && g_strcmp0 (a->tag, b->tag) == 0;
}

void
place_pair_clear (PlacePair *pair)
{
  place_state_clear (&pair->base);
  place_state_clear (&pair->delta);
}

char *
place_url (const Place *place, const char *suffix)
{
  return g_strconcat (place->url, suffix, NULL);
}

char *
place_tag (const guint8 *bytes, gsize size)
{
  return g_compute_checksum_for_data (G_CHECKSUM_SHA256, bytes, MIN (size, PLACE_TAG_BYTES));
}

#define MARK_HAS_DELTA 0x80000000u
#define PAGE_BYTES_AT 16
#define N_PAGES_AT 28

void
place_read_mark (PlaceState *state, const guint8 *bytes, gsize size)
{
  guint32 number = 0, n_pages = 0;

  if (size >= PLACE_MARK_AT + sizeof number)
    {
      /* In SQLite's header a page size of 64 KiB is written as 1. */
      guint32 page_bytes = (guint32)bytes[PAGE_BYTES_AT] << 8 | bytes[PAGE_BYTES_AT + 1];

      memcpy (&number, bytes + PLACE_MARK_AT, sizeof number);
      memcpy (&n_pages, bytes + N_PAGES_AT, sizeof n_pages);
      state->bytes = (guint64)GUINT32_FROM_BE (n_pages) * (page_bytes == 1 ? 65536 : page_bytes);
    }
  number = GUINT32_FROM_BE (number);
  state->number = number & ~MARK_HAS_DELTA;
  state->has_delta = (number & MARK_HAS_DELTA) != 0;
}

guint32
place_mark (guint64 number, gboolean has_delta)
{
  return GUINT32_TO_BE (((guint32)number & ~MARK_HAS_DELTA) | (has_delta ? MARK_HAS_DELTA : 0));
}

/* -1: an error. */
static gssize
read_first_bytes (const Place *place, const char *path, guint8 header[PLACE_TAG_BYTES],
                  GError **error)
{
  int fd = open (path, O_RDONLY | O_CLOEXEC);
  gssize n = fd >= 0 ? whole_read (fd, header, PLACE_TAG_BYTES) : -1;

  if (n < 0)
    place_fail (place, PLACE_ERROR_LOCAL, error, "cannot read '%s': %s", path, g_strerror (errno));
  if (fd >= 0)
    (void)close (fd);
  return n;
}

gboolean
place_tag_of_file (const Place *place, const char *path, char **tag, GError **error)
{
  guint8 header[PLACE_TAG_BYTES];
  gssize n = read_first_bytes (place, path, header, error);

  if (n >= 0)
    *tag = place_tag (header, (gsize)n);
  return n >= 0;
}

gboolean
place_mark_of_file (const Place *place, const char *path, PlaceState *state, GError **error)
{
  guint8 header[PLACE_TAG_BYTES];
  gssize n = read_first_bytes (place, path, header, error);

  if (n >= 0)
    place_read_mark (state, header, (gsize)n);
  return n >= 0;
}

gboolean
place_is_given_up (const Place *place)
{
  return g_atomic_int_get (&place->stopped)
         || (place->limit_us != 0 && g_get_monotonic_time () > place->limit_us);
}

gboolean
place_look (Place *place, const char *suffix, PlaceState *state, GError **error)
{
  memset (state, 0, sizeof *state);
  return place->kind->look (place, suffix, state, error);
}

gboolean
place_get (Place *place, const char *suffix, const char *to, guint64 size_max, PlaceState *state,
           GError **error)
{
  memset (state, 0, sizeof *state);
  return place->kind->get (place, suffix, to, size_max, state, error);
}

/* Removes temporary files that could not be removed before, since the store answers again. */
static void
remove_what_is_left (Place *place)
{
  for (guint i = place->unremoved->len; i-- > 0;)
    if (place->kind->remove (place, g_ptr_array_index (place->unremoved, i), NULL))
      g_ptr_array_remove_index (place->unremoved, i);
}

gboolean
place_put (Place *place, const char *suffix, const char *from, const PlaceState *expected,
           PlaceState *state, GError **error)
{
  PlaceState made = { 0 };
  gboolean good = place->kind->put (place, suffix, from, expected, &made, error);

  if (good)
    remove_what_is_left (place);
  if (state != NULL && good)
    *state = made;
  else
    place_state_clear (&made);
  return good;
}

/* Under the lock if there is one. */
static gboolean
remove_expected (Place *place, const char *suffix, const PlaceState *expected, GError **error)
{
  PlaceState now;
  gboolean locked = place->kind->lock != NULL && place_lock (place, suffix);
  gboolean good = place_look (place, suffix, &now, error);

  if (good && now.exists && !place_state_equal (&now, expected))
    good = place_fail (place, PLACE_ERROR_CHANGED, error, "somebody else has replaced it");
  else if (good && now.exists)
    good = place->kind->remove (place, suffix, error);
  place_state_clear (&now);
  if (locked)
    place_unlock (place, suffix);
  return good;
}

gboolean
place_remove (Place *place, const char *suffix, const PlaceState *expected, GError **error)
{
  return expected != NULL ? remove_expected (place, suffix, expected, error)
                          : place->kind->remove (place, suffix, error);
}

void
place_traffic (const Place *place, guint64 *sent, guint64 *received)
{
  *sent = place->sent;
  *received = place->received;
}
