/* SPDX-License-Identifier: BSD-3-Clause */
/* The columns are asked of the table itself, so that this holds for every table of the format. Must
 * not know what the rows mean. */
#include "storage/audit.h"

#include <string.h>

static sqlite3_stmt *
prepare (Sql *sql, const char *text, GError **error)
{
  sqlite3_stmt *statement = NULL;
  if (sqlite3_prepare_v2 (sql->db, text, -1, &statement, NULL) == SQLITE_OK)
    return statement;
  sql_failed (sql, error);
  return NULL;
}

/* (transfer full): all columns but the checksum, as the checksum is made over them. */
static char *
summed_columns (Sql *sql, const char *table, GError **error)
{
  g_autofree char *text = g_strdup_printf ("SELECT * FROM %s LIMIT 0", table);
  sqlite3_stmt *statement = prepare (sql, text, error);
  if (statement == NULL)
    return NULL;
  GString *columns = g_string_new (NULL);
  int n = sqlite3_column_count (statement);
  for (int i = 0; i < n - 1; i++)
    g_string_append_printf (columns, "%s%s", i > 0 ? ", " : "", sqlite3_column_name (statement, i));
  g_assert (n > 1 && strcmp (sqlite3_column_name (statement, n - 1), "sum") == 0);
  sqlite3_finalize (statement);
  return g_string_free (columns, FALSE);
}

gboolean
audit_table (Sql *sql, const char *table, guint64 *kept, guint64 *damaged, GError **error)
{
  g_autofree char *columns = summed_columns (sql, table, error);
  if (columns == NULL)
    return FALSE;
  g_autofree char *text = g_strdup_printf (
      "SELECT count(*), total(sum IS row_sum ('%s', %s)) FROM %s", table, columns, table);
  sqlite3_stmt *statement = prepare (sql, text, error);
  if (statement == NULL)
    return FALSE;
  gboolean good = sqlite3_step (statement) == SQLITE_ROW || sql_failed (sql, error);
  if (good)
    {
      *kept = (guint64)sqlite3_column_double (statement, 1);
      *damaged = (guint64)sqlite3_column_int64 (statement, 0) - *kept;
    }
  sqlite3_finalize (statement);
  return good;
}
