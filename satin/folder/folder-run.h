/* SPDX-License-Identifier: BSD-3-Clause */
/* The file `run` of a run's folder and what hangs on it; for folder.c, and for the launcher that
 * sends it to other hosts. Others use folder.h. */
#pragma once

#include "folder.h"

/* The bytes of that file. (transfer full) */
char *folder_run_data (const FolderRun *run, gsize *size);
/* Writes `run` into the folder. */
gboolean folder_run_write (const FolderRun *run, const char *path, GError **error);
/* Sets run->sockets: `path` when a socket's name there is short enough, else a new 0700 folder. */
gboolean folder_run_place_sockets (FolderRun *run, const char *path, GError **error);
/* Whether `sockets` is a folder such as the call above makes: nothing else is ever removed. */
gboolean folder_run_sockets_are_ours (const char *sockets);
