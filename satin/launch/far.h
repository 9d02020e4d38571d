/* SPDX-License-Identifier: BSD-3-Clause */
/* A node on another host, as the launcher sees it: a local process that leads there (ssh, srun,
 * ...), and the frames in its standard input and output (folder/relay.h). In the run's folder the
 * node's files have the number of that local process, so readers of the folder find them like those
 * of local nodes. Main loop. */
#pragma once

#include "sites.h"

#include "folder/folder.h"

#include <sys/types.h>

typedef struct Far Far;

/* Starts a node of `site` for `run`, whose folder is `path`. `copy` (nullable): the program, sent
 * first; NULL: it is already there. `here`: number of nodes on that host. (transfer full) NULL:
 * FOLDER_ERROR, and nothing was started. */
Far *far_start (const FolderRun *run, const char *path, const Site *site, const char *host,
                int number, int here, gboolean founder, GBytes *copy, GError **error);
void far_free (Far *far);
/* The number of the local process. */
pid_t far_pid (const Far *far);
/* TRUE: a file is arriving from the node, and has not stalled (RELAY_STALL_S). */
gboolean far_brings (const Far *far);
/* TRUE: the node's answer could not be written here; the node still has it. */
gboolean far_keeps_answer (const Far *far);
/* The local process has ended: reads what is left in its pipe. */
void far_drain (Far *far);
/* Sends the addresses of members (one a line) to the node if they have changed; "": none is known,
 * and nothing is sent. At the first call it also tells the node to begin; the founder begins
 * without it. Restores the node's address file in the run's folder if somebody removed it. */
void far_tell (Far *far, const char *peers);
/* To be called repeatedly while this founder has not joined. After 30 s without a byte it tells the
 * user. `others`: another node could found the run, so this node is told to quit, and killed if it
 * does not. Nodes of batch systems may be silent. */
void far_expect (Far *far, gboolean others);
/* Tells the node to end. FALSE: it was told 2 s ago or earlier. */
gboolean far_quit (Far *far);
/* For messages: "host 'fs0' of site 'delft'". (transfer full) */
char *far_name (const Far *far);
