/* SPDX-License-Identifier: BSD-3-Clause */
/* Folders for files that go with this process: "satin-copy-XXXXXX" in TMPDIR, and others, each held
 * by a lock as long as it is used. Making one removes those of the same kind that nobody holds any
 * more, which a killed process left. Any thread. */
#pragma once

#include <glib.h>

/* (transfer full) */
char *temporary_make (GError **error);
/* A folder "STEMXXXXXX" in the folder `above` (TMPDIR). (transfer full) */
char *temporary_make_in (const char *above, const char *stem, GError **error);
/* What holds the lock of a folder that was made so, for whoever forks and has to close it; -1. */
int temporary_lock (const char *folder);
/* With all files in it. (transfer full) (nullable) */
void temporary_remove (char *folder);
/* From now on this process removes its folders when it is interrupted or told to end, and then dies
 * of that signal as it would have. Before any thread is made. */
void temporary_watch_signals (void);
