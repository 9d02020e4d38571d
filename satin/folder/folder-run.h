/* SPDX-License-Identifier: BSD-3-Clause */
/* The file `run` of a run's folder and the sockets' folder that it names. For folder.c, and for the
 * launcher, which sends the file to other hosts. Others use folder.h. */
#pragma once

#include "folder.h"

/* The contents of the file for `run`. (transfer full) */
char *folder_run_data (const FolderRun *run, gsize *size);
/* Writes `run` into the folder. */
gboolean folder_run_write (const FolderRun *run, const char *path, GError **error);
/* Sets run->sockets: `path` when a socket's name there is short enough, else a new 0700 folder. */
gboolean folder_run_place_sockets (FolderRun *run, const char *path, GError **error);
/* TRUE: folder_run_place_sockets may have made `sockets`. Only such folders are removed. */
gboolean folder_run_sockets_are_ours (const char *sockets);
