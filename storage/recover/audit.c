/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks each table for its columns, so this works for every table of the format. Does not interpret
 * rows. */

#include "storage/recover/audit.h"

#include "storage/rowsum.h"

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

/* All columns except the checksum, in the order in which they are summed. (transfer full) */
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

/* If one page was written over another, its rows come twice, so each checksum counts once. */
static gboolean
read_rows (Sql *sql, sqlite3_stmt *statement, AuditTable *found, guint64 *sums, GError **error)
{
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  int code;
  while ((code = sqlite3_step (statement)) == SQLITE_ROW)
    {
      gint64 sum = (gint64)rowsum_stored_at (statement, 0);
      if (sqlite3_column_int (statement, 1) != 1)
        found->damaged++;
      else if (g_hash_table_add (seen, g_memdup2 (&sum, sizeof sum)))
        {
          found->kept++;
          *sums += (guint64)sum;
        }
    }
  return code == SQLITE_DONE || sql_failed (sql, error);
}

static gboolean
audit_table (Sql *sql, InventoryTable which, AuditTable *found, guint64 *sums, GError **error)
{
  const char *table = inventory_name (which);
  g_autofree char *columns = summed_columns (sql, table, error);
  if (columns == NULL)
    return FALSE;
  g_autofree char *text
      = g_strdup_printf ("SELECT sum, row_holds (sum, '%s', %s) FROM %s NOT INDEXED%s", table,
                         columns, table, inventory_rows (which));
  sqlite3_stmt *statement = prepare (sql, text, error);
  gboolean good = statement != NULL && read_rows (sql, statement, found, sums, error);
  sqlite3_finalize (statement);
  return good;
}

gboolean
audit_file (Sql *sql, Audit *audit, GError **error)
{
  Inventory said;
  *audit = (Audit){ .is_uncounted = !inventory_read (sql, &said) };
  for (guint i = 0; i < INVENTORY_TABLES; i++)
    {
      AuditTable *table = &audit->tables[i];
      guint64 sums = 0;
      if (!audit_table (sql, i, table, &sums, error))
        return FALSE;
      guint64 found = table->kept + table->damaged;
      table->rows = audit->is_uncounted ? found : said.tables[i].rows;
      table->missing = table->rows - MIN (table->rows, found);
      /* The checksum that a damaged row had is not known. */
      if (!audit->is_uncounted && table->missing == 0
          && (found > table->rows || (table->damaged == 0 && sums != said.tables[i].sums)))
        audit->is_mixed = TRUE;
    }
  if (!audit->is_uncounted && !inventory_stands_twice (sql))
    {
      audit->tables[INVENTORY_RUN].rows++;
      audit->tables[INVENTORY_RUN].missing++;
    }
  return TRUE;
}

void
audit_add (Audit *audit, const Audit *other)
{
  for (guint i = 0; i < INVENTORY_TABLES; i++)
    {
      audit->tables[i].rows += other->tables[i].rows;
      audit->tables[i].kept += other->tables[i].kept;
      audit->tables[i].damaged += other->tables[i].damaged;
      audit->tables[i].missing += other->tables[i].missing;
    }
  audit->is_uncounted = audit->is_uncounted || other->is_uncounted;
  audit->is_mixed = audit->is_mixed || other->is_mixed;
}

static guint64
sum_up (const Audit *audit, guint64 *rows, guint64 *damaged)
{
  guint64 missing = 0;
  *rows = *damaged = 0;
  for (guint i = 0; i < INVENTORY_TABLES; i++)
    {
      *rows += audit->tables[i].rows;
      *damaged += audit->tables[i].damaged;
      missing += audit->tables[i].missing;
    }
  return missing;
}

guint64
audit_damaged (const Audit *audit)
{
  guint64 rows, damaged;
  (void)sum_up (audit, &rows, &damaged);
  return damaged;
}

guint64
audit_lost (const Audit *audit)
{
  guint64 rows, damaged, missing = sum_up (audit, &rows, &damaged);
  return missing + damaged;
}

gboolean
audit_is_whole (const Audit *audit)
{
  return audit_lost (audit) == 0 && !audit->is_uncounted && !audit->is_mixed;
}

char *
audit_describe (const Audit *audit)
{
  guint64 rows, damaged, missing = sum_up (audit, &rows, &damaged);
  const AuditTable *results = &audit->tables[INVENTORY_RESULT];
  g_autoptr (GString) text = g_string_new (NULL);
  if (audit_is_whole (audit))
    g_string_append_printf (text, "none of its %" G_GUINT64_FORMAT " rows is missing", rows);
  else if (missing + damaged > 0)
    g_string_append_printf (text,
                            "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                            " rows are %s (%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " results)",
                            missing + damaged, rows, damaged > 0 ? "missing or damaged" : "missing",
                            results->missing + results->damaged, results->rows);
  if (audit->is_uncounted)
    g_string_append_printf (text,
                            "%show many rows are missing is not known, because the count of "
                            "rows is lost (%" G_GUINT64_FORMAT " results are left)",
                            text->len > 0 ? ", and " : "", results->kept);
  else if (audit->is_mixed)
    g_string_append_printf (text,
                            "%ssome rows are not those that were counted, so that others are "
                            "missing, how many is not known",
                            text->len > 0 ? ", and " : "");
  return g_strdup (text->str);
}
