/* SPDX-License-Identifier: BSD-3-Clause */
/* A file of a run's folder that is written piece by piece: a large one is never held in memory.
 * Until its end it has a temporary name in the same folder, so readers see all of it or nothing.
 * Any thread, one for each file; blocks on a local disk. */
#pragma once

#include <gio/gio.h>

typedef struct FolderFile FolderFile;

typedef enum
{
  FOLDER_FILE_LAST,      /* replaces a file of this name */
  FOLDER_FILE_FIRST,     /* a file of this name stays; that is no error */
  FOLDER_FILE_FIRST_SAFE /* the same, and what stays is on the disk, not only in its cache */
} FolderFileEnd;

/* Begins `file` in the folder `path`, mode 0600. NULL: it cannot be written. (transfer full) */
FolderFile *folder_file_begin (const char *path, const char *file, GError **error);
/* FALSE: the disk refused; only folder_file_drop is left to be called. */
gboolean folder_file_add (FolderFile *file, const void *data, gsize size,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Gives the file its name. Frees `file`, whatever comes of it. FALSE: the disk refused, and nothing
 * of the file is left. */
gboolean folder_file_end (FolderFile *file, FolderFileEnd how,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Frees `file` (nullable) and removes what was written of it. */
void folder_file_drop (FolderFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FolderFile, folder_file_drop)
