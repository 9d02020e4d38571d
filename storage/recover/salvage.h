/* SPDX-License-Identifier: BSD-3-Clause */
/* Salvages the good rows of a damaged file: every row of every table whose checksum is right,
 * wherever it lies. The file is only read. */
#pragma once

#include "storage/sql.h"

/* (transfer full): a private file without a name, of the format of schema.h, with all rows of the
 * file at `path` that prove themselves; `sql->salvage` counts them. `identity` (nullable): of whom
 * the file may be, for one that lost its own. NULL without an error: no row proves itself, so the
 * file is not ours; `bytes_max` is where the search for a first row ends then (0: the end). */
Sql *salvage_open (const char *path, const char *identity, guint64 bytes_max, GError **error);
