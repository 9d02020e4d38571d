/* SPDX-License-Identifier: BSD-3-Clause */
/* The format of a checkpoint: its tables and views, word for word. */
#pragma once

#include "storage/sql.h"

#define SCHEMA_APPLICATION_ID 0x5341544E /* "SATN" */
#define SCHEMA_VERSION 4
/* Formats from here on are read. Format 3 has no column keep.args. Format 2 has no column `json`
 * either, names of hosts in node.name, and in event.node the node's id; format 1 differs from it in
 * the column `sum` alone (rowsum.h). */
#define SCHEMA_VERSION_FIRST 1

/* Makes all tables and views in an empty file. */
gboolean schema_create (Sql *sql, GError **error);
/* FALSE: the file's tables and views are not word for word ours. Those of an earlier format get
 * temporary views with today's columns, so that all SQL which reads them is the same, and the
 * connection `is_earlier`. */
gboolean schema_check (Sql *sql, GError **error);
