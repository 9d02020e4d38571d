/* SPDX-License-Identifier: BSD-3-Clause */
/* Lets the n-th call of libcurl fail, for n = 1, 2, 3 … until an exchange of two files makes fewer
 * calls. Usage: place-fail URI [STEP], with curl-shim.c in front of libcurl. There are many
 * settings, so only each STEP-th of them fails. Whichever call fails, the file at the place is one
 * of the two, and the new one if the exchange reported success. */
#include "storage/places/place.h"

#include <dlfcn.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALLS_MAX 2000
#define SETTING 3

static const char *const faults[] = { "", "refused", "lost", "setting", "list", "init" };
static char *old_file, *new_file, *got_file;
static void (*arm) (int fault, int n);
static int (*fired) (void);

static void
fail (const char *fault, guint n, const char *what, const GError *error)
{
  fprintf (stderr, "place-fail: %s %u: %s%s%s\n", fault, n, what, error != NULL ? ": " : "",
           error != NULL ? error->message : "");
  exit (1);
}

static char *
write_file (const char *folder, const char *name, char fill)
{
  char *path = g_build_filename (folder, name, NULL);
  g_autofree char *bytes = g_malloc (20000);

  memset (bytes, fill, 20000);
  if (!g_file_set_contents (path, bytes, 20000, NULL))
    exit (1);
  return path;
}

static gboolean
is_same (const char *a, const char *b)
{
  g_autofree char *x = NULL, *y = NULL;
  gsize n = 0, m = 0;

  return g_file_get_contents (a, &x, &n, NULL) && g_file_get_contents (b, &y, &m, NULL) && n == m
         && memcmp (x, y, n) == 0;
}

/* Replaces the file, as a courier does. */
static gboolean
exchange (const char *uri, GError **error)
{
  g_autoptr (Place) place = place_new (uri, TRUE, error);
  PlaceState now = { 0 };
  gboolean good = place != NULL && place_look (place, "", &now, error)
                  && place_put (place, "", new_file, &now, NULL, error);

  place_state_clear (&now);
  return good;
}

static void
check (const char *uri, const char *fault, guint n, gboolean said_good)
{
  g_autoptr (Place) place = place_new (uri, TRUE, NULL);
  g_autoptr (GError) error = NULL;
  PlaceState now = { 0 };

  if (!place_get (place, "", got_file, G_MAXINT64, &now, &error))
    fail (fault, n, "the file there cannot be read", error);
  if (!now.exists)
    fail (fault, n, "there is no file", NULL);
  if (!is_same (got_file, new_file) && (said_good || !is_same (got_file, old_file)))
    fail (fault, n, said_good ? "it was not replaced" : "it is neither of the two files", NULL);
  place_state_clear (&now);
  if (!place_put (place, "", old_file, NULL, NULL, &error))
    fail (fault, n, "the place cannot be used any more", error);
}

static guint
try_all (const char *uri, int fault, guint step)
{
  guint count = 0;

  for (guint n = 1;; n += step, count++)
    {
      g_autoptr (GError) error = NULL;
      arm (fault, (int)n);
      gboolean good = exchange (uri, &error);
      gboolean done = !fired ();
      arm (0, 0);
      if (!good && error == NULL)
        fail (faults[fault], n, "failed without a message", NULL);
      if (done && !good)
        fail (faults[fault], n, "failed without a fault", error);
      check (uri, faults[fault], n, good);
      if (done || n >= CALLS_MAX)
        return count;
    }
}

int
main (int argc, char **argv)
{
  void *library = dlopen ("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  g_autofree char *folder = g_dir_make_tmp ("place-XXXXXX", NULL);

  *(void **)&arm = library != NULL ? dlsym (library, "curl_shim_arm") : NULL;
  *(void **)&fired = library != NULL ? dlsym (library, "curl_shim_fired") : NULL;
  guint step = argc > 2 ? (guint)atoi (argv[2]) : 1;
  if (argc < 2 || step == 0 || arm == NULL || folder == NULL)
    return 2;
  old_file = write_file (folder, "old", 'o');
  new_file = write_file (folder, "new", 'n');
  got_file = g_build_filename (folder, "got", NULL);
  g_autoptr (Place) place = place_new (argv[1], TRUE, NULL);
  if (place == NULL || !place_put (place, "", old_file, NULL, NULL, NULL))
    fail ("nothing", 0, "the place cannot be used", NULL);
  for (int fault = 1; fault < (int)G_N_ELEMENTS (faults); fault++)
    printf ("%s: %u\n", faults[fault], try_all (argv[1], fault, fault == SETTING ? step : 1));
  g_unlink (old_file);
  g_unlink (new_file);
  g_unlink (got_file);
  g_rmdir (folder);
  return 0;
}
