/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading results and stems of any file, row by row, with each row's proof. Must not know what is
 * done with them. Tests: test-walk, test-storage. */
#include "storage/results.h"

#include "storage/cell.h"
#include "storage/names.h"
#include "storage/rowsum.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define RESULT_COLUMNS \
  "path, node, job, digest, value, work_s, saved, weight, json, args, began, took_ms"
#define N_RESULT_COLUMNS 12
#define RESULT_SELECT "SELECT " RESULT_COLUMNS ", sum FROM result"

/* Values that are told one after the other lie together in memory: one of them alone costs a call
 * of malloc and, in a thread that only takes memory, one of the system for each page. */
#define SHELF_BYTES (64 * 1024)
#define SHELVED_BYTES_MAX (SHELF_BYTES / 8)
#define ALIGN_BYTES 16

typedef struct
{
  GBytes *bytes; /* (nullable) */
  gsize used;
} ResultsShelf;

/* NULL: error. */
static sqlite3_stmt *
query_ready (Sql *sql, const ResultsQuery *query, Names *names, GError **error)
{
  gint64 node = -1; /* nobody's number */
  const char *text = RESULT_SELECT " ORDER BY path LIMIT ?2";
  if (query->largest)
    text = RESULT_SELECT " WHERE path IN (SELECT path FROM result WHERE ?1 IS NULL OR node = ?1"
                         " ORDER BY weight DESC, path LIMIT ?2) ORDER BY weight DESC, path";
  else if (query->below != NULL) /* '0' is what follows '/' */
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

/* There may be millions of rows, and to give their columns to a function of SQL takes longer. */
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

/* All of it will be written: to get its pages at once costs a third less than one by one. */
static gpointer
new_shelf (void)
{
  guint8 *bytes = g_malloc (SHELF_BYTES);
#ifdef MADV_POPULATE_WRITE
  gsize page = (gsize)sysconf (_SC_PAGESIZE), skip = -(gsize)(guintptr)bytes % page;
  (void)madvise (bytes + skip, (SHELF_BYTES - skip) / page * page, MADV_POPULATE_WRITE);
#endif
  return bytes;
}

static GBytes *
shelve (ResultsShelf *shelf, const void *data, gsize size)
{
  if (shelf->bytes == NULL || shelf->used + size > SHELF_BYTES)
    {
      g_clear_pointer (&shelf->bytes, g_bytes_unref);
      shelf->bytes = g_bytes_new_take (new_shelf (), SHELF_BYTES);
      shelf->used = 0;
    }
  guint8 *to = (guint8 *)g_bytes_get_data (shelf->bytes, NULL) + shelf->used;
  memcpy (to, data, size);
  GBytes *value = g_bytes_new_from_bytes (shelf->bytes, shelf->used, size);
  shelf->used += (size + ALIGN_BYTES - 1) / ALIGN_BYTES * ALIGN_BYTES;
  return value;
}

static GBytes *
value_of (const RecordColumn *column, const char *type, ResultsShelf *shelf)
{
  gboolean is_as_it_is = column->kind == 'b' || (column->kind == 't' && strcmp (type, "ay") == 0);
  return shelf != NULL && is_as_it_is && column->size > 0 && column->size <= SHELVED_BYTES_MAX
             ? shelve (shelf, column->data, column->size)
             : cell_of_column (column, type);
}

/* A value whose type is not known, as SQLite has it. */
static GBytes *
raw_value (const RecordColumn *column)
{
  if (column->kind == 'i')
    return g_bytes_new (&column->integer, sizeof column->integer);
  if (column->kind == 'r')
    return g_bytes_new (&column->real, sizeof column->real);
  return g_bytes_new (column->data, column->size);
}

/* FALSE: the checksum, or a value that is not of its type: such a row cannot be ours. */
static gboolean
row_of (const Sql *sql, const Record *record, Names *names, gboolean any_job, ResultsShelf *shelf,
        Result *row)
{
  const RecordColumn *columns = record->columns;
  if (!is_proved (sql, record) || columns[3].kind != 'b' || columns[0].kind != 't')
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
  row->value = has_job ? value_of (&columns[4], row->type, shelf) : raw_value (&columns[4]);
  return row->value != NULL;
}

/* To ask for a column takes longer than to ask for its value. SQLite puts a NUL behind a text. */
static gboolean
row_read (const Sql *sql, sqlite3_stmt *statement, Names *names, gboolean any_job, Result *row)
{
  Record record = { .n = N_RESULT_COLUMNS + 1 };
  for (int i = 0; i <= N_RESULT_COLUMNS; i++)
    cell_column (sqlite3_column_value (statement, i), &record.columns[i]);
  row->path = (const char *)record.columns[0].data;
  return row_of (sql, &record, names, any_job, NULL, row);
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
      g_clear_pointer (&row.value, g_bytes_unref);
      if (!goes_on)
        {
          sqlite3_reset (statement);
          return FALSE;
        }
    }
  return FALSE;
}

typedef struct
{
  Sql *sql;
  Names *names;
  ResultsEach each;
  gpointer data;
  GString *path;
  ResultsShelf shelf;
} ResultsWalk;

/* A record as it lies in the file. The weight's column turns integers into reals. */
static gboolean
each_payload (const guint8 *payload, gsize size, gpointer data)
{
  ResultsWalk *walk = data;
  Record record;
  Result row = { 0 };
  if (!record_parse (payload, size, &record) || record.n != N_RESULT_COLUMNS + 1)
    return FALSE;
  RecordColumn *path = &record.columns[0], *weight = &record.columns[7];
  if (weight->kind == 'i')
    *weight = (RecordColumn){ .kind = 'r', .real = (double)weight->integer };
  if (path->kind != 't' || memchr (path->data, '\0', path->size) != NULL)
    return FALSE;
  g_string_truncate (walk->path, 0);
  g_string_append_len (walk->path, (const char *)path->data, (gssize)path->size);
  row.path = walk->path->str;
  gboolean good = row_of (walk->sql, &record, walk->names, FALSE, &walk->shelf, &row)
                  && walk->each (&row, walk->data, NULL);
  g_clear_pointer (&row.value, g_bytes_unref);
  return good;
}

gboolean
results_walk (Sql *sql, const char *path, ResultsRecords records, ResultsEach each, gpointer data)
{
  g_autoptr (Names) names = names_new (sql, NULL);
  g_autoptr (GString) text = g_string_new (NULL);
  ResultsWalk walk = { .sql = sql, .names = names, .each = each, .data = data, .path = text };
  gboolean good = names != NULL && records (path, sql, "result", each_payload, &walk);
  g_clear_pointer (&walk.shelf.bytes, g_bytes_unref);
  return good;
}

gboolean
results_count (Sql *sql, ResultsTotals *totals)
{
  gboolean has_row;
  sqlite3_stmt *statement
      = sql_ready (sql, "SELECT count(*), total(weight), row_sums (sum) FROM result", NULL);
  if (statement == NULL || !sql_next (sql, statement, &has_row, NULL) || !has_row)
    return FALSE;
  totals->rows = (guint64)sqlite3_column_int64 (statement, 0);
  totals->weight = sqlite3_column_double (statement, 1);
  totals->sums = (guint64)sqlite3_column_int64 (statement, 2);
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
