/* SPDX-License-Identifier: BSD-3-Clause */
/* The pages of a damaged SQLite file, and the records that may be in them, found without relying on
 * a header, a page's kind, a cell pointer or a tree. The caller proves whether a record is a row.
 * Used by one thread; blocks on the disk. */
#pragma once

#include "storage/sqlite-record.h"

typedef struct Pages Pages;

/* NULL: it cannot be read. */
Pages *pages_open (const char *path, GError **error);
void pages_free (Pages *pages);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Pages, pages_free)

/* Limits the bytes that a scan reads; 0: no limit. Holes in the file are skipped and not
 * counted. */
void pages_limit (Pages *pages, guint64 bytes);
/* The page sizes that the file may have, likeliest first, 0 at the end. */
const guint32 *pages_sizes (const Pages *pages);

/* The numbers of columns that wanted rows may have. Long records are continued differently in
 * tables with rowids and in those without. */
typedef struct
{
  gboolean with_rowid[RECORD_COLUMNS_MAX + 1], without_rowid[RECORD_COLUMNS_MAX + 1];
} PagesWanted;

/* TRUE: this record is a row, so its bytes are not searched for another one. The record is valid
 * during the call. `stop`: set it to end the scan. */
typedef gboolean (*PagesEach) (const Record *record, gboolean has_rowid, gboolean *stop,
                               gpointer data);
/* Calls `each` for all bytes that have the form of a record with a wanted number of columns, the
 * last of which may be a sum. FALSE: the file could not be read to its end. */
gboolean pages_scan (Pages *pages, guint32 page_size, const PagesWanted *wanted, PagesEach each,
                     gpointer data, GError **error);
/* Calls `each` for every text of 32 hexadecimal digits. */
typedef void (*PagesEachText) (const char *text, gpointer data);
gboolean pages_scan_hex (Pages *pages, PagesEachText each, gpointer data, GError **error);
