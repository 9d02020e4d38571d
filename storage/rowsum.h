/* SPDX-License-Identifier: BSD-3-Clause */
/* The checksum by which every row of every table proves whose it is: SipHash-2-4 over the table's
 * name and all other columns of the row, under a key made of the identity and the format, as an SQL
 * function row_sum (table, column…). The aggregate row_sums (sum) adds checksums modulo 2^64. */
#pragma once

#include "storage/sql.h"
#include "storage/sqlite-record.h"

/* Makes row_sum and row_sums known to the connection. row_sum gives NULL until rowsum_identify was
 * called; what it gave last stands in sql->last_sum. */
gboolean rowsum_register (Sql *sql, GError **error);
/* Says whose rows these are: copies `identity` to sql->identity and makes the key. */
void rowsum_identify (Sql *sql, const char *identity);

/* The same checksum without SQL, for who has a row's columns from elsewhere: begin, the name of the
 * table and each column in their order, end. Pure. */
#define ROWSUM_BYTES 256
typedef struct
{
  guint64 v[4];
  guint64 size;               /* of all that was added */
  guint n;                    /* of these that wait */
  guint8 bytes[ROWSUM_BYTES]; /* short parts become whole words here */
} Rowsum;

Rowsum rowsum_begin (const Sql *sql);
/* Bytes as they are; the others put a tag and a length before theirs. */
void rowsum_add_bare (Rowsum *sum, const void *bytes, gsize size);
void rowsum_add_integer (Rowsum *sum, gint64 number);
void rowsum_add_real (Rowsum *sum, double number);
void rowsum_add_text (Rowsum *sum, const void *text, gsize size);
void rowsum_add_blob (Rowsum *sum, const void *blob, gsize size);
void rowsum_add_null (Rowsum *sum);
gint64 rowsum_end (Rowsum *sum);
void rowsum_add_column (Rowsum *sum, const RecordColumn *column);
/* The same of a row's `n` columns, all but its own sum. */
gint64 rowsum_of_columns (const Sql *sql, const char *table, const RecordColumn *columns, guint n);
