/* SPDX-License-Identifier: BSD-3-Clause */
/* Temporary file beside the target, copy by SQLite, check, fsync, rename, fsync of the folder. The
 * temporary file is ".NAME.RUN.HOST-PID-BIRTH-N.tmp" with mode 0600. Before the rename it gets the
 * mode of the file that it replaces, or else the mode that the umask gives new files. Does not
 * interpret the copy. */
#include "storage/publish.h"

#include "host/crash.h"
#include "host/process.h"
#include "host/whole.h"

#include "storage/layout.h"
#include "storage/spare.h"

#include "storage/places/place.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Limits for parts of ".NAME.RUN.HOST-PID-BIRTH-N.tmp", so that the whole is not longer than a file
 * name may be (255). */
#define NAME_BYTES_MAX 130
#define RUN_BYTES_MAX 64
/* The ending of SQLite's journal, which stays behind if the process is killed during a copy. */
#define JOURNAL "-journal"
#define LOCK_TRIES 100 /* in a second */
/* No copy takes a day between two writes. */
#define OLD_S (24 * 3600)
#define TRIAL_BLOCK_BYTES 65536u

static char *
temporary_name (const char *target, const char *run)
{
  g_autofree char *folder = g_path_get_dirname (target);
  g_autofree char *base = g_path_get_basename (target);
  g_autofree char *name = g_strndup (base, NAME_BYTES_MAX);
  g_autofree char *clean = g_strndup (run, RUN_BYTES_MAX);
  g_autofree char *mark = process_mark (getpid ());
  static int last; /* for a while a process may have two coordinators */
  g_strcanon (clean, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "-", '_');
  return g_strdup_printf ("%s/.%s.%s.%s-%d.tmp", folder, name, clean, mark,
                          g_atomic_int_add (&last, 1));
}

static gboolean
place_failed (GError **error, const char *what, const char *target)
{
  g_set_error (error, STORAGE_ERROR, STORAGE_ERROR_PLACE, "cannot %s checkpoint '%s': %s", what,
               target, g_strerror (errno));
  return FALSE;
}

/* Returns the descriptor, or -1. `mode` (out): the mode of the finished file. */
static int
temporary_open (const char *name, const char *target, mode_t *mode, GError **error)
{
  struct stat status;
  g_autofree char *journal = g_strconcat (name, JOURNAL, NULL);
  (void)g_unlink (name);
  (void)g_unlink (journal);
  int fd = open (name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (fd < 0 || fstat (fd, &status) != 0 || fchmod (fd, 0600) != 0)
    {
      place_failed (error, "write", target);
      if (fd >= 0)
        {
          (void)close (fd);
          (void)g_unlink (name);
        }
      return -1;
    }
  *mode = status.st_mode & 0777;
  if (lstat (target, &status) == 0 && S_ISREG (status.st_mode))
    *mode = status.st_mode & 0777;
  return fd;
}

static gboolean
copy_failed (sqlite3 *copy, int code, GError **error)
{
  g_set_error (error, STORAGE_ERROR, STORAGE_ERROR_PLACE, "%s",
               copy != NULL && sqlite3_errcode (copy) != SQLITE_OK ? sqlite3_errmsg (copy)
                                                                   : sqlite3_errstr (code));
  return FALSE;
}

static gboolean
copy_without_gaps (Sql *sql, const char *name, GError **error)
{
  guint32 page_size;
  if (!layout_choose (sql, &page_size, error))
    return FALSE;
  /* Applies to the next copy; the work file itself keeps its page size. */
  g_autofree char *pragma
      = g_strdup_printf ("PRAGMA page_size=%u; PRAGMA synchronous=OFF", page_size);
  sqlite3_stmt *statement
      = sql_run (sql, pragma, error) ? sql_ready (sql, "VACUUM INTO ?1", error) : NULL;
  if (statement == NULL)
    return FALSE;
  sqlite3_bind_text (statement, 1, name, -1, SQLITE_STATIC);
  gboolean good = sql_finish (sql, statement, error);
  return sql_settle (sql, good ? error : NULL) && good;
}

/* The first value of a statement; NULL: error. */
static char *
ask (sqlite3 *db, const char *text)
{
  sqlite3_stmt *statement = NULL;
  char *answer = NULL;
  if (sqlite3_prepare_v2 (db, text, -1, &statement, NULL) == SQLITE_OK
      && sqlite3_step (statement) == SQLITE_ROW)
    answer = g_strdup ((const char *)sqlite3_column_text (statement, 0));
  sqlite3_finalize (statement);
  return answer;
}

/* The copy was made in one transaction. So it is complete, or empty if the transaction was rolled
 * back. */
static gboolean
copy_is_whole (sqlite3 *db, sqlite3 *copy)
{
  static const char objects[] = "SELECT count(*) FROM main.sqlite_schema";
  g_autofree char *check = ask (copy, "PRAGMA quick_check (1)");
  g_autofree char *expected = ask (db, objects);
  g_autofree char *found = ask (copy, objects);
  return g_strcmp0 (check, "ok") == 0 && expected != NULL && g_strcmp0 (expected, found) == 0;
}

/* VACUUM INTO leaves no gaps, so the size of the copy follows the frontier. SQLite needs neither a
 * journal nor a sync here: a partial copy is deleted, and the complete one is synced below. */
static gboolean
copy_into (Sql *sql, int fd, const char *name, GError **error)
{
  sqlite3 *copy = NULL;
  if (!copy_without_gaps (sql, name, error))
    return FALSE;
  if (!spare_add (fd))
    {
      g_set_error (error, STORAGE_ERROR, STORAGE_ERROR_PLACE, "%s", g_strerror (errno));
      return FALSE;
    }
  int code = sqlite3_open_v2 (name, &copy, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
  gboolean good = code == SQLITE_OK || copy_failed (copy, code, error);
  if (good && (!copy_is_whole (sql->db, copy) || !spare_is_whole (fd)))
    {
      g_set_error (error, STORAGE_ERROR, STORAGE_ERROR_PLACE, "the copy is damaged");
      good = FALSE;
    }
  sqlite3_close (copy);
  return good;
}

/* The place of the file's change counter. Any value will do: SQLite only tests whether it has
 * changed. */
#define COUNTER_AT 24

/* Makes the first bytes of every publication different: for stores without tags these bytes are
 * compared (place.h). */
static gboolean
mark_copy (int fd, const PublishMark *mark)
{
  struct stat status;
  guint32 counter = g_random_int (), says = 0;
  if (fstat (fd, &status) != 0)
    return FALSE;
  if (mark != NULL)
    says = place_mark (mark->number, (guint64)status.st_size >= mark->delta_from);
  return whole_write_at (fd, &counter, sizeof counter, COUNTER_AT)
         && whole_write_at (fd, &says, sizeof says, PLACE_MARK_AT);
}

static void
sync_folder (const char *target)
{
  g_autofree char *folder = g_path_get_dirname (target);
  int fd = open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return;
  /* Some file systems cannot sync a folder; there the rename is atomic nevertheless. */
  (void)fsync (fd);
  (void)close (fd);
}

gboolean
publish_try (const char *target, const char *run, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (target);
  struct stat status;
  if (stat (folder, &status) != 0 || !S_ISDIR (status.st_mode))
    {
      g_set_error (error, STORAGE_ERROR, STORAGE_ERROR_PLACE,
                   "cannot write checkpoint '%s': there is no folder '%s'", target, folder);
      return FALSE;
    }
  mode_t mode;
  g_autofree char *name = temporary_name (target, run);
  int fd = temporary_open (name, target, &mode, error);
  if (fd < 0)
    return FALSE;
  (void)close (fd);
  return g_unlink (name) == 0 || place_failed (error, "write", target);
}

int
publish_lock (const char *target, gboolean *is_stalled)
{
  g_autofree char *folder = g_path_get_dirname (target);
  int fd = open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int pauses = *is_stalled ? 0 : LOCK_TRIES;
  *is_stalled = FALSE;
  while (fd >= 0 && flock (fd, LOCK_EX | LOCK_NB) != 0)
    {
      *is_stalled = errno == EWOULDBLOCK && pauses == 0;
      if ((errno != EWOULDBLOCK && errno != EINTR) || pauses-- == 0)
        {
          (void)close (fd);
          return -1;
        }
      g_usleep (G_USEC_PER_SEC / LOCK_TRIES);
    }
  return fd;
}

static gboolean
put_in_place (int fd, const char *name, const char *target, mode_t mode, struct stat *status)
{
#ifndef SATIN_PLANT_RENAME_FIRST
  if (fsync (fd) != 0)
    return FALSE;
#endif
  if (fchmod (fd, mode) != 0 || fstat (fd, status) != 0)
    return FALSE;
  crash_point ("rename");
  return rename (name, target) == 0;
}

gboolean
publish_copy (Sql *sql, const char *target, const char *run, const PublishMark *mark,
              Published *published, GError **error)
{
  mode_t mode;
  struct stat status;
  g_autofree char *name = temporary_name (target, run);
  int fd = temporary_open (name, target, &mode, error);
  if (fd < 0)
    return FALSE;

  crash_point ("copy");
  gboolean good = copy_into (sql, fd, name, error);
  crash_point ("sync");
  if (!good)
    g_prefix_error (error, "cannot write checkpoint '%s': ", target);
  else
    good = (mark_copy (fd, mark) && put_in_place (fd, name, target, mode, &status))
           || place_failed (error, "write", target);
  /* After a disk error at the right moment it stays there, even if the copy is complete. */
  g_autofree char *journal = g_strconcat (name, JOURNAL, NULL);
  (void)g_unlink (journal);
  if (!good)
    {
      (void)close (fd);
      (void)g_unlink (name);
      return FALSE;
    }
  crash_point ("sync-folder");
  sync_folder (target);
  crash_point ("published");
  *published = (Published){ .bytes = (guint64)status.st_size, .fd = fd };
  return TRUE;
}

static gboolean
fill_trial (int fd, guint64 bytes)
{
  g_autofree char *block = g_malloc (TRIAL_BLOCK_BYTES);
  for (guint i = 0; i < TRIAL_BLOCK_BYTES; i++)
    block[i] = (char)(i * 2654435761u >> 11); /* bytes that a store cannot compress */
  while (bytes > 0)
    {
      gsize n = (gsize)MIN (bytes, TRIAL_BLOCK_BYTES);
      if (!whole_write (fd, block, n))
        return FALSE;
      bytes -= n;
    }
  return TRUE;
}

gboolean
publish_trial (const char *target, const char *run, guint64 bytes, guint64 *us, GError **error)
{
  mode_t mode;
  struct stat status;
  g_autofree char *name = temporary_name (target, run), *final = temporary_name (target, run);
  gint64 began_us = g_get_monotonic_time ();
  int fd = temporary_open (name, target, &mode, error);
  if (fd < 0)
    return FALSE;
  gboolean good = (fill_trial (fd, bytes) && put_in_place (fd, name, final, 0600, &status))
                  || place_failed (error, "write", target);
  if (good)
    sync_folder (target);
  *us = (guint64)(g_get_monotonic_time () - began_us);
  (void)close (fd);
  (void)g_unlink (good ? final : name);
  return good;
}

/* Parses the part of ".NAME.RUN.HOST-PID-BIRTH-N.tmp" behind ".NAME.". FALSE: it has another
 * form. */
static gboolean
read_temporary (const char *rest, ProcessMark *maker)
{
  char *end;
  gsize run = strspn (rest, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "-_");
  if (run == 0 || run > RUN_BYTES_MAX || rest[run] != '.')
    return FALSE;
  gsize mark = process_read_mark (rest + run + 1, maker);
  const char *number = rest + run + 1 + mark;
  if (mark == 0 || *number++ != '-')
    return FALSE;
  (void)g_ascii_strtoll (number, &end, 10);
  return end > number && (strcmp (end, ".tmp") == 0 || strcmp (end, ".tmp" JOURNAL) == 0);
}

/* TRUE: the maker is dead, or it is of another host and has not written for so long that it must
 * be. */
static gboolean
is_left_over (const char *path, const ProcessMark *maker)
{
  struct stat status;
  ProcessState state = process_state (maker);
  if (state != PROCESS_ELSEWHERE)
    return state == PROCESS_DEAD;
  return lstat (path, &status) == 0
         && g_get_real_time () / G_USEC_PER_SEC - status.st_mtime > OLD_S;
}

void
publish_sweep (const char *target)
{
  g_autofree char *folder = g_path_get_dirname (target);
  g_autofree char *base = g_path_get_basename (target);
  g_autofree char *front = g_strndup (base, NAME_BYTES_MAX);
  g_autofree char *prefix = g_strdup_printf (".%s.", front);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      ProcessMark maker;
      if (!g_str_has_prefix (name, prefix) || !read_temporary (name + strlen (prefix), &maker))
        continue;
      g_autofree char *path = g_build_filename (folder, name, NULL);
      if (is_left_over (path, &maker))
        (void)g_unlink (path);
    }
}
