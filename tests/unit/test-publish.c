/* SPDX-License-Identifier: BSD-3-Clause */
/* The lock of publications, held by a process that was stopped, and who may read a file that is
 * being written. g_usleep is replaced: it counts; and fsync, which sees the file at its end. */
#include "store.h"

#include "host/process.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static guint n_pauses, n_synced;

/* What is synced is complete, and does not have its name yet. */
int
fsync (int fd)
{
  struct stat status;
  g_assert_cmpint (fstat (fd, &status), ==, 0);
  if (S_ISREG (status.st_mode))
    {
      g_assert_cmpuint (status.st_mode & 0777, ==, 0600);
      n_synced++;
    }
  return (int)syscall (SYS_fsync, fd);
}

void
g_usleep (gulong us)
{
  (void)us;
  n_pauses++;
}

static void
test_a_lock_that_is_kept_is_waited_for_once (Fixture *f, gconstpointer unused)
{
  gboolean is_stalled = FALSE;
  int holder = open (f->folder, O_RDONLY | O_DIRECTORY);
  (void)unused;
  g_assert_cmpint (flock (holder, LOCK_EX | LOCK_NB), ==, 0);
  n_pauses = 0;
  g_assert_cmpint (publish_lock (f->target, &is_stalled), ==, -1);
  g_assert_true (is_stalled);
  g_assert_cmpuint (n_pauses, >, 1);
  n_pauses = 0;
  g_assert_cmpint (publish_lock (f->target, &is_stalled), ==, -1);
  g_assert_cmpuint (n_pauses, ==, 0);
  close (holder);
  int own = publish_lock (f->target, &is_stalled);
  g_assert_cmpint (own, >=, 0);
  g_assert_false (is_stalled);
  close (own);
}

static mode_t
mode_of (const char *path)
{
  struct stat status;
  g_assert_cmpint (stat (path, &status), ==, 0);
  return status.st_mode & 0777;
}

/* Nobody else reads a checkpoint before it has its mode: that of the file which it replaces, or
 * what the umask gives any new file. */
static void
test_a_file_is_private_until_it_is_in_its_place (Fixture *f, gconstpointer unused)
{
  static const mode_t umasks[] = { 0, 022, 077 };
  (void)unused;
  for (guint i = 0; i < G_N_ELEMENTS (umasks); i++)
    {
      mode_t before = umask (umasks[i]);
      n_synced = 0;
      publish (f);
      g_assert_cmpuint (mode_of (f->target), ==, 0666 & ~umasks[i]);
      g_assert_cmpint (chmod (f->target, 0644), ==, 0);
      publish (f);
      g_assert_cmpuint (mode_of (f->target), ==, 0644);
      g_assert_cmpuint (n_synced, ==, 2);
      g_assert_cmpint (g_unlink (f->target), ==, 0);
      (void)umask (before);
    }
}

/* What a writer that died has left beside the file. */
static void
put_temporary (Fixture *f, const char *name, gint64 age_s)
{
  g_autofree char *path = g_build_filename (f->folder, name, NULL);
  gint64 then = g_get_real_time () / G_USEC_PER_SEC - age_s;
  const struct timespec times[2] = { { .tv_sec = then }, { .tv_sec = then } };

  g_assert_true (g_file_set_contents (path, "x", 1, NULL));
  g_assert_cmpint (utimensat (AT_FDCWD, path, times, 0), ==, 0);
}

static gboolean
stands (Fixture *f, const char *name)
{
  g_autofree char *path = g_build_filename (f->folder, name, NULL);

  return g_file_test (path, G_FILE_TEST_EXISTS);
}

/* Dead writers' files and their journals go. So does what a writer of another host has not touched
 * for more than a day. All else stays. */
static void
test_only_what_nobody_writes_is_swept (Fixture *f, gconstpointer unused)
{
  const gint64 day_s = 24 * 3600;
  g_autofree char *own = process_mark (getpid ());
  g_autofree char *base = g_path_get_basename (f->target);
  const char *rest = own + PROCESS_HOST_LENGTH; /* "-PID-BIRTH" */
  const struct
  {
    const char *run, *host, *mark, *end;
    gint64 age_s;
    gboolean goes;
  } cases[] = {
    { "run", process_host (), "-2147483646-1", "-0.tmp", 0, TRUE },
    { "run", process_host (), "-2147483646-1", "-0.tmp-journal", 0, TRUE },
    { "run", process_host (), "-2147483646-1", "-0.tmp-other", 0, FALSE },
    { "run", process_host (), "-2147483646-1", "-.tmp", 0, FALSE },
    { "r.n", process_host (), "-2147483646-1", "-0.tmp", 0, FALSE },
    { "run", process_host (), rest, "-0.tmp", 100 * day_s, FALSE },
    { "run", process_host (), rest, "-0.tmp-journal", 100 * day_s, FALSE },
    { "run", "00000000", rest, "-0.tmp", 0, FALSE },
    { "run", "00000000", rest, "-1.tmp", day_s - 3600, FALSE },
    { "run", "00000000", rest, "-2.tmp", day_s + 3600, TRUE },
    { "run", "00000000", rest, "-2.tmp-journal", day_s + 3600, TRUE },
  };
  (void)unused;
  for (guint turn = 0; turn < 2; turn++)
    {
      for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
        {
          g_autofree char *name = g_strdup_printf (".%s.%s.%s%s%s", base, cases[i].run,
                                                   cases[i].host, cases[i].mark, cases[i].end);
          if (turn == 0)
            put_temporary (f, name, cases[i].age_s);
          else if (stands (f, name) == cases[i].goes)
            g_error ("'%s' %s", name, cases[i].goes ? "stands" : "is gone");
        }
      if (turn == 0)
        publish_sweep (f->target);
    }
}

/* Whatever the run is called: one name of a file comes of it, which a sweep knows. */
static void
test_any_name_of_a_run_will_do (Fixture *f, gconstpointer unused)
{
  static const char *const runs[] = { "a/b", "..", "a.b", "ü", "a b", "" };
  (void)unused;
  for (guint i = 0; i < G_N_ELEMENTS (runs); i++)
    {
      g_autoptr (GError) error = NULL;
      g_assert_true (publish_try (f->target, runs[i], &error));
      g_assert_no_error (error);
    }
}

int
main (int argc, char **argv)
{
  static const NamedTest tests[] = {
    { "/publish/a-lock-that-is-kept-is-waited-for-once",
      test_a_lock_that_is_kept_is_waited_for_once },
    { "/publish/a-file-is-private-until-it-is-in-its-place",
      test_a_file_is_private_until_it_is_in_its_place },
    { "/publish/only-what-nobody-writes-is-swept", test_only_what_nobody_writes_is_swept },
    { "/publish/any-name-of-a-run-will-do", test_any_name_of_a_run_will_do },
  };
  return run_tests (argc, argv, tests, G_N_ELEMENTS (tests));
}
