/* SPDX-License-Identifier: BSD-3-Clause */
/* SQLite's update hook reports the rowids of all tables that have them. The table `result` has
 * none, so results.c reports its paths. A key may belong to a row that was removed, or whose
 * transaction was rolled back. Then it is skipped, or the delta has an unchanged row once more.
 * Does not interpret rows.
 * Tests: test-delta, test-writers. */
#include "storage/changes.h"

#include "storage/inventory.h"
#include "storage/rowsum.h"
#include "storage/schema.h"
#include "storage/tables.h"

#include <string.h>

#define RESULTS_MAX 5000000u
/* In the table run of a delta: the generation of its base. */
#define DELTA_KEY "delta"

/* Of these tables only changed rows are copied. The small ones are copied as a whole, since results
 * refer to nodes and jobs by number. */
static const struct
{
  const char *name, *get, *put;
} tables_tracked[]
    = { { "constant",
          "SELECT * FROM constant WHERE rowid = ?1 AND NOT (name >= 'run/' AND name < 'run0')",
          "INSERT INTO constant VALUES (?, ?, ?, ?, ?)" },
        { "best", "SELECT * FROM best WHERE rowid = ?1",
          "INSERT INTO best VALUES (?, ?, ?, ?, ?)" },
        { "keep", "SELECT * FROM keep WHERE rowid = ?1",
          "INSERT INTO keep VALUES (?, ?, ?, ?, ?, ?, ?, ?)" },
        { "stem", "SELECT * FROM stem WHERE rowid = ?1", "INSERT INTO stem VALUES (?, ?, ?)" },
        { "event", "SELECT * FROM event WHERE rowid = ?1",
          "INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?, ?)" } },
    tables_whole[]
    = { { "run", "SELECT * FROM run", "INSERT INTO run VALUES (?, ?, ?)" },
        { "constant", "SELECT * FROM constant WHERE name >= 'run/' AND name < 'run0'",
          "INSERT INTO constant VALUES (?, ?, ?, ?, ?)" },
        { "node", "SELECT * FROM node", "INSERT INTO node VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)" },
        { "job", "SELECT * FROM job", "INSERT INTO job VALUES (?, ?, ?, ?)" } };

struct Changes
{
  GHashTable *results;                             /* of paths */
  GHashTable *rows[G_N_ELEMENTS (tables_tracked)]; /* of rowids */
};

void
changes_free (Changes *changes)
{
  if (changes == NULL)
    return;
  g_hash_table_destroy (changes->results);
  for (gsize i = 0; i < G_N_ELEMENTS (tables_tracked); i++)
    g_hash_table_destroy (changes->rows[i]);
  g_free (changes);
}

static void
on_update (void *data, int action, const char *database, const char *table, sqlite3_int64 row)
{
  Changes *changes = data;
  if (action == SQLITE_DELETE || strcmp (database, "main") != 0)
    return;
  for (gsize i = 0; i < G_N_ELEMENTS (tables_tracked); i++)
    if (strcmp (table, tables_tracked[i].name) == 0)
      {
        gint64 *key = g_new (gint64, 1);
        *key = row;
        g_hash_table_add (changes->rows[i], key);
      }
}

void
changes_begin (Sql *sql)
{
  changes_end (sql);
  sql->changes = g_new0 (Changes, 1);
  sql->changes->results = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (tables_tracked); i++)
    sql->changes->rows[i] = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  sqlite3_update_hook (sql->db, on_update, sql->changes);
}

void
changes_end (Sql *sql)
{
  sqlite3_update_hook (sql->db, NULL, NULL);
  g_clear_pointer (&sql->changes, changes_free);
}

gboolean
changes_are_known (const Sql *sql)
{
  return sql->changes != NULL;
}

void
changes_note_result (Sql *sql, const char *path)
{
  if (sql->changes == NULL)
    return;
  g_hash_table_add (sql->changes->results, g_strdup (path));
  if (g_hash_table_size (sql->changes->results) > RESULTS_MAX)
    changes_end (sql);
}

/* Copies all columns, checksums too, of all rows of the statement `get`. */
static gboolean
copy_rows (Sql *to, const char *put_text, Sql *from, sqlite3_stmt *get, GError **error)
{
  sqlite3_stmt *put = sql_ready (to, put_text, error);
  gboolean has_row = TRUE;
  while (put != NULL && sql_next (from, get, &has_row, error))
    {
      if (!has_row)
        return TRUE;
      for (int i = 0; i < sqlite3_column_count (get); i++)
        sqlite3_bind_value (put, i + 1, sqlite3_column_value (get, i));
      if (!sql_finish (to, put, error))
        break;
    }
  sqlite3_reset (get);
  return FALSE;
}

static gboolean
copy_whole (Sql *to, Sql *from, GError **error)
{
  for (gsize i = 0; i < G_N_ELEMENTS (tables_whole); i++)
    {
      sqlite3_stmt *get = sql_ready (from, tables_whole[i].get, error);
      if (get == NULL || !copy_rows (to, tables_whole[i].put, from, get, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
copy_tracked (Sql *to, Sql *from, GError **error)
{
  for (gsize i = 0; i < G_N_ELEMENTS (tables_tracked); i++)
    {
      GHashTableIter iter;
      gpointer key;
      g_hash_table_iter_init (&iter, from->changes->rows[i]);
      while (g_hash_table_iter_next (&iter, &key, NULL))
        {
          sqlite3_stmt *get = sql_ready (from, tables_tracked[i].get, error);
          if (get == NULL)
            return FALSE;
          sqlite3_bind_int64 (get, 1, *(const gint64 *)key);
          if (!copy_rows (to, tables_tracked[i].put, from, get, error))
            return FALSE;
        }
    }
  return TRUE;
}

static gint
compare_paths (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *)a, *(const char *const *)b);
}

/* In the order of the table, which is the fastest order for inserting. */
static gboolean
copy_results (Sql *to, Sql *from, GError **error)
{
  GHashTableIter iter;
  gpointer path;
  g_autoptr (GPtrArray) paths = g_ptr_array_sized_new (g_hash_table_size (from->changes->results));
  g_hash_table_iter_init (&iter, from->changes->results);
  while (g_hash_table_iter_next (&iter, &path, NULL))
    g_ptr_array_add (paths, path);
  g_ptr_array_sort (paths, compare_paths);
  for (guint i = 0; i < paths->len; i++)
    {
      sqlite3_stmt *get = sql_ready (from, "SELECT * FROM result WHERE path = ?1", error);
      if (get == NULL)
        return FALSE;
      sqlite3_bind_text (get, 1, paths->pdata[i], -1, SQLITE_STATIC);
      if (!copy_rows (to, "INSERT INTO result VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", from,
                      get, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
count_bytes (Sql *sql, guint64 *bytes, GError **error)
{
  gboolean has_row;
  sqlite3_stmt *statement = sql_ready (
      sql, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size", error);
  if (statement == NULL || !sql_next (sql, statement, &has_row, error))
    return FALSE;
  *bytes = has_row ? (guint64)sqlite3_column_int64 (statement, 0) : 0;
  sqlite3_reset (statement);
  return TRUE;
}

Sql *
changes_copy (Sql *sql, guint64 base, guint64 *bytes, GError **error)
{
  g_assert (sql->changes != NULL);

  g_autofree char *number = g_strdup_printf ("%" G_GUINT64_FORMAT, base);
  g_autofree char *names = g_strdup_printf ("PRAGMA application_id=%d; PRAGMA user_version=%d",
                                            SCHEMA_APPLICATION_ID, SCHEMA_VERSION);
  g_autoptr (Sql) copy = sql_create_private (0, error);
  if (copy == NULL)
    return NULL;
  rowsum_take_after (copy, sql);
  if (!sql_run (copy, names, error) || !sql_run (copy, "BEGIN", error)
      || !copy_whole (copy, sql, error) || !copy_tracked (copy, sql, error)
      || !copy_results (copy, sql, error) || !tables_set (copy, DELTA_KEY, number, error)
      || !inventory_renew (copy, error) || !sql_run (copy, "COMMIT", error)
      || !count_bytes (copy, bytes, error))
    return NULL;
  return g_steal_pointer (&copy);
}

gboolean
changes_is_delta (Sql *sql)
{
  g_autofree char *base = tables_get_string (sql, DELTA_KEY, NULL);
  return base != NULL;
}

gboolean
changes_end_delta (Sql *sql, GError **error)
{
  return tables_unset (sql, DELTA_KEY, error);
}
