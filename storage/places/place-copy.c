/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies, on this machine's disk, of files at a place. Beside each copy the file "NAME.tag"
 * identifies the original. It is written last, so a copy with a tag is complete. */
#include "storage/places/place-private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#define BLOCK_BYTES (256 * 1024)

static gboolean
is_copy_of (const char *to, const char *tag_path, const PlaceState *state)
{
  g_autofree char *tag = NULL;

  return state->exists && g_access (to, R_OK) == 0
         && g_file_get_contents (tag_path, &tag, NULL, NULL) && g_str_equal (tag, state->tag);
}

gboolean
place_has_copy (const Place *place, const char *to, PlaceState *state)
{
  g_autofree char *tag_path = g_strconcat (to, ".tag", NULL);

  return g_access (tag_path, F_OK) == 0 && g_access (to, R_OK) == 0
         && place_mark_of_file (place, to, state, NULL);
}

void
place_change_copy (const char *to)
{
  g_autofree char *tag_path = g_strconcat (to, ".tag", NULL);

  (void)g_unlink (tag_path);
}

static void
forget_one (const char *to)
{
  place_change_copy (to);
  (void)g_unlink (to);
}

void
place_forget_copy (const char *to)
{
  g_autofree char *delta = g_strconcat (to, PLACE_DELTA, NULL);

  forget_one (delta);
  forget_one (to);
}

/* The tag comes last: without it there is no copy. */
static void
move_one (const char *from, const char *to)
{
  g_autofree char *from_tag = g_strconcat (from, ".tag", NULL);
  g_autofree char *to_tag = g_strconcat (to, ".tag", NULL);

  if (g_rename (from, to) == 0)
    (void)g_rename (from_tag, to_tag);
}

void
place_move_copy (const char *from, const char *to)
{
  g_autofree char *from_delta = g_strconcat (from, PLACE_DELTA, NULL);
  g_autofree char *to_delta = g_strconcat (to, PLACE_DELTA, NULL);

  move_one (from_delta, to_delta);
  move_one (from, to);
}

/* Downloads the file that was seen as `state`; then `state` describes the downloaded file. */
static gboolean
bring_whole (Place *place, const char *suffix, const char *to, PlaceState *state, GError **error)
{
  g_autofree char *tag_path = g_strconcat (to, ".tag", NULL);
  g_autofree char *part = g_strconcat (to, ".part", NULL);
  gboolean good;

  place_state_clear (state);
  place_set_limit (place, 0); /* a large file takes time */
  good = place_get (place, suffix, part, G_MAXINT64, state, error);
  if (good && state->exists && g_rename (part, to) != 0)
    {
      g_set_error (error, PLACE_ERROR, PLACE_ERROR_LOCAL, "cannot write '%s': %s", to,
                   g_strerror (errno));
      good = FALSE;
    }
  if (good && state->exists)
    good = place_mark_of_file (place, to, state, error)
           && g_file_set_contents (tag_path, state->tag, -1, error);
  if (!good)
    {
      (void)g_unlink (part);
      place_state_clear (state);
    }
  return good;
}

static gboolean
bring (Place *place, const char *suffix, const char *to, PlaceState *state, GError **error)
{
  g_autofree char *tag_path = g_strconcat (to, ".tag", NULL);

  if (is_copy_of (to, tag_path, state))
    return TRUE;
  forget_one (to);
  return !state->exists || bring_whole (place, suffix, to, state, error);
}

/* A writer that publishes a base without the mark never puts a delta beside it, so there is none to
 * look for. `is_settled` FALSE: the downloaded base is a newer one, with the mark. */
static gboolean
refresh_once (Place *place, const char *to, PlacePair *pair, gboolean *is_settled, GError **error)
{
  g_autofree char *to_delta = g_strconcat (to, PLACE_DELTA, NULL);
  gboolean has_delta;

  if (!place_look (place, "", &pair->base, error))
    return FALSE;
  *is_settled = !pair->base.exists;
  if (*is_settled)
    return TRUE;
  has_delta = pair->base.has_delta;
  if ((has_delta && !place_look (place, PLACE_DELTA, &pair->delta, error))
      || !bring (place, PLACE_DELTA, to_delta, &pair->delta, error)
      || !bring (place, "", to, &pair->base, error))
    return FALSE;
  *is_settled = has_delta || !pair->base.has_delta;
  return TRUE;
}

gboolean
place_refresh (Place *place, const char *to, PlacePair *pair, GError **error)
{
  gboolean is_settled = FALSE;

  memset (pair, 0, sizeof *pair);
  while (!is_settled)
    {
      place_pair_clear (pair);
      if (!refresh_once (place, to, pair, &is_settled, error))
        {
          place_pair_clear (pair);
          return FALSE;
        }
    }
  return TRUE;
}

static gboolean
is_same_file (const char *a, const char *b)
{
  g_autofree char *x = g_malloc (BLOCK_BYTES), *y = g_malloc (BLOCK_BYTES);
  FILE *one = fopen (a, "rbe"), *two = fopen (b, "rbe");
  gboolean is_same = one != NULL && two != NULL;
  size_t n = 1;

  while (is_same && n > 0)
    {
      n = fread (x, 1, BLOCK_BYTES, one);
      is_same = fread (y, 1, BLOCK_BYTES, two) == n && memcmp (x, y, n) == 0 && !ferror (one)
                && !ferror (two);
    }
  if (one != NULL)
    (void)fclose (one);
  if (two != NULL)
    (void)fclose (two);
  return is_same;
}

gboolean
place_holds (Place *place, const char *suffix, const char *path, const char *by_way_of,
             gboolean *is_same, GError **error)
{
  PlaceState state;
  gboolean good = place_get (place, suffix, by_way_of, G_MAXINT64, &state, error);

  *is_same = good && state.exists && is_same_file (path, by_way_of);
  place_state_clear (&state);
  (void)g_unlink (by_way_of);
  return good;
}

/* Makes a file of `bytes` bytes that cannot be compressed. Returns a path that opens it; it has no
 * name, so a crash leaves nothing behind. It exists until `fd` (out) is closed. (transfer full)
 * NULL: error. */
static char *
make_unnamed (gsize bytes, int *fd, GError **error)
{
  g_autofree char *path = NULL, *block = g_malloc (bytes);
  *fd = g_file_open_tmp ("satin-XXXXXX", &path, error);
  if (*fd < 0)
    return NULL;
  (void)g_unlink (path);
  for (gsize i = 0; i < bytes; i++)
    block[i] = (char)((i * 2654435761u) >> 11);
  if (write (*fd, block, bytes) == (ssize_t)bytes)
    return g_strdup_printf ("/proc/self/fd/%d", *fd);
  g_set_error (error, PLACE_ERROR, PLACE_ERROR_LOCAL, "cannot write '%s': %s", path,
               g_strerror (errno));
  (void)close (*fd);
  return NULL;
}

gboolean
place_trial (Place *place, gsize bytes, guint64 *us, GError **error)
{
  int fd;
  g_autofree char *suffix = g_strdup_printf (".%08x.try", g_random_int ());
  g_autofree char *path = make_unnamed (bytes, &fd, error);
  if (path == NULL)
    return FALSE;
  gint64 began_us = g_get_monotonic_time ();
  gboolean good = place_put (place, suffix, path, NULL, NULL, error);
  *us = (guint64)(g_get_monotonic_time () - began_us);
  (void)close (fd);
  return good && place_remove (place, suffix, NULL, error);
}
