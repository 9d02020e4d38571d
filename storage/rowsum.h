/* SPDX-License-Identifier: BSD-3-Clause */
/* The column `sum` of every row of every table, 16 bytes: a checksum, which shows that the row
 * belongs to this identity, and a proof, which shows who wrote it. Each is SipHash-2-4 over the
 * table's name and all other columns of the row, little-endian. The key of the checksum is made of
 * the identity, so anybody can make a checksum; the key of the proof is the seal, which is secret.
 * Without a seal the proof is zero and is not checked. In a file of format 1 `sum` is the checksum
 * alone, as an integer.
 *
 * SQL functions: row_sum (table, column…) makes the stored value, row_holds (sum, table, column…)
 * compares, the aggregate row_sums (sum) adds checksums modulo 2^64. */
#pragma once

#include "storage/sql.h"
#include "storage/sqlite-record.h"

#define ROWSUM_STORED_BYTES 16
#define ROWSUM_SEAL_BYTES 16

/* Registers the functions with the connection. row_sum returns NULL until rowsum_identify was
 * called; its last checksum stands in sql->last_sum. */
gboolean rowsum_register (Sql *sql, GError **error);
/* Sets the identity of the rows: copies `identity` to sql->identity and makes the key. */
void rowsum_identify (Sql *sql, const char *identity);
/* From now on rows are written with proofs under this seal, and a row without a right proof fails.
 * NULL: no proofs are made or checked. */
void rowsum_seal (Sql *sql, const guint8 seal[ROWSUM_SEAL_BYTES]);
/* Copies identity, seal and origin from `other` to `sql`. */
void rowsum_take_after (Sql *sql, const Sql *other);

/* The same checksum without SQL, for columns that were read in another way: rowsum_begin, the
 * table's name and each column in order, rowsum_end. Pure. */
#define ROWSUM_BYTES 256
typedef struct
{
  guint64 v[4], w[4]; /* of the checksum; of the proof, if is_sealed */
  gboolean is_sealed;
  guint64 size;               /* number of all added bytes */
  guint n;                    /* bytes waiting in `bytes` */
  guint8 bytes[ROWSUM_BYTES]; /* collects short parts to whole words */
} Rowsum;

typedef struct
{
  guint64 sum, proof;
} RowsumValue;

Rowsum rowsum_begin (const Sql *sql);
/* The number of summed columns of `table`, of whose `n` columns the last `nulls` are NULL. A NULL
 * in a column that formats 1 and 2 lack is not summed, so a row of an earlier format keeps its
 * sum. */
guint rowsum_n_summed (const char *table, gsize size, guint n, guint nulls);
/* The number of columns, without the sum, in formats 1 and 2; *n_now: the present number. 0:
 * unchanged. */
guint rowsum_n_before (const char *table, gsize size, guint *n_now);
/* Adds bytes as they are; the other functions add a tag and a length first. */
void rowsum_add_bare (Rowsum *sum, const void *bytes, gsize size);
void rowsum_add_integer (Rowsum *sum, gint64 number);
void rowsum_add_real (Rowsum *sum, double number);
void rowsum_add_text (Rowsum *sum, const void *text, gsize size);
void rowsum_add_blob (Rowsum *sum, const void *blob, gsize size);
void rowsum_add_null (Rowsum *sum);
RowsumValue rowsum_end (Rowsum *sum);
void rowsum_add_column (Rowsum *sum, const RecordColumn *column);
/* The same for a row's `n` columns, without its sum. */
RowsumValue rowsum_of_columns (const Sql *sql, const char *table, const RecordColumn *columns,
                               guint n);
/* TRUE: the column `sum` has this checksum and, if `sql` is sealed, this proof. */
gboolean rowsum_agrees (const Sql *sql, RowsumValue value, const RecordColumn *stored);
/* The checksum in a column `sum`; 0: none. */
guint64 rowsum_stored (const RecordColumn *stored);
guint64 rowsum_stored_at (sqlite3_stmt *statement, int index);
