/* SPDX-License-Identifier: BSD-3-Clause */
/* All pages of a sound SQLite file in the order of its trees, behind whoever brings it
 * (arrival.h): what SQLite's quick_check says of a file, and the records of one table, in one
 * reading. Only files as VACUUM makes them are believed to be sound. Used by one thread; blocks on
 * the disk and until the bytes are there. */
#pragma once

#include "storage/sql.h"

/* A whole record; lives for the call. FALSE: stop. */
typedef gboolean (*WalkEach) (const guint8 *payload, gsize size, gpointer data);

/* `sql`: the same file, whose schema was looked at. Calls `each` for each record of the table
 * without rowids that is called `table`, in the order of the tree; nothing of them is proved before
 * the end. TRUE: each page is used once, all that pages say of their cells is so, rowids ascend,
 * and the file is as long as it says. Not looked at: the keys' order in `table`, and the contents
 * of indexes. FALSE: nothing is known; ask SQLite. */
gboolean walk_file (const char *path, Sql *sql, const char *table, WalkEach each, gpointer data);
