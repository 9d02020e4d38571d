/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens a file that we did not just write: a fixed order of checks, without any change to the
 * file. */
#pragma once

#include "storage/sql.h"

/* The checkpoint at `path`, read only, with its identity known; for a damaged file a private file
 * with all rows whose checksums are right (sql->is_salvage). `identity` (nullable): the identity to
 * try for a file that has lost its own. (transfer full) NULL without an error: there is no file, or
 * an empty one. NULL with STORAGE_ERROR_UNUSABLE: foreign, of a newer format, or damaged beyond
 * repair; STORAGE_ERROR_PLACE: not a plain file, or it cannot be read. Messages begin with
 * "checkpoint 'PATH' …". */
Sql *guard_open (const char *path, const char *identity, GError **error);
/* The same for a file that this run has copied into its own folder, where no other user can write.
 * Once SQLite has found the file whole, quick_check is not repeated while it is the same file
 * (noted in an extended attribute, if the file system has them). The checksums of rows are always
 * checked. */
Sql *guard_open_own (const char *path, const char *identity, GError **error);
/* The same for a large file, but proves only the small tables now. The rest may be damaged, so the
 * caller must not use it before guard_check has returned TRUE (sql->is_front). If a small table is
 * damaged, or the file is not large: as guard_open or guard_open_own. */
Sql *guard_open_front (const char *path, const char *identity, gboolean is_own, GError **error);
/* TRUE: the file at `path` is complete and sound for SQLite. Does not check the checksums of
 * rows. */
gboolean guard_check (const char *path, GError **error);
/* TRUE: a file with the header of a checkpoint, of any format and in any state. */
gboolean guard_is_ours (const char *path);
