/* SPDX-License-Identifier: BSD-3-Clause */
/* Spare pages, which restore one lost page of a small file. They are at its end, in pages that are
 * free for SQLite: the checksum of each page and the exclusive or of all. A larger file loses
 * little with a page. Any thread; blocks on the disk. */
#pragma once

#include <glib.h>

/* A file that would have this size with its spare pages gets none. */
#define SPARE_BYTES_MAX (16 * 1024 * 1024)

/* Appends spare pages to a whole database that has no free page. The checksums leave out the bytes
 * where publish.c and place.h write their marks. FALSE: the file cannot be read or written;
 * errno. */
gboolean spare_add (int fd);
/* Returns a file without a name: the pages of a damaged file, each in its place, with one missing
 * page restored. Pages that cannot be restored are copied as they are. Nothing in it is proved. -1:
 * there are no spare pages, they are damaged, too, or SQLite has written to the file since. */
int spare_mend (int fd);
/* Call this after spare_add, before the file is marked. TRUE: the spare pages and all other pages
 * are as they were written. A file without spare pages counts as whole. */
gboolean spare_is_whole (int fd);
/* TRUE: the spare pages are the only free pages of the file. PRAGMA quick_check (at least of SQLite
 * 3.40) does not check the list of free pages of a file with views, and SQLite would overwrite a
 * page that the list contains wrongly. */
gboolean spare_are_all (int fd);
/* FALSE: the spare pages are sound and show that another page has changed. */
gboolean spare_agrees (int fd);
