/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of --trace: a JSON array of Chrome trace events, one in a line, which Perfetto shows.
 * All nodes of a run on this machine append to the same file, whole lines at a time; the array is
 * closed at the end of the run, and readable without that. */
#pragma once

#include <gio/gio.h>

/* Makes the file, or empties it: a run begins. */
gboolean timeline_file_begin (const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Appends whole lines, as timeline_take () of the engine makes them. One thread at a time. A disk
 * that refuses costs the notes. */
void timeline_file_add (const char *path, const GString *text);
/* Closes the array: the run has ended and nobody appends any more. */
void timeline_file_end (const char *path);
