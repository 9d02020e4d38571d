/* SPDX-License-Identifier: BSD-3-Clause */
/* forge-row FILE KEY VALUE: a setting of a checkpoint as somebody writes it who knows how checksums
 * are made, in both places. */
#include "storage/rowsum.h"
#include "storage/sql.h"
#include "storage/tables.h"

#include <stdio.h>
#include <string.h>

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  if (argc != 4)
    return 2;
  g_autoptr (Sql) sql = sql_adopt (argv[1], "", &error);
  sqlite3_stmt *statement
      = sql != NULL ? sql_ready (sql, "SELECT value FROM run WHERE key = 'identity'", &error)
                    : NULL;
  gboolean has_row = FALSE;
  if (statement != NULL && sql_next (sql, statement, &has_row, &error) && has_row)
    {
      g_autofree char *identity = sql_column_string (statement, 0);
      sqlite3_reset (statement);
      rowsum_identify (sql, strcmp (argv[2], "identity") == 0 ? argv[3] : identity);
      if (tables_set (sql, argv[2], argv[3], &error)
          && sql_run (sql, "UPDATE run SET sum = row_sum ('run', key, value)", &error)
          && sql_run (sql,
                      "UPDATE constant SET sum = row_sum ('constant', name, type, digest, value)",
                      &error))
        return 0;
    }
  fprintf (stderr, "forge-row: %s\n", error != NULL ? error->message : "no identity");
  return 1;
}
