/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that are set aside: none is lost, and each is kept once. */
#include "storage/aside.h"

#include "storage/places/place.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

typedef struct
{
  char *folder, *path, *delta;
} Fixture;

static void
put (const char *path, const char *text)
{
  g_autoptr (GError) error = NULL;

  g_unlink (path);
  g_assert_true (g_file_set_contents (path, text, -1, &error));
}

static void
assert_holds (const char *path, const char *text)
{
  g_autofree char *found = NULL;

  g_assert_cmpint (g_file_get_contents (path, &found, NULL, NULL), ==, text != NULL);
  g_assert_cmpstr (found, ==, text);
}

static void
set_up (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  *f = (Fixture){ .folder = g_dir_make_tmp ("satin-aside-XXXXXX", NULL) };
  f->path = g_build_filename (f->folder, "a.satin", NULL);
  f->delta = g_strconcat (f->path, PLACE_DELTA, NULL);
  put (f->path, "one");
}

static void
tear_down (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (GDir) dir = g_dir_open (f->folder, 0, NULL);

  for (const char *name; (name = g_dir_read_name (dir)) != NULL;)
    {
      g_autofree char *file = g_build_filename (f->folder, name, NULL);
      g_unlink (file);
    }
  g_assert_cmpint (g_rmdir (f->folder), ==, 0);
  g_free (f->folder);
  g_free (f->path);
  g_free (f->delta);
}

/* A file gets one other name, however often it is set aside; a new file in its place gets
 * another. */
static void
each_file_is_kept_once (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  g_autofree char *prefix = g_strconcat (f->path, ".damaged-", NULL);
  g_autofree char *first = aside_keep (f->path, "damaged", NULL);
  g_autofree char *again = aside_keep (f->path, "damaged", NULL);
  g_autofree char *for_another_reason = aside_keep (f->path, "replaced", NULL);

  g_assert_true (g_str_has_prefix (first, prefix));
  g_assert_cmpstr (again, ==, first);
  g_assert_cmpstr (for_another_reason, !=, first);
  assert_holds (f->path, "one");
  put (f->path, "two");
  g_autofree char *second = aside_keep (f->path, "damaged", NULL);
  g_assert_cmpstr (second, !=, first);
  assert_holds (first, "one");
  assert_holds (second, "two");
}

/* Names that somebody else gave the file do not count. */
static void
other_names_do_not_count (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  g_autofree char *backup = g_strconcat (f->path, ".backup", NULL);
  g_autofree char *old = g_strconcat (f->path, ".damaged-20000101T000000Z", NULL);

  put (old, "older");
  g_assert_cmpint (link (f->path, backup), ==, 0);
  g_autofree char *kept = aside_keep (f->path, "damaged", NULL);
  g_assert_cmpstr (kept, !=, old);
  g_assert_cmpstr (kept, !=, backup);
  assert_holds (kept, "one");
}

/* A file that is moved is gone from its place, and so is its delta, which moves along with the same
 * name. */
static void
a_delta_goes_along (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  for (int has_delta = FALSE; has_delta <= TRUE; has_delta++)
    {
      put (f->path, has_delta ? "with" : "without");
      put (f->delta, "delta");
      g_autofree char *kept = aside_move (f->path, "replaced", has_delta, NULL);
      g_autofree char *its_delta = g_strconcat (kept, PLACE_DELTA, NULL);
      assert_holds (f->path, NULL);
      assert_holds (kept, has_delta ? "with" : "without");
      assert_holds (f->delta, has_delta ? NULL : "delta");
      assert_holds (its_delta, has_delta ? "delta" : NULL);
    }
}

/* A file that cannot be set aside with its delta stays where it is. */
static void
nothing_is_lost (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *nowhere = g_build_filename (f->folder, "none", "a.satin", NULL);

  g_assert_null (aside_move (f->path, "replaced", TRUE, &error)); /* there is no delta */
  g_assert_nonnull (error);
  assert_holds (f->path, "one");
  g_clear_error (&error);
  g_assert_null (aside_keep (nowhere, "damaged", &error));
  g_assert_nonnull (strstr (error->message, "cannot be set aside"));
}

/* A move that was interrupted is completed by the next one. If the delta was replaced meanwhile,
 * the newer one is kept, which contains the rows of the older. */
static void
an_interrupted_move_goes_on (Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
  for (int is_newer = FALSE; is_newer <= TRUE; is_newer++)
    {
      put (f->path, "base");
      put (f->delta, "delta");
      g_autofree char *kept = aside_keep (f->path, "replaced", NULL);
      g_autofree char *its_delta = g_strconcat (kept, PLACE_DELTA, NULL);
      g_assert_cmpint (link (f->delta, its_delta), ==, 0);
      if (is_newer)
        put (f->delta, "newer delta");
      g_autofree char *moved = aside_move (f->path, "replaced", TRUE, NULL);
      g_assert_cmpstr (moved, ==, kept);
      assert_holds (f->path, NULL);
      assert_holds (f->delta, NULL);
      assert_holds (kept, "base");
      assert_holds (its_delta, is_newer ? "newer delta" : "delta");
    }
}

int
main (int argc, char **argv)
{
#define TEST(name, function) g_test_add ("/aside/" name, Fixture, NULL, set_up, function, tear_down)
  g_test_init (&argc, &argv, NULL);
  TEST ("each-file-is-kept-once", each_file_is_kept_once);
  TEST ("other-names-do-not-count", other_names_do_not_count);
  TEST ("a-delta-goes-along", a_delta_goes_along);
  TEST ("nothing-is-lost", nothing_is_lost);
  TEST ("an-interrupted-move-goes-on", an_interrupted_move_goes_on);
  return g_test_run ();
}
