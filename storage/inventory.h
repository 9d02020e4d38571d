/* SPDX-License-Identifier: BSD-3-Clause */
/* How many rows each table of a file has, and the sum of their checksums modulo 2^64: a row `rows`
 * of the table run that every transaction keeps true. A file that lacks rows, or has one row twice
 * in place of another, disagrees with this row. Used by one thread. */
#pragma once

#include "storage/sql.h"

typedef enum
{
  INVENTORY_RUN,
  INVENTORY_NODE,
  INVENTORY_JOB,
  INVENTORY_CONSTANT,
  INVENTORY_BEST,
  INVENTORY_KEEP,
  INVENTORY_RESULT,
  INVENTORY_STEM,
  INVENTORY_EVENT,
  INVENTORY_TABLES
} InventoryTable;

typedef struct
{
  Tally tables[INVENTORY_TABLES];
} Inventory;

/* The key in the table run. */
#define INVENTORY_KEY "rows"

/* (transfer none): the table's name. */
const char *inventory_name (InventoryTable table);
/* (transfer none): an SQL condition on the rows that count, or "": the row `rows` and its copy do
 * not count. */
const char *inventory_rows (InventoryTable table);
/* Counts the rows in the file, without a check of their checksums. FALSE: error. */
gboolean inventory_count (Sql *sql, InventoryTable table, Tally *tally, GError **error);
/* Writes the row, in a transaction. FALSE: error. */
gboolean inventory_write (Sql *sql, const Inventory *inventory, GError **error);
/* Counts all tables and writes the row, in a transaction. FALSE: error. */
gboolean inventory_renew (Sql *sql, GError **error);
/* Reads the row `rows`. FALSE: it is lost. */
gboolean inventory_read (Sql *sql, Inventory *inventory);
/* TRUE: neither the row nor its copy is lost. */
gboolean inventory_stands_twice (Sql *sql);
/* TRUE: the row and its copy are there, and the tables from `first` to `last` agree with it.
 * `results` (nullable): the count of that table, if it is known. FALSE: they do not agree, the row
 * is lost, or the file cannot be read. */
gboolean inventory_agrees (Sql *sql, InventoryTable first, InventoryTable last,
                           const Tally *results);
