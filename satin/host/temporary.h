/* SPDX-License-Identifier: BSD-3-Clause */
/* Temporary folders of this process, such as "satin-copy-XXXXXX" in TMPDIR. A lock on each shows
 * that it is in use. Making a folder removes folders of the same kind without a lock, which killed
 * processes left. Any thread. */
#pragma once

#include <glib.h>

/* A folder "satin-copy-XXXXXX" in TMPDIR. (transfer full) */
char *temporary_make (GError **error);
/* A folder "STEMXXXXXX" in the folder `above`. (transfer full) */
char *temporary_make_in (const char *above, const char *stem, GError **error);
/* The descriptor with the lock of `folder`, for a forked process, which has to close it; -1:
 * none. */
int temporary_lock (const char *folder);
/* Removes a folder and its files. (transfer full) (nullable) */
void temporary_remove (char *folder);
/* From now on an interrupt or a request to end removes the folders of this process before the
 * signal ends it. Call this before any thread is made. */
void temporary_watch_signals (void);
