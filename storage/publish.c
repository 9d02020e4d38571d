/* SPDX-License-Identifier: BSD-3-Clause */
/* Temporary file beside the target, copy by SQLite, check, fsync, rename, fsync of the folder. The
 * temporary file is ".NAME.RUN.PID.tmp" with mode 0600; before the rename it gets the mode of the
 * file that it replaces, or, when there is none, what the umask gives any new file. Must not know
 * what the copy holds. */
#include "storage/publish.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file with more than this share of free pages is rewritten without them on its way. */
#define FREE_PAGES_DENOMINATOR 4
#define FREE_PAGES_MIN 64
/* Of ".NAME.RUN.PID.tmp" no part may make the whole longer than a file name can be (255). */
#define NAME_BYTES_MAX 160
#define RUN_BYTES_MAX 64

static char *
temporary_prefix (const char *target, const char *run)
{
  g_autofree char *base = g_path_get_basename (target);
  g_autofree char *name = g_strndup (base, NAME_BYTES_MAX);
  g_autofree char *clean = g_strndup (run, RUN_BYTES_MAX);
  g_strcanon (clean, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "-", '_');
  return g_strdup_printf (".%s.%s.", name, clean);
}

static char *
temporary_name (const char *target, const char *run)
{
  g_autofree char *folder = g_path_get_dirname (target);
  g_autofree char *prefix = temporary_prefix (target, run);
  return g_strdup_printf ("%s/%s%ld.tmp", folder, prefix, (long)getpid ());
}

static gboolean
place_failed (GError **error, const char *what, const char *target)
{
  g_set_error (error, STORAGE_ERROR, STORAGE_ERROR_PLACE, "cannot %s checkpoint '%s': %s", what,
               target, g_strerror (errno));
  return FALSE;
}

/* The file descriptor, or -1. `mode`: what the finished file gets. */
static int
temporary_open (const char *name, const char *target, mode_t *mode, GError **error)
{
  struct stat status;
  (void)g_unlink (name);
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
sql_number (Sql *sql, const char *text, gint64 *number, GError **error)
{
  gboolean has_row;
  sqlite3_stmt *statement = sql_ready (sql, text, error);
  if (statement == NULL || !sql_next (sql, statement, &has_row, error))
    return FALSE;
  *number = has_row ? sqlite3_column_int64 (statement, 0) : 0;
  sqlite3_reset (statement);
  return TRUE;
}

static gboolean
copy_failed (sqlite3 *copy, int code, GError **error)
{
  g_set_error (error, STORAGE_ERROR, STORAGE_ERROR_PLACE, "%s",
               copy != NULL && sqlite3_errcode (copy) != SQLITE_OK ? sqlite3_errmsg (copy)
                                                                   : sqlite3_errstr (code));
  return FALSE;
}

/* All pages as they are, in one step: nobody else uses either file. */
static gboolean
copy_pages (Sql *sql, sqlite3 *copy, GError **error)
{
  sqlite3_backup *backup = sqlite3_backup_init (copy, "main", sql->db, "main");
  if (backup == NULL)
    return copy_failed (copy, SQLITE_ERROR, error);
  sqlite3_backup_step (backup, -1);
  int code = sqlite3_backup_finish (backup);
  return code == SQLITE_OK || copy_failed (copy, code, error);
}

static gboolean
copy_without_gaps (Sql *sql, const char *name, GError **error)
{
  sqlite3_stmt *statement = sql_ready (sql, "VACUUM INTO ?1", error);
  if (statement == NULL)
    return FALSE;
  sqlite3_bind_text (statement, 1, name, -1, SQLITE_STATIC);
  return sql_finish (sql, statement, error);
}

static gboolean
verdict_is_ok (sqlite3 *copy)
{
  sqlite3_stmt *statement = NULL;
  gboolean is_ok
      = sqlite3_prepare_v2 (copy, "PRAGMA quick_check(1)", -1, &statement, NULL) == SQLITE_OK
        && sqlite3_step (statement) == SQLITE_ROW
        && strcmp ((const char *)sqlite3_column_text (statement, 0), "ok") == 0;
  sqlite3_finalize (statement);
  return is_ok;
}

/* Journal and syncs are off: a half-made copy is thrown away, and the finished one is synced by us.
 */
static gboolean
copy_into (Sql *sql, const char *name, GError **error)
{
  gint64 pages, free_pages;
  if (!sql_number (sql, "PRAGMA page_count", &pages, error)
      || !sql_number (sql, "PRAGMA freelist_count", &free_pages, error))
    return FALSE;
  gboolean has_gaps = free_pages > FREE_PAGES_MIN && free_pages > pages / FREE_PAGES_DENOMINATOR;
  if (has_gaps && !copy_without_gaps (sql, name, error))
    return FALSE;

  sqlite3 *copy = NULL;
  int code = sqlite3_open_v2 (name, &copy, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
  if (code == SQLITE_OK)
    code = sqlite3_exec (copy, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF", NULL, NULL, NULL);
  gboolean good = code == SQLITE_OK || copy_failed (copy, code, error);
  if (good && !has_gaps)
    good = copy_pages (sql, copy, error);
  if (good && !verdict_is_ok (copy))
    {
      g_set_error (error, STORAGE_ERROR, STORAGE_ERROR_PLACE, "the copy is damaged");
      good = FALSE;
    }
  sqlite3_close (copy);
  return good;
}

static void
sync_folder (const char *target)
{
  g_autofree char *folder = g_path_get_dirname (target);
  int fd = open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return;
  /* Some file systems cannot sync a folder; the rename is atomic there all the same. */
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

gboolean
publish_copy (Sql *sql, const char *target, const char *run, guint64 *bytes, GError **error)
{
  mode_t mode;
  struct stat status;
  g_autofree char *name = temporary_name (target, run);
  int fd = temporary_open (name, target, &mode, error);
  if (fd < 0)
    return FALSE;

  gboolean good = copy_into (sql, name, error);
  if (!good)
    g_prefix_error (error, "cannot write checkpoint '%s': ", target);
  else
    good = (fsync (fd) == 0 && fchmod (fd, mode) == 0 && fstat (fd, &status) == 0
            && rename (name, target) == 0)
           || place_failed (error, "write", target);
  (void)close (fd);
  if (!good)
    {
      (void)g_unlink (name);
      return FALSE;
    }
  sync_folder (target);
  *bytes = (guint64)status.st_size;
  return TRUE;
}

/* TRUE: the text between prefix and ".tmp" is the number of a process that does not live here. */
static gboolean
is_left_over (const char *name, const char *prefix)
{
  if (!g_str_has_prefix (name, prefix) || !g_str_has_suffix (name, ".tmp"))
    return FALSE;
  char *end;
  gint64 pid = g_ascii_strtoll (name + strlen (prefix), &end, 10);
  return strcmp (end, ".tmp") == 0 && pid > 0 && pid <= G_MAXINT32 && pid != getpid ()
         && kill ((pid_t)pid, 0) != 0 && errno == ESRCH;
}

void
publish_sweep (const char *target, const char *run)
{
  g_autofree char *folder = g_path_get_dirname (target);
  g_autofree char *prefix = temporary_prefix (target, run);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    if (is_left_over (name, prefix))
      {
        g_autofree char *path = g_build_filename (folder, name, NULL);
        (void)g_unlink (path);
      }
}
