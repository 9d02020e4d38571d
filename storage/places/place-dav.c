/* SPDX-License-Identifier: BSD-3-Clause */
/* http and https with WebDAV: PUT under another name, then MOVE onto the checkpoint, on the
 * condition that its ETag is the expected one. Tests: test-place. */
#include "storage/places/place-private.h"

#include <string.h>
#include <unistd.h>

#define GONE_TRIES 5
#define GONE_PAUSE_US (100 * 1000)

static gboolean
is_good (long status)
{
  return status >= 200 && status < 300;
}

/* Servers that replace a file by removing it first (such as mod_dav) answer for a moment that there
 * is none, or that it may not be read. So these answers are believed only if they persist. */
static gboolean
run_reading (Place *place, PlaceRequest *request, GError **error)
{
  for (guint i = 0;; i++)
    {
      gboolean good = place_run (place, request, "read", error);

      if (!good || i == GONE_TRIES || (request->status != 404 && request->status != 403))
        return good;
      g_usleep (GONE_PAUSE_US);
    }
}

/* Reads the first bytes, with the number that the writer drew, and the ETag. */
static gboolean
look (Place *place, const char *suffix, PlaceState *state, char **etag, GError **error)
{
  PlaceRequest request = { .url = place_url (place, suffix), .range = PLACE_TAG_RANGE };
  gboolean good = run_reading (place, &request, error);

  state->exists = good && is_good (request.status) && request.body->len > 0;
  state->empty = good && !state->exists && (is_good (request.status) || request.status == 416);
  if (good && !is_good (request.status) && request.status != 404 && request.status != 416)
    good = place_refused (place, &request, "read", error);
  if (state->exists)
    {
      state->tag = place_tag (request.body->data, request.body->len);
      place_read_mark (state, request.body->data, request.body->len);
    }
  if (etag != NULL)
    *etag = g_steal_pointer (&request.etag);
  place_request_clear (&request);
  return good;
}

static gboolean
dav_look (Place *place, const char *suffix, PlaceState *state, GError **error)
{
  return look (place, suffix, state, NULL, error);
}

static gboolean
dav_get (Place *place, const char *suffix, const char *to, guint64 size_max, PlaceState *state,
         GError **error)
{
  PlaceRequest request = { .url = place_url (place, suffix), .to = to, .size_max = size_max };
  gboolean good = run_reading (place, &request, error);

  state->exists = good && is_good (request.status) && request.size > 0;
  if (good && !is_good (request.status) && request.status != 404)
    good = place_refused (place, &request, "read", error);
  if (!state->exists)
    (void)unlink (to);
  if (good && state->exists)
    state->tag = place_tag (request.head, (gsize)MIN (request.size, PLACE_TAG_BYTES));
  place_request_clear (&request);
  return good;
}

static gboolean
dav_delete (Place *place, const char *suffix, GError **error)
{
  PlaceRequest request = { .url = place_url (place, suffix), .method = "DELETE" };
  gboolean good = place_run (place, &request, "remove", error);

  if (good && !is_good (request.status) && request.status != 404)
    good = place_refused (place, &request, "remove", error);
  place_request_clear (&request);
  return good;
}

static gboolean
make_folder (Place *place, const char *suffix)
{
  PlaceRequest request = { .url = place_url (place, suffix), .method = "MKCOL" };
  gboolean good = place_run (place, &request, "lock", NULL) && is_good (request.status);

  place_request_clear (&request);
  return good;
}

/* Deleting a folder deletes everything in it. So the owner's folder, which only one client can
 * delete, is deleted first. */
static gboolean
dav_unlock (Place *place, const char *suffix, const char *owner)
{
  g_autofree char *folder = g_strconcat (suffix, "/", NULL);
  g_autofree char *inside = g_strconcat (folder, owner, "/", NULL);
  PlaceRequest request = { .url = place_url (place, inside), .method = "DELETE" };
  gboolean good
      = owner == NULL || (place_run (place, &request, "unlock", NULL) && is_good (request.status));

  place_request_clear (&request);
  return good && dav_delete (place, folder, NULL);
}

static gboolean
dav_lock (Place *place, const char *suffix, const char *owner)
{
  g_autofree char *inside = g_strconcat (suffix, "/", owner, NULL);

  if (!make_folder (place, suffix))
    return FALSE;
  if (make_folder (place, inside))
    return TRUE;
  (void)dav_unlock (place, suffix, NULL);
  return FALSE;
}

static gboolean
move (Place *place, const char *made, const char *suffix, gboolean may_replace, const char *etag,
      GError **error)
{
  PlaceRequest request = { .url = place_url (place, made), .method = "MOVE" };
  g_autofree char *target = place_url (place, suffix);
  g_autofree char *destination = g_strconcat ("Destination: ", target, NULL);
  gboolean good;

  place_add (&request.headers, destination);
  place_add (&request.headers, may_replace ? "Overwrite: T" : "Overwrite: F");
  if (etag != NULL)
    {
      g_autofree char *condition = g_strdup_printf ("If: <%s> ([%s])", target, etag);

      place_add (&request.headers, condition);
    }
  good = place_run (place, &request, "replace", error);
  if (good && request.status == 404)
    good = place_fail (place, PLACE_ERROR_CHANGED, error, "somebody else is replacing it");
  if (good && !is_good (request.status))
    good = place_refused (place, &request, "replace", error);
  place_request_clear (&request);
  return good;
}

/* Compares and moves, under the lock if there is one. The server compares again, except for weak
 * ETags, which files have for a second or two and which no condition accepts. */
static gboolean
replace (Place *place, const char *made, const char *suffix, const PlaceState *expected,
         GError **error)
{
  PlaceState now = { 0 };
  g_autofree char *etag = NULL;
  gboolean locked = place_lock (place, suffix);
  gboolean good = expected == NULL || look (place, suffix, &now, &etag, error);

  if (good && expected != NULL
      && (now.exists != expected->exists || g_strcmp0 (now.tag, expected->tag) != 0))
    good = place_fail (place, PLACE_ERROR_CHANGED, error, "somebody else has replaced it");
  gboolean empty = now.empty;
  place_state_clear (&now);
  if (etag != NULL && (expected == NULL || etag[0] != '"'))
    g_clear_pointer (&etag, g_free);
  good = good
         && move (place, made, suffix, expected == NULL || expected->exists || empty, etag, error);
  if (locked)
    place_unlock (place, suffix);
  return good;
}

static gboolean
dav_put (Place *place, const char *suffix, const char *from, const PlaceState *expected,
         PlaceState *state, GError **error)
{
  g_autofree char *made = g_strdup_printf ("%s.%s.%u.tmp", suffix, place->token, place->made++);
  PlaceRequest request = { .url = place_url (place, made), .from = from };
  gboolean good = place_run (place, &request, "write", error);

  if (good && request.status == 409) /* no other writer uses this name */
    request.status = 404;
  if (good && !is_good (request.status))
    good = place_refused (place, &request, "write", error);
  place_request_clear (&request);
  good = good && replace (place, made, suffix, expected, error);
  if (!good && !dav_delete (place, made, NULL))
    g_ptr_array_add (place->unremoved, g_steal_pointer (&made));
  state->exists = good;
  return good && place_tag_of_file (place, from, &state->tag, error);
}

static gboolean
dav_list (Place *place, PlaceRequest *request, GError **error)
{
  request->method = "PROPFIND";
  place_add (&request->headers, "Depth: 1");
  return place_run (place, request, "list", error)
         && (is_good (request->status) || place_refused (place, request, "list", error));
}

/* In a listing the name is in an element "href". The element itself ends at the first of these
 * marks; the next element begins at the second. */
const PlaceKind place_kind_dav = { .look = dav_look,
                                   .get = dav_get,
                                   .put = dav_put,
                                   .remove = dav_delete,
                                   .lock = dav_lock,
                                   .unlock = dav_unlock,
                                   .list = dav_list,
                                   .entry_end = "href>",
                                   .entry_ends = 2 };
