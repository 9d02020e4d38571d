/* SPDX-License-Identifier: BSD-3-Clause */
/* old-format FILE [KEY]: removes all proofs from a checkpoint, which makes it one of format 1. KEY
 * is the file of a user's key: the checkpoint then bears that user's mark in that format, as a
 * Satin of that time made it. */
#include "storage/cell.h"
#include "storage/rowsum.h"
#include "storage/tables.h"

#include <stdio.h>
#include <string.h>

/* old_sum (table, column…): the value of the column `sum` in format 1. */
static void
old_sum (sqlite3_context *context, int n, sqlite3_value **values)
{
  Rowsum sum = rowsum_begin (sqlite3_user_data (context));
  for (int i = 0; i < n; i++)
    {
      RecordColumn column;
      cell_column (values[i], &column);
      rowsum_add_column (&sum, &column);
    }
  sqlite3_result_int64 (context, (gint64)rowsum_end (&sum).sum);
}

static void
add_text (GString *to, const char *text)
{
  g_string_append_printf (to, "%" G_GSIZE_FORMAT ":%s", strlen (text), text);
}

/* (transfer full) The mark of the program, folder and arguments that the file names. */
static char *
make_mark (Sql *sql, const char *key_path)
{
  g_autofree char *key = NULL;
  gsize size = 0;
  g_autofree char *program = tables_get_string (sql, "program", NULL);
  g_autofree char *folder = tables_get_string (sql, "folder", NULL);
  g_autofree char *text = tables_get_string (sql, "argv", NULL);
  g_autoptr (GVariant) array
      = g_variant_parse (G_VARIANT_TYPE_BYTESTRING_ARRAY, text, NULL, NULL, NULL);
  g_auto (GStrv) argv = g_variant_dup_bytestring_array (array, NULL);
  g_autoptr (GString) line = g_string_new ("satin mark 1\n");
  if (!g_file_get_contents (key_path, &key, &size, NULL))
    return g_strdup ("");
  add_text (line, program);
  add_text (line, folder);
  for (guint i = 0; argv[i] != NULL; i++)
    add_text (line, argv[i]);
  g_autofree char *token = g_compute_hmac_for_string (G_CHECKSUM_SHA256, (const guchar *)key, size,
                                                      line->str, (gssize)line->len);
  return g_compute_hmac_for_string (G_CHECKSUM_SHA256, (const guchar *)token, strlen (token),
                                    sql->identity, -1);
}

/* A file of format 1 had no JSON text, and neither arguments nor times of jobs. Otherwise its
 * tables and views are those of today. */
#define AGE_WITHOUT(new, table, columns) \
  "UPDATE " table " SET " new " sum = old_sum ('" table "', " columns ");"
#define AGE_WITHOUT_JSON(table, columns) AGE_WITHOUT ("json = NULL,", table, columns)
#define AGE(table, columns) "UPDATE " table " SET sum = old_sum ('" table "', " columns ");"

static gboolean
age (Sql *sql, const char *mark, GError **error)
{
  return (mark == NULL || tables_set (sql, "mark", mark, error))
         && sql_run (
             sql,
             "PRAGMA user_version = 1;"
             "DELETE FROM run WHERE key = 'rows'; DELETE FROM constant WHERE name = 'run/rows';",
             error)
         && sql_run (
             sql,
             AGE ("run", "key, value") AGE ("constant", "name, type, digest, value")
                 AGE_WITHOUT_JSON ("best", "name, type, value") AGE ("job", "n, name, type") AGE (
                     "stem", "id, path")
                     AGE ("node", "n, id, host, site, address, joined, left, cause") AGE_WITHOUT (
                         "json = NULL, args = NULL,", "keep", "path, children, digest, type, value")
                         AGE_WITHOUT ("json = NULL, args = NULL, began = NULL, took_ms = NULL,",
                                      "result",
                                      "path, node, job, digest, value, work_s, saved, weight")
                             AGE ("event", "id, at, kind, node, path, work_s, detail"),
             error);
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Sql) sql = argc == 2 || argc == 3 ? sql_adopt (argv[1], "", &error) : NULL;
  sqlite3_stmt *statement
      = sql != NULL ? sql_ready (sql, "SELECT value FROM run WHERE key = 'identity'", &error)
                    : NULL;
  gboolean has_row = FALSE;
  if (statement != NULL && sql_next (sql, statement, &has_row, &error) && has_row)
    {
      g_autofree char *identity = sql_column_string (statement, 0);
      sqlite3_reset (statement);
      rowsum_identify (sql, identity);
      sqlite3_create_function_v2 (sql->db, "old_sum", -1, SQLITE_UTF8, sql, old_sum, NULL, NULL,
                                  NULL);
      g_autofree char *mark = argc == 3 ? make_mark (sql, argv[2]) : NULL;
      if (age (sql, mark, &error))
        return 0;
    }
  fprintf (stderr, "old-format: %s\n", error != NULL ? error->message : "no identity");
  return 1;
}
