/* SPDX-License-Identifier: BSD-3-Clause */
/* A value with its GVariant type string, as one column of SQLite: a number or a text where SQLite
 * keeps it exactly, so that people can read it, else GVariant's own bytes. Pure; any thread. */
#pragma once

#include "storage/sqlite-record.h"

#include <sqlite3.h>

/* Binds the value whose little-endian GVariant bytes are `value`, which must outlive the
 * statement's run. TRUE: as a number or a text. */
gboolean cell_bind (sqlite3_stmt *statement, int index, const char *type, GBytes *value);
/* The same, and binds at `json_index` the value as JSON text if it is neither a number nor a text.
 * Returns the size of that text in bytes; 0: there is none. A row, of which there may be millions,
 * may take 64 bytes more than in format 2: four lengths of columns, two times of up to six bytes,
 * and the rest for the texts of value and arguments. */
#define CELL_JSON_ROW 48     /* bytes of both texts in a row */
#define CELL_JSON_KEEP 62    /* of both in a kept state, which has no times */
#define CELL_JSON_BEST 65536 /* of a best value, of which there are few */
gsize cell_bind_both (sqlite3_stmt *statement, int index, int json_index, const char *type,
                      GBytes *value, gsize json_max);
/* Appends a finite number with the fewest digits that identify it, and a point or an exponent.
 * (cell-json.c) */
void cell_append_double (GString *to, double number);
/* (transfer full) (nullable): a value as JSON text, for people and SQL alone: this program never
 * reads it. Records and arrays are arrays; a double has the fewest digits that identify it, or is
 * the text "NaN", "Infinity" or "-Infinity"; bytes in a record are an array, bytes alone a
 * hexadecimal text. NULL: it would be longer than `bytes_max`, or the bytes are not of the type.
 * (cell-json.c) */
char *cell_json (const char *type, GBytes *value, gsize bytes_max);
/* (transfer full) (nullable): exactly the bytes that were bound. NULL: the column holds no value of
 * this type. */
GBytes *cell_read (sqlite3_value *value, const char *type);
/* The same in two steps: a column that lives as long as `value`, and its bytes. */
void cell_column (sqlite3_value *value, RecordColumn *column);
GBytes *cell_of_column (const RecordColumn *column, const char *type);
