/* SPDX-License-Identifier: BSD-3-Clause */
/* Names contain the wall clock in UTC, and a number if the name is taken. Does not read the
 * files. */
#include "storage/aside.h"

#include "storage/sql.h"

#include "storage/places/place.h"

#include <errno.h>
#include <gio/gio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAMES_MAX 1000 /* with the same second */

static char *
aside_name (const char *path, const char *word, guint number)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();
  g_autofree char *time = g_date_time_format (now, "%Y%m%dT%H%M%SZ");
  return number == 0 ? g_strdup_printf ("%s.%s-%s", path, word, time)
                     : g_strdup_printf ("%s.%s-%s.%u", path, word, time, number);
}

static void
aside_failed (const char *path, const char *reason, GError **error)
{
  g_set_error (error, STORAGE_ERROR, STORAGE_ERROR_PLACE, "checkpoint '%s' cannot be set aside: %s",
               path, reason);
}

static gboolean
is_same_file (const struct stat *one, const struct stat *other)
{
  return one->st_ino == other->st_ino && one->st_dev == other->st_dev;
}

/* The name under which this very file was kept before. (transfer full) (nullable) */
static char *
find_kept (const char *path, const char *word)
{
  struct stat status, other;
  g_autofree char *folder = g_path_get_dirname (path);
  g_autofree char *base = g_path_get_basename (path);
  g_autofree char *prefix = g_strdup_printf ("%s.%s-", base, word);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;
  if (dir == NULL || lstat (path, &status) != 0 || status.st_nlink < 2)
    return NULL;
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *whole = g_build_filename (folder, name, NULL);
      if (g_str_has_prefix (name, prefix) && lstat (whole, &other) == 0
          && is_same_file (&other, &status))
        return g_steal_pointer (&whole);
    }
  return NULL;
}

static gboolean
copy_file (const char *path, const char *name, GError **error)
{
  g_autoptr (GFile) from = g_file_new_for_path (path);
  g_autoptr (GFile) to = g_file_new_for_path (name);
  return g_file_copy (from, to, G_FILE_COPY_NOFOLLOW_SYMLINKS, NULL, NULL, NULL, error);
}

char *
aside_keep (const char *path, const char *word, GError **error)
{
  char *kept = find_kept (path, word);
  for (guint i = 0; kept == NULL && i < NAMES_MAX; i++)
    {
      g_autoptr (GError) reason = NULL;
      g_autofree char *name = aside_name (path, word, i);
      /* Not every file system has hard links. */
      if (link (path, name) == 0 || (errno != EEXIST && copy_file (path, name, &reason)))
        kept = g_steal_pointer (&name);
      else if (errno != EEXIST && !g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_EXISTS))
        {
          aside_failed (path, reason != NULL ? reason->message : g_strerror (errno), error);
          return NULL;
        }
    }
  if (kept == NULL)
    aside_failed (path, "all names are taken", error);
  return kept;
}

/* The delta may have been kept by an earlier attempt that was interrupted. If it has been replaced
 * since, the newer one contains the rows of the one that was kept. */
static gboolean
is_kept (const char *from, const char *to)
{
  struct stat status, other;
  return lstat (from, &status) == 0 && lstat (to, &other) == 0
         && (is_same_file (&status, &other) || (unlink (to) == 0 && link (from, to) == 0));
}

/* Keeps the delta under the new name of its base, with the ending of deltas. */
static gboolean
keep_delta (const char *path, const char *kept, GError **error)
{
  g_autofree char *from = g_strconcat (path, PLACE_DELTA, NULL);
  g_autofree char *to = g_strconcat (kept, PLACE_DELTA, NULL);
  g_autoptr (GError) reason = NULL;
  if (link (from, to) == 0 || (errno == EEXIST && is_kept (from, to))
      || copy_file (from, to, &reason))
    return TRUE;
  aside_failed (from, reason->message, error);
  return FALSE;
}

char *
aside_move (const char *path, const char *word, gboolean has_delta, GError **error)
{
  g_autofree char *kept = aside_keep (path, word, error);
  g_autofree char *delta = g_strconcat (path, PLACE_DELTA, NULL);
  if (kept == NULL || (has_delta && !keep_delta (path, kept, error)))
    return NULL;
  if (unlink (path) == 0 && (!has_delta || unlink (delta) == 0))
    return g_steal_pointer (&kept);
  aside_failed (path, g_strerror (errno), error);
  return NULL;
}
