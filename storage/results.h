/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of results and its stems. The results are an antichain by path: no saved row lies below
 * another. The table of stems has exactly the stems that the rows need. A path is "" (the first
 * root) or "/0/3/1", "1:" (the next root) or "1:/0/3", or "~ID/0/3", which continues the path of
 * stem ID. Rows of the last root with rows have weights; earlier roots are finished, and their rows
 * have the weight 0. Used by one thread. */
#pragma once

#include "storage/keeps.h"

#define RESULTS_STEM_ID_LENGTH 16
/* A later second, or more milliseconds, would take more than six bytes. */
#define RESULTS_TIME_MAX ((G_GINT64_CONSTANT (1) << 47) - 1)

typedef struct
{
  const char *path, *node, *job, *type; /* node: "": unknown */
  const guint8 *digest;
  gsize digest_size;
  GBytes *value; /* GVariant bytes of `type` */
  double work_s; /* computing time that the row stands for */
  gint64 saved;  /* wall clock, unix seconds */
  double weight; /* share of the tree of its root */
  /* (nullable): its arguments as JSON text, only for people; it need not end with a NUL. */
  const char *args;
  gsize args_size;
  gint64 began;   /* wall clock, unix seconds; 0: not known */
  gint64 took_ms; /* milliseconds from then on; 0 if `began` is not known */
  guint64 sum;    /* its checksum in the file from which it was read; ignored by results_put */
} Result;

typedef struct Results Results;

/* Over a work file; `sql` is borrowed. */
Results *results_new (Sql *sql, GError **error);
void results_free (Results *results);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Results, results_free)

/* Rolls back a transaction that is still open, since its rollback failed. */
void results_close (Results *results);
/* A transaction over the whole file. If any call inside it fails, roll back. Does results_close. */
gboolean results_begin (Results *results, GError **error);
/* Also writes the inventory (inventory.h) of the file, if anything changed. */
gboolean results_commit (Results *results, GError **error);
void results_rollback (Results *results);

/* Makes a stem known. It is written with the first row that needs it. */
void results_meet_stem (Results *results, const char *id, const char *path);
gboolean results_knows_stem (Results *results, const char *id);

/* Inserts a row, in a transaction. If it lies below a saved row, or in a phase of a kept state,
 * nothing is written. Rows and kept states below it are removed; its work_s is at least theirs.
 * Same path and digest: the first stays; other digest: the one saved later stays. `written`: the
 * table changed. FALSE: error. */
gboolean results_put (Results *results, const Result *row, gboolean *written, GError **error);

/* Counts a row that is in the table already, in a file that was copied as it is and has no stems
 * and kept states. Call it in the order of paths. FALSE: the row is not greater than the last one,
 * or lies below it. */
gboolean results_adopt (Results *results, const Result *row);
/* Only the check. `last` (nullable): the path of the row before it, if there is one. */
gboolean results_follows (const char *last, const char *path);

/* Inserts a kept state, in a transaction. If a row lies at or above it, or it lies in a finished
 * phase of a job above it, nothing is written. The rows of its phases are removed. Same path and
 * digest: the one for more children stays; other digest: this one replaces it. `work_s` is the cost
 * of its phases, and never less than that of the removed rows. */
gboolean results_put_keep (Results *results, const Keep *keep, double work_s, gboolean *written,
                           GError **error);

typedef struct
{
  guint64 rows;
  double weight, work_s; /* sums over the rows */
  guint64 sums;          /* of their checksums modulo 2^64 */
} ResultsTotals;
ResultsTotals results_totals (const Results *results);
gboolean results_has_keeps (const Results *results);
/* For rows that were counted in another file, from which the table was copied. Before the first
 * transaction. */
void results_set_totals (Results *results, const ResultsTotals *totals);
void results_count_in (ResultsTotals *totals, const Result *row);
/* Counts the rows of any file. FALSE: it cannot be read now; `totals` is as it was. */
gboolean results_count (Sql *sql, ResultsTotals *totals);

/* Reading works on any file. The row passed to `each` lives for the call; FALSE from `each` stops
 * with its error. Rows whose checksum fails are skipped and added to `bad` (nullable). */
typedef struct
{
  const char *node;  /* (nullable): only rows of this node */
  const char *below; /* (nullable): only rows whose path is this text, or continues it; by path */
  gboolean largest;  /* greatest weight first; else by path */
  guint limit;       /* 0: all */
  /* (nullable) NULL-terminated: the program's own jobs, for a file that lost its table job. */
  const char *const *job_names, *const *job_types;
  gboolean any_job;   /* also rows whose job is unknown, as rows of job "?" with type "*" */
  gboolean is_strict; /* a row whose checksum fails ends the reading with an error */
} ResultsQuery;
typedef gboolean (*ResultsEach) (const Result *row, gpointer data, GError **error);
gboolean results_each (Sql *sql, const ResultsQuery *query, ResultsEach each, gpointer data,
                       guint64 *bad, GError **error);
/* The cost of each row, by path, without verification. SQLite reads the pages of large values on
 * its way to these columns. */
typedef void (*ResultsEachCost) (const char *path, double weight, double work_s, gpointer data);
gboolean results_each_cost (Sql *sql, ResultsEachCost each, gpointer data, GError **error);
typedef gboolean (*ResultsEachStem) (const char *id, const char *path, gpointer data,
                                     GError **error);
gboolean results_each_stem (Sql *sql, ResultsEachStem each, gpointer data, guint64 *bad,
                            GError **error);
