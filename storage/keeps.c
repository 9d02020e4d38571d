/* SPDX-License-Identifier: BSD-3-Clause */
/* There are few kept states: one for each unfinished job with phases. So their paths are also in
 * memory, and a run without kept states pays nothing. Knows nothing of jobs, nodes and GVariant. */
#include "storage/keeps.h"

#include "storage/cell.h"
#include "storage/rowsum.h"

#include <string.h>

typedef struct
{
  guint32 children;
  GBytes *digest;
  double work_s;
  guint64 sum; /* of the row */
} KeepsEntry;

/* The entry at a path before its first change. */
typedef struct
{
  char *path;
  KeepsEntry *before; /* NULL: there was none */
} KeepsChange;

struct Keeps
{
  Sql *sql;
  GTree *entries;     /* path -> KeepsEntry, in the order of bytes */
  GPtrArray *changes; /* of KeepsChange, since keeps_begin */
};

static int
compare_paths (gconstpointer a, gconstpointer b, gpointer data)
{
  (void)data;
  return strcmp (a, b);
}

static void
entry_free (gpointer data)
{
  KeepsEntry *entry = data;
  if (entry == NULL)
    return;
  g_bytes_unref (entry->digest);
  g_free (entry);
}

static void
change_free (gpointer data)
{
  KeepsChange *change = data;
  g_free (change->path);
  entry_free (change->before);
  g_free (change);
}

Keeps *
keeps_new (Sql *sql)
{
  Keeps *keeps = g_new0 (Keeps, 1);
  keeps->sql = sql;
  keeps->entries = g_tree_new_full (compare_paths, NULL, g_free, entry_free);
  keeps->changes = g_ptr_array_new_with_free_func (change_free);
  return keeps;
}

void
keeps_free (Keeps *keeps)
{
  if (keeps == NULL)
    return;
  g_tree_unref (keeps->entries);
  g_ptr_array_unref (keeps->changes);
  g_free (keeps);
}

void
keeps_begin (Keeps *keeps)
{
  g_ptr_array_set_size (keeps->changes, 0);
}

/* Call this before the entry of `path` changes. */
static void
note (Keeps *keeps, const char *path)
{
  const KeepsEntry *entry = g_tree_lookup (keeps->entries, path);
  KeepsChange *change = g_new0 (KeepsChange, 1);
  change->path = g_strdup (path);
  if (entry != NULL)
    {
      change->before = g_memdup2 (entry, sizeof *entry);
      g_bytes_ref (entry->digest);
    }
  g_ptr_array_add (keeps->changes, change);
}

void
keeps_rollback (Keeps *keeps)
{
  for (guint i = keeps->changes->len; i-- > 0;)
    {
      KeepsChange *change = g_ptr_array_index (keeps->changes, i);
      if (change->before == NULL)
        g_tree_remove (keeps->entries, change->path);
      else
        g_tree_replace (keeps->entries, g_steal_pointer (&change->path),
                        g_steal_pointer (&change->before));
    }
  g_ptr_array_set_size (keeps->changes, 0);
}

static KeepsEntry *
entry_read (const Keeps *keeps, sqlite3_stmt *statement)
{
  KeepsEntry *entry = g_new0 (KeepsEntry, 1);
  const KeepsEntry *known
      = g_tree_lookup (keeps->entries, (const char *)sqlite3_column_text (statement, 0));
  entry->children = (guint32)sqlite3_column_int64 (statement, 1);
  entry->digest = g_bytes_new (sqlite3_column_blob (statement, 2),
                               (gsize)sqlite3_column_bytes (statement, 2));
  entry->sum = rowsum_stored_at (statement, 3);
  entry->work_s = known != NULL ? known->work_s : 0;
  return entry;
}

gboolean
keeps_reread (Keeps *keeps, GError **error)
{
  gboolean has_row = TRUE, good = TRUE;
  sqlite3_stmt *statement
      = sql_ready (keeps->sql, "SELECT path, children, digest, sum FROM keep", error);
  if (statement == NULL)
    return FALSE;
  GTree *entries = g_tree_new_full (compare_paths, NULL, g_free, entry_free);
  while ((good = sql_next (keeps->sql, statement, &has_row, error)) && has_row)
    g_tree_replace (entries, sql_column_string (statement, 0), entry_read (keeps, statement));
  if (good)
    {
      g_tree_unref (keeps->entries);
      keeps->entries = g_steal_pointer (&entries);
      g_ptr_array_set_size (keeps->changes, 0);
    }
  else
    g_tree_unref (entries);
  return good;
}

guint
keeps_count (const Keeps *keeps)
{
  return (guint)g_tree_nnodes (keeps->entries);
}

static gboolean
add_sum (gpointer path, gpointer entry, gpointer data)
{
  (void)path;
  *(guint64 *)data += ((const KeepsEntry *)entry)->sum;
  return FALSE;
}

Tally
keeps_tally (const Keeps *keeps)
{
  Tally tally = { .rows = keeps_count (keeps) };
  g_tree_foreach (keeps->entries, add_sum, &tally.sums);
  return tally;
}

guint32
keeps_children (const Keeps *keeps, const char *path)
{
  const KeepsEntry *entry = g_tree_lookup (keeps->entries, path);
  return entry != NULL ? entry->children : 0;
}

gboolean
keeps_has (const Keeps *keeps, const Keep *keep)
{
  const KeepsEntry *entry = g_tree_lookup (keeps->entries, keep->path);
  if (entry == NULL || entry->children < keep->children)
    return FALSE;
  gsize size;
  const void *digest = g_bytes_get_data (entry->digest, &size);
  return size == keep->digest_size && memcmp (digest, keep->digest, size) == 0;
}

const char *
keeps_next (const Keeps *keeps, const char *from, const char *to)
{
  GTreeNode *node = g_tree_lower_bound (keeps->entries, from);
  const char *path = node != NULL ? g_tree_node_key (node) : NULL;
  return path != NULL && strcmp (path, to) < 0 ? path : NULL;
}

gboolean
keeps_put (Keeps *keeps, const Keep *keep, double work_s, GError **error)
{
  sqlite3_stmt *statement = sql_ready (keeps->sql,
                                       "INSERT OR REPLACE INTO keep VALUES (?1, ?2, ?3, ?4, ?5, ?6,"
                                       " ?7, row_sum ('keep', ?1, ?2, ?3, ?4, ?5, ?6, ?7))",
                                       error);
  if (statement == NULL)
    return FALSE;
  sqlite3_bind_text (statement, 1, keep->path, -1, SQLITE_STATIC);
  sqlite3_bind_int64 (statement, 2, keep->children);
  sqlite3_bind_blob64 (statement, 3, keep->digest, keep->digest_size, SQLITE_STATIC);
  sqlite3_bind_text (statement, 4, keep->type, -1, SQLITE_STATIC);
  gsize args = keep->args != NULL && keep->args_size <= CELL_JSON_ROW ? keep->args_size : 0;
  if (args > 0)
    sqlite3_bind_text64 (statement, 7, keep->args, args, SQLITE_STATIC, SQLITE_UTF8);
  (void)cell_bind_both (statement, 5, 6, keep->type, keep->value,
                        MIN (CELL_JSON_ROW, CELL_JSON_KEEP - args));
  if (!sql_finish (keeps->sql, statement, error))
    return FALSE;
  const KeepsEntry *old = g_tree_lookup (keeps->entries, keep->path);
  KeepsEntry *entry = g_new0 (KeepsEntry, 1);
  entry->children = keep->children;
  entry->digest = g_bytes_new (keep->digest, keep->digest_size);
  entry->sum = keeps->sql->last_sum;
  entry->work_s = MAX (work_s, old != NULL ? old->work_s : 0);
  note (keeps, keep->path);
  g_tree_replace (keeps->entries, g_strdup (keep->path), entry);
  return TRUE;
}

static gboolean
remove_one (Keeps *keeps, const char *path, GError **error)
{
  sqlite3_stmt *statement = sql_ready (keeps->sql, "DELETE FROM keep WHERE path = ?1", error);
  if (statement == NULL)
    return FALSE;
  sqlite3_bind_text (statement, 1, path, -1, SQLITE_STATIC);
  if (!sql_finish (keeps->sql, statement, error))
    return FALSE;
  note (keeps, path);
  g_tree_remove (keeps->entries, path);
  return TRUE;
}

gboolean
keeps_remove (Keeps *keeps, const char *from, const char *to, double *work_s, GError **error)
{
  const char *next;
  while ((next = keeps_next (keeps, from, to)) != NULL)
    {
      g_autofree char *path = g_strdup (next);
      double work = ((KeepsEntry *)g_tree_lookup (keeps->entries, path))->work_s;
      if (!remove_one (keeps, path, error))
        return FALSE;
      *work_s += work;
    }
  return TRUE;
}

/* FALSE: the checksum is wrong, or a value is not of its type, so this program did not write the
 * row. */
static gboolean
row_read (sqlite3_stmt *statement, Keep *keep)
{
  gint64 children = sqlite3_column_int64 (statement, 1);
  if (sqlite3_column_int (statement, 5) != 1 || sqlite3_column_type (statement, 0) != SQLITE_TEXT
      || sqlite3_column_type (statement, 2) != SQLITE_BLOB
      || sqlite3_column_type (statement, 3) != SQLITE_TEXT || children < 1
      || children > G_MAXUINT32)
    return FALSE;
  keep->path = (const char *)sqlite3_column_text (statement, 0);
  keep->children = (guint32)children;
  keep->digest = sqlite3_column_blob (statement, 2);
  keep->digest_size = (gsize)sqlite3_column_bytes (statement, 2);
  keep->type = (const char *)sqlite3_column_text (statement, 3);
  keep->value = cell_read (sqlite3_column_value (statement, 4), keep->type);
  keep->args = (const char *)sqlite3_column_text (statement, 6);
  keep->args_size = (gsize)sqlite3_column_bytes (statement, 6);
  return keep->value != NULL;
}

gboolean
keeps_each (Sql *sql, KeepsEach each, gpointer data, guint64 *bad, GError **error)
{
  sqlite3_stmt *statement
      = sql_ready (sql,
                   "SELECT path, children, digest, type, value,"
                   " row_holds (sum, 'keep', path, children, digest, type, value, json, args), args"
                   " FROM keep ORDER BY path",
                   error);
  gboolean has_row;
  if (statement == NULL)
    return FALSE;
  while (sql_next (sql, statement, &has_row, error))
    {
      if (!has_row)
        return TRUE;
      Keep keep = { 0 };
      gboolean is_good = row_read (statement, &keep);
      gboolean goes_on = !is_good || each (&keep, data, error);
      if (!is_good && bad != NULL)
        (*bad)++;
      g_clear_pointer (&keep.value, g_bytes_unref);
      if (!goes_on)
        {
          sqlite3_reset (statement);
          return FALSE;
        }
    }
  return FALSE;
}
