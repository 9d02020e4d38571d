/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of --trace: a JSON array of Chrome trace events, one per line, for Perfetto. All nodes
 * of a run on this machine append whole lines to the same file. The array is closed at the end of
 * the run; Perfetto also reads an array that is not closed. */
#pragma once

#include <glib.h>

/* Creates the file or empties it, when a run begins. */
gboolean timeline_file_begin (const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Appends whole lines, as timeline_take () of the engine makes them. One thread at a time. If the
 * disk refuses, the lines are lost. */
void timeline_file_add (const char *path, const GString *text);
/* Closes the array, after the run has ended. */
void timeline_file_end (const char *path);
