/* SPDX-License-Identifier: BSD-3-Clause */
/* Renames a file to "NAME.WORD-TIME": no file of a user is ever deleted. Blocks on the disk. */
#pragma once

#include <glib.h>

/* (transfer full): a second name for the file. The file keeps its first name until another file
 * replaces it, so at every moment there is one. A file with such a name gets no other. NULL:
 * error. */
char *aside_keep (const char *path, const char *word, GError **error);
/* (transfer full): renames the file, and the delta beside it accordingly. NULL: error,
 * STORAGE_ERROR_PLACE in one sentence. */
char *aside_move (const char *path, const char *word, gboolean has_delta, GError **error);
