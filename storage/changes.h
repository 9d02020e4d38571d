/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows that were put into a work file since a copy of it was published. A *delta* holds them: a
 * small checkpoint file that stands beside that copy, its base. Only keys are kept, so this costs
 * memory by the number of rows, and nothing for a file whose changes are not asked for. Removed
 * rows are not listed: each was removed because of a row that was put. Used by one thread. */
#pragma once

#include "storage/sql.h"

/* Begins anew: nothing was put yet. */
void changes_begin (Sql *sql);
/* Forgets all; nothing is remembered any more. */
void changes_end (Sql *sql);
/* FALSE: it was not begun, or given up because it became too much (five million results). */
gboolean changes_are_known (const Sql *sql);
/* Of a result, whose table SQLite does not tell of; the other tables need not be told. */
void changes_note_result (Sql *sql, const char *path);

/* (transfer full): a private file of the same identity with these rows, and with all that says
 * which run it is of; `bytes`: about what it will take on a disk. It names the generation `base`
 * that it belongs to. NULL: error. Not inside a transaction. */
Sql *changes_copy (Sql *sql, guint64 base, guint64 *bytes, GError **error);
/* TRUE: a file that was made so, and is no checkpoint without its base. */
gboolean changes_is_delta (Sql *sql);
void changes_free (Changes *changes);
/* In a transaction: the file is not a delta any more. */
gboolean changes_end_delta (Sql *sql, GError **error);
