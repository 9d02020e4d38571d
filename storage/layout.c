/* SPDX-License-Identifier: BSD-3-Clause */
/* In a table without rowids, a row longer than about a quarter of a page continues in pages of its
 * own, and the last of these is not full: with pages of 4 KiB, rows of 6 KiB take 8. So pages
 * should be small compared to the rows, or rows small compared to the pages. The numbers 12, 23,
 * 32, 64 and 255 are from SQLite's file format. Does not interpret rows. */
#include "storage/layout.h"

/* For shorter rows the usual page size is fine, and there are too many of them to look at each. */
#define ROW_BYTES_MIN 256
/* A file of at most this share of the size justifies smaller pages, which are slower. */
#define WORTH 0.97

/* Bytes of a record besides path and value. */
#define RECORD_BESIDE 60

/* Each of the other tables and indexes has at least one page. */
#define PAGES_BESIDE 20

static const guint32 page_sizes[] = { SQL_PAGE_BYTES, 1024, 512, 65536 };

void
layout_add (Layout *layout, gsize payload)
{
  gsize usable = layout->page_size - 12, chain = layout->page_size - 4;
  gsize most = usable * 64 / 255 - 23, least = usable * 32 / 255 - 23;
  gsize local = payload, beside = 4; /* its entry in the page's list, and its length */
  if (payload > most)
    {
      local = least + (payload - least) % chain;
      local = local <= most ? local : least;
      layout->pages += (payload - local + chain - 1) / chain;
      beside += 4;
    }
  if (layout->used + local + beside > usable)
    {
      layout->pages++;
      layout->used = 0;
    }
  layout->used += local + beside;
}

guint64
layout_bytes (const Layout *layout)
{
  return (layout->pages + (layout->used > 0)) * layout->page_size;
}

/* TRUE in *is_so: the average row is long. */
static gboolean
has_long_rows (Sql *sql, gboolean *is_so, GError **error)
{
  gboolean has_row;
  sqlite3_stmt *statement
      = sql_ready (sql,
                   "SELECT (page_count - ?2) * page_size > ?1 * (SELECT count(*) FROM result)"
                   " FROM pragma_page_count, pragma_page_size",
                   error);
  if (statement == NULL)
    return FALSE;
  sqlite3_bind_int64 (statement, 1, ROW_BYTES_MIN);
  sqlite3_bind_int64 (statement, 2, PAGES_BESIDE);
  if (!sql_next (sql, statement, &has_row, error))
    return FALSE;
  *is_so = has_row && sqlite3_column_int (statement, 0) != 0;
  sqlite3_reset (statement);
  return TRUE;
}

gboolean
layout_choose (Sql *sql, guint32 *page_size, GError **error)
{
  Layout layouts[G_N_ELEMENTS (page_sizes)] = { { 0 } };
  gboolean is_so, has_row = TRUE;
  const Layout *best = &layouts[0];
  *page_size = SQL_PAGE_BYTES;
  if (!has_long_rows (sql, &is_so, error))
    return FALSE;
  if (!is_so)
    return TRUE;
  for (gsize i = 0; i < G_N_ELEMENTS (page_sizes); i++)
    layouts[i] = (Layout){ .page_size = page_sizes[i], .pages = PAGES_BESIDE };
  sqlite3_stmt *statement
      = sql_ready (sql,
                   "SELECT length(path) + length(value) + ifnull(length(json), 0)"
                   " + ifnull(length(args), 0)"
                   " FROM result ORDER BY path",
                   error);
  if (statement == NULL)
    return FALSE;
  while (has_row)
    {
      if (!sql_next (sql, statement, &has_row, error))
        return FALSE;
      gsize payload = has_row ? (gsize)sqlite3_column_int64 (statement, 0) + RECORD_BESIDE : 0;
      for (gsize i = 0; has_row && i < G_N_ELEMENTS (page_sizes); i++)
        layout_add (&layouts[i], payload);
    }
  for (gsize i = 1; i < G_N_ELEMENTS (page_sizes); i++)
    if ((double)layout_bytes (&layouts[i]) < WORTH * (double)layout_bytes (best))
      best = &layouts[i];
  *page_size = best->page_size;
  return TRUE;
}
