/* SPDX-License-Identifier: BSD-3-Clause */
/* A node on another host has a folder of its own; standard input and output tie it to the run's:
 * the launcher sends the files that a node needs, the node sends each file that it writes. Both
 * ways go frames: "file NAME SIZE\n" and the bytes, "go\n" when a node has all that it needs to
 * begin, "quit\n" when it is to die. */
#pragma once

#include "folder.h"

/* Set for such a node. */
#define RELAY_ENV "SATIN_FAR"
/* Where nodes of other hosts are, one address a line. */
#define RELAY_PEERS "peers"
/* A file that makes a node the founder. */
#define RELAY_FOUNDER "founder"
/* What the launcher's environment says of stores (store-settings.h). */
#define RELAY_STORES "stores"
#define RELAY_FILE_MAX (256 * 1024 * 1024)
#define RELAY_LINE_MAX 200

typedef enum
{
  RELAY_FILE,
  RELAY_GO,
  RELAY_QUIT,
  RELAY_WRONG
} RelayKind;

/* One line without its end; for a file its name (transfer full), which has no slash and does not
 * begin with a dot, and its size. */
RelayKind relay_parse (const char *line, char **name, gsize *size);
/* The line before a file's bytes. (transfer full) */
char *relay_header (const char *name, gsize size);

/* The node: takes over standard input and output, reads until "go" into a fresh 0700 folder, and
 * returns that. From then on all that folder_write writes goes to the launcher, by threads of its
 * own; that the launcher is gone is no trouble. Before other threads. (transfer full) */
char *relay_begin (GError **error);
/* Whether the launcher wants this node to found the run. */
gboolean relay_is_founder (void);
/* Waits, two seconds at most, until all that was written has left. Any thread; nothing to do
 * elsewhere. */
void relay_flush (void);
/* The launcher is gone: what is written reaches nobody. Waits as relay_flush does, since only
 * writing tells: what comes in ends by itself in a batch job. Any thread; FALSE elsewhere. */
gboolean relay_is_cut (void);
/* Removes the folder, as the last thing. */
void relay_end (void);

/* The address of this host by which `host` (a name or an address) is reached. (transfer full) */
char *relay_address_towards (const char *host, GError **error);
/* The address of this host by its own name; where that leads only back into the host, as it often
 * does, an address of one of its interfaces if there is any. (transfer full) */
char *relay_host_address (GError **error);
/* Fills what only the host of a node can tell: where it listens, where its sockets are, how many
 * workers it has when nobody said. Any node process. */
gboolean relay_place (FolderRun *run, const char *folder, GError **error);
