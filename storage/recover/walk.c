/* SPDX-License-Identifier: BSD-3-Clause */
/* The same questions as those of SQLite's integrity check of pages (btree.c, checkTreePage), asked
 * while a file comes: SQLite itself goes through a tree from its end. The numbers are those of
 * SQLite's file format. Must not know tables or checksums. */

#include "storage/recover/walk.h"

#include "host/whole.h"

#include "storage/sqlite-record.h"

#include "storage/places/arrival.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEADER_BYTES 100
#define PAGE_BYTES_MIN 512
#define BLOCK_BYTES (256 * 1024)
#define DEPTH_MAX 20
#define TREES_MAX 64
#define CELL_BYTES_MIN 4
#define LOCK_AT 0x40000000u /* the page with this byte is never used */

typedef enum
{
  PAGE_TABLE_LEAF = 13,
  PAGE_TABLE_INNER = 5,
  PAGE_INDEX_LEAF = 10,
  PAGE_INDEX_INNER = 2
} PageKind;

typedef struct
{
  guint8 *bytes; /* (nullable) */
  guint64 at, end;
} WalkBlock;

typedef struct
{
  guint32 from, to;
} WalkSpan;

typedef struct
{
  guint32 root;
  gboolean has_rowids, is_wanted;
} WalkTree;

typedef struct
{
  int fd;
  Arrival *arrival; /* (nullable) */
  guint64 bytes;
  guint32 page_size, n_pages, n_seen;
  guint32 trunk, n_free;           /* the first page of the list of free pages, and their number */
  guint8 *seen;                    /* a bit for each page */
  WalkBlock inner, leaves, chains; /* what was read last of each */
  GByteArray *whole;               /* a record that is put together */
  GArray *spans;                   /* of WalkSpan: what is used of a page */
  const WalkTree *tree;            /* the one that is gone through, … */
  guint depth;                     /* … how deep its leaves lie (0: not known yet) … */
  gint64 rowid;                    /* … and its last rowid, … */
  gboolean has_rowid;              /* … if there was one */
  WalkEach each;
  gpointer data;
} Walk;

typedef struct
{
  const guint8 *bytes;
  guint32 number, header, n_cells; /* header: where it begins; 100 on the first page */
  PageKind kind;
} WalkPage;

typedef struct
{
  guint32 at, size; /* of all of it, in the page */
  guint32 child;
  gint64 rowid;
  const guint8 *payload;
  gsize whole, local; /* bytes of the payload */
} WalkCell;

static guint
load_two (const guint8 *bytes)
{
  return (guint)bytes[0] << 8 | bytes[1];
}

static gboolean
read_at (const Walk *walk, guint64 at, guint8 *to, gsize size)
{
  return whole_read_at (walk->fd, to, size, at) == (gssize)size;
}

/* (nullable): a page, until the next of the same block is asked for. Reads on as far as it is
 * there; but what lies behind a page above others was read before. */
static const guint8 *
page_in (Walk *walk, WalkBlock *block, guint32 number)
{
  guint64 ahead = block == &walk->inner ? walk->page_size : BLOCK_BYTES;
  guint64 at = (guint64)(number - 1) * walk->page_size, end = at + walk->page_size;
  if (at < block->at || end > block->end)
    {
      guint64 until = MIN (at + ahead, walk->bytes);
      if (walk->arrival != NULL && !arrival_wait (walk->arrival, at, end))
        return NULL;
      if (walk->arrival != NULL)
        until = MIN (until, MAX (arrival_reach (walk->arrival, at), end));
      if (block->bytes == NULL)
        block->bytes = g_malloc (BLOCK_BYTES);
      block->at = at;
      block->end = until;
      if (!read_at (walk, at, block->bytes, (gsize)(until - at)))
        {
          block->end = at;
          return NULL;
        }
    }
  return block->bytes + (at - block->at);
}

/* FALSE: there is no such page, or it was seen before. */
static gboolean
see (Walk *walk, guint32 number)
{
  if (number == 0 || number > walk->n_pages || (walk->seen[number / 8] & 1u << number % 8) != 0)
    return FALSE;
  walk->seen[number / 8] |= (guint8)(1u << number % 8);
  walk->n_seen++;
  return TRUE;
}

static gboolean
is_inner (PageKind kind)
{
  return kind == PAGE_TABLE_INNER || kind == PAGE_INDEX_INNER;
}

/* FALSE: there is no cell, or not all of it is in the page. */
static gboolean
take_cell (const Walk *walk, const WalkPage *page, guint32 i, WalkCell *cell)
{
  const guint8 *end = page->bytes + walk->page_size;
  guint32 list = page->header + (is_inner (page->kind) ? 12 : 8);
  cell->at = load_two (page->bytes + list + 2 * i);
  if (cell->at > walk->page_size - CELL_BYTES_MIN)
    return FALSE;
  const guint8 *begin = page->bytes + cell->at, *at = begin;
  guint64 payload = 0, rowid = 0;
  guint n = 0;
  cell->child = 0;
  if (is_inner (page->kind))
    {
      cell->child = record_load_big (at);
      at += 4;
    }
  if (page->kind != PAGE_TABLE_INNER)
    at += n = record_take_varint (at, end, &payload);
  if (page->kind != PAGE_TABLE_INNER && (n == 0 || payload > walk->bytes))
    return FALSE;
  if (walk->tree->has_rowids)
    at += n = record_take_varint (at, end, &rowid);
  if (n == 0)
    return FALSE;
  cell->rowid = (gint64)rowid;
  cell->payload = at;
  cell->whole = (gsize)payload;
  cell->local = record_local_size (cell->whole, walk->page_size, walk->tree->has_rowids);
  gsize size = (gsize)(at - begin) + cell->local + (cell->local < cell->whole ? 4 : 0);
  cell->size = (guint32)MAX (size, CELL_BYTES_MIN);
  return cell->at + cell->size <= walk->page_size;
}

static int
compare_spans (gconstpointer one, gconstpointer other)
{
  guint32 a = ((const WalkSpan *)one)->from, b = ((const WalkSpan *)other)->from;
  return (a > b) - (a < b);
}

/* Adds what is free between cells. */
static gboolean
add_free (Walk *walk, const WalkPage *page, guint32 content)
{
  guint32 at = load_two (page->bytes + page->header + 1), last = 0;
  while (at != 0)
    {
      if (at < content || at < last || at > walk->page_size - 4)
        return FALSE;
      WalkSpan span = { at, at + load_two (page->bytes + at + 2) };
      if (span.to < at + 4 || span.to > walk->page_size)
        return FALSE;
      g_array_append_val (walk->spans, span);
      last = span.to;
      at = load_two (page->bytes + at);
    }
  return TRUE;
}

/* Do cells and free blocks fill what lies behind `content`, but for as many bytes as the page says,
 * and none twice? Cells mostly lie from the end to the beginning. */
static gboolean
is_filled (Walk *walk, const WalkPage *page, guint32 content, gboolean is_descending)
{
  const WalkSpan *spans = (const WalkSpan *)(void *)walk->spans->data;
  guint32 n = walk->spans->len, gaps = 0, before = content;
  if (!is_descending)
    g_array_sort (walk->spans, compare_spans);
  for (guint32 i = 0; i < n; i++)
    {
      const WalkSpan *span = &spans[is_descending ? n - 1 - i : i];
      if (span->from < before)
        return FALSE;
      gaps += span->from - before;
      before = span->to;
    }
  return gaps + (walk->page_size - before) == page->bytes[page->header + 7];
}

static gboolean
check_page (Walk *walk, const WalkPage *page)
{
  const guint8 *header = page->bytes + page->header;
  guint32 content = load_two (header + 5), before = G_MAXUINT32;
  guint32 list_end = page->header + (is_inner (page->kind) ? 12 : 8) + 2 * page->n_cells;
  content = content == 0 ? 65536 : content;
  if (content > walk->page_size || list_end > content)
    return FALSE;
  gboolean is_descending = load_two (header + 1) == 0;
  g_array_set_size (walk->spans, 0);
  for (guint32 i = 0; i < page->n_cells; i++)
    {
      WalkCell cell;
      if (!take_cell (walk, page, i, &cell) || cell.at < content)
        return FALSE;
      WalkSpan span = { cell.at, cell.at + cell.size };
      is_descending = is_descending && span.to <= before;
      before = span.from;
      g_array_append_val (walk->spans, span);
    }
  return add_free (walk, page, content) && is_filled (walk, page, content, is_descending);
}

/* What of the record lies in pages of its own. */
static gboolean
follow_chain (Walk *walk, const WalkCell *cell)
{
  guint32 number = record_load_big (cell->payload + cell->local);
  gsize rest = cell->whole - cell->local;
  g_byte_array_set_size (walk->whole, 0);
  g_byte_array_append (walk->whole, cell->payload, (guint)cell->local);
  while (rest > 0)
    {
      const guint8 *page = see (walk, number) ? page_in (walk, &walk->chains, number) : NULL;
      gsize piece = MIN (rest, walk->page_size - 4);
      if (page == NULL)
        return FALSE;
      g_byte_array_append (walk->whole, page + 4, (guint)piece);
      number = record_load_big (page);
      rest -= piece;
    }
  return number == 0;
}

static gboolean
is_next_rowid (Walk *walk, gint64 rowid, gboolean is_inner_key)
{
  gboolean good = !walk->has_rowid || rowid > walk->rowid || (is_inner_key && rowid == walk->rowid);
  walk->rowid = rowid;
  walk->has_rowid = TRUE;
  return good;
}

static gboolean
visit_record (Walk *walk, const WalkPage *page, const WalkCell *cell)
{
  gboolean is_long = cell->local < cell->whole;
  if (walk->tree->has_rowids && !is_next_rowid (walk, cell->rowid, is_inner (page->kind)))
    return FALSE;
  if (is_long && !follow_chain (walk, cell))
    return FALSE;
  return !walk->tree->is_wanted
         || walk->each (is_long ? walk->whole->data : cell->payload, cell->whole, walk->data);
}

static gboolean walk_page (Walk *walk, guint32 number, guint depth);

static gboolean
walk_cells (Walk *walk, const WalkPage *page, guint depth)
{
  for (guint32 i = 0; i < page->n_cells; i++)
    {
      WalkCell cell;
      if (!take_cell (walk, page, i, &cell)
          || (cell.child != 0 && !walk_page (walk, cell.child, depth + 1))
          || !visit_record (walk, page, &cell))
        return FALSE;
    }
  return TRUE;
}

/* A page above others keeps its bytes while they are read. */
static gboolean
walk_inner (Walk *walk, const WalkPage *page, guint depth)
{
  g_autofree guint8 *bytes = g_memdup2 (page->bytes, walk->page_size);
  WalkPage own = *page;
  own.bytes = bytes;
  return walk_cells (walk, &own, depth)
         && walk_page (walk, record_load_big (bytes + page->header + 8), depth + 1);
}

static gboolean
walk_page (Walk *walk, guint32 number, guint depth)
{
  gboolean is_above = walk->depth != 0 && depth < walk->depth;
  WalkPage page = { .number = number, .header = number == 1 ? HEADER_BYTES : 0 };
  if (depth > DEPTH_MAX || !see (walk, number)
      || (page.bytes = page_in (walk, is_above ? &walk->inner : &walk->leaves, number)) == NULL)
    return FALSE;
  page.kind = page.bytes[page.header];
  page.n_cells = load_two (page.bytes + page.header + 3);
  if (page.kind == (walk->tree->has_rowids ? PAGE_TABLE_INNER : PAGE_INDEX_INNER))
    return page.n_cells > 0 && check_page (walk, &page) && walk_inner (walk, &page, depth);
  if (page.kind != (walk->tree->has_rowids ? PAGE_TABLE_LEAF : PAGE_INDEX_LEAF)
      || (walk->depth != 0 && walk->depth != depth))
    return FALSE;
  walk->depth = depth;
  return check_page (walk, &page) && walk_cells (walk, &page, depth);
}

/* Nothing is of a kind that VACUUM does not write for us. */
static gboolean
take_header (Walk *walk)
{
  guint8 header[HEADER_BYTES];
  if ((walk->arrival != NULL && !arrival_wait (walk->arrival, 0, sizeof header))
      || walk->bytes < sizeof header || !read_at (walk, 0, header, sizeof header))
    return FALSE;
  walk->page_size = load_two (header + 16);
  walk->page_size = walk->page_size == 1 ? 65536 : walk->page_size;
  walk->n_pages = record_load_big (header + 28);
  walk->trunk = record_load_big (header + 32);
  walk->n_free = record_load_big (header + 36);
  return walk->page_size >= PAGE_BYTES_MIN && walk->page_size <= 65536
         && (walk->page_size & (walk->page_size - 1)) == 0 && header[20] == 0
         && (guint64)walk->n_pages * walk->page_size == walk->bytes
         && record_load_big (header + 52) == 0 && record_load_big (header + 56) == SQLITE_UTF8;
}

static gboolean
walk_tree (Walk *walk, const WalkTree *tree)
{
  walk->tree = tree;
  walk->depth = 0;
  walk->has_rowid = FALSE;
  return walk_page (walk, tree->root, 1);
}

/* In the order in which VACUUM writes them. 0: error. */
static guint
list_trees (Sql *sql, const char *table, WalkTree *trees)
{
  guint n = 0;
  gboolean has_row;
  sqlite3_stmt *statement = sql_ready (sql,
                                       "SELECT name, rootpage, type = 'table' FROM sqlite_schema"
                                       " WHERE rootpage > 0 ORDER BY rowid",
                                       NULL);
  if (statement == NULL)
    return 0;
  trees[n++] = (WalkTree){ .root = 1, .has_rowids = TRUE };
  while (sql_next (sql, statement, &has_row, NULL))
    {
      if (!has_row)
        return n;
      g_autofree char *name = sql_column_string (statement, 0);
      if (name == NULL || n == TREES_MAX)
        break;
      gboolean is_wanted = strcmp (name, table) == 0;
      trees[n++] = (WalkTree){ .root = (guint32)sqlite3_column_int64 (statement, 1),
                               .has_rowids = sqlite3_column_int (statement, 2) && !is_wanted,
                               .is_wanted = is_wanted };
    }
  sqlite3_reset (statement);
  return 0;
}

/* The spare pages (spare.h) are a list of one trunk. */
static gboolean
see_free (Walk *walk)
{
  if (walk->n_free == 0)
    return walk->trunk == 0;
  const guint8 *page = see (walk, walk->trunk) ? page_in (walk, &walk->leaves, walk->trunk) : NULL;
  if (page == NULL || record_load_big (page) != 0 || record_load_big (page + 4) != walk->n_free - 1
      || walk->n_free - 1 > walk->page_size / 4 - 8)
    return FALSE;
  for (guint32 i = 0; i < walk->n_free - 1; i++)
    if (!see (walk, record_load_big (page + 8 + 4 * i)))
      return FALSE;
  return TRUE;
}

static gboolean
walk_trees (Walk *walk, Sql *sql, const char *table)
{
  WalkTree trees[TREES_MAX];
  guint n = list_trees (sql, table, trees);
  guint32 lock_page = LOCK_AT / walk->page_size + 1;
  if (n == 0 || (lock_page <= walk->n_pages && !see (walk, lock_page)))
    return FALSE;
  for (guint i = 0; i < n; i++)
    if (!walk_tree (walk, &trees[i]))
      return FALSE;
  return see_free (walk) && walk->n_seen == walk->n_pages;
}

gboolean
walk_file (const char *path, Sql *sql, const char *table, WalkEach each, gpointer data)
{
  struct stat status;
  Walk walk = { .arrival = arrival_open (path), .each = each, .data = data };
  gboolean good = FALSE;
  walk.fd = open (path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (walk.fd >= 0 && fstat (walk.fd, &status) == 0)
    walk.bytes = walk.arrival != NULL ? arrival_bytes (walk.arrival) : (guint64)status.st_size;
  if (walk.fd >= 0 && take_header (&walk))
    {
      walk.whole = g_byte_array_new ();
      walk.spans = g_array_new (FALSE, FALSE, sizeof (WalkSpan));
      walk.seen = g_malloc0 (walk.n_pages / 8 + 1);
      good = walk_trees (&walk, sql, table);
      g_byte_array_unref (walk.whole);
      g_array_unref (walk.spans);
      g_free (walk.seen);
    }
  g_free (walk.inner.bytes);
  g_free (walk.leaves.bytes);
  g_free (walk.chains.bytes);
  if (walk.fd >= 0)
    (void)close (walk.fd);
  if (walk.arrival != NULL)
    arrival_free (walk.arrival);
  return good;
}
