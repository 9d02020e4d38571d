/* SPDX-License-Identifier: BSD-3-Clause */
/* Spare pages, from which a small file gets back a page that it lost. They stand at its end, in
 * pages that are free for SQLite, with the checksum of each page and the exclusive or of all. A
 * larger file loses little with a page. Any thread; blocks on the disk. */
#pragma once

#include <glib.h>

/* A file that would be so large with its spare pages gets none. */
#define SPARE_BYTES_MAX (16 * 1024 * 1024)

/* Appends them to a whole database that has no free page. What stands where publish.c and place.h
 * write their marks does not count. FALSE: the file cannot be read or written; errno. */
gboolean spare_add (int fd);
/* A file without a name: the pages of a damaged file each in its place, with one that is nowhere
 * made anew; what cannot be mended is as it was found. Nothing in it is proved. -1: there are no
 * spare pages, they are damaged too, or SQLite has written to the file since. */
int spare_mend (int fd);
/* After spare_add, before anybody marks the file: they stand there as they were written, and so do
 * all other pages. A file that got none is whole. */
gboolean spare_is_whole (int fd);
/* TRUE: no page of the file is free but its spare pages. PRAGMA quick_check of SQLite 3.40, for
 * one, does not look at the list of free pages of a file with views; a page that the list names
 * wrongly would be written over. */
gboolean spare_are_all (int fd);
/* FALSE: sound spare pages say that another page is not as it was published. */
gboolean spare_agrees (int fd);
