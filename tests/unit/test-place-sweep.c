/* SPDX-License-Identifier: BSD-3-Clause */
/* What writers left at a store (storage/places/place-sweep.c), at the store in memory (shelf.h):
 * which names are swept, and when. */
#include "shelf.h"

#include "storage/places/place.h"

#include <string.h>

static const char *const uris[]
    = { "sftp://me@shelf/files/a.db", "ftp://shelf/files/a.db", "http://shelf/files/a.db" };

static gint64 now_us = 1000000;

gint64
g_get_monotonic_time (void)
{
  return now_us;
}

static Place *
place_at (const char *uri)
{
  g_autoptr (GError) error = NULL;
  Place *place = place_new (uri, TRUE, &error);
  g_assert_no_error (error);
  shelf_clear ();
  return place;
}

static void
assert_put (Place *place)
{
  g_autoptr (GError) error = NULL;
  (void)place_put (place, "", "/proc/self/exe", NULL, NULL, &error);
  g_assert_no_error (error);
}

static void
assert_names (const char *expected)
{
  g_autofree char *names = shelf_names ();
  g_assert_cmpstr (names, ==, expected);
}

static void
for_each_kind (void (*test) (Place *place))
{
  for (guint i = 0; i < G_N_ELEMENTS (uris); i++)
    {
      g_autoptr (Place) place = place_at (uris[i]);
      g_test_message ("%s", uris[i]);
      test (place);
    }
}

#define HOUR_US (G_GINT64_CONSTANT (3600) * G_USEC_PER_SEC)

/* A file of another writer is swept when it has not changed for long: before that the writer may
 * still work on it. */
static void
a_leftover_of_another (Place *place)
{
  static const char name[] = "/files/a.db.123.0123abcd.4.tmp";
  static const struct
  {
    gint64 later_us;
    gsize size; /* the size to which it grows; 0: it does not grow */
    gboolean stays;
  } looks[] = { { 0, 1, TRUE },
                { HOUR_US / 2, 0, TRUE },
                { HOUR_US / 3, 2, TRUE },
                { HOUR_US - 1, 0, TRUE },
                { 1, 0, FALSE } };

  assert_put (place);
  for (guint i = 0; i < G_N_ELEMENTS (looks); i++)
    {
      now_us += looks[i].later_us;
      if (looks[i].size > 0)
        shelf_put (name, "xx", looks[i].size);
      g_assert_true (place_sweep (place, HOUR_US, NULL));
      g_autoptr (GBytes) bytes = shelf_get (name);
      g_assert_cmpint (bytes != NULL, ==, looks[i].stays);
    }
  assert_names ("a.db");
}

static void
test_a_leftover_of_another (void)
{
  for_each_kind (a_leftover_of_another);
}

/* Of all names that begin like the file's, those are swept that this program gives to temporary
 * files, and no others. */
static void
names_are_swept (Place *place)
{
  static const struct
  {
    const char *name;
    gboolean stays;
  } names[] = { { "a.db.123.0123abcd.4.tmp", FALSE },
                { "a.db-delta.123.0123abcd.4.tmp", FALSE },
                { "a.db.0123abcd.try", FALSE },
                { "a.db.0123abcd.try.123.0123abcd.4.tmp", FALSE },
                { "a.db", TRUE },
                { "a.db-delta", TRUE },
                { "a.db~", TRUE },
                { "a.db.old-20260101T000000Z", TRUE },
                { "a.db.123.0123abcd.4.tmp.gz", TRUE },
                { "a.db.123.0123abcd.4.tmpx", TRUE },
                { "a.db.123.0123abc.4.tmp", TRUE },
                { "a.db.0123abcd.try2", TRUE },
                { "aa.db.123.0123abcd.4.tmp", TRUE },
                { "b-a.db.0123abcd.try", TRUE } };
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_strconcat ("/files/", names[i].name, NULL);
      shelf_put (path, "x", 1);
    }
  g_assert_true (place_sweep (place, HOUR_US, NULL));
  now_us += HOUR_US;
  g_assert_true (place_sweep (place, HOUR_US, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_strconcat ("/files/", names[i].name, NULL);
      g_autoptr (GBytes) bytes = shelf_get (path);
      g_test_message ("%s", names[i].name);
      g_assert_cmpint (bytes != NULL, ==, names[i].stays);
    }
}

static void
test_names_that_are_swept (void)
{
  for_each_kind (names_are_swept);
}

static void
note_temporary (gpointer data)
{
  char **name = data;
  g_autofree char *names = shelf_names ();
  const char *at = strstr (names, "a.db.");
  if (at != NULL && *name == NULL && strstr (at, ".tmp") != NULL)
    *name = g_strndup (at, strcspn (at, " "));
}

/* What a writer itself has left is swept at once: it is not at work on that. */
static void
an_own_leftover (Place *place)
{
  g_autofree char *name = NULL;
  shelf_between (0, note_temporary, &name);
  assert_put (place);
  shelf_between (0, NULL, NULL);
  g_autofree char *path = g_strconcat ("/files/", name, NULL);
  shelf_put (path, "late", 4);
  g_assert_true (place_sweep (place, HOUR_US, NULL));
  assert_names ("a.db");
}

static void
test_an_own_leftover (void)
{
  for_each_kind (an_own_leftover);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/place-sweep/a-leftover-of-another", test_a_leftover_of_another);
  g_test_add_func ("/place-sweep/names-that-are-swept", test_names_that_are_swept);
  g_test_add_func ("/place-sweep/an-own-leftover", test_an_own_leftover);
  return g_test_run ();
}
