/* SPDX-License-Identifier: BSD-3-Clause */
/* Putting a verified copy of the work file at its public place, so that whoever opens that place at
 * any moment finds a whole checkpoint. Blocks on the disk. */
#pragma once

#include "storage/sql.h"

/* Makes and removes a temporary file beside `target`. FALSE: STORAGE_ERROR_PLACE in one sentence.
 */
gboolean publish_try (const char *target, const char *run, GError **error);
/* Replaces `target` by a copy of the file behind `sql`, in one step. FALSE: `target` is as it was
 * and nothing is left beside it. `bytes`: size of the copy. */
gboolean publish_copy (Sql *sql, const char *target, const char *run, guint64 *bytes,
                       GError **error);
/* Removes temporary files of this run whose process is gone. */
void publish_sweep (const char *target, const char *run);
