/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks the promises of storage/places/place.h at one store. place-check URI: all of them.
 * place-check --count N URI: adds 1 to the number at URI N times, while other processes may do the
 * same. place-check --show URI: prints that number. place-check --put RUN TERM URI: replaces the
 * file at URI as the coordinator of RUN in TERM, and prints how many milliseconds that took and for
 * how many of them it chose to wait. Exit code 0: all promises are kept. */
#include "storage/places/place.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BIG_BYTES (3 * 1024 * 1024 + 17)

static char *folder;
static gulong waited_us;

/* Replaces GLib's function, and counts the time. */
void
g_usleep (gulong us)
{
  struct timespec rest = { (time_t)(us / G_USEC_PER_SEC), (long)(us % G_USEC_PER_SEC) * 1000 };

  waited_us += us;
  while (nanosleep (&rest, &rest) != 0)
    continue;
}

static void
fail (const char *what, GError *error)
{
  fprintf (stderr, "place-check: %s%s%s\n", what, error != NULL ? ": " : "",
           error != NULL ? error->message : "");
  exit (1);
}

static char *
local (const char *name)
{
  return g_build_filename (folder, name, NULL);
}

static char *
write_file (const char *name, const char *text, gsize size)
{
  char *path = local (name);
  g_autofree char *bytes = g_malloc0 (size);

  memcpy (bytes, text, MIN (strlen (text), size));
  for (gsize i = 100; i < size; i++)
    bytes[i] = (char)(i * 7 + i / 251);
  if (!g_file_set_contents (path, bytes, (gssize)size, NULL))
    fail ("cannot write here", NULL);
  return path;
}

static gboolean
same (const char *a, const char *b)
{
  g_autofree char *x = NULL, *y = NULL;
  gsize n, m;

  return g_file_get_contents (a, &x, &n, NULL) && g_file_get_contents (b, &y, &m, NULL) && n == m
         && memcmp (x, y, n) == 0;
}

static void
must_fail_changed (gboolean good, GError **error, const char *what)
{
  if (good || !g_error_matches (*error, PLACE_ERROR, PLACE_ERROR_CHANGED))
    fail (what, *error);
  g_clear_error (error);
}

static void
check (Place *place)
{
  g_autofree char *first = write_file ("first", "the first", 5000);
  g_autofree char *second = write_file ("second", "the second", BIG_BYTES);
  g_autofree char *got = local ("got");
  GError *error = NULL;
  PlaceState none = { 0 }, one, two, now;

  if (!place_remove (place, "", NULL, &error) || !place_look (place, "", &now, &error))
    fail ("looking at an empty place", error);
  if (now.exists)
    fail ("something is there after it was removed", NULL);
  if (!place_get (place, "", got, G_MAXUINT64, &now, &error) || now.exists
      || g_access (got, F_OK) == 0)
    fail ("getting nothing", error);
  if (!place_put (place, "", first, &none, &one, &error))
    fail ("putting where nothing is", error);
  if (!place_look (place, "", &now, &error) || !now.exists || strcmp (now.tag, one.tag) != 0)
    fail ("looking at what was put", error);
  place_state_clear (&now);
  if (!place_get (place, "", got, G_MAXUINT64, &now, &error) || !same (first, got))
    fail ("getting what was put", error);
  if (strcmp (now.tag, one.tag) != 0)
    fail ("the tag of what was got", NULL);
  must_fail_changed (place_put (place, "", second, &none, &two, &error), &error,
                     "putting where something is, expecting nothing");
  if (!place_put (place, "", second, &one, &two, &error) || strcmp (one.tag, two.tag) == 0)
    fail ("replacing", error);
  must_fail_changed (place_put (place, "", first, &one, &now, &error), &error,
                     "replacing, expecting what is no more");
  if (!place_get (place, "", got, G_MAXUINT64, &now, &error) || !same (second, got))
    fail ("getting what it was replaced by", error);
  if (place_get (place, "", got, 1000, &now, &error)
      || !g_error_matches (error, PLACE_ERROR, PLACE_ERROR_LOCAL))
    fail ("getting more than is wanted", error);
  g_clear_error (&error);
  if (!place_put (place, "-delta", first, NULL, NULL, &error)
      || !place_remove (place, "-delta", NULL, &error)
      || !place_look (place, "-delta", &now, &error) || now.exists)
    fail ("a file beside it", error);
  if (!place_put (place, "", first, NULL, NULL, &error)
      || !place_get (place, "", got, G_MAXUINT64, &now, &error) || !same (first, got))
    fail ("replacing without expecting anything", error);
}

static gboolean
stands (Place *place, const char *suffix)
{
  PlaceState now;
  GError *error = NULL;

  if (!place_look (place, suffix, &now, &error))
    fail ("looking", error);
  gboolean exists = now.exists;
  place_state_clear (&now);
  return exists;
}

/* The sweep removes the files that a writer leaves behind when it is killed while sending, and no
 * file that only looks similar. */
static void
sweep (Place *place, gboolean lists)
{
  static const struct
  {
    const char *suffix;
    gboolean goes;
  } files[] = { { ".1.0123abcd.0.tmp", TRUE },
                { "-delta.77.0123abcd.12.tmp", TRUE },
                { ".00ff00ff.try", TRUE },
                { ".00ff00ff.try.1.0123abcd.0.tmp", TRUE },
                { ".1.0123abcd.0.tmp.old", FALSE },
                { ".1.0123abc.0.tmp", FALSE },
                { ".notes.tmp", FALSE },
                { "-delta", FALSE } };
  g_autofree char *first = write_file ("first", "the first", 5000);
  g_autofree char *other = write_file ("other", "another", 7000);
  GError *error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    if (!place_put (place, files[i].suffix, first, NULL, NULL, &error))
      fail (files[i].suffix, error);
  if (!place_sweep (place, 0, &error) && lists)
    fail ("sweeping", error);
  g_clear_error (&error);
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      if (stands (place, files[i].suffix) == (lists && files[i].goes))
        fail (files[i].suffix, NULL);
      if (!place_remove (place, files[i].suffix, NULL, &error))
        fail ("removing", error);
    }
  /* A file that a writer is still sending changes between two sweeps. */
  if (!place_put (place, files[0].suffix, first, NULL, NULL, &error)
      || (!place_sweep (place, 1000000, &error) && lists)
      || !place_put (place, files[0].suffix, other, NULL, NULL, &error))
    fail ("sending", error);
  g_usleep (1100000);
  if ((!place_sweep (place, 1000000, &error) && lists) || !stands (place, files[0].suffix))
    fail ("what changes was swept", error);
  g_usleep (1100000);
  if ((!place_sweep (place, 1000000, &error) && lists) || stands (place, files[0].suffix) == lists)
    fail ("what stayed the same was not swept", error);
  (void)place_remove (place, files[0].suffix, NULL, NULL);
}

static void
count (Place *place, int times)
{
  g_autofree char *got = local ("got"), *next = local ("next");
  GError *error = NULL;

  while (times > 0)
    {
      PlaceState now, made;
      g_autofree char *text = NULL, *more = NULL, *path = NULL;

      if (!place_get (place, "", got, G_MAXUINT64, &now, &error))
        fail ("getting a number", error);
      if (now.exists && !g_file_get_contents (got, &text, NULL, NULL))
        fail ("reading a number", NULL);
      more = g_strdup_printf ("%d", (text != NULL ? atoi (text) : 0) + 1);
      path = write_file ("next", more, 64);
      if (place_put (place, "", path, &now, &made, &error))
        times--;
      else if (!g_error_matches (error, PLACE_ERROR, PLACE_ERROR_CHANGED))
        fail ("putting a number", error);
      g_clear_error (&error);
    }
}

static void
show (Place *place)
{
  g_autofree char *got = local ("got"), *text = NULL;
  GError *error = NULL;
  PlaceState now;

  if (!place_get (place, "", got, G_MAXUINT64, &now, &error) || !now.exists
      || !g_file_get_contents (got, &text, NULL, NULL))
    fail ("reading", error);
  puts (text);
}

static void
put (Place *place, const char *run, const char *term)
{
  g_autofree char *path = write_file ("small", "small", 2000);
  gint64 began_us = g_get_monotonic_time ();
  PlaceState there, now;
  GError *error = NULL;

  place_set_writer (place, run, (guint)atoi (term));
  if (!place_look (place, "", &there, &error) || !place_put (place, "", path, &there, &now, &error))
    fail ("put", error);
  printf ("%d %lu\n", (int)((g_get_monotonic_time () - began_us) / 1000), waited_us / 1000);
  place_state_clear (&there);
  place_state_clear (&now);
}

int
main (int argc, char **argv)
{
  GError *error = NULL;
  g_autoptr (Place) place = NULL;

  if (argc < 2 || argc > 5)
    fail ("usage: place-check [--count N | --show | --put RUN TERM] URI", NULL);
  folder = g_dir_make_tmp ("place-XXXXXX", NULL);
  place = place_new (argv[argc - 1], TRUE, &error);
  if (place == NULL)
    fail ("the URI", error);
  if (argc == 2)
    {
      check (place);
      sweep (place, !g_str_has_prefix (argv[1], "s3"));
    }
  else if (argc == 3)
    show (place);
  else if (argc == 5)
    put (place, argv[2], argv[3]);
  else
    count (place, atoi (argv[2]));
  return 0;
}
