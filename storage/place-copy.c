/* SPDX-License-Identifier: BSD-3-Clause */
/* A copy on this machine's disk of what stands at a place. Beside it "NAME.tag" says which, and is
 * written last, so that a copy with a tag is whole. */
#include "storage/place.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <unistd.h>

static gboolean
is_copy_of (const char *to, const char *tag_path, const PlaceState *state)
{
  g_autofree char *tag = NULL;

  return state->exists && g_access (to, R_OK) == 0
         && g_file_get_contents (tag_path, &tag, NULL, NULL) && g_str_equal (tag, state->tag);
}

void
place_forget_copy (const char *to)
{
  g_autofree char *tag_path = g_strconcat (to, ".tag", NULL);

  (void)g_unlink (tag_path);
  (void)g_unlink (to);
}

/* The tag last: without it there is no copy. */
void
place_move_copy (const char *from, const char *to)
{
  g_autofree char *from_tag = g_strconcat (from, ".tag", NULL);
  g_autofree char *to_tag = g_strconcat (to, ".tag", NULL);

  if (g_rename (from, to) == 0)
    (void)g_rename (from_tag, to_tag);
}

gboolean
place_refresh (Place *place, const char *to, PlaceState *state, GError **error)
{
  g_autofree char *tag_path = g_strconcat (to, ".tag", NULL);
  g_autofree char *part = g_strconcat (to, ".part", NULL);
  gboolean good;

  if (!place_look (place, "", state, error))
    return FALSE;
  if (is_copy_of (to, tag_path, state))
    return TRUE;
  place_forget_copy (to);
  place_state_clear (state);
  place_set_limit (place, 0); /* a large file takes its time */
  good = place_get (place, "", part, G_MAXINT64, state, error);
  if (good && state->exists && g_rename (part, to) != 0)
    {
      g_set_error (error, PLACE_ERROR, PLACE_ERROR_LOCAL, "cannot write '%s': %s", to,
                   g_strerror (errno));
      good = FALSE;
    }
  if (good && state->exists)
    good = g_file_set_contents (tag_path, state->tag, -1, error);
  if (!good)
    {
      (void)g_unlink (part);
      place_state_clear (state);
    }
  return good;
}

gboolean
place_trial (Place *place, gsize bytes, guint64 *us, GError **error)
{
  g_autofree char *path = NULL, *block = g_malloc (bytes);
  g_autofree char *suffix = g_strdup_printf (".%08x.try", g_random_int ());
  gint64 began_us;
  gboolean good;
  int fd = g_file_open_tmp ("satin-XXXXXX", &path, error);

  if (fd < 0)
    return FALSE;
  (void)close (fd);
  for (gsize i = 0; i < bytes; i++)
    block[i] = (char)((i * 2654435761u) >> 11); /* nothing that a store would make smaller */
  good = g_file_set_contents (path, block, (gssize)bytes, error);
  began_us = g_get_monotonic_time ();
  good = good && place_put (place, suffix, path, NULL, NULL, error);
  *us = (guint64)(g_get_monotonic_time () - began_us);
  (void)g_unlink (path);
  return good && place_remove (place, suffix, error);
}
