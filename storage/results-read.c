/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading results and stems of any file, row by row, with each row's proof. Must not know what is
 * done with them. */
#include "storage/results.h"

#include "storage/cell.h"

#include <string.h>

#define RESULT_COLUMNS "path, node, job, type, digest, value, work_s, saved, weight"
#define RESULT_SELECT \
  "SELECT " RESULT_COLUMNS ", sum IS row_sum ('result', " RESULT_COLUMNS ") FROM result"

static sqlite3_stmt *
query_ready (Sql *sql, const ResultsQuery *query, GError **error)
{
  const char *text = RESULT_SELECT " WHERE ?1 IS NULL OR node = ?1 ORDER BY path LIMIT ?2";
  if (query->largest)
    text = RESULT_SELECT " WHERE path IN (SELECT path FROM result WHERE ?1 IS NULL OR node = ?1"
                         " ORDER BY weight DESC, path LIMIT ?2) ORDER BY weight DESC, path";
  sqlite3_stmt *statement = sql_ready (sql, text, error);
  if (statement == NULL)
    return NULL;
  sql_bind_string (statement, 1, query->node);
  sqlite3_bind_int64 (statement, 2, query->limit > 0 ? (gint64)query->limit : -1);
  return statement;
}

/* FALSE: the checksum, or a value that is not of its type: such a row cannot be ours. */
static gboolean
row_read (sqlite3_stmt *statement, Result *row)
{
  if (sqlite3_column_int (statement, 9) != 1 || sqlite3_column_type (statement, 4) != SQLITE_BLOB)
    return FALSE;
  for (int i = 0; i < 4; i++)
    if (sqlite3_column_type (statement, i) != SQLITE_TEXT)
      return FALSE;
  row->path = (const char *)sqlite3_column_text (statement, 0);
  row->node = (const char *)sqlite3_column_text (statement, 1);
  row->job = (const char *)sqlite3_column_text (statement, 2);
  row->type = (const char *)sqlite3_column_text (statement, 3);
  row->digest = sqlite3_column_blob (statement, 4);
  row->digest_size = (gsize)sqlite3_column_bytes (statement, 4);
  row->work_s = sqlite3_column_double (statement, 6);
  row->saved = sqlite3_column_int64 (statement, 7);
  row->weight = sqlite3_column_double (statement, 8);
  row->value = cell_read (statement, 5, row->type);
  return row->value != NULL;
}

gboolean
results_each (Sql *sql, const ResultsQuery *query, ResultsEach each, gpointer data, guint64 *bad,
              GError **error)
{
  sqlite3_stmt *statement = query_ready (sql, query, error);
  gboolean has_row;
  if (statement == NULL)
    return FALSE;
  while (sql_next (sql, statement, &has_row, error))
    {
      if (!has_row)
        return TRUE;
      Result row = { 0 };
      gboolean is_good = row_read (statement, &row);
      gboolean goes_on = !is_good || each (&row, data, error);
      if (!is_good && bad != NULL)
        (*bad)++;
      g_clear_pointer (&row.value, g_bytes_unref);
      if (!goes_on)
        {
          sqlite3_reset (statement);
          return FALSE;
        }
    }
  return FALSE;
}

gboolean
results_each_stem (Sql *sql, ResultsEachStem each, gpointer data, guint64 *bad, GError **error)
{
  sqlite3_stmt *statement
      = sql_ready (sql, "SELECT id, path, sum IS row_sum ('stem', id, path) FROM stem", error);
  gboolean has_row;
  if (statement == NULL)
    return FALSE;
  while (sql_next (sql, statement, &has_row, error))
    {
      if (!has_row)
        return TRUE;
      g_autofree char *id = sql_column_string (statement, 0);
      g_autofree char *path = sql_column_string (statement, 1);
      gboolean is_good = sqlite3_column_int (statement, 2) == 1 && id != NULL && path != NULL
                         && strlen (id) == RESULTS_STEM_ID_LENGTH;
      if (!is_good && bad != NULL)
        (*bad)++;
      if (is_good && !each (id, path, data, error))
        {
          sqlite3_reset (statement);
          return FALSE;
        }
    }
  return FALSE;
}
