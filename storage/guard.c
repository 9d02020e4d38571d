/* SPDX-License-Identifier: BSD-3-Clause */
/* The order: kind of file, header, application, format, damage, schema, identity. The cheap checks
 * come first, and none trusts what a later one proves. Whether the checkpoint is of the right
 * program is for others to ask. */
#include "storage/guard.h"

#include "storage/rowsum.h"
#include "storage/schema.h"
#include "storage/tables.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The places of these numbers belong to SQLite's file format. */
#define HEADER_BYTES 100
#define HEADER_VERSION_AT 60
#define HEADER_APPLICATION_AT 68

static gboolean
refuse (GError **error, StorageError code, const char *path, const char *reason)
{
  g_set_error (error, STORAGE_ERROR, code, "checkpoint '%s' %s", path, reason);
  return FALSE;
}

static guint32
load_big (const guint8 *bytes)
{
  guint32 word;
  memcpy (&word, bytes, sizeof word);
  return GUINT32_FROM_BE (word);
}

static gboolean
check_header (const char *path, const guint8 *header, gssize size, GError **error)
{
  if (size < HEADER_BYTES || memcmp (header, "SQLite format 3", 16) != 0)
    return refuse (error, STORAGE_ERROR_UNUSABLE, path,
                   "is not a Satin checkpoint (not an SQLite file); name another file");
  if (load_big (header + HEADER_APPLICATION_AT) != SCHEMA_APPLICATION_ID)
    return refuse (
        error, STORAGE_ERROR_UNUSABLE, path,
        "is an SQLite file of another program, not a Satin checkpoint; name another file");
  guint32 version = load_big (header + HEADER_VERSION_AT);
  if (version == SCHEMA_VERSION)
    return TRUE;
  g_autofree char *reason = g_strdup_printf (
      version > SCHEMA_VERSION ? "was made by a newer Satin (format %u, this one reads %d)"
                               : "has an unknown format %u (this Satin reads %d)",
      version, SCHEMA_VERSION);
  return refuse (error, STORAGE_ERROR_UNUSABLE, path, reason);
}

static gboolean
read_header (const char *path, guint8 *header, gssize *size, GError **error)
{
  int fd = open (path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  *size = fd >= 0 ? read (fd, header, HEADER_BYTES) : -1;
  int saved_errno = errno;
  if (fd >= 0)
    (void)close (fd);
  if (*size >= 0)
    return TRUE;
  g_autofree char *reason = g_strdup_printf ("cannot be read: %s", g_strerror (saved_errno));
  return refuse (error, STORAGE_ERROR_PLACE, path, reason);
}

/* TRUE with `exists` FALSE: nothing there. */
static gboolean
check_kind (const char *path, gboolean *exists, GError **error)
{
  struct stat status;
  *exists = FALSE;
  if (lstat (path, &status) != 0)
    {
      /* A missing folder is nothing to read; that nothing can be written there is found when
       * writing. */
      if (errno == ENOENT)
        return TRUE;
      g_autofree char *reason = g_strdup_printf ("cannot be read: %s", g_strerror (errno));
      return refuse (error, STORAGE_ERROR_PLACE, path, reason);
    }
  if (S_ISDIR (status.st_mode))
    return refuse (error, STORAGE_ERROR_PLACE, path, "is a directory; name a file");
  if (S_ISLNK (status.st_mode))
    return refuse (error, STORAGE_ERROR_PLACE, path, "is a symbolic link; name the file itself");
  if (!S_ISREG (status.st_mode))
    return refuse (error, STORAGE_ERROR_PLACE, path, "is not a regular file; name a file");
  *exists = status.st_size > 0;
  return TRUE;
}

static gboolean
check_whole (Sql *sql, GError **error)
{
  gboolean has_row;
  sqlite3_stmt *statement = sql_ready (sql, "PRAGMA quick_check(1)", error);
  if (statement == NULL || !sql_next (sql, statement, &has_row, error))
    return FALSE;
  g_autofree char *verdict = has_row ? sql_column_string (statement, 0) : NULL;
  sqlite3_reset (statement);
  if (g_strcmp0 (verdict, "ok") == 0)
    return TRUE;
  if (verdict != NULL)
    g_strdelimit (verdict, "\n", ' '); /* one sentence */
  g_set_error (error, STORAGE_ERROR, STORAGE_ERROR_UNUSABLE, "%s",
               verdict != NULL ? verdict : "no verdict");
  return FALSE;
}

/* The row that names the identity is summed with that identity, so it proves itself. */
static gboolean
check_identity (Sql *sql, GError **error)
{
  gboolean has_row;
  sqlite3_stmt *statement = sql_ready (sql, "SELECT value FROM run WHERE key = 'identity'", error);
  if (statement == NULL || !sql_next (sql, statement, &has_row, error))
    return FALSE;
  g_autofree char *identity = has_row ? sql_column_string (statement, 0) : NULL;
  if (identity != NULL)
    rowsum_identify (sql, identity);
  sqlite3_reset (statement);
  g_autofree char *proved
      = sql->identity != NULL ? tables_get_string (sql, "identity", NULL) : NULL;
  if (proved != NULL)
    return TRUE;
  g_set_error (error, STORAGE_ERROR, STORAGE_ERROR_UNUSABLE, "it does not say what it belongs to");
  return FALSE;
}

/* From here on nothing but reading our own tables is allowed on this connection. */
static int
only_reading (void *data, int action, const char *one, const char *two, const char *three,
              const char *four)
{
  (void)data, (void)one, (void)two, (void)three, (void)four;
  return action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_FUNCTION
             ? SQLITE_OK
             : SQLITE_DENY;
}

static gboolean
check_inside (Sql *sql, const char *path, GError **error)
{
  g_autoptr (GError) reason = NULL;
  if (!check_whole (sql, &reason))
    g_prefix_error (&reason, "is damaged: ");
  else if (!schema_check (sql, &reason) || !check_identity (sql, &reason))
    g_prefix_error (&reason, "is not usable: ");
  if (reason == NULL)
    return TRUE;
  refuse (error, STORAGE_ERROR_UNUSABLE, path, reason->message);
  return FALSE;
}

Sql *
guard_open (const char *path, GError **error)
{
  guint8 header[HEADER_BYTES];
  gssize size;
  gboolean exists;
  if (!check_kind (path, &exists, error) || !exists || !read_header (path, header, &size, error)
      || !check_header (path, header, size, error))
    return NULL;

  g_autoptr (Sql) sql = sql_open_frozen (path, error);
  if (sql == NULL)
    {
      g_prefix_error (error, "checkpoint '%s': ", path);
      return NULL;
    }
  if (!check_inside (sql, path, error))
    return NULL;
  sqlite3_set_authorizer (sql->db, only_reading, NULL);
  return g_steal_pointer (&sql);
}
