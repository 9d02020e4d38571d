/* SPDX-License-Identifier: BSD-3-Clause */
/* sftp, ftp and ftps: a file is sent under another name and then renamed. Some servers (OpenSSH
 * among them) do not rename onto an existing file. Then the old file is first renamed to "NAME~",
 * so for a moment the checkpoint is only there, and readers look there, too. A lock (place-lock.c)
 * keeps other writers from comparing and renaming meanwhile. Tests: test-place. */

#include "host/whole.h"

#include "storage/places/place-private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TAIL_BYTES 64

static gboolean
is_sftp (const Place *place)
{
  return place->scheme[0] == 's';
}

static gboolean
is_missing (const PlaceRequest *request)
{
  return request->code == CURLE_REMOTE_FILE_NOT_FOUND
         || (request->code == CURLE_FTP_COULDNT_RETR_FILE && request->status == 550);
}

/* Reads the first bytes of the file at `suffix`. */
static gboolean
read_header (Place *place, const char *suffix, PlaceState *state, GError **error)
{
  PlaceRequest request = { .url = place_url (place, suffix), .range = PLACE_TAG_RANGE };
  g_autoptr (GError) reason = NULL;
  gboolean good = place_run (place, &request, "read", &reason);

  state->exists = good && request.body->len > 0;
  state->empty = (good && !state->exists) || request.code == CURLE_BAD_DOWNLOAD_RESUME;
  if (state->exists)
    {
      state->tag = place_tag (request.body->data, request.body->len);
      place_read_mark (state, request.body->data, request.body->len);
    }
  else if (state->empty || is_missing (&request))
    good = TRUE;
  else
    g_propagate_error (error, g_steal_pointer (&reason));
  place_request_clear (&request);
  return good;
}

static gboolean
rename_look (Place *place, const char *suffix, PlaceState *state, GError **error)
{
  g_autofree char *between = g_strconcat (suffix, "~", NULL);

  if (!read_header (place, suffix, state, error))
    return FALSE;
  if (state->exists)
    return TRUE;
  place_state_clear (state);
  return read_header (place, between, state, error);
}

static gboolean
get_one (Place *place, const char *suffix, const char *to, guint64 size_max, PlaceState *state,
         GError **error)
{
  PlaceRequest request = { .url = place_url (place, suffix), .to = to, .size_max = size_max };
  g_autoptr (GError) reason = NULL;
  gboolean good = place_run (place, &request, "read", &reason);

  state->exists = good && request.size > 0;
  if (state->exists)
    state->tag = place_tag (request.head, (gsize)MIN (request.size, PLACE_TAG_BYTES));
  if (!good && is_missing (&request))
    good = TRUE;
  else if (!good)
    g_propagate_error (error, g_steal_pointer (&reason));
  if (!state->exists)
    (void)unlink (to);
  place_request_clear (&request);
  return good;
}

static gboolean
rename_get (Place *place, const char *suffix, const char *to, guint64 size_max, PlaceState *state,
            GError **error)
{
  g_autofree char *between = g_strconcat (suffix, "~", NULL);

  return get_one (place, suffix, to, size_max, state, error)
         && (state->exists || get_one (place, between, to, size_max, state, error));
}

/* Adds a command (verb, path); a '*' before the verb: it may fail. */
static void
add_command (const Place *place, PlaceRequest *request, const char *sftp, const char *ftp,
             const char *path, const char *suffix)
{
  g_autofree char *text = is_sftp (place) ? g_strdup_printf ("%s \"%s%s\"", sftp, path, suffix)
                                          : g_strdup_printf ("%s %s%s", ftp, path, suffix);

  place_add (&request->commands, text);
}

static void
add_rename (const Place *place, PlaceRequest *request, const char *may, const char *from,
            const char *to)
{
  if (is_sftp (place))
    {
      g_autofree char *text
          = g_strdup_printf ("%srename \"%s%s\" \"%s%s\"", may, place->path, from, place->path, to);

      place_add (&request->commands, text);
      return;
    }
  g_autofree char *first = g_strdup_printf ("%sRNFR %s%s", may, place->path, from);
  g_autofree char *second = g_strdup_printf ("%sRNTO %s%s", may, place->path, to);

  place_add (&request->commands, first);
  place_add (&request->commands, second);
}

/* Runs commands without a transfer; the URL only says where to connect. */
static gboolean
run_commands (Place *place, PlaceRequest *request, GError **error)
{
  gboolean good;

  request->url = g_strconcat (place->origin, "/", NULL);
  request->no_path = TRUE;
  good = place_run (place, request, "replace", error);
  place_request_clear (request);
  return good;
}

static gboolean
remove_now (Place *place, const char *suffix, GError **error)
{
  PlaceRequest request = { 0 };

  add_command (place, &request, "*rm", "*DELE", place->path, suffix);
  return run_commands (place, &request, error);
}

static void
remove_made (Place *place, const char *made)
{
  if (!remove_now (place, made, NULL))
    g_ptr_array_add (place->unremoved, g_strdup (made));
}

static gboolean
rename_remove (Place *place, const char *suffix, GError **error)
{
  g_autofree char *between = g_strconcat (suffix, "~", NULL);
  PlaceState now = { 0 };
  gboolean exists;

  if (!remove_now (place, between, error) || !remove_now (place, suffix, error)
      || !read_header (place, suffix, &now, error))
    return FALSE;
  exists = now.exists;
  place_state_clear (&now);
  return !exists || place_fail (place, PLACE_ERROR_DENIED, error, "cannot remove it");
}

static gboolean
rename_lock (Place *place, const char *suffix, const char *owner)
{
  g_autofree char *inside = g_strconcat (suffix, "/", owner, NULL);
  PlaceRequest request = { 0 };

  add_command (place, &request, "mkdir", "MKD", place->path, suffix);
  add_command (place, &request, "mkdir", "MKD", place->path, inside);
  return run_commands (place, &request, NULL);
}

/* A folder that contains another owner's folder cannot be removed. */
static gboolean
rename_unlock (Place *place, const char *suffix, const char *owner)
{
  g_autofree char *inside = g_strconcat (suffix, "/", owner, NULL);
  PlaceRequest request = { 0 };

  if (owner != NULL)
    add_command (place, &request, "*rmdir", "*RMD", place->path, inside);
  add_command (place, &request, "rmdir", "RMD", place->path, suffix);
  return run_commands (place, &request, NULL);
}

/* Renames the sent file `made`, whose tag is `tag`, to `suffix`. `expected` (nullable): the file
 * that must be there. It was there a moment ago, but a writer that was stopped meanwhile may have
 * lost the lock. */
static gboolean
rename_over (Place *place, const char *made, const char *suffix, const char *tag,
             const PlaceState *expected, GError **error)
{
  g_autofree char *between = g_strconcat (suffix, "~", NULL);
  PlaceRequest request = { 0 };
  PlaceState now = { 0 };

  add_rename (place, &request, "", made, suffix);
  if (run_commands (place, &request, NULL))
    return TRUE;
  /* The file at "NAME~" may be the only one, if a writer died between its renames. */
  if (!read_header (place, suffix, &now, error))
    return FALSE;
  gboolean exists = now.exists, empty = now.empty, is_done = g_strcmp0 (now.tag, tag) == 0;
  gboolean is_other = exists && expected != NULL && !place_state_equal (&now, expected);
  place_state_clear (&now);
  if (is_done) /* only an answer was lost, of this rename or of an earlier try */
    {
      remove_made (place, made);
      return TRUE;
    }
  if (is_other)
    return place_fail (place, PLACE_ERROR_CHANGED, error, "somebody else has replaced it");
  if (exists)
    {
      add_command (place, &request, "*rm", "*DELE", place->path, between);
      add_rename (place, &request, "", suffix, between);
    }
  else if (empty)
    add_command (place, &request, "*rm", "*DELE", place->path, suffix);
  add_rename (place, &request, "", made, suffix);
  add_command (place, &request, "*rm", "*DELE", place->path, between);
  return run_commands (place, &request, error);
}

/* `expected` (nullable): the file that must be there; `made` (nullable): or the file with this tag,
 * which *is_made tells. */
static gboolean
is_expected (Place *place, const char *suffix, const PlaceState *expected, const char *made,
             gboolean *is_made, GError **error)
{
  PlaceState now = { 0 };
  gboolean is_any = expected == NULL && made == NULL;
  gboolean good = is_any || rename_look (place, suffix, &now, error);

  *is_made = good && made != NULL && g_strcmp0 (now.tag, made) == 0;
  if (good && expected != NULL && !*is_made
      && (now.exists != expected->exists || g_strcmp0 (now.tag, expected->tag) != 0))
    good = place_fail (place, PLACE_ERROR_CHANGED, error, "somebody else has replaced it");
  place_state_clear (&now);
  return good;
}

/* Compares and renames, under the lock if there is one. If there is none, or another writer ignores
 * it, a rename fails when another writer comes between. A second comparison shows that, or that
 * only the answer was lost. */
static gboolean
replace (Place *place, const char *made, const char *suffix, const PlaceState *expected,
         const char *tag, GError **error)
{
  GError *reason = NULL;
  gboolean locked = place_lock (place, suffix), is_made;
  gboolean good = is_expected (place, suffix, expected, NULL, &is_made, error);

  if (good && !rename_over (place, made, suffix, tag, expected, &reason))
    {
      good = is_expected (place, suffix, expected, tag, &is_made, error) && is_made;
      if (!good && (error == NULL || *error == NULL))
        g_propagate_error (error, g_steal_pointer (&reason));
      g_clear_error (&reason);
    }
  if (locked)
    place_unlock (place, suffix);
  return good;
}

/* TRUE: the last bytes of the sent file have arrived. */
static gboolean
arrived (Place *place, const char *made, const char *from, GError **error)
{
  struct stat status;
  guint8 tail[TAIL_BYTES];
  gsize n;
  gboolean good = FALSE;
  PlaceRequest request = { .url = place_url (place, made) };
  int fd = open (from, O_RDONLY | O_CLOEXEC);

  if (fd >= 0 && fstat (fd, &status) == 0)
    {
      g_autofree char *range = NULL;

      n = (gsize)MIN (status.st_size, TAIL_BYTES);
      /* Up to the end: ftp loses its connection after a part in the middle. */
      range = g_strdup_printf ("%" G_GINT64_FORMAT "-", (gint64)status.st_size - (gint64)n);
      request.range = range;
      good = whole_read_at (fd, tail, n, (guint64)status.st_size - n) == (gssize)n
             && place_run (place, &request, "read back", error);
      if (good && (request.body->len != n || memcmp (request.body->data, tail, n) != 0))
        good = place_fail (place, PLACE_ERROR_DOWN, error, "what was sent did not arrive whole");
    }
  else
    place_fail (place, PLACE_ERROR_LOCAL, error, "cannot read '%s': %s", from, g_strerror (errno));
  if (fd >= 0)
    (void)close (fd);
  place_request_clear (&request);
  return good;
}

static gboolean
rename_put (Place *place, const char *suffix, const char *from, const PlaceState *expected,
            PlaceState *state, GError **error)
{
  g_autofree char *made = g_strdup_printf ("%s.%s.%u.tmp", suffix, place->token, place->made++);
  PlaceRequest request = { .url = place_url (place, made), .from = from };
  gboolean good = place_tag_of_file (place, from, &state->tag, error)
                  && place_run (place, &request, "write", error)
                  && arrived (place, made, from, error)
                  && replace (place, made, suffix, expected, state->tag, error);

  place_request_clear (&request);
  if (!good)
    remove_made (place, made);
  state->exists = good;
  return good;
}

static gboolean
rename_list (Place *place, PlaceRequest *request, GError **error)
{
  return place_run (place, request, "list", error);
}

const PlaceKind place_kind_rename = { .look = rename_look,
                                      .get = rename_get,
                                      .put = rename_put,
                                      .remove = rename_remove,
                                      .lock = rename_lock,
                                      .unlock = rename_unlock,
                                      .list = rename_list,
                                      .entry_end = "\n",
                                      .entry_ends = 1 };
