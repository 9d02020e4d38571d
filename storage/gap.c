/* SPDX-License-Identifier: BSD-3-Clause */
/* See gap.h.
 * Tests: test-storage, test-ledger. */
#include "storage/gap.h"

#include <string.h>

void
gap_init (Gap *gap, Sql *sql, const char *next_text, const char *last_text)
{
  *gap = (Gap){ .sql = sql, .next_text = next_text, .last_text = last_text };
}

void
gap_forget (Gap *gap)
{
  g_clear_pointer (&gap->low, g_free);
  g_clear_pointer (&gap->high, g_free);
  gap->room = 0;
  gap->is_known = gap->has_high = FALSE;
}

/* The first text of a query. (transfer full) (nullable) */
static gboolean
ask (Gap *gap, const char *text, const char *path, char **found, GError **error)
{
  sqlite3_stmt *statement = sql_ready (gap->sql, text, error);
  gboolean has_row;
  if (statement == NULL)
    return FALSE;
  if (path != NULL)
    sqlite3_bind_text (statement, 1, path, -1, SQLITE_STATIC);
  if (!sql_next (gap->sql, statement, &has_row, error))
    return FALSE;
  *found = has_row ? sql_column_string (statement, 0) : NULL;
  sqlite3_reset (statement);
  return TRUE;
}

gboolean
gap_find_last (Gap *gap, GError **error)
{
  char *last;
  if (!ask (gap, gap->last_text, NULL, &last, error))
    return FALSE;
  gap_forget (gap);
  gap->low = last;
  gap->is_known = gap->has_high = TRUE;
  return TRUE;
}

void
gap_put (Gap *gap, const char *path, gboolean is_last)
{
  gboolean splits = gap->is_known && gap->has_high
                    && (gap->low == NULL || strcmp (gap->low, path) < 0)
                    && (gap->high == NULL || strcmp (path, gap->high) < 0);
  if (is_last || !splits)
    g_clear_pointer (&gap->high, g_free);
  gap->has_high = is_last || splits;
  gap->is_known = TRUE;
  gsize size = strlen (path) + 1;
  if (size > gap->room)
    {
      g_free (gap->low);
      gap->room = size * 2;
      gap->low = g_malloc (gap->room);
    }
  memcpy (gap->low, path, size);
}

gboolean
gap_spans (Gap *gap, const char *from, const char *to)
{
  if (!gap->is_known || (gap->low != NULL && strcmp (gap->low, from) >= 0))
    return FALSE;
  if (!gap->has_high && !ask (gap, gap->next_text, gap->low, &gap->high, NULL))
    return FALSE;
  gap->has_high = TRUE;
  return gap->high == NULL || strcmp (to, gap->high) <= 0;
}
