/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading results and stems of any file, row by row, with each row's proof. Must not know what is
 * done with them. */
#include "storage/results.h"

#include "storage/cell.h"
#include "storage/names.h"
#include "storage/rowsum.h"

#include <string.h>

#define RESULT_COLUMNS "path, node, job, digest, value, work_s, saved, weight"
#define N_RESULT_COLUMNS 8
#define RESULT_SELECT "SELECT " RESULT_COLUMNS ", sum FROM result"

/* NULL: error. */
static sqlite3_stmt *
query_ready (Sql *sql, const ResultsQuery *query, Names *names, GError **error)
{
  gint64 node = -1; /* nobody's number */
  const char *text = RESULT_SELECT " ORDER BY path LIMIT ?2";
  if (query->largest)
    text = RESULT_SELECT " WHERE path IN (SELECT path FROM result WHERE ?1 IS NULL OR node = ?1"
                         " ORDER BY weight DESC, path LIMIT ?2) ORDER BY weight DESC, path";
  else if (query->node != NULL)
    text = RESULT_SELECT " WHERE node = ?1 ORDER BY path LIMIT ?2";
  sqlite3_stmt *statement = sql_ready (sql, text, error);
  if (statement == NULL)
    return NULL;
  if (query->node != NULL)
    {
      (void)names_find_node (names, query->node, &node);
      sqlite3_bind_int64 (statement, 1, node);
    }
  sqlite3_bind_int64 (statement, 2, query->limit > 0 ? (gint64)query->limit : -1);
  return statement;
}

/* There may be millions of rows, and to give their columns to a function of SQL takes longer. */
static gboolean
is_proved (const Sql *sql, sqlite3_value **row)
{
  return sql->identity != NULL && sqlite3_value_type (row[N_RESULT_COLUMNS]) == SQLITE_INTEGER
         && sqlite3_value_int64 (row[N_RESULT_COLUMNS])
                == rowsum_of_values (sql, "result", row, N_RESULT_COLUMNS);
}

/* FALSE: the checksum, or a value that is not of its type: such a row cannot be ours. To ask for a
 * column takes longer than to ask for its value. */
static gboolean
row_read (const Sql *sql, sqlite3_stmt *statement, Names *names, Result *row)
{
  sqlite3_value *values[N_RESULT_COLUMNS + 1];
  for (int i = 0; i <= N_RESULT_COLUMNS; i++)
    values[i] = sqlite3_column_value (statement, i);
  if (!is_proved (sql, values) || sqlite3_value_type (values[3]) != SQLITE_BLOB
      || sqlite3_value_type (values[0]) != SQLITE_TEXT
      || !names_job (names, sqlite3_value_int64 (values[2]), &row->job, &row->type))
    return FALSE;
  row->path = (const char *)sqlite3_value_text (values[0]);
  row->node = names_node (names, sqlite3_value_int64 (values[1]));
  if (row->node == NULL)
    row->node = "";
  row->digest = sqlite3_value_blob (values[3]);
  row->digest_size = (gsize)sqlite3_value_bytes (values[3]);
  row->work_s = sqlite3_value_double (values[5]);
  row->saved = sqlite3_value_int64 (values[6]);
  row->weight = sqlite3_value_double (values[7]);
  row->value = cell_read (values[4], row->type);
  return row->value != NULL;
}

gboolean
results_each (Sql *sql, const ResultsQuery *query, ResultsEach each, gpointer data, guint64 *bad,
              GError **error)
{
  g_autoptr (Names) names = names_new (sql, error);
  if (names == NULL)
    return FALSE;
  if (query->job_names != NULL)
    names_expect (names, query->job_names, query->job_types);
  sqlite3_stmt *statement = query_ready (sql, query, names, error);
  gboolean has_row;
  if (statement == NULL)
    return FALSE;
  while (sql_next (sql, statement, &has_row, error))
    {
      if (!has_row)
        return TRUE;
      Result row = { 0 };
      gboolean is_good = row_read (sql, statement, names, &row);
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
results_count (Sql *sql, ResultsTotals *totals)
{
  gboolean has_row;
  sqlite3_stmt *statement = sql_ready (sql, "SELECT count(*), total(weight) FROM result", NULL);
  if (statement == NULL || !sql_next (sql, statement, &has_row, NULL) || !has_row)
    return FALSE;
  totals->rows = (guint64)sqlite3_column_int64 (statement, 0);
  totals->weight = sqlite3_column_double (statement, 1);
  sqlite3_reset (statement);
  return TRUE;
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
