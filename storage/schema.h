/* SPDX-License-Identifier: BSD-3-Clause */
/* The format of a checkpoint: its tables and views, word for word. */
#pragma once

#include "storage/sql.h"

#define SCHEMA_APPLICATION_ID 0x5341544E /* "SATN" */
#define SCHEMA_VERSION 2
/* Formats from here on are read. Format 1 differs in the column `sum` alone (rowsum.h). */
#define SCHEMA_VERSION_FIRST 1

/* Makes all tables and views in an empty file. */
gboolean schema_create (Sql *sql, GError **error);
/* FALSE: the file's tables and views are not word for word ours. */
gboolean schema_check (Sql *sql, GError **error);
