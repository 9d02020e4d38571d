/* SPDX-License-Identifier: BSD-3-Clause */
/* One request by libcurl, with the settings for all stores: known schemes only, no redirects, host
 * keys and certificates always checked, limits of time, secrets from .netrc, the ssh agent and key
 * files. One connection is kept between requests. Tests: test-place-request. */

#include "host/crash.h"
#include "host/whole.h"

#include "storage/places/place-private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONNECT_S 15L
#define SLOW_BYTES 1000L /* gives up if it is slower than this per second … */
#define SLOW_S 60L       /* … for so long */
#define BUFFER_BYTES (512L * 1024)
#define BODY_BYTES_MAX (64 * 1024)
#define HOSTS_OF_ALL "/etc/ssh/ssh_known_hosts"

static size_t
on_data (char *data, size_t one, size_t count, void *user)
{
  PlaceRequest *request = user;
  gsize size = one * count;
  guint64 size_max = request->size_max > 0 ? request->size_max : BODY_BYTES_MAX;

  if (request->size < PLACE_TAG_BYTES)
    memcpy (request->head + request->size, data, MIN (size, PLACE_TAG_BYTES - request->size));
  request->size += size;
  if (request->size > size_max)
    {
      request->too_large = request->to != NULL;
      request->enough = request->range != NULL; /* the store sends the whole file, not only the
                                                 * range */
      return request->too_large || request->enough ? 0 : size; /* of an error page only the
                                                                * beginning is kept */
    }
  if (request->to == NULL)
    g_byte_array_append (request->body, (const guint8 *)data, (guint)size);
  else if (!whole_write (request->fd, data, size))
    {
      request->local_errno = errno;
      return 0;
    }
  return size;
}

static size_t
on_header (char *data, size_t one, size_t count, void *user)
{
  PlaceRequest *request = user;
  gsize size = one * count;

  if (size > 5 && g_ascii_strncasecmp (data, "HTTP/", 5) == 0)
    g_clear_pointer (&request->etag, g_free); /* it belongs to an earlier answer */
  if (size > 5 && g_ascii_strncasecmp (data, "ETag:", 5) == 0)
    {
      g_free (request->etag);
      request->etag = g_strstrip (g_strndup (data + 5, size - 5));
    }
  return size;
}

static size_t
on_read (char *to, size_t one, size_t count, void *user)
{
  size_t n = fread (to, one, count, user);

  crash_point ("sending");
  return n;
}

static int
on_seek (void *user, curl_off_t offset, int origin)
{
  return fseeko (user, offset, origin) == 0 ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL;
}

static int
on_progress (void *user, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
  Place *place = user;

  gint64 now = g_get_monotonic_time ();

  (void)a, (void)c;
  if (b + d != place->moved)
    {
      place->moved = b + d;
      place->moved_us = now;
    }
  if (now - place->moved_us > (gint64)g_atomic_int_get (&place->patience_s) * G_USEC_PER_SEC)
    place->is_silent = TRUE;
  return place_is_given_up (place) || place->is_silent;
}

/* The n-th existing key file of the usual names; other keys come from the agent. (transfer full)
 * (nullable) */
static char *
key_file (guint n)
{
  static const char *const names[] = { "id_ed25519", "id_ecdsa", "id_rsa" };
  const char *chosen = g_getenv ("SATIN_SSH_KEY");

  if (chosen != NULL && *chosen != '\0')
    return n == 0 ? g_strdup (chosen) : NULL;
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      char *path = g_build_filename (g_get_home_dir (), ".ssh", names[i], NULL);

      if (g_access (path, R_OK) == 0 && n-- == 0)
        return path;
      g_free (path);
    }
  return NULL;
}

void
place_add (PlaceList *list, const char *text)
{
  struct curl_slist *longer = place_curl ()->list_append (list->first, text);

  list->is_broken = list->is_broken || longer == NULL;
  list->first = longer != NULL ? longer : list->first;
}

/* If a vital option cannot be set, something would not be requested or not be checked. Then nothing
 * may be sent. An unknown option of libcurl belongs to a scheme that libcurl does not know
 * either. */
static void
note_setting (Place *place, gboolean is_vital, CURLcode code)
{
  if (code == CURLE_OUT_OF_MEMORY || (is_vital && code != CURLE_OK))
    place->set_code = code;
}

#define SET(place, option, value) \
  note_setting (place, FALSE, place_curl ()->setopt ((place)->curl, option, value))
#define SET_VITAL(place, option, value) \
  note_setting (place, TRUE, place_curl ()->setopt ((place)->curl, option, value))

static const char *
chosen_hosts (void)
{
  const char *chosen = g_getenv ("SATIN_KNOWN_HOSTS");

  return chosen != NULL && *chosen != '\0' ? chosen : NULL;
}

/* (transfer full) */
static char *
known_hosts (const Place *place)
{
  if (chosen_hosts () != NULL)
    return g_strdup (chosen_hosts ());
  return place->asks_all ? g_strdup (HOSTS_OF_ALL)
                         : g_build_filename (g_get_home_dir (), ".ssh", "known_hosts", NULL);
}

static void
set_ssh (Place *place)
{
  g_autofree char *hosts = known_hosts (place);
  g_autofree char *key = key_file (place->key);
  /* The password is from .netrc; many servers ask for it only as the answer to a question. It is
   * not sent again with another key, since servers lock out users after several wrong logins. */
  long kinds = place->key == 0 ? CURLSSH_AUTH_PASSWORD | CURLSSH_AUTH_KEYBOARD : 0;

  /* Without this option libcurl would accept any host key. If the file does not exist, no host is
   * known. */
  SET_VITAL (place, CURLOPT_SSH_KNOWNHOSTS, hosts);
  if (key != NULL)
    SET (place, CURLOPT_SSH_PRIVATE_KEYFILE, key);
  if (key != NULL)
    kinds |= CURLSSH_AUTH_PUBLICKEY;
  if (g_getenv ("SSH_AUTH_SOCK") != NULL && place->key == 0)
    kinds |= CURLSSH_AUTH_AGENT;
  SET (place, CURLOPT_SSH_AUTH_TYPES, kinds);
}

/* libcurl does not read these variables; curl, OpenSSL and Amazon's tools do. */
static void
set_authorities (Place *place)
{
  static const char *const names[] = { "AWS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE" };
  const char *folder = g_getenv ("SSL_CERT_DIR"), *file = NULL;

  for (guint i = place->aws_key != NULL ? 0 : 1; i < G_N_ELEMENTS (names); i++)
    if (file == NULL || *file == '\0')
      file = g_getenv (names[i]);
  if (file != NULL && *file != '\0')
    SET (place, CURLOPT_CAINFO, file);
  if (folder != NULL && *folder != '\0')
    SET (place, CURLOPT_CAPATH, folder);
}

static void
set_always (Place *place)
{
  gint64 left_us = place->limit_us - g_get_monotonic_time ();

  place_curl ()->reset (place->curl);
  place->set_code = CURLE_OK;
  SET (place, CURLOPT_PROTOCOLS_STR, "sftp,ftp,ftps,http,https");
  SET (place, CURLOPT_REDIR_PROTOCOLS_STR, "https");
  SET (place, CURLOPT_FOLLOWLOCATION, 0L);
  SET (place, CURLOPT_NOSIGNAL, 1L);
  SET (place, CURLOPT_CONNECTTIMEOUT, CONNECT_S);
  SET (place, CURLOPT_LOW_SPEED_LIMIT, SLOW_BYTES);
  SET (place, CURLOPT_LOW_SPEED_TIME, SLOW_S);
  if (place->limit_us != 0)
    SET (place, CURLOPT_TIMEOUT_MS, (long)MAX (left_us / 1000, 1));
  SET (place, CURLOPT_TCP_KEEPALIVE, 1L);
  SET (place, CURLOPT_BUFFERSIZE, BUFFER_BYTES);
  SET (place, CURLOPT_UPLOAD_BUFFERSIZE, BUFFER_BYTES);
  SET (place, CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL);
  SET (place, CURLOPT_HTTPAUTH, (long)CURLAUTH_ANY);
  SET (place, CURLOPT_USERAGENT, "satin");
  SET (place, CURLOPT_FTP_FILEMETHOD, (long)CURLFTPMETHOD_NOCWD);
  SET (place, CURLOPT_FTP_SKIP_PASV_IP, 1L);
  SET (place, CURLOPT_ERRORBUFFER, place->message);
  SET (place, CURLOPT_NOPROGRESS, 0L);
  SET (place, CURLOPT_XFERINFOFUNCTION, on_progress);
  SET (place, CURLOPT_XFERINFODATA, place);
  if (strcmp (place->scheme, "sftp") == 0)
    set_ssh (place);
  set_authorities (place);
  if (place->aws_key != NULL)
    {
      g_autofree char *provider = g_strdup_printf ("aws:amz:%s:s3", place->region);

      SET (place, CURLOPT_AWS_SIGV4, provider);
      SET (place, CURLOPT_USERPWD, place->aws_key);
      SET (place, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    }
}

/* libcurl's ftps is TLS from the first byte. The other kind is ftp with required AUTH TLS. */
static void
set_url (Place *place, const PlaceRequest *request)
{
  g_autofree char *plain = NULL;

  if (place->starts_tls)
    {
      plain = g_strconcat ("ftp", request->url + strlen ("ftps"), NULL);
      SET_VITAL (place, CURLOPT_USE_SSL, (long)CURLUSESSL_ALL);
    }
  SET_VITAL (place, CURLOPT_URL, plain != NULL ? plain : request->url);
}

static void
set_request (Place *place, PlaceRequest *request, FILE *from)
{
  struct stat status;

  set_url (place, request);
  if (request->method != NULL)
    SET (place, CURLOPT_CUSTOMREQUEST, request->method);
  if (request->headers.first != NULL)
    SET (place, CURLOPT_HTTPHEADER, request->headers.first);
  if (request->commands.first != NULL)
    SET (place, CURLOPT_QUOTE, request->commands.first);
  if (request->head_only || request->no_path)
    SET (place, CURLOPT_NOBODY, 1L);
  if (request->range != NULL)
    SET (place, CURLOPT_RANGE, request->range);
  SET (place, CURLOPT_WRITEFUNCTION, on_data);
  SET (place, CURLOPT_WRITEDATA, request);
  SET (place, CURLOPT_HEADERFUNCTION, on_header);
  SET (place, CURLOPT_HEADERDATA, request);
  if (from == NULL || fstat (fileno (from), &status) != 0)
    return;
  SET (place, CURLOPT_UPLOAD, 1L);
  /* The next read would have another TLS session than the commands, which some ftps servers
   * refuse. */
  if (strcmp (place->scheme, "ftps") == 0)
    SET (place, CURLOPT_FORBID_REUSE, 1L);
  SET (place, CURLOPT_READFUNCTION, on_read);
  SET (place, CURLOPT_READDATA, from);
  SET (place, CURLOPT_SEEKFUNCTION, on_seek);
  SET (place, CURLOPT_SEEKDATA, from);
  SET (place, CURLOPT_INFILESIZE_LARGE, (curl_off_t)status.st_size);
}

static PlaceError
meaning (const PlaceRequest *request, long ftp_status)
{
  switch (request->code)
    {
    case CURLE_LOGIN_DENIED:
    case CURLE_REMOTE_ACCESS_DENIED:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_AUTH_ERROR:
      return PLACE_ERROR_DENIED;
    case CURLE_UPLOAD_FAILED: /* ftp: 550 and 553 concern rights, 452 and 552 space */
      return ftp_status == 550 || ftp_status == 553 ? PLACE_ERROR_DENIED : PLACE_ERROR_DOWN;
    case CURLE_ABORTED_BY_CALLBACK:
      return PLACE_ERROR_STOPPED;
    default:
      return PLACE_ERROR_DOWN;
    }
}

/* Advice that libcurl's message lacks. */
static const char *
advice (const Place *place, const PlaceRequest *request)
{
  if (strcmp (place->scheme, "sftp") != 0)
    return "";
  if (request->code == CURLE_LOGIN_DENIED && place->user == NULL)
    return "; say who logs in, as sftp://USER@HOST/PATH";
  if (request->code == CURLE_LOGIN_DENIED)
    return " (a key with a passphrase has to be in the agent)";
  if (request->code == CURLE_SSH && request->to == NULL && request->range != NULL)
    return " (is it a folder?)";
  return "";
}

static gboolean
failed (Place *place, const PlaceRequest *request, const char *verb, GError **error)
{
  long status = 0;
  PlaceError code;
  const char *text
      = place->message[0] != '\0' ? place->message : place_curl ()->message (request->code);

  place_curl ()->getinfo (place->curl, CURLINFO_RESPONSE_CODE, &status);
  if (place->set_code != CURLE_OK)
    return place_fail (place, PLACE_ERROR_LOCAL, error, "libcurl cannot be used: %s",
                       place_curl ()->message (place->set_code));
  if (request->too_large)
    return place_fail (place, PLACE_ERROR_LOCAL, error, "it is larger than can be kept here");
  if (request->local_errno != 0 || request->code == CURLE_READ_ERROR)
    return place_fail (place, PLACE_ERROR_LOCAL, error, "a file of this machine: %s",
                       request->local_errno != 0 ? g_strerror (request->local_errno)
                                                 : "it cannot be read");
  code = meaning (request, status);
  if (code == PLACE_ERROR_DENIED && strcmp (place->scheme, "sftp") == 0
      && request->code == CURLE_PEER_FAILED_VERIFICATION)
    return place_fail (
        place, code, error,
        "the host's key is not (or otherwise) in ~/.ssh/known_hosts; log in once by ssh");
  if (code == PLACE_ERROR_STOPPED)
    return place_fail (place, code, error, "the store did not answer in time");
  return place_fail (place, code, error, "cannot %s it: %s%s", verb, text, advice (place, request));
}

/* Opens the file to send and the file for the answer, if there are any. */
static gboolean
open_files (const Place *place, PlaceRequest *request, FILE **from, GError **error)
{
  request->fd = -1;
  *from = NULL;
  if (request->from != NULL && (*from = fopen (request->from, "rbe")) == NULL)
    return place_fail (place, PLACE_ERROR_LOCAL, error, "cannot read '%s': %s", request->from,
                       g_strerror (errno));
  if (request->to == NULL)
    return TRUE;
  (void)g_unlink (request->to);
  request->fd = open (request->to, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (request->fd < 0)
    return place_fail (place, PLACE_ERROR_LOCAL, error, "cannot write '%s': %s", request->to,
                       g_strerror (errno));
  return TRUE;
}

/* TRUE: the server may use the other kind of TLS, so the request must be repeated. */
static gboolean
turns_tls (Place *place, const PlaceRequest *request)
{
  if (place->knows_tls || strcmp (place->scheme, "ftps") != 0)
    return FALSE;
  if (request->code == CURLE_OK || request->status != 0) /* the server has answered */
    {
      place->knows_tls = TRUE;
      return FALSE;
    }
  if (request->code != CURLE_SSL_CONNECT_ERROR && request->code != CURLE_COULDNT_CONNECT)
    return FALSE;
  place->starts_tls = !place->starts_tls;
  return place->starts_tls;
}

/* The same with the next key, since libcurl tries only one. */
static gboolean
has_other_key (Place *place, const PlaceRequest *request)
{
  g_autofree char *next = NULL;

  if (request->code != CURLE_LOGIN_DENIED || strcmp (place->scheme, "sftp") != 0)
    return FALSE;
  next = key_file (place->key + 1);
  place->key = next != NULL ? place->key + 1 : 0;
  return next != NULL;
}

/* The same with the machine's list of known hosts, as ssh does, since libcurl reads only one
 * file. */
static gboolean
has_other_hosts (Place *place, const PlaceRequest *request)
{
  if (request->code != CURLE_PEER_FAILED_VERIFICATION || strcmp (place->scheme, "sftp") != 0
      || chosen_hosts () != NULL)
    return FALSE;
  place->asks_all = !place->asks_all && g_access (HOSTS_OF_ALL, R_OK) == 0;
  return place->asks_all;
}

static void
perform (Place *place, PlaceRequest *request, FILE *from)
{
  do
    {
      place->message[0] = '\0';
      place->moved = 0;
      place->moved_us = g_get_monotonic_time ();
      set_always (place);
      set_request (place, request, from);
      if (place->set_code == CURLE_OK
          && (request->headers.is_broken || request->commands.is_broken))
        place->set_code = CURLE_OUT_OF_MEMORY;
      crash_point ("request");
      request->code
          = place->set_code != CURLE_OK ? CURLE_FAILED_INIT : place_curl ()->perform (place->curl);
      crash_point ("requested");
      if (request->code == CURLE_OPERATION_TIMEDOUT)
        place->is_silent = TRUE;
      place_curl ()->getinfo (place->curl, CURLINFO_RESPONSE_CODE, &request->status);
    }
  while (turns_tls (place, request) || has_other_key (place, request)
         || has_other_hosts (place, request));
}

/* Only the open connections in it are used again: all settings are renewed before each request. */
static struct
{
  GMutex lock;
  char *origin;
  CURL *curl;
} left_open;

/* Takes over the connection that place_leave_open kept. (nullable) */
static CURL *
take_open (const char *origin)
{
  CURL *curl = NULL;

  g_mutex_lock (&left_open.lock);
  if (g_strcmp0 (left_open.origin, origin) == 0)
    curl = g_steal_pointer (&left_open.curl);
  g_mutex_unlock (&left_open.lock);
  return curl;
}

void
place_leave_open (Place *place)
{
  CURL *old;

  g_mutex_lock (&left_open.lock);
  old = left_open.curl;
  left_open.curl = g_steal_pointer (&place->curl);
  g_free (left_open.origin);
  left_open.origin = g_strdup (place->origin);
  g_mutex_unlock (&left_open.lock);
  if (old != NULL)
    place_curl ()->cleanup (old);
  place_free (place);
}

gboolean
place_run (Place *place, PlaceRequest *request, const char *verb, GError **error)
{
  FILE *from = NULL;

  if (place->curl == NULL && (place->curl = take_open (place->origin)) == NULL
      && (place->curl = place_curl ()->init ()) == NULL)
    return place_fail (place, PLACE_ERROR_LOCAL, error, "libcurl cannot be used");
  if (g_atomic_int_get (&place->stopped))
    return place_fail (place, PLACE_ERROR_STOPPED, error, "the store is given up");
  if (place->is_silent)
    return place_fail (place, PLACE_ERROR_STOPPED, error, "the store did not answer in time");
  if (request->body != NULL)
    g_byte_array_unref (request->body);
  request->body = g_byte_array_new ();
  request->size = 0;
  request->place = place;
  if (!open_files (place, request, &from, error))
    return FALSE;
  perform (place, request, from);
  if (from != NULL)
    {
      curl_off_t sent = 0;

      place_curl ()->getinfo (place->curl, CURLINFO_SIZE_UPLOAD_T, &sent);
      place->sent += (guint64)sent;
      (void)fclose (from);
    }
  place->received += request->size;
  if (request->fd >= 0 && close (request->fd) != 0 && request->code == CURLE_OK)
    {
      request->local_errno = errno;
      request->code = CURLE_WRITE_ERROR;
    }
  return request->code == CURLE_OK || request->enough || failed (place, request, verb, error);
}

void
place_request_clear (PlaceRequest *request)
{
  g_clear_pointer (&request->url, g_free);
  place_curl ()->list_free (request->headers.first);
  place_curl ()->list_free (request->commands.first);
  request->headers = request->commands = (PlaceList){ 0 };
  g_clear_pointer (&request->etag, g_free);
  if (request->body != NULL)
    g_byte_array_unref (request->body);
  request->body = NULL;
}

gboolean
place_refused (const Place *place, const PlaceRequest *request, const char *verb, GError **error)
{
  long status = request->status;

  gboolean is_s3 = place->kind == &place_kind_s3;

  if (status == 401 || status == 403 || (is_s3 && (status == 400 || status == 301)))
    return place_fail (place, PLACE_ERROR_DENIED, error,
                       "cannot %s it: the store refuses (%ld); are the credentials%s right?", verb,
                       status, is_s3 ? " and the region" : "");
  if (status >= 300 && status < 400)
    return place_fail (place, PLACE_ERROR_DENIED, error,
                       "cannot %s it: the server names another place (%ld), which is not followed; "
                       "say that one",
                       verb, status);
  if (status == 412 || status == 409)
    return place_fail (place, PLACE_ERROR_CHANGED, error, "somebody else has replaced it");
  if (status == 405 || status == 501)
    return place_fail (
        place, PLACE_ERROR_DENIED, error,
        "cannot %s it: the server does not know how (%ld); it has to be a WebDAV server", verb,
        status);
  if (status == 404)
    return place_fail (place, PLACE_ERROR_DENIED, error, "cannot %s it: there is no such %s", verb,
                       is_s3 ? "bucket" : "folder");
  if (status == 413)
    return place_fail (place, PLACE_ERROR_DOWN, error,
                       "cannot %s it: the store takes no file as large as that (413)", verb);
  if (status == 507)
    return place_fail (place, PLACE_ERROR_DOWN, error, "cannot %s it: the store is full (%ld)",
                       verb, status);
  return place_fail (place, PLACE_ERROR_DOWN, error, "cannot %s it: the store answers %ld", verb,
                     status);
}
