/* SPDX-License-Identifier: BSD-3-Clause */
/* One SQLite connection with the settings that this room needs, its prepared statements, and the
 * identity that every row's checksum is made with. Used by one thread at a time. */
#pragma once

#include <glib.h>
#include <sqlite3.h>

#define STORAGE_ERROR (storage_error_quark ())
GQuark storage_error_quark (void);
typedef enum
{
  STORAGE_ERROR_UNUSABLE, /* the file is foreign, of a newer format or damaged */
  STORAGE_ERROR_PLACE     /* the place cannot be read or written now */
} StorageError;

#define SQL_PAGE_BYTES 4096 /* of the files that we write */

/* The writer of a checkpoint's rows, as far as that was checked (coordinator/proof.h). */
typedef enum
{
  SQL_ORIGIN_UNASKED,
  SQL_ORIGIN_OWN,    /* rows of this user, each of which is proved */
  SQL_ORIGIN_OLD,    /* a file of format 1 that bears this user's mark of that time */
  SQL_ORIGIN_FOREIGN /* of another user, or unknown */
} SqlOrigin;

/* Rows of a table, and the sum of their checksums modulo 2^64. */
typedef struct
{
  guint64 rows, sums;
} Tally;

typedef struct Sql Sql;
typedef struct Audit Audit;     /* audit.h */
typedef struct Changes Changes; /* changes.h */
struct Sql
{
  sqlite3 *db;
  char *identity;  /* (nullable) until it is read from the file; rowsum_identify sets it */
  guint64 key[2];  /* rowsum.c's, of checksums */
  guint64 seal[2]; /* the same for proofs, if is_sealed */
  gboolean is_sealed;
  SqlOrigin origin;
  gboolean is_salvage;          /* the salvaged rows of a damaged file */
  gboolean is_earlier;          /* of an earlier format (schema_check), so never a work file */
  Audit *audit;                 /* (nullable): of the files that this one was made of */
  guint64 last_sum;             /* the checksum that row_sum gave last */
  Tally constants;              /* of a work file, … */
  gboolean constants_are_known; /* … FALSE: they have to be counted */
  Changes *changes;             /* (nullable) changes.c's */
  int page_bytes;               /* of an existing file */
  gboolean is_front;            /* only its beginning was proved (guard_open_front) */
  GHashTable *statements;       /* text (by address: literals only) -> sqlite3_stmt */
};

/* A new, empty work file with the schema; a file at `path` is removed. Nothing is synced until
 * sql_settle: the first rows also stand in another file. */
Sql *sql_create (const char *path, const char *identity, GError **error);
/* The same with all bytes of the open file `from`, a whole published file, and with new indexes. */
Sql *sql_create_from (const char *path, int from, const char *identity, GError **error);
/* The two steps of sql_create_from: copies all bytes into a new file; opens an existing file, which
 * is ours from now on, as a work file. */
gboolean sql_copy_file (const char *path, int from, GError **error);
Sql *sql_adopt (const char *path, const char *identity, GError **error);
/* From now on a commit returns only after the disk has the transaction. Outside of a
 * transaction. */
gboolean sql_settle (Sql *sql, GError **error);
/* From now on, until sql_settle, nothing is synced. Outside of a transaction. */
gboolean sql_unsettle (Sql *sql, GError **error);
/* As sql_create, but without a name or an identity, for this process only, and removed with it.
 * `page_bytes`: the page size of the file that sql_copy will copy here, since SQLite copies no
 * other page size into such a file; 0: any. */
Sql *sql_create_private (int page_bytes, GError **error);
/* Opens an existing file read only, without a lock, a journal or any other trace on the disk. */
Sql *sql_open_frozen (const char *path, GError **error);
/* Makes a work file a copy of another file, page by page, with new indexes. */
gboolean sql_copy (Sql *to, Sql *from, GError **error);
/* TRUE: by the number of pages in its header the file has this size. */
gboolean sql_is_as_long (Sql *sql, guint64 bytes);
void sql_free (Sql *sql);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Sql, sql_free)

/* Runs statements that give no rows. */
gboolean sql_run (Sql *sql, const char *text, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* (transfer none): the prepared statement for a literal, reset and without bindings; NULL: error.
 */
sqlite3_stmt *sql_ready (Sql *sql, const char *text, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* The next row. FALSE: error. `has_row` FALSE: the end, and the statement is reset. */
gboolean sql_next (Sql *sql, sqlite3_stmt *statement, gboolean *has_row,
                   GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Runs a bound statement to its end and resets it. */
gboolean sql_finish (Sql *sql, sqlite3_stmt *statement, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Sets `error` from the connection's last one. Returns FALSE. */
gboolean sql_failed (Sql *sql, GError **error);

/* Binds a text if SQLite keeps the UTF-8 as it is, else a blob. `data` must outlive the statement's
 * run. */
void sql_bind_bytes (sqlite3_stmt *statement, int index, const void *data, gsize size);
/* NULL binds NULL. */
void sql_bind_string (sqlite3_stmt *statement, int index, const char *text);
/* (transfer full) (nullable): the text or blob of a column, with a NUL behind it. */
char *sql_column_string (sqlite3_stmt *statement, int index);
GBytes *sql_column_bytes (sqlite3_stmt *statement, int index);
