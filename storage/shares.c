/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows share/DIGEST in the table constant. Does not know which rows refer to them. Tests:
 * test-ledger-shares. */
#include "storage/shares.h"

#include "storage/cell.h"
#include "storage/tables.h"

#include <string.h>

#define PREFIX "share/"
#define TYPE "ay"
/* All names with the prefix; '0' follows '/'. */
#define ALL "name >= 'share/' AND name < 'share0'"

static char *
name_of (const char *hex)
{
  return g_strconcat (PREFIX, hex, NULL);
}

/* Runs the query `text`, whose first parameter is the name. Returns the statement at its first row.
 * (nullable) */
static sqlite3_stmt *
find (Sql *sql, const char *text, const char *hex, GError **error)
{
  g_autofree char *name = name_of (hex);
  sqlite3_stmt *statement = sql_ready (sql, text, error);
  gboolean has_row = FALSE;
  if (statement == NULL)
    return NULL;
  sql_bind_string (statement, 1, name);
  return sql_next (sql, statement, &has_row, error) && has_row ? statement : NULL;
}

gboolean
shares_put (Sql *sql, const char *hex, GBytes *bytes, GError **error)
{
  GError *reason = NULL;
  g_autofree char *name = name_of (hex);
  TablesValue value = { .name = name, .type = TYPE, .digest = hex, .value = bytes };
  sqlite3_stmt *found = find (sql, "SELECT 1 FROM constant WHERE name = ?1", hex, &reason);
  if (found != NULL)
    {
      sqlite3_reset (found);
      return TRUE;
    }
  if (reason == NULL)
    return tables_put_constant (sql, &value, error);
  g_propagate_error (error, reason);
  return FALSE;
}

gboolean
shares_drop (Sql *sql, const char *hex, GError **error)
{
  g_autofree char *name = name_of (hex);
  return tables_drop_constant (sql, name, error);
}

GBytes *
shares_get (Sql *sql, const char *hex, GError **error)
{
  sqlite3_stmt *found = find (sql,
                              "SELECT value FROM constant WHERE name = ?1"
                              " AND row_holds (sum, 'constant', name, type, digest, value)",
                              hex, error);
  GBytes *bytes = found != NULL ? cell_read (sqlite3_column_value (found, 0), TYPE) : NULL;
  if (found != NULL)
    sqlite3_reset (found);
  return bytes;
}

gboolean
shares_each (Sql *sql, SharesEach each, gpointer data, GError **error)
{
  sqlite3_stmt *statement = sql_ready (
      sql,
      "SELECT digest, CASE typeof(value) WHEN 'blob' THEN length(value)"
      " ELSE length(CAST(value AS BLOB)) END FROM constant WHERE " ALL " ORDER BY name",
      error);
  gboolean has_row = FALSE;
  while (statement != NULL && sql_next (sql, statement, &has_row, error))
    {
      if (!has_row)
        return TRUE;
      g_autofree char *hex = sql_column_string (statement, 0);
      if (hex == NULL || each (hex, sqlite3_column_int64 (statement, 1), data, error))
        continue;
      sqlite3_reset (statement);
      return FALSE;
    }
  return FALSE;
}

gboolean
shares_each_value (Sql *sql, SharesEachValue each, gpointer data, GError **error)
{
  sqlite3_stmt *statement
      = sql_ready (sql,
                   "SELECT type, value FROM keep WHERE instr(type, 'h')"
                   " UNION ALL SELECT job.type, value FROM job JOIN result ON result.job = job.n"
                   " WHERE instr(job.type, 'h')",
                   error);
  gboolean has_row = FALSE;
  while (statement != NULL && sql_next (sql, statement, &has_row, error))
    {
      if (!has_row)
        return TRUE;
      g_autofree char *type = sql_column_string (statement, 0);
      g_autoptr (GBytes) value = cell_read (sqlite3_column_value (statement, 1), type);
      if (value == NULL || each (type, value, data, error))
        continue;
      sqlite3_reset (statement);
      return FALSE;
    }
  return FALSE;
}
