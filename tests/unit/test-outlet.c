/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that the user names for our output: an unwritable one is reported before the run, and a
 * reader sees either the whole text or the previous content. */
#include "config.h"

#include "entries.h"
#include "satin/host/outlet.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char *folder;

static char *
path_of (const char *name)
{
  return g_build_filename (folder, name, NULL);
}

static void
assert_holds (const char *path, const char *wanted)
{
  g_autofree char *text = NULL;

  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_assert_cmpstr (text, ==, wanted);
}

static void
assert_refused (const char *path, const char *sentence)
{
  g_autoptr (GError) error = NULL;

  g_assert_false (outlet_is_writable ("the stats", path, &error));
  g_assert_nonnull (error);
  g_assert_cmpstr (error->message, ==, sentence);
}

/* A trial leaves no file, and does not change an existing one. */
static void
test_writable (void)
{
  g_autofree char *old = path_of ("old"), *new = path_of ("new");

  g_assert_true (g_file_set_contents (old, "old", -1, NULL));
  g_assert_true (outlet_is_writable ("the stats", old, NULL));
  g_assert_true (outlet_is_writable ("the stats", new, NULL));
  g_assert_true (outlet_is_writable ("the stats", "/dev/null", NULL));
  assert_holds (old, "old");
  g_assert_cmpuint (entries (folder), ==, 1);
  g_assert_cmpint (g_unlink (old), ==, 0);
}

static void
test_refused (void)
{
  g_autofree char *lost = path_of ("none/stats");
  g_autofree char *is_folder = g_strdup_printf ("the stats '%s' is a folder, not a file", folder);
  g_autofree char *no_folder = g_strdup_printf (
      "the stats '%s': cannot write in the folder '%s/none': No such file or directory", lost,
      folder);

  assert_refused (folder, is_folder);
  assert_refused (lost, no_folder);
}

static void
test_written (void)
{
  g_autofree char *path = path_of ("file"), *link = path_of ("link"), *pipe = path_of ("pipe"),
                  *lost = path_of ("none/file");
  g_autoptr (GError) error = NULL;
  char text[16] = "";

  g_assert_true (outlet_write (path, "first", NULL));
  g_assert_cmpint (symlink (path, link), ==, 0);
  g_assert_true (outlet_write (link, "second", NULL)); /* to the target of the link */
  assert_holds (path, "second");
  g_assert_true (g_file_test (link, G_FILE_TEST_IS_SYMLINK));
  g_assert_cmpint (mkfifo (pipe, 0600), ==, 0);
  int fd = g_open (pipe, O_RDWR | O_CLOEXEC, 0); /* a reader is there, so the write does not wait */
  g_assert_cmpint (fd, >=, 0);
  g_assert_true (outlet_write (pipe, "through", NULL));
  g_assert_cmpint (read (fd, text, sizeof text - 1), ==, 7);
  g_assert_cmpstr (text, ==, "through");
  close (fd);
  g_assert_true (outlet_write ("/dev/null", "nowhere", NULL));
  g_assert_false (outlet_write (lost, "text", &error));
  g_assert_nonnull (error);
  g_assert_false (outlet_write (folder, "text", NULL));
  g_assert_cmpuint (entries (folder), ==, 3);
  g_assert_cmpint (g_unlink (path) + g_unlink (link) + g_unlink (pipe), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  folder = g_dir_make_tmp ("satin-outlet-XXXXXX", NULL);
  g_test_add_func ("/outlet/writable", test_writable);
  g_test_add_func ("/outlet/refused", test_refused);
  g_test_add_func ("/outlet/written", test_written);
  int result = g_test_run ();
  g_rmdir (folder);
  g_free (folder);
  return result;
}
