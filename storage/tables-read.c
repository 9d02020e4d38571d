/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the small tables of any file, row by row. The SELECT verifies each row's checksum; a row
 * that fails counts as missing. Tests: test-tables. */
#include "storage/tables.h"

#include "storage/cell.h"

#define NODE_COLUMNS "n, id, host, site, address, joined, left, cause"

/* The query for a table, and the function that reads a row and passes it on. */
typedef struct Reading Reading;
struct Reading
{
  const char *text; /* a literal */
  gboolean (*read) (const Reading *reading, sqlite3_stmt *row, GError **error);
  void (*each) (void); /* cast back by `read` */
  gpointer data;
};

static gboolean
read_all (Sql *sql, const Reading *reading, GError **error)
{
  sqlite3_stmt *statement = sql_ready (sql, reading->text, error);
  gboolean has_row;
  if (statement == NULL)
    return FALSE;
  while (sql_next (sql, statement, &has_row, error))
    {
      if (!has_row)
        return TRUE;
      if (!reading->read (reading, statement, error))
        {
          sqlite3_reset (statement);
          return FALSE;
        }
    }
  return FALSE;
}

static gboolean
read_setting (const Reading *reading, sqlite3_stmt *row, GError **error)
{
  g_autofree char *key = sql_column_string (row, 0);
  g_autoptr (GBytes) value = sql_column_bytes (row, 1);
  return key == NULL || value == NULL
         || ((TablesEachSetting)reading->each) (key, value, reading->data, error);
}

static gboolean
read_value (const Reading *reading, sqlite3_stmt *row, GError **error)
{
  g_autofree char *name = sql_column_string (row, 0);
  g_autofree char *type = sql_column_string (row, 1);
  g_autofree char *digest = sql_column_string (row, 2);
  g_autoptr (GBytes) bytes = type != NULL ? cell_read (sqlite3_column_value (row, 3), type) : NULL;
  TablesValue value = { .name = name, .type = type, .digest = digest, .value = bytes };
  return bytes == NULL || name == NULL
         || ((TablesEachValue)reading->each) (&value, reading->data, error);
}

static gboolean
read_node (const Reading *reading, sqlite3_stmt *row, GError **error)
{
  g_autofree char *id = sql_column_string (row, 1);
  g_autofree char *name = sql_column_string (row, 2);
  g_autofree char *site = sql_column_string (row, 3);
  g_autofree char *address = sql_column_string (row, 4);
  g_autofree char *cause = sql_column_string (row, 7);
  TablesNode node = { .id = id,
                      .name = name,
                      .site = site,
                      .address = address,
                      .cause = cause,
                      .joined = sqlite3_column_int64 (row, 5),
                      .left = sqlite3_column_int64 (row, 6) };
  return id == NULL || ((TablesEachNode)reading->each) (&node, reading->data, error);
}

static gboolean
read_event (const Reading *reading, sqlite3_stmt *row, GError **error)
{
  g_autofree char *kind = sql_column_string (row, 1);
  g_autofree char *node = sql_column_string (row, 2);
  g_autofree char *path = sql_column_string (row, 3);
  g_autofree char *detail = sql_column_string (row, 5);
  TablesEvent event = { .at = sqlite3_column_int64 (row, 0),
                        .kind = kind,
                        .node = node,
                        .path = path,
                        .detail = detail,
                        .work_s = sqlite3_column_double (row, 4) };
  return kind == NULL || ((TablesEachEvent)reading->each) (&event, reading->data, error);
}

gboolean
tables_each_setting (Sql *sql, TablesEachSetting each, gpointer data, GError **error)
{
  const Reading reading = {
    "SELECT key, value FROM run NOT INDEXED WHERE row_holds (sum, 'run', key, value) ORDER BY key",
    read_setting, (void (*) (void))each, data
  };
  return read_all (sql, &reading, error);
}

gboolean
tables_each_constant (Sql *sql, TablesEachValue each, gpointer data, GError **error)
{
  const Reading reading
      = { "SELECT name, type, digest, value FROM constant NOT INDEXED"
          " WHERE NOT (name >= 'share/' AND name < 'share0')"
          " AND NOT (name >= 'run/' AND name < 'run0')"
          " AND row_holds (sum, 'constant', name, type, digest, value) ORDER BY name",
          read_value, (void (*) (void))each, data };
  return read_all (sql, &reading, error);
}

gboolean
tables_each_best (Sql *sql, TablesEachValue each, gpointer data, GError **error)
{
  const Reading reading = { "SELECT name, type, NULL, value FROM best NOT INDEXED"
                            " WHERE row_holds (sum, 'best', name, type, value, json) ORDER BY name",
                            read_value, (void (*) (void))each, data };
  return read_all (sql, &reading, error);
}

gboolean
tables_each_node (Sql *sql, TablesEachNode each, gpointer data, GError **error)
{
  const Reading reading = { "SELECT " NODE_COLUMNS " FROM node NOT INDEXED"
                            " WHERE row_holds (sum, 'node', " NODE_COLUMNS ") ORDER BY id",
                            read_node, (void (*) (void))each, data };
  return read_all (sql, &reading, error);
}

gboolean
tables_each_event (Sql *sql, TablesEachEvent each, gpointer data, GError **error)
{
  const Reading reading
      = { "SELECT at, kind, CASE typeof(event.node) WHEN 'integer' THEN (SELECT node.id FROM node"
          " WHERE node.n = event.node AND row_holds (node.sum, 'node', " NODE_COLUMNS "))"
          " ELSE event.node END, path, work_s, detail FROM event"
          " WHERE row_holds (event.sum, 'event', event.id, at, kind, node, path, work_s, detail)"
          " ORDER BY event.id",
          read_event, (void (*) (void))each, data };
  return read_all (sql, &reading, error);
}
