/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of host/temporary.c: folders that are removed with their process. Links storage alone. */
#include "entries.h"

#include "host/temporary.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utime.h>

#define STEM "satin-trial-"

typedef struct
{
  char *above;
} Fixture;

static const char *written_by_name; /* the folder in which a file is made before each removal */
static guint written_inside; /* the next removals meet one more file, wherever that folder is */

static void
write_into (const char *folder)
{
  g_autofree char *file = g_build_filename (folder, "late", NULL);
  int fd = open (file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

  if (fd >= 0)
    close (fd);
}

/* In place of the C library's, in GLib too: other threads write at the worst moment. */
__attribute__ ((visibility ("default"))) int
rmdir (const char *path)
{
  if (written_by_name != NULL)
    write_into (written_by_name);
  if (written_inside > 0)
    write_into (path);
  written_inside -= written_inside > 0;
  return unlinkat (AT_FDCWD, path, AT_REMOVEDIR);
}

static void
set_up (Fixture *f, gconstpointer unused)
{
  (void)unused;
  f->above = g_dir_make_tmp ("satin-above-XXXXXX", NULL);
}

static void
tear_down (Fixture *f, gconstpointer unused)
{
  (void)unused;
  g_assert_cmpint (g_rmdir (f->above), ==, 0); /* it is empty */
  g_free (f->above);
}

static char *
make (const Fixture *f)
{
  g_autoptr (GError) error = NULL;
  char *folder = temporary_make_in (f->above, STEM, &error);
  g_assert_no_error (error);
  g_assert_true (g_file_test (folder, G_FILE_TEST_IS_DIR));
  return folder;
}

/* Makes files in the folder until the folder is gone. */
static void *
write_on (void *data)
{
  g_autofree char *folder = data;

  for (guint i = 0;; i++)
    {
      g_autofree char *path = g_strdup_printf ("%s/%u", folder, i % 64);
      int fd = open (path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
      if (fd < 0)
        return NULL;
      (void)close (fd);
    }
}

/* A thread still writes when the process ends, as a scribe may. */
static void
test_what_is_written_meanwhile_goes_too (Fixture *f, gconstpointer unused)
{
  (void)unused;
  for (guint i = 0; i < 50; i++)
    {
      char *folder = make (f);
      GThread *writer = g_thread_new ("writer", write_on, g_strdup (folder));
      while (entries (folder) == 0)
        g_thread_yield ();
      temporary_remove (folder);
      g_thread_join (writer);
      g_assert_cmpuint (entries (f->above), ==, 0);
    }
}

/* A thread that knows the name writes as fast as another removes; a file that was being made while
 * the folder moved appears in it all the same. */
static void
test_a_fast_writer_does_not_keep_it (Fixture *f, gconstpointer unused)
{
  (void)unused;
  for (guint inside = 0; inside < 4; inside++)
    {
      char *folder = make (f);
      g_autofree char *name = g_strdup (folder);
      written_by_name = name;
      written_inside = inside;
      temporary_remove (folder);
      written_by_name = NULL;
      g_assert_cmpuint (written_inside, ==, 0);
      g_assert_cmpuint (entries (f->above), ==, 0);
    }
}

static void
put (const char *folder, const char *name)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_assert_true (g_file_set_contents (path, "x", 1, NULL));
}

/* Makes a folder so old that its owner should have locked it. */
static void
make_old (const char *folder)
{
  struct utimbuf then = { 1000000000, 1000000000 };
  g_assert_cmpint (utime (folder, &then), ==, 0);
}

static void
test_it_goes_with_its_files (Fixture *f, gconstpointer unused)
{
  (void)unused;
  char *one = make (f), *two = make (f);
  g_assert_cmpstr (one, !=, two);
  put (one, "a");
  put (one, "b");
  put (two, "a");
  temporary_remove (one);
  g_assert_cmpuint (entries (f->above), ==, 1);
  g_assert_cmpuint (entries (two), ==, 1);
  temporary_remove (two);
  temporary_remove (NULL);
}

/* Only its user may look into it. */
static void
test_it_is_private (Fixture *f, gconstpointer unused)
{
  (void)unused;
  struct stat status;
  char *one = make (f);
  g_assert_cmpint (stat (one, &status), ==, 0);
  g_assert_cmpuint (status.st_mode & 0777, ==, 0700);
  temporary_remove (one);
}

/* A process that forks can find the lock, which its child would otherwise keep. */
static void
test_the_lock_is_known (Fixture *f, gconstpointer unused)
{
  (void)unused;
  char *one = make (f);
  int fd = temporary_lock (one), other = open (one, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (flock (other, LOCK_EX | LOCK_NB), !=, 0);
  g_assert_cmpint (temporary_lock (f->above), ==, -1);
  temporary_remove (one);
  g_assert_cmpint (flock (other, LOCK_EX | LOCK_NB), ==, 0);
  (void)close (other);
}

static void
test_no_room (Fixture *f, gconstpointer unused)
{
  (void)unused;
  g_autofree char *absent = g_build_filename (f->above, "absent", NULL);
  g_autoptr (GError) error = NULL;
  g_assert_null (temporary_make_in (absent, STEM, &error));
  g_assert_error (error, G_FILE_ERROR, G_FILE_ERROR_NOENT);
  g_assert_nonnull (strstr (error->message, absent));
}

static char *
leave (const Fixture *f, const char *name)
{
  char *folder = g_build_filename (f->above, name, NULL);
  g_assert_cmpint (g_mkdir (folder, 0700), ==, 0);
  put (folder, "a");
  return folder;
}

static void
take_away (char *folder)
{
  g_autofree char *path = g_build_filename (folder, "a", NULL);
  (void)g_unlink (path);
  g_assert_cmpint (g_rmdir (folder), ==, 0);
  g_free (folder);
}

/* Folders of killed processes are removed when the next folder is made. Folders that another
 * process holds stay, and so do very young ones, which may not have their lock yet, those with
 * other names, and links. */
static void
test_leftovers_go (Fixture *f, gconstpointer unused)
{
  (void)unused;
  char *left = leave (f, STEM "abcdef"), *held = leave (f, STEM "ABCDEF");
  char *young = leave (f, STEM "123456"), *longer = leave (f, STEM "abcdefg");
  char *other = leave (f, "satin-other-abcdef");
  g_autofree char *link_path = g_build_filename (f->above, STEM "linked", NULL);
  g_autofree char *file = g_build_filename (f->above, STEM "a-file", NULL);
  int fd = open (held, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  g_assert_cmpint (flock (fd, LOCK_EX | LOCK_NB), ==, 0);
  g_assert_cmpint (symlink (other, link_path), ==, 0);
  g_assert_true (g_file_set_contents (file, "x", 1, NULL));
  make_old (left);
  make_old (held);
  make_old (longer);
  make_old (other);

  char *one = make (f);
  g_assert_false (g_file_test (left, G_FILE_TEST_EXISTS));
  g_assert_cmpuint (entries (held), ==, 1);
  g_assert_cmpuint (entries (young), ==, 1);
  g_assert_cmpuint (entries (longer), ==, 1);
  g_assert_cmpuint (entries (other), ==, 1);
  g_assert_true (g_file_test (file, G_FILE_TEST_IS_REGULAR));
  temporary_remove (one);

  (void)close (fd);
  one = make (f); /* no process holds that folder now */
  g_assert_false (g_file_test (held, G_FILE_TEST_EXISTS));
  temporary_remove (one);
  g_free (left);
  g_free (held);
  take_away (young);
  take_away (longer);
  take_away (other);
  g_assert_cmpint (g_unlink (link_path), ==, 0);
  g_assert_cmpint (g_unlink (file), ==, 0);
}

/* This program as a child: makes two folders, reports that, and waits for its end. */
static int
wait_for_the_end (const char *above)
{
  temporary_watch_signals ();
  for (guint i = 0; i < 2; i++)
    put (temporary_make_in (above, STEM, NULL), "a");
  g_print ("made\n");
  while (pause () != 0) /* always */
    continue;
  return 0;
}

static GPid
begin_child (const Fixture *f, char *how)
{
  char *argv[] = { g_file_read_link ("/proc/self/exe", NULL), how, f->above, NULL };
  g_autoptr (GError) error = NULL;
  GPid pid;
  int out;
  char byte;
  g_assert_true (g_spawn_async_with_pipes (NULL, argv, NULL, G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL,
                                           &pid, NULL, &out, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpint (read (out, &byte, 1), ==, 1);
  (void)close (out);
  g_free (argv[0]);
  return pid;
}

static int
end_of (GPid pid)
{
  int status;
  g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
  return WIFSIGNALED (status) ? WTERMSIG (status) : 0;
}

/* A process that is interrupted removes its folders and dies of the signal; one that is killed
 * leaves them to the next one. */
static void
test_signals (Fixture *f, gconstpointer unused)
{
  (void)unused;
  static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
  for (guint i = 0; i < G_N_ELEMENTS (signals); i++)
    {
      GPid pid = begin_child (f, "wait");
      g_assert_cmpuint (entries (f->above), ==, 2);
      g_assert_cmpint (kill (pid, signals[i]), ==, 0);
      g_assert_cmpint (end_of (pid), ==, signals[i]);
      g_assert_cmpuint (entries (f->above), ==, 0);
    }
  GPid pid = begin_child (f, "wait");
  g_assert_cmpint (kill (pid, SIGKILL), ==, 0);
  g_assert_cmpint (end_of (pid), ==, SIGKILL);
  g_assert_cmpuint (entries (f->above), ==, 2);
  g_autoptr (GDir) dir = g_dir_open (f->above, 0, NULL);
  const char *name;
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *folder = g_build_filename (f->above, name, NULL);
      make_old (folder);
    }
  char *one = make (f);
  g_assert_cmpuint (entries (f->above), ==, 1);
  temporary_remove (one);
}

/* A signal that the user had ignored, as nohup does, stays ignored. */
static void
test_an_ignored_signal_stays_so (Fixture *f, gconstpointer unused)
{
  (void)unused;
  void (*before) (int) = signal (SIGHUP, SIG_IGN);
  GPid pid = begin_child (f, "wait");
  (void)signal (SIGHUP, before);
  g_assert_cmpint (kill (pid, SIGHUP), ==, 0);
  g_assert_cmpint (kill (pid, SIGTERM), ==, 0);
  g_assert_cmpint (end_of (pid), ==, SIGTERM);
  g_assert_cmpuint (entries (f->above), ==, 0);
}

/* By default folders are where the system has its temporary files. */
static void
test_the_usual_folder (Fixture *f, gconstpointer unused)
{
  (void)f, (void)unused;
  g_autoptr (GError) error = NULL;
  char *one = temporary_make (&error);
  g_assert_no_error (error);
  g_autofree char *above = g_path_get_dirname (one), *name = g_path_get_basename (one);
  g_assert_cmpstr (above, ==, g_get_tmp_dir ());
  g_assert_true (g_str_has_prefix (name, "satin-copy-"));
  g_autofree char *path = g_strdup (one);
  temporary_remove (one);
  g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
}

int
main (int argc, char **argv)
{
  if (argc == 3 && strcmp (argv[1], "wait") == 0)
    return wait_for_the_end (argv[2]);
  g_test_init (&argc, &argv, NULL);
#define ADD(name, test) g_test_add ("/temporary/" name, Fixture, NULL, set_up, test, tear_down)
  ADD ("goes-with-its-files", test_it_goes_with_its_files);
  ADD ("what-is-written-meanwhile-goes-too", test_what_is_written_meanwhile_goes_too);
  ADD ("a-fast-writer-does-not-keep-it", test_a_fast_writer_does_not_keep_it);
  ADD ("is-private", test_it_is_private);
  ADD ("the-lock-is-known", test_the_lock_is_known);
  ADD ("no-room", test_no_room);
  ADD ("leftovers-go", test_leftovers_go);
  ADD ("signals", test_signals);
  ADD ("an-ignored-signal-stays-so", test_an_ignored_signal_stays_so);
  ADD ("the-usual-folder", test_the_usual_folder);
  return g_test_run ();
}
