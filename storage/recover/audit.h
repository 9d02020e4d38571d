/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts the losses of a file: for each table the rows whose checksums are right, the damaged rows,
 * and the rows that the inventory (inventory.h) counted and that are missing. Any one thread. */
#pragma once

#include "storage/inventory.h"

typedef struct
{
  guint64 rows;    /* rows that the inventory counted; if it is lost: kept and damaged */
  guint64 kept;    /* with a right checksum, each once */
  guint64 damaged; /* with a wrong one */
  guint64 missing; /* counted rows that are not there, as far as known */
} AuditTable;

struct Audit
{
  AuditTable tables[INVENTORY_TABLES];
  gboolean is_uncounted; /* the inventory is lost: the missing rows are unknown */
  gboolean is_mixed;     /* the number of rows is right, but they are not the counted ones */
};

/* Checks every row of every table of an open file. FALSE: it cannot be read. */
gboolean audit_file (Sql *sql, Audit *audit, GError **error);
/* Adds the losses of another file that belongs to the first. */
void audit_add (Audit *audit, const Audit *other);
/* The number of damaged rows of all tables; the number of damaged and missing rows. */
guint64 audit_damaged (const Audit *audit);
guint64 audit_lost (const Audit *audit);
/* TRUE: all counted rows are there, with right checksums. */
gboolean audit_is_whole (const Audit *audit);
/* The losses in a few words: "3 of 31 rows are missing (2 of 10 results)". (transfer full) */
char *audit_describe (const Audit *audit);
