/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the page size of a published file, so that the file is small. */
#pragma once

#include "storage/sql.h"

/* The size of a table's pages at one page size, its rows put in order. */
typedef struct
{
  guint32 page_size;
  gsize used;    /* bytes of the page that is being filled */
  guint64 pages; /* full ones, and those of long rows */
} Layout;

/* Adds a row of a table without rowids whose record has so many bytes. */
void layout_add (Layout *layout, gsize payload);
guint64 layout_bytes (const Layout *layout);

/* Chooses by the lengths of the results, if they are long enough to matter. */
gboolean layout_choose (Sql *sql, guint32 *page_size, GError **error);
