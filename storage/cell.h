/* SPDX-License-Identifier: BSD-3-Clause */
/* A value with its GVariant type string, as one column of SQLite: a number or a text where SQLite
 * keeps that exactly, so that people can read it, else the GVariant's own bytes. Pure; any thread.
 */
#pragma once

#include "storage/sqlite-record.h"

#include <sqlite3.h>

/* Binds the value whose little-endian GVariant bytes are `value`, which must outlive the
 * statement's run. */
void cell_bind (sqlite3_stmt *statement, int index, const char *type, GBytes *value);
/* (transfer full) (nullable): exactly the bytes that were bound. NULL: the column holds no value of
 * this type. */
GBytes *cell_read (sqlite3_value *value, const char *type);
/* The same in two steps: what lives as long as `value`, and the bytes. */
void cell_column (sqlite3_value *value, RecordColumn *column);
GBytes *cell_of_column (const RecordColumn *column, const char *type);
