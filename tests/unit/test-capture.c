/* SPDX-License-Identifier: BSD-3-Clause */
/* What a descriptor gets is held back, all of it and nothing else, and the descriptor is then what
 * it was before (node/capture.c). The descriptor of the tests is one end of a pipe. */
#include "node/capture.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LARGE (300 * 1000) /* bytes; more than a pipe holds, and than one read takes */

typedef struct
{
  int fd, out; /* the pipe: what is written to `fd`, and not held back, comes out here */
  char *file;
} Fixture;

static void
set_up (Fixture *f, gconstpointer unused)
{
  int ends[2];

  (void)unused;
  g_assert_cmpint (pipe2 (ends, O_CLOEXEC | O_NONBLOCK), ==, 0);
  f->out = ends[0];
  f->fd = ends[1];
  close (g_file_open_tmp ("satin-capture-XXXXXX", &f->file, NULL));
  g_assert_cmpint (g_remove (f->file), ==, 0);
}

static void
tear_down (Fixture *f, gconstpointer unused)
{
  (void)unused;
  close (f->fd);
  close (f->out);
  g_remove (f->file);
  g_free (f->file);
}

static void
say (const Fixture *f, const char *text)
{
  g_assert_cmpint (write (f->fd, text, strlen (text)), ==, (gssize)strlen (text));
}

/* What came through the pipe since the last call. */
static void
comes_out (const Fixture *f, const char *wanted)
{
  char text[100] = "";
  gssize n = read (f->out, text, sizeof text - 1);

  text[MAX (n, 0)] = '\0';
  g_assert_cmpstr (text, ==, wanted);
}

static void
held (Capture *capture, const char *wanted)
{
  const char *why = NULL;
  g_autoptr (GBytes) bytes = capture_end (capture, &why);

  g_assert_nonnull (bytes);
  g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), wanted,
                   strlen (wanted));
  g_assert_cmpint (capture->fd, ==, -1);
}

static guint
count_descriptors (void)
{
  g_autoptr (GDir) dir = g_dir_open ("/proc/self/fd", 0, NULL);
  guint n = 0;

  while (g_dir_read_name (dir) != NULL)
    n++;
  return n;
}

static void
all_is_held_back (Fixture *f, gconstpointer named)
{
  g_autofree char *large = g_strnfill (LARGE, 'x');
  const char *path = named != NULL ? f->file : NULL;
  guint before = count_descriptors ();
  Capture capture = CAPTURE_NONE;

  held (&capture, "");
  say (f, "before ");
  g_assert_true (capture_begin (&capture, f->fd, path));
  say (f, "one ");
  say (f, "two");
  comes_out (f, "before ");
  held (&capture, "one two");
  say (f, "after");
  comes_out (f, "after");
  g_assert_true (capture_begin (&capture, f->fd, path)); /* what was held before does not count */
  say (f, large);
  held (&capture, large);
  g_assert_true (capture_begin (&capture, f->fd, path));
  held (&capture, "");
  g_assert_cmpuint (count_descriptors (), ==, before);
}

/* The file stays for those who look after a crash, and is this user's alone. Other processes that
 * have it open write behind what is there. */
static void
a_file_with_a_name_stays (Fixture *f, gconstpointer unused)
{
  g_autofree char *text = NULL;
  Capture capture = CAPTURE_NONE;
  struct stat info;

  (void)unused;
  g_assert_true (capture_begin (&capture, f->fd, f->file));
  say (f, "one ");
  int other = dup (f->fd);
  g_assert_cmpint (lseek (other, 0, SEEK_SET), ==, 0);
  say (f, "two");
  close (other);
  held (&capture, "one two");
  g_assert_true (g_file_get_contents (f->file, &text, NULL, NULL));
  g_assert_cmpstr (text, ==, "one two");
  g_assert_cmpint (stat (f->file, &info), ==, 0);
  g_assert_cmpint (info.st_mode & 0777, ==, 0600);
}

static void
nothing_is_held_back_without_a_file (Fixture *f, gconstpointer unused)
{
  guint before = count_descriptors ();
  Capture capture = { .fd = 7 };

  (void)unused;
  g_assert_false (capture_begin (&capture, f->fd, "/nowhere/file"));
  g_assert_cmpint (capture.fd, ==, -1);
  g_assert_false (capture_begin (&capture, -1, NULL));
  g_assert_cmpuint (count_descriptors (), ==, before);
  say (f, "said");
  comes_out (f, "said");
}

/* A descriptor that the program has closed may be another file's by now: neither is read, written
 * or closed. */
static void
strange_descriptors_are_left_alone (Fixture *f, gconstpointer unused)
{
  (void)unused;
  for (guint i = 0; i < 2; i++)
    {
      Capture capture = CAPTURE_NONE;
      const char *why = NULL;
      int null = open ("/dev/null", O_RDONLY);

      g_assert_true (capture_begin (&capture, f->fd, NULL));
      int taken = i == 0 ? capture.saved.fd : capture.file.fd, other = dup (f->fd);
      int saved = dup (capture.saved.fd);
      g_assert_cmpint (dup2 (null, taken), ==, taken);
      g_assert_null (capture_end (&capture, &why));
      g_assert_nonnull (strstr (why, "has closed descriptors"));
      g_assert_cmpint (capture.fd, ==, -1);
      g_assert_cmpint (fcntl (taken, F_GETFD), >=, 0); /* it was not closed */
      g_assert_cmpint (dup2 (saved, f->fd), ==, f->fd);
      close (saved);
      close (taken);
      close (other);
      close (null);
    }
}

/* A full pipe takes nothing more, and that is told. */
static void
all_is_written_or_it_is_told (Fixture *f, gconstpointer unused)
{
  g_autofree char *large = g_strnfill (LARGE, 'x');
  g_autoptr (GBytes) little = g_bytes_new ("little", 6), much = g_bytes_new (large, LARGE);
  const char *why = NULL;

  (void)unused;
  g_assert_true (capture_write (f->fd, little, &why));
  comes_out (f, "little");
  g_assert_null (why);
  g_assert_false (capture_write (f->fd, much, &why));
  g_assert_nonnull (why);
  why = NULL;
  FILE *full = fopen ("/dev/full", "w");
  g_assert_true (capture_flush (full, &why));
  fputs ("x", full);
  g_assert_false (capture_flush (full, &why));
  g_assert_nonnull (why);
  int null = open ("/dev/null", O_WRONLY);
  g_assert_cmpint (dup2 (null, fileno (full)), ==, fileno (full));
  g_assert_true (capture_flush (full, &why)); /* it is told once */
  close (null);
  fclose (full);
}

/* Processes that jobs start get none of the descriptors, and the program's own streams keep their
 * numbers. */
static void
no_other_process_gets_it (Fixture *f, gconstpointer unused)
{
  Capture capture = CAPTURE_NONE;
  int in = dup (STDIN_FILENO), err = dup (STDERR_FILENO);

  (void)unused;
  close (STDIN_FILENO);
  close (STDERR_FILENO);
  gboolean begun = capture_begin (&capture, f->fd, NULL);
  int saved = capture.saved.fd, of_saved = fcntl (saved, F_GETFD),
      of_file = fcntl (capture.file.fd, F_GETFD);
  held (&capture, "");
  dup2 (in, STDIN_FILENO);
  dup2 (err, STDERR_FILENO);
  close (in);
  close (err);
  g_assert_true (begun);
  g_assert_cmpint (saved, >, STDERR_FILENO);
  g_assert_cmpint (of_saved, ==, FD_CLOEXEC);
  g_assert_cmpint (of_file, ==, FD_CLOEXEC);
}

/* The number of a file on one disk may be that of another file on another disk. */
static void
a_file_of_another_disk_is_another (Fixture *f, gconstpointer unused)
{
  Capture capture = CAPTURE_NONE;
  const char *why = NULL;

  (void)unused;
  g_assert_true (capture_begin (&capture, f->fd, NULL));
  int file = capture.file.fd;
  capture.file.device++;
  g_assert_null (capture_end (&capture, &why));
  g_assert_nonnull (strstr (why, "has closed descriptors"));
  close (file);
}

/* What a process reads from or writes to a stream that it was started without is an error. */
static void
closed_streams_stay_useless (Fixture *f, gconstpointer unused)
{
  pid_t child = fork ();
  int status;
  char byte;

  (void)f, (void)unused;
  if (child == 0)
    {
      for (int fd = 0; fd <= STDERR_FILENO; fd++)
        close (fd);
      capture_guard ();
      int other = open ("/dev/null", O_RDWR);
      _exit (other > STDERR_FILENO && read (STDIN_FILENO, &byte, 1) < 0
                     && write (STDOUT_FILENO, "", 1) < 0 && write (STDERR_FILENO, "", 1) < 0
                 ? 0
                 : 1);
    }
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_cmpint (status, ==, 0);
}

int
main (int argc, char **argv)
{
  static const struct
  {
    const char *name, *data;
    void (*test) (Fixture *, gconstpointer);
  } tests[] = {
    { "/capture/unnamed", NULL, all_is_held_back },
    { "/capture/named", "", all_is_held_back },
    { "/capture/file-stays", NULL, a_file_with_a_name_stays },
    { "/capture/without-a-file", NULL, nothing_is_held_back_without_a_file },
    { "/capture/strange-descriptors", NULL, strange_descriptors_are_left_alone },
    { "/capture/written", NULL, all_is_written_or_it_is_told },
    { "/capture/no-other-process", NULL, no_other_process_gets_it },
    { "/capture/another-disk", NULL, a_file_of_another_disk_is_another },
    { "/capture/closed-streams", NULL, closed_streams_stay_useless },
  };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add (tests[i].name, Fixture, tests[i].data, set_up, tests[i].test, tear_down);
  return g_test_run ();
}
