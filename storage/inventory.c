/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums the rows' own checksums, so adding or removing a row costs one addition, whatever its size.
 * Does not interpret rows. Tests: test-audit. */
#include "storage/inventory.h"

#include "storage/tables.h"

#include <string.h>

#define COUNT(table) "SELECT count(*), row_sums (sum) FROM " table " NOT INDEXED"
#define RUN_ROWS " WHERE key <> '" INVENTORY_KEY "'"
#define CONSTANT_ROWS " WHERE name <> 'run/" INVENTORY_KEY "'"

static const struct
{
  const char *name, *count, *rows;
} inventory_tables[INVENTORY_TABLES] = {
  [INVENTORY_RUN] = { "run", COUNT ("run") RUN_ROWS, RUN_ROWS },
  [INVENTORY_NODE] = { "node", COUNT ("node"), "" },
  [INVENTORY_JOB] = { "job", COUNT ("job"), "" },
  [INVENTORY_CONSTANT] = { "constant", COUNT ("constant") CONSTANT_ROWS, CONSTANT_ROWS },
  [INVENTORY_BEST] = { "best", COUNT ("best"), "" },
  [INVENTORY_KEEP] = { "keep", COUNT ("keep"), "" },
  [INVENTORY_RESULT] = { "result", COUNT ("result"), "" },
  [INVENTORY_STEM] = { "stem", COUNT ("stem"), "" },
  [INVENTORY_EVENT] = { "event", COUNT ("event"), "" },
};

const char *
inventory_name (InventoryTable table)
{
  return inventory_tables[table].name;
}

const char *
inventory_rows (InventoryTable table)
{
  return inventory_tables[table].rows;
}

gboolean
inventory_count (Sql *sql, InventoryTable table, Tally *tally, GError **error)
{
  gboolean has_row;
  sqlite3_stmt *statement = sql_ready (sql, inventory_tables[table].count, error);
  if (statement == NULL || !sql_next (sql, statement, &has_row, error))
    return FALSE;
  tally->rows = (guint64)sqlite3_column_int64 (statement, 0);
  tally->sums = (guint64)sqlite3_column_int64 (statement, 1);
  sqlite3_reset (statement);
  return TRUE;
}

gboolean
inventory_write (Sql *sql, const Inventory *inventory, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < INVENTORY_TABLES; i++)
    g_string_append_printf (text, "%s%s %" G_GUINT64_FORMAT " %016" G_GINT64_MODIFIER "x",
                            i > 0 ? ", " : "", inventory_tables[i].name, inventory->tables[i].rows,
                            inventory->tables[i].sums);
  return tables_set (sql, INVENTORY_KEY, text->str, error);
}

gboolean
inventory_renew (Sql *sql, GError **error)
{
  Inventory inventory;
  for (guint i = 0; i < INVENTORY_TABLES; i++)
    if (!inventory_count (sql, i, &inventory.tables[i], error))
      return FALSE;
  return inventory_write (sql, &inventory, error);
}

/* "NAME ROWS SUMS" */
static gboolean
read_one (const char *text, const char *name, Tally *tally)
{
  char *end;
  gsize length = strlen (name);
  if (strncmp (text, name, length) != 0 || text[length] != ' ')
    return FALSE;
  tally->rows = g_ascii_strtoull (text + length + 1, &end, 10);
  if (*end != ' ')
    return FALSE;
  tally->sums = g_ascii_strtoull (end + 1, &end, 16);
  return *end == '\0';
}

gboolean
inventory_read (Sql *sql, Inventory *inventory)
{
  g_autofree char *text = tables_get_string (sql, INVENTORY_KEY, NULL);
  g_auto (GStrv) parts = g_strsplit (text != NULL ? text : "", ", ", -1);
  if (g_strv_length (parts) != INVENTORY_TABLES)
    return FALSE;
  for (guint i = 0; i < INVENTORY_TABLES; i++)
    if (!read_one (parts[i], inventory_tables[i].name, &inventory->tables[i]))
      return FALSE;
  return TRUE;
}

gboolean
inventory_stands_twice (Sql *sql)
{
  gboolean has_row;
  sqlite3_stmt *statement
      = sql_ready (sql,
                   "SELECT (SELECT count(*) FROM run NOT INDEXED WHERE key = '" INVENTORY_KEY "'"
                   " AND row_holds (sum, 'run', key, value))"
                   " + (SELECT count(*) FROM constant NOT INDEXED"
                   " WHERE name = 'run/" INVENTORY_KEY "'"
                   " AND row_holds (sum, 'constant', name, type, digest, value))",
                   NULL);
  if (statement == NULL || !sql_next (sql, statement, &has_row, NULL))
    return FALSE;
  gboolean is_twice = sqlite3_column_int (statement, 0) == 2;
  sqlite3_reset (statement);
  return is_twice;
}

gboolean
inventory_agrees (Sql *sql, InventoryTable first, InventoryTable last, const Tally *results)
{
  Inventory said;
  if (!inventory_stands_twice (sql) || !inventory_read (sql, &said))
    return FALSE;
  for (guint i = first; i <= last; i++)
    {
      Tally found = { 0 };
      if (i == INVENTORY_RESULT && results != NULL)
        found = *results;
      else if (!inventory_count (sql, i, &found, NULL))
        return FALSE;
      if (found.rows != said.tables[i].rows || found.sums != said.tables[i].sums)
        return FALSE;
    }
  return TRUE;
}
