/* SPDX-License-Identifier: BSD-3-Clause */
/* forge-row FILE KEY VALUE: writes a setting of a checkpoint, in both tables that hold it, with
 * right checksums but without the user's key. forge-row FILE SQL: runs a statement on any rows,
 * which may call row_sum (). Other rows stay as they are. */
#include "storage/rowsum.h"
#include "storage/sql.h"
#include "storage/tables.h"

#include <stdio.h>
#include <string.h>

/* Checksums depend on the identity, so all are computed again. */
static gboolean
sum_anew (Sql *sql, GError **error)
{
  return sql_run (sql,
                  "UPDATE run SET sum = row_sum ('run', key, value);"
                  "UPDATE constant SET sum = row_sum ('constant', name, type, digest, value)",
                  error);
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  if (argc != 3 && argc != 4)
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
      gboolean is_other = argc == 4 && strcmp (argv[2], "identity") == 0;
      rowsum_identify (sql, is_other ? argv[3] : identity);
      gboolean good
          = argc == 3 ? sql_run (sql, argv[2], &error) : tables_set (sql, argv[2], argv[3], &error);
      if (good && (!is_other || sum_anew (sql, &error)))
        return 0;
    }
  fprintf (stderr, "forge-row: %s\n", error != NULL ? error->message : "no identity");
  return 1;
}
