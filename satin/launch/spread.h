/* SPDX-License-Identifier: BSD-3-Clause */
/* Which nodes a run begins with, and where each is started. One thread. */
#pragma once

#include "far.h"

typedef struct
{
  const Site *site; /* NULL: this host, without --sites */
  const char *host; /* (nullable) */
  int number;       /* counts the nodes of its site, from 1 */
  int here;         /* how many nodes its host gets */
  int workers;      /* 0: run->workers */
} Spot;

/* A node that was started. */
typedef struct
{
  pid_t pid;
  gboolean gone;
  int status;       /* from waitpid; valid if `gone` */
  Far *far;         /* NULL: a process of this host */
  const char *site; /* (nullable) name of the site; borrowed from the Spot */
  guint place;      /* the number of its Spot; set by the caller */
} Started;

/* Reads the file of --sites (nullable: nothing to do) into *sites and *text (out, nullable,
 * transfer full). Sets in `run` the number of nodes, the workers of each node of this host, and
 * where nodes listen. `workers`: workers of each node that the user gave for all; 0: not given.
 * Returns 0, or an exit code after a message. */
int spread_read (FolderRun *run, const char *file, int workers, GPtrArray **sites, char **text);
/* Writes the text of --sites (nullable: nothing) into the run's folder `path`, for `satin add`. */
gboolean spread_keep (const char *text, const char *path, GError **error);
/* The nodes to start. Those of this host come first, since the launcher's host is the best place
 * for the founder. `sites` NULL: run->nodes of them here, with `workers` each (0: run->workers).
 * (transfer full; of Spot, which point into `sites`) */
GArray *spread_places (const FolderRun *run, const GPtrArray *sites, int workers);
/* For --dry-run: prints the nodes of spread_places and the command that starts each. `copy`: the
 * program is sent to other hosts. */
void spread_show (const FolderRun *run, const GPtrArray *sites, int workers, gboolean copy);
/* TRUE: nodes at this place are not plain processes of this host. */
gboolean spot_is_far (const Spot *place);
/* The bytes of the program, to send to other hosts. (transfer full) (nullable): it cannot be read
 * into memory, and is not sent. */
GBytes *spread_program (const FolderRun *run);
/* Starts a node. `copy` (nullable): the program, to send to another host. FALSE: no process is
 * left. */
gboolean spread_start (const Spot *place, const FolderRun *run, const char *path, gboolean founder,
                       GBytes *copy, Started *started, GError **error);
/* An empty array for Started, which frees their Far. (transfer full) */
GArray *spread_nodes (void);
/* TRUE: a node of another host is sending a file. *live (out): some node of another host lives.
 * Sets *unkept to TRUE if the answer of such a node could not be written here. */
gboolean spread_brings (const GArray *nodes, gboolean *live, gboolean *unkept);
/* The TCP addresses of all living members, one a line. (transfer full) */
char *spread_peers (const char *path);
/* The process numbers of `nodes` (of Started), as gint64. (transfer full) */
GArray *spread_pids (const GArray *nodes);
/* The default number of workers of each of `nodes` nodes of this host: they share its cores. */
int spread_workers (int nodes);
