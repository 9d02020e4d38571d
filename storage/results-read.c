/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads results and stems of any file, row by row, and verifies each. Tests: test-front,
 * test-storage. */
#include "storage/results.h"

#include "storage/cell.h"
#include "storage/names.h"
#include "storage/rowsum.h"

#include <string.h>

#define RESULT_COLUMNS \
  "path, node, job, digest, value, work_s, saved, weight, json, args, began, took_ms"
#define N_RESULT_COLUMNS 12
#define RESULT_SELECT "SELECT " RESULT_COLUMNS ", sum FROM result"

/* NULL: error. */
static sqlite3_stmt *
query_ready (Sql *sql, const ResultsQuery *query, Names *names, GError **error)
{
  gint64 node = -1; /* no node has this number */
  const char *text = RESULT_SELECT " ORDER BY path LIMIT ?2";
  if (query->largest)
    text = RESULT_SELECT " WHERE path IN (SELECT path FROM result WHERE ?1 IS NULL OR node = ?1"
                         " ORDER BY weight DESC, path LIMIT ?2) ORDER BY weight DESC, path";
  else if (query->below != NULL) /* '0' follows '/' */
    text = RESULT_SELECT " WHERE path >= ?1 AND path < ?1 || '0' ORDER BY path LIMIT ?2";
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
  if (query->below != NULL)
    sqlite3_bind_text (statement, 1, query->below, -1, SQLITE_TRANSIENT);
  sqlite3_bind_int64 (statement, 2, query->limit > 0 ? (gint64)query->limit : -1);
  return statement;
}

/* Without an SQL function: there may be millions of rows, and passing columns to a function takes
 * longer. */
static gboolean
is_proved (const Sql *sql, const Record *record)
{
  return sql->identity != NULL
         && rowsum_agrees (sql,
                           rowsum_of_columns (sql, "result", record->columns, N_RESULT_COLUMNS),
                           &record->columns[N_RESULT_COLUMNS]);
}

static gint64
integer_of (const RecordColumn *column)
{
  return column->kind == 'i' ? column->integer : 0;
}

static double
real_of (const RecordColumn *column)
{
  return column->kind == 'r' ? column->real : (double)integer_of (column);
}

/* A value of unknown type, as SQLite has it. */
static GBytes *
raw_value (const RecordColumn *column)
{
  if (column->kind == 'i')
    return g_bytes_new (&column->integer, sizeof column->integer);
  if (column->kind == 'r')
    return g_bytes_new (&column->real, sizeof column->real);
  return g_bytes_new (column->data, column->size);
}

/* FALSE: the checksum is wrong, or a value is not of its type, so this program did not write the
 * row. */
static gboolean
row_of (const Sql *sql, const Record *record, Names *names, gboolean any_job, Result *row)
{
  const RecordColumn *columns = record->columns;
  if (!is_proved (sql, record) || columns[3].kind != 'b' || columns[0].kind != 't'
      || memchr (columns[0].data, '\0', columns[0].size) != NULL)
    return FALSE;
  gboolean has_job = names_job (names, integer_of (&columns[2]), &row->job, &row->type);
  if (!has_job && !any_job)
    return FALSE;
  if (!has_job)
    {
      row->job = "?";
      row->type = "*";
    }
  row->node = names_node (names, integer_of (&columns[1]));
  if (row->node == NULL)
    row->node = "";
  row->digest = columns[3].data;
  row->digest_size = columns[3].size;
  row->work_s = real_of (&columns[5]);
  row->saved = integer_of (&columns[6]);
  row->weight = real_of (&columns[7]);
  if (columns[9].kind == 't')
    {
      row->args = (const char *)columns[9].data;
      row->args_size = columns[9].size;
    }
  row->began = integer_of (&columns[10]);
  row->took_ms = integer_of (&columns[11]);
  row->sum = rowsum_stored (&columns[N_RESULT_COLUMNS]);
  row->value = has_job ? cell_of_column (&columns[4], row->type) : raw_value (&columns[4]);
  return row->value != NULL;
}

/* Reads values, since reading columns takes longer. SQLite puts a NUL behind a text. */
static gboolean
row_read (const Sql *sql, sqlite3_stmt *statement, Names *names, gboolean any_job, Result *row)
{
  Record record = { .n = N_RESULT_COLUMNS + 1 };
  for (int i = 0; i <= N_RESULT_COLUMNS; i++)
    cell_column (sqlite3_column_value (statement, i), &record.columns[i]);
  row->path = (const char *)record.columns[0].data;
  return row_of (sql, &record, names, any_job, row);
}

static gboolean
refuse_row (GError **error)
{
  g_set_error_literal (error, STORAGE_ERROR, STORAGE_ERROR_UNUSABLE, "a row is damaged");
  return FALSE;
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
      gboolean is_good = row_read (sql, statement, names, query->any_job, &row);
      gboolean goes_on = !is_good || each (&row, data, error);
      if (!is_good && bad != NULL)
        (*bad)++;
      if (!is_good && query->is_strict)
        goes_on = refuse_row (error);
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
  sqlite3_stmt *statement = sql_ready (
      sql, "SELECT count(*), total(weight), row_sums (sum), total(work_s) FROM result", NULL);
  if (statement == NULL || !sql_next (sql, statement, &has_row, NULL) || !has_row)
    return FALSE;
  totals->rows = (guint64)sqlite3_column_int64 (statement, 0);
  totals->weight = sqlite3_column_double (statement, 1);
  totals->sums = (guint64)sqlite3_column_int64 (statement, 2);
  totals->work_s = sqlite3_column_double (statement, 3);
  sqlite3_reset (statement);
  return TRUE;
}

gboolean
results_each_cost (Sql *sql, ResultsEachCost each, gpointer data, GError **error)
{
  sqlite3_stmt *statement
      = sql_ready (sql, "SELECT path, weight, work_s FROM result ORDER BY path", error);
  gboolean has_row;
  if (statement == NULL)
    return FALSE;
  while (sql_next (sql, statement, &has_row, error))
    {
      if (!has_row)
        return TRUE;
      const char *path = (const char *)sqlite3_column_text (statement, 0);
      if (path != NULL)
        each (path, sqlite3_column_double (statement, 1), sqlite3_column_double (statement, 2),
              data);
    }
  return FALSE;
}

gboolean
results_each_stem (Sql *sql, ResultsEachStem each, gpointer data, guint64 *bad, GError **error)
{
  sqlite3_stmt *statement
      = sql_ready (sql, "SELECT id, path, row_holds (sum, 'stem', id, path) FROM stem", error);
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
