/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows that were put into a work file since a copy of it was published. A *delta* holds them: a
 * small checkpoint file that stands beside that copy, its base. Only keys are kept, so this costs
 * memory by the number of rows, and nothing for a file whose changes are not asked for. Removed
 * rows are not listed: each was removed because of a row that was put. Used by one thread. */
#pragma once

#include "storage/sql.h"

/* Begins anew with no rows. */
void changes_begin (Sql *sql);
/* Forgets all rows; no later row is noted. */
void changes_end (Sql *sql);
/* FALSE: changes_begin was not called, or the list was given up at five million results. */
gboolean changes_are_known (const Sql *sql);
/* A result was put: SQLite does not report changes of that table. It reports those of the other
 * tables. */
void changes_note_result (Sql *sql, const char *path);

/* (transfer full): a private file of the same identity with these rows and the values that identify
 * the run; `bytes`: about the size that it will have on a disk. It names the generation `base` to
 * which it belongs. NULL: error. Not inside a transaction. */
Sql *changes_copy (Sql *sql, guint64 base, guint64 *bytes, GError **error);
/* TRUE: the file was made by changes_copy, and is no checkpoint without its base. */
gboolean changes_is_delta (Sql *sql);
void changes_free (Changes *changes);
/* In a transaction: from now on the file is no delta. */
gboolean changes_end_delta (Sql *sql, GError **error);
