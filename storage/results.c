/* SPDX-License-Identifier: BSD-3-Clause */
/* Compaction (§3.3 of the paper: results with an ancestor in the file are removed) within each
 * transaction, by one or two queries for each new row. Knows nothing of jobs, nodes and GVariant.
 * Tests: test-storage, test-keeps. */
#include "storage/results-private.h"

#include "storage/cell.h"
#include "storage/changes.h"
#include "storage/inventory.h"
#include "storage/rowsum.h"

#include <string.h>

static void
results_stem_free (gpointer data)
{
  ResultsStem *stem = data;
  g_free (stem->path);
  g_free (stem);
}

Results *
results_new (Sql *sql, GError **error)
{
  g_assert (sql != NULL);

  /* An index of stems by path, in memory: the file itself does not need one. */
  if (!sql_run (sql, "CREATE TEMP TABLE stem_at (path TEXT PRIMARY KEY, id) WITHOUT ROWID", error))
    return NULL;
  Results *results = g_new0 (Results, 1);
  results->sql = sql;
  results->keeps = keeps_new (sql);
  gap_init (&results->rows, sql, "SELECT path FROM result WHERE path > ?1 ORDER BY path LIMIT 1",
            "SELECT path FROM result ORDER BY path DESC LIMIT 1");
  gap_init (&results->stems_at, sql,
            "SELECT path FROM temp.stem_at WHERE path > ?1 ORDER BY path LIMIT 1",
            "SELECT path FROM temp.stem_at ORDER BY path DESC LIMIT 1");
  results->root = -1;
  results->stems = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, results_stem_free);
  return results;
}

void
results_free (Results *results)
{
  if (results == NULL)
    return;
  keeps_free (results->keeps);
  g_hash_table_destroy (results->stems);
  names_free (results->names);
  gap_forget (&results->rows);
  gap_forget (&results->stems_at);
  g_free (results);
}

ResultsTotals
results_totals (const Results *results)
{
  return results->totals;
}

gboolean
results_has_keeps (const Results *results)
{
  return keeps_count (results->keeps) > 0;
}

void
results_set_totals (Results *results, const ResultsTotals *totals)
{
  results->totals = *totals;
}

/* Finds out which stems are saved. The temporary table of their paths is rolled back after a failed
 * commit, even if the stems are in the file. */
static gboolean
reread_stems (Results *results, GError **error)
{
  GHashTableIter iter;
  gpointer value;
  gboolean has_row, good;
  g_hash_table_iter_init (&iter, results->stems);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    ((ResultsStem *)value)->is_saved = ((ResultsStem *)value)->is_covered = FALSE;
  results->n_saved_stems = 0;
  results->stem_sums = 0;
  sqlite3_stmt *statement = sql_run (results->sql,
                                     "DELETE FROM temp.stem_at;"
                                     "INSERT INTO temp.stem_at SELECT path, id FROM main.stem",
                                     error)
                                ? sql_ready (results->sql, "SELECT id, sum FROM stem", error)
                                : NULL;
  if (statement == NULL)
    return FALSE;
  while ((good = sql_next (results->sql, statement, &has_row, error)) && has_row)
    {
      g_autofree char *id = sql_column_string (statement, 0);
      ResultsStem *stem = g_hash_table_lookup (results->stems, id);
      g_assert (stem != NULL);
      stem->is_saved = TRUE;
      results->n_saved_stems++;
      results->stem_sums += rowsum_stored_at (statement, 1);
    }
  return good;
}

/* After a rollback nothing that was known about the file is valid: a commit that failed may have
 * taken effect. */
static gboolean
reread (Results *results, GError **error)
{
  results->sql->constants_are_known = FALSE;
  g_clear_pointer (&results->names, names_free);
  gap_forget (&results->rows);
  gap_forget (&results->stems_at);
  if (!results_count (results->sql, &results->totals))
    return sql_failed (results->sql, error);
  if (!keeps_reread (results->keeps, error) || !reread_stems (results, error))
    return FALSE;
  results->totals_before = results->totals;
  results->is_unsure = FALSE;
  return TRUE;
}

void
results_close (Results *results)
{
  if (!sqlite3_get_autocommit (results->sql->db)) /* an earlier rollback failed, too */
    results_rollback (results);
}

gboolean
results_begin (Results *results, GError **error)
{
  results_close (results);
  results->totals_before = results->totals;
  if (!sql_run (results->sql, "BEGIN IMMEDIATE", error)
      || (results->is_unsure && !reread (results, error)))
    return FALSE;
  results->changes_before = sqlite3_total_changes (results->sql->db);
  keeps_begin (results->keeps);
  return results->rows.is_known || gap_find_last (&results->rows, error);
}

/* Large tables are counted as they change, the others by a query. */
static gboolean
write_inventory (Results *results, GError **error)
{
  Sql *sql = results->sql;
  Inventory now = { 0 };
  if (sqlite3_total_changes (sql->db) == results->changes_before)
    return TRUE;
  if (!sql->constants_are_known
      && !inventory_count (sql, INVENTORY_CONSTANT, &sql->constants, error))
    return FALSE;
  sql->constants_are_known = TRUE;
  for (guint i = 0; i < INVENTORY_TABLES; i++)
    {
      Tally *tally = &now.tables[i];
      if (i == INVENTORY_RESULT)
        *tally = (Tally){ results->totals.rows, results->totals.sums };
      else if (i == INVENTORY_STEM)
        *tally = (Tally){ results->n_saved_stems, results->stem_sums };
      else if (i == INVENTORY_KEEP)
        *tally = keeps_tally (results->keeps);
      else if (i == INVENTORY_CONSTANT)
        *tally = sql->constants;
      else if (!inventory_count (sql, i, tally, error))
        return FALSE;
    }
  return inventory_write (sql, &now, error);
}

gboolean
results_commit (Results *results, GError **error)
{
  return write_inventory (results, error) && sql_run (results->sql, "COMMIT", error);
}

void
results_rollback (Results *results)
{
  if (!sqlite3_get_autocommit (results->sql->db)) /* otherwise SQLite has rolled back */
    sqlite3_exec (results->sql->db, "ROLLBACK", NULL, NULL, NULL);
  results->totals = results->totals_before;
  results->root = -1;
  keeps_rollback (results->keeps);
  results->is_unsure = TRUE;
}

void
results_meet_stem (Results *results, const char *id, const char *path)
{
  g_assert (strlen (id) == RESULTS_STEM_ID_LENGTH);

  if (g_hash_table_contains (results->stems, id))
    return;
  ResultsStem *stem = g_new0 (ResultsStem, 1);
  stem->path = g_strdup (path);
  g_hash_table_insert (results->stems, g_strdup (id), stem);
}

gboolean
results_knows_stem (Results *results, const char *id)
{
  return g_hash_table_contains (results->stems, id);
}

/* The stem that `path` continues, if it does and the stem is known. (nullable) */
static ResultsStem *
stem_of (Results *results, const char *path, char id[RESULTS_STEM_ID_LENGTH + 1])
{
  if (path[0] != '~' || strlen (path) <= 1 + RESULTS_STEM_ID_LENGTH)
    return NULL;
  memcpy (id, path + 1, RESULTS_STEM_ID_LENGTH);
  id[RESULTS_STEM_ID_LENGTH] = '\0';
  return g_hash_table_lookup (results->stems, id);
}

typedef enum
{
  COVER_NONE,     /* no row at or above it */
  COVER_ABOVE,    /* a row above it: the new row is dropped */
  COVER_EQUAL,    /* this row, or a newer one with the same path: dropped */
  COVER_REPLACED, /* an older row with the same path and another digest: replaced */
} Cover;

/* In an antichain, only the predecessor of `path` in the order of bytes can lie at or above it
 * (among texts of one stem). Any other text between an ancestor and `path` would lie below that
 * ancestor. */
static gboolean
look_back (Results *results, const char *path, const Result *row, Cover *cover, GError **error)
{
  sqlite3_stmt *statement = sql_ready (
      results->sql,
      "SELECT path, digest, saved FROM result WHERE path <= ?1 ORDER BY path DESC LIMIT 1", error);
  gboolean has_row;
  *cover = COVER_NONE;
  if (statement == NULL)
    return FALSE;
  sqlite3_bind_text (statement, 1, path, -1, SQLITE_STATIC);
  if (!sql_next (results->sql, statement, &has_row, error))
    return FALSE;
  if (!has_row)
    return TRUE;
  const char *found = (const char *)sqlite3_column_text (statement, 0);
  gsize length = (gsize)sqlite3_column_bytes (statement, 0);
  if (found != NULL && strncmp (path, found, length) == 0)
    {
      if (path[length] == '/')
        *cover = COVER_ABOVE;
      else if (path[length] == '\0')
        {
          const void *digest = sqlite3_column_blob (statement, 1);
          gsize size = (gsize)sqlite3_column_bytes (statement, 1);
          gboolean is_same
              = row == NULL
                || (size == row->digest_size && memcmp (digest, row->digest, size) == 0);
          gboolean is_newer = !is_same && row->saved >= sqlite3_column_int64 (statement, 2);
          *cover = is_newer ? COVER_REPLACED : COVER_EQUAL;
        }
    }
  sqlite3_reset (statement);
  return TRUE;
}

static gboolean
is_below (const char *path, const char *above)
{
  gsize length = strlen (above);
  return strncmp (path, above, length) == 0 && path[length] == '/';
}

/* The same without a query: batches and whole files come sorted. FALSE: not known. */
static gboolean
recall_back (Results *results, const char *path, Cover *cover)
{
  const char *low = results->rows.low;
  if (!gap_spans (&results->rows, path, path)
      || (results->rows.high != NULL && strcmp (path, results->rows.high) == 0))
    return FALSE;
  *cover = low != NULL && is_below (path, low) ? COVER_ABOVE : COVER_NONE;
  return TRUE;
}

/* Marks the stems of `path` up to `last`, which is covered. */
static void
mark_covered (Results *results, const char *path, const ResultsStem *last)
{
  char id[RESULTS_STEM_ID_LENGTH + 1];
  ResultsStem *stem = stem_of (results, path, id);
  for (; stem != NULL; stem = stem == last ? NULL : stem_of (results, stem->path, id))
    stem->is_covered = TRUE;
}

/* One query for the path and one for each stem above it, up to the first stem that is saved, which
 * proves that no row lies above it, or is known to be covered. So each stem is queried at most
 * twice. */
static gboolean
find_cover (Results *results, const char *path, const Result *row, Cover *cover, GError **error)
{
  *cover = COVER_NONE;
  if (!recall_back (results, path, cover) && !look_back (results, path, row, cover, error))
    return FALSE;
  char id[RESULTS_STEM_ID_LENGTH + 1];
  ResultsStem *stem = stem_of (results, path, id);
  while (*cover == COVER_NONE && stem != NULL && !stem->is_saved)
    {
      if (stem->is_covered)
        *cover = COVER_ABOVE;
      else if (!look_back (results, stem->path, NULL, cover, error))
        return FALSE;
      if (*cover != COVER_NONE)
        mark_covered (results, path, stem);
      else
        stem = stem_of (results, stem->path, id);
    }
  return TRUE;
}

/* TRUE: `path` lies in a finished phase of a kept state above it. */
static gboolean
lies_in_kept_phase (Results *results, const char *path)
{
  if (keeps_count (results->keeps) == 0)
    return FALSE;
  g_autofree char *above = g_strdup (path);
  char *slash;
  while ((slash = strrchr (above, '/')) != NULL)
    {
      guint64 number = g_ascii_strtoull (slash + 1, NULL, 10);
      *slash = '\0';
      if (above[0] == '~' && strchr (above, '/') == NULL)
        {
          const ResultsStem *stem = g_hash_table_lookup (results->stems, above + 1);
          g_free (above);
          above = g_strdup (stem != NULL ? stem->path : "");
          if (stem == NULL)
            return FALSE;
        }
      if (keeps_children (results->keeps, above) > number)
        return TRUE;
    }
  return FALSE;
}

static gboolean
save_stem (Results *results, const char *id, ResultsStem *stem, GError **error)
{
  static const char *const texts[]
      = { "INSERT OR REPLACE INTO stem VALUES (?1, ?2, row_sum ('stem', ?1, ?2))",
          "INSERT OR REPLACE INTO temp.stem_at VALUES (?2, ?1)" };
  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      sqlite3_stmt *statement = sql_ready (results->sql, texts[i], error);
      if (statement == NULL)
        return FALSE;
      sqlite3_bind_text (statement, 1, id, -1, SQLITE_STATIC);
      sqlite3_bind_text (statement, 2, stem->path, -1, SQLITE_STATIC);
      if (!sql_finish (results->sql, statement, error))
        return FALSE;
    }
  gap_put (&results->stems_at, stem->path, FALSE);
  stem->is_saved = TRUE;
  results->n_saved_stems++;
  results->stem_sums += results->sql->last_sum;
  return TRUE;
}

/* All stems above a saved stem are saved, so the walk upwards ends at the first one. */
static gboolean
save_stems (Results *results, const char *path, GError **error)
{
  char id[RESULTS_STEM_ID_LENGTH + 1];
  ResultsStem *stem = stem_of (results, path, id);
  while (stem != NULL && !stem->is_saved)
    {
      if (!save_stem (results, id, stem, error))
        return FALSE;
      stem = stem_of (results, stem->path, id);
    }
  return TRUE;
}

/* The number of the root; paths of the first root have none. */
static gint64
root_of (const char *path)
{
  return g_ascii_isdigit (path[0]) ? g_ascii_strtoll (path, NULL, 10) : 0;
}

static gboolean
find_root (Results *results, GError **error)
{
  gboolean has_row;
  if (results->root >= 0)
    return TRUE;
  sqlite3_stmt *statement = sql_ready (results->sql,
                                       "SELECT ifnull(max(CAST(path AS INTEGER)), 0) FROM result"
                                       " WHERE path >= '0' AND path < ':'",
                                       error);
  if (statement == NULL || !sql_next (results->sql, statement, &has_row, error))
    return FALSE;
  results->root = sqlite3_column_int64 (statement, 0);
  sqlite3_reset (statement);
  return TRUE;
}

/* A row of an earlier root whose weight is not 0 yet. (transfer full) NULL in *path: there is
 * none. */
static gboolean
next_heavy (Results *results, char **path, double *weight, guint64 *sum, GError **error)
{
  gboolean has_row;
  sqlite3_stmt *statement
      = sql_ready (results->sql,
                   "SELECT path, weight, sum FROM result WHERE weight > 0 AND (path = ''"
                   " OR path >= '0' AND path < ':' AND CAST(path AS INTEGER) < ?1) LIMIT 1",
                   error);
  *path = NULL;
  if (statement == NULL)
    return FALSE;
  sqlite3_bind_int64 (statement, 1, results->root);
  if (!sql_next (results->sql, statement, &has_row, error))
    return FALSE;
  if (!has_row)
    return TRUE;
  *path = sql_column_string (statement, 0);
  *weight = sqlite3_column_double (statement, 1);
  *sum = rowsum_stored_at (statement, 2);
  sqlite3_reset (statement);
  return TRUE;
}

/* Makes this root the last. Rows of earlier roots get the weight 0, so that the sum of all weights
 * is the finished share of this root. */
static gboolean
begin_root (Results *results, gint64 root, GError **error)
{
  double weight;
  guint64 sum;
  results->root = root;
  for (;;)
    {
      g_autofree char *path = NULL;
      if (!next_heavy (results, &path, &weight, &sum, error))
        return FALSE;
      if (path == NULL)
        return TRUE;
      sqlite3_stmt *statement
          = sql_ready (results->sql,
                       "UPDATE result SET weight = 0.0, sum = row_sum ('result', path, node, job,"
                       " digest, value, work_s, saved, 0.0, json, args, began, took_ms)"
                       " WHERE path = ?1",
                       error);
      if (statement == NULL)
        return FALSE;
      sqlite3_bind_text (statement, 1, path, -1, SQLITE_STATIC);
      if (!sql_finish (results->sql, statement, error))
        return FALSE;
      changes_note_result (results->sql, path);
      results->totals.weight -= weight;
      results->totals.sums += results->sql->last_sum - sum;
    }
}

static double
at_least_zero (double number)
{
  return number > 0 ? number : 0; /* also for NaN and minus zero */
}

static void
add_to_totals (ResultsTotals *totals, const Result *row, guint64 sum)
{
  totals->rows++;
  totals->weight += at_least_zero (row->weight);
  totals->work_s += at_least_zero (row->work_s);
  totals->sums += sum;
}

void
results_count_in (ResultsTotals *totals, const Result *row)
{
  add_to_totals (totals, row, row->sum);
}

static void
count_in (Results *results, const Result *row, guint64 sum, gboolean is_last)
{
  add_to_totals (&results->totals, row, sum);
  gap_put (&results->rows, row->path, is_last);
}

static gboolean
insert (Results *results, const Result *row, double work_s, GError **error)
{
  sqlite3_stmt *statement
      = sql_ready (results->sql,
                   "INSERT INTO result VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12,"
                   " row_sum ('result', ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12))",
                   error);
  if (statement == NULL || !results_bind_names (results, statement, row, error))
    return FALSE;
  sqlite3_bind_text (statement, 1, row->path, -1, SQLITE_STATIC);
  sqlite3_bind_blob64 (statement, 4, row->digest, row->digest_size, SQLITE_STATIC);
  results_bind_told (statement, row,
                     cell_bind_both (statement, 5, 9, row->type, row->value, CELL_JSON_ROW));
  Result own = *row;
  own.work_s = at_least_zero (work_s);
  sqlite3_bind_double (statement, 6, own.work_s);
  sqlite3_bind_int64 (statement, 7, row->saved);
  /* A late row of an earlier root. */
  if (row->path[0] != '~' && root_of (row->path) < results->root)
    own.weight = 0;
  sqlite3_bind_double (statement, 8, at_least_zero (own.weight));
  if (!sql_finish (results->sql, statement, error))
    return FALSE;
  changes_note_result (results->sql, row->path);
  count_in (results, &own, results->sql->last_sum, FALSE);
  return TRUE;
}

gboolean
results_follows (const char *last, const char *path)
{
  return path[0] != '~' && (last == NULL || (strcmp (path, last) > 0 && !is_below (path, last)));
}

gboolean
results_adopt (Results *results, const Result *row)
{
  if (!results_follows (results->totals.rows > 0 ? results->rows.low : NULL, row->path))
    return FALSE;
  results->root = -1;
  count_in (results, row, row->sum, TRUE);
  return TRUE;
}

gboolean
results_put (Results *results, const Result *row, gboolean *written, GError **error)
{
  g_assert (row->path != NULL && row->type != NULL && row->value != NULL);

  Cover cover;
  *written = FALSE;
  if (!find_root (results, error) || !find_cover (results, row->path, row, &cover, error))
    return FALSE;
  if (root_of (row->path) > results->root && !begin_root (results, root_of (row->path), error))
    return FALSE;
  if (cover == COVER_ABOVE || cover == COVER_EQUAL || lies_in_kept_phase (results, row->path))
    return TRUE;

  double below_s = 0, forgotten = 0;
  if (cover == COVER_REPLACED)
    {
      /* No text lies between a text and the same text with this byte appended. */
      g_autofree char *after = g_strconcat (row->path, "\x01", NULL);
      if (!results_remove_rows (results, row->path, after, &forgotten, error))
        return FALSE;
    }
  else if (!results_remove_all (results, row->path, &below_s, error))
    return FALSE;
  if (!save_stems (results, row->path, error)
      || !insert (results, row, MAX (row->work_s, below_s), error))
    return FALSE;
  *written = TRUE;
  return TRUE;
}

gboolean
results_put_keep (Results *results, const Keep *keep, double work_s, gboolean *written,
                  GError **error)
{
  g_assert (keep->path != NULL && keep->type != NULL && keep->value != NULL && keep->children > 0);

  Cover cover;
  *written = FALSE;
  if (!find_cover (results, keep->path, NULL, &cover, error))
    return FALSE;
  if (cover != COVER_NONE || lies_in_kept_phase (results, keep->path)
      || keeps_has (results->keeps, keep))
    return TRUE;
  double below_s = 0;
  if (!results_remove_phases (results, keep, &below_s, error)
      || !save_stems (results, keep->path, error)
      || !keeps_put (results->keeps, keep, MAX (work_s, below_s), error))
    return FALSE;
  *written = TRUE;
  return TRUE;
}
