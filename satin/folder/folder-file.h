/* SPDX-License-Identifier: BSD-3-Clause */
/* A file in a run's folder that is written piece by piece, so that a large file is never in memory
 * as a whole. Until it is complete it has a temporary name in the same folder, so readers see all
 * of it or nothing. Any thread, one per file. Blocks on a local disk. */
#pragma once

#include <glib.h>

typedef struct FolderFile FolderFile;

typedef enum
{
  FOLDER_FILE_LAST,      /* replaces an earlier file of this name */
  FOLDER_FILE_FIRST,     /* an earlier file of this name stays; this is no error */
  FOLDER_FILE_FIRST_SAFE /* the same, and the file that stays is flushed to the disk */
} FolderFileEnd;

/* Begins `file` in the folder `path`, mode 0600. NULL: it cannot be created. (transfer full) */
FolderFile *folder_file_begin (const char *path, const char *file, GError **error);
/* FALSE: a write failed; only folder_file_drop may follow. */
gboolean folder_file_add (FolderFile *file, const void *data, gsize size,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Gives the file its name. Always frees `file`. FALSE: the disk refused, and nothing of the file is
 * left. */
gboolean folder_file_end (FolderFile *file, FolderFileEnd how,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Writes `file` as a whole, as the last of its name. For a file that one thread writes again and
 * again: an earlier file stays beside it, and the next call writes into that one. A new file costs
 * some file systems milliseconds of a processor, since they look for an i-node that was not freed
 * lately. A reader sees all of one text, unless it reads for longer than the time between two
 * calls. */
gboolean folder_file_renew (const char *path, const char *file, const void *data, gsize size,
                            GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Frees `file` (nullable) and removes its temporary file. */
void folder_file_drop (FolderFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FolderFile, folder_file_drop)
