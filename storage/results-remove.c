/* SPDX-License-Identifier: BSD-3-Clause */
/* Removes the rows, kept states and stems that a new row or kept state replaces. It works on ranges
 * of texts, so the cost depends only on what is there.
 * Tests: test-storage, test-merge. */
#include "storage/results-private.h"

#include "storage/rowsum.h"

#include <string.h>

/* As sql_ready, with ?1 <= path < ?2 bound. */
static sqlite3_stmt *
range_ready (Sql *sql, const char *text, const char *from, const char *to, GError **error)
{
  sqlite3_stmt *statement = sql_ready (sql, text, error);
  if (statement != NULL)
    {
      sqlite3_bind_text (statement, 1, from, -1, SQLITE_STATIC);
      sqlite3_bind_text (statement, 2, to, -1, SQLITE_STATIC);
    }
  return statement;
}

/* Greater than all paths. Used for the range of the first root, if there is no other root. */
#define LAST_TEXT "\x7f"

static gboolean
takes_all (const char *from, const char *to)
{
  return *from == '\0' && *to == LAST_TEXT[0];
}

/* What the rows with from <= path < to add up to. The sums of all rows are known; else they are
 * read, which takes long where values are. */
static gboolean
count_rows (Results *results, const char *from, const char *to, ResultsTotals *found,
            GError **error)
{
  gboolean has_row;
  *found = results->totals;
  if (takes_all (from, to))
    return TRUE;
  sqlite3_stmt *statement
      = range_ready (results->sql,
                     "SELECT count(*), total(work_s), total(weight), row_sums (sum) FROM result"
                     " WHERE path >= ?1 AND path < ?2",
                     from, to, error);
  if (statement == NULL || !sql_next (results->sql, statement, &has_row, error))
    return FALSE;
  found->rows = (guint64)sqlite3_column_int64 (statement, 0);
  found->work_s = sqlite3_column_double (statement, 1);
  found->weight = sqlite3_column_double (statement, 2);
  found->sums = (guint64)sqlite3_column_int64 (statement, 3);
  sqlite3_reset (statement);
  return TRUE;
}

gboolean
results_remove_rows (Results *results, const char *from, const char *to, double *work_s,
                     GError **error)
{
  ResultsTotals found;
  if (!count_rows (results, from, to, &found, error))
    return FALSE;
  if (found.rows == 0)
    return TRUE;

  /* Without a condition SQLite frees whole pages and reads no row. */
  sqlite3_stmt *statement
      = takes_all (from, to)
            ? sql_ready (results->sql, "DELETE FROM result", error)
            : range_ready (results->sql, "DELETE FROM result WHERE path >= ?1 AND path < ?2", from,
                           to, error);
  if (statement == NULL || !sql_finish (results->sql, statement, error))
    return FALSE;
  *work_s += found.work_s;
  gap_forget (&results->rows);
  results->totals.rows -= found.rows;
  results->totals.weight -= found.weight;
  results->totals.work_s -= found.work_s;
  results->totals.sums -= found.sums;
  return TRUE;
}

/* Removes the saved stems with from <= path < to from the index in memory, and appends their ids to
 * `found`. */
static gboolean
take_stems (Results *results, const char *from, const char *to, GQueue *found, GError **error)
{
  sqlite3_stmt *statement = range_ready (
      results->sql, "DELETE FROM temp.stem_at WHERE path >= ?1 AND path < ?2 RETURNING id", from,
      to, error);
  gboolean has_row;
  while (statement != NULL && sql_next (results->sql, statement, &has_row, error))
    {
      if (!has_row)
        return TRUE;
      g_queue_push_tail (found, sql_column_string (statement, 0));
    }
  return FALSE;
}

static gboolean
remove_stem (Results *results, const char *id, GError **error)
{
  gboolean has_row;
  sqlite3_stmt *statement
      = sql_ready (results->sql, "DELETE FROM stem WHERE id = ?1 RETURNING sum", error);
  if (statement == NULL)
    return FALSE;
  sqlite3_bind_text (statement, 1, id, -1, SQLITE_STATIC);
  if (!sql_next (results->sql, statement, &has_row, error))
    return FALSE;
  if (has_row)
    results->stem_sums -= rowsum_stored_at (statement, 0);
  ResultsStem *stem = g_hash_table_lookup (results->stems, id);
  g_assert (stem != NULL && stem->is_saved);
  stem->is_saved = FALSE;
  results->n_saved_stems--;
  return !has_row || sql_finish (results->sql, statement, error);
}

/* Removes the range of `path`'s own text, and the range of every stem at or below it. By the order
 * of bytes, "PATH" … "PATH0" is exactly PATH and the texts that continue it. The only root's range
 * contains everything, which is faster. */
gboolean
results_remove_all (Results *results, const char *path, double *work_s, GError **error)
{
  g_autoptr (GQueue) bases = g_queue_new ();
  g_queue_push_tail (bases, g_strdup (path));
  gboolean good = TRUE;
  while (good && !g_queue_is_empty (bases))
    {
      g_autofree char *base = g_queue_pop_head (bases);
      gboolean is_all = *base == '\0' && results->root == 0;
      g_autofree char *to = g_strconcat (base, is_all ? LAST_TEXT : "0", NULL);
      GQueue found = G_QUEUE_INIT;
      good = gap_spans (&results->rows, base, to)
             || results_remove_rows (results, base, to, work_s, error);
      good = good && keeps_remove (results->keeps, base, to, work_s, error);
      if (good && results->n_saved_stems > 0 && !gap_spans (&results->stems_at, base, to))
        {
          good = take_stems (results, base, to, &found, error);
          gap_put (&results->stems_at, base, FALSE); /* nothing is left between here and the next
                                                      * text */
        }
      while (!g_queue_is_empty (&found))
        {
          g_autofree char *id = g_queue_pop_head (&found);
          good = good && remove_stem (results, id, error);
          g_queue_push_tail (bases, g_strconcat ("~", id, NULL));
        }
    }
  g_queue_clear_full (bases, g_free);
  return good;
}

/* The first text with from <= text < to of a row, kept state or saved stem; NULL: there is none. */
static gboolean
next_text (Results *results, const char *from, const char *to, char **text, GError **error)
{
  sqlite3_stmt *statement
      = range_ready (results->sql,
                     "SELECT min(path) FROM"
                     " (SELECT min(path) AS path FROM result WHERE path >= ?1 AND path < ?2 UNION"
                     " ALL SELECT min(path) FROM temp.stem_at WHERE path >= ?1 AND path < ?2)",
                     from, to, error);
  gboolean has_row;
  const char *kept = keeps_next (results->keeps, from, to);
  *text = NULL;
  if (statement == NULL || !sql_next (results->sql, statement, &has_row, error))
    return FALSE;
  *text = has_row ? sql_column_string (statement, 0) : NULL;
  sqlite3_reset (statement);
  if (kept != NULL && (*text == NULL || strcmp (kept, *text) < 0))
    {
      g_free (*text);
      *text = g_strdup (kept);
    }
  return TRUE;
}

/* Removes everything at or below the children of `base` with numbers less than `n`. Goes from one
 * existing child to the next, so the cost depends only on what is there. */
static gboolean
remove_phases_of (Results *results, const char *base, guint32 n, double *work_s, GError **error)
{
  g_autofree char *from = g_strconcat (base, "/", NULL);
  g_autofree char *to = g_strconcat (base, "0", NULL);
  gsize length = strlen (from);
  for (;;)
    {
      g_autofree char *child = NULL;
      char *end;
      if (!next_text (results, from, to, &child, error))
        return FALSE;
      if (child == NULL)
        return TRUE;
      guint64 number = g_ascii_strtoull (child + length, &end, 10);
      *end = '\0';
      if (number < n && !results_remove_all (results, child, work_s, error))
        return FALSE;
      g_free (from);
      from = g_strconcat (child, "0", NULL); /* behind all texts that continue this child */
    }
}

/* If a stem ends at this job, the texts of its children begin with the stem's id. */
gboolean
results_remove_phases (Results *results, const Keep *keep, double *work_s, GError **error)
{
  gboolean has_row;
  if (!remove_phases_of (results, keep->path, keep->children, work_s, error))
    return FALSE;
  if (results->n_saved_stems == 0)
    return TRUE;
  sqlite3_stmt *statement
      = sql_ready (results->sql, "SELECT '~' || id FROM temp.stem_at WHERE path = ?1", error);
  if (statement == NULL)
    return FALSE;
  sqlite3_bind_text (statement, 1, keep->path, -1, SQLITE_STATIC);
  if (!sql_next (results->sql, statement, &has_row, error))
    return FALSE;
  g_autofree char *base = has_row ? sql_column_string (statement, 0) : NULL;
  sqlite3_reset (statement);
  return base == NULL || remove_phases_of (results, base, keep->children, work_s, error);
}
