/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs that have ended and whose folder is gone: of each `run`, `end` and `error` stay for
 * FOLDER_KEEP_S in a small folder, `$XDG_STATE_HOME/satin/ended/NAME/`, mode 0700, which
 * folder_read and folder_has_ended read like a run's own. A run that begins takes the place of an
 * ended one of its name. Blocking calls on a local disk, any thread. */
#pragma once

#include "folder.h"

/* Seconds: folders of dead runs and these records are kept so long. */
#define FOLDER_KEEP_S (7 * 24 * 3600)

/* Before the folder `path` of a run is removed. Nothing to do for one that has not ended. */
void folder_ended_record (const char *path);
/* The folder of the record of `name`. (transfer full) NULL: there is none. */
char *folder_ended_find (const char *name);
/* The names of all records, sorted; older ones are removed before. (transfer full, elements too) */
GPtrArray *folder_ended_list (void);
/* A run of this name begins. */
void folder_ended_forget (const char *name);
/* When the run of this folder or record ended, in microseconds since 1970; 0: it has not. */
gint64 folder_ended_us (const char *path);
