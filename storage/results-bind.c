/* SPDX-License-Identifier: BSD-3-Clause */
/* Binds the columns of a result that are not copied as they are: numbers in place of names, and the
 * texts and times for people. Tests: test-storage, test-layout. */
#include "storage/results-private.h"

#include "storage/cell.h"

gboolean
results_bind_names (Results *results, sqlite3_stmt *statement, const Result *row, GError **error)
{
  gint64 node, job;
  if (results->names == NULL)
    results->names = names_new (results->sql, error);
  if (results->names == NULL
      || !names_number_job (results->names, row->job, row->type, &job, error))
    return FALSE;
  sqlite3_bind_int64 (statement, 3, job);
  if (row->node[0] == '\0')
    return TRUE;
  if (!names_number_node (results->names, row->node, &node, error))
    return FALSE;
  sqlite3_bind_int64 (statement, 2, node);
  return TRUE;
}

void
results_bind_told (sqlite3_stmt *statement, const Result *row, gsize json)
{
  if (row->args != NULL && json + row->args_size <= CELL_JSON_ROW)
    sqlite3_bind_text64 (statement, 10, row->args, row->args_size, SQLITE_STATIC, SQLITE_UTF8);
  if (row->began <= 0)
    return;
  sqlite3_bind_int64 (statement, 11, MIN (row->began, RESULTS_TIME_MAX));
  sqlite3_bind_int64 (statement, 12, CLAMP (row->took_ms, 0, RESULTS_TIME_MAX));
}
