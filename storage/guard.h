/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening a file that we did not just write: a fixed order of checks, and no trace left on it. */
#pragma once

#include "storage/sql.h"

/* (transfer full): the checkpoint at `path`, read only, its identity known. NULL without an error:
 * nothing is there, or an empty file. NULL with STORAGE_ERROR_UNUSABLE: foreign, of a newer format
 * or damaged; STORAGE_ERROR_PLACE: not a plain file, or it cannot be read. Messages begin with
 * "checkpoint 'PATH' …". */
Sql *guard_open (const char *path, GError **error);
