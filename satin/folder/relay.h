/* SPDX-License-Identifier: BSD-3-Clause */
/* A node on another host has a folder of its own; standard input and output tie it to the run's:
 * the launcher sends the files that a node needs, the node sends each file that it writes. Both
 * ways go frames: "file NAME SIZE\n" and the bytes, "go\n" when a node has all that it needs to
 * begin, "quit\n" when it is to die. The launcher answers each file of the run (all but node-*) by
 * "kept NAME\n" when it is on its disk, or by "lost NAME\n" when it cannot be kept there: until
 * then the node has it. A batch job reads a file and hears no answers: what it has written is kept.
 */
#pragma once

#include "folder.h"

/* Set for such a node. */
#define RELAY_ENV "SATIN_FAR"
/* Its own files are those of folder-names.h that are of one node, of which the next one replaces
 * the last; all others are the run's. */
#define RELAY_OF_NODE FOLDER_NODE
/* A file that a node is sent, and one of RELAY_OF_NODE. The run's files have no limit. */
#define RELAY_SMALL_MAX (16 * 1024 * 1024)
#define RELAY_LINE_MAX 200
/* Seconds without a byte or an answer after which the launcher counts as gone. */
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

/* What becomes of the files that a node has written. */
typedef enum
{
  RELAY_SENDING, /* the launcher is there, and does not have all of them yet */
  RELAY_SENT,    /* it has all, or this process has none */
  RELAY_CUT      /* it is gone, stands still, or could not keep one */
} RelayState;

/* One line without its end. *name (transfer full) is set for RELAY_FILE, _KEPT and _LOST: it has no
 * slash and does not begin with a dot. *size: bytes, set for RELAY_FILE. */
RelayKind relay_parse (const char *line, char **name, gsize *size);
/* The line before a file's bytes. (transfer full) */
char *relay_header (const char *name, gsize size);

/* The node: takes over standard input and output, reads until "go" into a fresh 0700 folder, and
 * returns that. From then on all that folder_write writes goes to the launcher, by threads of its
 * own; that the launcher is gone is no trouble. Before other threads. (transfer full) */
char *relay_begin (GError **error);
/* Whether the launcher wants this node to found the run. */
gboolean relay_is_founder (void);
/* Any thread; never blocks. RELAY_SENT for a node that no relay began. */
RelayState relay_state (void);
/* Waits until the launcher has all files, or is gone, or has stood still for RELAY_STALL_S; then
 * removes the folder, as the last thing. Any thread. */
void relay_end (void);

/* The address of this host by which `host` (a name or an address) is reached. (transfer full) */
char *relay_address_towards (const char *host, GError **error);
/* The address of this host by its own name; where that leads only back into the host, as it often
 * does, an address of one of its interfaces if there is any. (transfer full) */
char *relay_host_address (GError **error);
/* Fills what only the host of a node can tell: where it listens, where its sockets are, how many
 * workers it has when nobody said. Any node process. */
gboolean relay_place (FolderRun *run, const char *folder, GError **error);
