/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening SQLite safely and small helpers over it. Must not know what the tables mean.
 * Tests: test-front, test-tables. */
#include "storage/sql.h"

#include "host/whole.h"

#include "storage/changes.h"
#include "storage/rowsum.h"
#include "storage/schema.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define SQL_TEXT_BYTES_MAX 10240
#define CACHE_KIB 8192
#define N_PAGES_AT 28 /* in SQLite's header */
#define COPY_BYTES (1024 * 1024)
#define SCHEMA_STEPS_EACH 100
#define SCHEMA_STEPS_MAX 20000

G_DEFINE_QUARK (satin - storage - error, storage_error)

gboolean
sql_failed (Sql *sql, GError **error)
{
  g_set_error (error, STORAGE_ERROR,
               sqlite3_errcode (sql->db) == SQLITE_CORRUPT
                       || sqlite3_errcode (sql->db) == SQLITE_NOTADB
                   ? STORAGE_ERROR_UNUSABLE
                   : STORAGE_ERROR_PLACE,
               "%s", sqlite3_errmsg (sql->db));
  return FALSE;
}

gboolean
sql_run (Sql *sql, const char *text, GError **error)
{
  return sqlite3_exec (sql->db, text, NULL, NULL, NULL) == SQLITE_OK || sql_failed (sql, error);
}

sqlite3_stmt *
sql_ready (Sql *sql, const char *text, GError **error)
{
  sqlite3_stmt *statement = g_hash_table_lookup (sql->statements, text);
  if (statement != NULL)
    {
      sqlite3_reset (statement);
      sqlite3_clear_bindings (statement);
      return statement;
    }
  if (sqlite3_prepare_v3 (sql->db, text, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL)
      != SQLITE_OK)
    {
      sql_failed (sql, error);
      return NULL;
    }
  g_hash_table_insert (sql->statements, (gpointer)text, statement);
  return statement;
}

gboolean
sql_next (Sql *sql, sqlite3_stmt *statement, gboolean *has_row, GError **error)
{
  int code = sqlite3_step (statement);
  *has_row = code == SQLITE_ROW;
  if (code == SQLITE_ROW)
    return TRUE;
  gboolean good = code == SQLITE_DONE || sql_failed (sql, error);
  sqlite3_reset (statement);
  return good;
}

gboolean
sql_finish (Sql *sql, sqlite3_stmt *statement, GError **error)
{
  gboolean has_row = TRUE;
  while (has_row)
    if (!sql_next (sql, statement, &has_row, error))
      return FALSE;
  return TRUE;
}

void
sql_bind_bytes (sqlite3_stmt *statement, int index, const void *data, gsize size)
{
  if (size == 0)
    sqlite3_bind_text (statement, index, "", 0, SQLITE_STATIC);
  else if (g_utf8_validate_len (data, size, NULL))
    sqlite3_bind_text64 (statement, index, data, size, SQLITE_STATIC, SQLITE_UTF8);
  else
    sqlite3_bind_blob64 (statement, index, data, size, SQLITE_STATIC);
}

void
sql_bind_string (sqlite3_stmt *statement, int index, const char *text)
{
  if (text == NULL)
    sqlite3_bind_null (statement, index);
  else
    sql_bind_bytes (statement, index, text, strlen (text));
}

char *
sql_column_string (sqlite3_stmt *statement, int index)
{
  const void *data = sqlite3_column_blob (statement, index);
  if (sqlite3_column_type (statement, index) == SQLITE_NULL)
    return NULL;
  return g_strndup (data != NULL ? data : "", (gsize)sqlite3_column_bytes (statement, index));
}

GBytes *
sql_column_bytes (sqlite3_stmt *statement, int index)
{
  const void *data = sqlite3_column_blob (statement, index);
  return g_bytes_new (data, (gsize)sqlite3_column_bytes (statement, index));
}

/* A file that comes from elsewhere is data, never a program: no trigger, no view, no extension, and
 * nothing in it may change how we read. */
static gboolean
sql_defend (Sql *sql, GError **error)
{
  static const struct
  {
    int option, value;
  } defences[] = { { SQLITE_DBCONFIG_DEFENSIVE, 1 },
                   { SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
                   { SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 },
                   { SQLITE_DBCONFIG_ENABLE_VIEW, 0 },
                   { SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0 },
                   { SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0 } };
  for (gsize i = 0; i < G_N_ELEMENTS (defences); i++)
    sqlite3_db_config (sql->db, defences[i].option, defences[i].value, NULL);
  sqlite3_limit (sql->db, SQLITE_LIMIT_SQL_LENGTH, SQL_TEXT_BYTES_MAX);
  sqlite3_limit (sql->db, SQLITE_LIMIT_TRIGGER_DEPTH, 0);
  sqlite3_limit (sql->db, SQLITE_LIMIT_ATTACHED, 1);
  sqlite3_busy_timeout (sql->db, 0);
  return sql_run (sql, "PRAGMA mmap_size=0; PRAGMA temp_store=MEMORY; PRAGMA cell_size_check=ON",
                  error);
}

/* Nobody asks SQLite how much memory it uses, and to count it costs a lock for each piece. Where
 * SQLite was used before, it goes on as it is. */
static void
count_no_memory (void)
{
  static gsize is_set;
  if (g_once_init_enter (&is_set))
    {
      (void)sqlite3_config (SQLITE_CONFIG_MEMSTATUS, 0);
      g_once_init_leave (&is_set, 1);
    }
}

static Sql *
sql_open (const char *name, int flags, const char *vfs, GError **error)
{
  count_no_memory ();
  g_autoptr (Sql) sql = g_new0 (Sql, 1);
  sql->statements
      = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify)(void (*) (void))sqlite3_finalize);
  int code = sqlite3_open_v2 (name, &sql->db, flags | SQLITE_OPEN_NOMUTEX, vfs);
  if (code != SQLITE_OK)
    {
      g_set_error (error, STORAGE_ERROR, STORAGE_ERROR_PLACE, "cannot open '%s': %s", name,
                   sql->db != NULL ? sqlite3_errmsg (sql->db) : sqlite3_errstr (code));
      return NULL;
    }
  if (!sql_defend (sql, error) || !rowsum_register (sql, error))
    return NULL;
  return g_steal_pointer (&sql);
}

/* SQLite refuses a link anywhere in a name that is opened with NOFOLLOW; ours may lie behind one,
 * as long as the file itself is none. */
static char *
without_links_above (const char *path)
{
  g_autofree char *folder = g_path_get_dirname (path);
  g_autofree char *base = g_path_get_basename (path);
  char *real = realpath (folder, NULL);
  char *whole = real != NULL ? g_build_filename (real, base, NULL) : g_strdup (path);
  free (real);
  return whole;
}

/* -1: error. */
static int
create_file (const char *plain, GError **error)
{
  g_autofree char *journal = g_strconcat (plain, "-journal", NULL);
  (void)g_unlink (plain);
  (void)g_unlink (journal);
  int fd = g_open (plain, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0)
    g_set_error (error, STORAGE_ERROR, STORAGE_ERROR_PLACE, "cannot create '%s': %s", plain,
                 g_strerror (errno));
  return fd;
}

/* The file at `plain`, which nobody reads after a crash: until sql_settle it is not synced. What is
 * removed from it never gets into a copy, so that it need not be overwritten: where SQLite is built
 * to do so, each page of a long row would be kept in the journal for that. */
static Sql *
open_work (const char *plain, const char *identity, GError **error)
{
  g_autoptr (Sql) sql = sql_open (plain, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW, NULL, error);
  if (sql == NULL)
    return NULL;
  rowsum_identify (sql, identity);
  g_autofree char *settings
      = g_strdup_printf ("PRAGMA page_size=%d; PRAGMA cache_size=-%d;"
                         "PRAGMA journal_mode=TRUNCATE; PRAGMA synchronous=OFF;"
                         "PRAGMA secure_delete=OFF;"
                         "PRAGMA application_id=%d; PRAGMA user_version=%d",
                         SQL_PAGE_BYTES, CACHE_KIB, SCHEMA_APPLICATION_ID, SCHEMA_VERSION);
  return sql_run (sql, settings, error) ? g_steal_pointer (&sql) : NULL;
}

Sql *
sql_create (const char *path, const char *identity, GError **error)
{
  g_assert (path != NULL && identity != NULL);

  g_autofree char *plain = without_links_above (path);
  int fd = create_file (plain, error);
  if (fd < 0)
    return NULL;
  (void)close (fd);
  g_autoptr (Sql) sql = open_work (plain, identity, error);
  return sql != NULL && schema_create (sql, error) ? g_steal_pointer (&sql) : NULL;
}

gboolean
sql_settle (Sql *sql, GError **error)
{
  return sql_run (sql, "PRAGMA synchronous=NORMAL", error);
}

gboolean
sql_unsettle (Sql *sql, GError **error)
{
  return sql_run (sql, "PRAGMA synchronous=OFF", error);
}

Sql *
sql_create_private (int page_bytes, GError **error)
{
  g_autofree char *settings
      = g_strdup_printf ("PRAGMA page_size=%d; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF",
                         page_bytes > 0 ? page_bytes : SQL_PAGE_BYTES);
  /* SQLite makes a temporary file for a database without a name, where it no longer fits memory. */
  g_autoptr (Sql) sql = sql_open ("", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL, error);
  if (sql == NULL || !sql_run (sql, settings, error) || !schema_create (sql, error))
    return NULL;
  return g_steal_pointer (&sql);
}

static gboolean
note_pages (Sql *sql, GError **error)
{
  gboolean has_row;
  sqlite3_stmt *statement = sql_ready (sql, "PRAGMA page_size", error);
  if (statement == NULL || !sql_next (sql, statement, &has_row, error))
    return FALSE;
  sql->page_bytes = has_row ? sqlite3_column_int (statement, 0) : 0;
  sqlite3_reset (statement);
  return TRUE;
}

static int
count_steps (void *data)
{
  guint *left = data;
  return *left == 0 || --*left == 0;
}

/* SQLite reads the whole schema at the first question, in a time that grows with the square of its
 * length. Ours takes less than a thousand steps. */
static gboolean
read_schema (Sql *sql, GError **error)
{
  guint left = SCHEMA_STEPS_MAX / SCHEMA_STEPS_EACH;
  sqlite3_progress_handler (sql->db, SCHEMA_STEPS_EACH, count_steps, &left);
  gboolean good = sql_run (sql, "SELECT 1 FROM sqlite_schema LIMIT 1", error);
  sqlite3_progress_handler (sql->db, 0, NULL, NULL);
  if (left > 0)
    return good;
  g_clear_error (error);
  g_set_error (error, STORAGE_ERROR, STORAGE_ERROR_UNUSABLE,
               "its schema has more objects than a Satin checkpoint");
  return FALSE;
}

Sql *
sql_open_frozen (const char *path, GError **error)
{
  g_autofree char *absolute = g_canonicalize_filename (path, NULL);
  g_autofree char *plain = without_links_above (absolute);
  g_autofree char *uri = g_filename_to_uri (plain, NULL, error);
  if (uri == NULL)
    return NULL;
  g_autofree char *name = g_strconcat (uri, "?immutable=1", NULL);
  g_autoptr (Sql) sql
      = sql_open (name, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOFOLLOW, NULL, error);
  return sql != NULL && note_pages (sql, error) && read_schema (sql, error) ? g_steal_pointer (&sql)
                                                                            : NULL;
}

gboolean
sql_is_as_long (Sql *sql, guint64 bytes)
{
  guint32 pages = 0;
  sqlite3_file *file = NULL;
  guint8 number[4];
  if (sqlite3_file_control (sql->db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK
      || file->pMethods->xRead (file, number, sizeof number, N_PAGES_AT) != SQLITE_OK)
    return FALSE;
  memcpy (&pages, number, sizeof pages);
  return (guint64)GUINT32_FROM_BE (pages) * (guint64)sql->page_bytes == bytes;
}

/* Makes the indexes anew, from their tables. A table without rowids is its own index: its rows are
 * proved where they stand, and sorting them again would take all of them into memory. */
static gboolean
make_indexes (Sql *sql, GError **error)
{
  gboolean has_row;
  g_autoptr (GString) texts = g_string_new (NULL);
  sqlite3_stmt *statement = sql_ready (
      sql,
      "SELECT 'REINDEX ' || name || ';' FROM pragma_table_list"
      " WHERE schema = 'main' AND type = 'table' AND NOT wr AND name NOT LIKE 'sqlite%'",
      error);
  if (statement == NULL)
    return FALSE;
  while (sql_next (sql, statement, &has_row, error))
    {
      if (!has_row)
        return sql_run (sql, texts->str, error);
      g_string_append (texts, (const char *)sqlite3_column_text (statement, 0));
    }
  return FALSE;
}

/* All bytes of one file to another: shared by the file system where it can. */
static gboolean
copy_bytes (int from, int to, GError **error)
{
  g_autofree guint8 *block = NULL;
  guint64 at = 0;
  gssize n = ioctl (to, FICLONE, from) == 0 ? 0 : 1;
  if (n > 0)
    block = g_malloc (COPY_BYTES);
  while (n > 0)
    {
      n = whole_read_at (from, block, COPY_BYTES, at);
      if (n > 0 && !whole_write_at (to, block, (gsize)n, at))
        n = -1;
      at += (guint64)n;
    }
  if (n < 0)
    g_set_error (error, STORAGE_ERROR, STORAGE_ERROR_PLACE, "cannot be copied: %s",
                 g_strerror (errno));
  return n == 0;
}

Sql *
sql_create_from (const char *path, int from, const char *identity, GError **error)
{
  g_assert (from >= 0);

  return sql_copy_file (path, from, error) ? sql_adopt (path, identity, error) : NULL;
}

Sql *
sql_adopt (const char *path, const char *identity, GError **error)
{
  g_assert (path != NULL && identity != NULL);

  g_autofree char *plain = without_links_above (path);
  g_autoptr (Sql) sql = open_work (plain, identity, error);
  return sql != NULL && schema_check (sql, error) && !sql->is_earlier && make_indexes (sql, error)
             ? g_steal_pointer (&sql)
             : NULL;
}

gboolean
sql_copy_file (const char *path, int from, GError **error)
{
  g_autofree char *plain = without_links_above (path);
  int fd = create_file (plain, error);
  gboolean good = fd >= 0 && copy_bytes (from, fd, error);
  if (fd >= 0)
    (void)close (fd);
  return good;
}

gboolean
sql_copy (Sql *to, Sql *from, GError **error)
{
  sqlite3_backup *backup = sqlite3_backup_init (to->db, "main", from->db, "main");
  if (backup == NULL)
    return sql_failed (to, error);
  sqlite3_backup_step (backup, -1);
  return (sqlite3_backup_finish (backup) == SQLITE_OK || sql_failed (to, error))
         && make_indexes (to, error);
}

void
sql_free (Sql *sql)
{
  if (sql == NULL)
    return;
  changes_free (sql->changes);
  g_free (sql->audit);
  g_hash_table_destroy (sql->statements);
  sqlite3_close (sql->db);
  g_free (sql->identity);
  g_free (sql);
}
