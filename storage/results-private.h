/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the parts of results.h; no other file includes it. */
#pragma once

#include "storage/gap.h"
#include "storage/names.h"
#include "storage/results.h"

typedef struct
{
  char *path;
  gboolean is_saved;   /* its row is in the table, so no saved row lies at or above `path` */
  gboolean is_covered; /* a saved row lies at or above `path`; no later row changes that */
} ResultsStem;

struct Results
{
  Sql *sql;
  Keeps *keeps;
  GHashTable *stems; /* id -> ResultsStem: all stems that were ever met */
  guint n_saved_stems;
  guint64 stem_sums;                   /* of the saved stems */
  int changes_before;                  /* sqlite3_total_changes at the begin of the transaction */
  ResultsTotals totals, totals_before; /* _before: at the begin of the transaction */
  gboolean is_unsure;                  /* a transaction was rolled back, or failed at its end */
  Names *names;                        /* (nullable): NULL before the first use, and after a
                                        * rollback */
  Gap rows, stems_at;                  /* the gaps at the last row and stem that were inserted or
                                        * looked up */
  gint64 root; /* number of the last root with a row in the table; -1: not known */
};

/* The next three functions: in a transaction; FALSE: error. They add the work of removed rows and
 * kept states to `work_s`. */

/* Removes the rows with from <= path < to. */
gboolean results_remove_rows (Results *results, const char *from, const char *to, double *work_s,
                              GError **error);
/* Removes all rows and kept states at or below `path`. */
gboolean results_remove_all (Results *results, const char *path, double *work_s, GError **error);
/* Removes all rows and kept states in the finished phases that a kept state stands for. */
gboolean results_remove_phases (Results *results, const Keep *keep, double *work_s, GError **error);

/* (results-bind.c) Binds the names of a row as numbers, in its columns `node` (NULL: no node) and
 * `job`. FALSE: error. */
gboolean results_bind_names (Results *results, sqlite3_stmt *statement, const Result *row,
                             GError **error);
/* Binds arguments and times. `json`: bytes in the column of that name. A value that would make the
 * row longer than cell.h allows becomes NULL. */
void results_bind_told (sqlite3_stmt *statement, const Result *row, gsize json);
