/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of checks: kind of file, header, application, format, schema, damage, identity. The
 * cheap checks come first, and no check trusts what a later one proves. SQL text from a foreign
 * schema is never run. A file that fails after the check of its kind is salvaged; it is refused
 * only if no row proves itself. Does not check whether the checkpoint belongs to the right
 * program. */

#include "storage/recover/guard.h"

#include "host/whole.h"

#include "storage/inventory.h"
#include "storage/rowsum.h"
#include "storage/schema.h"
#include "storage/spare.h"
#include "storage/sqlite-record.h"
#include "storage/tables.h"

#include "storage/recover/salvage.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* The places of these numbers are from SQLite's file format. */
#define HEADER_BYTES 100
#define HEADER_VERSION_AT 60
#define HEADER_APPLICATION_AT 68
#define HEADER_SCHEMA_FORMAT 4
/* A file without our header is searched for our rows only up to this size. */
#define FOREIGN_BYTES_MAX (64u * 1024 * 1024)
/* Limits SQLite's steps for checking a file to a few for each byte, so that a forged file ends. */
#define STEPS_EACH 1000
#define LENGTH_MIN 100000
/* Checking all of a smaller file takes no noticeable time. */
#define FRONT_BYTES_MIN (4u * 1024 * 1024)
#define STEPS_MIN 2000000
#define STEPS_PER_BYTE 8

static gboolean
refuse (GError **error, StorageError code, const char *path, const char *reason)
{
  g_set_error (error, STORAGE_ERROR, code, "checkpoint '%s' %s", path, reason);
  return FALSE;
}

typedef enum
{
  HEADER_OURS,    /* a checkpoint of this format */
  HEADER_BROKEN,  /* a checkpoint, but the format in its header is invalid */
  HEADER_FOREIGN, /* an SQLite file of another program */
  HEADER_NONE     /* not an SQLite file */
} HeaderKind;

static HeaderKind
header_kind (const guint8 *header, gssize size)
{
  if (size < HEADER_BYTES || memcmp (header, "SQLite format 3", 16) != 0)
    return HEADER_NONE;
  if (record_load_big (header + HEADER_APPLICATION_AT) != SCHEMA_APPLICATION_ID)
    return HEADER_FOREIGN;
  /* An invalid number is damage if rows prove themselves, and another format if none does. */
  guint32 version = record_load_big (header + HEADER_VERSION_AT);
  return version >= SCHEMA_VERSION_FIRST && version <= SCHEMA_VERSION ? HEADER_OURS : HEADER_BROKEN;
}

/* FALSE: a byte differs that is the same in all files that we publish, so that SQLite would read
 * the file in another way (as UTF-16, or with a log). */
static gboolean
is_header_sound (const guint8 *header)
{
  static const guint8 zeros[20];
  return header[18] == 1 && header[19] == 1 && header[20] == 0 && header[21] == 64
         && header[22] == 32 && header[23] == 32
         && record_load_big (header + 44) == HEADER_SCHEMA_FORMAT
         && record_load_big (header + 52) == 0 && record_load_big (header + 56) == SQLITE_UTF8
         && record_load_big (header + 64) == 0 && memcmp (header + 72, zeros, sizeof zeros) == 0;
}

/* Sets the error for a file with this header. Returns FALSE. */
static gboolean
refuse_header (const char *path, HeaderKind kind, const guint8 *header, GError **error)
{
  guint32 version = record_load_big (header + HEADER_VERSION_AT);
  if (kind == HEADER_NONE)
    return refuse (error, STORAGE_ERROR_UNUSABLE, path,
                   "is not a Satin checkpoint (not an SQLite file); name another file");
  if (kind == HEADER_FOREIGN)
    return refuse (
        error, STORAGE_ERROR_UNUSABLE, path,
        "is an SQLite file of another program, not a Satin checkpoint; name another file");
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
  *size = fd >= 0 ? whole_read (fd, header, HEADER_BYTES) : -1;
  int saved_errno = errno;
  if (fd >= 0)
    (void)close (fd);
  if (*size >= 0)
    return TRUE;
  g_autofree char *reason = g_strdup_printf ("cannot be read: %s", g_strerror (saved_errno));
  return refuse (error, STORAGE_ERROR_PLACE, path, reason);
}

/* TRUE with `size` 0: there is no file. */
static gboolean
check_kind (const char *path, guint64 *size, GError **error)
{
  struct stat status;
  *size = 0;
  if (lstat (path, &status) != 0)
    {
      /* If the folder is missing, there is nothing to read; writing will report it. */
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
  *size = (guint64)status.st_size;
  return TRUE;
}

/* `text`: a literal. */
static gboolean
check_by (Sql *sql, const char *text, GError **error)
{
  gboolean has_row;
  sqlite3_stmt *statement = sql_ready (sql, text, error);
  if (statement == NULL || !sql_next (sql, statement, &has_row, error))
    return FALSE;
  g_autofree char *verdict = has_row ? sql_column_string (statement, 0) : NULL;
  sqlite3_reset (statement);
  if (g_strcmp0 (verdict, "ok") == 0)
    return TRUE;
  if (verdict != NULL)
    g_strdelimit (verdict, "\n", ' '); /* makes it one line */
  g_set_error (error, STORAGE_ERROR, STORAGE_ERROR_UNUSABLE, "%s",
               verdict != NULL ? verdict : "no verdict");
  return FALSE;
}

static gboolean
check_whole (Sql *sql, GError **error)
{
  return check_by (sql, "PRAGMA quick_check(1)", error);
}

/* The row with the identity is summed with that identity, so it proves itself. The table is read
 * without index, which may be damaged alone. */
static gboolean
check_identity (Sql *sql, GError **error)
{
  static const char *const texts[]
      = { "SELECT value FROM run NOT INDEXED WHERE key = 'identity'",
          "SELECT value FROM constant NOT INDEXED WHERE name = 'run/identity'" };
  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      gboolean has_row;
      sqlite3_stmt *statement = sql_ready (sql, texts[i], error);
      if (statement == NULL || !sql_next (sql, statement, &has_row, error))
        return FALSE;
      g_autofree char *identity = has_row ? sql_column_string (statement, 0) : NULL;
      if (identity != NULL)
        rowsum_identify (sql, identity);
      sqlite3_reset (statement);
      g_autofree char *proved = identity != NULL ? tables_get_string (sql, "identity", NULL) : NULL;
      if (g_strcmp0 (proved, identity) == 0 && proved != NULL)
        return TRUE;
    }
  g_set_error (error, STORAGE_ERROR, STORAGE_ERROR_UNUSABLE, "it does not say what it belongs to");
  return FALSE;
}

/* Denies everything on this connection except reading our own tables. */
static int
only_reading (void *data, int action, const char *one, const char *two, const char *three,
              const char *four)
{
  (void)data, (void)one, (void)two, (void)three, (void)four;
  return action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_FUNCTION
             ? SQLITE_OK
             : SQLITE_DENY;
}

typedef struct
{
  guint64 left;
} Steps;

static int
count_steps (void *data)
{
  Steps *steps = data;
  steps->left -= MIN (steps->left, STEPS_EACH);
  return steps->left == 0;
}

/* An extended attribute, which moves and ends with the file. It is invalid once the file was
 * written to. */
#define WHOLE_ATTRIBUTE "user.satin.whole"
#define WHOLE_BYTES 100

static gboolean
describe_file (const char *path, char text[WHOLE_BYTES])
{
  struct stat status;
  if (stat (path, &status) != 0)
    return FALSE;
  g_snprintf (text, WHOLE_BYTES, "%lu %lld %lld.%09ld", (gulong)status.st_ino,
              (long long)status.st_size, (long long)status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
  return TRUE;
}

static gboolean
is_known_whole (const char *path)
{
  char now[WHOLE_BYTES], noted[WHOLE_BYTES];
  ssize_t n = getxattr (path, WHOLE_ATTRIBUTE, noted, sizeof noted);
  return n > 0 && describe_file (path, now) && (gsize)n == strlen (now)
         && memcmp (now, noted, (gsize)n) == 0;
}

static void
note_whole (const char *path)
{
  char now[WHOLE_BYTES];
  if (describe_file (path, now))
    (void)setxattr (path, WHOLE_ATTRIBUTE, now, strlen (now), 0);
}

/* The checks for a file that is not read as a whole. */
static gboolean
check_front (Sql *sql, GError **error)
{
  static const char *const texts[]
      = { "PRAGMA main.quick_check('run')", "PRAGMA main.quick_check('node')",
          "PRAGMA main.quick_check('job')", "PRAGMA main.quick_check('constant')",
          "PRAGMA main.quick_check('best')" };
  guint64 bad = 0;
  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    if (!check_by (sql, texts[i], error))
      return FALSE;
  if (!check_identity (sql, error) || !tables_count_bad_first (sql, &bad, error))
    return FALSE;
  gboolean is_all = bad == 0 && inventory_agrees (sql, INVENTORY_RUN, INVENTORY_BEST, NULL);
  if (!is_all)
    g_set_error (error, STORAGE_ERROR, STORAGE_ERROR_UNUSABLE, "rows are missing or damaged");
  return is_all;
}

/* The file, with its small tables checked. (transfer full) (nullable) */
static Sql *
open_front (const char *path, guint64 size)
{
  g_autoptr (Sql) sql = sql_open_frozen (path, NULL);
  if (sql == NULL)
    return NULL;
  Steps steps = { .left = STEPS_MIN + STEPS_PER_BYTE * size };
  sqlite3_progress_handler (sql->db, STEPS_EACH, count_steps, &steps);
  sqlite3_limit (sql->db, SQLITE_LIMIT_LENGTH, (int)CLAMP (size, LENGTH_MIN, G_MAXINT32));
  gboolean is_sound = schema_check (sql, NULL) && check_front (sql, NULL);
  sqlite3_progress_handler (sql->db, 0, NULL, NULL);
  sql->is_front = TRUE;
  return is_sound ? g_steal_pointer (&sql) : NULL;
}

gboolean
guard_check (const char *path, GError **error)
{
  struct stat status;
  g_autoptr (Sql) sql = sql_open_frozen (path, error);
  if (sql == NULL || stat (path, &status) != 0 || !sql_is_as_long (sql, (guint64)status.st_size))
    return FALSE;
  Steps steps = { .left = STEPS_MIN + STEPS_PER_BYTE * (guint64)status.st_size };
  sqlite3_progress_handler (sql->db, STEPS_EACH, count_steps, &steps);
  return schema_check (sql, error) && check_whole (sql, error);
}

/* SQLite does not notice that free pages at a file's end are missing. */
static gboolean
check_length (Sql *sql, guint64 size, GError **error)
{
  if (sql_is_as_long (sql, size))
    return TRUE;
  g_set_error (error, STORAGE_ERROR, STORAGE_ERROR_UNUSABLE,
               "it is not as long as its header says");
  return FALSE;
}

/* A file that is sound for SQLite may have lost rows with a page, which salvage can restore. */
static gboolean
check_pages (const char *path, GError **error)
{
  int fd = open (path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  gboolean good = fd < 0 || spare_agrees (fd);
  if (fd >= 0)
    (void)close (fd);
  if (!good)
    g_set_error (error, STORAGE_ERROR, STORAGE_ERROR_UNUSABLE, "a page was changed");
  return good;
}

/* The file itself, if it is completely sound. (transfer full) (nullable) */
static Sql *
open_sound (const char *path, guint64 size, gboolean is_own, GError **error)
{
  g_autoptr (Sql) sql = sql_open_frozen (path, error);
  if (sql == NULL)
    return NULL;
  Steps steps = { .left = STEPS_MIN + STEPS_PER_BYTE * size };
  sqlite3_progress_handler (sql->db, STEPS_EACH, count_steps, &steps);
  sqlite3_limit (sql->db, SQLITE_LIMIT_LENGTH, (int)CLAMP (size, LENGTH_MIN, G_MAXINT32));
  gboolean is_known = is_own && is_known_whole (path);
  gboolean is_sound = schema_check (sql, error) && check_length (sql, size, error)
                      && (is_known || (check_whole (sql, error) && check_pages (path, error)))
                      && check_identity (sql, error);
  if (is_sound && is_own && !is_known)
    note_whole (path);
  sqlite3_progress_handler (sql->db, 0, NULL, NULL);
  return is_sound ? g_steal_pointer (&sql) : NULL;
}

/* The rows of a file that is not sound for this reason. (transfer full: reason) */
static Sql *
open_damaged (const char *path, const char *identity, const guint8 *header, HeaderKind kind,
              GError *reason, GError **error)
{
  gboolean is_likely = kind == HEADER_OURS || kind == HEADER_BROKEN;
  g_autoptr (GError) trouble = NULL;
  Sql *sql = salvage_open (path, identity, is_likely ? 0 : FOREIGN_BYTES_MAX, &trouble);
  if (trouble != NULL)
    {
      g_autofree char *text = g_strdup_printf ("cannot be salvaged: %s", trouble->message);
      refuse (error, STORAGE_ERROR_PLACE, path, text);
    }
  else if (sql == NULL && reason != NULL)
    {
      g_autofree char *text = g_strdup_printf ("is damaged beyond repair: %s", reason->message);
      refuse (error, STORAGE_ERROR_UNUSABLE, path, text);
    }
  else if (sql == NULL)
    refuse_header (path, kind, header, error);
  g_clear_error (&reason);
  return sql;
}

static Sql *
open_file (const char *path, const char *identity, gboolean is_own, gboolean is_front,
           GError **error)
{
  guint8 header[HEADER_BYTES] = { 0 };
  gssize size;
  guint64 file_size;
  GError *reason = NULL;
  if (!check_kind (path, &file_size, error) || file_size == 0
      || !read_header (path, header, &size, error))
    return NULL;
  HeaderKind kind = header_kind (header, size);
  g_autoptr (Sql) sql = NULL;
  gboolean is_sound = is_header_sound (header);
  if (is_front && is_sound && kind == HEADER_OURS && file_size >= FRONT_BYTES_MIN)
    sql = open_front (path, file_size);
  else if (!is_front && kind == HEADER_OURS && !is_sound)
    g_set_error (&reason, STORAGE_ERROR, STORAGE_ERROR_UNUSABLE, "its header is damaged");
  else if (!is_front && kind == HEADER_OURS)
    sql = open_sound (path, file_size, is_own, &reason);
  if (sql == NULL && is_front)
    return open_file (path, identity, is_own, FALSE, error);
  if (sql == NULL)
    sql = open_damaged (path, identity, header, kind, reason, error);
  if (sql != NULL)
    sqlite3_set_authorizer (sql->db, only_reading, NULL);
  return g_steal_pointer (&sql);
}

Sql *
guard_open (const char *path, const char *identity, GError **error)
{
  return open_file (path, identity, FALSE, FALSE, error);
}

Sql *
guard_open_own (const char *path, const char *identity, GError **error)
{
  return open_file (path, identity, TRUE, FALSE, error);
}

Sql *
guard_open_front (const char *path, const char *identity, gboolean is_own, GError **error)
{
  return open_file (path, identity, is_own, TRUE, error);
}

gboolean
guard_is_ours (const char *path)
{
  guint8 header[HEADER_BYTES];
  gssize size;
  guint64 file_size;
  return check_kind (path, &file_size, NULL) && file_size > 0
         && read_header (path, header, &size, NULL) && size == HEADER_BYTES
         && memcmp (header, "SQLite format 3", 16) == 0
         && record_load_big (header + HEADER_APPLICATION_AT) == SCHEMA_APPLICATION_ID;
}
