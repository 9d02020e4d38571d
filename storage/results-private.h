/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the parts of results.h; no other file includes it. */
#pragma once

#include "storage/gap.h"
#include "storage/names.h"
#include "storage/results.h"

typedef struct
{
  char *path;
  gboolean is_saved;   /* its row stands in the table, so no saved row lies at or above `path` */
  gboolean is_covered; /* a saved row lies at or above `path`: it stays so, whatever is put in */
} ResultsStem;

struct Results
{
  Sql *sql;
  Keeps *keeps;
  GHashTable *stems; /* id -> ResultsStem: all that were ever met */
  guint n_saved_stems;
  guint64 stem_sums;                   /* of the saved ones */
  int changes_before;                  /* of the connection, at the begin of the transaction */
  ResultsTotals totals, totals_before; /* _before: at the begin of the transaction */
  gboolean is_unsure;                  /* a transaction was taken back, or failed at its end */
  Names *names;                        /* (nullable) until one is needed, and after a rollback */
  Gap rows, stems_at;                  /* where the last one was put, or looked for */
  gint64 root; /* the last one of which a row stands in the table; -1: not known */
};

/* In a transaction; FALSE: error. What the rows and kept states that go stood for is added to
 * `work_s`. */

/* Removes the rows with from <= path < to. */
gboolean results_remove_rows (Results *results, const char *from, const char *to, double *work_s,
                              GError **error);
/* Removes all that stands at or below `path`. */
gboolean results_remove_all (Results *results, const char *path, double *work_s, GError **error);
/* Removes all that lies in the finished phases that a kept state stands for. */
gboolean results_remove_phases (Results *results, const Keep *keep, double *work_s, GError **error);

/* (results-bind.c) The names of a row as numbers, into its columns `node`, which nobody has, and
 * `job`. FALSE: error. */
gboolean results_bind_names (Results *results, sqlite3_stmt *statement, const Result *row,
                             GError **error);
/* Arguments and times. `json`: so many bytes stand in the column of that name. What would make the
 * row longer than the rule of its size allows (cell.h) stays NULL. */
void results_bind_told (sqlite3_stmt *statement, const Result *row, gsize json);
