/* SPDX-License-Identifier: BSD-3-Clause */
/* A node on another host, as the launcher has it: the process here that leads there (ssh, srun …),
 * and what goes through its standard input and output (folder/relay.h). The files that the node
 * writes stand in the run's folder under that process's number, so that everybody who reads the
 * folder finds them. Main loop. */
#pragma once

#include "sites.h"

#include "folder/folder.h"

#include <sys/types.h>

typedef struct Far Far;

/* Starts a node of `site`. `run`: what the run's folder, `path`, says; `copy`: the program's bytes
 * go first; NULL: it is there. `here`: nodes on that host. NULL: nothing was started. */
Far *far_start (const FolderRun *run, const char *path, const Site *site, const char *host,
                int number, int here, gboolean founder, GBytes *copy, GError **error);
void far_free (Far *far);
pid_t far_pid (const Far *far);
/* A file comes from it, and goes on coming. */
gboolean far_brings (const Far *far);
/* Its answer could not be written here; its node still has it. */
gboolean far_keeps_answer (const Far *far);
/* Its process here is gone: takes what it said last. */
void far_drain (Far *far);
/* The addresses of members, or "": none is known. When they have changed the node hears it; the
 * first time it begins. The founder needs none. Its own is shown again if somebody has removed it.
 */
void far_tell (Far *far, const char *peers);
/* For the founder, as long as it has not joined: the user is told when its host says nothing, and
 * where `others` could found the run it is left out. A batch system may take its time. */
void far_expect (Far *far, gboolean others);
/* The node is to die. FALSE: it was told long ago and has not listened. */
gboolean far_quit (Far *far);
/* "host 'fs0' of site 'delft'". (transfer full) */
char *far_name (const Far *far);
