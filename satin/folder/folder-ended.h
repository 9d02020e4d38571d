/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of runs that have ended and whose folder is gone. The files `run`, `end` and `error` of
 * each run stay for FOLDER_KEEP_S in the folder `$XDG_STATE_HOME/satin/ended/NAME/`, mode 0700.
 * folder_read and folder_has_ended read it like a run's own folder. A new run of the same name
 * removes the record. Blocks on a local disk. Any thread. */
#pragma once

#include "folder.h"

/* How long records and the folders of dead runs are kept, in seconds. */
#define FOLDER_KEEP_S (7 * 24 * 3600)

/* Records the run whose folder `path` is about to be removed. Does nothing if the run has not
 * ended. */
void folder_ended_record (const char *path);
/* The folder of the record of `name`. (transfer full) (nullable): NULL: there is none. */
char *folder_ended_find (const char *name);
/* The names of all records, sorted. Removes records that are too old first. (transfer full,
 * elements too) */
GPtrArray *folder_ended_list (void);
/* A run of this name begins: removes the record. */
void folder_ended_forget (const char *name);
/* When the run of this folder or record ended, in microseconds since 1970; 0: it has not ended. */
gint64 folder_ended_us (const char *path);
