/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of --trace: each write consists of whole lines, so a killed node leaves no partial line
 * and nodes that write at the same time do not mix theirs. */
#include "config.h"

#include "engine/os/timeline.h"
#include "folder/timeline-file.h"

#include "text/json.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char *path;
static gboolean watched; /* each write is checked */
static guint n_writes;

ssize_t
write (int fd, const void *bytes, size_t size)
{
  if (watched)
    {
      n_writes++;
      if (size == 0 || size > 4096 || ((const char *)bytes)[size - 1] != '\n')
        _exit (99); /* a failed assertion would write, too */
    }
  return (ssize_t)syscall (SYS_write, fd, bytes, size);
}

/* Adds so many notes of a process. */
static void
add (gint64 pid, guint n, gboolean last)
{
  g_autoptr (GString) text = g_string_new (NULL);
  Timeline *timeline = timeline_new (pid, "node");
  TimelineLane *lane = timeline_lane (timeline, 1, "worker 0");

  for (guint i = 0; i < n; i++)
    timeline_mark (lane, i % 3 == 0 ? "a" : "a longer name of a mark", "figure", i * i);
  timeline_begin (lane, "job", NULL, 0);
  timeline_take (timeline, text);
  if (last)
    timeline_take_open (timeline, text);
  timeline_file_add (path, text);
  timeline_free (timeline);
}

/* (transfer full): the content of the file, once it is closed. */
static GVariant *
read_all (void)
{
  g_autofree char *text = NULL;

  timeline_file_end (path);
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  GVariant *notes = json_read (text);
  g_assert_nonnull (notes);
  g_assert_true (g_variant_is_of_type (notes, G_VARIANT_TYPE ("av")));
  return notes;
}

static void
test_lines (void)
{
  g_autoptr (GError) error = NULL;

  for (guint n = 0; n < 400; n += 7)
    {
      g_assert_true (timeline_file_begin (path, &error));
      n_writes = 0;
      watched = TRUE;
      add (5, n, TRUE);
      watched = FALSE;
      g_assert_cmpuint (n_writes, >, n / 100);
      g_autoptr (GVariant) notes = read_all ();
      g_assert_cmpuint (g_variant_n_children (notes), >=, n + 3);
    }
}

static void
test_at_once (void)
{
  g_autoptr (GError) error = NULL;
  pid_t pids[4];

  g_assert_true (timeline_file_begin (path, &error));
  for (guint i = 0; i < G_N_ELEMENTS (pids); i++)
    {
      pids[i] = fork ();
      if (pids[i] == 0)
        {
          watched = TRUE;
          for (guint round = 0; round < 10; round++)
            add (i, 200, TRUE);
          _exit (0);
        }
    }
  for (guint i = 0; i < G_N_ELEMENTS (pids); i++)
    {
      int status;
      g_assert_cmpint (waitpid (pids[i], &status, 0), ==, pids[i]);
      g_assert_cmpint (status, ==, 0);
    }
  g_autoptr (GVariant) notes = read_all ();
  g_assert_cmpuint (g_variant_n_children (notes), >=, 4 * 10 * 200);
}

/* The file of a run whose nodes were all killed can be read as far as it goes. */
static void
test_refused (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_path_get_dirname (path);

  g_assert_false (timeline_file_begin (folder, &error));
  g_assert_nonnull (strstr (error->message, folder));
}

/* A file that the user took away is not begun again in the middle of the run. */
static void
test_taken_away (void)
{
  g_autoptr (GString) line = g_string_new ("{},\n");

  g_assert_true (timeline_file_begin (path, NULL));
  timeline_file_add (path, line);
  g_assert_cmpint (g_unlink (path), ==, 0);
  timeline_file_add (path, line);
  timeline_file_end (path);
  g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
}

/* The user's umask determines who may read the file, as for any new file. */
static void
test_mode (void)
{
  static const mode_t masks[] = { 022, 077, 002 };
  mode_t old = umask (0);

  for (guint i = 0; i < G_N_ELEMENTS (masks); i++)
    {
      GStatBuf info;
      g_unlink (path);
      umask (masks[i]);
      g_assert_true (timeline_file_begin (path, NULL));
      g_assert_cmpint (g_stat (path, &info), ==, 0);
      g_assert_cmpint (info.st_mode & 0777, ==, 0666 & ~masks[i]);
    }
  umask (old);
}

int
main (int argc, char **argv)
{
  g_autofree char *folder = g_dir_make_tmp ("satin-timeline-XXXXXX", NULL);

  path = g_build_filename (folder, "trace.json", NULL);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/timeline-file/whole-lines-are-written", test_lines);
  g_test_add_func ("/timeline-file/several-write-at-once", test_at_once);
  g_test_add_func ("/timeline-file/a-folder-is-refused", test_refused);
  g_test_add_func ("/timeline-file/taken-away", test_taken_away);
  g_test_add_func ("/timeline-file/mode", test_mode);
  int code = g_test_run ();
  g_unlink (path);
  g_rmdir (folder);
  g_free (path);
  return code;
}
