/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies all rows with a right checksum from one checkpoint into a work file of the same identity.
 * Blocks on the disk; any one thread. */
#pragma once

#include "storage/results.h"

#include "path.h"

#include "storage/recover/audit.h"

typedef struct
{
  /* In (nullable), NULL-terminated: the program's jobs, for a file that has lost its table of
   * jobs. */
  const char *const *job_names, *const *job_types;
  gboolean replaces; /* in: the file is the later one, and its small tables replace ours */
  /* In (nullable): called at once with each row that is taken. */
  ResultsEach each;
  KeepsEach each_keep;
  gpointer data;
  guint64 rows; /* results and kept states of the file */
  guint64 bad;  /* rows of any table that were left out: damaged, or not in canonical form */
} Takeover;

/* Inside a transaction of `results` over `to`. Also adds the stems to `stems`. */
gboolean takeover_unite (Results *results, Sql *to, Sql *from, Stems *stems, Takeover *takeover,
                         GError **error);
/* The same for a file whose pages were copied to `sql` as they are: proves all rows in place.
 * `is_whole` FALSE: the file does not have the form of a work file, and must be united row by
 * row. */
gboolean takeover_whole (Results *results, Sql *sql, gboolean *is_whole, Takeover *takeover,
                         GError **error);
/* The same for the results of a file of which only the front was proved (guard_open_front) and no
 * row is in a work file. Ends at the first row whose checksum is wrong or that is not above the one
 * before it, so that it ends whatever the pages contain. */
gboolean takeover_prove (Sql *sql, ResultsTotals *totals, Takeover *takeover);
/* The rest, after the file's pages were found sound: proves its other tables, and checks that the
 * file has all rows that its inventory counts, including these results. */
gboolean takeover_agrees (Sql *sql, const ResultsTotals *totals);
/* Writes the generation of the next publication, the number of results and the finished share into
 * the file, so that its copy has them. */
gboolean takeover_number (Sql *to, const Results *results, guint64 generation, GError **error);
/* TRUE: a row as every node writes it: canonical path, whole digest. */
gboolean takeover_row_is_sound (const Result *row);
gboolean takeover_keep_is_sound (const Keep *keep);
/* (transfer full) (nullable): the losses of a file, in a few words; NULL: there are none, and the
 * file is sound. `left_out`: results and kept states with a right checksum that are of no use,
 * since their path is invalid or its stem is lost. */
char *takeover_damage (const Sql *from, const Audit *audit, guint64 left_out);
