/* SPDX-License-Identifier: BSD-3-Clause */
/* Renames a file to "NAME.WORD-TIME": no file of a user is ever deleted. Blocks on the disk. */
#pragma once

#include <glib.h>

/* (transfer full): a second name for the file, which stays where it is until something replaces it,
 * so that at no moment there is none. What has such a name already gets no other. NULL: error. */
char *aside_keep (const char *path, const char *word, GError **error);
/* (transfer full): moves it, with the delta beside it, whose name then goes with the new one. NULL:
 * error, STORAGE_ERROR_PLACE in one sentence. */
char *aside_move (const char *path, const char *word, gboolean has_delta, GError **error);
