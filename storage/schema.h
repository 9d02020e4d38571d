/* SPDX-License-Identifier: BSD-3-Clause */
/* The format of a checkpoint: its tables and views, word for word. */
#pragma once

#include "storage/sql.h"

#define SCHEMA_APPLICATION_ID 0x5341544E /* "SATN" */
#define SCHEMA_VERSION 4
/* The oldest format that is read. Format 3 has no column keep.args. Format 2 also has no column
 * `json`, has names of hosts in node.name, and the node's id in event.node. Format 1 differs from
 * format 2 only in the column `sum` (rowsum.h). */
#define SCHEMA_VERSION_FIRST 1

/* Makes all tables and views in an empty file. */
gboolean schema_create (Sql *sql, GError **error);
/* FALSE: the file's tables and views are not word for word ours. For a file of an earlier format
 * the connection gets temporary views with today's columns, so that the same SQL reads it, and
 * `is_earlier`. */
gboolean schema_check (Sql *sql, GError **error);
