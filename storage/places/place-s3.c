/* SPDX-License-Identifier: BSD-3-Clause */
/* s3://BUCKET/KEY: an object is replaced in one step, on the condition of its ETag if the store
 * supports conditions. libcurl signs requests (SigV4), payloads too. Keys, region and endpoint are
 * searched where Amazon's own tools look: the environment, then the profile's section in
 * ~/.aws/credentials and ~/.aws/config. Tests: test-place. */

#include "host/whole.h"

#include "storage/places/place-private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* a larger file needs another kind of request */
#define PUT_BYTES_MAX (G_GUINT64_CONSTANT (5) << 30)

static gboolean
is_good (long status)
{
  return status >= 200 && status < 300;
}

static GKeyFile *
load_profile_file (const char *variable, const char *name)
{
  GKeyFile *file = g_key_file_new ();
  const char *chosen = g_getenv (variable);
  g_autofree char *path = chosen != NULL ? g_strdup (chosen)
                                         : g_build_filename (g_get_home_dir (), ".aws", name, NULL);

  (void)g_key_file_load_from_file (file, path, G_KEY_FILE_NONE, NULL);
  return file;
}

/* The setting in the environment, or else in the first of the two files. (transfer full)
 * (nullable) */
static char *
setting (GKeyFile *credentials, GKeyFile *config, const char *variable, const char *key)
{
  const char *value = g_getenv (variable);
  const char *profile = g_getenv ("AWS_PROFILE");
  g_autofree char *section = NULL;
  char *found;

  if (value != NULL && *value != '\0')
    return g_strdup (value);
  if (profile == NULL || *profile == '\0')
    profile = "default";
  found = g_key_file_get_string (credentials, profile, key, NULL);
  if (found != NULL)
    return found;
  section = strcmp (profile, "default") == 0 ? g_strdup (profile)
                                             : g_strconcat ("profile ", profile, NULL);
  return g_key_file_get_string (config, section, key, NULL);
}

/* With another endpoint than Amazon's the bucket is part of the path, with Amazon's of the host
 * name. */
static void
set_urls (Place *place, const char *endpoint)
{
  const char *bucket = place->origin + strlen ("s3://");
  char *origin;

  if (endpoint != NULL)
    {
      gsize length = strlen (endpoint);

      while (length > 0 && endpoint[length - 1] == '/')
        length--;
      origin = g_strdup_printf ("%.*s/%s", (int)length, endpoint, bucket);
    }
  else
    origin = g_strdup_printf ("https://%s.s3.%s.amazonaws.com", bucket, place->region);
  g_free (place->origin);
  g_free (place->url);
  place->origin = origin;
  place->url = g_strconcat (origin, place->path, NULL);
}

static gboolean
has_scheme (const char *url, const char *scheme)
{
  return g_ascii_strncasecmp (url, scheme, strlen (scheme)) == 0;
}

gboolean
place_s3_prepare (Place *place, gboolean insecure, GError **error)
{
  g_autoptr (GKeyFile) credentials
      = load_profile_file ("AWS_SHARED_CREDENTIALS_FILE", "credentials");
  g_autoptr (GKeyFile) config = load_profile_file ("AWS_CONFIG_FILE", "config");
  g_autofree char *id = setting (credentials, config, "AWS_ACCESS_KEY_ID", "aws_access_key_id");
  g_autofree char *secret
      = setting (credentials, config, "AWS_SECRET_ACCESS_KEY", "aws_secret_access_key");
  g_autofree char *endpoint
      = setting (credentials, config, "AWS_ENDPOINT_URL_S3", "s3_endpoint_url");

  if (id == NULL || secret == NULL)
    return place_fail (
        place, PLACE_ERROR_DENIED, error,
        "no keys: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or ~/.aws/credentials");
  if (endpoint == NULL)
    endpoint = setting (credentials, config, "AWS_ENDPOINT_URL", "endpoint_url");
  /* libcurl takes a URL without scheme as http. */
  if (endpoint != NULL && !has_scheme (endpoint, "https://") && !has_scheme (endpoint, "http://"))
    return place_fail (place, PLACE_ERROR_URI, error,
                       "its endpoint (AWS_ENDPOINT_URL) has to begin with https://");
  if (endpoint != NULL && !has_scheme (endpoint, "https://") && !insecure)
    return place_fail (
        place, PLACE_ERROR_URI, error,
        "its endpoint is http, which sends results in clear; use https, or say --insecure");
  place->aws_key = g_strdup_printf ("%s:%s", id, secret);
  place->aws_token = setting (credentials, config, "AWS_SESSION_TOKEN", "aws_session_token");
  place->region = setting (credentials, config, "AWS_REGION", "region");
  if (place->region == NULL)
    place->region = setting (credentials, config, "AWS_DEFAULT_REGION", "region");
  if (place->region == NULL)
    place->region = g_strdup ("us-east-1");
  set_urls (place, endpoint);
  return TRUE;
}

/* Adds the headers that every request needs: the digest of the payload, and a token of limited
 * time. */
static void
add_headers (const Place *place, PlaceRequest *request, const char *digest)
{
  g_autofree char *payload = g_strconcat ("x-amz-content-sha256: ", digest, NULL);

  place_add (&request->headers, payload);
  if (place->aws_token != NULL)
    {
      g_autofree char *token = g_strconcat ("x-amz-security-token: ", place->aws_token, NULL);

      place_add (&request->headers, token);
    }
}

#define EMPTY_DIGEST "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static gboolean
s3_look (Place *place, const char *suffix, PlaceState *state, GError **error)
{
  PlaceRequest request = { .url = place_url (place, suffix), .range = PLACE_TAG_RANGE };
  gboolean good;

  add_headers (place, &request, EMPTY_DIGEST);
  good = place_run (place, &request, "read", error);
  state->exists = good && is_good (request.status) && request.body->len > 0;
  state->empty = good && !state->exists && (is_good (request.status) || request.status == 416);
  if (good && !is_good (request.status) && request.status != 404 && request.status != 416)
    good = place_refused (place, &request, "read", error);
  if (state->exists)
    {
      state->tag = g_strdup (request.etag != NULL ? request.etag : "");
      place_read_mark (state, request.body->data, request.body->len);
    }
  place_request_clear (&request);
  return good;
}

static gboolean
s3_get (Place *place, const char *suffix, const char *to, guint64 size_max, PlaceState *state,
        GError **error)
{
  PlaceRequest request = { .url = place_url (place, suffix), .to = to, .size_max = size_max };
  gboolean good;

  add_headers (place, &request, EMPTY_DIGEST);
  good = place_run (place, &request, "read", error);
  state->exists = good && is_good (request.status) && request.size > 0;
  if (good && !is_good (request.status) && request.status != 404)
    good = place_refused (place, &request, "read", error);
  if (state->exists)
    state->tag = g_strdup (request.etag != NULL ? request.etag : "");
  else
    (void)unlink (to);
  place_request_clear (&request);
  return good;
}

/* (transfer full) (nullable): NULL with an error. */
static char *
digest_of_file (const Place *place, const char *path, guint64 *size, GError **error)
{
  g_autoptr (GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);
  g_autofree guchar *buffer = g_malloc (1 << 20);
  int fd = open (path, O_RDONLY | O_CLOEXEC);
  gssize n = -1;

  *size = 0;
  while (fd >= 0 && (n = whole_read (fd, buffer, 1 << 20)) > 0)
    {
      g_checksum_update (checksum, buffer, n);
      *size += (guint64)n;
    }
  if (n < 0)
    place_fail (place, PLACE_ERROR_LOCAL, error, "cannot read '%s': %s", path, g_strerror (errno));
  if (fd >= 0)
    (void)close (fd);
  return n < 0 ? NULL : g_strdup (g_checksum_get_string (checksum));
}

static gboolean
s3_put (Place *place, const char *suffix, const char *from, const PlaceState *expected,
        PlaceState *state, GError **error)
{
  PlaceRequest request = { .url = place_url (place, suffix), .from = from };
  PlaceState now = { 0 };
  guint64 size;
  g_autofree char *digest = digest_of_file (place, from, &size, error);
  gboolean good = digest != NULL;

  if (good && size > PUT_BYTES_MAX)
    good = place_fail (place, PLACE_ERROR_DOWN, error,
                       "it is larger than 5 GiB, which s3 does not take");
  /* Looks first, since not every store supports the conditions below. */
  if (good && expected != NULL && (good = s3_look (place, suffix, &now, error))
      && (now.exists != expected->exists || g_strcmp0 (now.tag, expected->tag) != 0))
    good = place_fail (place, PLACE_ERROR_CHANGED, error, "somebody else has replaced it");
  gboolean empty = now.empty;
  place_state_clear (&now);
  if (good)
    {
      add_headers (place, &request, digest);
      if (expected != NULL && !expected->exists && !empty)
        place_add (&request.headers, "If-None-Match: *");
      else if (expected != NULL && expected->exists && expected->tag[0] != '\0')
        {
          g_autofree char *condition = g_strconcat ("If-Match: ", expected->tag, NULL);

          place_add (&request.headers, condition);
        }
      good = place_run (place, &request, "write", error);
    }
  if (good && !is_good (request.status))
    good = place_refused (place, &request, "write", error);
  if (good && request.etag == NULL)
    good = s3_look (place, suffix, state, error);
  else if (good)
    *state = (PlaceState){ .exists = TRUE, .tag = g_strdup (request.etag) };
  place_request_clear (&request);
  return good;
}

static gboolean
s3_remove (Place *place, const char *suffix, GError **error)
{
  PlaceRequest request = { .url = place_url (place, suffix), .method = "DELETE" };
  gboolean good;

  add_headers (place, &request, EMPTY_DIGEST);
  good = place_run (place, &request, "remove", error);
  if (good && !is_good (request.status) && request.status != 404)
    good = place_refused (place, &request, "remove", error);
  place_request_clear (&request);
  return good;
}

static void
s3_prepare (Place *place, PlaceRequest *request)
{
  add_headers (place, request, EMPTY_DIGEST);
}

const PlaceKind place_kind_s3
    = { .look = s3_look, .get = s3_get, .put = s3_put, .remove = s3_remove, .prepare = s3_prepare };
