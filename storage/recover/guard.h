/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens a file that we did not just write: a fixed order of checks, without any change to the
 * file. */
#pragma once

#include "storage/sql.h"

/* (transfer full): the checkpoint at `path`, read only, its identity known; for a damaged file a
 * private one with all rows of it that prove themselves (sql->is_salvage). `identity` (nullable):
 * whose rows to look for in a file that lost its own. NULL without an error: nothing is there, or
 * an empty file. NULL with STORAGE_ERROR_UNUSABLE: foreign, of a newer format, or damaged beyond
 * repair; STORAGE_ERROR_PLACE: not a plain file, or it cannot be read. Messages begin with
 * "checkpoint 'PATH' …". */
Sql *guard_open (const char *path, const char *identity, GError **error);
/* The same of a file that this run has brought into its own folder, which nobody else can write:
 * what SQLite found whole there once is not read through again while it is the same file (noted in
 * an attribute of it, where the file system has such). Rows prove themselves as always. */
Sql *guard_open_own (const char *path, const char *identity, GError **error);
/* The same of a large file of which only the small tables are read now: those are proved, and the
 * rest may be damaged, so that nothing but them counts before guard_check has said so
 * (sql->is_front). If they are not all in order, and of a smaller file: as the others. */
Sql *guard_open_front (const char *path, const char *identity, gboolean is_own, GError **error);
/* TRUE: all of the file at `path` is there and as SQLite wants it; rows have to prove themselves.
 */
gboolean guard_check (const char *path, GError **error);
/* TRUE: a file whose header says that it is a checkpoint, of whatever format and in whatever state.
 */
gboolean guard_is_ours (const char *path);
