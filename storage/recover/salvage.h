/* SPDX-License-Identifier: BSD-3-Clause */
/* Salvages the good rows of a damaged file: every row of every table whose checksum is right,
 * wherever it lies. The file is only read. */
#pragma once

#include "storage/sql.h"

/* (transfer full): a private file without a name, of the format of schema.h, with all rows of the
 * file at `path` whose checksums are right. `identity` (nullable): the identity to try for a file
 * that lost its own. NULL without an error: no row within the first `bytes_max` bytes (0: all) has
 * a right checksum, so the file is not ours. */
Sql *salvage_open (const char *path, const char *identity, guint64 bytes_max, GError **error);
