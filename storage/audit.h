/* SPDX-License-Identifier: BSD-3-Clause */
/* Counting, table by table, the rows that prove themselves and those that do not. */
#pragma once

#include "storage/sql.h"

/* Checks every row of `table`, a name of schema.h's; its last column must be `sum`. `kept` and
 * `damaged` are set on success only. */
gboolean audit_table (Sql *sql, const char *table, guint64 *kept, guint64 *damaged, GError **error);
