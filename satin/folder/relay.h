/* SPDX-License-Identifier: BSD-3-Clause */
/* Connects the folder of a node on another host to the run's folder, over the node's standard input
 * and output. The launcher sends the files that the node needs; the node sends each file that it
 * writes. Frames in both directions: "file NAME SIZE\n" and the bytes; "go\n" when the node has all
 * that it needs to begin; "quit\n" to end the node. The launcher answers each file of the run (all
 * except node-*) by "kept NAME\n" when it is on the launcher's disk, or by "lost NAME\n" if it
 * cannot be kept there. Until then the node keeps the file. A batch job reads its input from a file
 * and gets no answers: what it has written counts as kept. */
#pragma once

#include "folder.h"

/* Set in the environment of such a node. */
#define RELAY_ENV "SATIN_FAR"
/* Files of the node itself begin with this. Each replaces the last of its name. All other files are
 * the run's. */
#define RELAY_OF_NODE FOLDER_NODE
/* Most bytes of a file that is sent to a node, and of a node's own file. The run's files have no
 * limit. */
#define RELAY_SMALL_MAX (16 * 1024 * 1024)
#define RELAY_LINE_MAX 200
/* The launcher counts as gone after so many seconds without progress. */
#define RELAY_STALL_S 30

typedef enum
{
  RELAY_FILE,
  RELAY_GO,
  RELAY_QUIT,
  RELAY_KEPT,
  RELAY_LOST,
  RELAY_WRONG
} RelayKind;

/* The state of the files that this node has written. */
typedef enum
{
  RELAY_SENDING, /* the launcher does not have all of them yet */
  RELAY_SENT,    /* the launcher has all of them, or there are none */
  RELAY_CUT      /* the launcher is gone or hangs, or could not keep one */
} RelayState;

/* Reads one line without its end. *name (transfer full) is set for RELAY_FILE, _KEPT and _LOST: it
 * contains no slash and does not begin with a dot. *size, in bytes, is set for RELAY_FILE. */
RelayKind relay_parse (const char *line, char **name, gsize *size);
/* The line before the bytes of a file. (transfer full) */
char *relay_header (const char *name, gsize size);

/* For a node: takes over standard input and output, reads files into a new 0700 folder until "go",
 * and returns the folder. From then on threads send each file of folder_write to the launcher; a
 * launcher that is gone is no error. Call this before other threads exist. (transfer full) */
char *relay_begin (GError **error);
/* TRUE: the launcher wants this node to found the run. */
gboolean relay_is_founder (void);
/* Never blocks. RELAY_SENT in a node without relay. Any thread. */
RelayState relay_state (void);
/* Waits until the launcher has all files, is gone, or makes no progress for RELAY_STALL_S. Then
 * removes the folder. This is the last call. Any thread. */
void relay_end (void);

/* The address of this host from which `host` (a name or an address) is reached. (transfer full) */
char *relay_address_towards (const char *host, GError **error);
/* The address to which this host's name resolves. If it is a loopback address, as it often is, an
 * address of an interface if there is any. (transfer full) */
char *relay_host_address (GError **error);
/* Sets what only the node's host knows: the address to listen at, the folder of sockets, and the
 * number of workers if none is given. Any node process. */
gboolean relay_place (FolderRun *run, const char *folder, GError **error);
