/* SPDX-License-Identifier: BSD-3-Clause */
/* A stamp distinguishes its file from every later file at the same path, even if the two differ in
 * only one property. */
#include "config.h"

#include "coordinator/stamp.h"

#include <dirent.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct timespec then[2] = { { 1700000000, 123456789 }, { 1700000000, 123456789 } };

static char *folder, *path;

static void
write_file (const char *to, const char *text)
{
  g_assert_true (g_file_set_contents_full (to, text, -1, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
  g_assert_cmpint (utimensat (AT_FDCWD, to, then, 0), ==, 0);
}

/* (transfer full): the stamp of the file that is there. */
static Stamp
begin (void)
{
  write_file (path, "some text");
  Stamp stamp = stamp_of (path);
  g_assert_true (stamp.exists);
  g_assert_true (stamp_is_current (&stamp, path));
  return stamp;
}

static void
test_time (void)
{
  Stamp stamp = begin ();

  for (guint i = 0; i < 2; i++)
    {
      struct timespec later[2] = { then[0], then[1] };

      later[1].tv_sec += i == 0;
      later[1].tv_nsec += i == 1;
      g_assert_cmpint (utimensat (AT_FDCWD, path, later, 0), ==, 0);
      g_assert_false (stamp_is_current (&stamp, path));
    }
  g_assert_cmpint (utimensat (AT_FDCWD, path, then, 0), ==, 0);
  g_assert_true (stamp_is_current (&stamp, path));
  stamp_clear (&stamp);
}

static void
test_size (void)
{
  Stamp stamp = begin ();

  g_assert_cmpint (truncate (path, 8), ==, 0);
  g_assert_cmpint (utimensat (AT_FDCWD, path, then, 0), ==, 0);
  g_assert_false (stamp_is_current (&stamp, path));
  stamp_clear (&stamp);
}

/* A file of the same size and time never has the same inode number: the stamp keeps the first file
 * alive. */
static void
test_another (void)
{
  Stamp stamp = begin ();
  g_autofree char *other = g_strconcat (path, "-other", NULL);

  g_assert_cmpint (g_unlink (path), ==, 0);
  g_assert_true (stamp_is_current (&stamp, path)); /* there is no file */
  for (guint i = 0; i < 10; i++)
    {
      write_file (other, "same size");
      g_assert_cmpint (g_rename (other, path), ==, 0);
      g_assert_false (stamp_is_current (&stamp, path));
    }
  stamp_replace (&stamp, stamp_of (path));
  g_assert_true (stamp_is_current (&stamp, path));
  stamp_clear (&stamp);
  g_assert_false (stamp_is_current (&stamp, path)); /* the stamp of no file */
}

/* The target of a link may belong to anybody. */
static void
test_link (void)
{
  g_autofree char *link = g_strconcat (path, "-link", NULL);

  write_file (path, "some text");
  g_assert_cmpint (symlink (path, link), ==, 0);
  Stamp stamp = stamp_of (link);
  g_assert_false (stamp.exists);
  g_assert_false (stamp_is_current (&stamp, link));
  stamp_clear (&stamp);
  (void)g_unlink (link);
}

static guint
count_open (void)
{
  DIR *open_files = opendir ("/proc/self/fd");
  guint n = 0;

  g_assert_nonnull (open_files);
  while (readdir (open_files) != NULL)
    n++;
  (void)closedir (open_files);
  return n;
}

static void
test_nothing_stays_open (void)
{
  guint before = count_open ();
  Stamp stamp = STAMP_NONE;

  for (guint i = 0; i < 3; i++)
    stamp_replace (&stamp, begin ());
  stamp_clear (&stamp);
  stamp_clear (&stamp);
  g_assert_cmpuint (count_open (), ==, before);
}

/* A pipe in the place of the file is no reason to wait for a writer. */
static void
test_pipe (void)
{
  (void)g_unlink (path);
  g_assert_cmpint (mkfifo (path, 0600), ==, 0);
  Stamp stamp = stamp_of (path);
  stamp_clear (&stamp);
  (void)g_unlink (path);
}

int
main (int argc, char **argv)
{
  int code;

  g_test_init (&argc, &argv, NULL);
  folder = g_dir_make_tmp ("satin-test-stamp-XXXXXX", NULL);
  path = g_build_filename (folder, "c.db", NULL);
  g_test_add_func ("/stamp/time", test_time);
  g_test_add_func ("/stamp/size", test_size);
  g_test_add_func ("/stamp/another-file", test_another);
  g_test_add_func ("/stamp/a-link", test_link);
  g_test_add_func ("/stamp/a-pipe", test_pipe);
  g_test_add_func ("/stamp/nothing-stays-open", test_nothing_stays_open);
  code = g_test_run ();
  (void)g_unlink (path);
  (void)g_rmdir (folder);
  g_free (path);
  g_free (folder);
  return code;
}
