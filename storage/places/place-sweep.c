/* SPDX-License-Identifier: BSD-3-Clause */
/* Removes files that writers left at a store when they died while sending: "NAME.TOKEN.N.tmp"
 * (place-rename.c, place-dav.c), the same of deltas and trials, and trials themselves. Their
 * writers are not known. So only files are removed that have not changed for so long that no writer
 * can be sending them. The listing's entry with size and time is compared, not interpreted. Does
 * not read the files. Tests: test-place-sweep. */
#include "storage/places/place-private.h"

#include <string.h>

#define LISTING_BYTES_MAX (16u * 1024 * 1024)

typedef struct
{
  char *says; /* the entry in the listing */
  gint64 since_us;
  gboolean is_there;
} Leftover;

static void
leftover_free (gpointer data)
{
  Leftover *leftover = data;

  g_free (leftover->says);
  g_free (leftover);
}

void
place_sweep_end (Place *place)
{
  g_clear_pointer (&place->leftovers, g_hash_table_unref);
}

/* The length of "[-delta][.HEX.try][.PID.HEX.N.tmp]" at the beginning of `text`, with at least one
 * of the last two parts; 0: it is something else. `is_own`: it contains this place's token. */
static gsize
match (const Place *place, const char *text, gboolean *is_own)
{
  static GRegex *regex;
  g_autoptr (GMatchInfo) info = NULL;
  g_autofree char *token = NULL;
  gint end = 0;

  if (g_once_init_enter (&regex))
    g_once_init_leave (
        &regex, g_regex_new ("^(?:" PLACE_DELTA ")?(?:\\.[0-9a-f]{8}\\.try)?"
                             "(?:(?<=\\.try)|\\.([0-9]+\\.[0-9a-f]{8})\\.[0-9]+\\.tmp)(?![-.~\\w])",
                             G_REGEX_RAW, G_REGEX_MATCH_ANCHORED, NULL));
  if (!g_regex_match (regex, text, 0, &info) || !g_match_info_fetch_pos (info, 0, NULL, &end))
    return 0;
  token = g_match_info_fetch (info, 1);
  *is_own = g_strcmp0 (token, place->token) == 0;
  return (gsize)end;
}

/* The end of the entry of the file whose name ends at `text`. */
static const char *
end_of_entry (const Place *place, const char *text)
{
  const char *mark = place->kind->entry_end;

  for (guint i = 0; i < place->kind->entry_ends; i++)
    {
      const char *next = strstr (text, mark);

      if (next == NULL)
        return text + strlen (text);
      text = next + strlen (mark);
    }
  return text;
}

/* The entry of a file. In a line the name comes last, so the entry begins before it. */
static char *
words_of (const Place *place, const char *listing, const char *name, const char *end)
{
  const char *begin = name;

  while (place->kind->entry_ends == 1 && begin > listing && begin[-1] != '\n')
    begin--;
  return g_strndup (begin, (gsize)(end_of_entry (place, end) - begin));
}

/* TRUE: the entry has not changed for long enough. */
static gboolean
is_old (Place *place, const char *suffix, char *says, gint64 old_us)
{
  Leftover *leftover = g_hash_table_lookup (place->leftovers, suffix);
  gint64 now_us = g_get_monotonic_time ();

  if (leftover == NULL || strcmp (leftover->says, says) != 0)
    {
      leftover = g_new0 (Leftover, 1);
      leftover->since_us = now_us;
      leftover->says = g_strdup (says);
      g_hash_table_replace (place->leftovers, g_strdup (suffix), leftover);
    }
  leftover->is_there = TRUE;
  return now_us - leftover->since_us >= old_us;
}

static gboolean
is_gone (gpointer key, gpointer value, gpointer data)
{
  Leftover *leftover = value;
  gboolean gone = !leftover->is_there;

  (void)key, (void)data;
  leftover->is_there = FALSE;
  return gone;
}

static void
sweep_listing (Place *place, const char *listing, gint64 old_us)
{
  const char *slash = strrchr (place->path, '/');
  const char *base = slash != NULL ? slash + 1 : place->path;

  for (const char *at = listing; (at = strstr (at, base)) != NULL;)
    {
      gboolean begins = at == listing || strchr ("/ \n>", at[-1]) != NULL, is_own = FALSE;
      const char *rest = at + strlen (base);
      gsize length = begins ? match (place, rest, &is_own) : 0;
      g_autofree char *suffix = g_strndup (rest, length);
      g_autofree char *says = length > 0 ? words_of (place, listing, at, rest + length) : NULL;

      at = rest;
      if (length > 0 && (is_own || is_old (place, suffix, says, old_us))
          && place->kind->remove (place, suffix, NULL))
        g_hash_table_remove (place->leftovers, suffix);
    }
}

gboolean
place_sweep (Place *place, gint64 old_us, GError **error)
{
  g_autofree char *listing = NULL;
  PlaceRequest request = { .size_max = LISTING_BYTES_MAX };
  const char *slash = strrchr (place->url, '/');
  gboolean good;

  if (place->kind->list == NULL)
    return TRUE;
  if (place->leftovers == NULL)
    place->leftovers = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, leftover_free);
  request.url = g_strndup (place->url, (gsize)(slash + 1 - place->url));
  good = place->kind->list (place, &request, error);
  if (good)
    listing = g_strndup ((const char *)request.body->data, request.body->len);
  place_request_clear (&request);
  if (!good)
    return FALSE;
  sweep_listing (place, listing, old_us);
  g_hash_table_foreach_remove (place->leftovers, is_gone, NULL);
  return TRUE;
}
