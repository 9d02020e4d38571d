/* SPDX-License-Identifier: BSD-3-Clause */
/* The lock of publications, held by a stopped process, and which users may read a file that is
 * being written. g_usleep is replaced and counts; fsync is replaced and looks at the file when it
 * is complete. */
#include "store.h"

#include "host/process.h"

#include "storage/places/place.h"

#include <errno.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static guint n_pauses, n_synced, n_folders_synced;
static gsize synced_bytes;
static gboolean sync_fails;

/* A file that is synced is complete and does not have its final name yet. */
int
fsync (int fd)
{
  struct stat status;
  g_assert_cmpint (fstat (fd, &status), ==, 0);
  if (S_ISREG (status.st_mode))
    {
      g_assert_cmpuint (status.st_mode & 0777, ==, 0600);
      n_synced++;
      synced_bytes = (gsize)status.st_size;
      if (sync_fails)
        {
          errno = EIO;
          return -1;
        }
    }
  n_folders_synced += S_ISDIR (status.st_mode);
  return (int)syscall (SYS_fsync, fd);
}

static gboolean spoils; /* the disk changes a byte of the spare pages that it is given */

static ssize_t
write_at (int fd, const void *data, size_t size, off_t at)
{
  const guint8 *head = spoils ? memmem (data, size, "satin spare page", 16) : NULL;
  if (head == NULL)
    return syscall (SYS_pwrite64, fd, data, size, at);
  g_autofree guint8 *spoilt = g_memdup2 (data, size);
  spoilt[head - (const guint8 *)data + 40] ^= 1; /* in the checksum of a page */
  return syscall (SYS_pwrite64, fd, spoilt, size, at);
}

ssize_t
pwrite (int fd, const void *data, size_t size, off_t at)
{
  return write_at (fd, data, size, at);
}

ssize_t
pwrite64 (int fd, const void *data, size_t size, off64_t at)
{
  return write_at (fd, data, size, at);
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

/* Other users cannot read a checkpoint before it has its mode: that of the file which it replaces,
 * or what the umask gives a new file. */
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

/* Makes a file as a dead writer leaves it beside the checkpoint. */
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

/* Files of dead writers and their journals are removed, and so are files of a writer of another
 * host that are older than a day. All other files stay. */
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

/* The number of files besides the work file and the checkpoint. */
static guint
count_others (Fixture *f)
{
  g_autoptr (GDir) dir = g_dir_open (f->folder, 0, NULL);
  const char *name;
  guint n = 0;
  while ((name = g_dir_read_name (dir)) != NULL)
    n += !g_str_has_prefix (name, "work") && strcmp (name, "run.ckpt") != 0;
  return n;
}

/* Any name of a run gives one valid file name, which a sweep recognises. */
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
      g_assert_cmpuint (count_others (f), ==, 0);
    }
}

#define N_STALE 100u

/* A process with the same id, started at the same time after another boot, may have left any file
 * where this process writes. It does no harm, and no file of ours is left beside it. */
static void
test_what_stood_there_is_written_over (Fixture *f, gconstpointer unused)
{
  g_autofree char *mark = process_mark (getpid ());
  guint64 us;
  (void)unused;
  for (guint i = 0; i < 2 * N_STALE; i++)
    {
      g_autofree char *name = g_strdup_printf (".run.ckpt.run-1.%s-%u.tmp%s", mark, i / 2,
                                               i % 2 != 0 ? "-journal" : "");
      put_temporary (f, name, 0);
    }
  publish (f);
  g_assert_cmpuint (count_others (f), ==, 2 * N_STALE - 2);
  g_assert_true (publish_try (f->target, "run-1", NULL));
  g_assert_cmpuint (count_others (f), ==, 2 * N_STALE - 4);
  g_assert_true (publish_trial (f->target, "run-1", 1000, &us, NULL));
  g_assert_cmpuint (count_others (f), ==, 2 * N_STALE - 7); /* the file's new name has no journal */
}

/* A trial does the same as a publication of so many bytes. It leaves no file, even if it fails, and
 * does not change the checkpoint. */
static void
test_a_trial_leaves_nothing (Fixture *f, gconstpointer unused)
{
  static const guint64 sizes[] = { 0, 1, 65535, 65536, 65537, 300000 };
  g_autofree char *before = NULL, *after = NULL;
  gsize size, size_after;
  guint64 us;
  (void)unused;
  publish (f);
  g_assert_true (g_file_get_contents (f->target, &before, &size, NULL));
  for (guint i = 0; i < 2 * G_N_ELEMENTS (sizes); i++)
    {
      g_autoptr (GError) error = NULL;
      sync_fails = i % 2 != 0;
      n_synced = n_folders_synced = 0;
      g_assert_cmpint (publish_trial (f->target, "run-1", sizes[i / 2], &us, &error), ==,
                       !sync_fails);
      g_assert_cmpint (g_error_matches (error, STORAGE_ERROR, STORAGE_ERROR_PLACE), ==, sync_fails);
      g_assert_cmpuint (synced_bytes, ==, sizes[i / 2]);
      g_assert_cmpuint (n_synced, ==, 1);
      g_assert_cmpuint (n_folders_synced, ==, !sync_fails);
      g_assert_cmpuint (count_others (f), ==, 0);
    }
  Published published;
  g_autoptr (GError) error = NULL;
  g_assert_true (put (f, "/5", 1, 1));
  g_assert_false (publish_copy (f->sql, f->target, "run-1", NULL, &published, &error));
  sync_fails = FALSE;
  g_assert_error (error, STORAGE_ERROR, STORAGE_ERROR_PLACE);
  g_assert_cmpuint (count_others (f), ==, 0);
  g_assert_true (g_file_get_contents (f->target, &after, &size_after, NULL));
  g_assert_cmpmem (before, size, after, size_after);
}

/* A copy whose spare pages did not come to the disk as they are is no publication: they are needed
 * when a page of it is lost. The checkpoint before stays. */
static void
test_a_copy_without_its_spare_pages_is_none (Fixture *f, gconstpointer unused)
{
  g_autofree char *before = NULL, *after = NULL;
  g_autoptr (GError) error = NULL;
  gsize size, size_after;
  Published published;
  (void)unused;
  publish (f);
  g_assert_true (g_file_get_contents (f->target, &before, &size, NULL));
  g_assert_true (put (f, "/5", 1, 1));
  spoils = TRUE;
  g_assert_false (publish_copy (f->sql, f->target, "run-1", NULL, &published, &error));
  spoils = FALSE;
  g_assert_error (error, STORAGE_ERROR, STORAGE_ERROR_PLACE);
  g_assert_cmpuint (count_others (f), ==, 0);
  g_assert_true (g_file_get_contents (f->target, &after, &size_after, NULL));
  g_assert_cmpmem (before, size, after, size_after);
  publish (f);
}

/* The mark in the header shows whether a delta may follow: it may from so many bytes on. */
static void
test_the_mark_tells_of_a_delta (Fixture *f, gconstpointer unused)
{
  Published published;
  gsize size;
  (void)unused;
  publish (f);
  g_autofree char *bytes = NULL;
  g_assert_true (g_file_get_contents (f->target, &bytes, &size, NULL));
  for (gsize from = size - 1; from <= size + 1; from++)
    {
      PublishMark mark = { 7, from };
      guint32 says, expected = place_mark (7, size >= from);
      g_autofree char *data = NULL;
      gsize now;
      g_assert_true (publish_copy (f->sql, f->target, "run-1", &mark, &published, NULL));
      g_assert_cmpuint (published.bytes, ==, size);
      close (published.fd);
      g_assert_true (g_file_get_contents (f->target, &data, &now, NULL));
      g_assert_cmpuint (now, ==, size);
      memcpy (&says, data + PLACE_MARK_AT, sizeof says);
      g_assert_cmphex (says, ==, expected);
    }
}

/* Disk errors surface before a batch counts: each commit waits for the disk, except while a work
 * file is begun and in the last batch, after which nobody needs it. A publication changes nothing
 * of that. */
static void
test_commits_wait_for_the_disk (Fixture *f, gconstpointer unused)
{
  enum
  {
    OFF,
    NORMAL
  };
  (void)unused;
  g_assert_cmpint (number_of (f->sql, "PRAGMA synchronous"), ==, OFF);
  g_assert_true (sql_settle (f->sql, NULL));
  g_assert_cmpint (number_of (f->sql, "PRAGMA synchronous"), ==, NORMAL);
  publish (f);
  g_assert_cmpint (number_of (f->sql, "PRAGMA synchronous"), ==, NORMAL);
  g_assert_true (sql_unsettle (f->sql, NULL));
  g_assert_cmpint (number_of (f->sql, "PRAGMA synchronous"), ==, OFF);
}

/* Two publications of the same content have different first bytes, by which a store without tags
 * tells them apart. */
static void
test_no_two_publications_are_alike (Fixture *f, gconstpointer unused)
{
  const PublishMark mark = { 7, G_MAXUINT64 };
  char bytes[2][100];
  (void)unused;
  for (guint i = 0; i < 2; i++)
    {
      Published published;
      g_assert_true (publish_copy (f->sql, f->target, "run-1", &mark, &published, NULL));
      g_assert_cmpint (pread (published.fd, bytes[i], sizeof bytes[i], 0), ==,
                       (ssize_t)sizeof bytes[i]);
      g_assert_true (g_close (published.fd, NULL));
    }
  g_assert_cmpint (memcmp (bytes[0], bytes[1], sizeof bytes[0]), !=, 0);
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
    { "/publish/what-stood-there-is-written-over", test_what_stood_there_is_written_over },
    { "/publish/a-trial-leaves-nothing", test_a_trial_leaves_nothing },
    { "/publish/a-copy-without-its-spare-pages-is-none",
      test_a_copy_without_its_spare_pages_is_none },
    { "/publish/the-mark-tells-of-a-delta", test_the_mark_tells_of_a_delta },
    { "/publish/commits-wait-for-the-disk", test_commits_wait_for_the_disk },
    { "/publish/no-two-publications-are-alike", test_no_two_publications_are_alike },
  };
  return run_tests (argc, argv, tests, G_N_ELEMENTS (tests));
}
